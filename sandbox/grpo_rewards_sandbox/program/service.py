"""What a supervisor's other end speaks to: jobs from standard input, verdicts to standard output."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from dataclasses import asdict

from . import wire
from .formats.report import JobReport
from .isolation import plan
from .protocol import JobMessage, SupervisorConfig
from .supervisor import Supervisor

_ALIVE = 1.0  # seconds between two signs of life
_IDLE = 120.0  # seconds without a job until what libraries hold is given back: a training step is mostly shorter
_AGAIN = 0.5  # seconds until an exit that was asked for is tried again


def main() -> None:
    """Serve jobs until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.dup(1)
    os.dup2(2, 1)
    config: SupervisorConfig = wire.read_frame(0)
    go_first()
    try:
        supervisor = Supervisor(config)
    except (plan.NotIsolated, OSError, wire.Disconnected) as error:
        wire.write_frame(out, {"error": str(error)})
        sys.exit(3)
    # `close()` in the middle of a job: leave through `finally`, so that the job's processes and files go too
    signal.signal(signal.SIGALRM, _leave)
    signal.signal(signal.SIGTERM, _leave)
    wire.write_frame(out, {"plan": supervisor.plan.as_json()})
    try:
        while (job := next_job(supervisor)) is not None:
            reply = JobReply(out)
            reply.finish(supervisor.run(job, reply))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        supervisor.close()


def next_job(supervisor: Supervisor) -> JobMessage | None:
    """Wait for a job; None at the end of standard input."""
    if not select.select([0], [], [], _IDLE)[0]:
        supervisor.parents.unload()
    job: JobMessage | None = wire.read_frame(0)
    return job


def go_first() -> None:
    """Where the kernel shares processors by session, let this one not wait for each that a candidate can open."""
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as handle:
        handle.write("-20")


class JobReply:
    """What the other end reads of one job: signs of life, the verdict, and the word that all is clean with it or after it."""

    def __init__(self, out: int) -> None:
        self._out, self.given = out, False
        self._last = time.monotonic()

    def alive(self) -> None:
        """Say that the job goes on, now and then, until the verdict was given."""
        now = time.monotonic()
        if not self.given and now >= self._last + _ALIVE:
            self._last = now
            wire.write_frame(self._out, {"alive": True})

    def give(self, report: JobReport, *, clean: bool = False) -> None:
        """Say the verdict now."""
        self.given = True
        wire.write_frame(self._out, {**asdict(report), "clean": clean})

    def finish(self, report: JobReport) -> None:
        """Say that nothing of the job is left, with the verdict where it has not been said."""
        if self.given:
            wire.write_frame(self._out, {"clean": True})
        else:
            self.give(report, clean=True)


def _leave(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would cut the cleaning short
    # raised within a finalizer or a hook of fork, the exit is swallowed: it comes again until `main` has it
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    sys.exit(0)
