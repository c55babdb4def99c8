"""Exceptions as they cross: builtin ones as they are, the candidate's own as proxies, the tests' by number."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from ..isolation.limits import LIMIT_OF_ERRNO
from . import stdlib, uses
from .handed_over import is_mock
from .messages import Ends
from .peer import Peer
from .proxies import MIRRORS, ProxyClass, Reading, ancestors, namespace, read
from .values import CATCHING, SCALARS

UNSEEN = "the program sees nothing of the tests and, of the setup, plain classes and imports only"
MAX_KEPT = 100_000  # what is kept as long as the job, and a candidate may send without end


class ExceptionMaker(Peer):
    """Makes the exceptions that the candidate raised, each once, and knows which of the tests are on their way."""

    classes: dict[int, ProxyClass]  # the candidate's, by their numbers
    text: Reading
    unseen: frozenset[str] = frozenset()  # the words of a setup that a file of tests has not either
    differs: Callable[[str], None]  # remembers what is otherwise here than in plain Python
    refuse: Callable[[str], None]  # fails the test, whatever its code does then

    def __init__(self, ends: Ends) -> None:
        super().__init__(ends)
        self.limits_hit: list[str] = []
        self._exceptions: dict[int, BaseException] = {}
        self._their_exceptions: dict[int, BaseException] = {}

    def encode_exception(self, error: BaseException) -> object:
        number = len(self._exceptions) + 1
        self._exceptions[number] = error
        theirs = error.__dict__.get("_border_number")
        if theirs is not None:
            return {"t": number, "p": theirs}
        # what a generator of the tests returns is an answer to the candidate's `next`, as what their functions return is
        args = error.args if type(error) is StopIteration else tuple(p for p in error.args if type(p) in SCALARS)
        if len(args) < len(error.args):
            self.differs("of what an error of the tests was given, only numbers and texts are the candidate's too")
        return {
            "t": number,
            "b": self.known_exception(type(error)),
            "n": self.own_exceptions(type(error)),
            "a": self.encode(args),
            "s": {
                name: self.encode(part)
                for name, part in error.__dict__.items()
                if (type(part) in SCALARS or is_mock(part)) and not name.startswith("_")
            },
            "notes": [str(note) for note in getattr(error, "__notes__", ())],
        }

    def known_exception(self, cls: type) -> str:
        """The name of the nearest base that both sides have."""
        return next(filter(None, map(stdlib.exception_name, cls.__mro__)))

    def own_exceptions(self, cls: type) -> list[object]:
        """The classes of the tests' own below it, by number and name: the candidate's `except` finds them by these."""
        return [[self.own(base), base.__name__] for base in cls.__mro__ if uses.of_tests(base)]

    unsayable = encode_exception

    def decode_exception(self, coded: Any) -> BaseException:
        if "u" in coded:  # no error of the candidate's, which the tests may expect
            self.refuse(f"what the candidate gave does not cross: {coded['u']}")
        if "t" in coded:
            ours = self._exceptions[coded["t"]]
            if coded.get("notes"):
                BaseException.__setattr__(ours, "__notes__", [str(note) for note in coded["notes"]])
            if "cause" in coded:
                BaseException.__setattr__(ours, "__cause__", self.decode_exception(coded["cause"]))
            return ours
        number = coded["h"]
        self.demand(type(number) is int, "a handle")
        error = self._their_exceptions.get(number)
        if error is None:
            error = self._new_exception(coded)
            if len(self._their_exceptions) < MAX_KEPT:
                self._their_exceptions[number] = error
        elif "c" in coded:  # one of its own may have been added to since
            error.args = self._arguments(coded)
            self._fill(error, coded)
        for name in ("cause", "context"):
            if name in coded:
                BaseException.__setattr__(error, f"__{name}__", self.decode_exception(coded[name]))
        BaseException.__setattr__(error, "__suppress_context__", coded.get("quiet") is True)
        return error

    def _arguments(self, coded: Any) -> tuple[object, ...]:
        args = self.decode(coded["a"])
        self.demand(type(args) is tuple, "an exception's arguments")
        return args  # type: ignore[no-any-return]

    def _new_exception(self, coded: Any) -> BaseException:
        args = self._arguments(coded)
        error: BaseException
        if "g" in coded:
            parts = [self.decode_exception(part) for part in coded["g"][1]]
            plain = all(isinstance(part, Exception) for part in parts)
            error = _exception_class("ExceptionGroup" if plain else "BaseExceptionGroup")(str(coded["g"][0]), parts)
        elif "b" in coded:
            error = self._builtin_exception(coded["b"], args)
        else:
            error = self._own_exception(coded, args)
        self._fill(error, coded)
        if isinstance(error, NameError) and error.name in self.text.words | self.unseen:
            self.differs(UNSEEN)
        if isinstance(error, PermissionError) and error.errno == errno.EPERM:
            self.differs("files that the tests made are another user's, who alone changes their mode, owner and times")
        error.__dict__["_border_number"] = coded["h"]
        return error

    def _fill(self, error: BaseException, coded: Any) -> None:
        """Give an exception its attributes, and its text as it is as it crosses."""
        error.__dict__.update((f"_border_{way}", coded[way]) for way in ("str", "repr") if type(coded.get(way)) is str)
        for name, part in coded.get("s", {}).items():
            if not name.startswith("_border") and (name == "__notes__" or not name.startswith("__")):
                value = self.decode(part)
                # methods of exceptions are this side's own: `except*` asks `split` what it catches
                if any(callable(namespace(base).get(name)) for base in ancestors(type(error))):
                    continue
                try:
                    BaseException.__setattr__(error, name, read(error, name, value))
                except Exception:  # noqa: BLE001  a read-only attribute of a builtin exception
                    continue

    def _builtin_exception(self, name: str, args: tuple[object, ...]) -> BaseException:
        cls = _exception_class(name)
        if issubclass(cls, MemoryError):
            self.limits_hit.append("memory")
        elif issubclass(cls, OSError) and args and type(args[0]) is int:
            hit = LIMIT_OF_ERRNO.get(args[0])
            if hit:
                self.limits_hit.append(hit)
        return stdlib.new_exception(cls, args)

    def _own_exception(self, coded: Any, args: tuple[object, ...]) -> BaseException:
        cls: Any = self.classes[coded["c"]]
        self.demand(issubclass(cls, BaseException), "not an exception")
        # its `__new__` wants a message and exceptions
        if issubclass(cls, BaseExceptionGroup):
            return _exception_class("Exception")("a group of exceptions")  # type: ignore[no-any-return]
        error = empty_exception(cls)
        error.args = args
        return error


def _exception_class(name: str) -> type:
    """The class of an exception of the candidate's: one whose handler is for what is the candidate's."""
    return CATCHING.get(name) or stdlib.exception(name)


def library_base(cls: type) -> type | None:
    """The first exception class of a library that a class derives from; None where it is none."""
    if not issubclass(cls, BaseException):
        return None
    bases: tuple[type, ...] = ancestors(cls)
    return next(base for base in bases if not isinstance(base, ProxyClass) and base not in MIRRORS)


def empty_exception(cls: Any) -> BaseException:
    """Make one without asking the candidate, as the class of a mixin would: what it made would cross as an exception again."""
    base: Any = next(
        base for base in ancestors(cls) if issubclass(base, BaseException) and not isinstance(base, ProxyClass)
    )
    return base.__new__(cls)  # type: ignore[no-any-return]
