"""Where the values of a text come from: what the tests wrote down themselves, what is the candidate's, and all else.

Names are followed back whatever their scope: a name is the tests' own only where everything that binds it anywhere is.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from .names import DEFINITIONS, FUNCTIONS, binds, called, given, parsed, returned

_BIND_UNKNOWN = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Import, ast.ImportFrom)
_PUT_TOGETHER = (
    ast.BinOp, ast.BoolOp, ast.IfExp, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.UnaryOp, ast.Slice,
)  # fmt: skip
_DEEP = 8  # names that stand for one another
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp)
# of texts and numbers they make others, or containers of the same
_PURE = frozenset(
    "len range str repr chr ord int float bool abs round sum min max sorted list tuple set frozenset dict zip enumerate reversed"
    " iter product permutations combinations chain compile".split()
)
_PURE_METHODS = frozenset(
    "items keys values get copy index count join split rsplit splitlines partition rpartition strip lstrip rstrip lower upper title capitalize"
    " replace removeprefix removesuffix zfill ljust rjust center format".split()
)
_DRAWS = frozenset("choice choices sample random randint randrange uniform getrandbits".split())
_ATTRIBUTES = frozenset("__getattr__ __getattribute__ __setattr__ __delattr__".split())
_READERS = frozenset(("loads", "literal_eval"))  # of JSON and Python
_MAKES_MAPPINGS = frozenset(
    "dict OrderedDict defaultdict Counter ChainMap fromkeys vars globals locals asdict _asdict groupdict loads load SimpleNamespace".split()
)
_TEXTS = frozenset("__name__ __qualname__ __module__ __doc__".split())  # of the attributes by special names
# they look at what they are given, and neither change nor keep it
_LOOKS = _PURE | _DRAWS | frozenset("print isinstance parametrize any all".split())


class Sources:
    """`asked`: the names of the candidate in this text, its module's among them."""

    def __init__(self, nodes: Sequence[ast.AST], asked: Set[str], parents: Mapping[int, ast.AST] | None = None) -> None:
        self._nodes, self._asked = nodes, asked
        self.defined: dict[str, Any] = {node.name: node for node in nodes if isinstance(node, DEFINITIONS)}
        self.parents = parents or {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
        self._uses: dict[str, list[ast.Name | ast.Attribute]] = {}
        self._bound: dict[str, list[ast.expr | None]] = {}
        self._entered: dict[str, list[ast.expr]] = {}  # by the names of what entering gave
        self._handed_names: dict[str, bool] = {}
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                self._uses.setdefault(_name(node), []).append(node)
        self._modules = {part for node in nodes if isinstance(node, ast.Import) for part in binds(node)}
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                self._bind(node.target, node.value)
        for node in nodes:
            if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                self._bind_each(node.target, node.iter)
            elif isinstance(node, ast.withitem):
                self._bind(node.optional_vars, node.context_expr if self.theirs(node.context_expr) else None)
                if isinstance(node.optional_vars, ast.Name):
                    self._entered.setdefault(node.optional_vars.id, []).append(node.context_expr)
            elif isinstance(node, _BIND_UNKNOWN):
                for name in binds(node):
                    self._bound.setdefault(name, []).append(None)
            elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
                self._bind_parameters(node)

    def own(self, node: ast.expr | None, seen: set[str] | None = None) -> bool:
        """A text or number of the tests, or an immutable container of those: nobody else has a say in it.

        `seen`: names that are being followed; all of them have to be own, so each is followed once.
        """
        seen = set() if seen is None else seen
        if isinstance(node, _PUT_TOGETHER):
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return all(self.own(part, seen) for part in parts)
        if isinstance(node, (ast.Starred, ast.NamedExpr)):
            return self.own(node.value, seen)
        if isinstance(node, ast.Subscript):
            return self._holds_own(node.value, seen) and self.own(node.slice, seen)
        if isinstance(node, ast.Name):
            bound = self._bound.get(node.id, [])
            if node.id in seen or (node.id == "__name__" and not bound):
                return True
            seen.add(node.id)
            return bool(bound) and node.id not in self._asked and all(self.own(value, seen) for value in bound)
        if isinstance(node, ast.Call):
            return self._gives_own(node, seen)
        return isinstance(node, ast.Constant)

    def _gives_own(self, call: ast.Call, seen: set[str]) -> bool:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if (helper := self._helper(call)) is not None:
            if f"{name}()" not in seen:
                seen.add(f"{name}()")
                return all(self.own(part, seen) for part in returned(helper))
            return True
        pure = name in _PURE and name not in {*self._bound, *self._asked, *self.defined}
        if isinstance(call.func, ast.Attribute):
            of = call.func.value
            of_module = of.id if isinstance(of, ast.Name) and of.id in self._modules else ""
            reads = call.func.attr in _READERS and of_module in ("json", "ast")
            draws = call.func.attr in _DRAWS and of_module == "random"
            pure = reads or draws or (call.func.attr in _PURE_METHODS and self._holds_own(of, seen))
        return pure and all(self._holds_own(part, seen) for part in given(call))

    def _holds_own(self, node: ast.expr, seen: set[str]) -> bool:
        """This is the tests' own, or a container of theirs that nobody else was handed and that holds nothing but that."""
        if isinstance(node, ast.Starred):
            return self._holds_own(node.value, seen)
        if isinstance(node, (ast.List, ast.Set)):
            return all(
                (self._holds_own if isinstance(part, ast.Starred) else self.own)(part, seen) for part in node.elts
            )
        if isinstance(node, ast.Dict):
            return all(self.own(part, seen) for part in [*node.keys, *node.values])
        if isinstance(node, ast.BinOp):
            return self._holds_own(node.left, seen) and self._holds_own(node.right, seen)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.own(node.elt, seen) and not any(
                self.mentions(test) for part in node.generators for test in part.ifs
            )
        if isinstance(node, ast.Name) and not self._handed_on(node.id):
            bound, container = self._bound.get(node.id, []), f"{node.id}[]"
            if container in seen:
                return True
            seen.add(container)
            return bool(bound) and all(value is not None and self._holds_own(value, seen) for value in bound)
        return self.own(node, seen)

    @functools.cached_property
    def _helpers(self) -> dict[str, ast.FunctionDef]:
        """Functions of the tests, one of its name, of which all that they give is written down."""
        functions = [node for node in self._nodes if isinstance(node, FUNCTIONS)]
        count = Counter(node.name for node in functions)
        return {
            node.name: node
            for node in functions
            if isinstance(node, ast.FunctionDef) and count[node.name] == 1 and not node.decorator_list
            if not any(isinstance(part, ast.YieldFrom) for part in ast.walk(node))
        }

    def _helper(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the tests that is called, where it is one of those and nothing else has its name."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return self._helpers.get(name) if name not in self._bound and name not in self._asked else None

    def _handed_on(self, name: str, asking: frozenset[str] = frozenset()) -> bool:
        """Somebody else has what this name stands for, or may have changed it. `asking`: names of which that is being asked."""
        if name in asking or name in self._handed_names:
            return self._handed_names.get(name, False)
        found = not all(self._looks(use, asking | {name}) for use in self._uses.get(name, ()))
        if found or not asking:
            self._handed_names[name] = found
        return found

    def _looks(self, use: ast.expr, asking: frozenset[str] = frozenset()) -> bool:
        parent = self.parents[id(use)]
        # of what is starred each part is handed on, and not the whole
        if isinstance(parent, ast.keyword):
            return parent.arg is None
        if isinstance(parent, (ast.For, ast.comprehension, ast.Expr, ast.Assert, ast.Starred)):
            return True
        if isinstance(parent, (ast.Subscript, ast.Compare, ast.FormattedValue)):
            return isinstance(getattr(parent, "ctx", ast.Load()), ast.Load)
        if isinstance(parent, ast.Attribute):
            call = self.parents[id(parent)]
            return parent.attr in _PURE_METHODS and isinstance(call, ast.Call) and call.func is parent
        if not isinstance(parent, ast.Call) or parent.func is use:
            return False
        if (helper := self._helper(parent)) is not None and _written_out(parent.args):
            named = [*helper.args.posonlyargs, *helper.args.args][parent.args.index(use) :][:1]
            return any(not self._handed_on(part.arg, asking) for part in named)
        return called(parent) in _LOOKS and not self.asked_of(parent.func)

    def own_keys(self, node: ast.expr) -> bool:
        """A key of the tests' own, or a dict of such."""
        return all(map(self.own, node.keys)) if isinstance(node, ast.Dict) else self.own(node)

    def may_be_mapping(self, node: ast.expr) -> bool:
        """This may have items by name, which a text may ask for: one is written down where it comes from, or somebody may have handed it on."""
        reached = list(self._reached(node))
        return any(map(_is_mapping, reached)) or (None in reached and self.hands_mappings_on)

    @functools.cached_property
    def hands_mappings_on(self) -> bool:
        """A mapping of this text is more than looked up where it is named."""
        return any(_is_mapping(node) and not self._stays(node) for node in self._nodes)

    def _stays(self, node: ast.AST) -> bool:
        parent = self.parents[id(node)]
        if isinstance(parent, ast.Assign) and all(isinstance(target, ast.Name) for target in parent.targets):
            return not any(self._handed_on(target.id) for target in parent.targets if isinstance(target, ast.Name))
        return isinstance(node, ast.expr) and self._looks(node)

    def counted_by_candidate(self, node: ast.expr) -> bool:
        """The candidate may have a say in how many these are: they are not written out, and it has one in what they come of."""
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and _written_out(node.elts):
            return False
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            parts = [part.iter for part in node.generators]
            tests = [test for part in node.generators for test in part.ifs]
            return any(map(self.counted_by_candidate, parts)) or any(map(self.mentions, tests))
        values = self.values(node) if isinstance(node, ast.Name) else []
        return any(map(self.counted_by_candidate, values)) if values else self.mentions(node)

    @functools.cached_property
    def before_tests(self) -> Sources:
        """What runs before any test does. How many cases there are is known by then."""
        return Sources(_run_at_import(self._nodes[0]), self._asked, self.parents) if self._nodes else self

    def theirs(self, node: ast.expr | None, seen: set[str] | None = None) -> bool:
        """This is the candidate's: a name of it, something of that, or what its calls give of nothing but the tests' texts and numbers."""
        seen = set() if seen is None else seen
        while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript, ast.Await)):
            if isinstance(node, ast.Attribute) and self._bound.get(_name(node)):
                return self._all_theirs(_name(node), seen)
            if isinstance(node, ast.Call) and not all(self._holds_own(part, set()) for part in node.args):
                return False
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and (node.id in self._asked or self._all_theirs(node.id, seen))

    def _all_theirs(self, name: str, seen: set[str]) -> bool:
        if name in seen:
            return True
        seen.add(name)
        bound = self._bound.get(name, [])
        return bool(bound) and all(self.theirs(value, seen) for value in bound)

    def mentions(self, node: ast.AST | None) -> bool:
        """The candidate may have a say in this: by a name, by what helpers do, by what it was handed."""
        reached = (part.id for part in self._reached(node, self._handed) if isinstance(part, ast.Name))
        return any(name in self._asked for name in reached)

    def asked_of(self, node: ast.AST) -> set[str]:
        """The names of the candidate that this comes of."""
        return {part.id for part in self._reached(node) if isinstance(part, ast.Name)} & self._asked

    def _reached(
        self, node: ast.AST | None, also: Callable[[str], Iterable[ast.AST]] = lambda name: ()
    ) -> Iterator[ast.AST | None]:
        """All that an expression is made of, through names and the bodies of helpers; None for what is not written down."""
        found: set[str] = set()
        ahead = [node]
        while ahead:
            at = ahead.pop()
            if at is None:
                yield None
            for part in ast.walk(at) if at is not None else ():
                yield part
                if isinstance(part, ast.Name) and part.id not in found and not self._holds_constant(part):
                    found.add(part.id)
                    ahead += self._bound.get(part.id, ())
                    ahead += [self.defined[part.id]] if part.id in self.defined else []
                    ahead += also(part.id)

    def _holds_constant(self, name: ast.Name) -> bool:
        """A module, of which a constant is read: what its functions are given has no say in that."""
        of = self.parents.get(id(name))
        return isinstance(of, ast.Attribute) and of.attr.isupper() and name.id in self._modules

    def _handed(self, name: str) -> Iterable[ast.expr]:
        """What is called with this, and what methods of this are given."""
        for use in self._uses.get(name, ()):
            node: ast.AST = use
            while isinstance(node, (ast.Attribute, ast.Name, ast.Starred, ast.keyword)):
                node, inner = self.parents[id(node)], node
            if isinstance(node, ast.Call) and inner is not node.func:
                yield node.func
            elif isinstance(node, ast.Call) and inner is not use:
                yield from node.args

    # what binds names

    def _bind(self, target: ast.expr | None, value: ast.expr | None) -> None:
        if isinstance(target, (ast.Name, ast.Attribute)):
            self._bound.setdefault(_name(target), []).append(value)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts: list[ast.expr | None] = [*self._items(value)] if value is not None else []
            if len(parts) != len(target.elts):
                parts = [value and _each(value)] * len(target.elts)
            for part, of in zip(target.elts, parts, strict=True):
                self._bind(part, of)

    def _bind_each(self, target: ast.expr, values: ast.expr) -> None:
        for value in self._items(values) or [_each(values)]:
            self._bind(target, value)

    def bound(self, node: ast.Name | ast.Attribute) -> list[tuple[str, ast.AST]]:
        """What a name may stand for, or have come of, as far as that is written down, each with the name."""
        name = _name(node)
        found = [*self._bound.get(name, ()), *self._entered.get(name, ()), self.defined.get(name)]
        return [(name, value) for value in found if value is not None]

    def values(self, node: ast.expr) -> list[ast.expr]:
        """What a name stands for, where that is written down and nobody else was handed it; of anything else itself."""
        if isinstance(node, ast.Name):
            bound = self._bound.get(node.id, []) if not self._handed_on(node.id) else []
            known = [value for value in bound if value is not None]
            return known if len(known) == len(bound) else []
        return [node]

    def _items(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """What iteration gives, where it is written down; empty where not."""
        if depth > _DEEP:
            return []
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and _written_out(node.elts):
            return [_case(part) for part in node.elts]
        if isinstance(node, ast.Call) and called(node) in ("enumerate", "zip"):
            sources = [self._items(part, depth + 1) or [_each(part)] for part in node.args]
            first: list[ast.expr] = [ast.Constant(0)] if called(node) == "enumerate" else []
            longest = max(map(len, sources), default=0)
            return [_tuple(*first, *(found[min(at, len(found) - 1)] for found in sources)) for at in range(longest)]
        if isinstance(node, ast.Name):
            found = [self._items(value, depth + 1) for value in self.values(node)]
            return [item for items in found for item in items] if all(found) else []
        return []

    def _bind_parameters(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """A parameter is a case of `parametrize`, a fixture, or what the calls give, where all of them stand in this text."""
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args]
        if plain and self._is_method(function):
            self._bind(ast.Name(plain.pop(0).arg), None)
        cases = _cases(function)
        if getattr(function, "name", "") in _ATTRIBUTES and plain:  # whoever asks this object for it may ask for more
            self._bind(ast.Name(plain.pop(0).arg), ast.Constant(""))
        calls = self._calls(function)
        for at, part in enumerate([*plain, *arguments.kwonlyargs]):
            fixture = self.defined.get(part.arg)
            if part.arg in cases:
                continue
            found: list[ast.expr | None]
            if fixture is not None and any("fixture" in ast.unparse(mark) for mark in fixture.decorator_list):
                found = [*returned(fixture)]
            else:
                found = [_argument(call, at, part.arg) for call in calls]
            for value in found or [None]:
                self._bind(ast.Name(part.arg), value)
        for target, values in cases.values():
            self._bind_each(target, values)
        for rest in (arguments.vararg, arguments.kwarg):
            self._bind(ast.Name(rest.arg) if rest else None, None)

    def _is_method(self, function: ast.AST) -> bool:
        return isinstance(self.parents.get(id(function)), ast.ClassDef)

    def _calls(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.Call]:
        """All calls of a helper, where nobody but this text can call it; else none."""
        if isinstance(function, ast.Lambda) or function.decorator_list or function.name.startswith(("test", "__")):
            return []
        of = self.parents.get(id(function))
        if isinstance(of, ast.ClassDef) and not self._stays_here(of):
            return []  # whoever has the object calls it
        name = f".{function.name}" if isinstance(of, ast.ClassDef) else function.name
        found = [(use, self.parents[id(use)]) for use in self._uses.get(name, ())]
        calls = [node for use, node in found if isinstance(node, ast.Call) and node.func is use]
        spelled = [call for call in calls if _written_out(call.args) and all(part.arg for part in call.keywords)]
        return spelled if len(spelled) == len(found) else []

    def _stays_here(self, of: ast.ClassDef) -> bool:
        """Objects of this class, as of a TestCase, are made by no name and handed to nobody: attributes are taken of them, no more."""
        users = [self.parents[id(use)] for use in self._uses.get(of.name, ())]
        derived = all(isinstance(node, ast.ClassDef) and self._stays_here(node) for node in users)
        return derived and not of.decorator_list and self._hands_no_self_on

    @functools.cached_property
    def _hands_no_self_on(self) -> bool:
        """Methods take attributes of what they are called on, and do no more with it."""
        methods = (node for node in self._nodes if isinstance(node, FUNCTIONS) and self._is_method(node))
        firsts = {part.arg for node in methods for part in [*node.args.posonlyargs, *node.args.args][:1]}
        parents = (self.parents[id(use)] for name in firsts for use in self._uses.get(name, ()))
        return all(isinstance(node, ast.Attribute) and not node.attr.startswith("__") for node in parents)


@functools.lru_cache(maxsize=8)
def of_text(text: str, asked: frozenset[str]) -> Sources:
    """Where the values of a text come from. A job asks for its tests' several times."""
    return Sources(parsed(text), asked)


def _run_at_import(module: ast.AST) -> list[ast.AST]:
    """All but the bodies of functions that nothing names there, and that no decorator but pytest's is given."""
    found: list[ast.AST] = []
    later: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    named: set[str] = set()
    ahead = [module]
    while ahead:
        node = ahead.pop()
        if isinstance(node, FUNCTIONS):
            later.append(node)
            ahead += [*node.decorator_list, node.args]
        else:
            found.append(node)
            named.add(getattr(node, "id", getattr(node, "attr", "")))
            ahead += ast.iter_child_nodes(node)
        if not ahead:
            now = [one for one in later if one.name in named or not _by_pytest_alone(one)]
            later = [one for one in later if one not in now]
            found += now
            ahead += [part for one in now for part in one.body]
    return found


def _by_pytest_alone(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Where nobody names it: what begins with two underscores Python calls, and hooks are called before tests."""
    special = function.name.startswith(("__", "pytest_"))
    return not special and all(ast.unparse(mark).startswith("pytest.") for mark in function.decorator_list)


def _is_mapping(node: ast.AST | None) -> bool:
    special = isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr.endswith("__")
    held = special and getattr(node, "attr", "") not in _TEXTS
    by_name = isinstance(node, ast.FunctionDef) and node.name == "__getitem__"
    made = isinstance(node, ast.Call) and called(node) in _MAKES_MAPPINGS
    return held or by_name or made or isinstance(node, (ast.Dict, ast.DictComp))


def _name(node: ast.Name | ast.Attribute) -> str:
    """An attribute goes by its name, of whatever it is."""
    return node.id if isinstance(node, ast.Name) else f".{node.attr}"


def _each(values: ast.expr) -> ast.expr:
    """Any of what iteration gives."""
    return ast.Subscript(values, ast.Constant(...), ast.Load())


def _tuple(*parts: ast.expr) -> ast.expr:
    return ast.Tuple(list(parts), ast.Load())


def _written_out(parts: list[ast.expr]) -> bool:
    return not any(isinstance(part, ast.Starred) for part in parts)


def _case(node: ast.expr) -> ast.expr:
    """The values of `pytest.param(...)`."""
    if isinstance(node, ast.Call) and called(node) == "param" and node.args:
        return node.args[0] if len(node.args) == 1 else _tuple(*node.args)
    return node


def _cases(function: ast.AST) -> dict[str, tuple[ast.expr, ast.expr]]:
    """Each name that `parametrize` gives, with what is bound to which cases."""
    found: dict[str, tuple[ast.expr, ast.expr]] = {}
    for mark in getattr(function, "decorator_list", ()):
        if isinstance(mark, ast.Call) and called(mark) == "parametrize" and len(mark.args) > 1:
            said = (part.value for part in ast.walk(mark.args[0]) if isinstance(part, ast.Constant))
            written = [name.strip() for text in said if isinstance(text, str) for name in text.split(",")]
            target: list[ast.expr] = [ast.Name(name) for name in written if name]
            one = target[0] if len(target) == 1 else ast.Tuple(target)
            found |= dict.fromkeys(filter(None, written), (one, mark.args[1]))
    return found


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    named = (part.value for part in call.keywords if part.arg == name)
    return call.args[at] if at < len(call.args) else next(named, None)
