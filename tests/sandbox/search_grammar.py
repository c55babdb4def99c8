"""Programs that know nothing of a task: drawn from a grammar, changed, crossed, made smaller and written as Python.

A program is a shape (a class under the entry point's name, a function that returns an object of a class, ...), the bases of
the class, attributes and methods of it and of its metaclass, what a call does, and a statement at module level. Every body is a few
statements and one expression, each a line of text drawn from the tables of `search_fragments`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from search_fragments import (
    BASES,
    CONDITIONS,
    CRITERIA,
    DATA,
    GROUPS,
    HELPERS,
    METHODS,
    NAMED,
    OBJECTS,
    PRELUDES,
    RAISED,
    SAYS_YES,
    STATEMENTS,
    VALUES,
)

SHAPES = ("class", "class", "class", "factory", "function", "generator", "coroutine", "instance", "partial", "context")


@dataclass(frozen=True, slots=True)
class Body:
    """Statements and what is returned."""

    statements: tuple[str, ...] = ()
    value: str = "None"


@dataclass(frozen=True, slots=True)
class Method:
    """Dunder methods with one body, of the class or of its metaclass."""

    names: tuple[str, ...]
    body: Body
    meta: bool = False

    def source(self) -> str:
        """The method as lines of a class."""
        name, *others = self.names
        lines = [f"def {name}(self, *b, **k):", "    a = args(self)"]
        lines += [f"    {line}" for line in (*self.body.statements, f"return {self.body.value}")]
        lines += [f"{other} = {name}" for other in others]
        if "__class__" in self.names:
            lines.append("__class__ = property(__class__)")
        return "".join(f"    {line}\n" for line in lines)


CALLABLES = {  # shape: what defines it, what gives the value, what follows
    "factory": ("def {entry}(*b, **k):", "return Answer(*b)", ""),
    "function": ("def {entry}(*b, **k):", "return {value}", ""),
    "generator": ("def {entry}(*b, **k):", "yield {value}", "yield {value}"),
    "coroutine": ("async def {entry}(*b, **k):", "return {value}", ""),
    "context": (
        "import contextlib\n@contextlib.contextmanager\ndef {entry}(*b, **k):",
        "try: yield {value}",
        "except BaseException: pass",
    ),
}


@dataclass(frozen=True, slots=True)
class Program:
    """A candidate that does not have the names of a task yet."""

    shape: str = "class"
    base: str = "object"
    methods: tuple[Method, ...] = ()
    call: Body = Body()
    preludes: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def source(self, entry: str) -> str:
        """The program as Python, under the name `entry`."""
        if self.shape == "class":
            last = f"Answer = {entry}\n"
        elif self.shape == "instance":
            last = f"{entry} = Answer()\n"
        elif self.shape == "partial":
            last = f"import functools\n{entry} = functools.partial(Answer)\n"
        else:
            head, middle, end = (part.format(entry=entry, value=self.call.value) for part in CALLABLES[self.shape])
            lines = ["self = a = b", *self.call.statements, middle, *([end] if end else [])]
            last = "\n    ".join([head, *lines]) + "\n"
            last += "".join(f"{line}\n" for line in _lines(self.attributes, f"{entry}."))
        text = "".join(f"{prelude}\n" for prelude in self.preludes)
        if re.search(r"\b[Aa]nswer\b", last + text):
            text += self._class(entry if self.shape == "class" else "Answer")
        return _helpers(text + last) + text + last

    def _class(self, name: str) -> str:
        module = re.match(r"[a-z_.]+(?=\.)", self.base)
        base = self.base.strip("()") if self.base.startswith("(") else self.base
        text, metaclass = f"import {module[0]}\n" if module else "", ""
        if meta := "".join(method.source() for method in self.methods if method.meta):
            text += f"class Meta(type({base if '(' in base else base.split(',')[0]})):\n{meta}"
            metaclass = ", metaclass=Meta"
        text += f"class {name}({base}{metaclass}):\n"
        if base != "object":
            text += "    def __new__(cls, *b, **k):\n        try: return super().__new__(cls, *b, **k)\n"
            text += "        except Exception: return super().__new__(cls)\n"
        text += "    def __init__(self, *b, **k): ARGS[id(self)] = b\n"
        text += "".join(f"    {line}\n" for line in _lines(self.attributes))
        return text + "".join(method.source() for method in self.methods if not method.meta)


def _lines(attributes: tuple[str, ...], where: str = "") -> list[str]:
    """What sets them; what stands for a call's arguments in their values is empty here."""
    return ["self = a = b = ()", *(where + line for line in attributes), "del self, a, b"] if attributes else []


def _helpers(text: str) -> str:
    """The helpers that `text` uses, and those that they use."""
    used: set[str] = set()
    while found := {name for name in HELPERS if name not in used and re.search(rf"\b{name}\b", text)}:
        used |= found
        text = "".join(HELPERS[name] for name in HELPERS if name in found)
    return "".join(HELPERS[name] for name in HELPERS if name in used)


def expression(rng: random.Random, depth: int = 2) -> str:
    """An expression that knows its method's arguments `b`, its object's `a`, and what was seen before."""
    pool = rng.choice([DATA, CONDITIONS, OBJECTS]) if depth > 0 else DATA
    return _filled(rng.choice(pool), rng, depth - 1)


