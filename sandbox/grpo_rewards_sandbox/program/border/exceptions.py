"""Exceptions that cross to the tests and back: builtins as they are, the candidate's own as proxies, the tests' by number."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from . import stdlib
from .proxy_classes import MAX_KEPT, ProxyMaker
from .values import EXCEPTION_NAMES, EXCEPTIONS, SCALARS

# EAGAIN, ENFILE, EMFILE, EFBIG, ENOSPC, ENOMEM
LIMIT_OF_ERRNO = {11: "processes", 23: "open files", 24: "open files", 27: "file size", 28: "disk", 12: "memory"}


class ExceptionMaker(ProxyMaker):
    """Makes exceptions, each once, and knows which of the tests' own are on their way."""

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        self.limits_hit: list[str] = []
        self._exceptions: dict[int, BaseException] = {}
        self._their_exceptions: dict[int, BaseException] = {}
        # checks that failed, each with the call that may raise it, or with the loop of which any may
        self.unheard: list[tuple[BaseException, object]] = []
        self.hears_checks = False
        self.calls = 0  # of the tests' own, not of what they are asked on the way

    def encode_exception(self, error: BaseException) -> object:
        number = len(self._exceptions) + 1
        self._exceptions[number] = error
        theirs = error.__dict__.get("_border_number")
        if theirs is not None:
            return {"t": number, "p": theirs}
        names = [EXCEPTION_NAMES.get(cls) or stdlib.exception_name(cls) for cls in type(error).__mro__]
        return {
            "t": number,
            "n": None if names[0] else type(error).__name__,
            "b": next(name for name in names if name),
            "a": self.encode(tuple(part for part in error.args if type(part) in SCALARS)),
            "s": {
                name: self.encode(part)
                for name, part in error.__dict__.items()
                if type(part) in SCALARS and not name.startswith("_")
            },
        }

    def decode_exception(self, coded: Any) -> BaseException:
        if "t" in coded:
            known = self._exceptions[coded["t"]]
            if self.hears_checks:
                # not out of a later call, whose own check it would be taken for
                here = (self.calls, asyncio._get_running_loop() or self)
                self.unheard = [(error, at) for error, at in self.unheard if error is not known or at not in here]
            return known
        number = coded["h"]
        if type(number) is not int:
            raise self.protocol("a handle")
        error = self._their_exceptions.get(number)
        if error is None:
            error = self._new_exception(coded)
            if len(self._their_exceptions) < MAX_KEPT:
                self._their_exceptions[number] = error
        for name in ("cause", "context"):
            if name in coded:
                BaseException.__setattr__(error, f"__{name}__", self.decode_exception(coded[name]))
        BaseException.__setattr__(error, "__suppress_context__", coded.get("quiet") is True)
        return error

    def _new_exception(self, coded: Any) -> BaseException:
        args = self.decode(coded["a"])
        if type(args) is not tuple:
            raise self.protocol("an exception's arguments")
        error: BaseException
        if "g" in coded:
            parts = [self.decode_exception(part) for part in coded["g"][1]]
            text = str(coded["g"][0])
            plain = [part for part in parts if isinstance(part, Exception)]
            error = ExceptionGroup(text, plain) if len(plain) == len(parts) else BaseExceptionGroup(text, parts)
        elif "b" in coded:
            error = self._builtin_exception(coded["b"], args)
        else:
            error = self._own_exception(coded, args)
        for name, part in coded.get("s", {}).items():
            if not name.startswith("_border") and (name == "__notes__" or not name.startswith("__")):
                value = self.decode(part)
                # methods of exceptions, which are this side's own
                if name in ("with_traceback", "add_note"):
                    continue
                try:
                    BaseException.__setattr__(error, name, value)
                except Exception:  # noqa: BLE001  a read-only attribute of a builtin exception
                    continue
        error.__dict__["_border_number"] = coded["h"]
        return error

    def _builtin_exception(self, name: str, args: tuple[object, ...]) -> BaseException:
        if name not in EXCEPTIONS:
            return stdlib.new_exception(stdlib.exception(name), args)
        cls = EXCEPTIONS[name]
        if issubclass(cls, MemoryError):
            self.limits_hit.append("memory")
        elif issubclass(cls, OSError) and args and type(args[0]) is int:
            hit = LIMIT_OF_ERRNO.get(args[0])
            if hit:
                self.limits_hit.append(hit)
        try:
            return cls(*args)
        except Exception:  # noqa: BLE001  arguments that this exception does not take
            # these three cannot be made without arguments
            return cls() if cls not in (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError) else ValueError()

    def _own_exception(self, coded: Any, args: tuple[object, ...]) -> BaseException:
        cls: Any = self.classes[coded["c"]]
        if not issubclass(cls, BaseException):
            raise self.protocol("not an exception")
        # its `__new__` wants a message and exceptions
        if issubclass(cls, BaseExceptionGroup):
            return Exception("a group of exceptions")
        error: BaseException = cls.__new__(cls)
        error.args = args
        if type(coded.get("str")) is str:
            error.__dict__["_border_text"] = coded["str"]
        return error
