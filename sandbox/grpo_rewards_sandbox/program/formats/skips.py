"""Which test the environment leaves out, or has nothing to call it with, whatever the candidate is."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable

from . import names
from .names import called

# what a condition may ask of the environment
_ENVIRONMENT = frozenset(["sys", "os", "platform", "shutil", "importlib"])


def left_out(text: str, module: str) -> str:
    """Say which test the environment leaves out, found with no candidate loaded; empty for none."""
    if not any(word in text for word in ("importorskip", "skipif", "skipIf", "skipUnless")):
        return ""
    scope = {"__builtins__": __builtins__, **{name: importlib.import_module(name) for name in _ENVIRONMENT}}
    for node in names.parsed(text):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name, first = called(node), node.args[0]
        if name == "importorskip" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            package = first.value.partition(".")[0]
            if package != module and importlib.util.find_spec(package) is None:
                return f"the tests need the package {package}, which the sandbox has not"
        elif name in ("skipif", "skipIf", "skipUnless"):
            used = {part.id for part in ast.walk(first) if isinstance(part, ast.Name)}
            # only what nothing but the environment decides; pytest decides the rest, with the candidate there
            if used <= _ENVIRONMENT:
                try:
                    holds = bool(eval(compile(ast.Expression(first), "tests.py", "eval"), scope))  # noqa: S307  the tests' text
                except Exception:  # noqa: BLE001  pytest will say what is wrong with it
                    continue
                if holds is not (name == "skipUnless"):
                    return f"line {node.lineno}: the environment leaves a test out"
    return ""


def missing_fixture(text: str, module: str, gives: Callable[[str], bool]) -> str:
    """Say which fixture a test asks for that neither the file defines nor pytest gives; empty for none."""
    nodes = names.parsed(text)
    wanted = names.expected(text, module).tests
    # names that `parametrize` and `fixture(name=..)` give stand in a string
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    known = {word for text in texts for word in text.replace(",", " ").split()}.union(*map(names.binds, nodes))
    for scope in nodes:
        if not isinstance(scope, (ast.Module, ast.ClassDef)):
            continue
        prefix, bound = (f"{scope.name}::", 1) if isinstance(scope, ast.ClassDef) else ("", 0)
        for node in scope.body:
            if not isinstance(node, names.FUNCTIONS) or prefix + node.name not in wanted:
                continue
            # other decorators may hand arguments over themselves, as those of mock and hypothesis do
            if all(ast.unparse(part).startswith("pytest.") for part in node.decorator_list):
                asked = node.args.args[bound : len(node.args.args) - len(node.args.defaults)]
                if missing := [part.arg for part in asked if part.arg not in known and not gives(part.arg)]:
                    return (
                        f"line {node.lineno}: {node.name} asks for the fixture {missing[0]}, which the file does not define; "
                        "no plugin of pytest and no conftest.py is loaded"
                    )
    return ""
