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
from typing import Any, cast

from . import stdlib
from .checks_in_flight import is_check
from .mirrors import (
    ASYNCHRONOUS,
    VISIBLE_BASES,
    Annotation,
    Border,
    MirrorClass,
    MirrorCollection,
    MirrorException,
    MirrorFunction,
    MirrorModule,
    MirrorObject,
    MirrorValue,
    asynchronous_generator,
    call_object,
    coroutine,
    coroutine_function,
    generator,
    looks_like,
    make_signature,
    module_namespace,
    namespace,
    special_method,
)
from .nesting import nested
from .operations import BY_BASE_VALUE, OPERATIONS, SPECIAL
from .peer import Peer, Ref
from .values import BASE_BY_NAME, BASES, EXCEPTION_NAMES, EXCEPTIONS, SCALARS, STDLIB_BASES, VALUES

_NEVER_CROSS = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)
_FRAME_NAMES = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")
_ITERATES = frozenset(("next", "send", "throw"))
_READABLE = frozenset(("__name__", "__doc__", "__qualname__", "__members__"))
_COLLECTION = ("__iter__", "__len__", "__getitem__", "__contains__", "__reversed__")
_OF_NAMED_TUPLES = frozenset(("_fields", "_replace", "_asdict"))
_KINDS: dict[str, type] = {
    "property": property, "classmethod": classmethod, "staticmethod": staticmethod, "cached_property": functools.cached_property,
}  # fmt: skip
_where = os.getcwd  # bound here: tests may replace it
TEST_MODULES = ("tests", "test_solution")
_NOT_FOR_CANDIDATES = frozenset(("dir", "copy", "deepcopy", "throw", "close"))
_CONTAINER_BASES = frozenset(("list", "dict", "set", "bytearray"))
MAX_CLASSES, MAX_EVENTS, MAX_KEPT = 10_000, 1000, 100_000


