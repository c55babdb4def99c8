"""Families whose tests are written in Python: statements, check functions, files for pytest; and what a function returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_plugins.code.suite import Suite


def mbpp_plus(row: DataRow) -> Suite | None:
    """MBPP+ as it is on the hub: `test`, a script that holds all inputs and results, beside the few asserts of `test_list`.

    All of `test` has to pass; `test_list` alone would let through what the further inputs are there to find.
    """
    test = row.get("test")
    return row.tests(test) if isinstance(test, str) else None


def mbpp(row: DataRow) -> Suite | None:
    """MBPP: `test_list`, a list of assert statements, with `test_setup_code` (or `test_imports`) before them."""
    return row.tests(row.get("test_list"))


def classeval(row: DataRow) -> Suite | None:
    """ClassEval: `test`, classes of ``unittest`` in the program's own namespace, for the class `class_name`.

    `import_statement` and the imports of `skeleton` go before the tests.
    """
    skeleton = row.get("skeleton")
    known = row.having(code_prompt=skeleton) if isinstance(skeleton, str) and row.get("code_prompt") is None else row
    return known.tests(row.get("test"))


def kodcode(row: DataRow) -> Suite | None:
    """KodCode: `test`, a test file for pytest that begins with ``from solution import f``.

    Where a file imports nothing from ``solution``, what is tested is what `test_info` names, a function or a class.
    """
    info = row.data("test_info")
    first = info[0] if isinstance(info, list) and info else info
    name = first.get("function_name") if isinstance(first, Mapping) else None
    known = row if name is None or row.get("entry_point") is not None else row.having(entry_point=name)
    declared = first.get("function_declaration") if isinstance(first, Mapping) else None
    if isinstance(declared, str) and row.get("starter_code") is None:
        known = known.having(starter_code=declared)  # "class Stack:" says that it is one
    return known.tests(row.get("test"), format="pytest")


_BIGCODEBENCH, _PATIENCE = "task_func", 60.0


def humaneval(row: DataRow) -> Suite:
    """HumanEval, EvoEval, BigCodeBench and other sets with test code: the column `test`.

    Text that defines ``check(candidate)`` is given `entry_point`; a test file, or classes of ``unittest`` in the program's own namespace (BigCodeBench: ``TestCases`` about
    ``task_func``), is run by pytest. BigCodeBench's tests have a minute at least, as its own
    runner is patient too. A prompt that begins the function completes a bare body.
    """
    suite = row.tests(row.get("test"))
    return replace(suite, patience=_PATIENCE) if suite.entry_point == _BIGCODEBENCH else suite


def cruxeval(row: DataRow) -> Suite | None:
    """CRUXEval: `code`, `input`, `output`; the answer says what the function returns.

    Answer and output are literals, compared without running anything. The answer stands in ``[ANSWER]``, in the tag, or is the
    whole text; of ``f(...) == value`` the value counts. An answer that calls the function again is no literal, so wrong.
    """
    if "input" not in row.columns:
        return None
    return literal.suite(str(row.get("output")))
