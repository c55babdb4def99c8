"""The public door: Math-Verify's names, argument order and return types."""

from __future__ import annotations

import subprocess
import sys

import pytest
from grpo_rewards_plugins.math import parse, verify


@pytest.mark.parametrize(
    ("gold", "target", "equal"),
    [
        ("$\\frac{1}{2}$", "The answer is $0.5$.", True), ("18", "so 9 + 9\n#### 18", True),
        ("$x+1$", "It is \\boxed{1+x}", True), ("\\boxed{3}", "first 3, no: \\boxed{4}", False), ("$5\\text{ m}$", "\\boxed{500\\text{ cm}}", True),
        ("Monday", "The answer is Monday. We counted 3 days.", True), ("$2$", "", False), ("", "\\boxed{2}", False),
        ("${1,3} \\cup {2,4}$", "${1,2,3,4}$", True), ("${1,3} \\cup {2,5}$", "${1,2,3,4}$", False),
    ],
)  # fmt: skip
def test_a_project_changes_over_by_an_import(gold: str, target: str, equal: bool) -> None:
    found = verify(parse(gold), parse(target))
    assert found is equal


def test_parse_returns_the_reading_and_its_text() -> None:
    reading, text = parse("so \\boxed{\\frac{1}{2}}")
    assert text == "\\frac{1}{2}"
    assert repr(reading) == "Reading('\\\\frac{1}{2}')"
    assert parse("") == []
    assert parse("<think>\\boxed{2}") == []


def test_the_arguments_of_math_verify_are_taken() -> None:
    assert parse("$2$", [object()], "first_match", "any_match", 5, False)[1] == "2"
    assert parse("\\boxed{[1, }", fallback_mode="no_fallback") == []
    assert verify("2", ["2"], 6, 15, True, False, 5)
    assert verify(parse("$2$"), "2.0", timeout_seconds=None)
    with pytest.raises(TypeError):
        parse("2", timeout=5)  # type: ignore[call-arg]


def test_the_modules_can_be_imported_by_their_names() -> None:
    program = (
        "import grpo_rewards_plugins.math.extraction.finding as f\n"
        "import grpo_rewards_plugins.math as m\n"
        "import sys\n"
        "assert 'flint' not in sys.modules or f.gold_text\n"
        "assert f.extract('\\\\boxed{4}').text == '4'\n"
        "assert m.grade('1', '1').equal and m.math.name == 'math'\n"
        "from grpo_rewards import get_reward\n"
        "assert get_reward('math') is not None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
