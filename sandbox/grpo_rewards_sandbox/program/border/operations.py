"""Operators and builtins that run on the other side: one name for each, and the special method it stands for."""

from __future__ import annotations

import copy
import math
import operator
import os
from collections.abc import Callable
from typing import Any

_PLAIN = (
    "eq ne lt le gt ge add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor matmul neg pos abs invert index"
    " contains getitem setitem delitem iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
)
_REFLECTED = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor matmul"


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(b, a)


OPERATIONS: dict[str, Callable[..., Any]] = {name: getattr(operator, name) for name in _PLAIN.split()}
OPERATIONS.update({f"r{name}": _reflected(getattr(operator, name)) for name in _REFLECTED.split()})
OPERATIONS.update(
    divmod=divmod,
    rdivmod=lambda a, b: divmod(b, a),
    len=len,
    repr=repr,
    str=str,
    format=format,
    hash=hash,
    bool=bool,
    int=int,
    float=float,
    complex=complex,
    round=round,
    iter=iter,
    next=next,
    reversed=reversed,
    bytes=bytes,
    dir=dir,
    floor=math.floor,
    ceil=math.ceil,
    trunc=math.trunc,
    fspath=os.fspath,
    copy=copy.copy,
    deepcopy=copy.deepcopy,
    enter=lambda o: type(o).__enter__(o),
    exit=lambda o, *a: type(o).__exit__(o, *a),
    send=lambda g, v: g.send(v),
    throw=lambda g, e: g.throw(e),
    close=lambda g: g.close(),
    aiter=aiter,
    missing=lambda o, key: type(o).__missing__(o, key),
)

SPECIAL: dict[str, str] = {f"__{name.strip('_')}__": name for name in _PLAIN.split()}
SPECIAL.update({f"__r{name.strip('_')}__": f"r{name}" for name in _REFLECTED.split()})
SPECIAL.update(
    {
        f"__{name}__": name
        for name in [
            "divmod",
            "rdivmod",
            "len",
            "repr",
            "str",
            "format",
            "hash",
            "bool",
            "int",
            "float",
            "complex",
            "round",
            "iter",
            "next",
            "reversed",
            "bytes",
            "floor",
            "ceil",
            "trunc",
            "fspath",
            "enter",
            "exit",
        ]
    }
)
# what Python demands of the results of some special methods
RESULT: dict[str, type] = {
    "repr": str,
    "str": str,
    "format": str,
    "len": int,
    "hash": int,
    "bool": bool,
    "contains": bool,
    "int": int,
    "float": float,
    "index": int,
    "complex": complex,
    "bytes": bytes,
}
COMPARISONS = frozenset(["lt", "le", "gt", "ge"])
ARITHMETIC = frozenset(
    [
        *(name for name in _REFLECTED.split()),
        *(f"r{name}" for name in _REFLECTED.split()),
        "divmod",
        "rdivmod",
        "iadd",
        "isub",
        "imul",
        "itruediv",
        "ifloordiv",
        "imod",
        "ipow",
        "iand",
        "ior",
        "ixor",
        "ilshift",
        "irshift",
    ]
)
BINARY = COMPARISONS | ARITHMETIC | {"contains"}
# special methods that a class derived from a value type answers with its base value, on the trusted side
BY_BASE_VALUE = frozenset(
    [
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__hash__",
        "__int__",
        "__float__",
        "__bool__",
        "__index__",
        "__sub__",
        "__rsub__",
        "__abs__",
        "__add__",
        "__radd__",
        "__mul__",
        "__rmul__",
        "__len__",
        "__iter__",
        "__getitem__",
        "__contains__",
        "__pow__",
        "__mod__",
        "__truediv__",
        "__floordiv__",
        "__neg__",
        "__pos__",
        "__round__",
        "__complex__",
        "__divmod__",
        "__reversed__",
        "__rpow__",
        "__rmod__",
        "__rtruediv__",
        "__rfloordiv__",
        "__rdivmod__",
        "__and__",
        "__or__",
        "__xor__",
        "__rand__",
        "__ror__",
        "__rxor__",
        "__lshift__",
        "__rshift__",
        "__floor__",
        "__ceil__",
        "__trunc__",
        "__bytes__",
        "__invert__",
    ]
)
