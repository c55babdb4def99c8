"""What the candidate may ask of the tests: to use what they handed over, from outside, and to say, print and log."""

from __future__ import annotations

import asyncio
import builtins
import logging
import sys
import types
import warnings
import weakref
from typing import Any

from . import handed_over
from .failed_checks import FailedChecks
from .messages import Along, Ends
from .operations import AWAITED, OPERATIONS, TEXT
from .proxy_classes import ProxyMaker
from .tasks import nested
from .uses import TEST_MODULES

_OF_OBJECTS = frozenset("op call await start signature getattr setattr delattr".split())
# they tell of insides, or end what the tests go on with
_NOT_FOR_CANDIDATES = frozenset(("dir", "copy", "deepcopy", "throw", "close"))
_DOES: dict[str, Any] = {"getattr": getattr, "setattr": setattr, "delattr": delattr}
_RECORD = logging.makeLogRecord({"message": "", "asctime": ""})


class Answers(ProxyMaker, FailedChecks):
    """Does what the candidate asks, with no way into the insides of what is the tests'. `quiet`: no test looks at what it says."""

    def __init__(self, ends: Ends, *, quiet: bool) -> None:
        super().__init__(ends)
        self._quiet = quiet
        self._given: set[int] = set()  # classes of the tests that were themselves handed over, by identity
        self._texts: dict[str, str] = {}
        self._marks: weakref.WeakKeyDictionary[types.FunctionType, set[str]] = weakref.WeakKeyDictionary()
        self.unasked = {}
        self.loop: Any = None
        self.waiting: Any = None

    def perform(self, what: str, arguments: list[object], along: Along) -> object:
        """Do what the candidate asks; a check that fails on the way is noted."""
        try:
            self.heard(along)
            return self._perform(what, arguments)
        except BaseException as error:
            self.note(error)
            raise

    def _handed_over(self, value: object) -> bool:
        number = self.mine_by_id.get(id(value))
        return number is not None and self.mine.get(number) is value

    def _perform(self, what: str, arguments: list[Any]) -> Any:
        """Do what the candidate asks, on objects that the tests handed over and with no way into their insides."""
        if self.is_theirs(self.pair().number) and not (
            what in _OF_OBJECTS and self._handed_over(arguments[what == "op"])
        ):
            # with it would come, between two checks, what it changed in containers that both sides hold
            raise self.protocol("a thread of its own used what the tests did not hand over")
        if what == "stdin":
            if arguments[0] == "input":
                # looked up now: a test may have replaced it
                return builtins.input(*arguments[1:])
            return sys.stdin.read() if arguments[0] == "read" else sys.stdin.readline()
        if what == "op":
            operation, value = arguments[0], arguments[1]
            own = operation in ("copy", "deepcopy") and type(value).__module__ in TEST_MODULES
            refused = operation not in OPERATIONS or (operation in _NOT_FOR_CANDIDATES and not own)
            # of what is only called nothing is done by an operator: the text of a method shows the object that it is of
            if refused or isinstance(value, handed_over.CALLABLES) or not self._handed_over(value):
                self.differs(f"the candidate may not do {operation} with an object of the tests")
                raise TypeError("not allowed")
            if operation in TEXT and (name := handed_over.private_in_text(value, operation)):
                raise self._withheld("get", name, value)
            return OPERATIONS[operation](*arguments[1:])
        if what == "ping":
            return None
        if what in ("print", "warn", "log"):
            # tests that keep no state have no way to look at streams, warnings or logs
            return None if self._quiet else getattr(self, f"_{what}")(*arguments)
        if what in ("cancel", "result"):
            return getattr(self.waiting, what)(arguments[0])
        value = arguments[0]
        if not self._handed_over(value):
            raise TypeError("not an object that the tests handed over")
        if what == "call":
            named = arguments[2] if len(arguments) > 2 else {}
            self.demand(type(arguments[1]) is tuple and type(named) is dict, "a call")
            return value(*arguments[1], **named)
        if what in ("await", "start"):
            awaited = self._awaited(*arguments)
            if what == "start":
                return self.waiting.start(awaited)
            self.loop = self.loop or asyncio.new_event_loop()
            return nested(self.loop, awaited)
        if what == "signature":
            if getattr(value, "__defaults__", None):
                self.differs(f"a default of the tests' {handed_over.kind(value)} stays with it")
            return handed_over.signature(value, self._handed_over, self.differs)
        name = arguments[1]
        if type(value) is types.FunctionType and (marks := self._marks_of(value, what, name)):
            if name in marks:
                return _DOES[what](*arguments)
            if what == "getattr" and name == "__dict__" and vars(value).keys() - {"__wrapped__"} == marks.keys():
                return marks
        try:
            if what == "getattr":
                found: Any = handed_over.read(value, name)
                if name == "__annotations__" and len(found) < len(value.__annotations__):
                    self.differs(
                        f"of the annotations of the tests' {handed_over.kind(value)} only builtin types are seen"
                    )
                return self._token(found) if name == "__doc__" and type(found) is str else found
            if what in ("setattr", "delattr"):
                name = handed_over.writable(value, name, given=id(value) in self._given)
                return setattr(value, name, arguments[2]) if what == "setattr" else delattr(value, name)
        except handed_over.Withheld:
            if what == "getattr" and not handed_over.has(value, name):
                raise AttributeError(f"{handed_over.kind(value)!r} object has no attribute {name!r}") from None
            raise self._withheld(what[:3], name, value) from None
        raise self.protocol(f"a request {what!r}")

    def _marks_of(self, function: types.FunctionType, what: str, name: object) -> dict[str, Any]:
        """The attributes that the candidate gave a function of the tests, as decorators mark them, with one that it gives now."""
        own = self._marks.setdefault(function, set())
        if what == "setattr" and handed_over.may_mark(function, name, self.text.replaced):
            own.add(str(name))
        return {one: vars(function).get(one) for one in own}

    def _withheld(self, what: str, name: object, value: object) -> handed_over.Withheld:
        said = f"the candidate may not {what} {name} of the tests' {handed_over.kind(value)}"
        self.differs(said)
        return handed_over.Withheld(said)

    def _print(self, out: object, err: object) -> None:
        for stream, text in ((sys.stdout, out), (sys.stderr, err)):
            if text:
                stream.write(str(text))

    def _warn(self, said: object) -> None:
        if not self.text.words.isdisjoint(("filename", "lineno")):
            self.differs("the tests do not see where a warning of the candidate's was given")
        warnings.warn(said if isinstance(said, Warning) else UserWarning(str(said)), stacklevel=5)

    def _log(self, name: object, level: Any, text: object, args: Any, extra: Any, error: Any, place: Any) -> None:
        kinds = [str, str, int, str]
        known = type(args) in (tuple, dict) and type(extra) is dict and type(place) is tuple
        self.demand(known and [type(part) for part in (text, *place)] == kinds, "a log record")
        given = (args,) if type(args) is dict else args
        own = {str(key): value for key, value in extra.items() if not hasattr(_RECORD, str(key))}
        logger = logging.getLogger(str(name))
        if logger.isEnabledFor(int(level)):
            here = sys._getframe()  # without a trace no formatter writes that there was one
            trace = types.TracebackType(None, here, here.f_lasti, here.f_lineno)
            cause = (type(error), error, trace) if isinstance(error, BaseException) else None
            path, line, function = place
            logger.handle(logger.makeRecord(logger.name, int(level), path, line, text, given, cause, function, own))

    def _token(self, text: str) -> str:
        """What stands for a docstring of the tests, which may say what is expected: whoever copies it copies this."""
        token = f"<the tests' docstring {len(self._texts)}>"
        self._texts[token] = text
        return token

    def told(self, text: object) -> object:
        """Return a docstring of the candidate's; of one copied from the tests what it is."""
        return self._texts.get(text, text) if type(text) is str else text

    def _awaited(self, value: object, name: str = "", arguments: Any = ()) -> Any:
        """A coroutine of the tests, or what an asynchronous special method of an object of theirs returns."""
        if not name:
            self.demand(type(value) is types.CoroutineType, "awaiting what is no coroutine")
            return value
        self.demand(name in AWAITED and type(arguments) is tuple, "a special method")
        return _waited(value) if name == "__await__" else getattr(type(value), name)(value, *arguments)


async def _waited(value: Any) -> object:
    return await value
