"""Whole programs of Python where nothing may start another process (mode `landlock`), so where there are no cells.

Each test has a child of the candidates' fork server for itself, whose standard streams lead to the supervisor.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from .children import all_set_up
from .clock import KILLED, JobClock, ending, ran_out, used_up
from .comparison import same_output
from .formats.program_run import EXIT_MODULE, LIMIT_OF_EXIT
from .formats.report import JobReport, install, not_set_up, refused
from .languages.cells import JobEnded, Streams, standard_input
from .languages.judging import ended_badly
from .protocol import End, JobMessage, Started

_PATIENCE = 0.2  # seconds in which what closed its output may end by itself
_CLOSE = 0.002
_LAST_READS = 3


class ProgramSlot(Protocol):
    """What this needs of a supervisor."""

    def start_program(self, limits: dict[str, int], program: str, descriptors: tuple[int, ...]) -> Started:
        """Start a program. The descriptors, which are closed here: its standard streams, and where it says that it is set up."""

    def end_program(self, started: Started, report: Callable[[], JobReport], *, seconds: float, itself: bool) -> End:
        """End a program and clean up after it; give its `report` where that takes longer than `seconds`.

        `itself`: it ended, or is about to, by itself.
        """

    def excess(self, started: Started, memory: int, clock: JobClock) -> tuple[str, str]:
        """The limit that a program exceeds, and a sentence; two empty texts for none."""


def judge(slot: ProgramSlot, job: JobMessage, clock: JobClock) -> tuple[JobReport, str]:
    """Judge a whole program; say, too, that it was killed by another, if it was."""
    if job["format"] != "stdio" or job["language"] != "python" or _takes_a_cell(job):
        return refused("a program of this kind needs other processes, which the mode landlock cannot bound"), ""
    report, killed = JobReport(tests_total=len(job["tests"])), ""
    for index, case in enumerate(job["tests"]):
        if seconds := case.get("timeout") or job["test_timeout"]:
            clock.allow(seconds)
        output, problem, death = _case(slot, job, case["input"], len(case["output"]), clock, report)
        if not problem and not same_output(output, case["output"], job["compare"]):
            problem = f"case {index + 1}: expected {case['output'][:100]!r}, got {output[:100]!r}"
        if not problem:
            report.tests_passed += 1
            continue
        report.fail(problem)
        killed = killed or death
        if report.status != "failed":
            break
    report.passed = report.tests_total > 0 and report.tests_passed == report.tests_total
    if report.passed:
        report.status = "passed"
    return report, killed


def _takes_a_cell(job: JobMessage) -> bool:
    return bool(job["checker"] or job["input_file"] or job["output_file"])


def _case(
    slot: ProgramSlot, job: JobMessage, text: str, size: int, clock: JobClock, report: JobReport
) -> tuple[bytes, str, str]:
    """Run a program once; return what it wrote, what is wrong, and that it was killed by another, if it was."""
    child_in = standard_input(text.encode("utf-8", "surrogatepass"))
    (out, child_out), (err, child_err), (done, set_up) = (os.pipe() for _ in range(3))
    limits, problem, killed = job["limits"], "", ""
    started = slot.start_program(limits, job["candidate"], (child_in, child_out, child_err, set_up))
    with contextlib.ExitStack() as ends:
        # what is expected always has room, and as much again
        streams = Streams(ends, out, err, max(limits["output_bytes"], size * 2))
        try:
            _watch(slot, streams, started, limits["memory"], clock)
        except JobEnded as known:
            report.status, report.limit, problem = known.report.status, known.report.limit, known.report.reason
    there = all_set_up(done, 1)
    gone = report.status in ("failed", "timeout") and _is_ending(started.pid, wait=not problem)

    def early() -> JobReport:
        found = replace(report) if problem else replace(report, status="timeout")
        found.fail(problem or "the time limit passed")
        return found if there else not_set_up()

    end = slot.end_program(started, early, seconds=0.0 if problem else clock.left(), itself=gone)
    status = os.waitstatus_to_exitcode(end["status"])
    if not there:
        lost = not_set_up()
        report.status, report.limit, problem = lost.status, "", lost.reason
    elif gone and used_up(status, end["cpu"], limits["cpu_seconds"]):
        report.status, problem = "timeout", ran_out(end["cpu"])
    elif gone and status in KILLED:
        killed = f"its process was killed (signal {-status})"
    elif not problem and status == EXIT_MODULE:
        problem = f"the program imports a module that is not there ({install('NAME')})"
    elif not problem and status in LIMIT_OF_EXIT:
        report.status, report.limit, problem = "limit", LIMIT_OF_EXIT[status], f"the {LIMIT_OF_EXIT[status]} limit"
    elif not problem and gone and status:
        problem = ended_badly(status, bytes(streams.said))
    return bytes(streams.data), problem, killed


def _watch(slot: ProgramSlot, streams: Streams, started: Started, memory: int, clock: JobClock) -> None:
    """Read until the program closed its output."""
    chances = _LAST_READS
    while streams.out >= 0:
        left = clock.left()
        chances -= left <= 0
        limit, reason = slot.excess(started, memory, clock)
        if limit:
            raise JobEnded(reason, "limit", limit=limit)
        if (not streams.exchange(left) and left <= 0) or not chances:
            raise JobEnded(clock.reason(), "timeout")
    streams.listen()


def _is_ending(pid: int, *, wait: bool) -> bool:
    """Say whether a process ends by itself; `wait` a moment, for one that closed its output may be about to."""
    until = time.monotonic() + _PATIENCE
    while not (found := ending(pid)) and wait and time.monotonic() < until:
        time.sleep(_CLOSE)
    return found
