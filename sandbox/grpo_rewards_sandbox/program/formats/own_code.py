"""Which text may become code in the tests' process: the tests' own, and what a few of the standard library's modules write.

Whatever makes code of text raises an event of Python's. The text has to stand in the tests', whoever makes code of it: a library
that writes code of its own from what it is given (sympy, a template's engine) might have been given text of the candidate.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from typing import Any

from ..border.uses import TEST_MODULES
from . import names

_PROGRAM = __name__.rpartition(".formats")[0]
# they write functions from names alone, and look whether these are any; or compile once more the lambdas of functions that they
# were given, as they stand in the file of these, to find out which is which
_GENERATORS = frozenset(
    "collections dataclasses unittest.mock networkx.utils.decorators hypothesis.internal.reflection"
    " hypothesis.internal.lambda_sources".split()
)
_IMPORTS = ("importlib._bootstrap", "importlib._bootstrap_external", "_frozen_importlib")
_READ_TREES = frozenset((*sys.stdlib_module_names, *TEST_MODULES, "_pytest", "hypothesis"))
_READ_ANNOTATIONS = frozenset(("typing", "inspect", "annotationlib"))
_OF_TIMEIT = ("pass", "_stmt()", "_setup()")  # what stands there where it was given nothing, or a function
_SPACE = re.compile(r"\s+")


class OwnCode:
    """Knows the texts that stand in the tests' as constants, and what is made of nothing else."""

    def __init__(self, tests: str) -> None:
        self._tests = tests
        self._own: re.Pattern[str] | None = None

    def foreign(self, source: object, frame: types.FrameType | None) -> tuple[str, str] | None:
        """Return who makes code of a text that is not the tests' own, and the text; `frame`: where it is compiled."""
        tree_only = _module(frame) == "ast" and not isinstance(source, ast.AST)
        literal = False  # what is read so is plain data
        while frame is not None and _module(frame) == "ast":
            literal |= frame.f_code.co_name == "literal_eval"
            frame = frame.f_back
        maker = _module(frame)
        if frame is None or maker in _GENERATORS or f"{maker}.".startswith(f"{_PROGRAM}."):
            return None
        root = maker.partition(".")[0]
        # a tree is no code; what walks it, as some libraries do, evaluates
        if (tree_only and (literal or root in _READ_TREES)) or imports(frame):
            return None
        made = _text(source)
        if self._is_own(made) or (maker == "timeit" and self._times_own(frame.f_locals)):
            return None
        if maker in _READ_ANNOTATIONS:
            # what it evaluates it finds at the object that it was given, which need not say whose that is
            if self._is_own(made.strip("()")) or made.strip("()") in self._annotations():
                return None
            while frame is not None and _module(frame) in _READ_ANNOTATIONS:
                frame = frame.f_back
            if frame is not None and made in frame.f_code.co_consts:
                return None  # an annotation that a library writes down where it uses it, as torch's optimizers do
        return "" if maker in TEST_MODULES else root, made

    def _times_own(self, given: dict[str, object]) -> bool:
        """`timeit` writes a function around what it was given."""
        texts = (given.get(name) for name in ("stmt", "setup"))
        return all(callable(text) or text in _OF_TIMEIT or (type(text) is str and self._is_own(text)) for text in texts)

    def _annotations(self) -> set[str]:
        """What stands in the tests as an annotation, which may be kept as text."""
        found = (getattr(node, part, None) for node in names.parsed(self._tests) for part in ("annotation", "returns"))
        return {ast.unparse(node).strip("()") for node in found if isinstance(node, ast.expr)}

    def _is_own(self, text: str) -> bool:
        """The text is put together of the tests' constants and numbers, or of numbers by arithmetic."""
        if self._own is None:
            nodes = (node for node in names.parsed(self._tests) if isinstance(node, ast.Constant))
            constants = {_plain(node.value) for node in nodes if isinstance(node.value, (str, bytes))} - {""}
            longest = sorted(map(re.escape, constants), key=len, reverse=True)
            self._own = re.compile(f"(?:{'|'.join([*longest, '[0-9.]'])})*|[-+*/%()0-9.]*")
        return self._own.fullmatch(_plain(text)) is not None


def imports(frame: types.FrameType | None) -> bool:
    """A module is being imported by none of the tests' code, or further in than that: its own text is run."""
    while frame is not None and _module(frame) not in (*_IMPORTS, *TEST_MODULES):
        frame = frame.f_back
    return _module(frame) in _IMPORTS


def _plain(text: Any) -> str:
    return _SPACE.sub("", text.decode(errors="replace") if isinstance(text, (bytes, bytearray)) else text)


def _text(source: object) -> str:
    if isinstance(source, ast.AST):
        return ast.unparse(ast.fix_missing_locations(source))
    return bytes(source).decode(errors="replace") if isinstance(source, (bytes, bytearray, memoryview)) else str(source)


def _module(frame: types.FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))
