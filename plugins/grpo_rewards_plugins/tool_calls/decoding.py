"""Finding the calls in a completion: in a model's own template, as Python, as JSON, or in a message's own `tool_calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from grpo_rewards_plugins.answers import final_text
from grpo_rewards_plugins.blocks import between_tags, last_block
from grpo_rewards_plugins.tool_calls.literals import Calls, Unreadable, python_calls
from grpo_rewards_plugins.tool_calls.templates import (
    NoJson,
    call_of,
    calls_in_template,
    documents,
    named,
    read_json,
)

Format = Literal["auto", "hermes", "python", "json"]


def find_calls(
    text: str,
    messages: Sequence[Mapping[str, object]],
    format: str,
    functions: Sequence[Mapping[str, object]] = (),
) -> Calls:
    """Return the calls of a completion, as ``{name: {parameter: value}}``; those of its last message where it has some.

    `functions` are those that are described: some templates write a text and a number alike.

    Raises:
        Unreadable: there are none that can be read in the format.
    """
    once = format == "auto"  # the others decode as BFCL does, which takes the last of two values
    for message in reversed(messages):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            return [call_of(call, once) for call in _sequence(message["tool_calls"], once)]
    if format == "auto":
        return _of_any_form(final_text(text), functions)
    if format == "python":
        return python_calls(text)
    if format == "hermes":
        return [*map(named, _in_tags(text))]
    text = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    document = read_json(text, once)
    return [call_of(call, once) for call in (document if isinstance(document, list) else [document])]


def _of_any_form(text: str, functions: Sequence[Mapping[str, object]]) -> Calls:
    calls = calls_in_template(text, functions)
    if calls is not None:
        return calls
    if text.lstrip()[:1] not in ("[", "{") and (block := last_block(text)) is not None:
        text = block.text
    # a list of calls in Python begins with a bracket too
    start = text.lstrip()[:2]
    if start[:1] == "{" or start == "[{":
        return [*map(call_of, documents(text.strip().removesuffix("```")))]
    return python_calls(text, once=True)


def _sequence(cell: object, once: bool) -> Sequence[object]:
    if isinstance(cell, str):
        cell = read_json(cell, once)
    if not isinstance(cell, Sequence):
        raise Unreadable("tool_calls is no list")
    return cell


def _in_tags(text: str) -> list[object]:
    """The documents in tags on lines of their own; JSON that cannot be read is skipped, as in BFCL's handler of Qwen."""
    found = []
    for inside in between_tags(text, "<tool_call>\n", "\n</tool_call>"):
        with suppress(NoJson):
            found.append(read_json(inside, once=False))
    return found
