"""Checkers: programs that decide whether an output is right. Trusted to mean well, and confined like a candidate.

A checker reads hostile text. It runs in a cell of its own, after the candidate's is gone, as the tests' user.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..formats.report import MAX_REASON, JobReport
from ..protocol import CaseMessage, CheckerMessage, JobMessage
from . import table
from .cells import TRUSTED_LIMITS, TRUSTED_SECONDS, Cell, JobEnded, Output
from .compiling import Program

if TYPE_CHECKING:
    from .judging import Judge

_INPUT, _OUTPUT, _ANSWER = "input.txt", "output.txt", "answer.txt"
_ORDER = {
    "testlib": (_INPUT, _OUTPUT, _ANSWER),
    "codeforces": (_INPUT, _ANSWER, _OUTPUT),
    "function": (_INPUT, _OUTPUT, _ANSWER),
}
# testlib's own: accepted, wrong answer, presentation error, dirt behind the answer, unexpected end. That the jury is at fault (3) or
# the output worth points (7) is no clear word: many say the first of an output that only claims to be better
_TESTLIB = {0: True, 1: False, 2: False, 4: False, 8: False}
_EXCEEDED = ("timeout", "limit")
_KEPT = 4096
_TRIED = 3  # answers, on each of which a checker may hang for its whole time
_FUNCTION = """

import sys as _sys
_word = _sys.argv.pop()  # without which no verdict counts: the function may end early, or print the output
_texts = [open(_name, encoding="utf-8", errors="replace", newline="").read() for _name in _sys.argv[1:]]
_right = output_judging_function(*_texts)
if _right is not True and _right is not False:
    raise TypeError(f"the judging function returned a {type(_right).__name__}")
_sys.stdout = _sys.__stdout__
print()
print(_word + str(int(_right)))
"""


def lacking(checker: CheckerMessage | None) -> str:
    """Say what a checker needs and this machine has not; empty where nothing is missing."""
    return table.missing(checker["language"]) if checker is not None else ""


class Understood:
    """Whether checkers say anything clear of the rows' own answers, by the text of both; the newest are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bool] = OrderedDict()

    def any(self, judge: Judge, job: JobMessage, program: Program, source: str, places: list[int]) -> bool:
        """Whether the checker says of an answer of the tests at these places that it is right or wrong."""
        keys = {place: _key(source, job["tests"][place]) for place in places[:_TRIED]}
        left = {place: key for place, key in keys.items() if key not in self._kept}
        if left and not any(self._kept.get(key) for key in keys.values()):
            clock = judge.clock(TRUSTED_SECONDS)
            for place, key in left.items():
                with Cell(judge.slot, TRUSTED_LIMITS, clock, trusted=True) as cell:
                    program.put(cell)
                    clock.allow(TRUSTED_SECONDS)
                    self._kept[key] = _understands(cell, job, program, source, place)
                if self._kept[key]:
                    break
        found = any(self._kept.get(key, False) for key in keys.values())
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found


def _key(source: str, case: CaseMessage) -> str:
    text = f"{source}\0{case['input']}\0{case['output']}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _understands(cell: Cell, job: JobMessage, program: Program, source: str, place: int) -> bool:
    case, checker = job["tests"][place], job["checker"]
    assert checker is not None
    answer = case["output"].encode("utf-8", "surrogatepass")
    if not answer.strip():
        return True  # the row has no answer there, by which the checker could be known to be broken
    try:
        _is_right(cell, checker["protocol"], program, source, case, answer)
        return True
    except _Unclear:
        return False
    except JobEnded as end:
        if end.killed or end.report.status not in _EXCEEDED:
            raise
        return False


