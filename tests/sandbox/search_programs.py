"""Programs of the corpus in another style, for `search_rewritings.py --programs`: what they do in plain Python stays as it was.

A rewriting is drawn for a row and done to its right program and to its wrong one. None is known to keep the meaning: plain
Python says whether it did.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable
from typing import Any, cast

from search_styles import BASES, CLASSES, ENDS, FUNCTIONS, HELPERS, LINES, MODULES, PROPERTIES

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITION = (*FUNCTION, ast.ClassDef)


def _decorated(nodes: list[ast.stmt], kind: type, text: str, at: int) -> None:
    """`_f` is the function, where a decorator is written with it."""
    for node in nodes:
        if isinstance(node, DEFINITION) and isinstance(node, ast.ClassDef) is (kind is ast.ClassDef):
            written = f"lambda _f: {text}" if re.search(r"\b_f\b", text) else text
            node.decorator_list.insert(len(node.decorator_list) * at, ast.parse(written, mode="eval").body)


def on_functions(tree: ast.Module, text: str) -> None:
    _decorated(tree.body, ast.FunctionDef, text, 0)


def on_methods(tree: ast.Module, text: str) -> None:
    for node in _classes(tree):
        _decorated(node.body, ast.FunctionDef, text, 1)


def on_classes(tree: ast.Module, text: str) -> None:
    _decorated(tree.body, ast.ClassDef, text, 0)


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTION)]


def with_bases(tree: ast.Module, text: str) -> None:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    for node in _classes(tree):
        node.bases[:0] = call.args
        node.keywords += call.keywords if not node.keywords else []


def at_top(tree: ast.Module, text: str) -> None:
    tree.body[:0] = ast.parse(text).body


def at_end(tree: ast.Module, text: str) -> None:
    tree.body += ast.parse(text).body


def renamed(tree: ast.Module, text: str) -> None:
    """`class _Name` and `Name = _Name`, as a module with a public face has it."""
    for at in range(len(tree.body) - 1, -1, -1):
        node = tree.body[at]
        if isinstance(node, DEFINITION):
            node.name, public = f"{text}{node.name}", node.name
            tree.body[at + 1 : at + 1] = ast.parse(f"{public} = {node.name}").body


def in_factories(tree: ast.Module, text: str) -> None:
    """Each definition within a function that returns it."""
    for at, node in enumerate(tree.body):
        if isinstance(node, DEFINITION):
            outer = ast.parse(f"def {text}():\n    return {node.name}\n{node.name} = {text}()").body
            cast(ast.FunctionDef, outer[0]).body.insert(0, node)
            tree.body[at] = ast.If(ast.Constant(True), outer, [])


def in_module(tree: ast.Module, text: str) -> None:
    """All of it executed as text, in a namespace or in a module of another name."""
    source = ast.unparse(tree)
    tree.body = ast.parse(text.replace("_source", repr(source))).body


def with_local_imports(tree: ast.Module, text: str) -> None:
    """What is imported at the top each function imports too, or only each function."""
    imports = [
        node
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "*" not in {name.name for name in node.names}
    ]
    for node in _functions(tree):
        node.body[:0] = copy.deepcopy(imports)
    if text:
        tree.body = [node for node in tree.body if node not in imports]


def annotated(tree: ast.Module, text: str) -> None:
    for node in _functions(tree):
        node.returns = ast.Constant(text)
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = ast.Constant(text)


def _on_self(tree: ast.AST) -> list[ast.Attribute]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    ]


def _own_attributes(tree: ast.AST) -> list[str]:
    return list(dict.fromkeys(node.attr for node in _on_self(tree) if isinstance(node.ctx, ast.Store)))


def with_properties(tree: ast.Module, text: str) -> None:
    """What methods set on `self` is kept under another name, behind properties or what `text` says."""
    for cls in _classes(tree):
        names = [name for name in _own_attributes(cls) if not name.startswith("_")]
        for node in _on_self(cls):
            if node.attr in names:
                node.attr = f"_{node.attr}"
        for name in names:
            cls.body += ast.parse(text.replace("NAME", name).replace("\\n", "\n")).body


def with_slots(tree: ast.Module, text: str) -> None:
    for node in _classes(tree):
        node.body.append(ast.parse(f"__slots__ = {tuple(_own_attributes(node))!r}").body[0])


def as_dataclass(tree: ast.Module, text: str) -> None:
    """`__init__` that only keeps its arguments becomes a dataclass' fields."""
    for node in _classes(tree):
        for init in [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]:
            names = [argument.arg for argument in init.args.args[1:]]
            if [ast.unparse(line) for line in init.body] == [f"self.{name} = {name}" for name in names]:
                defaults = ["" for _ in names] + [f" = {ast.unparse(default)}" for default in init.args.defaults]
                fields = [f"{name}: int{default}" for name, default in zip(names[::-1], defaults[::-1], strict=False)]
                node.body.remove(init)
                node.body[:0] = ast.parse("\n".join(fields[::-1])).body
                node.decorator_list.append(ast.parse(text, mode="eval").body)


