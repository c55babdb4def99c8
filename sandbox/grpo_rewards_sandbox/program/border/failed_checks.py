"""Checks of the tests that failed within what they asked of the candidate: each is kept until the tests hear of it."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Iterator

from .proxies import Reading
from .uses import TEST_MODULES
from .values import CONTAINER_NAMES, CONTAINERS

# where an exception may hold others that the tests look for
_BEHIND = ("__cause__", "__context__", "args")


class Refused(BaseException):
    """A use that no data of the candidate came of: the test has failed, whatever its code does with this."""


class FailedChecks:
    """What the tests' peer remembers of them, and which exceptions are such checks."""

    _serving: int  # how many requests of the candidate are being served
    text: Reading

    def __init__(self) -> None:
        # checks that failed, each with the number of the call that it failed in
        self.unheard: list[tuple[BaseException, int]] = []
        # of what the tests waited for: the call that began it; None where one call both begins and ends
        self.began: int | None = None
        self.calls = 0  # of the tests' own, not of what they are asked on the way

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
        # where the tests catch checks themselves, it may be one that they caught: the function that it came to is in the handler
        if error is not None and self.is_check(error) and not (self._hears() and _came_to(error, self.text.handling)):
            self.note(error)

    def note_lost(self, error: BaseException | None) -> None:
        """Remember a check that failed, or was kept from being made, in a thread or a task of the tests, where nobody heard of it."""
        if error is not None:
            self._remember(error, -1)

    def _hears(self) -> bool:
        """The tests expect checks of their own to come out of what they call now."""
        return bool(self.text.hearing) and _within(self.text.hearing)

    def note(self, error: BaseException) -> None:
        """Remember a check that failed, or was kept from being made, within what the candidate asked for, until the tests hear of it."""
        # what is thrown in comes out of the next call
        self._remember(error, self.calls + (not self._serving))

    def _remember(self, error: BaseException, call: int) -> None:
        if self.is_check(error) or self._keeps_from_check(error):
            self.unheard.append((error, call))

    def _keeps_from_check(self, error: BaseException) -> bool:
        """A function of the tests that the candidate called raised this before a check of its own."""
        at = None if isinstance(error, (asyncio.CancelledError, GeneratorExit)) else error.__traceback__
        while at is not None and at.tb_frame.f_globals.get("__name__") not in TEST_MODULES:
            at = at.tb_next
        return at is not None and (at.tb_frame.f_code.co_name, at.tb_lineno) in self.text.checking

    def is_dropped(self) -> bool:
        """The tests call what answers now in a statement of its own, and do nothing with the answer."""
        frame = next(_frames_of_tests(), None)
        return frame is not None and frame.f_lineno in self.text.dropping

    def hear(self, *values: object) -> None:
        """The tests have these: raised, returned by the call that it failed in, or given to a callback. Checks among them are not swallowed."""
        left: list[object] = [*values]
        seen: dict[int, object] = {}
        while left:
            value = left.pop()
            if id(value) in seen:
                continue
            seen[id(value)] = value
            if isinstance(value, BaseException):
                if "_border_number" in value.__dict__:  # the candidate's, with others where the tests look for them
                    behind = {part: getattr(value, part) for part in _BEHIND} | value.__dict__
                    left += [part for name, part in behind.items() if name in self.text.attributes]
                    left += value.exceptions if isinstance(value, BaseExceptionGroup) else ()
                elif not self.is_check(value) or self._hears():
                    # not out of a later call, whose own check it would be taken for
                    since = self.calls if self.began is None else self.began
                    self.unheard = [
                        one for one in self.unheard if one[0] is not value or not since <= one[1] <= self.calls
                    ]
            elif isinstance(value, (tuple, frozenset)):
                left += value
            else:
                name = next((CONTAINER_NAMES[base] for base in type(value).__mro__ if base in CONTAINER_NAMES), None)
                left += [] if name is None else CONTAINERS[name].contents(value)

    def swallowed(self) -> BaseException | None:
        """A check of the tests that failed inside the candidate's call and never came out of it."""
        return self.unheard[0][0] if self.unheard else None


def _within(lines: frozenset[int]) -> bool:
    """The tests are at one of these lines, or in what was called there."""
    return any(frame.f_lineno in lines for frame in _frames_of_tests())


def _came_to(error: BaseException, lines: frozenset[int]) -> bool:
    """What is on its way, or was caught, has come to one of these lines of the tests."""
    at = error.__traceback__
    return at is not None and at.tb_frame.f_globals.get("__name__") in TEST_MODULES and at.tb_frame.f_lineno in lines


def _frames_of_tests() -> Iterator[types.FrameType]:
    """The frames of the tests' own code, from the innermost outwards."""
    at: types.FrameType | None = sys._getframe()
    while at is not None:
        if at.f_globals.get("__name__") in TEST_MODULES:
            yield at
        at = at.f_back
