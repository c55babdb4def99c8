"""Python's own parser for rewards, which run in threads."""

from __future__ import annotations

import ast
import threading
from typing import Literal, overload

from grpo_rewards.forks import PerProcess

__all__ = ["literal", "parse"]

_TRIES = 20
_one_at_a_time = PerProcess(threading.Lock)


@overload
def parse(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.mod:
    """Return the syntax tree of a text: `ast.parse`, from any thread.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    # CPython 3.11 counts the depth of a tree for all threads together: two that parse at once end in a SystemError, which
    # would be a plugin's fault and leave a row out. Others than we may parse too, so a lock alone is not enough.
    for _ in range(_TRIES):
        with _one_at_a_time():
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
    return ast.parse(text, mode=mode)


def literal(text: str) -> object:
    """Return the value of a Python literal; nothing is evaluated.

    Raises:
        ValueError, SyntaxError, RecursionError, MemoryError, TypeError: it is none, as `ast.literal_eval` says.
    """
    # leading blanks are an indentation to the parser; `ast.literal_eval` takes them off itself
    return ast.literal_eval(parse(text.lstrip(" \t"), mode="eval"))
