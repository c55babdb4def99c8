"""Which text may become code in the tests' process: a library's, the tests' own, and what a library writes without other text.

Whatever makes code of text raises an event of Python's. Where that happens, the function of the library that the text was given
to is looked for on the stack: what it was given has to stand in the tests' text.
"""

from __future__ import annotations

import ast
import builtins
import gc
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..border.uses import TEST_MODULES
from . import names

_PROGRAM = __name__.rpartition(".formats")[0]
# they write functions from names alone, and look whether these are any
_GENERATORS = frozenset(("collections", "dataclasses", "unittest.mock"))
_IMPORTS = frozenset(("importlib._bootstrap", "importlib._bootstrap_external", "_frozen_importlib"))
_READ_TREES = frozenset((*sys.stdlib_module_names, *TEST_MODULES, "_pytest"))
_READ_ANNOTATIONS = frozenset(("typing", "inspect", "annotationlib"))
_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_MOST = 10_000  # texts that are looked at


class OwnCode:
    """Knows the texts that stand in the tests' as constants, and what is made of nothing else."""

    def __init__(self, tests: str) -> None:
        self._tests = tests
        self._own: re.Pattern[str] | None = None

    def foreign(self, source: object, frame: types.FrameType | None) -> tuple[str, str] | None:
        """Return who makes code of a text that is not the tests' own, and the text; `frame`: where it is compiled."""
        tree_only = _module(frame) == "ast" and not isinstance(source, ast.AST)
        while frame is not None and _module(frame) == "ast":
            frame = frame.f_back
        maker = _module(frame)
        if frame is None or maker in _GENERATORS or _within(maker, _PROGRAM):
            return None
        root = maker.partition(".")[0]
        # a tree is no code; what walks it, as some libraries do, evaluates
        if (tree_only and root in _READ_TREES) or imports(frame):
            return None
        if maker in TEST_MODULES:
            text = _text(source)
            return None if self._is_own(text) else ("", text)
        made, entry = _text(source), _entry(frame, root)
        # what it evaluates it finds at the object that it was given, which need not say whose that is
        if maker in _READ_ANNOTATIONS:
            return None if self._is_own(made.strip("()")) or made.strip("()") in self._annotations() else (root, made)
        # where nothing was given, a choice of the function's own may stand
        library = set(_texts(list(entry.f_code.co_consts)))
        for text in _texts(_given(entry)):
            if text not in library and any(word in made for word in _WORD.findall(text)) and not self._is_own(text):
                return root, text
        return None

    def _annotations(self) -> set[str]:
        """What stands in the tests as an annotation, which may be kept as text."""
        found = (getattr(node, part, None) for node in names.parsed(self._tests) for part in ("annotation", "returns"))
        return {ast.unparse(node).strip("()") for node in found if isinstance(node, ast.expr)}

    def _is_own(self, text: str) -> bool:
        """The text is put together of the tests' constants and numbers."""
        if self._own is None:
            nodes = (node for node in names.parsed(self._tests) if isinstance(node, ast.Constant))
            constants = {_plain(node.value) for node in nodes if isinstance(node.value, (str, bytes))} - {""}
            longest = sorted(map(re.escape, constants), key=len, reverse=True)
            self._own = re.compile(f"(?:{'|'.join([*longest, '[0-9.]'])})*")
        return self._own.fullmatch(_plain(text)) is not None


def imports(frame: types.FrameType | None) -> bool:
    """A module is being imported by none of the tests' code, or further in than that: its own text is run."""
    for outer in _outwards(frame):
        if (module := _module(outer)) in _IMPORTS or module in TEST_MODULES:
            return module in _IMPORTS
    return False


def _plain(text: Any) -> str:
    return _SPACE.sub("", text.decode(errors="replace") if isinstance(text, (bytes, bytearray)) else text)


def _text(source: object) -> str:
    if isinstance(source, ast.AST):
        return ast.unparse(ast.fix_missing_locations(source))
    return bytes(source).decode(errors="replace") if isinstance(source, (bytes, bytearray, memoryview)) else str(source)


def _module(frame: types.FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _outwards(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _entry(frame: types.FrameType, package: str) -> types.FrameType:
    """The function of a package that was called from outside of it."""
    while frame.f_back is not None and _within(_module(frame.f_back), package):
        frame = frame.f_back
    return frame


def _given(frame: types.FrameType) -> list[object]:
    """What a function was given, but for its own defaults."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args and **kwargs
    given = [frame.f_locals[name] for name in code.co_varnames[:count] if name in frame.f_locals]
    functions = [made for made in gc.get_referrers(code) if type(made) is types.FunctionType]
    defaults = [
        part for made in functions for part in (*(made.__defaults__ or ()), *(made.__kwdefaults__ or {}).values())
    ]
    return [value for value in given if not any(value is default for default in defaults)]


def _texts(values: list[object]) -> Iterator[str]:
    left, seen = list(values), 0
    while left and seen < _MOST:
        value, seen = left.pop(), seen + 1
        if isinstance(value, (str, bytes, bytearray, memoryview)):
            yield _text(value)
        elif type(value) is dict and value.get("__builtins__") not in (builtins, vars(builtins)):  # not namespaces
            left += [*value, *value.values()]
        elif type(value) in (list, tuple, set, frozenset):
            left += value  # type: ignore[arg-type]
