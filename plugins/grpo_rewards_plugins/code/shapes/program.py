"""Programs in one text with their tests: prompt, completion and tests of a language, which passes by its exit status."""

from __future__ import annotations

import re

from grpo_rewards_plugins.cells import from_json, plain
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes.columns import run_languages
from grpo_rewards_plugins.code.shapes.joined import signature_name
from grpo_rewards_plugins.code.suite import Suite

_NOT_THERE = {
    "go": re.compile(r"\"github\.com/[^\"]*\""),
    "rust": re.compile(r"^\s*(?:use|extern\s+crate)\s+(?:rand|regex|md5|crypto)\b", re.M),
}
"""What the tests of some rows need that no toolchain brings: a right program would not compile."""
_CRATES = re.compile(r"\b(?:Regex::|md5::|rand::thread_rng|thread_rng\()")


def suite(row: DataRow, language: str, tests: str) -> Suite:
    """Return the suite of a program that stands before its tests.

    Raises:
        SuiteProblem: the language is not run, or the tests need a library that it does not bring.
    """
    if language not in run_languages():
        raise SuiteProblem(f"the row asks for programs in {language!r}; run are {', '.join(run_languages())}")
    prompt = str(row.get("prompt") or "")
    # by what uses the crate: HumanEval-X's prompts import all of them, whether they are needed or not
    solved = f"{row.get('canonical_solution') or ''}{tests}"
    if language == "rust" and (needed := _CRATES.search(solved)):
        raise SuiteProblem(f"the task needs a library that is not there: {needed[0].strip()}")
    # HumanEval-X keeps the head of the file in a column of its own
    if language == "go" and not prompt.lstrip().startswith("package"):
        prompt = f"{row.get('test_setup') or 'package main'}\n{prompt}"
    stops = from_json(plain(row.get("stop_tokens")))
    given = tuple(str(stop) for stop in stops) if isinstance(stops, list | tuple) else ()
    return Suite(
        "program",
        tests,
        "",
        "",
        frozenset({signature_name(prompt)} - {""}),
        language=language,
        beginning=prompt,
        stops=given,
    )


def lacking(suite: Suite) -> str:
    """Say what a program joined with its tests needs and no toolchain brings; empty where that is nothing."""
    found = (
        _NOT_THERE[suite.language].search(f"{suite.beginning}\n{suite.tests}") if suite.language in _NOT_THERE else None
    )
    return f"prompt or tests need a library that is not there: {found[0].strip()}" if found else ""
