"""Mirrors made from what the candidate says of its classes, objects and functions. All of it may be a lie."""

from __future__ import annotations

import functools
import socket
import weakref
from typing import Any, cast

from . import stdlib
from .mirror_functions import Annotation, MirrorFunction, coroutine_function, make_signature
from .mirror_methods import ASYNCHRONOUS, VISIBLE_BASES, call_object, looks_like, special_method
from .mirrors import MirrorClass, MirrorCollection, MirrorException, MirrorObject, MirrorValue, namespace
from .operations import BY_BASE_VALUE, SPECIAL
from .peer import Peer
from .values import BASE_BY_NAME, BASES, EXCEPTIONS, STDLIB_BASES, VALUES

_KINDS: dict[str, type] = {
    "property": property, "classmethod": classmethod, "staticmethod": staticmethod, "cached_property": functools.cached_property,
}  # fmt: skip
_CONTAINER_BASES = frozenset(("list", "dict", "set", "bytearray"))
MAX_CLASSES, MAX_KEPT = 10_000, 100_000


class MirrorMaker(Peer):
    """Makes mirrors, each once."""

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        self.classes: dict[int, MirrorClass] = {}
        self._kept: list[Any] = []

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
