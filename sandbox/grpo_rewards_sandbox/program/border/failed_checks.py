"""Checks of the tests that failed within what they asked of the candidate: each is the verdict, whatever becomes of it there."""

from __future__ import annotations

import asyncio
import sys

from .proxies import Reading
from .uses import TEST_MODULES


class Refused(BaseException):
    """A use that no data of the candidate came of: the test has failed, whatever its code does with this."""


class FailedChecks:
    """What the tests' peer remembers of them, and which exceptions are such checks."""

    text: Reading
    failed: BaseException | None = None  # the first

    def may_swallow(self, error: BaseException) -> bool:
        """A context manager of the candidate's may swallow what the tests raised, or what their text names: no check along with it."""
        at = error.__traceback__
        own = at is not None and at.tb_frame.f_globals.get("__name__") in TEST_MODULES
        if at is not None and own and at.tb_lineno in self.text.still_to_check:
            return False
        return "_border_number" not in getattr(error, "__dict__", {}) or type(error).__name__ in self.text.words

    def is_check(self, error: BaseException | None) -> bool:
        """This exception is a check of the tests that failed, or a refusal."""
        outcomes = sys.modules.get("_pytest.outcomes")
        if outcomes is not None and isinstance(error, outcomes.OutcomeException):
            return True
        # not one of the candidate's, that the tests caught and raise again
        return isinstance(error, Refused) or (
            isinstance(error, AssertionError) and "_border_number" not in error.__dict__
        )

    def leave_to_candidate(self, error: BaseException | None) -> None:
        """Note a check that failed, and is on its way, where what the candidate says now can end it."""
        if self.is_check(error):
            self.note(error)

    def note(self, error: BaseException | None) -> None:
        """Remember a check that failed, or was kept from being made, within what the candidate asked for, or in a thread or task."""
        if error is None or self.failed is not None:
            return
        if self.is_check(error) or self._keeps_from_check(error):
            self.failed = error

    def _keeps_from_check(self, error: BaseException) -> bool:
        """A function of the tests that the candidate called raised this before a check of its own."""
        at = None if isinstance(error, (asyncio.CancelledError, GeneratorExit)) else error.__traceback__
        while at is not None and at.tb_frame.f_globals.get("__name__") not in TEST_MODULES:
            at = at.tb_next
        return at is not None and (at.tb_frame.f_code.co_name, at.tb_lineno) in self.text.checking
