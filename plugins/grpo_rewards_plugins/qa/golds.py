"""The accepted answers of a row, from the columns of the public data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grpo_rewards_plugins.cells import from_json, plain

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
    cell = from_json(plain(cell))
    truth = cell.get("ground_truth") if isinstance(cell, Mapping) else None
    truth = from_json(plain(truth))
    return truth.get("target") if isinstance(truth, Mapping) else truth


def _texts(cell: object) -> tuple[str, ...] | None:
    if type(cell) is list:
        return tuple([text if type(text) is str else str(text) for text in cell])
    cell = from_json(plain(cell))
    if isinstance(cell, Mapping):
        if "text" in cell:
            return _texts(cell["text"])
        if "value" in cell:
            aliases = from_json(plain(cell.get("aliases")))
            return (str(cell["value"]), *map(str, aliases if isinstance(aliases, Iterable) else ()))
        return None
    if isinstance(cell, str | int | float):
        return (str(cell),)
    return tuple(map(str, cell)) if isinstance(cell, Iterable) else None
