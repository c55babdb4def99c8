"""Programs in one text with their tests: prompt, completion and tests of a language, which passes by its exit status."""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import Row
from grpo_rewards_plugins.code.shapes.columns import run_languages
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["suite"]


def suite(row: Row, language: str, tests: str) -> Suite:
    """Return the suite of a program that stands before its tests.

    Raises:
        SuiteProblem: the language is not run.
    """
    if language not in run_languages():
        raise SuiteProblem(f"the row asks for programs in {language!r}; run are {', '.join(run_languages())}")
    return Suite("program", tests, "", str(row.get("prompt") or ""), frozenset(), language=language)
