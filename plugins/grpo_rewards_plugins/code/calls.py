"""Tests that call a function or a method of ``class Solution`` with values: written as data, judged as assert statements.

Read are arguments as a list, or as text with one JSON value per line, as LiveCodeBench and PRIME have them. Where arguments
are lists and every result is a list of one, results are wrapped, as APPS wraps them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from grpo_rewards_plugins.code.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.extraction import defined_names
from grpo_rewards_plugins.code.pairs import INPUTS, OUTPUTS, STDIO, cases_of, is_call, only, refuse_others
from grpo_rewards_plugins.code.problems import SuiteProblem

__all__ = ["CALLED", "SETUP", "called_name", "read_calls", "written_for"]

CALLED = "_called_"
"""Stands in the statements for the function, or for the method of a new object of the class."""

SETUP = """\
def _is_same_(got, wanted):
    if type(got).__module__ == "numpy":
        got = got.tolist()
    if isinstance(wanted, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return False
        for one, other in zip(got, wanted):
            if not _is_same_(one, other):
                return False
        return True
    if isinstance(wanted, dict):
        if not isinstance(got, dict) or len(got) != len(wanted):
            return False
        for key in wanted:
            here = key
            if key not in got and key.isdecimal():
                here = int(key)
            if here not in got or not _is_same_(got[here], wanted[key]):
                return False
        return True
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return got == wanted or abs(got - wanted) <= 1e-6 * max(1.0, abs(wanted))
    return got == wanted
"""
"""How results are compared: tuples count as lists, 2 as 2.0, floats within 1e-6 where one is expected; the keys of an
object, which JSON has as text, as those texts or as the numbers that they are."""


def called_name(tests: Any, columns: Mapping[str, Any]) -> str:
    """Return the function that the tests call by their own words or the row's; empty where they call none.

    Raises:
        SuiteProblem: they call something, and it is not known what, or several names are given.
    """
    metadata = from_json(columns.get("metadata"))
    names = {_name(columns.get("fn_name")), _name(columns.get("func_name"))}
    names.add(_name(metadata.get("func_name")) if isinstance(metadata, Mapping) else "")
    cases = [tests] if isinstance(tests, Mapping) else tests
    called = [case for case in cases if is_call(case)]
    for case in called:
        inner = from_json(case.get("metadata"))
        names |= {_name(case.get(key)) for key in ("fn_name", "func_name")}
        names.add(_name(inner.get("func_name")) if isinstance(inner, Mapping) else "")
    names.discard("")
    if called and not names:
        raise SuiteProblem("the tests call a function and do not say which")
    if 0 < len(called) < len(cases) or (names and columns.get("test_case_type") in STDIO):
        raise SuiteProblem("some of the row says that the tests call a function, and some that they do not")
    if len(names) > 1:
        raise SuiteProblem(f"the tests name several functions: {', '.join(sorted(names)[:3])}")
    return next(iter(names), "")


def _name(value: Any) -> str:
    if is_blank(value):
        return ""
    if not isinstance(value, str) or not value.isidentifier():
        raise SuiteProblem(f"the tests call {str(value)[:60]!r}, which is no name of a function")
    return value


def read_calls(name: str, tests: Mapping[str, Any] | Sequence[Any], columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one assert statement per test of `name`, in which `CALLED` stands for what is called.

    Raises:
        SuiteProblem: arguments or results are no JSON, contradict each other, or need more than a call.
    """
    texts = [columns.get(column) for column in ("starter_code", "prompt", "code_prompt")]
    more = re.compile(rf"ListNode|TreeNode|Do not return anything|\bdef {name}\([^)]{{0,500}}\) *-> *None")
    if found := next((match for text in texts if isinstance(text, str) and (match := more.search(text))), None):
        raise SuiteProblem(f"the task is about {found[0][:60]!r}, so its tests are more than calls with values")
    given, wanted = [], []
    for case in cases_of(tests):
        refuse_others(case, calls=True)
        given.append(plain(only(case, INPUTS)))
        wanted.append(plain(only(case, OUTPUTS)))
    if not given:
        raise SuiteProblem("the list of tests is empty")
    if all(isinstance(one, str) for one in given):
        arguments = [[_value(line) for line in one.splitlines() if line.strip()] for one in given]
        results = [_value(one) for one in wanted]
    elif all(isinstance(one, list | tuple) for one in given):
        arguments, results = [list(one) for one in given], wanted
        if all(isinstance(one, list) and len(one) == 1 for one in results):
            results = [one[0] for one in results]
    else:
        kinds = ", ".join(sorted({type(one).__name__ for one in given}))
        raise SuiteProblem(f"the arguments of a call are a list, or text with a JSON value per line, not {kinds}")
    statements: dict[str, str] = {}
    for one, other in zip(arguments, results, strict=True):
        call, result = ", ".join(_written(argument, whole_keys=True) for argument in one), _written(other)
        if statements.setdefault(call, result) != result:
            raise SuiteProblem(f"two tests have the same arguments and different results: {call[:60]}")
    return tuple(f"assert _is_same_({CALLED}({call}), {result})" for call, result in statements.items())


def _value(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise SuiteProblem(f"an argument or result of a call is no JSON: {str(text)[:60]!r}") from None


def _written(value: Any, *, whole_keys: bool = False) -> str:
    """A JSON value as Python; with `whole_keys` the keys of an object are numbers where all of them are, as APPS has them."""
    if isinstance(value, dict):
        keys = [str(key) for key in value]
        whole = whole_keys and all(key.isdecimal() for key in keys)
        items = (_written(item, whole_keys=whole_keys) for item in value.values())
        return (
            "{"
            + ", ".join(f"{int(key) if whole else repr(key)}: {item}" for key, item in zip(keys, items, strict=True))
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(item, whole_keys=whole_keys) for item in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        raise SuiteProblem("a test holds NaN or infinity")
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    raise SuiteProblem(f"a test holds a {type(value).__name__}, which is no JSON")


def written_for(program: str, name: str, class_name: str) -> str | None:
    """Return what `CALLED` stands for with this program, or None where it defines neither function nor class."""
    defined = defined_names(program)
    if name in defined:
        return name
    return f"{class_name}().{name}" if class_name in defined else None
