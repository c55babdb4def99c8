"""The processes that outlast a job: fork servers, with and without libraries, and the one that judges checks."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any

from . import checker, forkserver, packages, wire
from .clock import LOOK, ending
from .isolation import confine
from .isolation.plan import Plan
from .isolation.syscalls import PR_SET_PDEATHSIG, prctl
from .placement import Placement
from .protocol import CheckMessage, Forked, Load, Parent, Reap, Role, Start, SupervisorConfig

CANDIDATE, TESTS, CHECKS = Parent("candidate"), Parent("tests"), Parent("checks")


class Parents:
    """All of one supervisor's, as sockets; `store` and `exchange`: the folders that what they fork works in."""

    def __init__(self, plan: Plan, store: str, exchange: str, placement: Placement, config: SupervisorConfig) -> None:
        self._plan, self._store, self._exchange, self._config = plan, store, exchange, config
        self._placement = placement
        self._socks: dict[Parent, socket.socket] = {}
        self.pids: dict[Parent, int] = {}
        self._libraries = packages.preloaded(config) if config["warm"] else frozenset()
        if config["warm"]:
            # once for all that is forked here: a process that judges checks is made anew after each job that hangs, and
            # beside a hostile job on another worker its imports took seconds
            forkserver.import_common()
        # before the first job is read: what forks candidates must never have seen a test
        for parent in (CANDIDATE, TESTS) if config["warm"] else (CANDIDATE,):
            self._spawn(parent)
        for parent in self._socks:
            self.receive(parent)

    def start(self, parent: Parent) -> bool:
        """Have it there and ready, since a job's time begins when it can run; say whether it had to be made."""
        if parent in self._socks:
            return False
        self._spawn(parent)
        self.receive(parent)
        return True

    def _spawn(self, parent: Parent) -> None:
        config, role = self._config, parent.role
        installed = (*config["python_path"], *config.get("site_packages", ()))
        extra = (*installed, *(config["pytest_path"] if role == "tests" else ()))
        cell = confine.Confinement(self._plan, self._store, extra, tuple(config["sweep"]), self._exchange)
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                for number in (signal.SIGTERM, signal.SIGALRM):
                    signal.signal(number, signal.SIG_DFL)
                confine.close_descriptors({theirs.fileno()})
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 0)
                os.dup2(null, 1)
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                (checker if role == "checks" else forkserver).serve(theirs, role, cell, config)
            except BaseException as error:  # noqa: BLE001  a parent never returns into the supervisor
                confine.complain(error)
            os._exit(1)
        theirs.close()
        self._socks[parent], self.pids[parent] = mine, pid

    def load(self, libraries: frozenset[str], roles: list[Role], alive: Callable[[], None]) -> frozenset[str]:
        """Have fork servers that imported these libraries, where they are here; return those that they did import.

        Those without fork them: this process has seen tests. For each role the last one stays, since it holds much. `alive` is
        called now and then.
        """
        libraries &= self._libraries
        missing = [Parent(role, libraries) for role in roles if libraries and (role, libraries) not in self._socks]
        for parent in missing:
            for other in [other for other in self._socks if other.libraries and other.role == parent.role]:
                self.end(other)
            mine, theirs = socket.socketpair()
            pid = self.fork(Parent(parent.role), {"do": "load", "libraries": sorted(libraries)}, (theirs.detach(),))
            self._socks[parent], self.pids[parent] = mine, pid
            self._placement.free(pid)
        try:
            for parent in missing:
                while not self.answers(parent, LOOK):
                    alive()
                self.receive(parent)
        except wire.Disconnected:
            for parent in missing:
                self.end(parent)
            self._libraries -= libraries  # now and later each job imports them, and meets what breaks
            return frozenset()
        if missing:
            self.gather()
        return libraries

    def unload(self) -> None:
        """End the fork servers that imported libraries."""
        for parent in [parent for parent in self._socks if parent.libraries]:
            self.end(parent)

    def gather(self) -> None:
        """Have all that fork for a job begin on one processor."""
        self._placement.gather(pid for parent, pid in self.pids.items() if parent != CHECKS)

    def fork(self, parent: Parent, asked: Start | Load, descriptors: tuple[int, ...]) -> int:
        """Have a fork server fork; the descriptors go with it, and are closed here."""
        self.send(parent, asked, descriptors)
        forked: Forked = self.receive(parent)
        return forked["pid"]

    def send(
        self, parent: Parent, asked: Start | Load | Reap | CheckMessage, descriptors: tuple[int, ...] = ()
    ) -> None:
        """Ask it for something; the descriptors are closed here."""
        wire.send(self._socks[parent], asked, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def answers(self, parent: Parent, seconds: float) -> bool:
        """Say whether an answer is there, within so many seconds."""
        return bool(select.select([self._socks[parent]], [], [], seconds)[0])

    def receive(self, parent: Parent) -> Any:
        """Return its answer; raise `wire.Disconnected` where it has ended."""
        return wire.receive(self._socks[parent])[0]

    def end(self, parent: Parent) -> int:
        """End it, where it is there; return its exit status where it had ended by itself, else 0."""
        if parent not in self.pids:
            return 0
        pid = self.pids[parent]
        gone = ending(pid)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        self._forget(parent)
        return os.waitstatus_to_exitcode(status) if gone else 0

    def _forget(self, parent: Parent) -> None:
        del self.pids[parent]
        self._socks.pop(parent).close()

    def bury(self) -> None:
        """Reap what candidates left to this process, a subreaper; a fork server that ended is noticed when asked."""
        try:
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                for parent in [parent for parent, one in self.pids.items() if one == pid]:
                    if parent not in (CANDIDATE, TESTS):
                        self._forget(parent)
        except ChildProcessError:
            return

    def close(self) -> None:
        """Let go of them all: each ends then."""
        for sock in self._socks.values():
            sock.close()
