"""Reading which instructions a row gives, from the columns of the public data sets."""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from grpo_rewards_plugins.cells import RowProblem, plain
from grpo_rewards_plugins.instructions.registry import Bound, bind
from grpo_rewards_plugins.syntax import literal

_NO_REFERENCES = 2  # the version of marshal's format in which equal cells are equal bytes
_LONGEST = 200_000  # characters of a cell that are read as a literal


def read_row(ids: object, kwargs: Any, truth: object, *, mend: bool) -> tuple[Bound, ...] | None:
    """Return the checks of a row in order, or None where it gives no instructions.

    `ids` and `kwargs` are the columns of IFEval and IFBench, lists or JSON; `truth` is IF-RLVR's `ground_truth`: the text
    of a Python list of one object ``{"instruction_id": [...], "kwargs": [...]}``, or of one JSON text of it, or JSON; or
    RLVR-IFeval's, JSON of one object ``{"func_name": ..., and its arguments}``.

    Raises:
        RowProblem: the columns cannot be read, or what they name is unknown or incomplete.
    """
    if ids is None and truth is None:
        return None
    if ids is None and isinstance(truth, str):
        return _from_text(truth, mend)
    if ids is None:
        ids, kwargs = _of_truth(truth)
    if type(ids) is list:
        try:  # as bytes, since the rows of a group have equal cells and often not the same ones
            return _from_bytes(marshal.dumps((ids, kwargs), _NO_REFERENCES), mend)
        except (ValueError, RowProblem):  # an array in them, which would be read as bytes, or what has to be named
            pass
    return _bound(_unpacked(ids), _unpacked(kwargs), mend)


@lru_cache(maxsize=8192)
def _from_bytes(cells: bytes, mend: bool) -> tuple[Bound, ...]:
    ids, kwargs = marshal.loads(cells)  # written a moment ago, by this process
    return _bound(_unpacked(ids), _unpacked(kwargs), mend)


@lru_cache(maxsize=8192)
def _from_text(truth: str, mend: bool) -> tuple[Bound, ...]:
    ids, kwargs = _of_truth(truth)
    return _bound(ids, kwargs, mend)


def _of_truth(cell: object) -> tuple[object, object]:
    """The ids and arguments in IF-RLVR's column, however often it is wrapped."""
    for _ in range(4):
        cell = _unpacked(cell)
        if isinstance(cell, list | tuple) and len(cell) == 1:
            cell = cell[0]
        elif isinstance(cell, Mapping) and "instruction_id" in cell:
            return cell["instruction_id"], cell.get("kwargs")
        elif isinstance(cell, Mapping) and "func_name" in cell:
            return [cell["func_name"]], [{name: value for name, value in cell.items() if name != "func_name"}]
    raise RowProblem("ground_truth holds no instruction_id")


def _bound(ids: object, kwargs: object, mend: bool) -> tuple[Bound, ...]:
    if not isinstance(ids, Sequence) or isinstance(ids, str) or not ids:
        raise RowProblem(f"the ids of instructions must be a list, not {ids!r:.80}")
    if kwargs is None:
        kwargs = [None] * len(ids)
    if not isinstance(kwargs, Sequence) or isinstance(kwargs, str) or len(kwargs) != len(ids):
        raise RowProblem(f"kwargs must be a list with one object for each of {len(ids)} instructions")
    found = []
    for id, cell in zip(ids, kwargs, strict=True):
        given = _unpacked(cell)
        if given is not None and not isinstance(given, Mapping):
            raise RowProblem(f"the kwargs of {id!r:.80} must be an object, not {given!r:.80}")
        found.append(bind(id, given, mend=mend))
    return tuple(found)


def _unpacked(cell: object) -> object:
    """A cell as plain data: arrays as lists, a text as the JSON or the Python literal that it holds."""
    if not isinstance(cell, str):
        return plain(cell)
    if len(cell) > _LONGEST:
        raise RowProblem(f"a cell of {len(cell)} characters is too long to be read")
    for read in (json.loads, literal):  # literals only: nothing is evaluated
        try:
            return read(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    raise RowProblem(f"neither JSON nor a Python literal: {cell!r:.80}")
