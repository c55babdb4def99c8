"""What the copied recipes get wrong, and what their authors meant, preset by preset."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import load


def total(preset: str, completion: str, **columns: Any) -> float:
    """The preset's reward for one completion."""
    (value,) = load(f"preset/{preset}").score([{"completion": completion, **columns}]).rewards()
    assert value is not None
    return value


XML = "<reasoning>\ntwo and two\nmake four\n</reasoning>\n<answer>\n{}\n</answer>\n"
THINK = "<think>two and two\nmake four, surely and certainly</think>\n<answer>{}</answer>"


# ------------------------------------------------------------------------------------------------ unit tests

DOUBLE = "def double(x):\n    return 2 * x\n"
CHECK = "\ndef check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n"


@pytest.mark.parametrize(
    "test",
    [
        CHECK,
        CHECK + "check(candidate)\n",
        "from solution import double as candidate\n" + CHECK + "check(candidate)\n",
        "import pytest\nfrom solution import double as candidate\n" + CHECK + "\ncheck(candidate)\n",
    ],
)
@pytest.mark.parametrize("format", ["humaneval", "pytest", None])
def test_right_solutions_pass_a_file_without_a_test_function(test: str, format: str | None) -> None:
    """pytest collects nothing from such a file and exits 5, so the guide's reward gives right solutions 0."""
    if format is None and "from solution" not in test:
        format = "humaneval"
    columns = {"test": test, "entry_point": "double", **({"format": format} if format else {})}
    assert total("humaneval", f"Here you are:\n```python\n{DOUBLE}```", **columns) == 1.0
    assert total("humaneval", f"```python\n{DOUBLE.replace('2 *', '3 *')}```", **columns) == 0.0
    assert total("humaneval", "import sys\nsys.exit(0)\n", **columns) == 0.0


def test_pytest_itself_collects_nothing_from_such_a_file(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(DOUBLE)
    test = "from solution import double as candidate\n" + CHECK + "check(candidate)\n"
    (tmp_path / "test_solution.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_solution.py"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 5


def test_a_body_continues_its_prompt() -> None:
    prompt = 'def double(x):\n    """Twice x."""\n'
    assert total("humaneval", "    return 2 * x\n", prompt=prompt, test=CHECK, entry_point="double") == 1.0


def test_asserts_of_mbpp() -> None:
    columns = {"test_list": ["assert double(2) == 4", "assert double(0) == 0"], "test_setup_code": ""}
    assert total("mbpp", f"```python\n{DOUBLE}```", **columns) == 1.0
    assert total("mbpp", "```python\ndef double(x):\n    return 4\n```", **columns) == 0.0


# ------------------------------------------------------------------------------------------------ GSM8K with XML


@pytest.mark.parametrize("answer", ["18", "18.0", 18, "The wages add up to 18.\n#### 18"])
@pytest.mark.parametrize("found", ["18", "18.0", "$18", " 18 "])
def test_numbers_are_compared_by_value(found: str, answer: Any) -> None:
    written = 0.5 if found.strip() == "18" else 0.0
    assert total("gsm8k-xml", XML.format(found), answer=answer) == pytest.approx(2.0 + written + 0.5 + 0.5 + 0.5)


def test_a_penalty_is_bounded_and_taken_once() -> None:
    assert total("gsm8k-xml", XML.format("18") + "x" * 100, answer="18") == pytest.approx(2.0 + 0.5 + 0.5 + 0.4)
    assert total("gsm8k-xml", XML.format("18") + "x" * 100_000, answer="18") == pytest.approx(2.0 + 0.5 + 0.5 + 0.25)
    assert total("gsm8k-xml", "</answer>" + "x" * 100_000, answer="18") == 0.0


def test_reasoning_of_several_lines_is_well_formed() -> None:
    composite = load("preset/gsm8k-xml")
    table = composite.score([{"completion": XML.format("4"), "answer": "4"}])
    assert [table.components[name][0].value for name in ("strict", "soft", "tags")] == [1.0, 1.0, 0.5]


# ------------------------------------------------------------------------------------------------ the course


@pytest.mark.parametrize(("n", "points"), [(0, -20), (20, 0), (21, -1), (100, -80), (520, -500), (100_000, -500)])
def test_the_ideal_length_is_the_course_s_and_bounded(n: int, points: float) -> None:
    assert total("course-ideal-length", "x" * n) == pytest.approx(points)
    assert total("course-ideal-length", "x", completion_ids=[7] * min(n, 600)) == pytest.approx(points)


@pytest.mark.parametrize("n", [0, 1, 300, 4096, 10_000])
def test_longer_is_better_up_to_a_bound(n: int) -> None:
    assert total("course-longer", "x" * n) == pytest.approx(min(n, 4096))


def test_chat_is_measured_by_its_text() -> None:
    """``len(completion)`` of the guides is 1 for every chat completion: a list of one message."""
    chat = [{"role": "assistant", "content": "x" * 30}]
    assert load("preset/course-longer")(completions=[chat, chat[:0]]) == [30.0, 0.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<think>one line</think><answer>4</answer>", 1.0),
        ("<think>two\nlines</think>\n<answer>\n4\n</answer>", 1.0),
        ("<think></think><answer></answer>", 1.0),
        ("Well. <think>a</think><answer>4</answer>", 0.0),
        ("<think>a</think><answer>4</answer> so", 0.0),
        ("<answer>4</answer><think>a</think>", 0.0),
        ("<think>a</think><think>a</think><answer>4</answer>", 0.0),
    ],
)
def test_the_pattern(text: str, value: float) -> None:
    assert total("course-pattern", text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"<think>{'x' * 21}</think><answer>4</answer>", 1.0),
        (f"Well: <think>{'x' * 10}\n{'x' * 10}</think> so <answer>4</answer>.", 1.0),
        (f"<think>{'x' * 20}</think><answer>4</answer>", 0.5),
        (f"<think>{'x' * 21}</think><answer> </answer>", 0.0),
        ("<think>x</think>", 0.0),
    ],
)
def test_thin_content_gets_half(text: str, value: float) -> None:
    assert total("course-content", text) == value


