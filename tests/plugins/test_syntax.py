"""Python's parser from many threads."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from grpo_rewards_plugins.syntax import literal, parse


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that take turns as often as they can: with CPython 3.11's own parser some of these end in a SystemError."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_many_threads_parse_at_once() -> None:
    text = "[f(a=1, b=[1, 2, {'x': 3}], c='x'), g(x=(1, 2, 3))]"
    expected = ast.dump(ast.parse(text, mode="eval"))
    with ThreadPoolExecutor(8) as pool:
        assert {ast.dump(tree) for tree in pool.map(lambda _: parse(text, mode="eval"), range(4000))} == {expected}


@pytest.mark.parametrize("text", ["[1, (2,), {'a': -3.5, None: 1j}]", "  'x'"])
def test_literals_are_those_of_python(text: str) -> None:
    assert literal(text) == ast.literal_eval(text)


@pytest.mark.parametrize("text", ["f(1)", "1 +", "__import__('os')"])
def test_nothing_is_evaluated(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        literal(text)
