"""Warm parents: one forks candidates and never sees a test, one forks the processes that run tests."""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import os
import re
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from typing import Any, cast

from . import packages, wire
from .isolation import confine, limits
from .isolation.syscalls import PR_SET_DUMPABLE, drop_capabilities, prctl

_COMMON = "bisect collections copy datetime decimal fractions functools hashlib heapq inspect itertools json logging math operator random re statistics string typing pathlib dataclasses enum abc contextlib warnings asyncio"
_TRUSTED_MEMORY = 2 << 30
# words without which no program that means well starts another process: a fork more is a third of what a short one costs
_MAY_START = re.compile("fork|process|spawn|popen|system|futures|pty|ctypes|cffi|exec|eval|__import__|import_module")
_SIGNALLED = 128  # an exit status above it is that of a signal, as in a shell
_REHEARSALS = 16  # twice what the interpreter waits for before it adapts a function's code


def serve(sock: socket.socket, role: str, cell: confine.Confinement, config: dict[str, Any]) -> None:
    """Fork one child per request until the supervisor is gone."""
    from .border import candidate
    from .border.messages import Closed
    from .formats import program_run

    session = None
    peer: candidate.CandidatePeer | None = None
    before = Interpreter()
    if role == "tests":
        sys.path[:] = [*sys.path, *config["pytest_path"]]
        from .formats import checks, pytest_file, pytest_session, shared_run

        os.chdir("/")
        session = pytest_session.Session() if config["pytest_path"] else None
    packages.reach(config)
    cell.enter()
    if role == "candidate":
        sys.path[:] = [entry for entry in sys.path if entry != config["program_path"]]
        # what every candidate needs and none can tell from another's, done once: pages that a child writes to are copied
        confine.clean_environment("/")
        peer = candidate.CandidatePeer(cast(Any, None))
        candidate.prepare(peer)
        if config["warm"]:
            rehearse(candidate.CandidatePeer)
    gc.collect()
    gc.freeze()
    wire.send(sock, {"ready": role})
    while True:
        try:
            message, descriptors = wire.receive(sock)
        except wire.Disconnected:
            os._exit(0)
        if message["do"] == "reap":
            pid = message["pid"]
            os.kill(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
            cell.clean(message["name"], message["user"])
            wire.send(sock, {"status": status, "cpu": usage.ru_utime + usage.ru_stime})
            continue

        def body(message: dict[str, Any] = message, descriptors: list[int] = descriptors) -> None:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            if message["do"] in ("cell", "checker"):
                before.restore()
                _cell(cell, message, descriptors[0])
            job, shared = message["job"], message["shared"]
            *descriptors, set_up = descriptors
            if message["do"] in ("candidate", "stdio", "shared"):
                folder = cell.settle(message["name"], cell.plan.users[1], shared)
                if message["do"] == "shared":
                    confine.clean_environment(folder)
                else:
                    os.environ["HOME"] = os.environ["PWD"] = folder
                if shared:
                    os.umask(0)
                if message["do"] == "stdio":
                    for number, descriptor in enumerate(descriptors):
                        os.dup2(descriptor, number)
                    descriptors = []
                else:
                    os.dup2(0, 1)
                    os.dup2(0, 2)
                confine.close_descriptors(_kept(cell, [*descriptors, set_up]))
                if message["do"] == "stdio" and cell.plan.namespaces and _MAY_START.search(job["candidate"]):
                    fork_program()
                cell.confine(limits.JobLimits.from_wire(job["limits"]), folder, cell.shared_folder(shared))
                os.write(set_up, b".")
                os.close(set_up)
                if message["do"] == "candidate":
                    assert peer is not None
                    peer.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptors[0])
                    with contextlib.suppress(Closed):
                        peer.serve_all()
                    os._exit(0)
                if message["do"] == "stdio":
                    before.restore()
                    os._exit(program_run.run(job["candidate"]))
                os.write(descriptors[0], shared_run.run(job, session, folder).line())
                os._exit(0)
            folder = cell.settle(message["name"], cell.plan.users[0], shared)
            os.dup2(0, 1)
            os.dup2(0, 2)
            confine.close_descriptors({*descriptors, set_up})
            os.environ["TMPDIR"] = folder
            cell.settle_trusted(_TRUSTED_MEMORY, int(job["timeout"]) + 2)
            os.write(set_up, b".")
            os.close(set_up)
            from .formats.report import progress_to

            border, progress = socket.socket(fileno=descriptors[0]), progress_to(descriptors[1])
            if job["format"] == "pytest":
                assert session is not None
                report = pytest_file.run(job, border, session, folder, cell.shared_folder(shared), progress)
            else:
                report = checks.run(job, border, progress, quiet=False)
            os.write(descriptors[1], report.line())
            os._exit(0)

        if message["do"] == "tests" and message["job"]["format"] == "pytest":
            pytest_file.read(message["job"])
        pid = cell.fork(body)
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(sock, {"pid": pid})


