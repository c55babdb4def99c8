"""What is read from a function's code is what `inspect` says of it."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import pytest
from grpo_rewards_sandbox.program.border import signatures

PARAMETERS = (
    "", "a", "a, b=1", "a, /, b", "a=1, /, b=2, *, c, d=3", "*args", "**named", "a, *args, b, c=2, **named", "*, a", "a, /, *b",
    "a=None, *, b=None", "a, b, c, /, d, e=0, *f, g, h=None, **i",
)  # fmt: skip
KINDS = (
    "def f({}): pass",
    "def f({}): yield",
    "async def f({}): pass",
    "async def f({}): yield",
    "f = lambda {}: None",
)


@pytest.mark.parametrize("text", KINDS)
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_a_plain_function_is_read_as_inspect_reads_it(parameters: str, text: str) -> None:
    scope: dict[str, Any] = {}
    exec(text.format(parameters), scope)
    function = scope["f"]
    assert signatures.is_plain(function)
    assert signatures.parameters(function, repr) == _inspected(function)
    assert signatures.kind_of(function) == _kind(function)


def test_what_wraps_a_function_or_speaks_for_it_is_asked() -> None:
    def wrapped(a: int, b: int = 1) -> None: ...

    @functools.wraps(wrapped)
    def wrapper(*args: Any) -> Any: ...

    async def waited(a: int) -> None: ...

    def speaks() -> None: ...

    speaks.__signature__ = inspect.signature(wrapped)  # type: ignore[attr-defined]
    for function in (wrapper, speaks):
        assert not signatures.is_plain(function)
        assert signatures.parameters(function, repr) == _inspected(wrapped)
    assert signatures.parameters(len, repr) == _inspected(len)
    assert signatures.parameters(print, repr) == _inspected(print)
    assert [signatures.kind_of(one) for one in (len, functools.partial(waited), types.coroutine(lambda: (yield)))] == [
        "other", "co", "gen"]  # fmt: skip


def _inspected(function: Any) -> list[list[object]]:
    found = inspect.signature(function).parameters.values()
    return [[part.name, int(part.kind), part.default is not part.empty, repr(part.default)] for part in found]


def _kind(function: Any) -> str:
    if inspect.isasyncgenfunction(function):
        return "agen"
    return "co" if inspect.iscoroutinefunction(function) else "gen" if inspect.isgeneratorfunction(function) else "fn"
