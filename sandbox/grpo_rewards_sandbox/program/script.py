"""A program's text, run as an interpreter runs a file: what it may ask of its own file is there."""

from __future__ import annotations

import linecache
import os
import re
import resource
import sys
import threading

from .isolation import limits

# a file is made only for those that may open it: where there is no mount of its own, each that a job leaves costs a fork
_NAMES = ("__file__", "argv", "multiprocessing", "concurrent", "joblib")
_MAY_OPEN_ITSELF = re.compile(r"__file__|\bargv\b|\bmultiprocessing\b|\bconcurrent\b|\bjoblib\b")


def path_of(name: str) -> str:
    """Where the module of this name lies: in the folder that the process works in."""
    return f"{os.environ.get('HOME', '/job')}/{name}.py"


def run(source: str, path: str, namespace: dict[str, object]) -> None:
    """Run the text of the file `path` in this namespace."""
    linecache.cache[path] = (lambda: source,)  # for inspect and tracebacks, read when they ask
    # as bytes: a lone surrogate is a SyntaxError of the program's then, not an error of compile's argument
    text = source if source.isascii() else source.encode("utf-8", "surrogatepass")
    # the names first, which most programs have none of: the expression takes many times as long
    if any(name in source for name in _NAMES) and _MAY_OPEN_ITSELF.search(source):
        with open(path, "wb") as handle:
            handle.write(source.encode("utf-8", "surrogatepass"))
        # where an interpreter that is started with this file looks first; a worker process of the program's reads it there
        sys.path.insert(0, os.path.dirname(path))
    exec(compile(text, path, "exec", dont_inherit=True), namespace)  # noqa: S102


def bound_stacks() -> None:
    """Let a thread's stack be a quarter of the memory at most, as a program's first one is.

    Programs ask for as much as their site has; all of it counts as memory, though little is touched.
    """
    asked = threading.stack_size

    def stack_size(size: int = 0, /) -> int:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        return asked(size if limit == resource.RLIM_INFINITY else min(size, limits.stack_of(limit)))

    threading.stack_size = sys.modules["_thread"].stack_size = stack_size  # type: ignore[attr-defined]