def _cell(cell: confine.Confinement, message: dict[str, Any], descriptor: int) -> None:
    """Become the first process of a cell: confined, it starts programs until the supervisor is gone."""
    from .languages import runner

    user = cell.plan.users[0 if message["do"] == "checker" else 1]
    folder = cell.settle(message["name"], user, None)
    os.environ["HOME"] = os.environ["PWD"] = folder
    os.dup2(0, 1)
    os.dup2(0, 2)
    confine.close_descriptors(_kept(cell, [descriptor]))
    cell.confine(limits.JobLimits.from_wire(message["job"]["limits"]), folder, None, user=user, whole=True)
    with contextlib.suppress(wire.Disconnected):
        runner.serve(socket.socket(fileno=descriptor), folder)
    os._exit(0)


def fork_program() -> None:
    """Go on in a child, and stay here as the first process of a pid namespace, with whose end all others end.

    A program whose children outlive it writes until the last of them has ended, as anywhere. Returns in the child only.
    The exit status is the child's, or 128 and the signal that ended it.
    """
    program = os.fork()
    if program == 0:
        return
    try:
        prctl(PR_SET_DUMPABLE, 0)
        drop_capabilities()
        os.closerange(2, confine.MAX_DESCRIPTOR)
        os.close(0)
        while (ended := os.wait())[0] != program:
            pass
        status = os.waitstatus_to_exitcode(ended[1])
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                os.close(1)
            while True:
                os.wait()
    finally:
        os._exit(_SIGNALLED - status if status < 0 else status)


def as_signal(status: int) -> int:
    """Read an exit status that may be one of `fork_program`: of a signal, its number below 0."""
    return _SIGNALLED - status if status > _SIGNALLED else status


class Interpreter:
    """What `candidate.prepare` changes besides the streams, as it was before."""

    def __init__(self) -> None:
        import logging  # here, not above: a supervisor for one job is not to wait for it

        self._root = logging.getLogger()
        self._input, self._show, self._filters = builtins.input, warnings.showwarning, warnings.filters[:]
        self._handlers, self._level = self._root.handlers[:], self._root.level

    def restore(self) -> None:
        """Put it back, for a program that speaks to nobody but its standard streams."""
        builtins.input, warnings.showwarning = self._input, self._show
        cast(list[Any], warnings.filters)[:] = self._filters
        warnings._filters_mutated()  # type: ignore[attr-defined]
        self._root.handlers[:] = self._handlers
        self._root.setLevel(self._level)


def rehearse(make: Callable[[socket.socket], Any]) -> None:
    """Serve a few requests as a child will: code that ran a while is quicker, and a fork inherits that."""
    from .border.messages import Channel

    class Tests(Channel):
        trusted = True

    mine, theirs = socket.socketpair()
    peer, tests = make(mine), Tests(theirs)

    def ask(what: str, *arguments: Any) -> Any:
        tests.send(what, arguments)
        peer.serve(peer.next_request())
        return tests.receive().body

    for turn in range(_REHEARSALS):
        source = "def f(x, y=1):\n    return [x, 1.5, 'a', (x,), None]\n"
        module = ask("load_named", source, "rehearsal", "")["T"][0]["M"][0]
        function = ask("getattr", {"P": module}, "f")["Fn"][0]
        ask("call", function, (turn, {"L": [1000 + 2 * turn, [], None, None]}))
        ask("method", module, "f", (turn,))
        ask("ping", 1)
    del sys.modules["rehearsal"]
    mine.close()
    theirs.close()


def import_common() -> None:
    """Import what candidates and tests often do, once. asyncio without ssl: no socket here leads to a network."""
    there = sys.modules.get("ssl")
    sys.modules["ssl"] = cast(Any, there)
    for name in _COMMON.split():
        importlib.import_module(name)
    if there is None:
        del sys.modules["ssl"]


def _kept(cell: confine.Confinement, descriptors: list[int]) -> set[int]:
    return {*descriptors, *([cell._second_layer] if cell._second_layer >= 0 else [])}
