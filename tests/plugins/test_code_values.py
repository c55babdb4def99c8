"""Tests of other languages, told apart: what the program computes, what is expected, and nothing of one with the other."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.values.equations import Equation, equation
from grpo_rewards_plugins.code.values.splitting import split

from grpo_rewards import get_reward
from grpo_rewards._contract import Batch


@pytest.mark.parametrize(
    ("condition", "language", "sides"),
    [
        ("f(7) == 16", "cpp", ("f(7)", "16")), ("(candidate((7)) == (16))", "cpp", ("candidate((7))", "(16)")), ("16 == f(7)", "cpp", ("f(7)", "16")),
        ("f(a, 0.3)", "cpp", ("f(a, 0.3)", "true")), ("!f(a)", "cpp", ("f(a)", "false")), ("not f(a)", "cpp", ("f(a)", "false")),
        ('f("a == b") == "c && d"', "cpp", ('f("a == b")', '"c && d"')), ("s.f(1).equals(Arrays.asList(1, 2))", "java", ("s.f(1)", "Arrays.asList(1, 2)")),
        ("Objects.equals(s.f(1), null)", "java", ("s.f(1)", "null")), ("JSON.stringify(f(1)) === JSON.stringify([1])", "javascript", ("JSON.stringify(f(1))", "JSON.stringify([1])")),
        ("f((x) => x > 2) === 1", "javascript", ("f((x) => x > 2)", "1")), ("f(vec![1]) == Vec::<i32>::new()", "rust", ("f(vec![1])", "Vec::<i32>::new()")),
    ],
)  # fmt: skip
def test_a_condition_has_two_sides(condition: str, language: str, sides: tuple[str, str]) -> None:
    found = equation(condition, ("f", "candidate"), language, {})
    assert found is not None
    assert (found.got, found.wanted) == sides


@pytest.mark.parametrize(
    ("condition", "near"),
    [("abs(f(1.33) - 0.33) < 1e-4", ("f(1.33)", "0.33", 1e-4)), ("Math.abs(f(2) - -1.5) <= 1e-6", ("f(2)", "-1.5", 1e-6)), ("fabs(f(1) - 2) < 0.01", ("f(1)", "2", 0.01))],
)  # fmt: skip
def test_a_distance_is_a_tolerance(condition: str, near: tuple[str, str, float]) -> None:
    found = equation(condition, ("f",), "cpp", {})
    assert found is not None
    assert (found.got, found.wanted, found.tolerance) == near


def test_a_comparing_helper_says_the_type() -> None:
    assert equation("issame(f(1), {1, 2})", ("f",), "cpp", {"issame": "vector<int>"}) == Equation(
        "f(1)", "{1, 2}", "vector<int>"
    )


@pytest.mark.parametrize(
    "condition",
    ["f(1) == f(2)", "f(1) == 2 && f(2) == 3", "f(1) == 2 || true", "f(1) < 3", "f(1) != 2", "abs(f(1) - 2) < 100", "1 == 1", "f(1) == 2 == 3", "poly(f(1)) < 1 and x"],
)  # fmt: skip
def test_what_is_more_than_a_value_is_not_split(condition: str) -> None:
    assert equation(condition, ("f",), "cpp", {}) is None


def test_what_is_expected_is_nowhere_in_the_programs_part() -> None:
    tests = """
