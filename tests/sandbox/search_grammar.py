"""Programs that know nothing of a task: drawn from a grammar, changed, crossed, made smaller and written as Python.

A program is a shape (a class under the entry point's name, a function that returns an object of a class, ...), the bases of
the class, attributes and methods of it and of its metaclass, what a call does, and a statement at module level. Every body is a few
statements and one expression, each a line of text drawn from the tables of `search_fragments`.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_fragments import (
    BASES,
    CODED,
    CONDITIONS,
    CRITERIA,
    DATA,
    GROUPS,
    HELPERS,
    METHODS,
    NAMED,
    OBJECTS,
    PARTS,
    PRELUDES,
    RAISED,
    SAYS_YES,
    STATEMENTS,
    VALUES,
)

SHAPES = (
    "class",
    "class",
    "class",
    "factory",
    "function",
    "generator",
    "coroutine",
    "instance",
    "partial",
    "context",
    "value",
)


CHANGES = {"add": 2, "body": 2, "call": 3, "part": 4}  # of what a change is, and how often
CHANGES.update(dict.fromkeys(("shape", "base", "drop", "value", "prelude", "attribute", "other"), 1))


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
    others: tuple[str, ...] = ()  # what the further names stand for that a task asks for

    def source(self, entry: str, also: Sequence[str] = (), names: Sequence[str] = ()) -> str:
        """The program as Python, under the name `entry`, with what else is asked for; `names` are NAME0 and so on."""
        if self.shape == "class":
            last = f"Answer = {entry}\n"
        elif self.shape == "instance":
            last = f"{entry} = Answer()\n"
        elif self.shape == "value":
            last = f"self = a = b = ()\n{entry} = {self.call.value}\n"
        elif self.shape == "partial":
            last = f"import functools\n{entry} = functools.partial(Answer)\n"
        else:
            head, middle, end = (part.format(entry=entry, value=self.call.value) for part in CALLABLES[self.shape])
            lines = ["self = a = b", *self.call.statements, middle, *([end] if end else [])]
            last = "\n    ".join([head, *lines]) + "\n"
            last += "".join(f"{line}\n" for line in _lines(self.attributes, f"{entry}."))
        if also:
            given = zip(also, itertools.cycle(self.others or ("answer",)), strict=False)
            last += "self = a = b = ()\n" + "".join(f"{name} = {value}\n" for name, value in given)
        text = "".join(f"{prelude}\n" for prelude in self.preludes)
        if re.search(r"\b[Aa]nswer\b", last + text):
            text += self._class(entry if self.shape == "class" else "Answer")
        text = _helpers(text + last) + text + last
        return re.sub(r"\bNAME(\d)\b", lambda match: names[int(match[1]) % len(names)] if names else "x", text)

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
    pools = {"c": CONDITIONS, "r": RAISED, "p": CRITERIA, "o": ["max", "max", "min"], "y": SAYS_YES, **PARTS}

    def part(match: re.Match[str]) -> str:
        kind = match[1]
        if kind == "e":
            return expression(rng, max(depth, 0))
        if kind in pools:
            return _filled(rng.choice(pools[kind]), rng, depth)
        if kind == "j":
            return _filled(rng.choice(CODED if depth > -4 else ["{h}"]), rng, depth - 1)
        if kind == "d":
            return f"'__{rng.choice(rng.choice(GROUPS).split())}__'"
        return str(rng.choice({"n": (1, 1, 2, 2, 3, 4, 5, 8), "k": (0, 1, 2), "m": (0, 1, 1, 2, 32, 63)}[kind]))

    return re.sub(r"\{([a-z])\}", part, text)


def body(rng: random.Random) -> Body:
    """A random body."""
    count = rng.choice([0, 0, 0, 1, 2])
    return Body(tuple(_filled(rng.choice(STATEMENTS), rng, 1) for _ in range(count)), expression(rng))


def method(rng: random.Random) -> Method:
    """A random method, or a group of methods with one body."""
    names = (
        [f"__{name}__" for name in rng.choice(GROUPS).split()] if rng.random() < 0.7 else [f"__{rng.choice(METHODS)}__"]
    )
    if rng.random() < 0.25:
        names = [f"NAME{rng.randrange(4)}"]
    return Method(tuple(names), body(rng), rng.random() < 0.1)


def attribute(rng: random.Random) -> str:
    """A line that sets an attribute of the class or function."""
    name = _filled(rng.choice([rng.choice(NAMED), "{w}", "{d}", "NAME{k}", "NAME{k}"]), rng, 0).strip("'")
    return f"{name} = {_filled(rng.choice(VALUES), rng, 1)}"


def plain(expression: str, how: str) -> Program:
    """The program that returns what plain data it is; `how`: for a class, whether out of its methods or attributes."""
    if not how:
        return Program("function", call=Body(("note(*b)",), expression))
    value = f"lambda *b, **k: {expression}" if how == "methods" else expression
    return Program(methods=(Method(("__getattr__",), Body((), value)),))


def program(rng: random.Random) -> Program:
    """A random program."""
    return Program(
        rng.choice(SHAPES),
        rng.choice(BASES) if rng.random() < 0.2 else "object",
        tuple(method(rng) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))),
        body(rng),
        (_filled(rng.choice(PRELUDES), rng, 1),) if rng.random() < 0.15 else (),
        tuple(attribute(rng) for _ in range(rng.choice([0, 0, 0, 1, 2]))),
        tuple(_filled(rng.choice(VALUES), rng, 1) for _ in range(rng.choice([0, 1, 1, 2]))),
    )


def mutated(parent: Program, rng: random.Random) -> Program:
    """A copy with one to three changes."""
    child = parent
    for _ in range(rng.choice([1, 1, 2, 3])):
        methods = list(child.methods)
        at = rng.randrange(len(methods)) if methods else 0
        (change,) = rng.choices([*CHANGES], [*CHANGES.values()])
        if change == "shape":
            child = replace(child, shape=rng.choice(SHAPES))
        elif change == "base":
            child = replace(child, base=rng.choice(BASES) if rng.random() < 0.7 else "object")
        elif change == "part":
            child = _with_another_part(child, rng)
        elif change == "call":
            child = replace(child, call=_changed(child.call, rng))
        elif change == "prelude":
            child = replace(child, preludes=(_filled(rng.choice(PRELUDES), rng, 1),) if not child.preludes else ())
        elif change == "attribute":
            child = replace(child, attributes=(*child.attributes, attribute(rng))[-3:])
        elif change == "other":
            child = replace(child, others=(_filled(rng.choice(VALUES), rng, 1), *child.others)[:2])
        elif change == "add" or not methods:
            child = replace(child, methods=(*methods, method(rng)))
        else:
            old = methods.pop(at)
            if change != "drop":
                methods.insert(at, replace(old, body=_changed(old.body, rng) if change == "value" else body(rng)))
            child = replace(child, methods=tuple(methods))
    return child


_TOKENS = {
    "d": r"'__\w+__'",
    "a": r"'[edisqo]'(?=:)",
    "g": r"'[A-Z][A-Za-z]?'(?=:)",
    "k": r"(?<=NAME)\d",
    "n": r"\b\d\b",
}
_TOKENS |= {kind: "|".join(map(re.escape, sorted(PARTS[kind], key=len)[::-1])) for kind in ("x", "f", "t")}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _TOKENS.items()))


def _with_another_part(old: Any, rng: random.Random) -> Any:
    """A copy with one small part drawn anew: a name, a number, a function, a tag."""
    if isinstance(old, str):
        found = list(_TOKEN.finditer(old))
        at = rng.choice(found) if found else None
        return old if at is None else old[: at.start()] + _filled(f"{{{at.lastgroup}}}", rng, 0) + old[at.end() :]
    if isinstance(old, tuple):
        chosen = rng.randrange(len(old))
        return (*old[:chosen], _with_another_part(old[chosen], rng), *old[chosen + 1 :])
    held = [(name, getattr(old, name)) for name in _TEXTS if getattr(old, name, None)]
    name, part = rng.choice(held)
    return replace(old, **{name: _with_another_part(part, rng)})


_TEXTS = ("methods", "call", "call", "preludes", "attributes", "others", "body", "statements", "value", "value")
_AROUND = [text for text in OBJECTS if "{e}" in text]


def _changed(old: Body, rng: random.Random) -> Body:
    """The body with another value, its old one under a condition, or other statements."""
    new = body(rng)
    if rng.random() < 0.3 and len(old.value) < 200:
        around = rng.choice(_AROUND).replace("{e}", "\0", 1)
        return replace(old, value=_filled(around, rng, 1).replace("\0", old.value))
    value = _filled(f"({old.value}) if ({{c}}) else ({new.value})", rng, 1)
    if len(value) > 300:
        return new
    return rng.choice([Body(old.statements, new.value), Body(old.statements, value), Body(new.statements, old.value)])


def crossed(one: Program, other: Program, rng: random.Random) -> Program:
    """A program with parts of both."""
    pool = [*one.methods, *other.methods]
    kept = tuple(part for part in pool if rng.random() < 0.6)
    pick = [rng.choice((one, other)) for _ in range(6)]
    rest = pick[2].call, pick[3].preludes, pick[4].attributes, pick[5].others
    return Program(pick[0].shape, pick[1].base, kept[:6], *rest)


def smaller(program: Program) -> Iterator[Program]:
    """Every program with one part less, or with one simpler."""
    for base in {"object"} - {program.base}:
        yield replace(program, base=base)
    for at in range(len(program.preludes)):
        yield replace(program, preludes=program.preludes[:at] + program.preludes[at + 1 :])
    for at in range(len(program.attributes)):
        yield replace(program, attributes=program.attributes[:at] + program.attributes[at + 1 :])
    for at in range(len(program.others)):
        yield replace(program, others=program.others[:at] + program.others[at + 1 :])
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
