"""The accepted answers of a row, from the columns of the public data sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from grpo_rewards_plugins.cells import plain

__all__ = ["accepted_answers"]


def accepted_answers(
    golden_answers: object, answers: object, answer: object, reward_model: object
) -> tuple[str, ...] | None:
    """Return the answers of the first column that is there; nothing in it means "no answer"; None where none is there.

    `answers` may be ``{"text": [...]}`` (SQuAD), a list, or either as JSON; `answer` a text, a number, a list, or
    ``{"value": ..., "aliases": [...]}`` (TriviaQA); `reward_model` is ``{"ground_truth": {"target": ...}}`` (Search-R1).
    """
    if type(golden_answers) is list and golden_answers and type(golden_answers[0]) is str:  # what most rows have
        return tuple(map(str, golden_answers))
    for cell in (golden_answers, answers, answer, _target(reward_model)):
        if cell is not None:
            found = _texts(cell)
            if found is not None:
                return found
    return None


def _target(cell: object) -> object:
    cell = _unpacked(cell)
    truth = cell.get("ground_truth") if isinstance(cell, Mapping) else None
    truth = _unpacked(truth)
    return truth.get("target") if isinstance(truth, Mapping) else truth


def _texts(cell: object) -> tuple[str, ...] | None:
    if type(cell) is list:
        return tuple([text if type(text) is str else str(text) for text in cell])
    cell = _unpacked(cell)
    if isinstance(cell, Mapping):
        if "text" in cell:
            return _texts(cell["text"])
        if "value" in cell:
            aliases = _unpacked(cell.get("aliases"))
            return (str(cell["value"]), *map(str, aliases if isinstance(aliases, Iterable) else ()))
        return None
    if isinstance(cell, str | int | float):
        return (str(cell),)
    return tuple(map(str, cell)) if isinstance(cell, Iterable) else None


def _unpacked(cell: object) -> object:
    """A cell as plain data: arrays as lists, text that holds a JSON list or object as that."""
    if isinstance(cell, str):
        if cell[:1] in ("[", "{"):
            try:
                return json.loads(cell)
            except (ValueError, RecursionError):  # an answer that begins with a bracket
                return cell
        return cell
    return plain(cell)
