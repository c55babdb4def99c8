"""The reward `code`, in a real sandbox: what passes, what does not, what each verdict means."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.code import runner
from grpo_rewards_plugins.code.probes import code_probes
from grpo_rewards_plugins.code.runner import close_sandboxes
from grpo_rewards_plugins.code.scores import ProgramVerdicts, outcome_of
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_sandbox import SandboxUnavailable, Verdict, open_sandbox

from grpo_rewards import Reward, get_reward
from grpo_rewards.errors import SettingsError

EXAMPLES = Path(__file__).parents[2] / "examples" / "code.jsonl"
SOLUTIONS = {  # bodies, written for this test
    "truncate_number": "    return number % 1.0\n",
    "filter_by_substring": "    return [string for string in strings if substring in string]\n",
    "sum_product": "    product = 1\n    for number in numbers:\n        product *= number\n    return sum(numbers), product\n",
    "add": "    return x + y\n",
    "strlen": "    return len(string)\n",
    "flip_case": "    return string.swapcase()\n",
    "get_positive": "    return [x for x in l if x > 0]\n",
}
ADD = "def add_one(x):\n    return x + 1\n"
FILE = "from solution import add_one\n\ndef test_a():\n    assert add_one(1) == 2\n\ndef test_b():\n    assert add_one(-1) == 0\n"


def _isolates() -> bool:
    try:
        open_sandbox("auto", workers=1).close()
    except SandboxUnavailable:
        return False
    return True


needs_sandbox = pytest.mark.skipif(
    not _isolates(), reason="this machine cannot isolate code, and no engine is reachable"
)


@pytest.fixture(scope="module")
def code() -> Reward:
    return get_reward("code").with_(workers=2)


def humaneval_rows() -> list[dict[str, Any]]:
    """One row per task of the examples for which there is a solution above."""
    rows = {row["entry_point"]: row for row in map(json.loads, EXAMPLES.read_text(encoding="utf-8").splitlines())}
    return [rows[name] for name in SOLUTIONS if name in rows]


FORMS = {
    "body": lambda prompt, body: body,
    "body in a block": lambda prompt, body: f"Here it is:\n```python\n{body}```\n",
    "body that lost its indentation": lambda prompt, body: body.strip(),
    "function": lambda prompt, body: f"```python\n{prompt.strip()}\n{body}```\nFor example:\n```python\nprint(1)\n```",
    "body and more": lambda prompt, body: f"{body}\nThat is all.\n\ndef main():\n    pri",
}


@needs_sandbox
@pytest.mark.parametrize("form", FORMS)
def test_right_solutions_of_humaneval_score_1(code: Reward, form: str) -> None:
    rows = humaneval_rows()
    assert len(rows) >= 5
    texts = [FORMS[form](row["code_prompt"], SOLUTIONS[row["entry_point"]]) for row in rows]
    columns = {name: [row[name] for row in rows] for name in ("test", "entry_point", "code_prompt", "format")}
    assert code(completions=texts, **columns) == [1.0] * len(rows)
    assert code(completions=["    return None\n"] * len(rows), **columns) == [0.0] * len(rows)


@needs_sandbox
def test_the_guides_test_file_scores_right_solutions_1(code: Reward) -> None:
    """The copied reward writes this file and runs pytest on it, which collects nothing: right solutions score 0 there."""
    rows = humaneval_rows()
    files = [
        f"from solution import {row['entry_point']} as candidate\n{row['test']}\ncheck(candidate)\n" for row in rows
    ]
    call = {
        "prompts": [row["code_prompt"] for row in rows],
        "test": files,
        "entry_point": [row["entry_point"] for row in rows],
    }
    for format in ("auto", "pytest"):
        bound = code.with_(format=format)
        assert bound(completions=[SOLUTIONS[row["entry_point"]] for row in rows], **call) == [1.0] * len(rows)
        assert bound(completions=["    pass\n"] * len(rows), **call) == [0.0] * len(rows)


@needs_sandbox
@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ({"tests": FILE}, 1.0), ({"test_list": ["assert add_one(1) == 2", "assert add_one(2) == 3"]}, 1.0),
        ({"test_list": ["assert add_one(one) == 2"], "test_setup_code": "one = 1"}, 1.0),
        ({"test_list": ["assert math.isclose(add_one(1), 2)"], "test_imports": ["import math"]}, 1.0),
        ({"test_list": ["assert add_one(1) == 3"]}, 0.0), ({"tests": "assert add_one(1) == 2\nassert add_one(2) == 4"}, 0.0),
        ({"tests": "def check(candidate):\n    assert candidate(1) == 2\n", "entry_point": "add_one"}, 1.0),
        ({"tests": "def check(candidate):\n    assert candidate(1) == 2\n", "entry_point": "other"}, 0.0),
        ({"tests": json.dumps(["assert add_one(1) == 2"]), "format": "asserts"}, 1.0),
    ],
)  # fmt: skip
def test_formats(code: Reward, columns: dict[str, Any], value: float) -> None:
    outcome = code.one(f"```python\n{ADD}```", **columns)
    assert (outcome.value, outcome.status) == (value, "scored"), outcome
    assert outcome.reason.endswith(" tests passed") is (value == 1.0)


@needs_sandbox
def test_the_reason_is_the_failing_statement_of_the_tests(code: Reward) -> None:
    check = "def check(candidate):\n    assert candidate(1) == 2\n    for i in (1, 2):\n        assert candidate(i) == (\n            9)\n"
    outcome = code.one(ADD, test=check, entry_point="add_one")
    assert outcome.reason.endswith("assert candidate(i) == 9: AssertionError")
    broken = code.one("def add_one(x):\n    return x + missing\n", test=check, entry_point="add_one")
    assert "assert candidate(1) == 2: NameError" in broken.reason


@needs_sandbox
def test_a_fraction_of_the_tests(code: Reward) -> None:
    tests = ["assert add_one(1) == 2", "assert add_one(1) == 3", "assert add_one(2) == 3", "assert add_one(2) == 4"]
    outcome = code.with_(score="fraction").one(ADD, test_list=tests)
    assert outcome.value == 0.5
    assert "2 of 4 tests passed" in outcome.reason
    assert code.one(ADD, test_list=tests).value == 0.0


@needs_sandbox
@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("def add_one(x):\n    while True: pass\n", "timeout"), ("def add_one(x):\n    return [0] * (1 << 34)\n", "rejected"),
        ("def add_one(x:\n", "scored"), ("import os\nos._exit(0)", "scored"), ("raise SystemExit(0)", "scored"), ("\0", "scored"), ("\ud800", "scored"),
        ("(" * 50_000, "scored"), ("", "scored"), ("x" * 200_000, "rejected"), ("def add_one(x):\n    raise ValueError('\\n\\x1b[31m')", "scored"),
        ("class E(int):\n    __eq__ = lambda s, o: True\ndef add_one(x):\n    return E()\n", "scored"),
    ],
)  # fmt: skip
def test_programs_that_fail_are_scored_0_and_say_why(code: Reward, program: str, status: str) -> None:
    outcome = code.with_(timeout=1.0).one(program, tests=FILE)
    assert (outcome.value, outcome.status) == (0.0, status), outcome
    assert outcome.reason
    assert outcome.reason.isprintable()


@needs_sandbox
def test_helpers_that_the_prompt_gives_stay_the_data_sets(code: Reward) -> None:
    """HumanEval's tests call them: a program that defines them anew would judge itself."""
    prompt = "def value(xs, at):\n    return xs[0] + xs[1] * at\n\n\ndef find_zero(xs):\n"
    check = "def check(candidate):\n    assert abs(value([6, -3], candidate([6, -3]))) < 1e-4\n"
    columns = {"test": [check] * 3, "entry_point": ["find_zero"] * 3, "code_prompt": [prompt] * 3}
    texts = [
        "    return -xs[0] / xs[1]\n",
        "def value(xs, at):\n    return 0\n\ndef find_zero(xs):\n    return 1\n",
        "    return 1\n",
    ]
    assert code(completions=texts, **columns) == [1.0, 0.0, 0.0]


