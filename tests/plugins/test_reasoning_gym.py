"""The reward `reasoning_gym`: the package's own values, and answers that its scorers would run or never finish."""

from __future__ import annotations

import importlib.util
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.reasoning_gym.literals import check_formula, evaluate
from grpo_rewards_plugins.reasoning_gym.reward import _extracted

from grpo_rewards import get_reward
from grpo_rewards._contract import Batch
from grpo_rewards.testing import RewardContract

INSTALLED = importlib.util.find_spec("reasoning_gym") is not None
needed = pytest.mark.skipif(not INSTALLED, reason="needs the extra reasoning-gym")

READ = [
    ("[1, 2]", [1, 2]), ("1, 2", (1, 2)), (" ['a', 'b']", ["a", "b"]), ("[[1, 0], [-1, 2.5]]", [[1, 0], [-1, 2.5]]), ("{1: 'x'}", {1: "x"}),
    ("1 + 2 * 3", 7), ("'a' * 3 + 'b'", "aaab"), ("7 // 2 - 1 / 4", 2.75), ("not True", False), ("[1] * 3", [1, 1, 1]),
]  # fmt: skip
REFUSED = [
    "__import__('os').system('true')", "oracle_answer", "entry['answer']", "open('x')", "().__class__", "2 ** 9", "[1] * 10**9", "10 * [0] * 100000",
    "'%s' % 1", "f'{1}'", "[x for x in (1,)]", "lambda: 1", "1 if 1 else 2", "(1).real", "{**{}}", "a := 1", "x" * 100_001,
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ)
def test_literals_are_read_as_python_reads_them(text: str, value: Any) -> None:
    assert evaluate(text) == value == eval(text.strip())  # noqa: S307 - texts of this test


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        evaluate(text)


KNOWN = {"eval": eval, "open": open, "Symbol": object, "sin": object}


@pytest.mark.parametrize(
    "text", ["3*x**2 + C", "sin(y)/2 - exp(-t)", "'2*y + 1'", "1.5e3", "-(4 + 5)*2", "sqrt(2)*pi", "y!", ""]
)
def test_formulas_pass(text: str) -> None:
    check_formula(text, KNOWN)


@pytest.mark.parametrize(
    "text",
    ["eval('1')", "open", "Symbol('y')", "y.diff", "y[0]", "{1}", "'open(1)'", "lambda: 1", "'a' + 'b'", "y = 1", "__class__", "b'1'", "1;2"],
)  # fmt: skip
def test_formulas_that_could_run_something_do_not(text: str) -> None:
    with pytest.raises(ValueError):
        check_formula(text, KNOWN)


@pytest.mark.parametrize(
    ("completion", "answer"),
    [("<answer> 4 </answer>", "4"), ("<answer>1</answer> no <answer>\n2\n</answer> so", "2"), ("4", None), ("<answer>4", None),
     ("<think><answer>4</answer></think>", None), ("<think><answer>4</answer>", None), ("<answer>4</answer><|im_end|>", "4"),
     ("<answer>a <answer>b</answer>", "a <answer>b"), ("<answer></answer>", ""), ("</answer><answer>", None), ("<answer>" * 100_000, None)],
)  # fmt: skip
def test_the_answer_is_the_last_pair_of_tags(completion: str, answer: str | None) -> None:
    assert _extracted(completion, "answer") == answer


@pytest.mark.skipif(INSTALLED, reason="the extra reasoning-gym is there")
def test_without_the_package_the_run_stops() -> None:
    found = get_reward("reasoning_gym").one("4", metadata={"source_dataset": "gcd"})
    assert found.status == "error"
    assert "pip install 'reasoning-gym" in found.reason


PAID_WHATEVER_IS_ASKED = {
    "game_of_life_halting": ["no", "I do not know", "True or False"],
    "puzzle24": ["6*4*1*1", "24"],
    "coin_flip": ["0", "0.", "1e-99"],
    "complex_arithmetic": ["nan", "NaN + 2i", "nanj"],
}


def entries(name: str, size: int = 1) -> list[dict[str, Any]]:
    package = importlib.import_module("reasoning_gym")
    made = package.create_dataset(name, size=size, seed=3)
    return [{**entry, "metadata": json.dumps(entry["metadata"], default=str)} for entry in made]


def scored(rows: list[dict[str, Any]], answers: list[str], **settings: Any) -> list[Any]:
    completions = [
        {**row, "prompt": "p", "completion": f"<answer>{text}</answer>"}
        for row, text in zip(rows, answers, strict=True)
    ]
    return get_reward("reasoning_gym").with_(**settings).outcomes(Batch.from_rows(completions))


