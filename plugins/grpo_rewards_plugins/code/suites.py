"""From the columns of a row to tests that the sandbox can run, with everything wrong in them named."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from grpo_rewards_plugins.code.extraction import defined_names, preamble

__all__ = ["Format", "Suite", "SuiteProblem", "read_suite"]

Format = Literal["pytest", "humaneval", "asserts", "stdio"]
FORMATS: tuple[str, ...] = get_args(Format)
_MODULE = "solution"


class SuiteProblem(Exception):
    """A row's tests cannot be run, whatever the candidate is: a fault of the data."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests of one row: text for ``pytest`` and ``humaneval``, statements for ``asserts``, for ``stdio`` only `pairs`.

    `names` are the names that the tests mention; `entry_point` is the function they are about, when known.
    """

    format: Format
    tests: str | tuple[str, ...]
    entry_point: str
    setup: str
    names: frozenset[str]
    pairs: tuple[tuple[str, str], ...] = ()

    def for_job(self) -> str | list[Any]:
        """The tests as the sandbox takes them."""
        if self.format == "stdio":
            return [{"input": given, "output": wanted} for given, wanted in self.pairs]
        return self.tests if isinstance(self.tests, str) else list(self.tests)


def read_suite(tests: Any, *, format: str | None, entry_point: Any, setup: Any, prompt: str) -> Suite:
    """Read a row's tests; `format` None means what they look like.

    Raises:
        SuiteProblem: they are not there, of another shape, do not compile, or contain no test.
    """
    if hasattr(tests, "tolist"):
        tests = tests.tolist()
    if isinstance(tests, str) and tests.lstrip()[:1] in ("[", "{"):
        tests = _from_json(tests)
    prepared = _setup(setup)
    if isinstance(tests, str):
        return _text_suite(tests, format, entry_point if isinstance(entry_point, str) else "", prepared, prompt)
    if isinstance(tests, Mapping):
        tests = _pairs_of_columns(tests)
    if not isinstance(tests, Sequence) or isinstance(tests, bytes):
        raise SuiteProblem(f"tests must be text or a list, not {type(tests).__name__}")
    if not tests:
        raise SuiteProblem("the list of tests is empty")
    if all(isinstance(test, str) for test in tests) and format in (None, "asserts"):
        return _statements(tuple(tests), entry_point if isinstance(entry_point, str) else "", prepared)
    if all(isinstance(test, Mapping) for test in tests) and format in (None, "stdio"):
        return Suite("stdio", (), "", prepared, frozenset(), tuple(_pair(test) for test in tests))
    raise SuiteProblem(
        f"tests of format {format or 'auto'} are {_SHAPES.get(format or '', 'text, a list of statements, or a list of pairs')}, "
        f"not a list of {type(tests[0]).__name__}"
    )


_SHAPES = {
    "pytest": "the text of a test file",
    "humaneval": "text that defines check(candidate)",
    "asserts": "a list of statements",
    "stdio": "a list of {input, output}",
}


def _from_json(text: str) -> Any:
    """Lists arrive as JSON where a file has no lists (CSV); Python that begins with a bracket stays text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _setup(setup: Any) -> str:
    if hasattr(setup, "tolist"):
        setup = setup.tolist()
    if isinstance(setup, list | tuple):
        return "\n".join(str(line) for line in setup if line)
    return setup if isinstance(setup, str) else ""


def _pairs_of_columns(tests: Mapping[str, Any]) -> Any:
    """``{"inputs": [...], "outputs": [...]}``, as APPS and TACO have it."""
    given, wanted = tests.get("inputs", tests.get("input")), tests.get("outputs", tests.get("output"))
    if isinstance(given, str) and isinstance(wanted, str):
        return [{"input": given, "output": wanted}]
    if not isinstance(given, Sequence) or not isinstance(wanted, Sequence) or len(given) != len(wanted):
        raise SuiteProblem("tests must have as many inputs as outputs")
    return [{"input": one, "output": other} for one, other in zip(given, wanted, strict=True)]


def _pair(test: Mapping[str, Any]) -> tuple[str, str]:
    given, wanted = test.get("input", ""), test.get("output", test.get("expected_output"))
    if isinstance(given, list):
        given = "\n".join(str(line) for line in given)
    if isinstance(wanted, list):
        wanted = "\n".join(str(line) for line in wanted)
    if not isinstance(given, str) or not isinstance(wanted, str):
        raise SuiteProblem("a stdio test is {input: text, output: text}")
    return given, wanted


