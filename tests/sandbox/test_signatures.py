"""What crosses of a signature is what `inspect` says of it."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import pytest
from grpo_rewards_sandbox.program.border import signatures

PARAMETERS = (
    "", "a", "a, b=1", "a, /, b", "a=1, /, b=2, *, c, d=3", "*args", "**named", "a, *args, b, c=2, **named", "*, a", "a, /, *b",
    "a=None, *, b=None", "a, b, c, /, d, e=0, *f, g, h=None, **i", "a: int, *b: str, c: float = 1.5",
)  # fmt: skip
KINDS = {
    "def f({}): pass": "fn",
    "def f({}): yield": "gen",
    "async def f({}): pass": "co",
    "async def f({}): yield": "agen",
    "class f:\n def __init__(self, {}): pass": "other",
}


@pytest.mark.parametrize("text", KINDS)
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_a_signature_crosses_as_inspect_reads_it(parameters: str, text: str) -> None:
    scope: dict[str, Any] = {}
    exec(text.format(parameters), scope)
    function = scope["f"]
    said = signatures.described(function)
    assert said is not None
    assert signatures.signature(*said) == inspect.signature(function)
    assert signatures.kind_of(function) == KINDS[text]


def test_what_wraps_a_function_or_speaks_for_it_is_asked() -> None:
    def wrapped(a: int, b: int = 1) -> None: ...

    @functools.wraps(wrapped)
    def wrapper(*args: Any) -> Any: ...

    async def waited(a: int) -> None: ...

    def speaks() -> None: ...

    speaks.__signature__ = inspect.signature(wrapped)  # type: ignore[attr-defined]
    for function in (wrapper, speaks):
        assert signatures.described(function) == signatures.described(wrapped)
    assert signatures.described(type) is None
    assert [signatures.kind_of(one) for one in (len, functools.partial(waited), types.coroutine(lambda: (yield)))] == [
        "other", "co", "gen"]  # fmt: skip


def test_a_default_that_is_no_plain_value_stays() -> None:
    def function(a: list[int] = [1], b: object = len, c: int = 2) -> None: ...  # noqa: B006

    said = signatures.described(function)
    assert said is not None
    assert [part[2:] for part in said[0]] == [[True, None], [True, None], [True, 2]]
