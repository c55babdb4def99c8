"""The shapes that a row of completions has in the field, all brought to one: a prompt, completions and columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from grpo_rewards._contract.shapes import SCORES

COMPLETION_COLUMNS = ("completion", "completions", "messages", "response")
"""Where a row's completions are looked for, in this order."""

_JSON_CELLS = ("completion", "completions", "messages", "prompt", "completion_ids")


class ShapeError(ValueError):
    """A row has no completion, or a value of the wrong shape; the text says which, on one line."""


class Shaped(NamedTuple):
    """A row understood: one mapping per completion, each with ``completion``, perhaps ``prompt``, and the columns.

    `listed` says that the row held a list of completions: then it is a group by itself.
    """

    samples: list[dict[str, object]]
    listed: bool = False


def read_shape(data: Mapping[str, object], *, cells: bool = False) -> Shaped:
    """Return what a row says; with `cells` (CSV), text that holds a JSON list is read as that list where one belongs.

    Raises:
        ShapeError: no completion, or a completion, prompt or list of ids of the wrong shape.
    """
    row = dict(data)
    row.pop(SCORES, None)
    if cells:
        _read_cells(row)
    if (completion := row.get("completion")) is not None:
        row["completion"] = _completion(completion, "completion")
        shaped = Shaped([row])
    elif row.get("completions") is not None:
        shaped = Shaped(_listed(row), listed=True)
    elif row.get("messages") is not None:
        shaped = Shaped([_from_messages(row)])
    elif row.get("response") is not None:
        row["completion"] = _completion(row["response"], "response")
        shaped = Shaped([row])
    else:
        null = [name for name in COMPLETION_COLUMNS if name in row]
        has = f"{null[0]!r} is null" if null else f"only {', '.join(map(repr, row)) or 'nothing'}"
        raise ShapeError(f"no completion: expected one of {', '.join(COMPLETION_COLUMNS)}; {has}")
    prompt = shaped.samples[0].get("prompt")
    if prompt is not None and not isinstance(prompt, str):
        if type(prompt) is not list and isinstance(prompt, Mapping):
            prompt = [prompt]
        _messages(prompt, "prompt")
    if "completion_ids" in data:
        for sample in shaped.samples:
            _check_ids(sample["completion_ids"])
    return shaped


def _completion(value: object, where: str) -> object:
    if isinstance(value, str):
        return value
    if type(value) is not list and isinstance(value, Mapping):
        value = [value]
    _messages(value, where)
    return value


def _messages(value: object, where: str) -> list[dict[str, object]]:
    """Check that `value` is a chat: a list of messages, each with content that is text, parts or null."""
    if not isinstance(value, list):
        raise ShapeError(f"{where!r} must be a string or a list of messages, not {_kind(value)}")
    for index, message in enumerate(value):
        if type(message) is dict and type(message.get("content")) is str:
            continue
        place = f"{where}[{index}]"
        if not isinstance(message, Mapping):
            raise ShapeError(f"{place} must be a message {{'role': ..., 'content': ...}}, not {_kind(message)}")
        if "role" not in message and "content" not in message:
            raise ShapeError(
                f"{place} has neither 'role' nor 'content', only {', '.join(map(repr, message)) or 'nothing'}"
            )
        content = message.get("content")
        if content is None or isinstance(content, str):
            continue
        if not isinstance(content, list) or not all(isinstance(part, str | Mapping) for part in content):
            raise ShapeError(f"{place}.content must be text or a list of parts, not {_kind(content)}")
    return value


def _listed(row: dict[str, object]) -> list[dict[str, object]]:
    completions = row["completions"]
    if not isinstance(completions, list):
        raise ShapeError(f"'completions' must be a list with one entry per completion, not {_kind(completions)}")
    if not completions:
        raise ShapeError("'completions' is an empty list")
    ids = row.get("completion_ids")
    each: list[object] | None = None  # ids of each completion, where they are that
    if isinstance(ids, list) and len(ids) == len(completions) and all(isinstance(x, list) for x in ids):
        each = ids
    samples = []
    for index, completion in enumerate(completions):
        sample: dict[str, object] = {}
        for name, value in row.items():  # the completion takes the place of the list
            if name == "completions":
                sample["completion"] = _completion(completion, f"completions[{index}]")
            elif name == "completion_ids" and each is not None:
                sample[name] = each[index]
            elif name != "completion":
                sample[name] = value
        samples.append(sample)
    return samples


def _from_messages(row: dict[str, object]) -> dict[str, object]:
    messages = _messages(row["messages"], "messages")
    roles = [message.get("role", "assistant") for message in messages]
    if "user" in roles:
        start = len(roles) - roles[::-1].index("user")  # after the last one: what comes then is the completion
    else:
        start = roles.index("assistant") if "assistant" in roles else len(roles)
    if "assistant" not in roles[start:]:
        raise ShapeError("'messages' has no assistant turn after the last user message")
    sample = {name: value for name, value in row.items() if name != "messages"}
    sample["completion"] = messages[start:]
    if sample.get("prompt") is None and start:
        sample["prompt"] = messages[:start]
    return sample


def _check_ids(ids: object) -> None:
    if ids is None:
        return
    if not isinstance(ids, list) or not set(map(type, ids)) <= {int}:
        raise ShapeError("'completion_ids' must be a list of whole numbers for each completion")


def _read_cells(row: dict[str, object]) -> None:
    for name in _JSON_CELLS:
        text = row.get(name)
        if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "{"):
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if name in ("completion", "prompt"):  # a completion may well be the text "[1, 2]": a chat is what we look for
            entries = value if isinstance(value, list) else [value]
            if not entries or not all(isinstance(x, dict) and ("role" in x and "content" in x) for x in entries):
                continue
        row[name] = value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
