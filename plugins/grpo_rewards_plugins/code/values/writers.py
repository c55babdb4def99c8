"""What each language needs to write values: one JSON value a line, into the file that the sandbox reads."""

from __future__ import annotations

# sets become sorted lists, as in C++, Java and Rust below: they have no order, and lists are compared by place
_JS = """\
function grpo_show(value) {
  const write = (v, deep) => {
    if (v === undefined || v === null) return 'null';
    if (deep > 100) return '"too deep"';
    if (typeof v === 'number') return Number.isFinite(v) ? String(Object.is(v, -0) ? 0 : v) : '"' + v + '"';
    if (typeof v === 'boolean') return String(v);
    if (typeof v === 'bigint') return String(v);
    if (typeof v === 'string') return JSON.stringify(v);
    if (Array.isArray(v)) return '[' + Array.from(v, (x) => write(x, deep + 1)).join(',') + ']';
    if (v instanceof Set) return '[' + Array.from(v, (x) => write(x, deep + 1)).sort().join(',') + ']';
    const pairs = v instanceof Map ? Array.from(v) : typeof v === 'object' ? Object.entries(v) : [['', typeof v]];
    return '{' + pairs.map(([k, x]) => JSON.stringify(String(k)) + ':' + write(x, deep + 1)).join(',') + '}';
  };
  require('fs').appendFileSync('values.txt', write(value, 0) + '\\n');
}
"""
_CPP = r"""
#include <bits/stdc++.h>
#undef assert
struct grpo_values {
    using text = std::string;
    static text s(bool v) { return v ? "true" : "false"; }
    static text s(std::nullopt_t) { return "null"; }
    static text s(std::nullptr_t) { return "null"; }
    static text s(const text& v) {
        text out = "\"";
        for (unsigned char c : v) {
            if (c == '"' || c == '\\') { out += '\\'; out += (char) c; }
            else if (c < 32) { char b[8]; std::snprintf(b, 8, "\\u%04x", c); out += b; }
            else out += (char) c;
        }
        return out + "\"";
    }
    static text s(const char* v) { return s(text(v)); }
    static text s(char v) { return s(text(1, v)); }
    template <class T> static std::enable_if_t<std::is_integral_v<T>, text> s(T v) { return std::to_string(v); }
    template <class T> static std::enable_if_t<std::is_enum_v<T>, text> s(T v) { return std::to_string((long long) v); }
    template <class T> static std::enable_if_t<std::is_floating_point_v<T>, text> s(T v) {
        char b[64];
        if (!std::isfinite(v)) return "\"not finite\"";
        std::snprintf(b, 64, sizeof(T) < 8 ? "%.9Lg" : "%.17Lg", (long double) v);
        return std::strpbrk(b, ".e") ? text(b) : text(b) + ".0";
    }
    template <class T> static text s(const std::optional<T>& v) { return v ? s(*v) : "null"; }
    template <class A, class B> static text s(const std::pair<A, B>& v) { return "[" + s(v.first) + "," + s(v.second) + "]"; }
    template <class... T> static text s(const std::tuple<T...>& v) {
        text out;
        std::apply([&](const auto&... one) { ((out += (out.empty() ? "" : ",") + s(one)), ...); }, v);
        return "[" + out + "]";
    }
    template <class V> static text many(const V& v) {
        text out;
        for (auto it = v.begin(); it != v.end(); ++it) {
            const typename V::value_type& one = *it;
            out += (out.empty() ? "" : ",") + s(one);
        }
        return "[" + out + "]";
    }
    template <class V> static text sorted(const V& v) {
        std::vector<text> all;
        for (const auto& one : v) all.push_back(s(one));
        std::sort(all.begin(), all.end());
        text out;
        for (const auto& one : all) out += (out.empty() ? "" : ",") + one;
        return "[" + out + "]";
    }
    template <class V> static text keyed(const V& v) {
        text out;
        for (const auto& one : v) {
            text key = s(one.first);
            out += (out.empty() ? "" : ",") + (key[0] == '"' ? key : s(key)) + ":" + s(one.second);
        }
        return "{" + out + "}";
    }
    template <class T> static text s(const std::vector<T>& v) { return many(v); }
    template <class T> static text s(const std::list<T>& v) { return many(v); }
    template <class T> static text s(const std::deque<T>& v) { return many(v); }
    template <class T> static text s(const std::initializer_list<T>& v) { return many(std::vector<T>(v)); }
    template <class T, std::size_t N> static text s(const std::array<T, N>& v) { return many(v); }
    template <class T> static text s(const std::set<T>& v) { return sorted(v); }
    template <class T> static text s(const std::unordered_set<T>& v) { return sorted(v); }
    template <class K, class T> static text s(const std::map<K, T>& v) { return keyed(v); }
    template <class K, class T> static text s(const std::unordered_map<K, T>& v) { return keyed(v); }
    template <class T> static void show(const T& v) {
        std::ofstream out("values.txt", std::ios::app);
        out << s(v) << "\n";
    }
    template <class T> static void typed(const T& v) { show(v); }
};
#include <assert.h>
"""
_JAVA = r"""
class GrpoValues {
    static String text(String v) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : v.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 32 || c > 126) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }
    static String write(Object v) {
        if (v == null) return "null";
        if (v instanceof java.util.Optional) return write(((java.util.Optional<?>) v).orElse(null));
        if (v instanceof java.util.OptionalInt) return ((java.util.OptionalInt) v).isPresent() ? "" + ((java.util.OptionalInt) v).getAsInt() : "null";
        if (v instanceof Double || v instanceof Float) {
            double d = ((Number) v).doubleValue();
            return Double.isNaN(d) || Double.isInfinite(d) ? "\"not finite\"" : v.toString();
        }
        if (v instanceof Number || v instanceof Boolean) return v.toString();
        if (v instanceof CharSequence || v instanceof Character) return text(v.toString());
        java.util.List<String> all = new java.util.ArrayList<>();
        if (v instanceof java.util.Map) {
            for (java.util.Map.Entry<?, ?> one : ((java.util.Map<?, ?>) v).entrySet()) all.add(text(String.valueOf(one.getKey())) + ":" + write(one.getValue()));
            return "{" + String.join(",", all) + "}";
        }
        if (v.getClass().isArray()) for (int i = 0; i < java.lang.reflect.Array.getLength(v); i++) all.add(write(java.lang.reflect.Array.get(v, i)));
        else if (v instanceof Iterable) for (Object one : (Iterable<?>) v) all.add(write(one));
        else return text(v.getClass().getName());
        if (v instanceof java.util.Set) java.util.Collections.sort(all);
        return "[" + String.join(",", all) + "]";
    }
    static void show(Object v) {
        try (java.io.FileWriter out = new java.io.FileWriter("values.txt", java.nio.charset.StandardCharsets.UTF_8, true)) {
            out.write(write(v) + "\n");
        } catch (java.io.IOException problem) {
            throw new RuntimeException(problem);
        }
    }
}
"""
_RUST = r"""
trait GrpoShow { fn grpo(&self) -> String; }
fn grpo_text(v: &str) -> String {
    let mut out = String::from("\"");
    for c in v.chars() {
        if c == '"' || c == '\\' { out.push('\\'); out.push(c); }
        else if (c as u32) < 32 { out.push_str(&format!("\\u{:04x}", c as u32)); }
        else { out.push(c); }
    }
    out.push('"');
    out
}
macro_rules! grpo_plain { ($($t:ty),*) => { $(impl GrpoShow for $t { fn grpo(&self) -> String { self.to_string() } })* } }
grpo_plain!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, bool);
macro_rules! grpo_float { ($($t:ty),*) => { $(impl GrpoShow for $t { fn grpo(&self) -> String {
    if self.is_finite() { format!("{:?}", self) } else { String::from("\"not finite\"") } } })* } }
grpo_float!(f32, f64);
impl GrpoShow for str { fn grpo(&self) -> String { grpo_text(self) } }
impl GrpoShow for String { fn grpo(&self) -> String { grpo_text(self) } }
impl GrpoShow for char { fn grpo(&self) -> String { grpo_text(&self.to_string()) } }
impl GrpoShow for () { fn grpo(&self) -> String { String::from("null") } }
impl<T: GrpoShow + ?Sized> GrpoShow for &T { fn grpo(&self) -> String { (**self).grpo() } }
impl<T: GrpoShow + ?Sized> GrpoShow for Box<T> { fn grpo(&self) -> String { (**self).grpo() } }
impl<T: GrpoShow> GrpoShow for Option<T> { fn grpo(&self) -> String { match self { Some(v) => v.grpo(), None => String::from("null") } } }
impl<T: GrpoShow, E: std::fmt::Debug> GrpoShow for Result<T, E> { fn grpo(&self) -> String { match self { Ok(v) => format!("[\"Ok\",{}]", v.grpo()), Err(v) => format!("[\"Err\",{}]", grpo_text(&format!("{:?}", v))) } } }
fn grpo_many<T: GrpoShow>(v: &[T]) -> String { format!("[{}]", v.iter().map(|x| x.grpo()).collect::<Vec<_>>().join(",")) }
impl<T: GrpoShow> GrpoShow for [T] { fn grpo(&self) -> String { grpo_many(self) } }
impl<T: GrpoShow> GrpoShow for Vec<T> { fn grpo(&self) -> String { grpo_many(self) } }
impl<T: GrpoShow, const N: usize> GrpoShow for [T; N] { fn grpo(&self) -> String { grpo_many(self) } }
fn grpo_sorted(mut all: Vec<String>) -> String { all.sort(); all.join(",") }
fn grpo_key(k: String) -> String { if k.starts_with('"') { k } else { grpo_text(&k) } }
impl<T: GrpoShow, S> GrpoShow for std::collections::HashSet<T, S> { fn grpo(&self) -> String { format!("[{}]", grpo_sorted(self.iter().map(|x| x.grpo()).collect())) } }
impl<T: GrpoShow> GrpoShow for std::collections::BTreeSet<T> { fn grpo(&self) -> String { format!("[{}]", grpo_sorted(self.iter().map(|x| x.grpo()).collect())) } }
impl<K: GrpoShow, T: GrpoShow, S> GrpoShow for std::collections::HashMap<K, T, S> { fn grpo(&self) -> String { format!("{{{}}}", grpo_sorted(self.iter().map(|(k, x)| format!("{}:{}", grpo_key(k.grpo()), x.grpo())).collect())) } }
impl<K: GrpoShow, T: GrpoShow> GrpoShow for std::collections::BTreeMap<K, T> { fn grpo(&self) -> String { format!("{{{}}}", grpo_sorted(self.iter().map(|(k, x)| format!("{}:{}", grpo_key(k.grpo()), x.grpo())).collect())) } }
macro_rules! grpo_tuple { ($($n:ident $i:tt),*) => { impl<$($n: GrpoShow),*> GrpoShow for ($($n,)*) { fn grpo(&self) -> String { format!("[{}]", [$(self.$i.grpo()),*].join(",")) } } } }
grpo_tuple!(A 0);
grpo_tuple!(A 0, B 1);
grpo_tuple!(A 0, B 1, C 2);
grpo_tuple!(A 0, B 1, C 2, D 3);
grpo_tuple!(A 0, B 1, C 2, D 3, E 4);
#[allow(dead_code)]
fn grpo_same<T>(_: impl FnOnce() -> T, wanted: T) -> T { wanted }
fn grpo_show<T: GrpoShow + ?Sized>(v: &T) {
    use std::io::Write;
    let mut out = std::fs::OpenOptions::new().append(true).create(true).open("values.txt").unwrap();
    writeln!(out, "{}", v.grpo()).unwrap();
}
"""
_GO = """
func grpoWrite(v grporeflect.Value) string {
	if !v.IsValid() {
		return "null"
	}
	all := []string{}
	switch v.Kind() {
	case grporeflect.Interface, grporeflect.Ptr:
		if v.IsNil() {
			return "null"
		}
		return grpoWrite(v.Elem())
	case grporeflect.Bool:
		return grpostrconv.FormatBool(v.Bool())
	case grporeflect.String:
		out, _ := grpojson.Marshal(v.String())
		return string(out)
	case grporeflect.Float32, grporeflect.Float64:
		out, err := grpojson.Marshal(v.Float())
		if err != nil {
			return "\\"not finite\\""
		}
		return string(out)
	case grporeflect.Int, grporeflect.Int8, grporeflect.Int16, grporeflect.Int32, grporeflect.Int64:
		return grpostrconv.FormatInt(v.Int(), 10)
	case grporeflect.Uint, grporeflect.Uint8, grporeflect.Uint16, grporeflect.Uint32, grporeflect.Uint64:
		return grpostrconv.FormatUint(v.Uint(), 10)
	case grporeflect.Slice, grporeflect.Array:
		for i := 0; i < v.Len(); i++ {
			all = append(all, grpoWrite(v.Index(i)))
		}
		return "[" + grpostrings.Join(all, ",") + "]"
	case grporeflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			all = append(all, grpoWrite(v.Field(i)))
		}
		return "[" + grpostrings.Join(all, ",") + "]"
	case grporeflect.Map:
		for _, k := range v.MapKeys() {
			key := grpoWrite(k)
			if key[0] != '"' {
				key = "\\"" + key + "\\""
			}
			all = append(all, key+":"+grpoWrite(v.MapIndex(k)))
		}
		grposort.Strings(all)
		return "{" + grpostrings.Join(all, ",") + "}"
	}
	return "\\"" + v.Kind().String() + "\\""
}

func grpoShow(v interface{}) {
	out, _ := grpoos.OpenFile("values.txt", grpoos.O_APPEND|grpoos.O_CREATE|grpoos.O_WRONLY, 0644)
	out.WriteString(grpoWrite(grporeflect.ValueOf(v)) + "\\n")
	out.Close()
}
"""
# under names of their own, so that they never meet the program's imports of the same packages
GO_IMPORTS = "".join(
    f'import grpo{name.rpartition("/")[2]} "{name}"\n'
    for name in ("reflect", "strconv", "strings", "sort", "os", "encoding/json")
)
_RUBY = """\
require 'json'
module GrpoValues
  def self.plain(v)
    case v
    when Hash then v.map { |k, x| [k.to_s, plain(x)] }.to_h
    when Array then v.map { |x| plain(x) }
    when ->(x) { defined?(Set) && x.is_a?(Set) } then v.map { |x| plain(x) }.sort_by { |x| JSON.generate(x) }
    when Float then v.finite? ? v : 'not finite'
    when Symbol then v.to_s
    when nil, true, false, Integer, String then v
    else v.respond_to?(:to_a) ? v.to_a.map { |x| plain(x) } : v.class.to_s
    end
  end

  def self.show(v)
    File.open('values.txt', 'a') { |out| out.write(JSON.generate(plain(v)) + "\\n") }
  end
end
"""
# with this precision a float is the shortest text that reads as itself
_PHP = """
function grpo_show($value) {
    ini_set('serialize_precision', '-1');
    $flags = JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE;
    file_put_contents('values.txt', json_encode($value, $flags) . "\\n", FILE_APPEND);
}
"""
# in hexadecimals: a shell's text may hold any byte; the path is taken before the program, which may leave its folder
_BASH = """\
grpo_show() {
    printf '"%s"\\n' "$(printf '%s' "$1" | od -An -v -tx1 | tr -d ' \\n')" >> "$GRPO_VALUES"
}
GRPO_VALUES="$PWD/values.txt"
"""
WRITERS = {
    "cpp": _CPP, "java": _JAVA, "javascript": _JS, "typescript": _JS.replace("(value)", "(value: any)").replace("(v, deep)", "(v: any, deep: number): string"),
    "rust": _RUST, "go": _GO, "ruby": _RUBY, "php": _PHP, "bash": _BASH,
}  # fmt: skip


