"""In a checker's process: what it evaluates is plain values, whatever the output says, so that no text of an output runs there."""

from __future__ import annotations

import ast
import os
import sys
import types

_VALUES = (
    ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.unaryop,
    ast.operator, ast.expr_context,
)  # fmt: skip
_RUNS = frozenset(("pickle.find_class", "marshal.loads", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"))
_LIBRARY = os.path.dirname(os.__file__) + os.sep


def run(source: str, namespace: dict[str, object]) -> None:
    """Run a checker, whose own text may be any."""
    code = compile(source.encode("utf-8", "surrogatepass"), "checker.py", "exec", dont_inherit=True)
    sys.addaudithook(_watch)
    exec(code, namespace)  # noqa: S102


def _watch(event: str, args: tuple[object, ...]) -> None:
    if event == "compile":
        # the standard library compiles what it words itself, for a named tuple say; what parses and compiles no further is `ast`
        frame = sys._getframe(1)
        if not frame.f_code.co_filename.startswith(_LIBRARY) and not _imports(frame):
            _only_values(args[0])
    elif event in _RUNS and not _imports(sys._getframe(1)):
        raise ValueError(f"a checker may not do this with text: {event}")


def _imports(frame: types.FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _only_values(source: object) -> None:
    text = source.decode() if isinstance(source, bytes) else source
    # SyntaxError is what who evaluates the text would get too
    tree = ast.parse(text.lstrip(), mode="eval") if isinstance(text, str) else None
    if tree is None or not all(isinstance(node, _VALUES) for node in ast.walk(tree)):
        raise ValueError("what a checker evaluates has to be a plain value: it may be text of the output")
