"""Reading the wanted calls and the described functions of a row, from the columns of the public data sets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grpo_rewards_plugins.cells import RowProblem, plain


@dataclass(frozen=True, slots=True)
class WantedCalls:
    """BFCL's side of a row: the functions, the calls with the values that each parameter accepts, and the category."""

    functions: Sequence[Mapping[str, object]]
    calls: Sequence[Mapping[str, Any]]
    category: str

    @property
    def by_relevance(self) -> bool:
        """Whether any call at all is right, or with ``irrelevance`` none."""
        # in irrelevance too
        return "relevance" in self.category


def wanted_by_bfcl(truth: object, functions: object, category: object) -> WantedCalls:
    """Read `ground_truth`, `functions` (or `tools`) and the category, which may also be an id such as ``live_multiple_12-4-0``.

    Raises:
        RowProblem: they cannot be read, or do not fit together.
    """
    if isinstance(truth, str) and isinstance(functions, str):
        return _from_texts(truth, functions, category)
    return _wanted(truth, functions, category)


@lru_cache(maxsize=8192)
def _from_texts(truth: str, functions: str, category: object) -> WantedCalls:
    return _wanted(truth, functions, category)


def _wanted(truth: object, functions: object, category: object) -> WantedCalls:
    calls = _unpacked(truth)
    known = described(functions)
    if calls is None and category is None and not known:  # as where a table of several kinds of rows has gaps
        raise RowProblem("no functions, no ground_truth and no category: nothing says that calls are wanted, or none")
    name = str(category) if category is not None else _category(calls, known)
    if "relevance" in name:
        return WantedCalls(known, (), name)
    if not isinstance(calls, Sequence) or not calls or not all(map(_is_call, calls)):
        raise RowProblem("ground_truth must be a list of {name: {parameter: [accepted values]}}")
    if not known:
        raise RowProblem("no functions are described (functions, tools)")
    wanted = {next(iter(call)) for call in calls}
    missing = wanted - {str(function["name"]) for function in known}
    # of a single function BFCL takes the one that is described, whatever it is called
    if missing and ("parallel" in name or "multiple" in name):
        raise RowProblem(f"no function {sorted(missing)[0]!r} is described")
    return WantedCalls(known, calls, name)


def _category(calls: object, functions: Sequence[object]) -> str:
    if not calls:
        return "irrelevance"
    several = isinstance(calls, Sequence) and len(calls) > 1
    return "parallel" if several else "multiple" if len(functions) > 1 else "simple"


def _is_call(cell: object) -> bool:
    if not isinstance(cell, Mapping) or len(cell) != 1:
        return False
    accepted = next(iter(cell.values()))
    return isinstance(accepted, Mapping) and all(isinstance(values, list | tuple) for values in accepted.values())


def wanted_exactly(answers: object) -> tuple[tuple[str, object], ...]:
    """Read the calls of `answers` (xLAM), `tool_calls` or `ground_truth`: objects with a name and arguments.

    Raises:
        RowProblem: they cannot be read.
    """
    cells = _unpacked(answers)
    found = []
    for cell in [cells] if isinstance(cells, Mapping) else cells if isinstance(cells, Sequence) else [None]:
        call = cell.get("function", cell) if isinstance(cell, Mapping) else None
        arguments = _unpacked(call.get("arguments", call.get("parameters"))) if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str) or not isinstance(arguments, Mapping):
            raise RowProblem("each wanted call must have a name and arguments")
        found.append((call["name"], arguments))
    return tuple(found)


def described(functions: object) -> Sequence[Mapping[str, object]]:
    """Read the described functions; those wrapped as ``{"type": "function", "function": {...}}`` are opened.

    Raises:
        RowProblem: they are no list of objects with names.
    """
    cells = _unpacked(functions)
    if cells is None:
        return ()
    cells = [cells] if isinstance(cells, Mapping) else cells
    if not isinstance(cells, Sequence) or not all(isinstance(cell, Mapping) for cell in cells):
        raise RowProblem("functions must be a list of objects")
    found = [cell["function"] if isinstance(cell.get("function"), Mapping) else cell for cell in cells]
    if not all("name" in function for function in found):
        raise RowProblem("each function must have a name")
    return found


def _unpacked(cell: object) -> object:
    """A cell as plain data; the same text is read once, since every completion of a group has it."""
    if isinstance(cell, str):
        return _read(cell)
    return plain(cell)


@lru_cache(maxsize=8192)
def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RowProblem(f"not JSON: {text!r:.80}") from None
