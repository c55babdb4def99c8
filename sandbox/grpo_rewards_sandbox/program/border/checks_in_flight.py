"""Checks of the tests that fail while the candidate is between them and the verdict: it may not swallow these."""

from __future__ import annotations

import dis
import sys
import types

_READS = frozenset(("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF"))
_CHECKERS = ("unittest/case.py", "unittest/mock.py", "_pytest/python_api.py", "_pytest/raises.py")


def is_check(error: BaseException | None) -> bool:
    """This exception is a check that failed: not an AssertionError that a test raises to see what becomes of it."""
    outcomes = sys.modules.get("_pytest.outcomes")
    if outcomes is not None and isinstance(error, outcomes.OutcomeException):
        return True
    if not isinstance(error, AssertionError):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    return code.co_filename.endswith(_CHECKERS) or _asserts(code, trace.tb_lasti)


def _asserts(code: types.CodeType, at: int) -> bool:
    """The instruction at `at` ends an assert statement about something: one that reads a name."""
    instructions = list(dis.get_instructions(code))
    before = [one for one in instructions if one.offset <= at]
    start = next((one for one in reversed(before) if one.opname == "LOAD_ASSERTION_ERROR"), None)
    if start is None or start.positions is None or before[-1].positions is None:
        return False
    first, last = start.positions.lineno, start.positions.end_lineno
    if first is None or last is None or not first <= (before[-1].positions.lineno or 0) <= last:
        return False
    return any(
        one.opname in _READS
        and one.positions is not None
        and first <= (one.positions.lineno or 0) <= last
        and one.offset < start.offset
        for one in before
    )