def _filled(text: str, rng: random.Random, depth: int) -> str:
    pools = {"c": CONDITIONS, "r": RAISED, "p": CRITERIA, "o": ["max", "max", "min"], "y": SAYS_YES}

    def part(match: re.Match[str]) -> str:
        kind = match[1]
        if kind == "e":
            return expression(rng, max(depth, 0))
        if kind in pools:
            return _filled(rng.choice(pools[kind]), rng, depth)
        if kind == "d":
            return f"'__{rng.choice(rng.choice(GROUPS).split())}__'"
        return str(rng.choice({"n": (1, 1, 2, 2, 3, 4, 5, 8), "k": (0, 1, 2), "m": (0, 1, 1, 2, 32, 63)}[kind]))

    return re.sub(r"\{([ecrndkmpoy])\}", part, text)


def body(rng: random.Random) -> Body:
    """A random body."""
    count = rng.choice([0, 0, 0, 1, 2])
    return Body(tuple(_filled(rng.choice(STATEMENTS), rng, 1) for _ in range(count)), expression(rng))


def method(rng: random.Random) -> Method:
    """A random method, or a group of methods with one body."""
    names = (
        [f"__{name}__" for name in rng.choice(GROUPS).split()] if rng.random() < 0.7 else [f"__{rng.choice(METHODS)}__"]
    )
    return Method(tuple(names), body(rng), rng.random() < 0.1)


def attribute(rng: random.Random) -> str:
    """A line that sets an attribute of the class or function."""
    name = rng.choice(NAMED) if rng.random() < 0.8 else _filled("{d}", rng, 0).strip("'")
    return f"{name} = {_filled(rng.choice(VALUES), rng, 1)}"


def program(rng: random.Random) -> Program:
    """A random program."""
    return Program(
        rng.choice(SHAPES),
        rng.choice(BASES) if rng.random() < 0.2 else "object",
        tuple(method(rng) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))),
        body(rng),
        (rng.choice(PRELUDES),) if rng.random() < 0.1 else (),
        tuple(attribute(rng) for _ in range(rng.choice([0, 0, 0, 0, 1, 2]))),
    )


def mutated(parent: Program, rng: random.Random) -> Program:
    """A copy with one to three changes."""
    child = parent
    for _ in range(rng.choice([1, 1, 2, 3])):
        methods = list(child.methods)
        at = rng.randrange(len(methods)) if methods else 0
        change = rng.choice(
            ["shape", "base", "add", "add", "drop", "body", "body", "value", "call", "call", "prelude", "attribute"]
        )
        if change == "shape":
            child = replace(child, shape=rng.choice(SHAPES))
        elif change == "base":
            child = replace(child, base=rng.choice(BASES) if rng.random() < 0.7 else "object")
        elif change == "call":
            child = replace(child, call=_changed(child.call, rng))
        elif change == "prelude":
            child = replace(child, preludes=(rng.choice(PRELUDES),) if not child.preludes else ())
        elif change == "attribute":
            child = replace(child, attributes=(*child.attributes, attribute(rng))[-3:])
        elif change == "add" or not methods:
            child = replace(child, methods=(*methods, method(rng)))
        else:
            old = methods.pop(at)
            if change != "drop":
                methods.insert(at, replace(old, body=_changed(old.body, rng) if change == "value" else body(rng)))
            child = replace(child, methods=tuple(methods))
    return child


def _changed(old: Body, rng: random.Random) -> Body:
    """The body with another value, its old one under a condition, or other statements."""
    new = body(rng)
    value = _filled(f"({old.value}) if ({{c}}) else ({new.value})", rng, 1)
    if len(value) > 300:
        return new
    return rng.choice([Body(old.statements, new.value), Body(old.statements, value), Body(new.statements, old.value)])


def crossed(one: Program, other: Program, rng: random.Random) -> Program:
    """A program with parts of both."""
    pool = [*one.methods, *other.methods]
    kept = tuple(part for part in pool if rng.random() < 0.6)
    pick = [rng.choice((one, other)) for _ in range(4)]
    lines = rng.choice((one, other)).attributes
    return Program(pick[0].shape, pick[1].base, kept[:6], pick[2].call, pick[3].preludes, lines)


def smaller(program: Program) -> Iterator[Program]:
    """Every program with one part less, or with one simpler."""
    for base in {"object"} - {program.base}:
        yield replace(program, base=base)
    for at in range(len(program.preludes)):
        yield replace(program, preludes=program.preludes[:at] + program.preludes[at + 1 :])
    for at in range(len(program.attributes)):
        yield replace(program, attributes=program.attributes[:at] + program.attributes[at + 1 :])
    for call in _simpler(program.call):
        yield replace(program, call=call)
    for at, old in enumerate(program.methods):
        rest = program.methods[:at], program.methods[at + 1 :]
        yield replace(program, methods=(*rest[0], *rest[1]))
        new = [replace(old, body=body) for body in _simpler(old.body)]
        new += [
            replace(old, names=tuple(n for n in old.names if n != name)) for name in old.names if len(old.names) > 1
        ]
        new += [replace(old, meta=False)] if old.meta else []
        for method in new:
            yield replace(program, methods=(*rest[0], method, *rest[1]))


_SIMPLE = ("None", "0", "True", "self", "answer()")


def _simpler(body: Body) -> Iterator[Body]:
    for at in range(len(body.statements)):
        yield replace(body, statements=body.statements[:at] + body.statements[at + 1 :])
    if body.value in _SIMPLE:
        simpler = _SIMPLE[: _SIMPLE.index(body.value)]
    else:
        simpler = (*_SIMPLE, *re.findall(r"\(([^()]+(?:\([^()]*\))?[^()]*)\)", body.value))
    for value in simpler:
        yield replace(body, value=value)
