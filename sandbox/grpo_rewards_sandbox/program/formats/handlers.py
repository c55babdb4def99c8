"""Handlers of the tests for a class that comes of an object: with one of the candidate's it would choose what they catch."""

from __future__ import annotations

import ast
import builtins

from . import names
from .names import called

_ANCESTRY = frozenset("__class__ __base__ __bases__ __mro__ mro getmro exc_info".split())
_NAMED = frozenset(("__name__", "__qualname__", "__module__"))
_CATCH = frozenset("suppress raises assertRaises assertRaisesRegex".split())


def of_objects(text: str) -> str:
    """Say which handler is for a class that the text does not name, where it asks objects for theirs; empty for none."""
    nodes = names.parsed(text)
    known = set(vars(builtins))
    handlers: list[ast.expr] = []
    shown: set[int] = set()  # where a class is compared or named, and goes no further
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            known |= names.binds(node)
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            handlers.append(node.type)
        elif isinstance(node, ast.Call) and called(node) in _CATCH:
            handlers += node.args if called(node) == "suppress" else node.args[:1]
        elif isinstance(node, ast.Compare):
            shown.update(map(id, (node.left, *node.comparators)))
        elif isinstance(node, ast.Attribute) and node.attr in _NAMED:
            shown.add(id(node.value))
    unnamed = [part for handler in handlers for part in _each(handler) if not _is_named(part, known)]
    if not unnamed or not any(_asks(node) and id(node) not in shown for node in nodes):
        return ""
    return (
        f"line {unnamed[0].lineno}: the tests catch {ast.unparse(unnamed[0])[:100]}, which may be a class that the candidate chose; "
        "they can be run with fidelity: shared, at its price"
    )


def _each(node: ast.expr) -> list[ast.expr]:
    return [part for element in node.elts for part in _each(element)] if isinstance(node, ast.Tuple) else [node]


def _is_named(node: ast.expr, known: set[str]) -> bool:
    """A class by its name, or by that of the module or class that it is in."""
    while isinstance(node, ast.Attribute) and node.attr not in _ANCESTRY:
        node = node.value
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in known)


def _asks(node: ast.AST) -> bool:
    """This asks an object for its class, or a class for those above it."""
    if isinstance(node, ast.Call):
        return called(node) == "type" and len(node.args) == 1
    if isinstance(node, ast.Attribute):
        return node.attr in _ANCESTRY or node.attr == "type"
    return (isinstance(node, ast.Constant) and node.value in _ANCESTRY) or (
        isinstance(node, ast.Name) and node.id in _ANCESTRY
    )
