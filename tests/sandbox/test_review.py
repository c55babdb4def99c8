"""What the review of tests' text alone lets through, and what it refuses: the texts of `corpus/texts`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, unjudgeable

TEXTS = Path(__file__).parent / "corpus" / "texts"


def texts(name: str) -> list[object]:
    rows = [json.loads(line) for line in (TEXTS / f"{name}.jsonl").read_text().splitlines()]
    return [pytest.param(row["tests"], id=row["id"]) for row in rows]


@pytest.mark.parametrize("tests", texts("usual"))
def test_usual_tests_are_judged(tests: str) -> None:
    assert unjudgeable(Job("", tests, "pytest")) == ""


# in `unsaid` it is honest, and the text does not say so
@pytest.mark.parametrize("tests", [*texts("acting"), *texts("unsaid")])
def test_what_acts_on_a_text_that_may_not_be_the_tests_own_is_refused(tests: str) -> None:
    why = unjudgeable(Job("", tests, "pytest"))
    assert why.startswith("line ")
    assert "fidelity: shared" in why


def test_what_is_nested_too_deeply_is_refused() -> None:
    text = " + ".join(["'a'"] * 3000)
    assert "too deeply" in unjudgeable(
        Job("", f"from solution import f\nassert getattr(len, {text}) == f(1)\n", "pytest")
    )
