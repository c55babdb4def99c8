"""Proxys of functions, modules, generators and coroutines."""

from __future__ import annotations

import inspect
import types
from collections.abc import AsyncGenerator, Generator
from typing import Any

from .awaiting import outcome
from .codec import Ref
from .messages import DescribedFunction
from .proxies import Border, ProxyClass, asked, assign, delete, held_against, listed, module_namespace, read, seen
from .signatures import code_of


class Annotation:
    """What an annotation of the candidate's says; equal to what reads the same."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.text == (other if isinstance(other, str) else str(other))

    def __hash__(self) -> int:
        return hash(self.text)


def annotation(said: object) -> object:
    """Never plain text: `typing.get_type_hints` would evaluate it, here."""
    return said if isinstance(said, type) else None if said == "None" else Annotation(str(said))


class ProxyFunction:
    """A function or bound method of the candidate."""

    __test__ = False  # for pytest: none that counts as a test

    @property
    def __class__(self) -> Any:
        own = self.__dict__
        # isinstance goes by this too: inspect takes it for the function that it stands for
        return types.FunctionType if own["_border_kind"] != "other" else ProxyFunction

    @__class__.setter
    def __class__(self, value: object) -> None:
        raise TypeError("the class of a function is what it is")

    def __init__(self, said: DescribedFunction) -> None:
        own = self.__dict__
        own["_border_number"], own["_border_peer"] = said.number, Border.peer
        own["_border_kind"] = said.kind
        own["__name__"], own["__qualname__"] = str(said.name), str(said.qualname)
        own["__doc__"], own["__module__"] = said.doc, said.module

    def _border_signature(self) -> inspect.Signature | None:
        """What its parameters and annotations are, asked for where somebody looks; None where it does not say."""
        own = self.__dict__
        if "__annotations__" not in own:
            found, own["__annotations__"] = Border.peer.signature(self)
            if found is not None:
                own["__signature__"] = found
        return own.get("__signature__")

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        if "_border_asked" in self.__dict__:
            held_against(self, self.__dict__["_border_asked"], args, kwargs)
        result = Border.peer.call(self.__dict__["_border_number"], args, kwargs)
        return Border.peer.constructed(result) if "_border_constructs" in self.__dict__ else result

    def __getattr__(self, name: str) -> object:
        if name == "__annotations__":
            self._border_signature()
            return self.__dict__[name]
        if name == "__signature__" and (found := self._border_signature()) is not None:
            return found
        if name == "__code__":
            return code_of(self.__dict__["_border_kind"])
        return read(self, name, asked(self, name))

    __setattr__ = assign

    def __get__(self, instance: object, owner: object = None) -> object:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<function {self.__dict__['__name__']}>"

    def __del__(self) -> None:
        try:
            if self.__dict__["_border_peer"] is Border.peer:
                Border.peer.release(self.__dict__["_border_number"], self)
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


class ProxyModule(types.ModuleType):
    """The candidate's module, or one it imports."""

    @property
    def __dict__(self) -> object:  # type: ignore[override]
        return seen(module_namespace(self), Border.peer.request("vars", self))

    def __getattr__(self, name: str) -> object:
        own = module_namespace(self)
        taken = own.get("_border_read", {})
        if name in taken:
            return taken.pop(name)  # a moment ago, to see what a star import may bring
        found = asked(self, name)
        if isinstance(found, ProxyClass):
            Border.peer.found_class(name, found)
        return read(self, name, found, "_border_loaded" in own)

    __setattr__ = assign
    __delattr__ = delete
    __dir__ = listed


def generator(number: int) -> Generator[object, object, object]:
    """A generator of the candidate."""
    found = _advancing(Ref(number))
    next(found)  # it may have begun over there: what is sent first goes there too
    return found


def _advancing(ref: Ref) -> Generator[object, object, object]:
    value: object = None
    peer = Border.peer
    while True:
        try:
            sent = yield value
            step: tuple[object, ...] = ("next", ref) if sent is None else ("send", ref, sent)
        except GeneratorExit:
            # one that was garbage of an earlier job in this process has a number that is another's by now
            if getattr(Border, "peer", None) is peer:
                peer.request("op", "close", ref)
            raise
        except Exception as error:  # noqa: BLE001
            _thrown_in(error)
            step = "throw", ref, error
        try:
            value = Border.peer.request("op", *step)
        except StopIteration as end:
            return end.value


def _thrown_in(error: Exception) -> None:
    """An error that the tests throw into a generator belongs to the candidate."""
    at = error.__traceback__
    if at is None or at.tb_next is not None:  # else it was never raised, so it is no check that failed
        Border.peer.note(error)


async def coroutine(awaitable: object) -> object:
    """A coroutine of the candidate, or an object of its that can be awaited."""
    return await outcome("run_coroutine", awaitable)


async def asynchronous_generator(number: int) -> AsyncGenerator[object, object]:
    """An asynchronous generator of the candidate."""
    ref = Ref(number)
    step: tuple[str, tuple[object, ...]] = "asend", (None,)
    while True:
        try:
            value = await outcome("next", ref, *step)
        except StopAsyncIteration:
            return
        try:
            step = "asend", ((yield value),)
        except GeneratorExit:
            await outcome("next", ref, "aclose", ())
            raise
        except Exception as error:  # noqa: BLE001
            _thrown_in(error)
            step = "athrow", (error,)