@pytest.mark.parametrize(
    "text", [r"So it is \boxed{\frac{1}{2}}.", "<answer>0.5</answer>", "#### 1/2", "The answer is 0.5."]
)
def test_the_rule_based_answer(text: str) -> None:
    assert total("course-answer", text, answer="1/2") == 1.0
    assert total("course-answer", text, answer="1/3") == 0.0


# ------------------------------------------------------------------------------------------------ Countdown

NUMBERS = {"numbers": [3, 7, 8], "target": 32}  # (8 - 3) * 7 - 3 uses 3 twice; 8 + 3 * 8 uses 8 twice; 3 * 8 + 7 is 31


@pytest.mark.parametrize(
    ("text", "nano", "zero"),
    [
        ("<think>a\nb</think>\n<answer>7 * 3 + 8 + 3</answer>", 1.0, 0.1),
        ("<think>a\nb</think>\n<answer>3 * 8 + 7</answer>", 2.0, 1.1),
        ("<think>a</think>\n<answer>3 * 8 + 7 = 31</answer>", 1.5, 1.1),
        ("<think>a</think>\n<answer>24 + 7</answer>", 1.0, 0.1),
        ("<think>a</think>\n<answer>__import__('os').exit()</answer>", 0.5, 0.1),
        ("well, <think>a</think>\n<answer>3 * 8 + 7</answer>", 1.0, 1.06),
        ("<answer>3 * 8 + 7</answer>", 1.0, 1.05),
        ("<think>a</think>", 0.0, 0.01),
        ("", 0.0, 0.0),
    ],
)
def test_countdown(text: str, nano: float, zero: float) -> None:
    columns = {**NUMBERS, "target": 31}
    assert total("countdown-nano-aha", text, **columns) == pytest.approx(nano)
    assert total("countdown-grpo-zero", text, **columns) == pytest.approx(zero)


# ------------------------------------------------------------------------------------------------ GSM8K combined


@pytest.mark.parametrize(
    ("text", "there"), [(THINK.format(4), 2.25), ("The answer is 4", 0.0), (THINK.format(5), 0.25), ("5", -2.0)]
)
def test_simple_grpo_up_to_the_constant_that_groups_cancel(text: str, there: float) -> None:
    assert total("gsm8k-simple-grpo", text, answer="4") == pytest.approx(there + 2.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (XML.format("4"), 2.8),
        (XML.format("4.0"), 2.3),
        (XML.format("5"), 0.8),
        ("<answer>4</answer>", 2.4),
        ("<reasoning>x", 0.2),
        ("4.00", 1.5),
    ],
)
def test_the_lm_book(text: str, value: float) -> None:
    assert total("gsm8k-lm-book", text, answer="4") == pytest.approx(value)


