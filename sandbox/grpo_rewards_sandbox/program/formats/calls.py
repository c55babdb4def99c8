"""Calls of a function or method with values, on the trusted side: results come back as data and are compared here."""

from __future__ import annotations

import io
import json
import sys
from array import array
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from ..border.calling import LENGTH, each
from ..border.messages import AskedCalls, Ends
from ..border.trusted import TrustedPeer
from ..comparison import same_value
from ..protocol import JobMessage
from .checks import judged
from .classes import plain_classes
from .report import JobReport, Progress

_SHOWN = 100  # characters of a value in a reason


class Unlike:
    """Stands for a result that is no plain data: it equals nothing."""

    def __init__(self, kind: str) -> None:
        self.kind = kind[:_SHOWN]

    def __repr__(self) -> str:
        return f"an object of class {self.kind}"


def run(job: JobMessage, ends: Ends, progress: Progress) -> JobReport:
    """Judge one job of format calls."""
    batches = job["tests"]
    report = JobReport(tests_total=sum(len(array(LENGTH, lengths)) for _, lengths, _ in batches))
    peer = TrustedPeer(ends, under_test=frozenset(), module_name=job["module"], quiet=True)
    sys.stdin = io.StringIO()  # a program that is called has nothing to read
    if not batches:
        report.fail("there are no tests")
    with judged(report, peer):
        _load(job, peer)
        for batch in batches:
            for _ in _judge(job, peer, report, *batch):
                progress(report.tests_passed, report.tests_total)
        report.passed = 0 < report.tests_passed == report.tests_total
    return report


def _load(job: JobMessage, peer: TrustedPeer) -> None:
    owner, _, entry = job["entry_point"].rpartition(".")  # Solution().twoSum
    asked: AskedCalls = {
        "entry": entry,
        # LeetCode's name for the class with the method, where the row names none
        "owners": [owner.removesuffix("()"), *job["classes"], "Solution"],
        "parameters": list(job["parameters"]),
        "returns": job["returns"],
    }
    shown, _, _ = plain_classes(job["setup"])  # as in every format: setups often hold the reference
    peer.request("load_calls", job["candidate"], job["module"], shown, json.dumps(asked))


def _judge(
    job: JobMessage, peer: TrustedPeer, report: JobReport, calls: bytes, lengths: bytes, written: bytes
) -> Iterator[None]:
    """Have a batch of calls made, and compare what comes back; yield after each crossing.

    What is the same text is the same values, of which nothing has to be read: but not where there are objects, since what comes
    back has its tags as objects.
    """
    peer.request("take_calls", calls, lengths)
    count = len(array(LENGTH, lengths))
    expected = written.decode("utf-8", "surrogatepass")
    place, wanted = 0, None
    while place < count:
        text = peer.request("make_calls", None)
        if not place and type(text) is str and text == expected and "{" not in expected:
            report.tests_passed += count
            yield
            return
        wanted = json.loads(expected) if wanted is None else wanted
        results: Any = json.loads(text) if type(text) is str else None
        peer.demand(type(results) is list and 0 < len(results) <= count - place, "not as many results as calls")
        for result in results:
            problem = _problem(result, wanted[place], job["compare"])
            if problem is None:
                report.tests_passed += 1
            elif not report.reason:
                report.fail(f"{_written(job['entry_point'], calls, lengths, place)}: {problem}")
            place += 1
        yield


def _problem(result: object, wanted: object, compare: str) -> str | None:
    """Say what is wrong with a result; None for nothing. The words may be the candidate's, and empty."""
    if type(result) is dict and "e" in result:
        return str(result["e"])
    got = decoded(result)
    return None if same_value(got, wanted, compare) else f"expected {_short(wanted)}, got {_short(got)}"


def _written(entry: str, calls: bytes, lengths: bytes, place: int) -> str:
    """A call as one would write it, cut."""
    arguments, keywords = next(islice(each(calls, lengths), place, None))
    given = [*map(_short, arguments), *(f"{name}={_short(value)}" for name, value in keywords.items())]
    return f"{entry}({', '.join(given)[: 2 * _SHOWN]})"


def _short(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of too many digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def decoded(coded: object) -> object:
    """Return the value that a result stands for; anything that is no value equals nothing.

    Raises:
        TypeError, ValueError: nothing that the candidate's side of this format sends; the test fails with it.
    """
    if type(coded) is list:
        return [decoded(part) for part in coded]
    if type(coded) is not dict:
        return coded
    ((tag, body),) = coded.items()
    if tag == "i":
        # hexadecimal, which Python reads in linear time and without its limit on digits
        return int(body, 16)
    if tag == "d":
        return {_hashable(decoded(key)): decoded(value) for key, value in body}
    if tag == "s":
        return {_hashable(decoded(part)) for part in body}
    if tag == "q":
        return Fraction(*map(int, body))
    return Unlike(str(body))


def _hashable(value: object) -> object:
    return tuple(map(_hashable, value)) if type(value) is list else value