def decide(judge: Judge, job: JobMessage, held: list[tuple[int, bytes]], report: JobReport) -> None:
    """Have the checker decide on each output; raise `JobEnded`, with no verdict, where it does not say anything clear.

    Where it breaks on an output, that output is wrong: else a program would leave its group by printing what the checker
    cannot read. A checker that breaks on the rows' own answers too is broken itself, which says nothing of a program that is wrong nowhere else.
    """
    checker = job["checker"]
    assert checker is not None
    source = checker["source"] + (_FUNCTION if checker["protocol"] == "function" else "")
    headers = {"testlib.h": judge.testlib} if "testlib.h" in source else {}
    try:
        program = judge.compile(checker["language"], source, trusted=True, headers=headers)
        problems = _looked_at(judge, job, held, report, program, source)
        wrong = bool(report.reason) or not all(problem for _, problem in problems)
        if (
            problems
            and not wrong
            and not judge.understood.any(judge, job, program, source, [place for place, _ in problems])
        ):
            raise _broken(problems[0][1])
    except JobEnded as end:
        if end.killed or end.report.status in ("unavailable", "refused"):
            raise
        raise _broken(end.report.reason) from end
    outputs = dict(held)
    for place, problem in problems:
        shown = repr(outputs[place][:100])
        report.fail(
            f"case {place + 1}: the checker breaks on {shown}: {problem}"
            if problem
            else f"case {place + 1}: the checker does not accept {shown}"
        )


def _looked_at(
    judge: Judge, job: JobMessage, held: list[tuple[int, bytes]], report: JobReport, program: Program, source: str
) -> list[tuple[int, str]]:
    """Count the outputs that are right; return the places of the others, with how the checker broke where it did."""
    checker = job["checker"]
    assert checker is not None
    problems: list[tuple[int, str]] = []
    clock = judge.clock(TRUSTED_SECONDS)
    with Cell(judge.slot, TRUSTED_LIMITS, clock, trusted=True) as cell:
        program.put(cell)
        for index, output in held:
            clock.allow(TRUSTED_SECONDS)
            try:
                if _is_right(cell, checker["protocol"], program, source, job["tests"][index], output):
                    report.tests_passed += 1
                else:
                    problems.append((index, ""))
            except _Unclear as unclear:
                problems.append((index, str(unclear)))
            except JobEnded as end:
                if end.killed or end.report.status not in _EXCEEDED:
                    raise
                return [*problems, (index, end.report.reason)]  # its cell is gone: what follows is not looked at
    return problems


def _is_right(cell: Cell, protocol: str, program: Program, source: str, case: CaseMessage, output: bytes) -> bool:
    """Whether the checker says that an output is right; raise `_Unclear` where it breaks."""
    if protocol != "testlib" and not _is_text(output):
        return False  # no output of the task is such, and a checker that reads text would break
    files = {_INPUT: case["input"].encode("utf-8", "surrogatepass"), _OUTPUT: output}
    files[_ANSWER] = case["output"].encode("utf-8", "surrogatepass")
    for name, content in files.items():
        cell.put(name, content)
    word = secrets.token_hex(16) if protocol == "function" else ""
    python = f"from {__package__} import evaluating\nevaluating.run({source!r}, globals())"
    names = (*_ORDER[protocol], *([word] if word else []))
    how = program.command(TRUSTED_LIMITS, TRUSTED_SECONDS, python, *names)
    said = cell.run(how, b"", TRUSTED_LIMITS["output_bytes"])
    if protocol == "testlib":
        if said.status not in _TESTLIB:
            raise _Unclear(_words(said))
        return _TESTLIB[said.status]
    lines = said.data.decode("utf-8", "replace").split()
    # the function may print for itself before; `_FUNCTION` writes the verdict last
    verdict = lines[-1:] if protocol == "function" else lines
    if said.status != 0 or verdict not in ([word + "0"], [word + "1"]):
        raise _Unclear(_words(said))
    return verdict == [word + "1"]


class _Unclear(Exception):
    """A checker broke on an output, or said nothing that is a verdict."""


def _is_text(output: bytes) -> bool:
    try:
        output.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _words(said: Output) -> str:
    lines = (said.said or said.data).decode("utf-8", "replace").strip().splitlines()
    return f"it ended with exit status {said.status} and said {lines[-1][:200] if lines else ''!r}"


def _broken(reason: str) -> JobEnded:
    return JobEnded(f"the checker gave no verdict: {reason}"[:MAX_REASON], "refused")
