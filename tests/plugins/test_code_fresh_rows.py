"""Every rendering of the public formats, with right programs in many styles, wrong ones, and rows that must be refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import SandboxUnavailable, open_sandbox

from grpo_rewards import get_reward
from grpo_rewards.types import Batch

from .code_rows import renderings, tasks
from .code_rows.tasks import fenced


def _isolates() -> bool:
    try:
        open_sandbox("local", workers=1).close()
    except SandboxUnavailable:
        return False
    return True


pytestmark = pytest.mark.skipif(not _isolates(), reason="this machine cannot isolate code")
Row = tuple[str, dict[str, Any], str, Any]
_TASKS_EACH, _STYLES_EACH = 2, 5
UNSEEN = [
    json.loads(line) for line in (Path(__file__).parent / "code_rows" / "unseen.jsonl").read_text("utf-8").splitlines()
]


def call_rows() -> list[Row]:
    """Two tasks and five styles of each rendering, in turns, so that all of both come up."""
    found: list[Row] = []
    turn = itertools.count()
    both = {"json": renderings.JSON_CALLS, "python": renderings.PYTHON_CALLS}
    for kind, table in both.items():
        for name, render in table.items():
            fit = [task for task in tasks.CALLS if kind == "json" or not task.place]
            for _ in range(_TASKS_EACH):
                number = next(turn)
                task = fit[number % len(fit)]
                columns = render(task)
                site = kind == "json"
                right = list(tasks.right_calls(task, methods=site, hub=name == "leetcode_examples"))
                wrong = list(tasks.wrong_calls(task))
                for step in range(_STYLES_EACH):
                    style, completion = right[(number * _STYLES_EACH + step) % len(right)]
                    found.append((f"{name}-{task.name}-{style}", columns, completion, 1))
                for step in range(2):
                    style, completion = wrong[(number * 2 + step) % len(wrong)]
                    found.append((f"{name}-{task.name}-{style}", columns, completion, 0))
    return found


def whole_rows() -> list[Row]:
    found: list[Row] = []
    for number, (name, render) in enumerate(renderings.STDIO.items()):
        for task in (tasks.WHOLES[number % len(tasks.WHOLES)], tasks.WHOLES[(number + 1) % len(tasks.WHOLES)]):
            columns, right, wrong = render(task), list(tasks.right_wholes(task)), list(tasks.wrong_wholes(task))
            for step in range(4):
                style, completion = right[(number * 3 + step * 5) % len(right)]
                found.append((f"{name}-{style}-{step}", columns, completion, 1))
            for step in range(2):
                style, completion = wrong[(number + step) % len(wrong)]
                found.append((f"{name}-{style}", columns, completion, 0))
    return found


def refused_rows() -> list[Row]:
    return [(name, columns, completion, None) for name, (columns, completion) in renderings.refused().items()]


def judged(rows: list[Row]) -> list[str]:
    """What is not as it should be, in words."""
    code = get_reward("code").with_(sandbox="local")
    problems = []
    for start in range(0, len(rows), 64):
        some = rows[start : start + 64]
        batch = Batch.from_rows([{**columns, "completion": completion} for _, columns, completion, _ in some])
        for (name, _, _, wanted), outcome in zip(some, code.outcomes(batch), strict=True):
            if outcome.value != wanted:
                problems.append(f"{name}: {wanted} wanted, {outcome.value} {outcome.status}: {outcome.reason[:160]}")
    return problems


@pytest.mark.slow
def test_calls_of_every_rendering_are_judged_right() -> None:
    assert judged(call_rows()) == []


@pytest.mark.slow
def test_whole_programs_of_every_rendering_are_judged_right() -> None:
    assert judged(whole_rows()) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted({row["family"] for row in UNSEEN}))
def test_unseen_rows_are_judged_right(family: str) -> None:
    """Renderings of the public sets in all languages, in odd but honest styles; an expected outcome of "refuse" is no score."""
    some = [row for row in UNSEEN if row["family"] == family]
    rows = [
        (row["id"], row["columns"], row["completion"], None if row["expected"] == "refuse" else row["expected"])
        for row in some
    ]
    problems = judged(rows)
    if lacking := [problem for problem in problems if "is not installed where the sandbox runs" in problem]:
        pytest.skip(lacking[0])
    assert problems == []


@pytest.mark.slow
def test_rows_that_cannot_be_judged_get_no_score() -> None:
    assert judged(refused_rows()) == []


GO = {
    "name": "HumanEval_0", "language": "go_test.go", "prompt": 'package twice_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\n// Twice.\nfunc twice(n int) int {\n',
    "tests": 'func TestTwice(t *testing.T) {\n  candidate := twice\n\ttype test struct {\n\t\tactual   interface{}\n\t\texpected interface{}\n\t}\n   tests := []test{\n     { actual: candidate(2), expected: 4 },\n     { actual: candidate(-3), expected: -6 },\n   }\n\n\tfor i, tc := range tests {\n\t\tt.Run(fmt.Sprintf("test num % d", i), func(t *testing.T) {\n\t\t\tif fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) {\n\t\t\t\tt.Errorf("expected \'%s\', got \'%s\'", tc.expected, tc.actual)\n\t\t\t}\n\t\t})\n\t}\n}\n',
    "stop_tokens": ["\nfunc", "struct", "\n// "],
}  # fmt: skip
CPP = {"name": "t", "language": "cpp", "prompt": "#include<assert.h>\n#include<bits/stdc++.h>\n// Twice.\nlong twice(long n) {\n", "tests": "}\nint main() {\n    auto candidate = twice;\n    assert(candidate((2)) == (4));\n    assert(candidate((-3)) == (-6));\n}\n", "stop_tokens": ["\n}"]}  # fmt: skip
SCRIPT = {"name": "t", "language": "js", "prompt": "//Twice.\nfunction twice(n){\n", "tests": "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = twice;\n  assert.deepEqual(candidate(2),4);\n  assert.deepEqual(candidate(-3),-6);\n}\n\ntest();", "stop_tokens": ["\nfunction ", "\n/*", "\n//", "\nconsole.log"]}  # fmt: skip
PHP = {"name": "t", "language": "php", "prompt": "<?php\n// Twice.\nfunction twice($n) {\n", "tests": "function candidate(...$args) {\n    return twice(...$args);\n}\n\nfunction test(): void {\n    if (candidate(2) !== 4) { throw new Exception(\"Test failed!\"); }\n    if (candidate(-3) !== -6) { throw new Exception(\"Test failed!\"); }\n}\n\ntest();", "stop_tokens": ["\nfunction"]}  # fmt: skip
OWN_TEST = 'package main\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc twice(n int) int {\n\treturn n + n\n}\n\nfunc TestMine(t *testing.T) {\n\tt.Run("a", func(t *testing.T) {\n\t\tt.Errorf("no")\n\t})\n}\n\nfunc main() { var n int; fmt.Scan(&n); fmt.Println(twice(n)) }\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "completion", "value"),
    [
        (GO, "    return n + n\n}", 1),
        (GO, fenced("package twice_test\n\nfunc twice(n int) int {\n\treturn 2 * n\n}\n", "go"), 1),
        (GO, fenced(OWN_TEST, "go"), 1),
        (GO, fenced("func twice(n int) int {\n\treturn 4\n}\n", "go"), 0),
        ({"tests": [{"input": "4\n", "output": "8\n"}], "language": "go"}, fenced(OWN_TEST, "go"), 1),
        (CPP, fenced("#include <bits/stdc++.h>\nlong twice(long n) {\n  return 2 * n;\n}\nvoid test() { assert(twice(1) == 2); }\n", "cpp"), 1),
        (CPP, f"{fenced('long twice(long n) { return n + n; }', 'cpp')}\nUse it:\n{fenced('int main() { return twice(2); }', 'cpp')}", 1),
        (CPP, fenced("long twice(long n) { return 4; }\nint main() { }\n", "cpp"), 0),
        (SCRIPT, f"{fenced('function twice(n) { return 2 * n; }', 'js')}\nExample:\n{fenced('console.log(twice(2)); // 4', 'js')}", 1),
        (SCRIPT, f"{fenced('function twice(n) { return 4; }', 'js')}\nExample:\n{fenced('console.log(twice(2)); // 4', 'js')}", 0),
        (PHP, fenced("<?php\nfunction twice($n) { return 2 * $n; }\n?>", "php") + "\nExample:\n" + fenced("<?php\nprint_r(twice(2));\n?>", "php"), 1),
    ],
)  # fmt: skip
def test_programs_in_one_text_with_their_tests(columns: dict[str, Any], completion: str, value: int) -> None:
    (outcome,) = (
        get_reward("code").with_(sandbox="local").outcomes(Batch.from_rows([{**columns, "completion": completion}]))
    )
    if outcome.status == "unavailable":
        pytest.skip(outcome.reason)
    assert outcome.value == value, outcome


JAVA = {"name": "t", "language": "java", "prompt": "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n    // Both.\n    public static Pair<Long, Long> both(long n) {\n", "tests": "    }\n    public static void main(String[] args) {\n    assert(both((2l)).equals((Pair.with(2l, 4l))));\n    assert(both((-3l)).equals((Pair.with(-3l, -6l))));\n    }\n\n}\n", "stop_tokens": ["\n    }\n"]}  # fmt: skip
RUST_X = {"task_id": "Rust/0", "prompt": "fn main(){}\n\n/*\n Twice.\n*/\nfn twice(n: i32) -> i32 {\n", "declaration": "fn twice(n: i32) -> i32 {\n", "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn test_twice() {\n        assert_eq!(twice(2), 4);\n        assert_eq!(twice(-3), -6);\n    }\n}\n", "canonical_solution": "    n + n\n}\n"}  # fmt: skip
OWN_RUST = "fn twice(n: i32) -> i32 {\n    n * 2\n}\n\n#[test]\nfn mine() {\n    assert_eq!(twice(2), 5);\n}\n"


@pytest.mark.slow
@pytest.mark.parametrize("fidelity", ["isolated", "shared"])
@pytest.mark.parametrize(
    ("columns", "completion", "value"),
    [
        (GO, fenced(OWN_TEST, "go"), 1),
        (GO, fenced(OWN_TEST.replace("n + n", "n + 2"), "go"), 0),
        (GO, fenced(OWN_TEST.replace("n + n", "n + 2").replace('t.Errorf("no")', ""), "go"), 0),
        (RUST_X, fenced(OWN_RUST, "rust"), 1),
        (RUST_X, fenced(OWN_RUST.replace("n * 2", "n + 2"), "rust"), 0),
        (JAVA, "        return Pair.with(n, 2 * n);\n    }", 1),
        (JAVA, "        return new Pair<>(n, 0l).setAt1(2 * n);\n    }", 1),
        (JAVA, "        return Pair.with(2 * n, n);\n    }", 0),
        (JAVA, fenced("import java.util.*;\nimport org.javatuples.Pair;\n\nclass Problem {\n    public static Pair<Long, Long> both(long n) {\n        return Pair.with(n, n + n);\n    }\n}\n", "java"), 1),
    ],
)  # fmt: skip
def test_own_tests_and_the_rows_library(columns: dict[str, Any], completion: str, value: int, fidelity: str) -> None:
    """A program's own tests are not the row's, and the library that Java's rows count on is there, both ways of running them."""
    rows = Batch.from_rows([{**columns, "completion": completion}])
    (outcome,) = get_reward("code").with_(sandbox="local", fidelity=fidelity).outcomes(rows)
    if outcome.status == "unavailable":
        pytest.skip(outcome.reason)
    assert outcome.value == value, outcome
