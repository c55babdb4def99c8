"""The tasks of the search, and what plain functions that return simple data pass of them by luck."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from grpo_rewards_sandbox import Job, Limits
from search_fragments import CONDITIONS, DATA, HELPERS

FORMATS = ("asserts", "humaneval", "pytest")
IMPORTS = "import pytest\n"
LIMITS = Limits(memory=256 << 20, processes=16)
_CONVERSIONS = "len iter contains bool int float index round abs str repr hash getitem format call next reversed"


@dataclass(frozen=True, slots=True)
class Task:
    """A function or class to write, an honest solution, and the checks of it."""

    name: str
    is_class: bool
    honest: str
    setup: str
    checks: tuple[str, ...]
    formats: tuple[str, ...]

    def job(self, candidate: str, form: str, *, fidelity: str = "isolated") -> Job:
        """The job that judges `candidate` by the checks, written in the format `form`."""
        setup, tests = IMPORTS + self.setup, list(self.checks)
        blocks = ["    " + check.replace("\n", "\n    ") + "\n" for check in self.checks]
        text: str | list[Any] = tests
        if form == "humaneval":
            renamed = re.sub(rf"\b{self.name}\b", "candidate", "".join(blocks))
            text, setup = f"{setup}\ndef check(candidate):\n{renamed}", ""
        elif form == "pytest":
            functions = [f"def test_{number}():\n{block}" for number, block in enumerate(blocks)]
            text, setup = f"{setup}\nfrom solution import {self.name}\n" + "\n".join(functions), ""
        classes = (self.name,) if self.is_class else ()
        return Job(candidate, text, form, self.name, setup, 2.0, fidelity, classes=classes, limits=LIMITS)


def load_tasks() -> list[Task]:
    """The tasks of the file, whose head says how it is written."""
    return [
        _task(part)
        for part in re.split(r"^== ", Path(__file__).with_name("search_tasks.txt").read_text(), flags=re.M)[1:]
    ]


def _task(part: str) -> Task:
    head, text = part.split("\n", 1)
    name, *kind = head.split()
    honest, *rest = re.split(r"^-- ", text, flags=re.M)
    parts = dict(section.split("\n", 1) for section in rest)
    checks = tuple(re.split(r"\n(?=\S)", parts["checks"].strip()))
    return Task(
        name, bool(kind), honest, parts.get("setup", ""), checks, tuple(parts.get("formats", "").split()) or FORMATS
    )


def passes_plainly(task: Task, candidate: str) -> bool:
    """Whether `candidate`, which must be ours, passes every check in this process."""
    return _passes(_space(task, candidate), _checks(task))


@cache
def luck(task: Task) -> str:
    """The first data-only program that passes, as the expression that it returns; "" where none does."""
    if not task.is_class:
        return _first_lucky(task, f"def {task.name}(*b, **k):\n    note(*b)\n    return value(b, b)\n")
    members = "".join(f"    def __{name}__(self, *b): return self.give(*b)\n" for name in _CONVERSIONS.split())
    members += "    __eq__ = __lt__ = lambda *b: True\n    __add__ = __mul__ = __matmul__ = lambda self, *b: self\n"
    members += "    def give(self, *b):\n        note(*b)\n        return value(self.a, b)\n"
    members += (
        "    def __init__(self, *b):\n        self.a = b\n        note(*b)\n    def __getattr__(self, name): return "
    )
    methods, attributes = (f"class {task.name}:\n{members}{given}\n" for given in ("self.give", "self.give()"))
    return _first_lucky(task, methods) or _first_lucky(task, attributes)


def _first_lucky(task: Task, shell: str) -> str:
    """The first of the expressions with which `shell` passes; "" where none does."""
    space, checks = _space(task, shell), _checks(task)
    for expression, code in _data_expressions().items():
        space["SEEN"].clear()
        space.update(value=eval(code, space), COUNT=itertools.count(1))  # noqa: S307  the text is ours
        if _passes(space, checks):
            return expression
    return ""


@cache
def _data_expressions() -> dict[str, CodeType]:
    """What a plain function may return that knows only its arguments, those before, and how often it was asked."""
    raising = [f"throw({name}())" for name in ("ValueError", "KeyError", "TypeError", "IndexError", "RuntimeError")]
    simple = [*DATA, *raising]
    turns = [f"tick() in {turns}" for size in range(7) for turns in itertools.combinations(range(1, 7), size)]
    conditions = dict.fromkeys(
        text.format(n=n, k=n % 3, m=n) for text in CONDITIONS if "{p}" not in text for n in (1, 2, 3)
    )
    chosen = [f"{one} if {on} else {other}" for on in conditions for one, other in itertools.permutations(simple, 2)]
    return {text: compile(f"lambda a, b: {text}", "twin", "eval") for text in (*simple, *turns, *chosen)}


def _space(task: Task, candidate: str) -> dict[str, Any]:
    """The names after the helpers of programs, the tests' imports, the setup and `candidate`."""
    space: dict[str, Any] = {}
    exec("".join(HELPERS.values()) + IMPORTS + task.setup + "\n" + candidate, space)
    return space


def _checks(task: Task) -> list[CodeType]:
    return [compile(check, "check", "exec") for check in task.checks]


def _passes(space: dict[str, Any], checks: list[CodeType]) -> bool:
    try:
        for check in checks:
            exec(check, space)
    except BaseException:
        return False
    return True
