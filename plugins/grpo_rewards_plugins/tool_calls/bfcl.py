"""BFCL's comparison of calls with accepted values (Berkeley function-calling leaderboard, `ast_checker.py`).

Its quirks are kept: texts are equal without case, spaces and ``,./-_*^``; an integer passes for a float and not the other way; the
type of an accepted value counts where it is not the declared one; only one level of a list is looked into.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from grpo_rewards_plugins.cells import RowProblem
from grpo_rewards_plugins.tool_calls.literals import Calls

_TYPES: dict[str, type] = {
    "string": str, "integer": int, "float": float, "boolean": bool, "array": list, "tuple": list, "dict": dict, "any": str,
    "number": float, "object": dict,  # the original raises on these two
}  # fmt: skip
_LISTS = ("array", "tuple")
# as the original's standardize_string, which also makes a double quote of each single one
_BARE = {**dict.fromkeys(map(ord, " ,./-_*^")), ord("'"): '"'}


def compare(
    functions: Sequence[Mapping[str, object]], calls: Calls, wanted: Sequence[Mapping[str, object]], category: str
) -> str:
    """Return what is wrong with the calls, or nothing.

    Raises:
        RowProblem: a wanted function is not described.
    """
    if len(calls) != len(wanted):
        return f"{len(calls)} calls, not {len(wanted)}"
    if "parallel" in category:
        return _in_any_order(functions, calls, wanted)
    name = next(iter(wanted[0]), "")
    function = _described(functions, name) if "multiple" in category else functions[0]
    return _call_problem(function, calls[0], wanted[0])


def _described(functions: Sequence[Mapping[str, object]], name: str) -> Mapping[str, object]:
    for function in functions:
        if function.get("name") == name:
            return function
    raise RowProblem(f"no function {name!r:.80} is described")


def _in_any_order(
    functions: Sequence[Mapping[str, object]], calls: Calls, wanted: Sequence[Mapping[str, object]]
) -> str:
    """Each wanted call takes the first call that fits and is not taken."""
    left = list(range(len(calls)))
    for call in wanted:
        function = _described(functions, next(iter(call), ""))
        problems = []
        for place in left:
            problem = _call_problem(function, calls[place], call)
            if not problem:
                left.remove(place)
                break
            problems.append(problem)
        else:
            return f"no call fits {function.get('name')!r}: {problems[0] if problems else 'none is left'}"
    return ""


def _call_problem(function: Mapping[str, Any], call: Mapping[object, Any], wanted: Mapping[str, Any]) -> str:
    name, accepted = function["name"], next(iter(wanted.values()))
    if name not in call:
        return f"{next(iter(call), '')!r:.60} is called, not {name!r}"
    schema = function.get("parameters") or {}
    given = call[name]
    for parameter in schema.get("required") or ():
        if parameter not in given:
            return f"{name}: {parameter!r} is missing"
    described = schema.get("properties") or {}
    for parameter, value in given.items():
        if parameter not in described or parameter not in accepted:
            return f"{name}: there is no parameter {parameter!r:.60}"
        if not _is_accepted(value, described[parameter], accepted[parameter]):
            return f"{name}: {parameter} is {value!r:.60}, not {accepted[parameter]!r:.120}"
    for parameter, values in accepted.items():
        # an empty text among the accepted values says that the parameter may be left out
        if parameter not in given and "" not in values:
            return f"{name}: {parameter!r} is missing"
    return ""


# ------------------------------------------------------------------------------------------------ values


def _is_accepted(value: object, described: Mapping[str, Any], accepted: Sequence[object]) -> bool:
    """Whether a value has the declared type, or that of an accepted one, and is one of them."""
    kind = str(described.get("type"))
    if kind not in _TYPES:
        raise RowProblem(f"the type {kind!r:.60} is not known")
    outer = _TYPES[kind]
    inner = _TYPES.get(str((described.get("items") or {}).get("type"))) if kind in _LISTS else None
    try:
        if kind == "tuple" and type(value) is tuple:
            value = list(value)
        if outer is float and type(value) is int:
            value = float(value)
        fits, other_type = _has_type(value, accepted, outer, inner)
        return fits and _matches(value, accepted, None if other_type else outer, inner)
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError):
        return False  # of a shape that the original's comparison raises on


def _has_type(value: object, accepted: Sequence[object], outer: type, inner: type | None) -> tuple[bool, bool]:
    """Whether a value has the declared type, and whether the accepted values are of another one."""
    other = next((type(item) for item in accepted if item != ""), None)
    fits = True
    if type(value) is outer:
        if inner is None or any(_holds(value, item, inner) for item in accepted):
            return True, other is not None and other is not outer
        fits = False
    return (fits, True) if other is not None and type(value) is other else (False, False)


def _holds(value: Any, item: object, inner: type) -> bool:
    return type(item) is not list or all(_has_type(part, item, inner, None)[0] for part in value)


def _matches(value: Any, accepted: Sequence[Any], outer: type | None, inner: type | None) -> bool:
    if outer is dict:
        return any(_same_dict(value, item) for item in accepted if item != "")
    if outer is list and inner is dict:
        return any(
            len(value) == len(item) and all(_same_dict(one, item[place]) for place, one in enumerate(value))
            for item in accepted
        )
    if outer is str:
        return _bare(value) in [_accepted_bare(item) for item in accepted if type(item) is str]
    if outer is list:
        return [_plain(part) for part in value] in [[_plain(part) for part in item] for item in accepted]
    return value in accepted


def _same_dict(value: Mapping[str, object], item: Any) -> bool:
    """Whether each entry is one of its accepted values, and none is missing that may not be."""
    if item == "":
        return False
    for key, part in value.items():
        if key not in item or _plain(part) not in [_plain(one) for one in item[key]]:
            return False
    return all(key in value or "" in values for key, values in item.items())


def _bare(text: str) -> str:
    return text.translate(_BARE).lower()


_accepted_bare = lru_cache(maxsize=65536)(_bare)  # every completion of a group is held against the same values


def _plain(part: object) -> object:
    return _bare(part) if type(part) is str else part