ODD = [
    "\x00",
    "\ufeff",
    "\ud800",
    "def f(x):\r    return x\r",
    "```python\n\x00```",
    "# coding: rot13\n",
    "\x0c" * 99,
    "(" * 9000,
]


@needs_sandbox
@pytest.mark.parametrize(
    "columns", [{"test": ["assert f(1) == 2"]}, {"tests": [[{"input": "", "output": "2"}]]}, {"tests": [FILE]}]
)
def test_no_text_blanks_its_own_row(code: Reward, columns: dict[str, Any]) -> None:
    found = code.outcomes(_batch(ODD, **{name: cells * len(ODD) for name, cells in columns.items()}))
    assert {(outcome.value, outcome.status) for outcome in found} <= {(0.0, "scored"), (0.0, "rejected")}


@needs_sandbox
@pytest.mark.parametrize(
    ("returned", "wanted", "value"),
    [
        ("3", 3, 1.0), ("3.0", 3, 1.0), ("2.9999999", 3, 0.0), ("'3'", 3, 0.0), ("0.1 + 0.2", 0.3, 1.0), ("0.301", 0.3, 0.0), ("float('nan')", 0.3, 0.0), ("float('inf')", 1e300, 0.0),
        ("(1, (2, 3))", [1, [2, 3]], 1.0), ("[1, 2]", [2, 1], 0.0), ("[1]", [1, 2], 0.0), ("{1, 2}", [1, 2], 0.0), ("[]", None, 0.0), ("None", None, 1.0), ("[]", False, 0.0),
        ("{1: [2]}", {"1": [2]}, 1.0), ("{'1': [2]}", {"1": [2]}, 1.0), ("{2: [2]}", {"1": [2]}, 0.0), ("{'a': 1.0000001}", {"a": 1.0}, 1.0), ("{'a': 1, 'b': 2}", {"a": 1}, 0.0), ("10**17 + 1", 10**17, 0.0),
        ("'é'", "é", 1.0), ("[True, None]", [True, None], 1.0), ("type('E', (), {'__eq__': lambda s, o: True})()", 3, 0.0), ("type('L', (list,), {'__len__': lambda s: 1, '__getitem__': lambda s, i: 3})()", [3], 0.0),
    ],
)  # fmt: skip
def test_results_of_calls_are_compared_as_values(code: Reward, returned: str, wanted: Any, value: float) -> None:
    tests = {"fn_name": "f", "inputs": [["x"], ["y"]], "outputs": [[wanted], [wanted]]}
    outcome = code.one(f"def f(x):\n    return {returned}\n", tests=tests)
    assert (outcome.value, outcome.status) == (value, "scored"), outcome