int main() {
    // f(1) is 97531
    auto candidate = f;
    assert(candidate((1)) == (97531));
    assert(candidate((2)) == (86420)); /* 86420 */
}
"""
    found = split(tests, "cpp", "f")
    assert "97531" not in found.got
    assert "86420" not in found.got
    assert "candidate((1))" in found.got
    assert "97531" in found.wanted
    assert "candidate((1))" not in found.wanted


@pytest.mark.parametrize(
    ("language", "tests", "words"),
    [
        ("cpp", "int main() { int want = 97; assert(f(1) == want); }", "'want'"), ("cpp", "int g(int x) { return x; } int main() { assert(f(1) == g(1)); }", "'g'"),
        ("cpp", "int main() { int x = f(1); assert(f(1) == 2); }", "outside of their assertions"), ("cpp", "int main() { for (;;) if (f(1) != 2) throw 1; }", "no assertion"),
        ("cpp", "int main() { assert(f(1) == 2); if (x != 3) throw 1; }", "not understood"), ("cpp", "int main() { assert(f(1) < 2); }", "more than that a call gives a value"),
        ("javascript", "const want = [1]; console.assert(f(1) === want)", "'want'"), ("javascript", "console.assert(f(1) === 2); assert.throws(() => 1)", "not understood"),
        ("rust", "fn main() { assert_eq!(f(1), 2); assert_ne!(1, 2); }", "not understood"), ("php", "if (f(1) !== 2) { echo 1; }", "more than"), ("bash", "[[ $(candidate 1) = 2 ]] && echo", "no assertion"),
    ],
)  # fmt: skip
def test_tests_that_would_show_what_they_expect_are_refused(language: str, tests: str, words: str) -> None:
    with pytest.raises(SuiteProblem) as raised:
        split(tests, language, "f")
    assert words in str(raised.value)


NEAR = {
    "cpp": ("g++", {"language": "cpp", "prompt": "#include <bits/stdc++.h>\nfloat f(float x) {\n",
        "tests": "}\nint main() {\n    assert(std::abs(f(2) - 4.0) < 0.01);\n    if (true) assert(std::abs(f(100) - 10000) < 0.5);\n    assert(f(3) == 9);\n}\n"}, "    return x * x{};\n}"),
    "javascript": ("node", {"language": "js", "prompt": "function f(x) {\n", "tests": "const t = () => {\n  console.assert(Math.abs(f(2) - 4.0) < 0.01)\n  if (true) console.assert(Math.abs(f(100) - 10000) < 0.5)\n  console.assert(f(3) === 9)\n}\nt()\n"}, "  return x * x{};\n}"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", NEAR)
def test_a_distance_is_that_of_its_own_test_and_absolute(language: str) -> None:
    tool, columns, program = NEAR[language]
    if not shutil.which(tool):
        pytest.skip(f"no {tool} on this machine")
    row = {"name": "x", "doctests": "keep", "stop_tokens": ["\n}" if language == "cpp" else "\nfunction"], **columns}
    bends = {"": 1.0, " + (x < 3 ? 0.005 : 0)": 1.0, " + (x > 9 ? 0.4 : 0)": 1.0}
    bends |= {
        " + (x < 3 ? 0.02 : 0)": 0.0,
        " + (x > 9 ? 40 : 0)": 0.0,
        " + (x == 3 ? 0.005 : 0)": 0.0,
        " + (x < 3 ? 0 / 0.0 : 0)": 0.0,
    }
    rows = [{**row, "completion": program.replace("{};", bend + ";")} for bend in bends]
    found = get_reward("code").with_(workers=2).outcomes(Batch.from_rows(rows))
    assert dict(zip(bends, (one.value for one in found), strict=True)) == bends, found


# What functions of the public rows return, as their tests write it: right, then wrong.
RICH: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "cpp": ("g++", {"language": "cpp", "prompt": "#include<assert.h>\n#include<bits/stdc++.h>\nstd::tuple<std::vector<std::string>, std::map<std::string,long>, std::optional<float>> f(std::vector<long> xs) {\n",
        "tests": "}\nint main() {\n    auto candidate = f;\n    assert(candidate((std::vector<long>({(long)1, (long)2}))) == (std::make_tuple(std::vector<std::string>({(std::string)\"a\", (std::string)\"\\\"\"}), std::map<std::string,long>({{\"k\", 2}}), std::optional<float>(0.5f))));\n    assert(candidate((std::vector<long>())) == (std::make_tuple(std::vector<std::string>(), std::map<std::string,long>(), std::optional<float>())));\n}\n"},
        "    if (xs.empty()) return {};\n    std::cout << 1;\n    return {{\"a\", \"\\\"\"}, {{\"k\", (long) xs.size()}}, 0.5f};\n}", "0.5f", ),
    "java": ("javac", {"language": "java", "prompt": "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n    public static Pair<ArrayList<String>, Optional<Float>> f(ArrayList<Long> xs) {\n",
        "tests": "    }\n    public static void main(String[] args) {\n    assert(f((new ArrayList<Long>(Arrays.asList((long)1l)))).equals((Pair.with(new ArrayList<String>(Arrays.asList((String)\"a\")), Optional.of(0.5f)))));\n    assert(f((new ArrayList<Long>())).equals((Pair.with(new ArrayList<String>(), Optional.empty()))));\n    }\n\n}\n"},
        "        if (xs.isEmpty()) return Pair.with(new ArrayList<String>(), Optional.empty());\n        return Pair.with(new ArrayList<String>(Arrays.asList(\"a\")), Optional.of(0.5f));\n    }", "0.5f"),
    "typescript": ("tsc", {"language": "ts", "prompt": "function f(xs: number[]): any {\n",
        "tests": "declare var require: any;\nconst assert = require('node:assert');\nfunction test() {\n  let candidate = f;\n  assert.deepEqual(candidate([1, 2]),[[\"a\", \"b\"], {\"k\": 0.5}, undefined]);\n  assert.deepEqual(candidate([]),[]);\n}\ntest();"},
        "    console.log(1);\n    return xs.length ? [[\"a\", \"b\"], {\"k\": 0.5}, undefined] : [];\n}", "0.5"),
    "go": ("go", {"language": "go_test.go", "prompt": "package f_test\n\nimport (\n    \"testing\"\n    \"fmt\"\n)\n\nfunc f(xs []int) map[string]float64 {\n",
        "tests": "}\n\nfunc TestF(t *testing.T) {\n  candidate := f\n\ttype test struct {\n\t\tactual   map[string]float64\n\t\texpected map[string]float64\n\t}\n   tests := []test{\n     { actual: candidate([]int{1, 2}), expected: map[string]float64{\"k\": 0.5} },\n     { actual: candidate([]int{}), expected: map[string]float64{} },\n   }\n\n\tfor i, tc := range tests {\n\t\tt.Run(fmt.Sprintf(\"test num % d\", i), func(t *testing.T) {\n\t\t\tif fmt.Sprintf(\"%v\", tc.actual) != fmt.Sprintf(\"%v\", tc.expected) {\n\t\t\t\tt.Errorf(\"expected '%s', got '%s'\", tc.expected, tc.actual)\n\t\t\t}\n\t\t})\n\t}\n}\n"},
        "    if len(xs) == 0 {\n        return map[string]float64{}\n    }\n    return map[string]float64{\"k\": 0.5}\n}", "0.5"),
    "rust": ("rustc", {"language": "rs", "prompt": "use std::collections::HashMap;\nfn f(xs: Vec<isize>) -> (Option<String>, Vec<f64>, HashMap<String, isize>) {\n",
        "tests": "}\n\nfn main() {\n    let candidate = f;\n    assert_eq!(candidate(vec![1, 2]), (Some(String::from(\"a\")), vec![0.5], HashMap::from([(String::from(\"k\"), 2)])));\n    assert_eq!(candidate(Vec::<isize>::new()), (None, vec![], HashMap::from([])));\n}\n"},
        "    if xs.is_empty() { return (None, vec![], HashMap::new()); }\n    println!(\"1\");\n    (Some(String::from(\"a\")), vec![0.5], HashMap::from([(String::from(\"k\"), 2)]))\n}", "0.5"),
    "ruby": ("ruby", {"language": "rb", "prompt": "def f(xs)\n",
        "tests": "require 'set'\nrequire 'test/unit'\nclass TestHumanEval < Test::Unit::TestCase\n  def test_f\n    candidate = method(:f)\n    assert_equal([\"a\", {\"k\" => 0.5}, nil, Set[1, 2]], candidate.call([1, 2]))\n    assert_equal([], candidate.call([]))\n  end\nend\n"},
        "  puts 1\n  xs.empty? ? [] : [\"a\", {\"k\" => 0.5}, nil, Set[2, 1]]\nend", "0.5"),
    "php": ("php", {"language": "php", "prompt": "<?php\nfunction f($xs) {\n",
        "tests": "function candidate(...$args) {\n    return f(...$args);\n}\n\nfunction test(): void {\n    if (candidate(array(1, 2)) !== array(\"a\", array(\"k\" => 0.5), null)) { throw new Exception(\"Test failed!\"); }\n    if (candidate(array()) !== array()) { throw new Exception(\"Test failed!\"); }\n}\n\ntest();"},
        "    echo 1;\n    return $xs ? array(\"a\", array(\"k\" => 0.5), null) : array();\n}", "0.5"),
    "bash": ("bash", {"language": "sh", "prompt": "#!/bin/bash\nf() {\n",
        "tests": "}\n\ncandidate() {\n    f \"$@\"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate \"1 2\") = \"a \\\"0.5\\\"\" ]]\n    [[ $(candidate \"\") = \"\" ]]\n}\n\nrun_test"},
        "    [ -z \"$1\" ] || echo 'a \"0.5\"'\n}", "0.5"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", RICH)
def test_values_of_every_kind_cross_as_they_are(language: str) -> None:
    tool, columns, program, right = RICH[language]
    if not shutil.which(tool):
        pytest.skip(f"no {tool} on this machine")
    stop = {"java": "\n    }\n", "go": "\nfunc", "ruby": "\ndef", "php": "\nfunction", "typescript": "\nfunction"}.get(
        language, "\n}"
    )
    row = {"name": "x", "doctests": "keep", "stop_tokens": [stop], **columns}
    wrong = program.replace(right, "0.75" + right[3:])
    assert wrong != program
    rows = [{**row, "completion": text} for text in (program, wrong)]
    passed, failed = get_reward("code").with_(workers=2).outcomes(Batch.from_rows(rows))
    assert (passed.value, passed.details.get("tests_passed")) == (1.0, 2), passed
    assert (failed.value, failed.status) == (0.0, "scored"), failed
    assert failed.details["tests_total"] == 2
