"""A candidate that is a whole program: reads standard input, writes standard output."""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import site
import sys
import threading
import types
from collections.abc import Sequence

from .. import script
from ..isolation.limits import LIMIT_OF_ERRNO

# statuses by which this process names a limit; a program that ends with one itself has failed all the same
EXIT_ERROR, EXIT_MEMORY, EXIT_MODULE = 1, 112, 117
LIMIT_OF_EXIT = {EXIT_MEMORY: "memory", 113: "processes", 114: "open files", 115: "file size", 116: "disk"}
_EXIT_OF_LIMIT = {limit: status for status, limit in LIMIT_OF_EXIT.items()}


_STREAMS = (("stdin", "r", "surrogateescape"), ("stdout", "w", "surrogateescape"), ("stderr", "w", "backslashreplace"))


def run(source: str, words: Sequence[str] = ("main.py",)) -> int:
    """Run the program as `__main__` in this confined process, and what it registered for its exit; return its status."""
    registered = atexit._ncallbacks()
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=script.path_of("main"))
    sys.modules["__main__"] = main
    sys.argv = list(words)
    # locally the interpreter is started with -S, so nobody has put exit, quit and help there
    site.setquit()
    site.sethelper()
    if "connect_read_pipe" in source:
        _pipe_input()
    # as a script's streams are, but bytes that are no UTF-8 pass through both ways
    for descriptor, (name, mode, errors) in enumerate(_STREAMS):
        stream = open(descriptor, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115  the program's
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    status = _run(source, main.__dict__)
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does: it ends the threads of pools before it waits for threads
    except BaseException:  # noqa: BLE001
        _print_exception()
    if atexit._ncallbacks() != registered:  # as the interpreter does: there a pool's processes are ended
        atexit._run_exitfuncs()
    flushed = _flush("stdout", "stderr")
    status = status or flushed
    # as the interpreter does: what is left of the program ends, and files that it did not close are written; name by name, since
    # the collector may close what is below a text file before it
    for name in sorted(main.__dict__, key=lambda name: not str(name).startswith("_")):
        if name != "__builtins__":
            main.__dict__[name] = None
    gc.collect()
    _flush("__stdout__", "__stderr__")  # which the program may have detached
    return status & 255


def _pipe_input() -> None:
    """Give the program its standard input by a pipe: asyncio reads none from a file."""
    given = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)

    def copy() -> None:
        while data := os.read(given, 65536):
            os.write(writing, data)
        os.close(writing)

    threading.Thread(target=copy, daemon=True).start()


def _flush(*names: str) -> int:
    """Write what the program wrote to streams; one that it closed or took away is no error of its. Return 0 where all is well."""
    status = 0
    for name in names:
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except Exception:  # noqa: BLE001  a stream of the program's own
            status = EXIT_ERROR
    return status


def _run(source: str, namespace: dict[str, object]) -> int:
    try:
        script.run(source, script.path_of("main"), namespace)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else EXIT_ERROR
    except MemoryError:
        return EXIT_MEMORY
    except OSError as error:
        _print_exception()
        return _EXIT_OF_LIMIT.get(LIMIT_OF_ERRNO.get(error.errno or 0, ""), EXIT_ERROR)
    except ModuleNotFoundError:
        _print_exception()
        return EXIT_MODULE
    except BaseException:  # noqa: BLE001  a program that raises ends with status 1
        _print_exception()
        return EXIT_ERROR
    return 0


def _print_exception() -> None:
    import traceback

    try:
        os.write(2, traceback.format_exc()[-4000:].encode("utf-8", "backslashreplace"))
    except OSError:
        return