def storing(tree: ast.Module, text: str) -> None:
    """`self.x = y` by other means."""
    for node in ast.walk(tree):
        body: Any = getattr(node, "body", None)
        for at, line in enumerate(body if isinstance(body, list) else ()):
            match line:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                    new = text.replace("NAME", name).replace("VALUE", ast.unparse(value))
                    body[at] = ast.parse(new).body[0]


def positional(tree: ast.Module, text: str) -> None:
    """Parameters that callers cannot name, or more than they give."""
    for node in _functions(tree):
        given = node.args
        if text == "/":
            given.posonlyargs, given.args = given.posonlyargs + given.args, []
        elif text == "*":
            given.vararg = given.vararg or ast.arg("rest")
        else:
            given.kwarg = given.kwarg or ast.arg("others")


def with_own_names(tree: ast.Module, text: str) -> None:
    """Imported under names that nobody else looks for."""
    names = {}
    for node in ast.walk(tree):
        for name in getattr(node, "names", ()) if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            if name.name.isidentifier():
                names[name.asname or name.name] = name.asname = text + name.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)


def yielding(tree: ast.Module, text: str) -> None:
    """Lists that are built to be returned are given one by one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return) and node.body[-1].value:
            node.body[-1] = ast.Expr(ast.YieldFrom(node.body[-1].value))


REWRITINGS: list[tuple[Callable[[ast.Module, str], None], list[str]]] = [
    (on_functions, FUNCTIONS), (on_methods, FUNCTIONS), (on_classes, CLASSES), (with_bases, BASES), (at_top, LINES), (at_end, ENDS),
    (renamed, ["_", "Own"]), (in_factories, ["_make"]), (in_module, MODULES), (with_local_imports, ["", "1"]), (annotated, ["int", "_typing.Any", "list[int]"]),
    (with_properties, PROPERTIES), (with_slots, [""]), (positional, ["/", "*", "**"]), (with_own_names, ["_own_"]),
    (storing, ["setattr(self, 'NAME', VALUE)", "self.__dict__['NAME'] = VALUE", "self.__dict__.update(NAME=VALUE)", "object.__setattr__(self, 'NAME', VALUE)", "vars(self).setdefault('NAME', VALUE)"]), (yielding, [""]),
    (as_dataclass, ["_dataclasses.dataclass", "_dataclasses.dataclass(eq=False)", "_dataclasses.dataclass(frozen=True)", "_dataclasses.dataclass(slots=True)", "_dataclasses.dataclass(kw_only=False, order=True)"]),
]  # fmt: skip
# a kind is drawn about as often as it has forms
WEIGHTS = [min(len(table), 40) for _, table in REWRITINGS]


def _helpers(tree: ast.Module) -> list[ast.stmt]:
    """Those of HELPERS that a program has names of, in their order."""
    found: list[ast.stmt] = []
    used = set(re.findall(r"\b_\w+", ast.unparse(tree)))
    for node in reversed(ast.parse(HELPERS).body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [name for name in node.names if name.asname in used]
            found += [node] if node.names else []
        elif {getattr(node, "name", ""), *(target.id for target in getattr(node, "targets", ()))} & used:
            used.update(re.findall(r"\b_\w+", ast.unparse(node)))
            found.append(node)
    return found[::-1]


def rewritten(text: str, how: list[tuple[int, str]]) -> str:
    """The program in another style; the same where it has nothing to rewrite."""
    tree = ast.parse(text)
    before = ast.dump(tree)
    for number, form in how:
        REWRITINGS[number][0](tree, form)
    if ast.dump(tree) == before:
        return text
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    tree.body = [*future, *_helpers(tree), *(node for node in tree.body if node not in future)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def drawn(rng: random.Random) -> list[tuple[int, str]]:
    """One rewriting or two."""
    numbers = rng.choices(range(len(REWRITINGS)), WEIGHTS, k=rng.choice([1, 1, 2]))
    return [(number, rng.choice(REWRITINGS[number][1])) for number in numbers]


def rewritten_row(row: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """The row with its programs in another style, and what was done to both; nothing where the right one stays as it is."""
    how = drawn(rng)
    new = {which: rewritten(row[which], how) for which in ("candidate", "wrong")}
    if new["candidate"] == row["candidate"]:
        return row, []
    return {**row, **new}, [f"{REWRITINGS[number][0].__name__}: {form}" for number, form in how]
