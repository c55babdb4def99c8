"""What verdicts are worth: all or nothing, a fraction of the tests, or parts with points."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grpo_rewards import Outcome
from grpo_rewards.errors import printable
from grpo_rewards_plugins.code.suite import Suite

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Verdict

_FEW = 0.25
"""The share of tests with one expected answer above which that answer is not paid."""


class ProgramVerdicts:
    """The verdicts of one program's parts, as they come, for the rows that have it."""

    def __init__(self, suite: Suite, rows: list[int], parts: int) -> None:
        self.suite, self.rows, self.left = suite, rows, parts
        self.verdicts: list[Verdict | None] = [None] * parts

    def take(self, part: int, verdict: Verdict) -> bool:
        """Take a part's verdict; say whether it was the last."""
        self.verdicts[part] = verdict
        self.left -= 1
        return self.left == 0

    def decisive(self) -> Verdict:
        """The verdict that says most of all parts: the first that is no verdict on the program, else the first that did not pass."""
        found = [verdict for verdict in self.verdicts if verdict is not None]
        unjudged = [verdict for verdict in found if verdict.status in ("refused", "unavailable")]
        return next(iter(unjudged), next((one for one in found if one.status != "passed"), found[0]))


def outcome_of(verdicts: ProgramVerdicts, score: str) -> Outcome:
    """What a program's verdicts mean for training."""
    verdict = verdicts.decisive()
    found = [one for one in verdicts.verdicts if one is not None]
    passed, total = sum(one.tests_passed for one in found), sum(one.tests_total for one in found)
    seconds = sum(one.seconds for one in found)
    details = {"tests_passed": passed, "tests_total": total, "verdict": verdict.status}
    if verdicts.suite.family:
        details["data"] = verdicts.suite.family
    told = f"{passed} of {total} tests passed: {verdict.reason}" if total > 1 else verdict.reason
    match verdict.status:
        case "passed":
            return Outcome(1.0, "scored", f"{passed} of {total} tests passed", details, seconds)
        case "failed" | "error":
            value = fraction(verdicts.suite, passed, total) if score == "fraction" else _points(verdicts, score)
            return Outcome(value, "scored", _line(told), details, seconds)
        case "timeout":
            return Outcome(_points(verdicts, score), "timeout", _line(verdict.reason), details, seconds)
        case "limit":
            problem = f"limit ({verdict.limit}): {verdict.reason}"
            return Outcome(_points(verdicts, score), "rejected", _line(problem), details, seconds)
        case "refused":
            problem = f"the row's tests cannot be judged: {verdict.reason}"
            return Outcome(None, "not_applicable", _line(problem), details)
    return Outcome(None, "unavailable", _line(verdict.reason), details, seconds)


def fraction(suite: Suite, passed: int, total: int) -> float:
    """The share of tests that passed.

    Where one answer is expected by more than a quarter of the tests, a program that prints nothing else would be paid for
    it: then what counts is the share of the tests beyond those, so that the best constant is worth 0.
    """
    constant = most_common(suite)
    if not total or passed >= total:
        return float(passed > 0)
    if constant <= _FEW * total or constant >= total:
        # where all tests expect one answer, no share of them tells a program from a constant
        return 0.0 if constant >= total > 1 else passed / total
    return max(0.0, (passed - constant) / (total - constant))


def most_common(suite: Suite) -> int:
    """How many tests expect the answer that most tests expect; 0 where that cannot be told."""
    # as they are compared: by tokens, whatever stands between
    answers = [" ".join(wanted.split()) for _, wanted in suite.pairs]
    if suite.calls is not None:
        answers = [result for _, result in suite.calls.tests]
    return max(Counter(answers).values(), default=0)


def _points(verdicts: ProgramVerdicts, score: str) -> float:
    """The points of the parts that passed, of all points; a part counts as its worst test does, as in IOI."""
    parts = verdicts.suite.parts
    if score != "weighted" or len(verdicts.verdicts) < 2:
        return 0.0
    passed = {
        place
        for group, verdict in zip(verdicts.suite.groups, verdicts.verdicts, strict=True)
        if verdict is not None and verdict.passed
        for place in group
    }
    kept = sum(points for points, tests in parts if passed.issuperset(tests))
    return kept / (sum(points for points, _ in parts) or 1.0)


def _line(text: str) -> str:
    """The sandbox's words as one printable line: they quote the candidate."""
    # cut first: a candidate decides how long its last words are
    return printable(" ".join(text[:400].split()))
