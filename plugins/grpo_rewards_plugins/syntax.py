"""Python's own parser for rewards, which run in threads."""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Literal, overload

from grpo_rewards.forks import PerProcess

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `parse` raises over a text that is no Python."""

_TRIES = 20
_one_at_a_time = PerProcess(threading.Lock)


@overload
def parse(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.mod:
    """Return the syntax tree of a text: `ast.parse`, from any thread, and without its warnings.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    # CPython 3.11 counts the depth of a tree for all threads together: two that parse at once end in a SystemError, which
    # would be a plugin's fault and leave a row out. Others than we may parse too, so a lock alone is not enough.
    for _ in range(_TRIES):
        # an escape such as "\d" in somebody's text would warn, and be an error where warnings are errors
        with _one_at_a_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
    return ast.parse(text, mode=mode)


def parsed(*texts: str) -> ast.Module | None:
    """Return the syntax tree of the first of some texts that is Python; None where none is."""
    for text in texts:
        try:
            return parse(text)
        except UNREADABLE:
            continue
    return None


def begun(text: str) -> str:
    """Return a text that ends in the beginning of a function as a whole one."""
    return f"{text}\n    pass\n"


def literal(text: str) -> object:
    """Return the value of a Python literal; nothing is evaluated.

    Raises:
        ValueError, SyntaxError, RecursionError, MemoryError, TypeError: it is none, as `ast.literal_eval` says.
    """
    # leading blanks are an indentation to the parser; `ast.literal_eval` takes them off itself
    return ast.literal_eval(parse(text.lstrip(" \t"), mode="eval"))
