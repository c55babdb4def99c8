"""Signatures of functions and classes as they cross, where somebody asks: names and kinds of parameters, which have a default."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from .values import SCALARS


def described(value: Callable[..., object]) -> tuple[list[list[object]], dict[str, object]] | None:
    """Return what stands for the parameters, with defaults that are plain, and the annotations; None where there is no signature."""
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return None
    given = found.parameters.values()
    parts = [[part.name, int(part.kind), part.default is not part.empty, _plain(part.default)] for part in given]
    notes = {part.name: part.annotation for part in given} | {"return": found.return_annotation}
    return parts, {name: note for name, note in notes.items() if note is not found.empty}


def _plain(default: object) -> object:
    return default if type(default) in SCALARS else None


def signature(parameters: Any, notes: dict[str, Any]) -> inspect.Signature | None:
    """The reverse; None where nothing of the kind was described."""
    empty = inspect.Parameter.empty

    def parameter(name: str, kind: int, has_default: bool, default: object) -> inspect.Parameter:
        shown, note = default if has_default else empty, notes.get(name, empty)
        return inspect.Parameter(name, inspect._ParameterKind(kind), default=shown, annotation=note)

    try:
        parts = [parameter(*part) for part in parameters]
        return inspect.Signature(parts, return_annotation=notes.get("return", empty))
    except (ValueError, TypeError):
        return None


def dataclass_fields(fields: dict[str, tuple[object, tuple[object, ...]]]) -> object:
    """What `dataclasses.fields`, `asdict`, `replace` and `is_dataclass` look at: of each field the annotation, and a default that is plain."""
    import dataclasses

    described = [
        (name, note, dataclasses.field(default=default[0]) if default else dataclasses.field())
        for name, (note, default) in fields.items()
    ]
    return vars(dataclasses.make_dataclass("template", described, kw_only=True))["__dataclass_fields__"]


def kind_of(function: Any) -> str:
    """What calling a function gives: a coroutine, a generator, an asynchronous generator; else it is one, or is `other`."""
    if inspect.isasyncgenfunction(function):
        return "agen"
    if inspect.iscoroutinefunction(function):
        return "co"
    if inspect.isgeneratorfunction(function):
        return "gen"
    return "fn" if type(function) is FunctionType else "other"


# what inspect and asyncio look at, to know what a call gives
_FLAGS = {"gen": inspect.CO_GENERATOR, "co": inspect.CO_COROUTINE, "agen": inspect.CO_ASYNC_GENERATOR}
_REST = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
Shape = tuple[str, tuple[int, int, int], int, tuple[str, ...], int, tuple[str, ...]]


def shape_of(function: Any) -> Shape:
    """What the code of a function says of its parameters, as a signature does: kind, counts, flags, names, how many and which have a default."""
    own = function.__func__ if type(function) is MethodType else function
    if type(own) is not FunctionType:
        return kind_of(function), (0, 0, 0), 0, (), 0, ()
    code = own.__code__
    bound = int(own is not function and code.co_argcount > 0)  # its first parameter is given
    rest, plain, first = code.co_flags & _REST, code.co_argcount - bound, max(code.co_posonlyargcount - bound, 0)
    counts = plain, first, code.co_kwonlyargcount
    names = code.co_varnames[bound:][: plain + counts[2] + rest.bit_count()]
    return (
        kind_of(function),
        counts,
        rest,
        names,
        len(own.__defaults__ or ()),
        tuple(own.__kwdefaults__ or ()),
    )


def code_of(
    kind: str, counts: tuple[int, int, int] = (0, 0, 0), rest: int = 0, names: tuple[str, ...] = ()
) -> CodeType:
    """What stands for the code of a function of a kind; nothing else of it is the other side's."""
    return (lambda: None).__code__.replace(
        co_flags=_FLAGS.get(kind, 0) | rest,
        co_argcount=counts[0],
        co_posonlyargcount=counts[1],
        co_kwonlyargcount=counts[2],
        co_varnames=names,
        co_nlocals=len(names),
    )
