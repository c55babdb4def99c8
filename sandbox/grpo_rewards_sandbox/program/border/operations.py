"""Operators and builtins that run on the other side: one name for each, and the special method it stands for."""

from __future__ import annotations

import builtins
import copy
import math
import operator
import os
from collections.abc import Callable
from typing import Any

_PLAIN = (
    "eq ne lt le gt ge add sub mul truediv floordiv mod lshift rshift and_ or_ xor matmul neg pos abs invert index"
    " contains getitem setitem delitem iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
)
_BUILTIN = "divmod pow len repr str format hash bool int float complex round iter next reversed bytes"
_REFLECTED = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor matmul"


def _reflected(function: Callable[[object, object], object]) -> Callable[[object, object], object]:
    return lambda a, b: function(b, a)


def _bound(value: object, name: str) -> Any:
    """A special method, found as a `with` statement finds it: in the class, which for mocks is not what `getattr` gives."""
    for base in type(value).__mro__:
        if name in vars(base):
            method = vars(base)[name]
            return method.__get__(value, type(value)) if hasattr(type(method), "__get__") else method
    raise AttributeError(name)


OPERATIONS: dict[str, Callable[..., object]] = {name: getattr(operator, name) for name in _PLAIN.split()}
OPERATIONS.update({f"r{name}": _reflected(getattr(operator, name)) for name in _REFLECTED.split()})
OPERATIONS.update((name, getattr(builtins, name)) for name in (*_BUILTIN.split(), "dir", "aiter"))
OPERATIONS.update((name, getattr(math, name)) for name in ("floor", "ceil", "trunc"))
OPERATIONS.update(
    rdivmod=_reflected(divmod),
    fspath=os.fspath,
    copy=copy.copy,
    deepcopy=copy.deepcopy,
    enter=lambda o: _bound(o, "__enter__")(),
    exit=lambda o, *a: _bound(o, "__exit__")(*a),
    send=lambda g, v: g.send(v),
    throw=lambda g, e: g.throw(e),
    close=lambda g: g.close(),
    missing=lambda o, key: type(o).__missing__(o, key),
)

_OTHERS = "rdivmod floor ceil trunc fspath enter exit missing"
SPECIAL: dict[str, str] = {
    f"__{name.strip('_')}__": name for name in (*_PLAIN.split(), *_BUILTIN.split(), *_OTHERS.split())
}
SPECIAL.update({f"__r{name.strip('_')}__": f"r{name}" for name in _REFLECTED.split()})
# what Python demands of the results of some special methods
RESULT: dict[str, type] = {
    "repr": str, "str": str, "format": str, "len": int, "hash": int, "bool": bool, "contains": bool, "int": int,
    "float": float, "index": int, "complex": complex, "bytes": bytes, "fspath": str,
}  # fmt: skip
# special methods of which the result is awaited, or gives what is
AWAITED = ("__aenter__", "__aexit__", "__anext__", "__aiter__", "__await__")
EQUALITY = frozenset(("eq", "ne"))
ORDER = frozenset(("lt", "le", "gt", "ge"))
_IN_PLACE = {f"i{name.strip('_')}" for name in _REFLECTED.split()}
ARITHMETIC = _IN_PLACE.union(*((name, f"r{name}") for name in (*_REFLECTED.split(), "divmod")))
SIGNS = frozenset(("neg", "pos", "invert"))
TEXT = frozenset(("str", "repr", "format"))
# what makes plain data of an object
CONVERSIONS = frozenset(
    ("abs", "bool", "bytes", "ceil", "complex", "float", "floor", "fspath", "index", "int", "len", "round", "trunc")
)