PRIMES = {"fn_name": "firstPrimes", "inputs": [[1], [3]], "outputs": [[[2]], [[2, 3, 5]]]}


@needs_sandbox
@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("def firstPrimes(n):\n    return [2, 3, 5][:n]", 1.0), ("class Solution:\n    def firstPrimes(self, n: int) -> List[int]:\n        return list(islice(count(2), 1)) + [3, 5][:n - 1]", 1.0),
        ("class Solution:\n    def __init__(self):\n        self.n = 0\n    def firstPrimes(self, n):\n        self.n += n\n        return [2, 3, 5][:self.n]", 1.0),
        ("def pow(n):\n    return [2, 3, 5][:n]\ndef firstPrimes(n):\n    return pow(n)", 1.0), ("def firstPrimes(n):\n    print(n)\n    return pow(2, 3, 5) and [2, 3, 5][:n]", 1.0),
        ("def firstPrimes(n):\n    return [2]", 0.0), ("def other(n):\n    return [2, 3, 5][:n]", 0.0), ("class Solution:\n    pass", 0.0), ("", 0.0), ("def firstPrimes(n):\n    print([2, 3, 5][:n])", 0.0),
        ("_is_same_ = lambda *a: True\ndef firstPrimes(n): pass", 0.0), ("def _is_same_(got, wanted):\n    return True\nclass Solution:\n    def firstPrimes(self, n): pass", 0.0),
        ("import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda x: 1\ndef firstPrimes(n): return []", 0.0), ("class Solution:\n    def __getattr__(self, name):\n        return lambda n: self\n    __eq__ = lambda s, o: True", 0.0),
    ],
)  # fmt: skip
def test_calls_of_a_function_or_method(code: Reward, program: str, value: float) -> None:
    outcome = code.one(f"```python\n{program}\n```", tests=PRIMES)
    assert (outcome.value, outcome.status) == (value, "scored"), outcome


