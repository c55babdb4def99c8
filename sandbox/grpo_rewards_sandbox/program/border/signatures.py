"""Signatures of functions as they cross: names and kinds of parameters, and which have a default."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

_KINDS = {0: "fn", inspect.CO_GENERATOR: "gen", inspect.CO_COROUTINE: "co", inspect.CO_ASYNC_GENERATOR: "agen"}
_KIND_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def parameters(function: Any, default: Callable[[object], object]) -> object:
    """Return what stands for the parameters, None where a function does not say. `default`: what stands for a default."""
    if is_plain(function):
        return _of_code(function, default)
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    return [[part.name, int(part.kind), part.default is not part.empty, default(part.default)] for part in found]


def is_plain(function: object) -> bool:
    """All that is known of this function stands in its code: nothing wraps it or says that it is another."""
    # `__wrapped__` and `__signature__` would stand in its `__dict__`
    return type(function) is FunctionType and not function.__dict__


def kind_of(function: Any) -> str:
    """What calling a function gives: a coroutine, a generator, an asynchronous generator; else it is one, or is `other`."""
    if is_plain(function):
        return _KINDS[function.__code__.co_flags & _KIND_FLAGS]
    if inspect.isasyncgenfunction(function):
        return "agen"
    if inspect.iscoroutinefunction(function):
        return "co"
    if inspect.isgeneratorfunction(function):
        return "gen"
    return "fn" if type(function) is FunctionType else "other"


def _of_code(function: FunctionType, default: Callable[[object], object]) -> object:
    """What `inspect.signature` reads, at a tenth of its cost, which is what it takes to show a candidate's function."""
    code, empty = function.__code__, inspect.Parameter.empty
    names, count, last = code.co_varnames, code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    given, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    first = count - len(given)
    found: list[tuple[str, int, object]] = [
        (name, int(at >= code.co_posonlyargcount), given[at - first] if at >= first else empty)
        for at, name in enumerate(names[:count])
    ]
    if code.co_flags & inspect.CO_VARARGS:
        # 2, 3 and 4 are inspect's VAR_POSITIONAL, KEYWORD_ONLY and VAR_KEYWORD
        found.append((names[last], 2, empty))
        last += 1
    found += [(name, 3, named.get(name, empty)) for name in names[count : count + code.co_kwonlyargcount]]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found.append((names[last], 4, empty))
    return [[name, how, value is not empty, default(value)] for name, how, value in found]


def signature(described: Any, notes: dict[str, object]) -> inspect.Signature | None:
    """The reverse, with these annotations; None where nothing of the kind was described."""
    try:
        return inspect.Signature(
            [
                inspect.Parameter(
                    part,
                    inspect._ParameterKind(kind),
                    default=default if has_default else inspect.Parameter.empty,
                    annotation=notes.get(part, inspect.Parameter.empty),
                )
                for part, kind, has_default, default in described
            ],
            return_annotation=notes.get("return", inspect.Signature.empty),
        )
    except (ValueError, TypeError):
        return None
