"""Fork servers: one forks candidates and never sees a test, one forks the processes that run tests."""

from __future__ import annotations

import builtins
import importlib
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from . import packages, script, wire
from .children import KINDS, Prepared
from .isolation import confine
from .isolation.syscalls import let_libraries_prepare_forks
from .protocol import End, Forked, Load, Reap, Role, Start, SupervisorConfig

if TYPE_CHECKING:
    from .border.candidate import CandidatePeer
    from .border.messages import Ends

_COMMON = "bisect collections copy datetime decimal fractions functools hashlib heapq inspect itertools json logging math operator random re statistics string typing pathlib dataclasses enum abc contextlib warnings asyncio"
_REHEARSALS = 16  # twice what the interpreter waits for before it adapts a function's code


def serve(sock: socket.socket, role: Role, cell: confine.Confinement, config: SupervisorConfig) -> None:
    """Fork one child per request until the supervisor is gone."""
    interpreter = Interpreter()
    script.bound_stacks()
    prepared = _prepared_tests if role == "tests" else _prepared_candidates
    _serve(sock, role, prepared(cell, interpreter, config))


def _serve(sock: socket.socket, role: Role, prepared: Prepared) -> None:
    answer: End | Forked
    for message, descriptors in wire.requests(sock, role):
        if message["do"] == "reap":
            answer = _reap(prepared.cell, message)
        elif message["do"] == "load":
            answer = _load(sock, role, prepared, message, descriptors[0])
        else:
            answer = _fork(prepared, message, descriptors)
        wire.send(sock, answer)


def _prepared_tests(cell: confine.Confinement, interpreter: Interpreter, config: SupervisorConfig) -> Prepared:
    sys.path[:] = [*sys.path, *config["pytest_path"]]
    from .formats import checks, pytest_file, pytest_session, shared_run  # noqa: F401  for the children

    # as a candidate has it: a test that empties its environment, or puts a variable back, does so for both
    confine.clean_environment(cell.work_folder(""))
    os.chdir("/")
    session = pytest_session.PreparedSession() if config["pytest_path"] else None
    packages.reach(config)
    cell.enter()
    return Prepared(cell, interpreter, session=session)


def _prepared_candidates(cell: confine.Confinement, interpreter: Interpreter, config: SupervisorConfig) -> Prepared:
    """Do once what every candidate needs and none can tell from another's: pages that a child writes to are copied."""
    from .border import candidate
    from .formats import program_run  # noqa: F401  for the children

    packages.reach(config)
    cell.enter()
    sys.path[:] = [entry for entry in sys.path if entry != config["program_path"]]
    confine.clean_environment(cell.work_folder(""))
    peer = candidate.CandidatePeer()
    candidate.prepare(peer)
    if config["warm"]:
        rehearse(candidate.CandidatePeer)
    return Prepared(cell, interpreter, peer=peer)


def _reap(cell: confine.Confinement, asked: Reap) -> End:
    pid = asked["pid"]
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    cell.clean(asked["name"], asked["user"])
    return {"status": status, "cpu": usage.ru_utime + usage.ru_stime}


def _fork(prepared: Prepared, asked: Start, descriptors: list[int]) -> Forked:
    if asked["do"] == "tests":
        from .formats import checks

        checks.read(asked["job"])
    pid = prepared.cell.fork(KINDS[asked["do"]](prepared, asked, descriptors).run)
    for descriptor in descriptors:
        os.close(descriptor)
    return {"pid": pid}


def _load(sock: socket.socket, role: Role, prepared: Prepared, asked: Load, descriptor: int) -> Forked:
    def serve() -> None:
        sock.close()
        packages.preload(asked["libraries"])
        let_libraries_prepare_forks()
        _serve(socket.socket(fileno=descriptor), role, prepared)

    pid = prepared.cell.fork_beside(serve)
    os.close(descriptor)
    return {"pid": pid}


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
        cast(list[object], warnings.filters)[:] = self._filters
        warnings._filters_mutated()  # type: ignore[attr-defined]
        self._root.handlers[:] = self._handlers
        self._root.setLevel(self._level)


def rehearse(make: Callable[[Ends], CandidatePeer]) -> None:
    """Serve a few requests as a child will: code that ran a while is quicker, and a fork inherits that."""
    from .border.messages import Channel, pipes

    class Tests(Channel):
        trusted = True

    mine, theirs = pipes()
    peer, tests = make(mine), Tests(theirs)

    def ask(what: str, *arguments: object) -> Any:
        tests.send(tests.packed(what, arguments))
        peer.serve(peer.next_request())
        return tests.receive().body

    for turn in range(_REHEARSALS):
        source = "def f(x, y=1):\n    return [x, 1.5, 'a', (x,), None]\n"
        module = ask("load", source, "rehearsal")["T"][0]["M"][0]
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
    sys.modules["ssl"] = cast(ModuleType, there)
    for name in _COMMON.split():
        importlib.import_module(name)
    if there is None:
        del sys.modules["ssl"]
