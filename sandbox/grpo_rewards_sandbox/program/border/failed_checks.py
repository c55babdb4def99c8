"""Checks of the tests that failed within what they asked of the candidate: each is the verdict, whatever becomes of it there."""

from __future__ import annotations

import asyncio
import sys
import time
import types
from _thread import get_ident

from .proxies import Reading
from .uses import TEST_MODULES

_LOOKS, _BETWEEN_LOOKS = 20, 0.05  # at threads that the tests left, and the seconds between two


class Refused(BaseException):
    """A use that no data of the candidate came of: the test has failed, whatever its code does with this."""


class FailedChecks:
    """What the tests' peer remembers of them, and which exceptions are such checks."""

    text: Reading
    failed: BaseException | None = None  # the first
    # what the candidate raised last of what ends iterators, where the tests name it, and in which thread of theirs
    named: BaseException | None = None
    named_in = 0
    unasked: dict[object, BaseException | None]  # what came of the tests' functions in pools

    def may_swallow(self, error: BaseException) -> bool:
        """A context manager of the candidate's may swallow what the tests raised, or what their text names: no check along with it."""
        at, theirs = error.__traceback__, "_border_number" in getattr(error, "__dict__", {})
        if at is None or at.tb_frame.f_globals.get("__name__") not in TEST_MODULES:
            return not theirs
        if at.tb_lineno in self.text.still_to_check or self._left_check(at):
            return False
        name, code = type(error).__name__, at.tb_frame.f_code
        return (
            not theirs or (name, at.tb_lineno) in self.text.given or name in self.text.said.intersection(code.co_names)
        )

    def is_check(self, error: BaseException | None) -> bool:
        """This exception is a check of the tests that failed, or a refusal, or a group with one in it."""
        if isinstance(error, BaseExceptionGroup):
            return any(map(self.is_check, error.exceptions))
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

    def settle(self, *, at_end: bool = False) -> None:
        """What ends an iterator is for the function of the tests that names it: else it ended one of theirs, with their checks."""
        if at_end:
            self.left(*self._stuck())
            for lost in self.unasked.values():
                self.note(lost)
        error = self.named
        # that of another thread may be on its way still
        if error is None or sys.exception() is error or (self.named_in != get_ident() and not at_end):
            return
        self.named, at = None, error.__traceback__
        if at is None:  # unittest takes it off what it expected
            return
        frame = at.tb_frame  # the outermost that it came to
        module = str(frame.f_globals.get("__name__"))
        theirs = module in TEST_MODULES and not self._names(frame, error)
        if self.failed is None and (theirs or module.startswith(__package__)):
            self.failed = error

    def leaves(self, error: BaseException) -> None:
        """Note an error that the candidate raises in a function of the tests of which Python takes errors for answers."""
        if self.text.unheard:
            frame: types.FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_globals.get("__name__") not in TEST_MODULES:
                frame = frame.f_back
            if frame is not None and (frame.f_code.co_name, frame.f_lineno) in self.text.unheard:
                self.failed = self.failed or error

    def left(self, *frames: types.FrameType | None) -> None:
        """Note threads or tasks of the tests that are left where they are: before a check, the test has not passed."""
        for at in map(self._before_check, frames):
            if self.failed is None and at is not None:
                self.failed = TimeoutError(f"{at.f_code.co_name} of the tests was left in line {at.f_lineno}")

    def _stuck(self) -> set[types.FrameType]:
        """Functions of the tests that other threads run and stay in, with a check to come: others may be about to end, or go on."""
        stuck: set[tuple[types.FrameType, int]] | None = None
        for look in range(_LOOKS):
            if look:
                time.sleep(_BETWEEN_LOOKS)
            threads = (frame for thread, frame in sys._current_frames().items() if thread != get_ident())
            found = {(at, at.f_lasti) for at in map(self._before_check, threads) if at is not None}
            stuck = found if stuck is None else stuck & found
            if not stuck:
                break
        return {frame for frame, _ in stuck or ()}

    def _before_check(self, frame: types.FrameType | None) -> types.FrameType | None:
        """The innermost function of the tests that is being run there with a check of it to come."""
        while frame is not None:
            place = frame.f_code.co_name, frame.f_lineno
            if frame.f_globals.get("__name__") in TEST_MODULES and place in self.text.due:
                return frame
            frame = frame.f_back
        return None

    def _keeps_from_check(self, error: BaseException) -> bool:
        """A function of the tests that the candidate called raised this before a check of its own."""
        # what is cancelled or closed is at its end; where no loop runs the candidate has none to cancel it
        ends = isinstance(error, (asyncio.CancelledError, GeneratorExit)) and "_border_no_loop" not in error.__dict__
        return not ends and self._left_check(error.__traceback__)

    def _left_check(self, at: types.TracebackType | None) -> bool:
        """On its way from here an error left a function of the tests with a check to come: one that is run still did not let it go."""
        running, frame = set(), sys._getframe()
        while frame := frame.f_back:  # type: ignore[assignment]
            running.add(frame)
        while at is not None:
            place, module = (at.tb_frame.f_code.co_name, at.tb_lineno), at.tb_frame.f_globals.get("__name__")
            if module in TEST_MODULES and at.tb_frame not in running and place in self.text.checking:
                return True
            at = at.tb_next
        return False

    def _names(self, frame: types.FrameType, error: BaseException) -> bool:
        """A function names this error, or a class of it; one by which an iterator steps ends it by what it raises, and expects nothing."""
        code = frame.f_code
        named = self.text.errors.intersection(code.co_names, (cls.__name__ for cls in type(error).__mro__))
        return bool(named) and code.co_name not in ("__next__", "__anext__")

    def expected(self, error: BaseException) -> bool:
        """A function of the tests that is being run names this."""
        frame: types.FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_globals.get("__name__") in TEST_MODULES and self._names(frame, error):
                return True
            frame = frame.f_back
        return False
