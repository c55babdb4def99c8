"""Two programs that write values: the candidate's, and the tests' own, which never meet.

Each writes one JSON value a line to the file `RESULTS`. Before a number the tests' program may write a text that begins with
`DISTANCE` and ends in how far from that number a result may be; all other values are compared as the job says. What the tests' program writes is what is expected; it is made in a
cell of its own, once for all candidates, and nothing of it is in any cell in which a candidate is compiled or run: what a
candidate writes there is its answer, by whatever means it wrote it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..comparison import DISTANCE, same_value
from ..formats.report import MAX_REASON, JobReport
from ..protocol import JobMessage
from .cells import TRUSTED_LIMITS, TRUSTED_SECONDS, Cell, JobEnded, Output
from .compiling import Program
from .runner import MAX_FILE

if TYPE_CHECKING:
    from .judging import Judge

RESULTS = "values.txt"
_KEPT, _SHOWN = 256, 100


@dataclass(frozen=True, slots=True)
class WantedValue:
    """A value that is expected; `distance` where a number may be so far from it, whatever the job's comparison says."""

    value: object
    distance: float | None = None

    def is_written(self, line: bytes, compare: str) -> bool:
        """Whether a line that a program wrote is this value."""
        try:
            got = json.loads(line)
            if self.distance is None:
                return same_value(got, self.value, compare)
            return type(got) in (int, float) and abs(got - self.value) <= self.distance
        except (ValueError, RecursionError, OverflowError):  # no JSON, or what no value of a test is
            return False


@lru_cache(maxsize=_KEPT)
def expected(judge: Judge, language: str, text: str) -> tuple[WantedValue, ...]:
    """Return the values that the tests' program writes.

    Raises:
        JobEnded: with no verdict, where it does not compile, does not end well, or writes something else.
    """
    try:
        program = judge.compile(language, text, trusted=True)
        with Cell(judge.slot, TRUSTED_LIMITS, judge.clock(TRUSTED_SECONDS), trusted=True) as cell:
            said, data = run(cell, program, TRUSTED_LIMITS, TRUSTED_SECONDS)
        if said.status != 0 or data is None:
            words = said.said.decode("utf-8", "replace").strip().splitlines()
            raise _broken(f"it ended with exit status {said.status}: {words[-1][:200] if words else ''}")
        written = [json.loads(line) for line in lines(data)]
        values = tuple(_wanted(written))
    except (ValueError, RecursionError) as error:
        raise _broken(f"{type(error).__name__}: {error}"[:200]) from error
    except JobEnded as end:
        if end.killed or end.report.status in ("unavailable", "refused"):
            raise
        raise _broken(end.report.reason) from end
    if not values or not all(map(_finite, written)):
        raise _broken("a value is not finite" if values else "it wrote no value")
    return values


def _wanted(written: list[object]) -> Iterator[WantedValue]:
    distance = None
    for value in written:
        if type(value) is str and value.startswith(DISTANCE):
            distance = float(value.removeprefix(DISTANCE))
            continue
        if distance is not None and type(value) not in (int, float):
            raise ValueError("a distance stands before what is no number")
        yield WantedValue(value, distance)
        distance = None


def _broken(reason: str) -> JobEnded:
    return JobEnded(f"the values that the tests expect could not be made: {reason}"[:MAX_REASON], "refused")


def run(
    cell: Cell, program: Program, limits: dict[str, int], seconds: float, bound: int = MAX_FILE
) -> tuple[Output, bytes | None]:
    """Run a program; return how it ended and what it wrote, None where that is no file."""
    program.put(cell)
    cell.put(RESULTS, b"")
    how = program.command(limits, seconds, "")
    return cell.run(how, b"", limits["output_bytes"]), cell.take(RESULTS, bound)


def decide(
    judge: Judge, job: JobMessage, cell: Cell, program: Program, wanted: tuple[WantedValue, ...], report: JobReport
) -> None:
    """Run a candidate's program once and compare what it writes, value by value."""
    # what is expected always has room, and as much again
    bound = max(job["limits"]["output_bytes"], 2 * sum(len(json.dumps(one.value)) for one in wanted))
    output, data = run(cell, program, job["limits"], job["timeout"], bound)
    problem = judge.problem(job, output)
    if problem is not None and problem.report.status != "failed":
        raise problem
    found = lines(data or b"")
    for place, value in enumerate(wanted):
        if place >= len(found):
            report.fail(problem.report.reason if problem else f"test {place + 1}: it ended before it")
            break
        if value.is_written(found[place], job["compare"]):
            report.tests_passed += 1
        else:
            got = found[place][:_SHOWN].decode("utf-8", "replace")
            report.fail(f"test {place + 1}: expected {json.dumps(value.value)[:_SHOWN]}, got {got}")
    if problem is not None or len(found) > len(wanted):
        # a program that ended badly, or wrote on, has not passed them all
        report.tests_passed = min(report.tests_passed, len(wanted) - 1)
        report.fail(problem.report.reason if problem else "it wrote more values than there are tests")


def lines(data: bytes) -> list[bytes]:
    """Return the lines that are whole."""
    # a program that was ended in the middle of a line has not written that value
    return data.split(b"\n")[:-1]


def _finite(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_finite, value))
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return not isinstance(value, float) or math.isfinite(value)
