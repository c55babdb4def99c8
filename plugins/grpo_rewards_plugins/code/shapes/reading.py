"""A row's tests: which shape they are, by their look and by what the row's other columns say, and what is wrong with them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeGuard

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.extraction import PRELUDE, defined_names, first_name, preamble
from grpo_rewards_plugins.code.problems import SuiteProblem, compiled
from grpo_rewards_plugins.code.shapes.binding import after_head, bound_to_program, unbound_names
from grpo_rewards_plugins.code.shapes.calls import called_name, read_calls
from grpo_rewards_plugins.code.shapes.columns import (
    as_begun,
    checker_of,
    class_names,
    files_of,
    language_of,
    memory_of,
    named_language,
    refuse_no_stdio,
    seconds_of,
)
from grpo_rewards_plugins.code.shapes.packed import is_packed, unpacked
from grpo_rewards_plugins.code.shapes.pairs import Tests, read_pairs
from grpo_rewards_plugins.code.shapes.parts import in_subtasks
from grpo_rewards_plugins.code.shapes.written import from_json_with_texts
from grpo_rewards_plugins.code.suite import Calls, Suite
from grpo_rewards_plugins.syntax import parsed

_MODULE = "solution"


def read_suite(
    tests: object,
    *,
    format: str | None,
    entry_point: object,
    setup: object,
    prompt: str,
    columns: Mapping[str, object] = MappingProxyType({}),
) -> Suite:
    """Read a row's tests; `format` None means what they look like.

    `prompt` is the code that the row's program continues, or text around it; `columns` are the row's other columns, which
    may say that the tests are not what they look like.

    Raises:
        SuiteProblem: they are not there, of another shape, do not compile, contain no test, or hold or come with anything
            that is not understood.
    """
    language, tests = language_of(columns), _opened(tests)
    if isinstance(tests, Mapping) and any(key in tests for key in _WRAPPERS):
        language = language or named_language(tests.get("language"))
    tests, wrapped = _unwrapped(tests)
    if format is not None and wrapped not in (None, format):
        raise SuiteProblem(f"the tests say that they are {wrapped}, and the format is {format}")
    entry = entry_point.strip() if isinstance(entry_point, str) else ""
    if "()." in entry:
        entry = as_begun(entry, columns)
    classes = class_names(columns, prompt)
    prepared = _setup(setup)
    if isinstance(tests, Mapping) or _are_pairs(tests):
        return _cases(tests, columns, format=format, entry=entry, setup=prepared, classes=classes, language=language)
    if language not in ("", "python"):
        raise SuiteProblem(f"the row asks for programs in {language!r}, and its tests are Python's")
    if (checker := checker_of(columns)) is not None:
        raise SuiteProblem(f"a checker ({checker.protocol}) decides about outputs, and the tests have none")
    if isinstance(tests, str):
        return replace(_text_suite(tests, format or wrapped, entry, prepared, prompt, classes), classes=classes)
    if not isinstance(tests, Sequence) or isinstance(tests, bytes):
        raise SuiteProblem(f"tests must be text or a list, not {type(tests).__name__}")
    if not tests:
        raise SuiteProblem("the list of tests is empty", kind="vacuous")
    if all(isinstance(test, str) for test in tests) and format in (None, "asserts"):
        return replace(_statements(tuple(tests), entry, prepared), classes=classes)
    raise SuiteProblem(
        f"tests of format {format or 'auto'} are {_SHAPES.get(format or '', 'text, a list of statements, or a list of pairs')}, "
        f"not a list of {type(tests[0]).__name__}"
    )


def _opened(tests: object) -> object:
    """Tests out of JSON, and out of base64 where they are packed."""
    tests = from_json_with_texts(tests)
    return unpacked(tests) if isinstance(tests, str) and is_packed(tests) else tests


def _cases(
    tests: Tests,
    columns: Mapping[str, object],
    *,
    format: str | None,
    entry: str,
    setup: str,
    classes: tuple[str, ...],
    language: str,
) -> Suite:
    """Inputs and outputs: of calls where anything names a function, else of whole programs."""
    if format not in (None, "stdio", "calls"):
        raise SuiteProblem(f"tests of format {format} are {_SHAPES[format]}, not inputs and outputs")
    private = from_json(plain(columns.get("private_test_cases")))
    # a part of the tests alone would let programs pass that the others are there to find
    if not is_blank(private) and private != tests:
        raise SuiteProblem("the row has further tests (column 'private_test_cases') than those in its tests")
    if name := called_name(tests, columns) or (_method(entry) if format in (None, "calls") else ""):
        if format == "stdio":
            raise SuiteProblem(f"the tests call {name!r}, and the format is stdio")
        if language not in ("", "python"):
            raise SuiteProblem(f"the tests call {name!r} of a program in {language!r}; only Python is called")
        name = as_begun(name, columns)
        suite = calls_suite(name, read_calls(name, tests, columns), columns, setup=setup, classes=classes)
        return in_subtasks(suite, tests, columns)
    if format == "calls":
        raise SuiteProblem("the tests do not say what they call")
    checker = checker_of(columns)
    pairs = read_pairs(tests, judged=checker is not None)
    # where the user says stdio, an entry point beside the tests is taken to mean nothing
    refuse_no_stdio({**columns, "entry_point": entry if format is None else ""})
    input_file, output_file = files_of(columns)
    suite = Suite(
        "stdio", (), "", setup, frozenset(), pairs, classes, seconds_of(columns), memory=memory_of(columns),
        language=language, checker=checker, input_file=input_file, output_file=output_file,
    )  # fmt: skip
    return in_subtasks(suite, tests, columns)


def _method(entry: str) -> str:
    """The function that an entry point names: ``f``, or ``Solution().f``; empty for anything else."""
    owner, _, name = entry.rpartition("().")
    return name if name.isidentifier() and (not owner or owner.isidentifier()) else ""


def calls_suite(
    name: str, calls: Calls, columns: Mapping[str, object], *, setup: str = "", classes: tuple[str, ...] = ()
) -> Suite:
    """Return the suite of calls of `name`; programs get the imports that the sites with calls have, before their own names."""
    own = columns.get("class_name")
    owner = own if isinstance(own, str) and own.isidentifier() else "Solution"
    return Suite(
        "calls", (), name, f"{PRELUDE}{setup}", frozenset((name, owner)), calls=calls, compare="floats",
        classes=tuple(dict.fromkeys((owner, *classes))), seconds=seconds_of(columns), memory=memory_of(columns),
    )  # fmt: skip


_SHAPES = {
    "pytest": "the text of a test file",
    "humaneval": "text that defines check(candidate)",
    "asserts": "a list of statements",
    "stdio": "a list of {input, output}",
    "calls": "a list of {input, output} with the name of a function",
}
_WRAPPERS = {"assert_case": "asserts", "functional": None, "pytest": "pytest", "test_cases": None}
"""Keys under which some data sets put the tests, and the format that each means."""


def _unwrapped(tests: object) -> tuple[object, str | None]:
    """What a mapping holds under one of the `_WRAPPERS`, where nothing else in it says anything but the language."""
    if not isinstance(tests, Mapping):
        return tests, None
    there = [key for key in _WRAPPERS if not is_blank(tests.get(key))]
    if not there:
        return tests, None
    if named_language(tests.get("language")) not in ("", "python") and there[0] != "test_cases":
        raise SuiteProblem(f"the tests are Python's, and the programs are asked for in {tests['language']!r}")
    if _WRAPPERS[there[0]] == "asserts":  # verl's rows keep the keys of calls beside them: the asserts call by name
        tests = {key: value for key, value in tests.items() if key not in ("fn_name", "func_name")}
    if others := [key for key, value in tests.items() if key not in (there[0], "language") and not is_blank(value)]:
        raise SuiteProblem(f"the tests hold a key beside {there[0]!r} that is not known: {str(others[0])[:60]!r}")
    return _opened(tests[there[0]]), _WRAPPERS[there[0]]


def _are_pairs(tests: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(tests, list) and bool(tests) and all(isinstance(test, Mapping) for test in tests)


def _setup(setup: object) -> str:
    setup = plain(setup)
    if isinstance(setup, list | tuple):
        return "\n".join(str(line) for line in setup if line)
    return setup if isinstance(setup, str) else ""


# ------------------------------------------------------------------------------------------------ text


@lru_cache(maxsize=1024)
def _text_suite(
    text: str, format: str | None, entry_point: str, setup: str, prompt: str, classes: tuple[str, ...]
) -> Suite:
    tree = compiled(text, "the tests do not compile")
    if setup:
        compiled(setup, "the setup do not compile")
    checks = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    testing = _has_tests(tree)
    chosen = format or ("pytest" if testing else "humaneval" if checks else "asserts")
    if chosen == "pytest" and not testing:
        if not checks:
            raise SuiteProblem(
                "the test file defines no function test_..., so pytest would collect nothing", kind="vacuous"
            )
        chosen = (
            "humaneval"  # copied from guides: a file that ends in check(candidate), of which pytest collects nothing
        )
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) | _imported(tree)
    if chosen == "pytest":
        setup = "\n".join(filter(None, (_imports(preamble(prompt, entry_point), unbound_names(text)), setup)))
        if setup:
            text = after_head(text, tree, setup)
            # the next insertion goes by line numbers, which have moved
            tree = compiled(text, "the tests after the setup do not compile")
        text = bound_to_program(text, tree, tuple(dict.fromkeys((first_name(entry_point), *classes))))
        # without a setup: it stands in the text now
        return Suite("pytest", text, entry_point, "", names | {first_name(entry_point)} - {""})
    if chosen == "asserts":
        return _statements((text,), entry_point, setup)
    if chosen == "stdio":
        raise SuiteProblem("tests of format stdio are a list of {input, output}, not text")
    if not checks:
        raise SuiteProblem("the tests define no function check(candidate)")
    # what the tests say themselves comes before what the prompt seems to begin
    entry_point = entry_point or _candidate_name(tree) or _checked(tree) or _last_function(prompt)
    if not entry_point:
        raise SuiteProblem("the column entry_point must name the function that check(candidate) is given")
    helpers = preamble(prompt, entry_point)
    if not defined_names(helpers).isdisjoint(names) and parsed(helpers) is not None:
        # what the prompt gives and the tests call is the data set's: a program that defines it anew changes no test
        setup = f"{helpers}\n{setup}"
    return Suite("humaneval", _only_check(text, tree), entry_point, setup, frozenset({first_name(entry_point)}))


def _imports(code: str, names: frozenset[str]) -> str:
    """The imports of `names` in what a prompt begins with: tests in the program's own namespace count on them too."""
    tree = parsed(code) if names else None
    if tree is None:
        return ""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            if not bound.isdisjoint(names):
                found.append(ast.unparse(node))
    return "\n".join(found)


