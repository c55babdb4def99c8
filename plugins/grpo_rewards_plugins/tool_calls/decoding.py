"""Finding the calls in a completion: Python, Hermes' tags, JSON, or a message's own `tool_calls`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from grpo_rewards_plugins.answers import final_text
from grpo_rewards_plugins.blocks import between_tags, last_block
from grpo_rewards_plugins.documents import DocumentProblem, unique_keys
from grpo_rewards_plugins.tool_calls.literals import Ambiguous, Calls, Unreadable, python_calls

Format = Literal["auto", "hermes", "python", "json"]
_LONGEST = 1_000_000


class _NoJson(Unreadable):
    """A text is no JSON, which is passed over between other calls."""


def find_calls(text: str, messages: Sequence[Mapping[str, object]], format: str) -> Calls:
    """Return the calls of a completion, as ``{name: {parameter: value}}``; those of its last message where it has some.

    Raises:
        Unreadable: there are none that can be read in the format.
    """
    once = format == "auto"  # the others decode as BFCL does, which takes the last of two values
    for message in reversed(messages):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            return [_call(call, once) for call in _sequence(message["tool_calls"], once)]
    if once:
        text = final_text(text)
        if "<tool_call>" in text:
            return [_call(call, once) for call in _in_tags(text, "<tool_call>", "</tool_call>", once)]
        if text.lstrip()[:1] not in ("[", "{") and (block := last_block(text)) is not None:
            text = block.text
        # a list of calls in Python begins with a bracket too
        start = text.lstrip()[:2]
        format = "json" if start[:1] == "{" or start == "[{" else "python"
    if format == "python":
        return python_calls(text, once=once)
    if format == "hermes":
        return [_named(call) for call in _in_tags(text, "<tool_call>\n", "\n</tool_call>", once)]
    return _documents(text, once)


def _sequence(cell: object, once: bool) -> Sequence[object]:
    if isinstance(cell, str):
        cell = _json(cell, once)
    if not isinstance(cell, Sequence):
        raise Unreadable("tool_calls is no list")
    return cell


def _call(call: object, once: bool) -> dict[object, object]:
    """A call as chat APIs and models write it: an object or ``{"function": object}``, its `arguments` (`parameters`) maybe as JSON."""
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping):
        raise Unreadable("a tool call is no object")
    arguments = inner.get("arguments", inner.get("parameters"))
    return _named({**inner, "arguments": _json(arguments or "{}", once) if isinstance(arguments, str) else arguments})


def _named(call: object) -> dict[object, object]:
    """``{name, arguments}`` as ``{name: arguments}``."""
    if not isinstance(call, dict) or "name" not in call or not isinstance(call.get("arguments"), dict):
        raise Unreadable("a call has no name or no arguments")
    try:
        return {call["name"]: call["arguments"]}
    except TypeError:
        raise Unreadable("a call's name is no text") from None


def _json(text: str, once: bool) -> object:
    if len(text) > _LONGEST:
        raise Unreadable(f"{len(text)} characters are too many for calls")
    try:
        return json.loads(text, object_pairs_hook=unique_keys if once else None)
    except DocumentProblem as problem:
        raise Ambiguous(str(problem)) from None
    except (ValueError, RecursionError):
        raise _NoJson("not JSON") from None


def _in_tags(text: str, opening: str, closing: str, once: bool) -> list[object]:
    """The documents in tags; JSON that cannot be read is skipped, as in BFCL's handler of Qwen."""
    found = []
    for inside in between_tags(text, opening, closing):
        with suppress(_NoJson):
            found.append(_json(inside, once))
    return found


def _documents(text: str, once: bool) -> Calls:
    """A JSON list of calls, or one call, in a fence or not."""
    text = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    document = _json(text, once)
    return [_call(call, once) for call in (document if isinstance(document, list) else [document])]