@needs_sandbox
def test_a_class_solution_counts_on_the_imports_of_such_sites(code: Reward) -> None:
    program = "class Solution:\n    def f(self, xs: List[int]) -> int:\n        return pow(Counter(xs)[1], 2, 7) + max(0, -inf)"
    assert code.one(program, test_list=["assert Solution().f([1, 1]) == 4"]).value == 1.0
    assert code.one(program, test_list=["assert Solution().f([1, 1]) == 5"]).value == 0.0


@needs_sandbox
def test_what_the_imports_bring_is_not_what_was_asked_for(code: Reward) -> None:
    """The imports that such programs count on hold a `gcd` of their own."""
    tests = {"fn_name": "gcd", "inputs": [[4, 6]], "outputs": [[2]]}
    assert code.one("def solve(a, b):\n    return gcd(a, b)", tests=tests).value == 0.0
    assert code.one("def gcd(a, b):\n    return math.gcd(a, b)", tests=tests).value == 1.0


@needs_sandbox
def test_a_program_in_another_language_is_never_run_as_python(code: Reward) -> None:
    """An honest 0 where Python is asked, so that no completion takes itself out of its group; its own compiler's word elsewhere."""
    pairs = [{"input": "1", "output": "2"}]
    text = "```cpp\nprint(2)\n```"
    for asked in ({"language": "python"}, {"prompt": "Write a Python program that adds one."}):
        outcome = code.one(text, tests=pairs, **asked)
        assert (outcome.value, outcome.status) == (0.0, "scored")
        assert "only one in 'cpp'" in outcome.reason
    for columns in (
        {},
        {"language": "cpp"},
    ):  # no C++ either: 0 where there is a compiler, no verdict where there is none
        outcome = code.one(text, tests=pairs, **columns)
        assert (outcome.value, outcome.status) in ((0.0, "scored"), (None, "not_applicable"))
    assert code.one("```cpp\nint x;\n```\nIn Python:\n```python\nprint(2)\n```", tests=pairs).value == 1.0
    for tag in (
        "cobol",
        "ada",
    ):  # a language that is not to be had: no word on the row, which its program may not take out
        outcome = code.one(f"```{tag}\nprint(2)\n```", tests=pairs)
        assert (outcome.value, outcome.status) == (0.0, "scored"), tag
        assert f"{tag!r} is none that is run" in outcome.reason
    for tag in ("c++17", "cpp20", "nodejs"):
        outcome = code.one(f"```{tag}\nprint(2)\n```", tests=pairs)
        assert outcome.value != 1.0, tag
        assert "Traceback" not in outcome.reason


@needs_sandbox
def test_outputs_of_programs_are_compared_token_by_token(code: Reward) -> None:
    pairs = [{"input": "3", "output": "1 2\n\n3 \n"}]
    assert code.one("print(1, 2)\nprint(3)", tests=pairs).value == 1.0
    assert code.one("print(1, 3)\nprint(2)", tests=pairs).value == 0.0


@needs_sandbox
def test_a_file_that_binds_nothing_takes_what_the_row_names(code: Reward) -> None:
    body = "import unittest\n\nclass TestCases(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add_one(1), 2)\n"
    assert code.one(ADD, test=body, entry_point="add_one").value == 1.0
    assert code.one("def add_one(x): return 3", test=body, entry_point="add_one").value == 0.0
    assert code.one(ADD, test=body).status == "not_applicable"
    named = body.replace("add_one(1)", "Adder().one(1)")
    assert (
        code.one("class Adder:\n    def one(self, x):\n        return x + 1\n", test=named, class_name="Adder").value
        == 1.0
    )


@needs_sandbox
def test_equal_programs_are_run_once(code: Reward, tmp_path: Path) -> None:
    tests = [["import time", "assert add_one(1) == 2"]] * 8
    outcomes = code.outcomes(_batch([ADD] * 4 + [ADD + "# other"] * 4, test_list=tests))
    assert [outcome.value for outcome in outcomes] == [1.0] * 8
    assert len({outcome.seconds for outcome in outcomes[:4]}) == 1


def _batch(texts: list[str], **columns: Any) -> Any:
    from grpo_rewards._contract import Batch

    return Batch(texts, columns=columns)


