"""Proxies made from what the candidate says of its classes, objects and functions. All of it may be a lie."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, cast

from . import libraries, stdlib, uses
from .messages import DescribedClass, DescribedFunction, Ends, Note, OfSomeClasses
from .operations import EQUALITY, ORDER, SPECIAL, TEXT
from .proxies import (
    Facts,
    Proxy,
    ProxyClass,
    ProxyCollection,
    ProxyException,
    ProxyObject,
    ProxyValue,
    Reading,
    facts,
    made_without_init,
    names_member,
    number_of,
    read,
)
from .proxy_exceptions import MAX_KEPT, ExceptionMaker, library_base
from .proxy_functions import ProxyFunction, annotation
from .signatures import dataclass_fields
from .values import BASES, CONTAINERS, VALUE_NAMES

_KINDS: dict[str, type] = {
    "property": property, "classmethod": classmethod, "staticmethod": staticmethod, "cached_property": functools.cached_property,
}  # fmt: skip
_CONTAINER_TYPES = tuple(container.type for container in CONTAINERS.values() if container.type is not object)
_BY_VALUE = (*BASES, *_CONTAINER_TYPES)
# what every class whose objects are compared, converted or added as data has a say in only by the rules of `uses`
_ALWAYS = ("__eq__", "__ne__", "__hash__", "__repr__")
_ORDERS = frozenset(f"__{operation}__" for operation in ORDER)
_DESCRIBES = frozenset(("__get__", "__set__"))
_ITEMS = ("__getitem__", "__iter__", "__reversed__")
MAX_CLASSES = 10_000  # what is kept as long as the job, and a candidate may send without end
MAX_DIFFERENCES, MAX_SAID = 3, 200
# of these modules both sides have the same, or nothing of theirs is compared; not of `enum`, whose classes of integers none here
# can have among its ancestors
_ALIKE = frozenset("builtins typing abc collections collections.abc".split())


class _Doc:
    """The docstring of a class; an object of it may have its own."""

    def __init__(self, said: str | None) -> None:
        self._said = said

    def __get__(self, value: Any, owner: object = None) -> object:
        return self._said if value is None or not isinstance(value, ProxyObject) else value.__getattr__("__doc__")


class ProxyMaker(ExceptionMaker):
    """Makes proxies, each once. `under_test`: the names of the classes under test."""

    module_name: str  # the candidate's
    told: Callable[[Any], Any]  # a docstring as the tests see it

    def __init__(self, ends: Ends) -> None:
        super().__init__(ends)
        self.classes: dict[int, ProxyClass] = {}
        self.under_test: frozenset[str] = frozenset()
        self.text = Reading()
        self.origins: dict[int, int] = {}
        self.given_back = 0  # how often something came back that is here already
        self._differences: dict[str, None] = {}  # what was met that plain Python has otherwise, in its order
        self._elsewhere: dict[str, None] = {}  # and of classes, that they are other ones than here

    def differs(self, what: str) -> None:
        """Remember what is otherwise here than in plain Python: a reason says so, and no verdict comes of it."""
        if len(self._differences) < MAX_DIFFERENCES:
            self._differences.setdefault(what[:MAX_SAID])

    def differences(self) -> list[str]:
        """What to say of a failure; that a class is another one, or how its objects end, last: many are so and little comes of it."""
        return [*self._differences, *self._elsewhere][:MAX_DIFFERENCES]

    def without_gradient(self) -> None:
        self.differs("a tensor crosses as its values, and no gradient goes back through it")

    def encode_container(self, value: Any, name: str, cls: int | None = None) -> object:
        if name == "TT" and value.grad_fn is not None:
            self.without_gradient()
        return super().encode_container(value, name, cls)

    def _take_classes(self, described: list[DescribedClass]) -> None:
        for said in described:
            one = DescribedClass(*said)
            kinds = [type(part) for part in (one.number, one.name, one.module, one.more)] == [int, str, str, dict]
            self.demand(kinds and one.number not in self.classes and len(self.classes) < MAX_CLASSES, "a class")
            parts = one.module.split(".")
            other = one.module not in _ALIKE and parts[0] != self.module_name
            if other and len(self._elsewhere) < MAX_DIFFERENCES and not self.text.words.isdisjoint((*parts, one.name)):
                self._elsewhere.setdefault(
                    f"{one.module}.{one.name} in the candidate's process is another class than here"
                )
            if "ends" in one.more and len(self._elsewhere) < MAX_DIFFERENCES:
                self._elsewhere.setdefault(
                    f"an object of class {one.name[:MAX_SAID]} that the tests let go ends when the candidate is next called"
                )
            cls = self.classes[one.number] = self._proxy_class(one)
            if one.more.get("abstract"):
                type.__setattr__(cls, "__abstractmethods__", frozenset(map(str, one.more["abstract"])))

    def _proxy_class(self, described: DescribedClass) -> ProxyClass:
        name, special, more = described.name, described.special, described.more
        parents, known = self._bases(described.bases)
        abstract: list[Any] = [cls for cls in known if cls.__module__ == "collections.abc"]
        exception = any(issubclass(base, BaseException) for base in parents)
        # the tests' own classes it has by their numbers, never by a name
        named = described.name == described.qualname and described.module not in uses.TEST_MODULES
        here = stdlib.loaded_class(described.module, described.name) if named else None
        if exception and stdlib.library_exception(here):
            parents = [cast(type, here)]
        value = next((part for base in parents for part in base.__mro__ if part in _BY_VALUE), None)
        # of values the proxy's class says what it is
        shown = None if here is None or "kind" in more or _is_value_type(here) else here
        above = [facts(base) for base in parents if isinstance(base, ProxyClass)]
        names = {name, *map(str, more.get("bound", ()))}  # `Point = namedtuple("_Point", ..)` is the tests' `Point`
        noted = Facts(
            described.number,
            self,
            tuple(cls for cls in known if cls not in abstract),
            tested=not self.under_test.isdisjoint(names) or any(base.tested for base in above),
            named=(shown is not None and name in self.text.kinds) or any(base.named for base in above),
            value=value,
            enum=any(cls.__module__ == "enum" for cls in known) or any(base.enum for base in above),
            compares="__eq__" in special or any(base.compares for base in above),
            orders=not _ORDERS.isdisjoint(special) or any(base.orders for base in above),
        )
        if value is not None and not (noted.tested or noted.enum or exception):
            # what else it derives from has no say in what the value counts as
            parents = [base for base in parents if issubclass(base, value)]
        mixin: type = ProxyException if exception else ProxyValue if value is not None else ProxyObject
        members: dict[str, object] = {
            # a class that says it is of builtins would be treated as one, here and by libraries
            "__module__": "candidate" if described.module == "builtins" else described.module,
            "__qualname__": str(described.qualname),
        }
        members.update(self._described(more))
        if value is not None and not all(issubclass(base, value) for base in parents):
            # of a mixin all that it has is described; what every object says does not go before the value's
            members.update((part, getattr(value, part)) for part in _ALWAYS)
        if value is types.SimpleNamespace:
            members["__slots__"] = ("_border_number",)  # its attributes are the value
        if not exception and (value is None or noted.tested):
            members.update(_special_methods(special, value))
            members.update((part, uses.Method(part)) for part in map(str, described.methods) if names_member(part))
            hides = (part for part in map(str, more.get("hides", ())) if names_member(part) and part not in members)
            members.update((part, uses.Attribute(part)) for part in hides)
        elif exception:  # its text was taken as it crossed
            asked = [part for part in special if SPECIAL.get(part) not in TEXT]
            members.update(_special_methods(asked, BaseException))
        elif value is not None and issubclass(value, dict) and "__missing__" in special:
            members["__missing__"] = uses.special_method("__missing__", "missing")
        if value in _CONTAINER_TYPES and "__hash__" in special and not noted.tested:
            members["__hash__"] = _hash_of_held(value)
        if value is None or noted.tested:
            members.update((part, method) for part, method in uses.ASYNCHRONOUS.items() if part in special)
        if mixin is ProxyObject:
            members["__new__"] = made_without_init
        if not _DESCRIBES.isdisjoint(special):
            members["__set_name__"] = uses.placed_in_class
        if mixin is ProxyObject and shown is not None:
            members["__class__"] = property(functools.partial(uses.class_in_tests, shown))
        if "protocol" in more:
            members["_border_protocol"] = tuple(map(str, more["protocol"]))
        if "__call__" in special:
            members["__call__"] = uses.call_object
        if not any(issubclass(base, mixin) for base in parents):
            parents.insert(0, mixin)
        make = ProxyCollection if more.get("collection") else ProxyClass
        if noted.tested and value is not None:
            items = [part for part in _ITEMS if hasattr(value, part)]
            bare = {
                **members,
                **_special_methods([*special, *items], None),
                "_border": noted._replace(known=(), value=None),
            }
            noted = noted._replace(bare=ProxyClass(name, (ProxyObject,), bare))
        try:
            cls = make(name, tuple(parents), {**members, "_border": noted})
        except TypeError:
            # base orders or layouts that no class here can have: keep the value, drop the parents
            plain = [base for base in parents if base is not mixin and not isinstance(base, ProxyClass)]
            cls = make(name, (mixin, *plain[:1]), {**members, "_border": noted._replace(known=())})
        for one in abstract:
            one.register(cls)
        return cls

    def _described(self, more: OfSomeClasses) -> dict[str, object]:
        """What a class says of itself beside its methods."""
        doc = more.get("doc")
        members: dict[str, object] = {"__doc__": _Doc(doc if type(doc) is str else None)}
        # identifiers: `dataclass` writes a function of them
        said = more.get("notes", {})
        notes = {part: annotation(self.decode(note)) for part, note in said.items() if part.isidentifier()}
        if notes:
            members["__annotations__"] = notes
        if "named" in more:
            fields = members["_fields"] = tuple(map(str, more["named"]))
            # of a named tuple the fields are the value: read here, not asked for anew. Not one called `__eq__`: its item would judge
            members.update((part, property(_item(part, at))) for at, part in enumerate(fields) if names_member(part))
        if "fields" in more:
            members["__dataclass_fields__"] = dataclass_fields(
                {str(at): self._field(part) for at, part in more["fields"].items()}
            )
        if more.get("kind") in _KINDS:
            seen = _KINDS[more["kind"]]
            members["__class__"] = property(lambda self: seen)
        return members

    def _bases(self, bases: list[object]) -> tuple[list[type], list[type]]:
        found: list[type] = []
        known: list[type] = []
        for base in bases:
            if type(base) is str:
                try:
                    found.append(stdlib.exception(base))
                except LookupError:
                    known.append(stdlib.known_base(base))
                    found += [part for part in known[-1].__mro__ if part in BASES]  # what its members hold
            elif isinstance(cls := self.decode(base), ProxyClass) or cls in _BY_VALUE:
                found.append(cls)
        # one library exception, the first: raised once, it is not to be all that somebody expects
        kept: list[type] = []
        for base in found:
            library = library_base(base)
            others = [library_base(other) for other in kept]
            if library is None or all(other is None or issubclass(library, other) for other in others):
                kept.append(base)
        return kept, known

    def _known(self, number: Any) -> object:
        self.demand(type(number) is int and number not in self.shared, "a handle")
        value = self.got(number)
        if value is not None:
            self._given_back(number)
        return value

    def _given_back(self, number: int) -> None:
        """What is here already the tests have found from now on; of those only what they made before can they make again."""
        self.given_back += 1
        before = self.origins.setdefault(number, uses.FOUND)
        if before in (uses.GIVEN, uses.MADE):
            self.origins[number] = uses.RETURNED

    def container(self, number: int) -> object:
        value = super().container(number)
        if isinstance(value, Proxy):
            self._given_back(number)
        return value

    def _instance(self, number: int, class_number: int, held: list[object]) -> object:
        value = self._known(number)
        if value is not None:
            return value
        cls: Any = self.classes[class_number]
        if held:
            plain = self.decode(held[0])
            self.demand(issubclass(cls, type(plain)), "not the value it says it is")
            self._compares_as_held(cls, type(plain))
            value = BASES[type(plain)](cls, plain)
        else:
            self.demand(not issubclass(cls, (BaseException, *_BY_VALUE)), "a value without its value")
            value = object.__new__(cls)
        return self._numbered(value, number)

    def _numbered(self, value: object, number: int) -> object:
        object.__setattr__(value, "_border_number", number)
        kept = self.text.by_id and len(self.theirs) < MAX_KEPT  # else its id would be the next one's
        try:
            self.theirs[number] = (lambda: value) if kept else weakref.ref(value)
        except TypeError:  # tuples and integers cannot be referred to weakly
            if len(self.theirs) < MAX_KEPT:
                self.theirs[number] = lambda: value
        return value

    def bare(self, value: object) -> object:
        """Return the same object of the candidate without the value that its class derives from."""
        bare, number = facts(type(value)).bare, number_of(value)
        if bare is None:
            return value
        found = self._numbered(object.__new__(bare), number)
        self.theirs[number] = lambda: found
        return found

    def number_container(self, value: object, number: int) -> None:
        # hostile: it would count as that object, which the tests may have made
        self.demand(number not in self.theirs, "a number given twice")
        self.origins.pop(number, None)  # hostile: given up before, it was one that the tests made
        if isinstance(value, Proxy):
            object.__setattr__(value, "_border_number", number)

    def container_class(self, number: Any, base: type) -> type:
        cls = self.classes[number]
        self.demand(issubclass(cls, base), "not the container it says it is")
        self._compares_as_held(cls, base)
        return cls

    def _compares_as_held(self, cls: type, base: type) -> None:
        name = type.__getattribute__(cls, "__name__")
        if not (facts(cls).tested or facts(cls).enum):
            self.differs(
                f"an object of class {name} counts as the {base.__name__} that it holds, unless the row has `classes: [{name}]`"
            )
        if facts(cls).compares or facts(cls).orders:
            self.differs(
                f"an object of class {name} is compared with plain data as the {base.__name__} that it holds, whatever its methods say"
            )

    def _function(self, said: DescribedFunction) -> object:
        value = self._known(said.number)
        if value is None:
            # one that wraps a function of the tests may say what that says; by other names libraries would look things up
            module = said.module if said.module in uses.TEST_MODULES else self.module_name
            value = ProxyFunction(said._replace(doc=self.told(said.doc), module=module))
            self.theirs[said.number] = weakref.ref(value)
        return value

    def _field(self, part: tuple[Note, list[object]]) -> tuple[object, tuple[object, ...]]:
        """The annotation of a dataclass' field, and its default where that is plain."""
        note, default = part
        return annotation(self.decode(note)), tuple(map(self.decode, default))


def _is_value_type(cls: type) -> bool:
    return issubclass(cls, (BaseException, *VALUE_NAMES, *_BY_VALUE)) or libraries.is_value_type(cls)


def _hash_of_held(base: Any) -> Callable[[Any], int]:
    """The hash of a container whose own class gives it one: it counts as what it holds, as at `==`."""
    mapping = issubclass(base, dict)
    alike = frozenset if mapping or base is set else tuple
    return lambda self: hash(alike(base.items(self) if mapping else base.__iter__(self)))


def _item(name: str, at: int) -> Callable[[Any], object]:
    return lambda self: read(self, name, self[at])


def _special_methods(special: list[str], value: type | None) -> dict[str, object]:
    """The special methods of a proxied class, as far as `uses` lets them: those that it has, and those that judge."""
    members: dict[str, object] = {}
    for dunder in {*special, *(_ALWAYS if value is None else ())}:
        operation = SPECIAL.get(dunder)
        if operation is not None:
            held = getattr(value, dunder, None) if value is not None and operation in EQUALITY | ORDER else None
            members[dunder] = uses.special_method(dunder, operation, held)
    if "!hash" in special or ("__eq__" in special and "__hash__" not in special):
        members["__hash__"] = None
    return members