# ------------------------------------------------------------------------------------------------ several objectives


def test_a_text_without_tags_gets_nothing_for_them() -> None:
    """The guide's tags were swallowed by its page: what is left, ``'' in r``, is true of every text."""
    table = load("preset/multi-objective").score([{"completion": "4", "answer": "4"}])
    assert [table.components[name][0].value for name in ("correct", "format", "tags")] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "style"),
    [("4", 0.5), ("As an AI, I say 4", -0.25), ("As an AI, I'm sorry: 4!!!", -0.5), ("!!! ??? " * 1000, -0.5)],
)
def test_style_goes_from_minus_to_plus_a_half(text: str, style: float) -> None:
    table = load("preset/multi-objective").score([{"completion": text, "answer": "4"}])
    assert table.row(0)["components"]["style"]["contribution"] == pytest.approx(style)


def test_weights_follow_success_as_the_guide_says() -> None:
    adapt = load("preset/multi-objective").config.adapt
    assert adapt is not None
    assert (adapt.method, adapt.settings) == ("threshold", {"low": 0.3, "high": 0.8, "up": 1.2, "down": 0.9})


def test_two_stages() -> None:
    session = load("preset/two-stages").session
    assert session.weights_at(0) == {"correct": 0.0, "format": 1.0, "tags": 1.0}
    assert session.weights_at(200) == {"correct": 2.0, "format": 1.0, "tags": 0.0}
    assert load("preset/two-stages").weights == session.weights_at(200)
    table = load("preset/two-stages").score([{"completion": XML.format("4"), "answer": "4"}])
    assert table.rewards() == [3.0]  # offline rows are scored as the last one does


# ------------------------------------------------------------------------------------------------ R1, DAPO, open-r1


def test_r1() -> None:
    assert total("r1", THINK.format(4), answer="4") == pytest.approx(3.0)
    assert total("r1", THINK.format(5), answer="4") == pytest.approx(2.0)
    chinese = total("r1", f"<think>{'四就是二加二的和' * 10}</think>\n<answer>4</answer>", answer="4")
    assert 2.0 < chinese < 2.3  # the letters of the tags are Latin ones


@pytest.mark.parametrize(("n", "value"), [(100, 0.0), (16_384, 0.0), (18_432, -0.5), (20_480, -1.0), (40_000, -1.0)])
def test_dapo(n: int, value: float) -> None:
    for text, right in (("#### 4", 2.0), ("#### 5", 0.0)):
        assert total("dapo", text, answer="4", completion_ids=[1] * n) == pytest.approx(right + value)


@pytest.mark.parametrize(
    ("n", "right", "wrong"), [(0, 1.0, -1.0), (500, 0.75, -0.75), (1000, 0.5, -0.5), (9000, 0.5, -0.5)]
)
def test_cosine(n: int, right: float, wrong: float) -> None:
    ids = [1] * n
    assert total("cosine-length", "#### 4", answer="4", completion_ids=ids) == pytest.approx(right)
    assert total("cosine-length", "#### 5", answer="4", completion_ids=ids) == pytest.approx(wrong)


def test_repetition() -> None:
    said = " ".join(["the answer is"] * 1000) + " 4"
    assert total("repetition-penalty", said, answer="4") < 0.01
    assert total("repetition-penalty", "The answer is 4", answer="4") == pytest.approx(1.0)


def test_json_extraction() -> None:
    wanted = {"name": "Ada Lovelace", "born": 1815}
    assert total("json-extraction", f"```json\n{json.dumps(wanted)}\n```", answer=wanted) == pytest.approx(1.5)
    assert total("json-extraction", json.dumps({**wanted, "born": 1816}), answer=wanted) == pytest.approx(1.0)
    assert total("json-extraction", "[1]", answer=wanted) == pytest.approx(0.125)
    assert total("json-extraction", "Ada Lovelace, 1815", answer=wanted) == 0.0
