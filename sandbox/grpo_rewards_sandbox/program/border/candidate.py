"""The candidate's side of the border: loads the candidate, serves what the tests ask. Untrusted once the candidate runs."""

from __future__ import annotations

import builtins
import contextlib
import contextvars
import functools
import importlib
import importlib.machinery
import json
import operator
import os
import site
import sys
import time
import types
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import script
from . import calling, stubs
from .codec import Ref
from .describing import Describer, as_note
from .event_loop import EventLoop
from .messages import NOBODY, Along, Closed, Ends
from .operations import OPERATIONS
from .signatures import described
from .stdlib import exception, find, new_exception
from .streams import Printed, Typed
from .stubs import Here, Stub, differs
from .surroundings import SEEDS, STATES, open_database, open_temporary_files


class CandidatePeer(Describer):
    """Encodes the candidate's objects as handles and does what the tests ask."""

    def __init__(self, ends: Ends = NOBODY) -> None:
        super().__init__(ends)
        self.out, self.err = Printed(1), Printed(2)
        self.loop = EventLoop(self.request)
        self.asks_subclass = False  # the program does
        self.folder = ""  # the working directory, where the tests share one
        self._unsaid: list[tuple[Any, ...]] = []  # by threads that the candidate has of itself
        self.replaced: dict[tuple[str, tuple[str, ...], str], object] = {}
        self.requests: dict[str, Callable[..., object]] = {
            "method": lambda value, name, args, named: getattr(value, name)(*args, **named),
            "call": lambda value, args, named: value(*args, **named),
            "op": lambda name, *args: (_leave if name == "exit" else OPERATIONS[name])(*args),
            "getattr": getattr,
            "setattr": setattr,
            "delattr": delattr,
            "new": lambda cls, args, named: cls.__new__(cls, *args, **named),
            "vars": _attributes,
            "signature": _signature,
            "isinstance": isinstance,
            "issubclass": issubclass,
            "run_coroutine": self.loop.begin,
            "special": self._special,
            "next": self._special,
            "next_result": self.loop.result,
            "result": self.loop.result,
            "turn": self.loop.turn,
            "cancel": self.loop.cancel,
            "load": self._load,
            "patch": self._patch,
            "argv": partial(setattr, sys, "argv"),
            "environment": _environment,
            "folder": self._follow,
            "seed": _seed,
            "state": _state,
            "load_calls": self._load_calls,
            "ping": lambda value: value,
        }

    # ---- objects of the tests

    def number_of_theirs(self, value: object) -> int | None:
        kind = type(value)  # not what it says that it is, which may be what it stands for and has yet to make
        if issubclass(kind, Stub):
            number: int = object.__getattribute__(value, "_border_number")
            return number
        if issubclass(kind, stubs.StubClass):
            return stubs.number_of(value)  # type: ignore[arg-type]
        return None

    def encode_container(self, value: object, name: str, cls: int | None = None) -> object:
        kind = type(value)
        if cls is None and kind.__module__ == self.program.get("__name__"):
            base = next(base.__name__ for base in kind.__mro__ if base.__module__ != kind.__module__)
            differs(f"an object of class {kind.__name__} is the {base} it derives from, without what its class adds")
        return super().encode_container(value, name, cls)

    def decode_object(self, tag: str, body: Any) -> object:
        if tag == "E":
            return self.decode_exception(body)
        if tag == "De":
            return getattr(builtins, body[0])(*self.decode_all(body[1]))
        if tag == "Q":
            value = self.named[body] = find(body)
            return value
        number, special, callable_, of_class = body
        if callable_ == "class":
            return self._class_of_tests(of_class)
        value = self.got(number)
        if value is None:
            if callable_ == "coroutine":
                value = self.loop.theirs(Ref(number))
            else:
                cls = self._class_of_tests(of_class) if type(of_class) is list else None
                seen = None if cls else of_class if type(of_class) is str else self.decode(of_class)
                value = stubs.make(number, special, callable_, cls, seen)
            # others' weak references to a stub are none of ours, and can be counted
            self.theirs[number] = weakref.ref(value, lambda _: None)
        return value

    def _class_of_tests(self, described: list[Any]) -> type:
        *own, bases, builtin, error = described
        if error is not None:
            return stubs.exception_class(exception(error[0]), error[1])
        return stubs.class_of(tuple(map(self._class_of_tests, bases)), self.decode(builtin), own)

    def decode_exception(self, coded: Any) -> BaseException:
        if "p" in coded:
            return self.mine[coded["p"]]  # type: ignore[return-value]
        base = exception(coded["b"])
        error: Any = new_exception(stubs.exception_class(base, coded["n"]), self.decode(coded["a"]))
        for name, part in coded["s"].items():
            with contextlib.suppress(Exception):
                setattr(error, name, self.decode(part))
        for note in coded["notes"]:
            error.add_note(note)
        with contextlib.suppress(AttributeError, KeyError):
            error._border_test_exception = coded["t"]
        return error  # type: ignore[no-any-return]

    # ---- what goes along

    def add_extras(self, along: Along) -> None:
        if self.new_classes:
            along["classes"], self.new_classes = self.new_classes, []
        if sys.stdout is not sys.__stdout__:
            differs("what the tests' own functions print is not in the standard output that the candidate redirected")
        if self.folder and _where() != self.folder:
            differs("the tests do not follow the candidate into another working directory")
        if Here.met:
            along["differs"] = [*Here.met]
        if self.loop.goes_on():
            along["loop"] = 1
        # a thread of the candidate's own asks for nothing but calls: what was printed before it did is heard before
        if (self.out.parts or self.err.parts) and not self._speaks():
            along["printed"] = [self.out.take(), self.err.take()]

    def take_extras(self, along: Along) -> None:
        """Nothing but what all take."""

    heard = take_extras

    def raised(self, error: BaseException) -> None:
        """It is the candidate's from here on."""

    def request(self, what: str, *arguments: object) -> Any:
        self._print()
        return super().request(what, *arguments)

    def _print(self) -> None:
        """Have the tests' side print what was printed here, in one piece, before it hears of anything else."""
        if not (self.out.parts or self.err.parts or self._unsaid) or not self._speaks():
            return
        if self.out.parts or self.err.parts:
            super().request("print", self.out.take(), self.err.take())
        while self._unsaid:
            super().request(*self._unsaid.pop(0))

    def _speaks(self) -> bool:
        """This thread stands for one of the tests'. What another prints or warns of is told by the next one that does."""
        return self.is_theirs(self.pair().number)

    def say(self, what: str, *arguments: object) -> None:
        """Tell the tests what happened: before a job there are none, in the process that forks those of jobs."""
        if self.ends is not NOBODY:
            if self._speaks():
                self.request(what, *arguments)
            else:
                self._unsaid.append((what, *arguments))

    def typed(self, *how: str) -> Any:
        """Ask for what is typed."""
        if self._speaks():
            return self.request("stdin", *how)
        raise EOFError("a thread of the program's own is given no input")

    # ---- requests of the tests

    def serve_on(self, ends: Ends) -> None:
        """Serve the tests, who are on the other side of these, until they are done."""
        self.ends = ends
        try:
            self.serve_all()
        except Closed:
            return

    def arguments(self, what: str, coded: Any) -> list[object]:
        if what == "call":
            return [self.held(coded[0]), self.decode_all(coded[1]), self._named(coded[2:])]
        if what == "method":
            return [self.held(coded[0]), coded[1], self.decode_all(coded[2]), self._named(coded[3:])]
        return super().arguments(what, coded)

    def _named(self, coded: Any) -> dict[str, object]:
        return {name: self.decode(argument) for name, argument in coded[0].items()} if coded else {}

    def perform(self, what: str, arguments: list[object], along: Along) -> object:
        try:
            if "loop" in along:
                return self.loop.inside(partial(self.requests[what], *arguments))
            return self.requests[what](*arguments)
        finally:
            self._print()

    def _follow(self, folder: str) -> None:
        os.chdir(folder)
        self.folder = _where()

    def _special(self, value: object, name: str, arguments: tuple[object, ...], beside: bool) -> object:
        """Begin to wait for what an asynchronous special method, or one of an asynchronous generator, returns."""
        return self.loop.begin(getattr(type(value), name)(value, *arguments), beside)

    def _load(self, source: str, name: str, shown: str = "") -> object:
        """Run the candidate's module after the `shown` part of the tests' setup.

        Return it, the names that it defines, its `__all__` and its docstring.
        """
        self.has_handlers, self.asks_subclass = "signal" in source, "issubclass" in source
        if "sqlite" in source:
            sys.addaudithook(open_database)
        module = _module(name)
        self.program = module.__dict__
        if shown:
            exec(compile(shown, "setup.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
        script.run(source, script.path_of(name), module.__dict__)
        if any(type(value) is contextvars.ContextVar for value in [*vars(module).values()]):
            differs("the tasks of the tests have one set of the candidate's context variables among them")
        defined = [name for name in vars(module) if not (name.startswith("__") and name.endswith("__"))]
        return module, (defined, getattr(module, "__all__", None), getattr(module, "__doc__", None))

    def _patch(self, module: str, place: tuple[str, ...], name: str, back: bool, value: object) -> None:
        """Follow a test that replaces something of a library's module, or of a class in it, or puts it back."""
        held = functools.reduce(getattr, place, importlib.import_module(module))
        # as it lies there: a class gives what it inherits too, and a method of its own bound
        before = self.replaced.setdefault((module, place, name), vars(held).get(name, self))
        if not back:
            setattr(held, name, value)
        elif before is not self:
            setattr(held, name, before)
        elif name in vars(held):
            delattr(held, name)

    def _load_calls(self, source: str, name: str, setup: str, asked: str) -> None:
        """Load a program whose function or method is then called with values."""
        caller = calling.load(_module(name), source, setup, json.loads(asked))
        self.requests.update(take_calls=caller.take, make_calls=lambda nothing: caller.go_on())


def _where() -> str:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def _module(name: str) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__, module.__spec__ = script.path_of(name), importlib.machinery.ModuleSpec(name, None)
    return module


def _attributes(value: object) -> object:
    """Return what `vars` gives: an object's own dictionary, which both sides hold; a copy of what shows a class's or a module's."""
    held = value.__dict__
    if isinstance(value, types.ModuleType):
        return {name: part for name, part in held.items() if name != "__builtins__"}  # which nobody asks for
    return dict(held) if type(held) is not dict else held


def _leave(context: object, kind: object, error: object, trace: object) -> object:
    """By an error a context is left while that is handled: what writes it, as `logging` does, looks for it."""
    if not isinstance(error, BaseException):
        return OPERATIONS["exit"](context, kind, error, trace)
    try:
        raise error
    except BaseException:  # noqa: BLE001  whatever it is
        return OPERATIONS["exit"](context, kind, error, error.__traceback__)


def _signature(value: Callable[..., object]) -> object:
    found = described(value)
    return found and (found[0], {name: as_note(note) for name, note in found[1].items()})


_states: dict[str, Any] = {}  # as they were before a test changed them


def _seed(module: str, given: int) -> None:
    operator.attrgetter(SEEDS[module])(importlib.import_module(module))(given)


def _state(said: tuple[str, Any]) -> None:
    """Follow what a test does to a state of this process, and back to what the program made of it."""
    name, value = said
    state = STATES[name]
    module = importlib.import_module(state.module)
    _states.setdefault(name, state.read(module))
    state.set(module, _states.pop(name) if value is None else value)


def _environment(changes: dict[str, str | None]) -> None:
    """Follow what a test does to os.environ."""
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "TZ" in changes:
        time.tzset()
    if "TMPDIR" in changes:
        open_temporary_files()


def _follow_warnings(peer: CandidatePeer) -> None:
    def show(message: Any, *_: object, **_named: object) -> None:
        peer.say("warn", message)

    # each is told: which ones count the tests' own filters decide
    warnings.simplefilter("always")
    warnings.showwarning = show


def follow_logging(peer: CandidatePeer) -> None:
    """Send log records to the tests' side."""
    import logging

    ordinary = frozenset(vars(logging.makeLogRecord({"message": "", "asctime": "", "taskName": ""})))

    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            extra = {name: value for name, value in vars(record).items() if name not in ordinary}
            text, args = (record.msg, record.args or ()) if isinstance(record.msg, str) else (record.getMessage(), ())
            place = str(record.pathname), int(record.lineno), str(record.funcName)
            peer.say("log", record.name, record.levelno, text, args, extra, error, place)

    root, forward = logging.getLogger(), Forward()
    root.addHandler(forward)
    default, enabled, handle = root.level, logging.Logger.isEnabledFor, logging.Logger.callHandlers

    def chain(logger: logging.Logger | None) -> list[logging.Logger]:
        return [] if logger is None else [logger, *chain(logger.parent)]

    def is_enabled(self: logging.Logger, level: int) -> bool:
        """Where the program sets no level it is the tests' to set: all goes there, and to handlers of its own what went there anyway."""
        inherits = not any(one.level for one in chain(self) if one is not root)
        unset = inherits and _states.get("logging", root.level) <= default
        return enabled(self, level) or (unset and self.manager.disable < level)

    def call_handlers(self: logging.Logger, record: logging.LogRecord) -> None:
        if enabled(self, record.levelno):
            handle(self, record)
        elif all(one.propagate for one in chain(self)):
            forward.handle(record)

    logging.Logger.isEnabledFor, logging.Logger.callHandlers = is_enabled, call_handlers  # type: ignore[method-assign]


def prepare(peer: CandidatePeer) -> None:
    """Make this process the candidate's: its streams, its way to the tests."""
    Here.peer = peer
    typed = Typed(peer.typed)
    for name, stream in (("stdout", peer.out.stream()), ("stderr", peer.err.stream()), ("stdin", typed)):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    site.setquit()
    site.sethelper()
    builtins.input = lambda prompt="": peer.typed("input", str(prompt))
    _follow_warnings(peer)
    follow_logging(peer)
