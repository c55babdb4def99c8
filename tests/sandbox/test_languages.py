"""Programs in every language: the same verdicts under the same limits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from grpo_rewards_sandbox import Job, Limits, Sandbox, Verdict
from grpo_rewards_sandbox.program.languages import sources

# reads a number and writes it doubled; where EXIT stands, a test puts something in
DOUBLE = {
    "python": "n = int(input())\nprint(2 * n)\nEXIT\n",
    "c": '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { long n; scanf("%ld", &n); printf("%ld\\n", 2 * n); EXIT return 0; }\n',
    "cpp": '#include <cstdio>\n#include <cstdlib>\nint main() { long n; scanf("%ld", &n); printf("%ld\\n", 2 * n); EXIT }\n',
    "java": "import java.util.*;\npublic class Solve {\n  public static void main(String[] a) {\n    long n = new Scanner(System.in).nextLong();\n"
    "    System.out.println(2 * n);\n    EXIT\n  }\n}\n",
    "javascript": 'const n = parseInt(require("fs").readFileSync(0, "utf8"));\nconsole.log(2 * n);\nEXIT\n',
    "typescript": 'import * as fs from "fs";\nconst n: number = parseInt(fs.readFileSync(0, "utf8"));\nconsole.log(2 * n);\nEXIT\n',
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tvar n int\n\tfmt.Scan(&n)\n\tfmt.Println(2 * n)\n\tif n < -99 {\n\t\tos.Exit(9)\n\t}\n\tEXIT\n}\n',
    "rust": "use std::io;\nfn main() {\n    let mut s = String::new();\n    io::stdin().read_line(&mut s).unwrap();\n"
    '    let n: i64 = s.trim().parse().unwrap();\n    println!("{}", 2 * n);\n    EXIT\n}\n',
    "ruby": "n = gets.to_i\nputs 2 * n\nEXIT\n",
    "php": "<?php\nfscanf(STDIN, '%d', $n);\necho 2 * $n, \"\\n\";\nEXIT\n",
    "bash": "read n\necho $((2 * n))\nEXIT\n",
}
EXIT_3 = {
    "python": "raise SystemExit(3)", "c": "exit(3);", "cpp": "exit(3);", "java": "System.exit(3);",
    "javascript": "process.exit(3)", "typescript": "process.exit(3)", "go": "os.Exit(3)", "rust": "std::process::exit(3);",
    "ruby": "exit 3", "php": "exit(3);", "bash": "exit 3",
}  # fmt: skip
FOREVER = {
    "python": "while True: pass", "c": "for (;;) ;", "cpp": "volatile int x = 0; for (;;) x = x + 1;",
    "java": "while (n < 1000) n ^= 1;", "javascript": "for (;;) ;", "typescript": "for (;;) ;", "go": "for {\n\t}",
    "rust": "loop { std::hint::spin_loop(); }", "ruby": "loop {}", "php": "for (;;) ;", "bash": "while :; do :; done",
}  # fmt: skip
# holds more and more memory, and uses it
HOLD = {
    "python": "kept = []\nwhile True: kept.append(bytearray(b'x') * (1 << 24))",
    "c": "for (;;) { volatile char *p = malloc(1 << 24); if (!p) abort(); for (long i = 0; i < 1 << 24; i += 512) p[i] = 1; }",
    "cpp": "for (;;) { volatile char *p = new char[1 << 24]; for (long i = 0; i < 1 << 24; i += 512) p[i] = 1; }",
    "java": "List<byte[]> kept = new ArrayList<>(); while (true) { byte[] b = new byte[1 << 24]; Arrays.fill(b, (byte) 1); kept.add(b); }",
    "javascript": "const kept = []; for (;;) kept.push(new Array(1 << 20).fill(kept.length));",
    "typescript": "const kept: any[] = []; for (;;) kept.push(new Array(1 << 20).fill(kept.length));",
    "go": "var kept [][]byte\n\tfor {\n\t\tb := make([]byte, 1<<24)\n\t\tfor i := range b {\n\t\t\tb[i] = 1\n\t\t}\n\t\tkept = append(kept, b)\n\t}",
    "rust": "let mut kept: Vec<Vec<u8>> = Vec::new(); loop { kept.push(vec![1u8; 1 << 24]); if kept.len() > 1 << 30 { break; } }",
    "ruby": "kept = []; loop { kept << 'x' * (1 << 24) }",
    "php": "$kept = []; for (;;) $kept[] = str_repeat('x', 1 << 24);",
    "bash": "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done",
}
BROKEN = {
    "python": "def (", "c": "int x = ;", "cpp": "int x = ;", "java": "int x = ;", "javascript": "let x = ;", "typescript": "let x = ;",
    "go": "var x int = ;", "rust": "let x: i32 = ;", "ruby": "def (", "php": "function {", "bash": "if then",
}  # fmt: skip
ALL = list(DOUBLE)


def program(language: str, put_in: str = "") -> str:
    """Return the doubling program with this in it."""
    return DOUBLE[language].replace("EXIT", put_in)


TESTS: list[dict[str, object]] = [{"input": "4\n", "output": "8\n"}, {"input": "-21\n", "output": "-42\n"}]
Needs = Callable[..., None]
COMPILED = ["c", "cpp", "java", "typescript", "go", "rust"]
# one compiler and one interpreter in every run; all of them where there is time
FEW = [language if language in ("c", "bash") else pytest.param(language, marks=pytest.mark.slow) for language in ALL]


def judge(
    sandbox: Sandbox, language: str, text: str, tests: list[dict[str, object]] | None = None, **more: object
) -> Verdict:
    job = Job(text, list(tests or TESTS), "stdio", language=language, **{"timeout": 20.0, **more})  # type: ignore[arg-type]
    return sandbox.run([job])[0]


@pytest.mark.parametrize("language", ALL)
def test_right_wrong_and_exit_status(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    right = judge(local, language, program(language))
    assert (right.status, right.tests_passed) == ("passed", 2), right
    mixed = judge(local, language, program(language), [TESTS[0], {"input": "4\n", "output": "9\n"}])
    assert (mixed.status, mixed.tests_passed, mixed.tests_total) == ("failed", 1, 2)
    assert "case 2: expected '9" in mixed.reason
    ended = judge(local, language, program(language, EXIT_3[language]), TESTS[:1], test_timeout=9.0)
    assert (ended.status, ended.tests_passed) == ("failed", 0)
    assert "exit status 3" in ended.reason


@pytest.mark.parametrize(
    "end",
    [
        "raise SystemExit(3)",
        "1 / 0",
        "import os; os._exit(3)",
        "import os; os.abort()",
        "import os; os.fork() and 1 / 0",
    ],
)
def test_a_right_output_before_a_bad_end(sandbox: Sandbox, end: str) -> None:
    """The same where Python is run without a cell, and on every backend."""
    found = judge(sandbox, "python", f"print(2 * int(input()), flush=True)\n{end}\n", TESTS[:1])
    assert (found.status, found.tests_passed) == ("failed", 0), found


@pytest.mark.parametrize("language", FEW)
def test_broken_text(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    found = judge(local, language, program(language, BROKEN[language]), test_timeout=9.0)
    assert (found.status, found.tests_passed) == ("failed", 0)
    assert ("does not compile" in found.reason) is (language in COMPILED), found


@pytest.mark.parametrize("language", FEW)
def test_no_end(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    found = judge(local, language, program(language, FOREVER[language]), test_timeout=0.5)
    assert found.status == "timeout", found


@pytest.mark.parametrize("language", FEW)
def test_memory(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    text = program(language, HOLD[language])
    found = judge(local, language, text, limits=Limits(memory=256 << 20), timeout=60.0, test_timeout=50.0)
    assert (found.status, found.limit) == ("limit", "memory"), found


@pytest.mark.parametrize("language", ["c", "bash"])
def test_every_backend(sandbox: Sandbox, language: str) -> None:
    """What an image has is compiled and run in it; `docker_base.sh` puts these two into the base."""
    right = judge(sandbox, language, program(language))
    if right.status == "refused":
        pytest.skip(f"NO TESTS OF {language.upper()} RAN HERE: {right.reason}")
    assert right.passed, right
    assert judge(sandbox, language, program(language, EXIT_3[language])).status == "failed"
    assert judge(sandbox, language, program(language, FOREVER[language]), test_timeout=0.5).status == "timeout"
    assert judge(sandbox, "bash", "kill -9 $PPID; kill -9 -1; sleep 9", test_timeout=0.5).status in (
        "failed",
        "timeout",
    )
    assert judge(sandbox, language, program(language)).passed


def test_compiled_once(needs: Needs, local: Sandbox) -> None:
    needs("c")
    text = program("c") + "// compiled once\n"
    first, *others = (judge(local, "c", text) for _ in range(4))
    assert all(verdict.passed for verdict in (first, *others))
    assert min(verdict.seconds for verdict in others) < first.seconds


def test_each_test_has_its_own_time(needs: Needs, local: Sandbox) -> None:
    needs("bash")
    tests: list[dict[str, object]] = [{"input": "0\n", "output": ""}, {"input": "30\n", "output": "", "timeout": 0.3}]
    found = judge(local, "bash", "read n; sleep $n", tests)
    assert (found.status, found.tests_passed) == ("timeout", 1)
    assert "waited 0." in found.reason


@pytest.mark.parametrize("language", ["python", "bash"])
def test_files(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    text = {
        "python": "open('sum.out', 'w').write(str(2 * int(open('sum.in').read())))\nprint('noise')",
        "bash": "read n < sum.in; echo $((2 * n)) > sum.out; echo noise",
    }[language]
    found = judge(local, language, text, input_file="sum.in", output_file="sum.out")
    assert found.passed, found
    silent = judge(local, language, "" if language == "python" else ":", input_file="sum.in", output_file="sum.out")
    assert (silent.status, silent.tests_passed) == ("failed", 0)


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.remove('sum.out')",
        "import os\nos.remove('sum.out')\nos.symlink('/etc/passwd', 'sum.out')",
        "import os\nos.remove('sum.out')\nos.mkfifo('sum.out')",
        "import os\nos.remove('sum.out')\nos.mkdir('sum.out')",
    ],
    ids=["removed", "link", "pipe", "folder"],
)
def test_no_file_is_a_failure(needs: Needs, local: Sandbox, text: str) -> None:
    found = judge(local, "python", text, [{"input": "", "output": ""}], output_file="sum.out")
    assert (found.status, found.tests_passed) == ("failed", 0), found


def test_a_missing_toolchain_is_no_verdict(needs: Needs, local: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    from grpo_rewards_sandbox.program.languages import table

    monkeypatch.setattr(table, "PATH", "/nowhere")
    assert "apt-get install g++" in table.missing("cpp")
    assert "sandbox build --language java" in table.missing("java")
    assert table.missing("python") == ""


@pytest.mark.parametrize(
    ("text", "file", "main"),
    [
        ("public class A { public static void main(String[] a) {} }", "A.java", "A"),
        ("class Main { static void main(String[] a) {} }", "Main.java", "Main"),
        ("class B {}\nclass A { public static void main(String... a) {} }", "A.java", "A"),
        ("package x.y;\npublic class A { public static void main(String[] a) {} }", "A.java", "x.y.A"),
        ("// public class No {\nclass A { String s = \"public class B {\"; public static void main(String[] a) {} }", "A.java", "A"),
        ("class A { public static class In {} public static void main(String[] a) {} }\npublic class P {}", "P.java", "A"),
        ("record R(int x) {}\npublic final class Q { public static void main(String[] a) {} }", "Q.java", "Q"),
        ("", "Main.java", "Main"),
    ],
)  # fmt: skip
def test_javas_file_and_class(text: str, file: str, main: str) -> None:
    assert sources.java(text) == (file, main)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("const fs = require('fs')", "main.js"),
        ("import fs from 'fs';", "main.mjs"),
        ("import { readFileSync } from 'fs';", "main.mjs"),
        ("const x = 1;\nexport default x;", "main.mjs"),
        ("/* \nimport fs from 'fs';\n*/ const x = 1;", "main.js"),
        ("import('fs').then(f => f);", "main.js"),
        ("important = 1", "main.js"),
    ],
)
def test_scripts_and_modules(text: str, name: str) -> None:
    assert sources.javascript(text)[0] == name


PROGRAMS = {
    "python": ("def add(a, b):\n    return a + b\n", "assert add(1, 2) == 3\n", "a - b"),
    "cpp": ("#include <cassert>\nint add(int a, int b) {\n    return a + b;\n", "}\nint main() {\n    assert(add(1, 2) == 3);\n}\n", "a - b"),
    "java": ("class Problem {\n    static int add(int a, int b) {\n        return a + b;\n",
             "    }\n    public static void main(String[] args) {\n    assert(add(1, 2) == 3);\n    }\n\n}\n", "a - b"),
    "javascript": ("function add(a, b){\n  return a + b;\n}\n", "console.assert(add(1, 2) === 3)\n", "a - b"),
    "typescript": ("function add(a: number, b: number): number {\n  return a + b;\n}\n",
                   "declare var require: any;\nconst assert = require('node:assert');\nassert.deepEqual(add(1, 2), 3);\n", "a - b"),
    "go": ('package add_test\n\nimport (\n    "testing"\n)\n\nfunc add(a int, b int) int {\n    return a + b\n}\n',
           'func TestAdd(t *testing.T) {\n  if add(1, 2) != 3 { t.Errorf("wrong") }\n}\n', "a - b"),
    "rust": ("fn add(a: i64, b: i64) -> i64 {\n    a + b\n", "}\nfn main() {\n    assert_eq!(add(1, 2), 3);\n}\n", "a - b"),
    "ruby": ("def add(a, b)\n  a + b\nend\n", "raise 'wrong' unless add(1, 2) == 3\n", "a - b"),
    "php": ("<?php\nfunction add($a, $b) {\n    return $a + $b;\n}\n", "if (add(1, 2) !== 3) { throw new Exception('wrong'); }\n", "$a - $b"),
    "bash": ("add() {\n  echo $(($1 + $2))\n}\n", "set -e\n[[ $(add 1 2) = 3 ]]\n", "$1 - $2"),
}  # fmt: skip
EARLY = {
    "python": "import os\nos._exit(0)\n", "javascript": "process.exit(0);\n", "ruby": "exit! 0\n", "php": "<?php exit(0);\n",
    "bash": "exit 0\n",
}  # fmt: skip


@pytest.mark.parametrize("language", list(PROGRAMS))
def test_programs_by_their_exit_status(needs: Needs, local: Sandbox, language: str) -> None:
    needs(language)
    candidate, tests, wrong = PROGRAMS[language]
    right = wrong.replace("-", "+")

    def run(text: str) -> Verdict:
        return local.run([Job(text, tests, "program", language=language, timeout=20.0)])[0]

    found = run(candidate)
    assert (found.status, found.tests_passed, found.tests_total) == ("passed", 1, 1), found
    assert run(candidate.replace(right, wrong)).status == "failed"
    if language in EARLY:
        found = run(EARLY[language])
        assert (found.status, found.reason) == ("failed", "it ended before the end of the tests")


RUST_TESTS = (
    "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n}\n"
)


@pytest.mark.parametrize(("body", "passes"), [("a + b", True), ("a - b", False)])
def test_rusts_own_tests(needs: Needs, local: Sandbox, body: str, passes: bool) -> None:
    needs("rust")
    job = Job(
        f"fn add(a: i64, b: i64) -> i64 {{\n    {body}\n}}\n", RUST_TESTS, "program", language="rust", timeout=20.0
    )
    assert local.run([job])[0].passed is passes


SHOW = "File.write('values.txt', \"{}\\n\", mode: 'a')\n"


def test_values_of_two_programs_are_compared_and_never_meet(local: Sandbox) -> None:
    tests = SHOW.format("[1, 2.5]") + SHOW.format('{\\"k\\": null}')
    looks = "Dir.glob(['*', '/tmp/*', '/dev/shm/*']).each { |name| puts name, (File.read(name) rescue '') }\nputs ENV.to_a, ARGV\nraise if $stdin.read != ''\n"
    verdicts = local.run([
        Job(text, tests, "values", language="ruby", compare="floats:1e-6")
        for text in (
            looks + SHOW.format("[1.0, 2.5000001]") + SHOW.format('{\\"k\\": null}'), SHOW.format("[1, 2.5]"), SHOW.format("[1, 2.5]") * 2,
            tests + SHOW.format("1"), tests + "exit 3\n", "exit\n" + tests, SHOW.format("nothing") * 2, SHOW.format("[" * 99999) * 2,
            "File.symlink('/etc/passwd', 'values.txt') rescue 0\nexit\n",
        )
    ])  # fmt: skip
    assert [verdict.passed for verdict in verdicts] == [True, *[False] * 8]
    assert {verdict.status for verdict in verdicts[1:]} == {"failed"}
    assert (verdicts[1].tests_passed, verdicts[1].tests_total) == (1, 2)


@pytest.mark.parametrize("tests", ["raise 'x'\n", "exit\n", SHOW.format("oh"), SHOW.format("NaN"), "def ("])
def test_tests_that_write_no_values_give_no_verdict(local: Sandbox, tests: str) -> None:
    (verdict,) = local.run([Job(SHOW.format("1"), tests, "values", language="ruby")])
    assert verdict.status == "refused"
    assert "could not be made" in verdict.reason


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("php", "<?php\nfunction f() { return nope(1); }\nf();", "undefined function nope"),
        ("ruby", "def f\n  raise 'wrong'\nend\nf", "wrong (RuntimeError)"),
        ("javascript", "function f() { throw new Error('wrong') }\nf()", "Error: wrong"),
    ],
)
def test_the_reason_of_a_bad_end_is_what_happened(
    needs: Needs, local: Sandbox, language: str, text: str, said: str
) -> None:
    needs(language)
    assert said in judge(local, language, text).reason


def test_php_reads_its_input_by_path(needs: Needs, local: Sandbox) -> None:
    needs("php")
    assert judge(local, "php", "<?php\necho 2 * intval(file_get_contents('/dev/stdin'));").passed


STACK = """use std::thread::Builder;
fn deep(n: u64) -> u64 { if n == 0 { 0 } else { 1 + deep(n - 1) } }
fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    println!("{}", Builder::new().stack_size(1 << 30).spawn(move || 2 * n + deep(9000) as i64 - 9000).unwrap().join().unwrap());
}
"""


def test_a_thread_of_rust_has_the_stack_that_it_asks_for(needs: Needs, local: Sandbox) -> None:
    needs("rust")
    assert judge(local, "rust", STACK).passed


def test_php_has_the_libraries_of_the_sites(needs: Needs, local: Sandbox) -> None:
    needs("php")
    text = "<?php\necho mb_strlen('éa') * bcadd('1', trim(fgets(STDIN))) - gmp_intval(gmp_init(2));"
    assert judge(local, "php", text).passed