def _has_tests(tree: ast.Module) -> bool:
    """Whether pytest would find something: a name test..., or a class of tests."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        # pytest collects subclasses of TestCase whatever their names are
        if isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or "TestCase" in ast.dump(node)):
            return True
        # pytest also collects a lambda or a partial that is bound to such a name
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


def _checked(tree: ast.Module) -> str:
    """What a call of ``check`` at the end of the text is given: ``check(Solution().twoSum)``."""
    given = [
        node.value.args[0]
        for node in tree.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and _called(node.value) == "check"
        and node.value.args
    ]
    written = ast.unparse(given[-1]) if given else ""
    return "" if written == "candidate" else written


def _last_function(prompt: str) -> str:
    tree = parsed(prompt)
    nodes = tree.body if tree is not None else []
    return next((node.name for node in reversed(nodes) if isinstance(node, ast.FunctionDef)), "")


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
        compiled(setup, "the setup do not compile")
    found: list[str] = []
    before: list[str] = [setup] if setup else []
    names: set[str] = {entry_point} - {""}
    pending: list[str] = []
    for test in tests:
        tree = compiled(test, "the tests do not compile")
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        single = len(tree.body) == 1
        for node in tree.body:
            written = test.strip() if single else ast.unparse(node)
            # a loop or a with that asserts is one test as a whole
            if any(isinstance(part, ast.Assert) for part in ast.walk(node)):
                found.append("\n".join([*pending, written]))
                pending = []
            elif found:
                pending.append(written)
            else:
                before.append(written)
    if not found:
        raise SuiteProblem("the tests contain no assert statement", kind="vacuous")
    if pending:
        # what stands behind the last assert runs with it: it may fail as well
        found[-1] = "\n".join([found[-1], *pending])
    return Suite("asserts", tuple(found), entry_point, "\n".join(before), frozenset(names))