@needs_sandbox
def test_rows_of_other_tasks_do_not_apply(code: Reward) -> None:
    outcomes = code.outcomes(_batch([ADD, "4", ADD], tests=[FILE, None, "def check("]))
    assert [outcome.status for outcome in outcomes] == ["scored", "not_applicable", "not_applicable"]
    assert "no tests" in outcomes[1].reason
    assert "do not compile" in outcomes[2].reason
    assert code.one("4").status == "not_applicable"


def test_without_a_sandbox_rows_are_unavailable_and_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    close_sandboxes()
    outcome = get_reward("code").with_(sandbox="docker").one(ADD, tests=FILE)
    assert (outcome.value, outcome.status) == (None, "unavailable")
    assert "docker" in outcome.reason
    assert "grpo-rewards" in outcome.reason


@pytest.mark.parametrize(
    ("verdict", "value", "status"),
    [
        (Verdict("passed", 2, 2), 1.0, "scored"), (Verdict("failed", 1, 2, "wrong"), 0.5, "scored"), (Verdict("error", 0, 2, "broken"), 0.0, "scored"),
        (Verdict("failed", 0, 0, "none"), 0.0, "scored"), (Verdict("timeout", 1, 2, "slow"), 0.0, "timeout"),
        (Verdict("limit", 1, 2, "big", limit="memory"), 0.0, "rejected"), (Verdict("unavailable", reason="down"), None, "unavailable"),
    ],
)  # fmt: skip
def test_what_a_verdict_means(verdict: Verdict, value: float | None, status: str) -> None:
    tally = ProgramVerdicts(Suite("asserts", (), "f", "", frozenset()), [0], 1)
    assert tally.take(0, verdict)
    outcome = outcome_of(tally, "fraction")
    assert (outcome.value, outcome.status) == (value, status)
    assert verdict.reason in outcome.reason


def _score_add(scorer: Reward) -> list[float | None]:
    return scorer(completions=[ADD, "def add_one(x): return 0"], tests=[FILE, FILE])


@pytest.mark.slow
@needs_sandbox
def test_it_scores_in_a_spawned_process(code: Reward) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_score_add, (code,)) == [1.0, 0.0]


