"""What a judging process says of a job: progress as it goes, then one result."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

MAX_REASON = 2000
_SIGNED, _MAX_ANSWER = 32, 128  # characters of a signature; of a line of the supervisor's, with it
_MISSING = re.compile(r"No module named '([A-Za-z_][\w.]{0,99})'")
_NOT_SHOWN = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_VERDICTS, _MAX_TESTS, _MAX_LIMIT = ("passed", "failed", "error", "timeout", "limit", "refused"), 1 << 31, 100


@dataclass(slots=True)
class JobReport:
    """The result of one job. `limit` names a limit that the candidate ran into, where that is known."""

    passed: bool = False
    tests_passed: int = 0
    tests_total: int = 0
    reason: str = ""
    status: str = "failed"
    limit: str = ""

    def fail(self, reason: str) -> None:
        """Note the first reason why the job does not pass."""
        if not self.reason:
            missing = _MISSING.search(reason)
            # what the standard library lacks no package brings
            if missing and missing[1].partition(".")[0] not in sys.stdlib_module_names:
                reason = f"{reason[: MAX_REASON // 2]} ({install(missing[1].partition('.')[0])})"
            self.reason = reason[:MAX_REASON]

    def explain(self, differences: Iterable[str]) -> None:
        """Say what the failure may come of: what was met that plain Python has otherwise."""
        if said := "; ".join(differences):
            self.reason = (
                f"{self.reason[: MAX_REASON // 2]} (not so in plain Python, nor with fidelity: shared: {said})"
            )

    def refuse(self, reason: str) -> None:
        """Note that the tests took an object of the candidate for data: that goes before any other reason."""
        self.passed, self.reason = False, reason[:MAX_REASON]

    def line(self) -> bytes:
        """One line of JSON."""
        return json.dumps(asdict(self)).encode()


def read_report(line: bytes) -> JobReport:
    """Read a result as hostile text: with `fidelity: shared` a candidate can write one, and may not blank its row."""
    strange = JobReport(reason="the tests ended with something that is no verdict")
    try:
        found = json.loads(line)
        report = JobReport(**found) if type(found) is dict else strange
    except (ValueError, TypeError, RecursionError):
        return strange
    # exact types: JSON's true would count as 1 test that passed
    kinds = all(type(getattr(report, name)) is type(getattr(strange, name)) for name in JobReport.__slots__)
    counts = (report.tests_passed, report.tests_total)
    if not kinds or report.status not in _VERDICTS or min(counts) < 0 or max(counts) > _MAX_TESTS:
        return strange
    report.reason, report.limit = _shown(report.reason[:MAX_REASON]), report.limit[:_MAX_LIMIT]
    return report


def _shown(text: str) -> str:
    """Text of the candidate as any terminal and any encoding take it: control characters and half surrogate pairs are escaped."""
    return text if text.isprintable() else _NOT_SHOWN.sub(lambda found: ascii(found[0])[1:-1], text)


def refused(reason: str) -> JobReport:
    """What is said of tests that cannot be judged, whatever the candidate is."""
    return JobReport(status="refused", reason=reason[:MAX_REASON])


def not_set_up() -> JobReport:
    """What is said of a job whose processes could not be confined: nothing about its candidate."""
    return JobReport(status="unavailable", reason="a child of the sandbox's supervisor ended in its own set-up")


def install(package: str) -> str:
    """What to do for a sandbox that shall have a package."""
    return (
        f"it is not installed where the sandbox runs; for docker: grpo-rewards sandbox build --package {package}; local: "
        f"pip install {package} (and packages: environment)"
    )


Progress = Callable[[int, int], None]


class VerdictPipe:
    """Where the supervisor hears of a job. Each line is signed with a word that was given to its writer alone.

    For the candidate may name this descriptor to functions of the tests: to one that writes to what it is given, or to one
    that puts a file in its place, in which the candidate reads what was written.
    """

    def __init__(self, descriptor: int, word: str) -> None:
        self.descriptor, self._word = descriptor, word.encode()

    def progress(self, passed: int, total: int) -> None:
        """Say how many tests passed of how many."""
        self.say(b"%d %d" % (passed, total))

    def end(self, report: JobReport) -> None:
        """Say the result."""
        self.say(report.line())

    def say(self, line: bytes) -> None:
        """Write a line of its own, whatever somebody else wrote before."""
        os.write(self.descriptor, b"\n" + signature(self._word, line) + line + b"\n")

    def hear(self) -> bytes:
        """Wait for a line of the supervisor's; an empty one is of somebody else."""
        line = b""
        while not line.endswith(b"\n"):  # one comes at a time, to who asked
            if not (more := os.read(self.descriptor, _MAX_ANSWER)):
                return b""
            line += more
        return signed(self._word, line[:-1])


def signature(word: bytes, line: bytes) -> bytes:
    """What stands before a line that is signed with this word."""
    return hashlib.blake2b(line, key=word, digest_size=_SIGNED // 2).hexdigest().encode()


def signed(word: bytes, written: bytes) -> bytes:
    """What a line says that was signed with this word; nothing, of any other."""
    line = written[_SIGNED:]
    return line if written[:_SIGNED] == signature(word, line) else b""


def describe(error: BaseException) -> str:
    """Name an exception and its message on one line."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an exception of a proxied class whose __str__ fails
        text = ""
    return f"{type(error).__name__}: {text}"[:MAX_REASON] if text else type(error).__name__
