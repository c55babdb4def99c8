"""The tasks of the search, and what plain functions that return simple data pass of them by luck."""

from __future__ import annotations

import ast
import builtins
import itertools
import json
import re
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from grpo_rewards_sandbox import Job, Limits
from search_fragments import CONDITIONS, DATA, HELPERS

FORMATS = ("asserts", "humaneval", "pytest", "calls")
IMPORTS = "import pytest\n"
LIMITS = Limits(memory=768 << 20, processes=16)
_PATIENCE = 3.0  # seconds for the plain programs of one task
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
    also: tuple[str, ...]  # what else the solution has to define
    names: tuple[str, ...]  # what else the checks speak of: attributes, and names that they set or take from anywhere

    def job(self, candidate: str, form: str, fidelity: str = "isolated") -> Job:
        """The job that judges `candidate` by the checks, written in the format `form`."""
        if form == "calls":
            return Job(candidate, self.calls(), form, self.name, timeout=2.0, limits=LIMITS)
        setup, tests = IMPORTS + self.setup, list(self.checks)
        blocks = ["    " + check.replace("\n", "\n    ") + "\n" for check in self.checks]
        text: str | list[Any] = tests
        if form == "humaneval":
            renamed = re.sub(rf"\b{self.name}\b", "candidate", "".join(blocks))
            text, setup = f"{setup}\ndef check(candidate):\n{renamed}", ""
        elif form == "pytest":
            functions = [f"def test_{number}():\n{block}" for number, block in enumerate(blocks)]
            text, setup = (
                f"{setup}\nfrom solution import {', '.join([self.name, *self.also])}\n" + "\n".join(functions),
                "",
            )
        classes = (self.name,) if self.is_class else ()
        return Job(candidate, text, form, self.name, setup, 2.0, fidelity, classes=classes, limits=LIMITS)

    def calls(self) -> list[Any]:
        """The checks as calls with values and their results; none where they are not all such."""
        found = []
        for check in self.checks:
            match ast.parse(check).body:
                case [
                    ast.Assert(
                        test=ast.Compare(left=ast.Call(keywords=[]) as call, ops=[ast.Eq()], comparators=[right])
                    )
                ]:
                    try:
                        given, wanted = [ast.literal_eval(part) for part in call.args], ast.literal_eval(right)
                    except ValueError:
                        return []
                    if ast.unparse(call.func) != self.name or json.loads(json.dumps([given, wanted])) != [
                        given,
                        wanted,
                    ]:
                        return []
                    found.append({"arguments": given, "result": wanted})
                case _:
                    return []
        return found


def load_tasks() -> list[Task]:
    """The tasks of the file, whose head says how it is written."""
    return [
        _task(part)
        for part in re.split(r"^== ", Path(__file__).with_name("search_tasks.txt").read_text(), flags=re.M)[1:]
    ]


def _task(part: str) -> Task:
    head, text = part.split("\n", 1)
    first, _, also = head.partition(" also ")
    name, *kind = first.split()
    honest, *rest = re.split(r"^-- ", text, flags=re.M)
    parts = dict(section.split("\n", 1) for section in rest)
    text = parts["checks"].strip()
    checks = tuple(re.split(r"\n\n" if "\n\n" in text else r"\n(?=\S)", text))
    names = tuple(also.split()), _names(checks, {name, *also.split()})
    task = Task(name, bool(kind), honest, parts.get("setup", ""), checks, FORMATS, *names)
    formats = parts.get("formats", "").split() or [form for form in FORMATS if form != "calls" or task.calls()]
    return replace(task, formats=tuple(formats))


def _names(checks: tuple[str, ...], own: set[str]) -> tuple[str, ...]:
    nodes = [node for check in checks for node in ast.walk(ast.parse(check))]
    found = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    found += [node.id for node in nodes if isinstance(node, ast.Name) and node.id not in vars(builtins)]
    return tuple(dict.fromkeys(name for name in found if name not in {*own, "pytest", "np", "pd", "unittest"}))


def passes_plainly(task: Task, candidate: str) -> bool:
    """Whether `candidate`, which must be ours, passes every check in this process."""
    return _passes(_space(task, candidate), _checks(task))


class Plain(NamedTuple):
    """A program that returns plain data: how many checks it passes, the expression, and what of a class that is."""

    passed: int
    expression: str
    how: str  # "": a function; else methods or attributes


def luck(task: Task) -> str:
    """A data-only program that passes, as the expression that it returns; "" where none does."""
    return next((plain.expression for plain in best_of_plain_data(task) if plain.passed == len(task.checks)), "")


@cache
def best_of_plain_data(task: Task) -> list[Plain]:
    """The data-only programs that pass most checks, of those that raise and of those that do not."""
    kinds = [
        name for name in task.names if name[0].isupper()
    ]  # an exception's class, by its looks: a builtin that is raised
    if not task.is_class:
        shell = f"def {task.name}(*b, **k):\n    note(*b)\n    return value(b, b)\n"
        named = "".join(f"{name} = " for name in [*(f"{task.name}.{kind}" for kind in kinds), *task.also])
        return _best(task, shell + (f"{named}ValueError\n" if named else ""), "")
    members = "".join(f"    def __{name}__(self, *b): return self.give(*b)\n" for name in _CONVERSIONS.split())
    members += "".join(f"    {kind} = ValueError\n" for kind in kinds)
    members += "    __eq__ = __lt__ = lambda *b: True\n    __add__ = __mul__ = __matmul__ = lambda self, *b: self\n"
    members += "    def give(self, *b):\n        note(*b)\n        return value(self.a, b)\n"
    members += (
        "    def __init__(self, *b):\n        self.a = b\n        note(*b)\n    def __getattr__(self, name): return "
    )
    shells = {"methods": "self.give", "attributes": "self.give()"}
    return [one for how, shell in shells.items() for one in _best(task, f"class {task.name}:\n{members}{shell}\n", how)]


def _best(task: Task, shell: str, how: str) -> list[Plain]:
    """The expressions with which `shell` passes most checks: one that raises and one that does not."""
    space, checks = _space(task, shell), _checks(task)
    best: dict[bool, Plain] = {}
    until = time.monotonic() + _PATIENCE
    for expression, code in _data_expressions().items():
        space["SEEN"].clear()
        space.update(value=eval(code, space), COUNT=itertools.count(1))  # noqa: S307  the text is ours
        passed = sum(_passes(space, [check]) for check in checks)
        raises = "throw(" in expression
        if raises not in best or passed > best[raises].passed:
            best[raises] = Plain(passed, expression, how)
        if passed == len(checks) or time.monotonic() > until:
            break
    return list(best.values())


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
