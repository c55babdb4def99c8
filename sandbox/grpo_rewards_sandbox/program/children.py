"""What a child of a fork server does from the fork to its exit: one class for each kind of child.

Each takes its place first (folder, user, limits), writes a byte that says so, and only then meets hostile text.
"""

from __future__ import annotations

import contextlib
import os
import socket
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from . import packages, wire
from .border.messages import Ends
from .isolation import confine
from .protocol import Doing, Start

if TYPE_CHECKING:
    from .border.candidate import CandidatePeer
    from .forkserver import Interpreter
    from .formats.pytest_session import PreparedSession

_TRUSTED_MEMORY = 2 << 30


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a fork server did once, for its children to inherit."""

    cell: confine.Confinement
    interpreter: Interpreter  # as it was before that
    session: PreparedSession | None = None
    peer: CandidatePeer | None = None


class Child(ABC):
    """One fork of a fork server. `descriptors`: what its class says, then the one for the byte that all is set up."""

    candidate = True  # it runs as the candidates' user
    whole = False  # it only starts programs, each with limits of its own

    def __init__(self, prepared: Prepared, request: Start, descriptors: list[int]) -> None:
        self.prepared, self.cell, self.request = prepared, prepared.cell, request
        self.user = self.cell.plan.users[1 if self.candidate else 0]
        *self.descriptors, self.set_up = descriptors

    def run(self) -> NoReturn:
        """Take its place, and do what it is for."""
        packages.draw_anew()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        folder = self.cell.settle(self.request["name"], self.user, self.request["shared"], trusted=not self.candidate)
        self.take_place(folder)
        self.say_set_up()
        os._exit(self.main(folder))

    def take_place(self, folder: str) -> None:
        """Give up all that hostile text has no business with."""
        self.set_environment(folder)
        shared = self.request["shared"]
        if shared:
            # what it makes there the tests' user has to read and change too
            os.umask(0)
        self.redirect()
        confine.close_descriptors({*self.descriptors, self.set_up, *self.cell.own_descriptors()})
        self.cell.confine(
            self.request["limits"], folder, self.cell.shared_folder(shared), user=self.user, whole=self.whole
        )

    def say_set_up(self) -> None:
        """Write the byte without which no verdict counts."""
        os.write(self.set_up, b".")
        os.close(self.set_up)

    def set_environment(self, folder: str) -> None:
        """Say where it works; its fork server said so where that is a mount, at the same place for each."""
        if not self.cell.plan.namespaces:
            os.environ["HOME"] = os.environ["PWD"] = folder

    def redirect(self) -> None:
        """Send what it prints nowhere."""
        os.dup2(0, 1)
        os.dup2(0, 2)

    @abstractmethod
    def main(self, folder: str) -> int:
        """Do what it is for; return the exit status."""


class Candidate(Child):
    """Serves the border. Descriptors: its pipes, to read from and to write to."""

    def main(self, folder: str) -> int:
        peer = self.prepared.peer
        assert peer is not None
        peer.serve_on(Ends(*self.descriptors))
        return 0


class ProgramChild(Child):
    """Runs a whole program where there are no cells. Descriptors: its standard streams."""

    def redirect(self) -> None:
        for number, descriptor in enumerate(self.descriptors):
            os.dup2(descriptor, number)
        self.descriptors = []

    def main(self, folder: str) -> int:
        from .formats import program_run

        self.prepared.interpreter.restore()
        return program_run.run(self.request["program"])


class SharedRun(Child):
    """Runs tests and candidate together. Descriptors: the pipe of the verdict."""

    def set_environment(self, folder: str) -> None:
        confine.clean_environment(folder)

    def main(self, folder: str) -> int:
        from .formats import shared_run
        from .formats.report import VerdictPipe

        report = shared_run.run(self.request["job"], self.prepared.session, folder)
        VerdictPipe(self.descriptors[0], self.request["word"]).end(report)
        return 0


class Tests(Child):
    """Runs tests against a candidate. Descriptors: the border's pipes, to read from and to write to, and that of the verdict."""

    candidate = False

    def take_place(self, folder: str) -> None:
        self.redirect()
        confine.close_descriptors({*self.descriptors, self.set_up})
        os.environ["TMPDIR"] = folder
        # above the job's own limit, which the supervisor keeps
        self.cell.settle_trusted(_TRUSTED_MEMORY, int(self.request["job"]["timeout"]) + 2)

    def main(self, folder: str) -> int:
        from .formats import checks, pytest_file
        from .formats.report import VerdictPipe
        from .standstill import Turns

        job, shared = self.request["job"], self.cell.shared_folder(self.request["shared"])
        reader, writer, descriptor = self.descriptors
        border, verdict = Ends(reader, writer), VerdictPipe(descriptor, self.request["word"])
        turns = Turns(shared, verdict) if shared else None
        if job["format"] == "pytest":
            session = self.prepared.session
            assert session is not None
            report = pytest_file.run(job, border, session, folder, turns, verdict.progress)
        else:
            report = checks.run(job, border, verdict.progress, quiet=False, turns=turns)
        verdict.end(report)
        return 0


class CellChild(Child):
    """The first process of a cell: it starts programs until the supervisor is gone. Descriptors: none but its socket."""

    whole = True

    def say_set_up(self) -> None:
        """Its first message says so."""

    def main(self, folder: str) -> int:
        from .languages import runner

        self.prepared.interpreter.restore()
        with contextlib.suppress(wire.Disconnected):
            runner.serve(socket.socket(fileno=self.set_up), folder)
        return 0


class CheckersCell(CellChild):
    """The same, for what judges the output of a program: as the tests' user."""

    candidate = False


KINDS: dict[Doing, type[Child]] = {
    "candidate": Candidate,
    "program": ProgramChild,
    "shared": SharedRun,
    "tests": Tests,
    "cell": CellChild,
    "checker": CheckersCell,
}


def all_set_up(ready: int, children: int) -> bool:
    """Say whether each child wrote its byte: it does so before any hostile text runs, and cannot afterwards."""
    os.set_blocking(ready, False)
    try:
        return len(os.read(ready, children + 1)) == children
    except BlockingIOError:
        return False
    finally:
        os.close(ready)