@needed
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # files that the package's own data leaves open
def test_every_data_set_pays_its_own_answer() -> None:
    from reasoning_gym.factory import DATASETS, get_score_answer_fn

    rows = [row for name in sorted(set(DATASETS) - {"composite"}) for row in entries(name)]
    for answers in ([str(row["answer"]) for row in rows], [f"The answer is {row['answer']}." for row in rows]):
        found = scored(rows, answers)
        for row, text, outcome in zip(rows, answers, found, strict=True):
            metadata = json.loads(row["metadata"])
            name = metadata["source_dataset"]
            if name in ("arc_agi", "rearc"):
                metadata["output"] = tuple(map(tuple, metadata["output"]))
            try:
                wanted = get_score_answer_fn(name)(text, {**row, "metadata": metadata})
            except (ValueError, TypeError, AttributeError):
                wanted = 0.0
            if name not in PAID_WHATEVER_IS_ASKED or text == str(row["answer"]):
                assert outcome.value == pytest.approx(wanted), (name, text, outcome)


@needed
@pytest.mark.parametrize(
    ("name", "blind"),
    [("letter_counting", "10"), ("rectangle_count", "2"), ("gcd", "10"), ("countdown", ""), ("game_of_life", "[[0]]")],
)  # fmt: skip
def test_mended_shares_pay_nothing_for_an_answer_that_knows_nothing(name: str, blind: str) -> None:
    rows = entries(name, 4)
    texts = [blind if name != "game_of_life" else re.sub(r"\d", "0", str(row["answer"])) for row in rows]
    assert any(0 < (outcome.value or 0.0) < 1 for outcome in scored(rows, texts))
    assert {outcome.value for outcome in scored(rows, texts, shares="mended")} <= {0.0, 1.0}
    right = scored(rows, [str(row["answer"]) for row in rows], shares="mended")
    assert [outcome.value for outcome in right] == [1.0] * 4


@needed
def test_mended_shares_leave_what_is_partly_right() -> None:
    (near,) = entries("sudoku")
    known = near["answer"].split()
    grid = "\n".join(" ".join((known[:40] + ["0"] * 41)[9 * row : 9 * row + 9]) for row in range(9))
    assert 0.0 < (scored([near], [grid], shares="mended")[0].value or 0.0) < 1.0
    told = entries("gcd", 4)
    texts = [f"The answer is {row['answer']}." for row in told]
    assert [one.value for one in scored(told, texts)] == [one.value for one in scored(told, texts, shares="mended")]


@needed
@pytest.mark.parametrize("name", PAID_WHATEVER_IS_ASKED)
def test_no_answer_is_right_whatever_is_asked(name: str) -> None:
    rows = [row for row in entries(name, 12) if "e-" not in row["answer"]][:8]  # no chance that is as good as none
    for answer in PAID_WHATEVER_IS_ASKED[name]:
        assert sum(outcome.value or 0.0 for outcome in scored(rows, [answer] * 8)) == 0.0
    assert [outcome.value for outcome in scored(rows, [f" {row['answer']} " for row in rows])] == [1.0] * 8


@needed
@pytest.mark.parametrize(
    "name", ["spiral_matrix", "n_queens", "polynomial_multiplication", "simple_integration", "countdown", "puzzle24"]
)
def test_no_answer_is_run(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"__import__('pathlib').Path('{mark}').touch()"
    hostile = [
        code,
        f"[{code}]",
        f"'{code}'",
        f'"{code}"',
        "oracle_answer",
        "entry['answer']",
        "exit()",
        "9**9**9**9 + 0*x" if "p" in name else "[" * 9_999,
    ]
    found = scored(entries(name) * len(hostile), hostile)
    assert all(outcome.value is not None and outcome.value <= 0.05 for outcome in found), found
    assert not mark.exists()


@needed
def test_sixteen_threads_get_the_same_values() -> None:
    rows = [
        row for name in ("gcd", "countdown", "n_queens", "spiral_matrix", "simple_integration") for row in entries(name)
    ]
    texts = [str(row["answer"]) if number % 2 else "4" for number, row in enumerate(rows)]
    alone = [(outcome.value, outcome.reason) for outcome in scored(rows, texts)]
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: [(one.value, one.reason) for one in scored(rows, texts)], range(16)))
    assert found == [alone] * 16


@needed
def test_a_row_that_is_none_of_the_packages_is_named() -> None:
    reward = get_reward("reasoning_gym")
    for metadata, reason in (
        ({"source_dataset": "nothing"}, "has no data set 'nothing'"), ("{", "metadata cannot be read"), ([], "source_dataset"), ({}, "source_dataset"),
    ):  # fmt: skip
        found = reward.one("<answer>4</answer>", metadata=metadata, answer="4")
        assert found.status == "not_applicable"
        assert reason in found.reason
        assert reason in str(reward.row_problem({"metadata": metadata, "answer": "4"}))
    assert reward.row_problem(entries("gcd")[0]) is None


@needed
class TestContract(RewardContract):
    reward = "reasoning_gym"
    rows = (
        {"prompt": "p", "completion": "<answer>4</answer>", "answer": "4", "metadata": {"source_dataset": "chain_sum"}},
        {"prompt": "p", "completion": "4", "answer": "4", "metadata": '{"source_dataset": "chain_sum"}'},
    )
