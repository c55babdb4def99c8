"""The tests' side of the border: builds mirrors, answers the candidate. Never runs candidate code, never unpickles."""

from __future__ import annotations

import asyncio
import builtins
import functools
import logging
import os
import socket
import sys
import types
import warnings
import weakref
from typing import Any

from . import stdlib
from .awaiting import waiting
from .checks_in_flight import is_check
from .codec import Ref
from .exceptions import ExceptionMaker
from .mirror_functions import MirrorFunction, MirrorModule, asynchronous_generator, coroutine, generator
from .mirror_methods import ASYNCHRONOUS
from .mirrors import Border, MirrorClass, module_namespace, namespace
from .nesting import nested
from .operations import OPERATIONS, SPECIAL

_NEVER_CROSS = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)
_FRAME_NAMES = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")
_ITERATES = frozenset(("next", "send", "throw"))
_ITERATING = frozenset(("next", "next_result"))
_READABLE = frozenset(("__name__", "__doc__", "__qualname__", "__members__"))
_COLLECTION = ("__iter__", "__len__", "__getitem__", "__contains__", "__reversed__")
_OF_NAMED_TUPLES = frozenset(("_fields", "_replace", "_asdict"))
_where = os.getcwd  # bound here: tests may replace it
TEST_MODULES = ("tests", "test_solution")
_NOT_FOR_CANDIDATES = frozenset(("dir", "copy", "deepcopy", "throw", "close"))
MAX_EVENTS = 1000