class TrustedPeer(Peer):
    """Decodes handles into mirrors; lets the candidate use only what the tests handed over, and only from outside."""

    trusted = True

    def __init__(self, sock: socket.socket, *, named: set[str], module_name: str, quiet: bool = False) -> None:
        super().__init__(sock, 0)
        self.named = named
        self.may_end = named & {"StopIteration", "StopAsyncIteration"}
        self.module_name = module_name
        self.classes: dict[int, MirrorClass] = {}
        self.limits_hit: list[str] = []
        self._exceptions: dict[int, BaseException] = {}
        self._their_exceptions: dict[int, BaseException] = {}
        self._kept: list[Any] = []
        self._given: set[int] = set()
        self._sent_names: dict[str, Any] = {}
        self._argv = list(sys.argv)
        self.loop: Any = None
        self._unheard: list[BaseException] = []
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

    def _take_classes(self, described: list[Any]) -> None:
        for number, name, qualname, module, bases, special, callable_, missing, more in described:
            if (
                type(number) is not int
                or number in self.classes
                or type(name) is not str
                or type(module) is not str
                or type(more) is not dict
                or len(self.classes) >= MAX_CLASSES
            ):
                raise self.protocol("a class")
            cls = self.classes[number] = self._mirror_class(
                number, name, str(qualname), module, bases, special, bool(callable_), bool(missing), more
            )
            if more.get("abstract"):
                type.__setattr__(cls, "__abstractmethods__", frozenset(map(str, more["abstract"])))

    def _mirror_class(
        self,
        number: int,
        name: str,
        qualname: str,
        module: str,
        bases: list[Any],
        special: list[str],
        callable_: bool,
        missing: bool,
        more: dict[str, Any],
    ) -> MirrorClass:
        doc = more.get("doc")
        mirrored, container, known = self._bases(bases)
        exception = any(issubclass(base, BaseException) for base in mirrored)
        by_value = any(part in BASES or part in STDLIB_BASES for base in mirrored for part in base.__mro__)
        members: dict[str, Any] = {
            "_border_container": container,
            "_border_class": number,
            "_border_peer": self,
            "_border_known": tuple(cls for cls, _ in known if cls is not None),
            "__module__": "candidate" if module == "builtins" else module,
            "__qualname__": qualname,
            "__doc__": doc if type(doc) is str else None,
        }
        for dunder in special:
            if dunder == "!hash":
                members["__hash__"] = None
            elif dunder in SPECIAL and not exception and not (by_value and (dunder in BY_BASE_VALUE)):
                if (
                    by_value
                    and dunder in ("__str__", "__repr__", "__format__")
                    and any(issubclass(b, str) for b in mirrored)
                ):
                    continue
                members[dunder] = special_method(dunder, SPECIAL[dunder])
        if "__eq__" in members and "__hash__" not in members:
            members["__hash__"] = None
        members.update((name, method) for name, method in ASYNCHRONOUS.items() if name in special)
        if container in VISIBLE_BASES:
            members["__class__"] = property(looks_like(name, VISIBLE_BASES[container]))
        if callable_:
            members["__call__"] = call_object
        if missing:
            members["__missing__"] = special_method("__missing__", "missing")
        notes = {str(part): self._annotation(*note) for part, note in more.get("notes", {}).items()}
        if notes:
            members["__annotations__"] = notes
        if "match" in more:
            members["__match_args__"] = tuple(map(str, more["match"]))
        if "fields" in more:
            members.update(_dataclass_members({str(at): self._field(part) for at, part in more["fields"].items()}))
        if more.get("kind") in _KINDS:
            seen = _KINDS[more["kind"]]
            members["__class__"] = property(lambda self: seen)
            members["__doc__"] = property(lambda self: self.__getattr__("__doc__"))
        mixin: type = MirrorException if exception else MirrorValue if by_value else MirrorObject
        if not any(issubclass(base, mixin) for base in mirrored):
            mirrored.insert(0, mixin)
        make = MirrorCollection if more.get("collection") else MirrorClass
        try:
            cls = make(name, tuple(mirrored), members)
        except TypeError:
            # base orders or layouts that cannot be mirrored together: keep the value, drop the mirrored parents
            plain = [base for base in mirrored if base is not mixin and not isinstance(base, MirrorClass)]
            cls = make(name, (mixin, *plain[:1]), {**members, "_border_known": ()})
        for _, abstract in known:
            if abstract is not None:
                cast(Any, abstract).register(cls)
        return cls

    def _bases(self, bases: list[Any]) -> tuple[list[type], str, list[tuple[type | None, type | None]]]:
        found: list[type] = []
        container = ""
        known = []
        for base in bases:
            if type(base) is str and base.startswith("m:"):
                try:
                    found.append(stdlib.exception(base[2:]))
                except LookupError:
                    known.append(stdlib.known_base(base[2:]))
            elif type(base) is int:
                parent = self.classes[base]
                found.append(parent)
                container = container or namespace(parent).get("_border_container", "")
            elif base in EXCEPTIONS:
                found.append(EXCEPTIONS[base])
            elif base in _CONTAINER_BASES or base.startswith("c:"):
                container = base
            elif base.startswith("v:"):
                found.append(VALUES[base[2:]].type)
            elif base in BASE_BY_NAME and base != "bool":
                found.append(BASE_BY_NAME[base])
        return found, container, known

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

    def _known(self, number: Any) -> Any:
        if type(number) is not int:
            raise self.protocol("a handle")
        self.got(number)
        known = self.theirs.get(number)
        return None if known is None else known()

    def _instance(self, number: int, class_number: int, base_name: str | None, coded: Any) -> Any:
        value = self._known(number)
        if value is not None:
            return value
        cls = self.classes[class_number]
        if base_name is not None:
            base = VALUES[base_name[2:]].type if base_name.startswith("v:") else BASE_BY_NAME[base_name]
            plain = self.decode(coded)
            if type(plain) is not base or not issubclass(cls, base):
                raise self.protocol("not the value it says it is")
            value = STDLIB_BASES[base](cls, plain) if base in STDLIB_BASES else cast(Any, base).__new__(cls, plain)
        elif issubclass(cls, BaseException):
            value = cls.__new__(cls)
        else:
            value = object.__new__(cls)
        if issubclass(cls, BaseException):
            BaseException.__setattr__(value, "_border_number", number)
        else:
            object.__setattr__(value, "_border_number", number)
        try:
            self.theirs[number] = weakref.ref(value)
        except TypeError:  # tuples and integers cannot be referred to weakly
            if len(self._kept) < MAX_KEPT:
                self._kept.append(value)
                self.theirs[number] = lambda: value
        return value

    def _function(
        self, number: int, kind: str, name: str, doc: str | None, signature: Any, notes: dict[str, Any]
    ) -> Any:
        value = self._known(number)
        if value is None:
            if kind == "co":
                value = coroutine_function(number, str(name))
            else:
                read = {str(part): self._annotation(*note) for part, note in notes.items()}
                value = MirrorFunction(number, str(name), doc, signature, read, kind)
            self.theirs[number] = weakref.ref(value)
        return value

    def _annotation(self, coded: Any, text: str) -> Any:
        """Never plain text: `typing.get_type_hints` would evaluate it, here."""
        return _note(None if coded is None else self.decode(coded), text)

    def _field(self, part: Any) -> tuple[Any, tuple[Any, ...]]:
        """The annotation of a dataclass' field, and its default where that is plain."""
        note, default = part
        return self._annotation(*note), tuple(map(self.decode, default))

    @staticmethod
    def signature(parameters: Any, notes: Any) -> Any:
        """Return what the candidate says is the signature of a class."""
        return make_signature(parameters, {str(name): _note(value, text) for name, value, text in notes})

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

    def encode_exception(self, error: BaseException) -> Any:
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
            self._unheard = [error for error in self._unheard if error is not known]
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
                if name in ("with_traceback", "add_note"):
                    continue
                try:
                    BaseException.__setattr__(error, name, value)
                except Exception:  # noqa: BLE001  a read-only attribute of a builtin exception
                    continue
        error.__dict__["_border_number"] = coded["h"]
        return error

    def _builtin_exception(self, name: str, args: tuple[Any, ...]) -> BaseException:
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
            return cls() if cls not in (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError) else ValueError()

    def _own_exception(self, coded: Any, args: tuple[Any, ...]) -> BaseException:
        cls: Any = self.classes[coded["c"]]
        if not issubclass(cls, BaseException):
            raise self.protocol("not an exception")
        if issubclass(cls, BaseExceptionGroup):
            return Exception("a group of exceptions")
        error: BaseException = BaseException.__new__(cls, *args)
        error.args = args
        if type(coded.get("str")) is str:
            error.__dict__["_border_text"] = coded["str"]
        return error

    # ---- what goes along

    def take_extras(self, message: dict[str, Any]) -> None:
        if "c" in message:
            self._take_classes(message["c"])
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
        self._follow()
        try:
            return super().request(what, *arguments)
        except (StopIteration, StopAsyncIteration) as error:
            # out of anything but an iterator it would end the tests' own loops: zip(map(solve, ...), ...)
            if what == "next" or (what == "op" and arguments[0] in _ITERATES) or self.may_end & {*_names_of(error)}:
                raise
            raise RuntimeError(f"the candidate raised {type(error).__name__}") from None

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
            if is_check(error):
                self._unheard.append(error)
            raise

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
        value = arguments[0]
        if not self._handed_over(value):
            raise TypeError("not an object that the tests handed over")
        if what == "call":
            if type(arguments[1]) is not tuple or type(arguments[2]) is not dict:
                raise self.protocol("a call")
            return value(*arguments[1], **arguments[2])
        if what == "await":
            if type(value) is not types.CoroutineType:
                raise self.protocol("awaiting what is no coroutine")
            self.loop = self.loop or asyncio.new_event_loop()
            return nested(self.loop, value)
        if what == "special":
            if arguments[1] not in ASYNCHRONOUS or type(arguments[2]) is not tuple:
                raise self.protocol("a special method")
            self.loop = self.loop or asyncio.new_event_loop()
            result = getattr(type(value), arguments[1])(value, *arguments[2])
            return result if arguments[1] == "__aiter__" else nested(self.loop, result)
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


def _note(value: Any, text: str) -> Any:
    return value if isinstance(value, type) else None if text == "None" else Annotation(str(text))


def _dataclass_members(fields: dict[str, tuple[Any, tuple[Any, ...]]]) -> dict[str, Any]:
    """What `dataclasses.fields`, `asdict`, `replace` and `is_dataclass` look at."""
    import dataclasses

    described = [
        (name, note, dataclasses.field(default=default[0]) if default else dataclasses.field())
        for name, (note, default) in fields.items()
    ]
    return {
        "__dataclass_fields__": vars(dataclasses.make_dataclass("template", described, kw_only=True))[
            "__dataclass_fields__"
        ]
    }


LIMIT_OF_ERRNO = {11: "processes", 23: "open files", 24: "open files", 27: "file size", 28: "disk", 12: "memory"}
