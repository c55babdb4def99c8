"""Search by rewriting the tests of the corpus into others that say the same: does an attack pass, an honest program fail?

    python tests/sandbox/search_rewritings.py --rows 2000 --seed 1 --out findings.jsonl [FILE ...]

A rule that holds for `assert f(x) == y` has to hold for `assert {'k': f(x)} == {'k': y}`, for a check in a loop or a
context, for a call by way of a list, and for any of these together. Rows of the corpus are drawn, their tests rewritten at
random, and judged. An attack that passes while `solves` passes in plain Python, a `wrong` program that passes here only, and
an honest one that fails here only are findings. Left out are the rows of rule 18 (`--acting` takes them in): where the
tests act on a text of the candidate's is read from their own text, which does not see every way to write it. `--programs`
rewrites the right and wrong programs of honest rows instead, and leaves their tests (`search_programs.py`). Exit 1 where
an attack or a wrong program passed, 3 where no sandbox can be had.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import search_programs
from corpus.in_plain_python import passes
from grpo_rewards_sandbox import SandboxUnavailable, Verdict, open_sandbox
from test_corpus import CORPUS, LOST, job, rows

Row = dict[str, Any]
NAMED = "fidelity: shared"  # is in each reason that says by what a program fails here only

BATCH, SECONDS = 64, 5.0  # rows that are judged together; the most that one may take
IMPORTS = """
import asyncio as _asyncio, collections as _collections, contextlib as _contextlib, copy as _copy, dataclasses as _dataclasses
import functools as _functools, itertools as _itertools, operator as _operator, types as _types, unittest as _unittest
"""
# what an assertion that two things are equal may be written as: `_a` and `_b` stand for them
EQUALITIES = r"""
assert _b == _a
assert not _a != _b
assert not (not (_a == _b))
assert (_a == _b) is True
assert [_a] == [_b]
assert (_a, 1) == (_b, 1)
assert {'k': _a} == {'k': _b}
assert {'k': [_a]} == {'k': [_b]}
assert _a in [_b]
assert _b in [_a]
assert [_b].count(_a) == 1
assert all([_a == _b])
assert all(map(_operator.eq, [_a], [_b]))
assert _operator.eq(_a, _b)
assert not _operator.ne(_a, _b)
assert _functools.reduce(_operator.eq, [_a, _b])
assert (lambda x, y: x == y)(_a, _b)
assert _collections.deque([_a]) == _collections.deque([_b])
assert _types.SimpleNamespace(x=_a) == _types.SimpleNamespace(x=_b)
assert _collections.namedtuple('P', 'x y')(_a, 1) == (_b, 1)
assert _dataclasses.make_dataclass('D', ['x'])(_a) == _dataclasses.make_dataclass('D', ['x'])(_b) or _a == _b
assert _collections.OrderedDict(x=_a) == _collections.OrderedDict(x=_b)
assert _collections.ChainMap({'x': _a}) == _collections.ChainMap({'x': _b})
assert len([x for x in [_a] if x != _b]) == 0
assert list(_itertools.filterfalse(lambda x: x == _b, [_a])) == []
assert len(list(_itertools.groupby([_a, _b]))) == 1
assert (got := _a) == _b
assert _b == _copy.copy(_a)
assert _copy.deepcopy(_a) == _b
assert _a == _b, f'{_a!r} is not {_b!r}'
assert _a == _b == _copy.copy(_b)
assert (_a == _b) + 0 == 1
if _a != _b: raise AssertionError('other')
_unittest.TestCase().assertEqual(_a, _b)
_unittest.TestCase().assertEqual(_b, _a, 'other')
_unittest.TestCase().assertTrue(_a == _b)
_unittest.TestCase().assertIn(_a, [_b])
_unittest.TestCase().assertListEqual([_a], [_b])
_unittest.TestCase().assertDictEqual({'k': _a}, {'k': _b})
_unittest.TestCase().assertCountEqual([_a], [_b])
match [_a]:\n    case [x] if x == _b: pass\n    case _: raise AssertionError
try: assert _a == _b\nfinally: pass
try: assert _a == _b\nexcept AssertionError: raise
try: assert _a == _b\nexcept AssertionError as error: raise AssertionError('other') from error
try: assert _a == _b\nexcept ZeroDivisionError: pass
with _contextlib.nullcontext(): assert _a == _b
with _contextlib.ExitStack() as stack: assert _a == _b
with _contextlib.suppress(ZeroDivisionError): assert _a == _b
with _unittest.TestCase().subTest(): assert _a == _b
for _ in range(2):\n    if _: break\n    assert _a == _b
ok = _a == _b\nassert ok
want = _b\ngot = _a\nassert got == want, got
results = []\nresults.append(_a == _b)\nassert all(results)
errors = 0\nif _a != _b: errors += 1\nassert errors == 0
(lambda x, y: x == y or (_ for _ in ()).throw(AssertionError))(_a, _b)
""".strip().splitlines()
# what an assertion of anything may be written as: `_a` stands for it
TRUTHS = r"""
assert bool(_a)
assert (True if _a else False)
assert False or _a
assert all([_a])
assert [1 for _ in [0] if _a]
if not _a: raise AssertionError('false')
_unittest.TestCase().assertTrue(_a)
ok = _a\nassert ok
try: assert _a\nfinally: pass
with _contextlib.nullcontext(): assert _a
with _contextlib.suppress(ZeroDivisionError): assert _a
assert list(filter(None, [_a]))
""".strip().splitlines()
# what a call may be written as: `_f` is called, and the arguments come where `_g` stands
CALLS = r"""
(lambda *a, **k: _f(*a, **k))(_g)
_functools.partial(_f)(_g)
_functools.partial(_f, _g)()
[_f][0](_g)
next(_f(_g) for _ in [0])
(lambda: _f(_g))()
{'x': _f(_g)}['x']
_types.SimpleNamespace(x=_f(_g)).x
next(iter([_f(_g)]))
_functools.reduce(lambda x, _: x, [_f(_g)])
_functools.lru_cache(maxsize=None)(lambda: _f(_g))()
_operator.itemgetter(0)([_f(_g)])
_contextlib.nullcontext(_f(_g)).__enter__()
_functools.wraps(_f)(lambda *a, **k: _f(*a, **k))(_g)
_operator.call(_f, _g)
_collections.deque([_f(_g)]).popleft()
max([_f(_g)], key=id)
next(_itertools.starmap(lambda: _f(_g), [()]))
(lambda x, *rest: x)(*[_f(_g)])
""".strip().splitlines()

# what other expressions may be written as: `_x` is what is used, `_n` a name, `_i` an item, `_y` the other operand, `_o` an operator's function
ATTRIBUTES = r"""
getattr(_x, _n)
_operator.attrgetter(_n)(_x)
[getattr(_x, n) for n in [_n]][0]
next(map(_operator.attrgetter(_n), [_x]))
_functools.partial(getattr, _x)(_n)
""".strip().splitlines()
ITEMS = r"""
_operator.getitem(_x, _i)
_operator.itemgetter(_i)(_x)
(lambda x, i: x[i])(_x, _i)
""".strip().splitlines()
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Mod: "mod", ast.Pow: "pow", ast.FloorDiv: "floordiv",
    ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Is: "is_", ast.IsNot: "is_not", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
OPERATIONS = r"""
_o(_x, _y)
next(map(_o, [_x], [_y]))
_functools.reduce(_o, [_x, _y])
_functools.partial(_o, _x)(_y)
""".strip().splitlines()


BUILTINS = frozenset(
    ("len", "abs", "sum", "max", "min", "sorted", "list", "tuple", "dict", "set", "str", "int", "float", "bool", "repr")
)
# in another function or behind another they would mean something else
NOT_MOVED = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


class Filling(ast.NodeTransformer):
    """Puts nodes in the place of names, and the arguments of a call in the place of `_g`."""

    def __init__(self, nodes: dict[str, ast.expr], call: ast.Call | None) -> None:
        self.nodes, self.call = nodes, call

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.nodes.get(node.id, node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.args:
            case [*first, ast.Name(id="_g")] if self.call:
                given = copy.deepcopy(self.call)
                new = ast.Call(node.func, first, node.keywords)
                self.generic_visit(new)
                return ast.Call(new.func, [*new.args, *given.args], [*new.keywords, *given.keywords])
        self.generic_visit(node)
        return node


class Rewriting(ast.NodeTransformer):
    """Writes checks, calls and uses in another way, each kind seldom, often or not at all."""

    def __init__(self, rng: random.Random, own: set[str], modules: set[str]) -> None:
        self.rng, self.own, self.modules = rng, own, modules
        self.chance = {kind: rng.choice([0.0, 0.15, 0.7]) for kind in ("check", "call", "use")}
        self.done: list[str] = []

    def visit_Assert(self, node: ast.Assert) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return self._written("check", node, EQUALITIES, {"_a": left, "_b": right}) or node
            case test:
                return self._written("check", node, TRUTHS, {"_a": test}) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or (isinstance(node.value, ast.Name) and node.value.id in self.modules):
            return node
        return self._used(node, ATTRIBUTES, {"_x": node.value, "_n": ast.Constant(node.attr)})

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return node
        return self._used(node, ITEMS, {"_x": node.value, "_i": node.slice})

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operated(node, node.op, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in OPERATORS:
            return node
        return self._operated(node, node.ops[0], node.left, node.comparators[0])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.own:
            return self._used(node, CALLS, {"_f": node.func}, node, "call")
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            return self._used(node, CALLS, {"_f": node.func}, node)
        return node

    def _operated(self, node: ast.expr, operator: ast.AST, left: ast.expr, right: ast.expr) -> ast.expr:
        function = ast.Attribute(ast.Name("_operator", ast.Load()), OPERATORS[type(operator)], ast.Load())
        return self._used(node, OPERATIONS, {"_o": function, "_x": left, "_y": right})

    def _used(
        self,
        node: ast.expr,
        table: list[str],
        nodes: dict[str, ast.expr],
        call: ast.Call | None = None,
        kind: str = "use",
    ) -> ast.expr:
        match self._written(kind, node, table, nodes, call):
            case [ast.Expr(value=value)]:
                return value
        return node

    def _written(
        self, kind: str, node: ast.AST, table: list[str], nodes: dict[str, ast.expr], call: ast.Call | None = None
    ) -> list[ast.stmt]:
        """The node in the words of one of the table; nothing where it is left as it is."""
        if self.rng.random() >= self.chance[kind] or any(isinstance(part, NOT_MOVED) for part in ast.walk(node)):
            return []
        text = self.rng.choice(table)
        self.done.append(text)
        filling = Filling(nodes, call)
        return [filling.visit(statement) for statement in ast.parse(text.replace("\\n", "\n")).body]


def rewritten(row: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """The row with other tests that say the same, and what was rewritten in them."""
    texts = row["tests"] if row["format"] == "asserts" else [row["tests"]]
    own, modules = {row["entry_point"], "candidate"}, {"pytest", "np", "pd", "math", "self"}
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            own |= {name.asname or name.name for name in node.names}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            modules |= {(name.asname or name.name).partition(".")[0] for name in node.names}
    rewriting = Rewriting(rng, own, modules)
    new = [ast.unparse(ast.fix_missing_locations(rewriting.visit(ast.parse(text)))) for text in texts]
    if row["format"] == "asserts":
        return {**row, "tests": [IMPORTS, *new]}, rewriting.done
    lines = new[0].splitlines()
    first = max((at for at, line in enumerate(lines, 1) if line.startswith("from __future__")), default=0)
    return {**row, "tests": "\n".join([*lines[:first], IMPORTS, *lines[first:]])}, rewriting.done


def drawn(
    found: list[tuple[str, Row]], rng: random.Random, rewrite: Callable[[Row, random.Random], tuple[Row, list[str]]]
) -> Iterator[tuple[str, Row, list[str]]]:
    """Rows of random kinds, rewritten; those that nothing could be done with, or not in one line, are passed over."""
    while True:
        kind, row = rng.choice(found)
        try:
            new, how = rewrite(row, rng)
        except (ValueError, SyntaxError):  # a backslash within an f-string
            continue
        if how:
            yield kind, new, how


def is_finding(kind: str, which: str, row: Row, verdict: Verdict) -> bool:
    """Whether the verdict is wrong, by what plain Python says of the same tests."""
    if which == "candidate" and kind == "honest":
        known = verdict.passed or verdict.status == "refused" or row["id"] in LOST or NAMED in verdict.reason
        return not known and passes(row, row["candidate"])
    if verdict.status not in ("passed", "unavailable"):
        return False
    return passes(row, row["solves"]) if kind == "attacks" else not passes(row, row["wrong"])


def main() -> int:
    """The command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="files of the corpus, without .jsonl (all)")
    parser.add_argument("--rows", type=int, default=2000, help="how many to draw (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    parser.add_argument("--programs", action="store_true", help="rewrite the programs of honest rows, not tests")
    parser.add_argument("--acting", action="store_true", help="rows of rule 18 too")
    parser.add_argument("--out", type=Path, help="a file for the findings, one JSON object a line")
    options = parser.parse_args()
    paths = [path for kind in ("attacks", "honest") for path in sorted((CORPUS / kind).glob("*.jsonl"))]
    found = [
        (path.parent.name, row)
        for path in paths
        if (path.parent.name == "honest" or not options.programs) and path.stem in (options.files or [path.stem])
        for row in rows(path.parent.name, path.stem)
        if row["expected"] in ("fail", "pass") and (options.acting or 18 not in row.get("rules", ()))
    ]
    try:
        sandbox = open_sandbox("local", workers=2)
    except SandboxUnavailable as error:
        print(error, file=sys.stderr)
        return 3
    counts: Counter[tuple[str, str, str]] = Counter()
    findings = []
    rewrite = search_programs.rewritten_row if options.programs else rewritten
    source = drawn(found, random.Random(options.seed), rewrite)
    with sandbox:
        for start in range(0, options.rows, BATCH):
            batch = list(itertools.islice(source, min(BATCH, options.rows - start)))
            asked = [(*one, which) for one in batch for which in ("candidate", "wrong") if which in one[1]]
            verdicts = sandbox.run([job(row, which, min(row["timeout"], SECONDS)) for _, row, _, which in asked])
            for (kind, row, how, which), verdict in zip(asked, verdicts, strict=True):
                counts[kind, which, "named" if NAMED in verdict.reason else verdict.status] += 1
                if is_finding(kind, which, row, verdict):
                    one = {
                        "kind": kind,
                        "which": which,
                        "id": row["id"],
                        "status": verdict.status,
                        "reason": verdict.reason,
                    }
                    findings.append({**one, "how": how, "tests": row["tests"], "program": row[which]})
                    print(json.dumps(findings[-1]), flush=True)
    if options.out:
        options.out.write_text("".join(json.dumps(finding) + "\n" for finding in findings))
    print(
        *(f"{number} {' '.join(key)}" for key, number in sorted(counts.items())), f"{len(findings)} findings", sep="\n"
    )
    return int(any(finding["which"] == "wrong" or finding["kind"] == "attacks" for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