@pytest.mark.slow
@needs_sandbox
def test_a_forked_child_opens_its_own_sandbox(code: Reward) -> None:
    assert _score_add(code) == [1.0, 0.0]
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _score_add(code) == [1.0, 0.0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert _score_add(code) == [1.0, 0.0]


@pytest.mark.parametrize(
    "settings",
    [{"timeout": 0}, {"workers": 0}, {"format": "unittest"}, {"sandbox": "vm"}, {"max_chars": 0}, {"score": "all"}],
)
def test_settings_that_do_not_fit(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        get_reward("code").with_(**settings)


@pytest.mark.docker
def test_it_scores_in_containers(code: Reward) -> None:
    try:
        open_sandbox("docker", workers=1).close()
    except SandboxUnavailable as error:
        pytest.skip(f"NO TEST OF CODE IN CONTAINERS RAN: {error}")
    bound = code.with_(sandbox="docker", workers=1)
    try:
        assert _score_add(bound) == [1.0, 0.0]
        outcome = bound.one("def add_one(x): return 3", tests=FILE)
        assert (outcome.value, outcome.status) == (0.0, "scored")
        assert "test_a" in outcome.reason
    finally:
        close_sandboxes()


@needs_sandbox
def test_a_reference_that_isolation_alone_fails_is_found_before_training(code: Reward) -> None:
    own = "class Money:\n    def __init__(s, a): s.a = a\n    def __eq__(s, o): return s.a == getattr(o, 'a', o)\n"
    reference = own + "def total(xs): return Money(sum(xs))\n"
    row = {"tests": ["assert total([1, 2]) == 3"], "solution": reference}
    problem = code.row_problem(row)
    assert problem is not None
    assert "reference solution" in problem
    itself = ["kinds = " + repr(["padding"] * 30) + "\npair = (1, 2)\nassert same(pair) is pair"]
    asked = {"tests": itself, "solution": "def same(pair): return pair\n"}
    assert "AssertionError" in str(code.row_problem(asked))  # behind the statement, however long that is
    assert "fidelity: shared" in problem
    assert code.row_problem({**row, "solution": "def total(xs): return sum(xs)\n"}) is None
    assert "does not pass" in str(code.row_problem({**row, "solution": "def total(xs): return 0\n"}))
    assert code.row_problem({**row, "solution": "Add all of them."}) is None  # no program
    assert code.with_(fidelity="shared").row_problem(row) is None


@needs_sandbox
@pytest.mark.parametrize(
    ("tests", "right", "wrong", "says"),
    [
        (
            {"fn_name": "two", "inputs": [[1], [2]], "outputs": [[2], [4]]},
            "def two(n):\n    return 2 * n\n",
            "def two(n):\n    return 2\n",
            "in one process either: two(2): expected 4, got 2",
        ),
        (
            {"fn_name": "two", "inputs": ["1"], "outputs": ["2"]},
            "class Solution:\n    def two(self, n):\n        return 2 * n\n",
            "class Solution:\n    def two(self, n):\n        return n\n",
            "in one process either: two(1): expected 2, got 1",
        ),
        (
            {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]},
            "print(2 * int(input()))\n",
            "print(2)\n",
            "does not pass its tests: case 2",
        ),
    ],
    ids=["function", "method", "standard_input"],
)
def test_a_reference_of_calls_or_whole_programs_is_run_before_training(
    code: Reward, tests: dict[str, object], right: str, wrong: str, says: str
) -> None:
    assert code.row_problem({"tests": tests, "solution": right}) is None
    assert says in str(code.row_problem({"tests": tests, "solution": wrong}))
    for none in ("Double it.", "42", "```cpp\nint main() {}\n```", "#include <iostream>\nint main() { return 0; }\n"):
        assert code.row_problem({"tests": tests, "solution": none}) is None  # no program in Python


def test_a_language_that_is_not_installed_is_named_before_training(
    code: Reward, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = Verdict("refused", reason="rubyc for ruby is not installed")
    monkeypatch.setattr(runner, "_toolchains", dict)
    monkeypatch.setattr(
        runner, "run_jobs", lambda jobs, **more: iter([(0, lacks)] if jobs[0].language == "ruby" else [])
    )
    row: dict[str, Any] = {"tests": [{"input": "1", "output": "2"}]}
    for name in ("language", "lang", "programming_language"):
        assert code.row_problem(row | {name: "ruby"}) == lacks.reason
        assert "'lua'" in str(code.row_problem(row | {name: "lua"}))
    # no completion takes its row out by a tag
    outcome = code.one("```ruby\nputs 2\n```", **row)
    assert (outcome.value, outcome.status) == (0.0, "scored")
    assert "'ruby' is none that is run here" in outcome.reason


@needs_sandbox
def test_audit_tries_an_empty_array_where_elements_are_compared(code: Reward) -> None:
    pytest.importorskip("numpy")
    approx = (
        "import pytest\nfrom solution import solve\n\ndef test_a():\n    assert solve([1, 2]) == pytest.approx(1.5)\n"
    )
    for solution in ("", "def solve(xs):\n    return sum(xs) / len(xs)\n"):
        probes = code_probes(tests=approx, solution=solution)
        assert probes is not None
        assert [code.one(stub, tests=approx).value for stub in probes.stubs if "empty((0" in stub] == [1.0]
    plain = code_probes(tests=approx.replace("== pytest.approx(1.5)", "== 1.5"))
    assert plain is not None
    assert not any("empty((0" in stub for stub in plain.stubs)


@needs_sandbox
@pytest.mark.parametrize(
    "check",
    [
        "numpy.allclose(solve(2), [[1.5, 2.5], [3.5, 4.5]])", "(numpy.asarray(solve(2)) == [1.5, 2.5]).all()",
        "numpy.linalg.norm(numpy.asarray(solve(2)) - [1.5, 2.5]) < 1e-6", "all(a == b for a, b in zip(solve(2), [1.5]))",
    ],
)  # fmt: skip
def test_audit_tries_an_answer_of_nothing_in_every_shape(code: Reward, check: str) -> None:
    pytest.importorskip("numpy")
    tests = f"{'import numpy' if 'numpy' in check else ''}\nfrom solution import solve\n\ndef test_a():\n    assert {check}\n"
    probes = code_probes(tests=tests)
    assert probes is not None
    assert max(code.one(stub, tests=tests).value or 0.0 for stub in probes.stubs) == 1.0
    probes = code_probes(tests=tests.replace("numpy", "torch"))
    assert probes is not None
    assert any("('torch').empty" in stub for stub in probes.stubs) is ("numpy" in check)
