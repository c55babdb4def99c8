"""The tests' side of the border: what stands for each side's objects, and what is asked of the candidate. Never runs its code."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import sys
import types
import weakref
from _thread import get_ident
from collections.abc import Callable
from typing import Any, NoReturn

from ..standstill import Turns
from . import handed_over, stdlib
from .answers import Answers
from .awaiting import waiting
from .codec import Ref
from .failed_checks import Refused
from .libraries import OF_LIBRARIES
from .messages import NOTHING, Along, DescribedFunction, Ends
from .operations import AWAITED, SPECIAL
from .proxies import (
    Border,
    Proxy,
    ProxyClass,
    facts,
    held_against,
    module_namespace,
    namespace,
    number_of,
    own_number,
    read,
)
from .proxy_functions import ProxyFunction, ProxyModule, annotation, asynchronous_generator, coroutine, generator
from .signatures import shape_of, signature
from .surroundings import Surroundings
from .uses import GIVEN, MADE, TEST_MODULES, BoundMethod, made, of_tests, origin
from .values import CATCHING, CONTAINER_NAMES, HELD, pairs

_NEVER_CROSS = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)
_ENDS = (StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError)
_ITERATES = frozenset(("next", "send", "throw"))
_ITERATING = frozenset(("next", "next_result"))
_ASKS_WHOSE_MEMORY = frozenset(("shares_memory", "may_share_memory", "data_ptr"))
_ADVANCE: dict[str, Callable[[int], object]] = {
    "G": generator, "Co": lambda number: coroutine(Ref(number)), "AG": asynchronous_generator,
}  # fmt: skip
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_BEGIN = ("load", "load_calls", "take_calls")  # what a job brings with it
_OF_METHOD, _OF_PARTIAL = b"<bound method ", b"functools.partial(<"  # how texts begin that show insides
_COLLECTION = ("__iter__", "__len__", "__getitem__", "__contains__", "__reversed__")
_BRING_NUMPY = frozenset("np numpy pandas pd torch scipy sklearn".split())


class TrustedPeer(Answers):
    """Decodes handles into proxies, and asks the candidate what the tests ask of them."""

    trusted = True
    turns: Turns | None = None  # where both sides work in one folder

    def __init__(self, ends: Ends, *, under_test: frozenset[str], module_name: str, quiet: bool = False) -> None:
        super().__init__(ends, quiet=quiet)
        self.under_test = under_test
        self.refused = ""
        self.module_name = module_name
        self._sent: dict[str, object] = {}
        # classes that the tests found, by number: whether calling one makes an object
        self._makes: dict[int, bool] = {}
        self.threaded = not quiet
        self.surroundings = Surroundings()
        Border.peer = self

    @property
    def python_scalars(self) -> bool:  # type: ignore[override]
        """By the tests' text, not by what is imported here: an earlier job of this process, or the program, may have brought numpy."""
        return self.text.words.isdisjoint(_BRING_NUMPY)

    # ---- the candidate's objects

    def number_of_theirs(self, value: Any) -> int | None:
        kind = type(value)
        if kind is BoundMethod:
            return self.number_of_theirs(value.resolved())
        if kind is ProxyFunction or kind is ProxyModule or isinstance(kind, ProxyClass):
            return number_of(value)
        if isinstance(value, ProxyClass):
            return facts(value).number if "_border" in namespace(value) else None
        return None

    def decode_object(self, tag: str, body: Any) -> object:
        if tag == "E":
            return self.decode_exception(body)
        if tag == "Q":
            return self._sent[body]
        if tag == "I":
            return self._instance(*body)
        if tag == "C":
            return self.classes[body]
        if tag == "Fn":
            return self._function(DescribedFunction(*body))
        if tag in _ADVANCE and type(body) is int:
            return _ADVANCE[tag](body)
        if tag == "M":
            module = self._known(body[0])
            if module is None:
                module = ProxyModule(str(body[1]))
                module_namespace(module)["_border_number"] = body[0]
                self.theirs[body[0]] = weakref.ref(module)
            return module
        raise self.protocol("not a value")

    def builtin(self, name: str) -> object:
        if name not in CATCHING:
            return super().builtin(name)
        if name != "object":
            self.differs(
                f"{name} itself, which the candidate gave, catches no check of the tests: it needs a class of its own"
            )
        return CATCHING[name]

    # ---- what the tests may take an object for

    def load(self, source: str, name: str, shown: str = "") -> tuple[ProxyModule, Any]:
        """Run the program; return its module, as the tests import it, with what it says of its names.

        Where the same module comes back later, as a result, another proxy stands for it: an object that the candidate gave.
        """
        module, found = self.request("load", source, name, shown)
        self.demand(type(module) is ProxyModule, "no module")
        self.theirs.pop(number_of(module), None)
        module_namespace(module)["_border_loaded"] = True
        return module, found

    def refuse(self, why: str) -> NoReturn:
        """Fail the test for a use of an object that takes it for data."""
        self.refused = self.refused or why
        raise Refused(why)

    def found_class(self, name: str, cls: ProxyClass) -> None:
        """Remember by which names the tests have a class: one that has a function's name too answers for that function."""
        number = facts(cls).number
        self._makes[number] = self._makes.get(number, True) and name in self.under_test

    def constructed(self, value: object, cls: ProxyClass | None = None) -> object:
        """Remember that the tests made this object, by calling a class under test or a function of one."""
        makes = None if cls is None else self._makes.get(facts(cls).number)
        return value if makes is False else made(value, MADE if makes else GIVEN)

    def made_by_tests(self, value: object) -> bool:
        """The tests made this object, by calling a class under test."""
        return origin(value) == MADE

    def constructor(self, value: object) -> object:
        """What a function of a class under test returns the tests have made too."""
        if type(value) is ProxyFunction:
            value.__dict__["_border_constructs"] = True
        return value

    def release(self, number: int, value: object) -> None:
        super().release(number, value)
        if number not in self.theirs:  # else the same object without its value stands for it still
            self.origins.pop(number, None)

    def share_memory(self, numbers: list[int]) -> None:
        super().share_memory(numbers)
        self.differs("arrays that lie in one memory are copies here")
        if not self.text.words.isdisjoint(_ASKS_WHOSE_MEMORY):
            self.refuse("the tests ask whose memory an array is, which is the candidate's; they need fidelity: shared")

    def writes_to_overlapping(self) -> None:
        self.refuse(
            "the tests write to an array that lies in one memory with another, or with a frame; they need fidelity: shared"
        )

    def check_contents(self, tag: str, contents: list[object]) -> None:
        if tag in OF_LIBRARIES - {"ND"} and _holds_proxy(contents):
            self.refuse("the candidate returned an array or a frame that holds objects: that has to be plain data")
        if tag == "TT" and "backward" in self.text.words:
            self.without_gradient()
        if tag in ("NS", "NA"):
            for name, part in pairs(contents):
                read(part, name, part)

    # ---- objects of the tests

    def encode_object(self, value: Any) -> object:
        kind = type(value)
        if isinstance(value, BaseException):
            at = value.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            # one that was raised, and not only thrown into a generator of the candidate's: whoever is given it may let it go
            if at is not None and not str(at.tb_frame.f_globals.get("__name__")).startswith(__package__):
                self.leave_to_candidate(value)
            return {"E": self.encode_exception(value)}
        if kind in (property, staticmethod, classmethod):  # what its functions give, a class of the candidate's has
            parts = [getattr(value, part) for part in ("fget", "fset", "fdel", "__func__") if hasattr(value, part)]
            return {"De": [kind.__name__, self.encode_all(parts)]}
        if kind.__name__ == "PropertyMock":
            return self.encode_object(property(lambda _: value(), lambda _, new: value(new)))
        if isinstance(value, ProxyClass):
            # for its error: a class of the tests that derives from one of the candidate's cannot cross
            own_number(value)
        elif (
            isinstance(value, (type, types.ModuleType, *_FUNCTIONS))
            and (name := stdlib.function_name(value)) is not None
        ):
            # what the candidate's process has too is called there: here it could be told to open or load anything
            self._sent[name] = value
            return {"Q": name}
        elif isinstance(value, _NEVER_CROSS):
            raise TypeError(
                f"a {kind.__name__} may not cross to the candidate; choose fidelity: shared for these tests"
            )
        if isinstance(value, type) and of_tests(value):
            self._given.add(id(value))
            return {"H": [self.own(value), [], "class", self._own_class(value)]}
        value = self.one_method(value)
        number = self.own(value)
        special: list[str] = []
        of_class: object = None  # as the tests have it, the candidate's, or the name of one of the standard library
        if not isinstance(value, (*handed_over.CALLABLES, type)):
            special = [] if kind is types.CoroutineType else _special_of(kind)
            if kind.__module__ in TEST_MODULES:
                of_class = self._own_class(kind)
            elif handed_over.is_mock(value) and isinstance(value.__class__, ProxyClass):  # as it was specified
                of_class = self.encode(value.__class__)
            elif not callable(value) and "__await__" not in special:  # asyncio looks into what is of its classes
                of_class = stdlib.class_name(kind)
        how: object = callable(value) if kind is not types.CoroutineType else "coroutine"
        if kind in (types.FunctionType, types.MethodType):
            how = shape_of(value)
        return {"H": [number, special, how, of_class]}

    def _own_class(self, cls: type) -> list[object]:
        """A class of the tests' own, which the candidate may make objects of where it has one."""
        fields = getattr(cls, "__dataclass_fields__", None)
        known = (base for base in cls.__mro__ if base in HELD or base in CONTAINER_NAMES or base.__module__ == "enum")
        builtin = next(known, None)
        error = issubclass(cls, BaseException) and not isinstance(cls, ProxyClass)
        return [
            self.own(cls),
            cls.__name__,
            _special_of(cls),
            "__call__" in dir(cls),
            [name for name in _special_of(type(cls)) if name in _COLLECTION],
            [field.name for field in dataclasses.fields(cls)] if type(fields) is dict else None,
            stdlib.abstract_names(cls),
            [self._own_class(base) for base in cls.__bases__ if of_tests(base) and not issubclass(base, BaseException)],
            self.encode(builtin),
            [self.known_exception(cls), self.own_exceptions(cls)] if error else None,
        ]

    def signature(self, value: object) -> tuple[inspect.Signature | None, dict[str, object]]:
        """Ask for the signature of a function or class of the candidate: with its annotations, which any function has."""
        said = self.request("signature", value)
        parameters, notes = said if type(said) is tuple and len(said) == 2 else (None, {})
        notes = {str(name): annotation(note) for name, note in notes.items()} if type(notes) is dict else {}
        return signature(parameters, notes), notes

    # ---- what goes along

    def packed(self, kind: str | int, body: object, along: Along = NOTHING) -> bytes:
        message = super().packed(kind, body, along)
        # what the candidate is told by a text of Python's, made here of what it may only call
        if (_OF_METHOD in message or _OF_PARTIAL in message) and kind not in _BEGIN:
            self.refuse(
                "the tests would tell the candidate the text of a method or a partial, which shows what it holds; "
                "they can be run with fidelity: shared"
            )
        return message

    def add_extras(self, along: Along) -> None:
        if asyncio._get_running_loop() is not None:
            along["loop"] = 1

    def take_extras(self, along: Along) -> None:
        if "classes" in along:
            self._take_classes(along["classes"])
        for what in along.get("differs", ()):
            self.differs(str(what))

    def heard(self, along: Along) -> None:
        if (printed := along.get("printed")) is not None and not self._quiet:
            self.demand(type(printed) is list and len(printed) == 2, "what was printed")
            self._print(*printed)
        if "loop" in along and (here := waiting()) is not None:
            here.go_on()

    def raised(self, error: BaseException) -> None:
        if isinstance(error, handed_over.Withheld):
            self.refuse(str(error))
        self.leaves(error)
        if (failed := sys.exception()) is not error:
            self.leave_to_candidate(failed)

    def request(self, what: str, *arguments: object) -> Any:
        try:
            return self.ask(what, *arguments)
        except _ENDS as error:
            iterates = (what == "op" and arguments[0] in _ITERATES) or what in _ITERATING
            if self._ends_here(error, arguments, iterates=iterates):
                raise
            self.refuse(self._no_end(error))

    def _ends_here(self, error: BaseException, given: tuple[object, ...], *, iterates: bool) -> bool:
        """What ends an iterator of the tests is the candidate's to raise here, and any error that it was given by this use."""
        if any(error is part for one in given for part in (one if type(one) is tuple else (one,))):
            return True
        # what was cancelled while it waited over there is asked for its result; any other would end the task or
        # generator of the tests unseen, with the checks that follow
        if isinstance(error, asyncio.CancelledError):
            if asyncio._get_running_loop() is not None:
                return False
            error.__dict__["_border_no_loop"] = True
            return True
        # out of anything but an iterator it would end the tests' own loops: zip(map(solve, ...), ...)
        if iterates and not isinstance(error, GeneratorExit):
            return True
        if found := self.expected(error):
            self.named, self.named_in = error, get_ident()
        return found

    def _no_end(self, error: BaseException) -> str:
        """Say what the candidate raised that may not end what the tests do."""
        name = type(error).__name__
        if "_border_number" in error.__dict__:
            cancelled = isinstance(error, asyncio.CancelledError)
            return f"the candidate raised {name}" + (
                ", and the tests cancelled nothing that waited" if cancelled else ""
            )
        self.differs(f"{name} of a function of the tests does not come back to them through the candidate")
        return f"the candidate passed on {name} of a function of the tests"

    def _call(self, what: str, coded: list[object], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        try:
            self._follow()
            with self._crossing:
                coded.append(self.encode_all(args))
                if kwargs:
                    coded.append({name: self.encode(value) for name, value in kwargs.items()})
                answer = self._post(what, coded)
            return self._answer(answer)
        except _ENDS as error:
            if self._ends_here(error, args, iterates=False):
                raise
            self.refuse(self._no_end(error))

    def call(self, number: int, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Call an object of the candidate, by its number."""
        return self._call("call", [number], args, kwargs)

    def call_method(self, owner: object, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Call a method of an object of the candidate."""
        if not facts(type(owner)).tested:
            held_against(owner, name, args, kwargs)
        number = number_of(owner)
        if name not in self.text.unread:
            return self._call("method", [number, name], args, kwargs)
        before, how = self.given_back, self.origins.get(number)
        result = self._call("method", [number, name], args, kwargs)
        # a link of a chain: the tests look at no result of it, so they found nothing by it
        if how is not None and result is owner and self.given_back == before + 1:
            self.origins[number] = how
        return result

    def ask(self, what: str, *arguments: object) -> object:
        """Ask the candidate's side, whatever it raises."""
        self._follow()
        return super().request(what, *arguments)

    def tell(self, what: str, *arguments: object) -> None:
        """Have the candidate's side follow what the tests did."""
        self.request(what, *arguments)

    def _follow(self) -> None:
        """Tell the candidate what the test did to the environment, the folder and the random numbers."""
        self.settle()
        for what, value in self.surroundings.changes():
            super().request(what, value)


def _holds_proxy(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_holds_proxy, value))
    return isinstance(value, (Proxy, ProxyClass, ProxyFunction, types.GeneratorType))


def _special_of(cls: type) -> list[str]:
    return [name for name in (*SPECIAL, *AWAITED) if any(name in namespace(base) for base in cls.__mro__[:-1])]