class TrustedPeer(ExceptionMaker):
    """Decodes handles into mirrors; lets the candidate use only what the tests handed over, and only from outside."""

    trusted = True

    def __init__(self, sock: socket.socket, *, named: set[str], module_name: str, quiet: bool = False) -> None:
        super().__init__(sock, 0)
        self.named = named
        self.may_end = named & {"StopIteration", "StopAsyncIteration"}
        self.may_cancel = False
        self.module_name = module_name
        self._given: set[int] = set()
        self._sent_names: dict[str, Any] = {}
        self._argv = list(sys.argv)
        self.loop: Any = None
        self.waiting: Any = None
        self._environment = dict(os.environ)
        self._quiet = quiet
        self.on_request: frozenset[str] = frozenset()
        self.folders: tuple[str, ...] = ()
        self._folder = ""
        self.seeds: list[Any] = []
        Border.peer = self

    # ---- the candidate's objects

    def number_of_theirs(self, value: Any) -> int | None:
        kind = type(value)
        if kind is Ref:
            return int(value.number)
        if kind is MirrorFunction:
            return int(value.__dict__["_border_number"])
        if kind is MirrorModule:
            return int(module_namespace(value)["_border_number"])
        if isinstance(kind, MirrorClass):
            number: int = object.__getattribute__(value, "_border_number")
            return number
        if isinstance(value, MirrorClass):
            own: int | None = namespace(value).get("_border_class")
            return own
        if kind is types.FunctionType:
            return value.__dict__.get("_border_number")  # type: ignore[no-any-return]
        return None

    def decode_object(self, tag: str, body: Any) -> Any:
        if tag == "E":
            return self.decode_exception(body)
        if tag == "Q":
            return self._sent_names[body]
        if tag == "I":
            return self._instance(*body)
        if tag == "C":
            return self.classes[body]
        if tag == "Fn":
            return self._function(*body)
        if type(body) is int:
            if tag == "G":
                return generator(body)
            if tag == "Co":
                return coroutine(body)
            if tag == "AG":
                return asynchronous_generator(body)
        if tag == "M":
            module = self._known(body[0])
            if module is None:
                module = MirrorModule(str(body[1]))
                module_namespace(module)["_border_number"] = body[0]
                self.theirs[body[0]] = weakref.ref(module)
            return module
        raise self.protocol("not a value")

    # ---- objects of the tests

    def encode_object(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, BaseException):
            return {"E": self.encode_exception(value)}
        if isinstance(value, _NEVER_CROSS):
            raise TypeError(
                f"a {kind.__name__} may not cross to the candidate; choose fidelity: shared for these tests"
            )
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)) and not isinstance(
            value, MirrorClass
        ):
            # what the candidate's process has too is called there: here it could be told to open or load anything
            name = stdlib.function_name(value)
            if name is not None:
                self._sent_names[name] = value
                return {"Q": name}
        if isinstance(value, MirrorClass):
            value._own_number()
        if isinstance(value, type) and value.__module__ in TEST_MODULES and not isinstance(value, MirrorClass):
            self._given.add(id(value))
            return {"H": [self.own(value), [], "class", self._own_class(value)]}
        number = self.hand_over(value)
        special: list[str] = []
        described = None
        if not isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)):
            special = [] if kind is types.CoroutineType else _special_of(kind)
            described = self._own_class(kind) if kind.__module__ in TEST_MODULES else None
        how = {types.FunctionType: "function", types.CoroutineType: "coroutine"}.get(kind) or callable(value)
        return {"H": [number, special, how, described]}

    def _own_class(self, cls: type) -> list[Any]:
        """A class of the tests' own, which the candidate may make objects of where it has one."""
        fields = getattr(cls, "__dataclass_fields__", None)
        return [
            self.own(cls),
            cls.__name__,
            _special_of(cls),
            "__call__" in dir(cls),
            [name for name in _COLLECTION if _defines(type(cls), name)],
            [str(name) for name in fields] if type(fields) is dict else None,
        ]

    # ---- what goes along

    def add_extras(self, message: dict[str, Any]) -> None:
        if asyncio._get_running_loop() is not None:
            message["l"] = 1

    def take_extras(self, message: dict[str, Any]) -> None:
        if "c" in message:
            self._take_classes(message["c"])
        if "l" in message and (here := waiting()) is not None:
            here.turn_soon()
        if self._quiet:
            return
        if "o" in message:
            out, err = message["o"]
            if out:
                sys.stdout.write(str(out))
            if err:
                sys.stderr.write(str(err))
        for event in message.get("w", ())[:MAX_EVENTS]:
            if event[0] == "w":
                error = self._said(event[1])
                warnings.warn(error if isinstance(error, Warning) else UserWarning(str(error)), stacklevel=5)
            elif event[0] == "l":
                cause = None if event[4] is None else self._said(event[4])
                logging.getLogger(str(event[1])).log(int(event[2]), "%s", str(event[3]), exc_info=cause)

    def _said(self, coded: Any) -> BaseException:
        """A warning or a logged exception: a class and a text, nothing that the tests could have been waiting for."""
        if type(coded) is not dict or set(coded) - {"b", "c", "h", "a"} or type(coded.get("a")) is not str:
            raise self.protocol("an event")
        return self._new_exception({**coded, "a": {"T": [coded["a"]]}})

    def request(self, what: str, *arguments: Any) -> Any:
        try:
            return self.ask(what, *arguments)
        except (StopIteration, StopAsyncIteration) as error:
            # out of anything but an iterator it would end the tests' own loops: zip(map(solve, ...), ...)
            if what in _ITERATING or (what == "op" and arguments[0] in _ITERATES) or self.may_end & {*_names_of(error)}:
                raise
            raise RuntimeError(f"the candidate raised {type(error).__name__}") from None
        except asyncio.CancelledError:
            # out of what the tests did not cancel it would end their task unseen, with the checks that follow
            if self.may_cancel or asyncio._get_running_loop() is None:
                raise
            raise RuntimeError("the candidate raised CancelledError") from None

    def ask(self, what: str, *arguments: Any) -> Any:
        """Ask the candidate's side, whatever it raises."""
        self._follow()
        return super().request(what, *arguments)

    def _follow(self) -> None:
        """Tell the candidate what the test did to the environment, the folder and the random numbers."""
        if os.environ != self._environment:
            now = dict(os.environ)
            before, self._environment = self._environment, now
            changes = {
                name: now.get(name)
                for name in {*now, *before}
                if now.get(name) != before.get(name) and name != "PYTEST_CURRENT_TEST"
            }
            if changes:
                super().request("environment", changes)
        if sys.argv != self._argv:
            self._argv = list(sys.argv)
            super().request("argv", self._argv)
        if self.seeds:
            seeds, self.seeds = self.seeds, []
            super().request("seed", seeds[-1])
        if self.folders:
            folder = _where()
            if folder != self._folder:
                self._folder = folder
                if folder.startswith(self.folders):
                    super().request("folder", folder)

    # ---- requests of the candidate

    def perform(self, what: str, arguments: list[Any]) -> Any:
        """Do what the candidate asks; a check that fails on the way is noted until the tests hear of it."""
        try:
            return self._perform(what, arguments)
        except BaseException as error:
            self.note(error)
            raise

    def note(self, error: BaseException) -> None:
        """Remember a check that failed within what the candidate asked for, until the tests hear of it."""
        if is_check(error):
            self._unheard.append(error)

    def swallowed(self) -> BaseException | None:
        """A check of the tests that failed inside the candidate's call and never came out of it."""
        return self._unheard[0] if self._unheard else None

    def _handed_over(self, value: Any) -> bool:
        number = self.mine_by_id.get(id(value))
        return number is not None and self.mine.get(number) is value

    def _perform(self, what: str, arguments: list[Any]) -> Any:
        """Do what the candidate asks, on objects that the tests handed over and with no way into their insides."""
        if what == "stdin":
            if arguments[0] == "input":
                return builtins.input(*arguments[1:])
            return sys.stdin.read() if arguments[0] == "read" else sys.stdin.readline()
        if what == "op":
            operation, value = arguments[0], arguments[1]
            own = operation in ("copy", "deepcopy") and type(value).__module__ in TEST_MODULES
            refused = operation not in OPERATIONS or (operation in _NOT_FOR_CANDIDATES and not own)
            if refused or not self._handed_over(value):
                raise TypeError("not allowed")
            return OPERATIONS[operation](*arguments[1:])
        if what in ("stop", "ended"):
            return getattr(self.waiting, what)(arguments[0])
        value = arguments[0]
        if not self._handed_over(value):
            raise TypeError("not an object that the tests handed over")
        if what == "call":
            if type(arguments[1]) is not tuple or type(arguments[2]) is not dict:
                raise self.protocol("a call")
            return value(*arguments[1], **arguments[2])
        if what in ("await", "special", "start"):
            awaited = self._awaited(*arguments)
            if what == "start":
                return self.waiting.start(awaited)
            if what == "special" and arguments[1] == "__aiter__":
                return awaited
            self.loop = self.loop or asyncio.new_event_loop()
            return nested(self.loop, awaited)
        name = arguments[1]
        if what == "getattr" and name in _OF_NAMED_TUPLES and isinstance(value, tuple):
            return getattr(value, name)
        if type(name) is not str or (name.startswith("_") and name not in _READABLE) or name.startswith(_FRAME_NAMES):
            raise AttributeError(name)
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)) and not name.startswith("__"):
            raise AttributeError(name)
        if _counts(value, name):
            raise AttributeError(name)
        if what == "getattr":
            return getattr(value, name)
        if what == "setattr":
            # of a class itself only what is new, and only where the tests gave the class and not just an object of it
            held = value if isinstance(value, type) else type(value)
            if (
                _is_mock(value)
                or callable(getattr(held, name, None))
                or (held is value and id(value) not in self._given)
            ):
                raise AttributeError(name)
            return setattr(value, name, arguments[2])
        raise self.protocol(f"a request {what!r}")

    def _awaited(self, value: Any, name: str = "", arguments: Any = ()) -> Any:
        """A coroutine of the tests, or what an asynchronous special method of an object of theirs returns."""
        if not name:
            if type(value) is not types.CoroutineType:
                raise self.protocol("awaiting what is no coroutine")
            return value
        if name not in ASYNCHRONOUS or type(arguments) is not tuple:
            raise self.protocol("a special method")
        return getattr(type(value), name)(value, *arguments)


def _special_of(cls: type) -> list[str]:
    return [name for name in (*SPECIAL, *ASYNCHRONOUS) if any(name in namespace(base) for base in cls.__mro__[:-1])]


def _defines(meta: type, name: str) -> bool:
    """A class of classes has this method of its own."""
    ancestors: tuple[type, ...] = type.__getattribute__(meta, "__mro__")
    return any(name in namespace(base) for base in ancestors if base not in (type, object))


def _is_mock(value: Any) -> bool:
    mock = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def _counts(value: Any, name: str) -> bool:
    """This attribute of a mock counts its calls, or says what they return: for the tests alone."""
    return _is_mock(value) and hasattr(sys.modules["unittest.mock"].MagicMock, name)


def _names_of(error: BaseException) -> list[str]:
    return [cls.__name__ for cls in type(error).__mro__]