# ------------------------------------------------------------------------------------------------ text


@lru_cache(maxsize=1024)
def _text_suite(text: str, format: str | None, entry_point: str, setup: str, prompt: str) -> Suite:
    tree = _parsed(text, "the tests")
    if setup:
        _parsed(setup, "the setup")
    checks = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    testing = _has_tests(tree)
    chosen = format or ("pytest" if testing else "humaneval" if checks else "asserts")
    if chosen == "pytest" and not testing:
        if not checks:
            raise SuiteProblem("the test file defines no function test_..., so pytest would collect nothing")
        chosen = (
            "humaneval"  # copied from guides: a file that ends in check(candidate), of which pytest collects nothing
        )
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) | _imported(tree)
    if chosen == "pytest":
        return Suite("pytest", text, entry_point, setup, names | {entry_point} - {""})
    if chosen == "asserts":
        return _statements((text,), entry_point, setup)
    if chosen == "stdio":
        raise SuiteProblem("tests of format stdio are a list of {input, output}, not text")
    if not checks:
        raise SuiteProblem("the tests define no function check(candidate)")
    entry_point = entry_point or _candidate_name(tree) or _last_function(prompt)
    if not entry_point:
        raise SuiteProblem("the column entry_point must name the function that check(candidate) is given")
    helpers = preamble(prompt, entry_point)
    if not defined_names(helpers).isdisjoint(names) and _compiles(helpers):
        # what the prompt gives and the tests call is the data set's: a program that defines it anew changes no test
        setup = f"{helpers}\n{setup}"
    return Suite("humaneval", _only_check(text, tree), entry_point, setup, frozenset({entry_point}))


def _parsed(text: str, what: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise SuiteProblem(f"{what} do not compile: {problem}"[:200]) from None


def _compiles(text: str) -> bool:
    try:
        _parsed(text, "the prompt")
    except SuiteProblem:
        return False
    return True


def _has_tests(tree: ast.Module) -> bool:
    """Whether pytest would find something: a name test..., or a class of tests."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or "TestCase" in ast.dump(node)):
            return True
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id.startswith("test") for t in node.targets
        ):
            return True
    return False


def _imported(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == _MODULE
        for alias in node.names
    )


def _candidate_name(tree: ast.Module) -> str:
    """The function that ``from solution import NAME as candidate`` names."""
    return next(
        (
            alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == _MODULE
            for alias in node.names
            if alias.asname == "candidate" or len(node.names) == 1
        ),
        "",
    )


def _last_function(prompt: str) -> str:
    try:
        body = _parsed(prompt, "the prompt").body
    except SuiteProblem:
        return ""
    return next((node.name for node in reversed(body) if isinstance(node, ast.FunctionDef)), "")


def _only_check(text: str, tree: ast.Module) -> str:
    """The text without the import of the candidate and the call of check, which the format does itself."""
    own = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.module == _MODULE)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) == "check")
    ]
    return text if len(own) == len(tree.body) else ast.unparse(ast.Module(own, []))


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


# ------------------------------------------------------------------------------------------------ statements


@lru_cache(maxsize=1024)
def _statements(tests: tuple[str, ...], entry_point: str, setup: str) -> Suite:
    """Split into assert statements, each a test; what else stands before the first assert is set up, else it stays
    with the assert that follows."""
    if setup:
        _parsed(setup, "the setup")
    found: list[str] = []
    before: list[str] = [setup] if setup else []
    names: set[str] = {entry_point} - {""}
    pending: list[str] = []
    for test in tests:
        tree = _parsed(test, "the tests")
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        single = len(tree.body) == 1
        for node in tree.body:
            written = test.strip() if single else ast.unparse(node)
            if any(isinstance(part, ast.Assert) for part in ast.walk(node)):
                found.append("\n".join([*pending, written]))
                pending = []
            elif found:
                pending.append(written)
            else:
                before.append(written)
    if not found:
        raise SuiteProblem("the tests contain no assert statement")
    if pending:
        found[-1] = "\n".join([found[-1], *pending])
    return Suite("asserts", tuple(found), entry_point, "\n".join(before), frozenset(names))
