"""The accepted answers of a row, from the columns of the public data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grpo_rewards_plugins.cells import from_json, plain
from grpo_rewards_plugins.syntax import literal


def accepted_answers(
    golden_answers: object, answers: object, answer: object, reward_model: object
) -> tuple[str, ...] | None:
    """Return the answers of the first column that is there; an empty list means "no answer"; None where none is there.

    None, NaN and a lone empty text, with which tables fill what is missing, are not there.

    `answers` may be ``{"text": [...]}`` (SQuAD), a list, or either as JSON; `answer` a text, a number, a list, or
    ``{"value": ..., "aliases": [...]}`` (TriviaQA); `reward_model` is ``{"ground_truth": {"target": ...}}`` (Search-R1).
    """
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
    """The texts of a cell; None where it holds something that is neither text nor a number."""
    if type(cell) is not list:
        cell = from_json(plain(cell))
        if isinstance(cell, Mapping):
            if "text" in cell:
                return _texts(cell["text"])
            if "value" not in cell:
                return None
            aliases = from_json(plain(cell.get("aliases")))
            cell = [cell["value"], *(aliases if isinstance(aliases, Iterable) else ())]
        elif isinstance(cell, str):
            cell = _listed(cell)
        elif not isinstance(cell, Iterable):
            cell = [cell]
    found = []
    for item in cell:
        if type(item) is str:
            found.append(item)
        elif isinstance(item, bool):  # BoolQ's column, which is asked as a question of yes or no
            found += ["yes", "True"] if item else ["no", "False"]
        elif isinstance(item, int | float) and item == item:  # not NaN, which stands for a cell without anything
            found.append(str(int(item) if isinstance(item, float) and item.is_integer() else item))
        else:
            return None
    return tuple(found)


def _listed(text: str) -> list[object]:
    """The answers of a text: itself, or those of the list that it is in Python, as a table that went through CSV has it.

    Of an array's text (``['x' 'y']``), which Python would read as ``xy``, none can be read.
    """
    if not text:
        return [None]
    if text[0] == "[" and text[-1] == "]":
        try:
            found = literal(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return [text]
        if isinstance(found, list):
            return found if "".join(repr(found).split()) == "".join(text.split()) else [None]
    return [text]
