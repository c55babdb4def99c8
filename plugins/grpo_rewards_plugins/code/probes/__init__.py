"""What ``audit DATA`` tries on a row of code: stubs, the row's own solutions, and small changes of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from grpo_rewards.types import Probes
from grpo_rewards_plugins.code.extraction import complete, find_program, first_name
from grpo_rewards_plugins.code.judging import job_of
from grpo_rewards_plugins.code.probes.mutants import mutants_of
from grpo_rewards_plugins.code.probes.solutions import body_of, solutions_of, unreadable_of
from grpo_rewards_plugins.code.probes.stubs import stubs_of
from grpo_rewards_plugins.code.probes.vacuous import vacuous
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import read_row
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["code_probes"]

_TESTS = ("tests", "test", "test_list")
_REPEATS, _REPEATS_OF_CHANCE = 2, 8
_HURRIED = 0.5  # seconds for a mutant: one that runs longer than that has failed
_CHANCE = re.compile(
    r"\b(?:random|secrets|uuid|shuffle|randint|urandom|time|datetime|perf_counter|monotonic|thread|Thread|asyncio|id\(|hash\(|set\()"
)
"""What a verdict may change with from run to run; texts without any of it are run less often."""


def code_probes(
    *, format: str = "auto", timeout: float = 8.0, fidelity: str = "isolated", tag: str = "answer", **columns: object
) -> Probes | None:
    """Return what to try on a row with tests, None for a row without."""
    text = _text_of(columns)
    hollow = vacuous(text)
    try:
        row = DataRow.of(columns, format)
        suite = read_row(row)
    except SuiteProblem as problem:
        if problem.kind == "absent":
            return None
        # vacuous tests may be unreadable too; the reason that helps is that they test nothing
        return Probes(faults={"vacuous": hollow} if hollow else {problem.kind: str(problem)})
    if suite.format == "literal":
        return Probes(references=(f"<{tag}>{suite.tests}</{tag}>",))
    solutions = solutions_of(columns, suite)
    if not solutions and (wrong := unreadable_of(columns)):
        return Probes(faults={"format": f"the column {wrong!r} holds no text of a program"})
    programs = tuple(solution for solution in solutions if suite.language in ("", "python"))
    first = _whole(programs[0], suite, row) if programs else ""
    asked = {first_name(suite.entry_point), suite.entry_point.rpartition(".")[2]} if suite.entry_point else suite.names
    # of the solution alone: a prompt that goes on with the solution makes it stand twice in the whole program
    body = (body_of(programs[0], asked) or (body_of(first, asked) and programs[0])) if first else ""
    whole = bool(programs) and (suite.format == "stdio" or not body)  # also a body that stands in no function
    passages = [body, programs[0] if whole else ""] if programs else list(solutions)
    mutants, results = mutants_of(first, suite) if first else ([], 0)
    chance = _CHANCE.search(text + first) is not None
    job = job_of(suite, "", timeout=timeout, fidelity=fidelity)
    added = job.timeout - timeout if suite.format == "stdio" else 0.0  # what starting each test anew is given
    own = job.test_timeout * suite.size if job.test_timeout and suite.size else math.inf
    seconds = min(job.timeout, own)
    return Probes(
        # the empty completion is the cheapest cheat
        stubs=("", *(_fenced(stub) for stub in stubs_of(suite, first, row.prompt))),
        references=tuple(_fenced(solution, suite.language) for solution in solutions),
        mutants=tuple(map(_fenced, mutants)),
        telling=results,
        passages=tuple(filter(None, passages)),
        faults={"vacuous": hollow} if hollow else {},
        seconds=seconds,
        # no setting makes the row's own limit shorter; the clock has to say it there
        half_settings={} if own <= job.timeout else {"timeout": max(0.1, seconds / 2 - added)},
        mutant_settings={"timeout": min(timeout, _HURRIED)},
        repeats=_REPEATS_OF_CHANCE if chance else _REPEATS,
    )


def _text_of(columns: Mapping[str, object]) -> str:
    """The tests as Python text, empty where they are none."""
    for name in _TESTS:
        cell = columns.get(name)
        if isinstance(cell, str):
            return cell
        if isinstance(cell, list | tuple) and cell and all(isinstance(one, str) for one in cell):
            return "\n".join(cell)
    return ""


def _whole(solution: str, suite: Suite, row: DataRow) -> str:
    """A solution as it is run, with what the prompt begins."""
    program, _ = find_program(_fenced(solution), wanted=suite.names)
    if suite.format in ("stdio", "calls") or not suite.entry_point:
        return program
    return complete(program, row.prompt, suite.entry_point)


def _fenced(program: str, language: str = "") -> str:
    """A program as a completion: in a fence that is longer than any within it."""
    longest = max((len(marks) for marks in re.findall(r"`{3,}", program)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language or 'python'}\n{program.rstrip()}\n{fence}"
