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


# in `unsaid` it is honest, and the text does not say so; in `elsewhere` only the candidate's process could tell
@pytest.mark.parametrize("tests", [*texts("acting"), *texts("unsaid"), *texts("elsewhere")])
def test_what_acts_on_a_text_that_may_not_be_the_tests_own_is_refused(tests: str) -> None:
    why = unjudgeable(Job("", tests, "pytest"))
    assert why.startswith("line ")
    assert "fidelity: shared" in why


def test_names_that_stand_for_one_another_too_deeply_are_refused() -> None:
    chain = "\n".join(f"v{at} = v{at - 1}" for at in range(1, 3000))
    tests = f"from solution import f\nv0 = 'a'\n{chain}\nassert getattr(len, v2999) == f(1)\n"
    assert "too deeply" in unjudgeable(Job("", tests, "pytest"))


def test_only_pytest_files_import_the_candidate() -> None:
    asserts = ["from solution import f\nassert f(1) == 2"]
    assert "only format pytest" in unjudgeable(Job("", asserts, "asserts"))
    check = "def check(candidate):\n    import solution\n    assert solution.f() == candidate()"
    assert "only format pytest" in unjudgeable(Job("", check, "humaneval"))
    assert unjudgeable(Job("", asserts, "asserts", module="answer")) == ""
    assert unjudgeable(Job("", asserts[0], "pytest")) == ""