def _tuple(name: str, size: int) -> str:
    """A class of javatuples: values by place, equal where they are."""
    kinds = ", ".join(f"T{place}" for place in range(size))
    given = ", ".join(f"T{place} v{place}" for place in range(size))
    values = ", ".join(f"v{place}" for place in range(size))
    gets = " ".join(
        f"public T{place} getValue{place}() {{ return (T{place}) all.get({place}); }}" for place in range(size)
    )
    sets = " ".join(
        f"public <X> {name}<{', '.join('X' if other == place else f'T{other}' for other in range(size))}> setAt{place}(X v) "
        f"{{ return new {name}<>({', '.join('v' if other == place else f'getValue{other}()' for other in range(size))}); }}"
        for place in range(size)
    )
    return (
        f'@SuppressWarnings("unchecked") class {name}<{kinds}> implements Iterable<Object> {{\n'
        f"    private final java.util.List<Object> all;\n    public {name}({given}) {{ all = java.util.Arrays.asList({values}); }}\n"
        f"    public static <{kinds}> {name}<{kinds}> with({given}) {{ return new {name}<>({values}); }}\n    {gets}\n    {sets}\n"
        f"    public int getSize() {{ return all.size(); }} public Object getValue(int i) {{ return all.get(i); }}\n"
        f"    public java.util.List<Object> toList() {{ return all; }} public java.util.Iterator<Object> iterator() {{ return all.iterator(); }}\n"
        f"    public boolean equals(Object other) {{ return other instanceof {name} && all.equals((({name}<{', '.join('?' * size)}>) other).all); }}\n"
        f"    public int hashCode() {{ return all.hashCode(); }} public String toString() {{ return all.toString(); }}\n}}\n"
    )


_TUPLES = ("Unit", "Pair", "Triplet", "Quartet", "Quintet", "Sextet", "Septet", "Octet", "Ennead", "Decade")
JAVA_TUPLES = {name: _tuple(name, size) for size, name in enumerate(_TUPLES, 1)}
"""The classes of the library javatuples that MultiPL-E's rows use, as far as tests can tell."""
