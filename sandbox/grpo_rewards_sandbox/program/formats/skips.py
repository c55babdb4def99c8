"""Which test the environment leaves out, whatever the candidate is."""

from __future__ import annotations

import ast
import importlib.util

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
