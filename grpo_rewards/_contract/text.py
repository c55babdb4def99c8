"""Chat and plain completions, seen the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast


def content_text(content: object) -> str:
    """Return the text of a message's content: a string, or a list of parts whose ``text`` fields are joined."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, Sequence):
        parts = (part if isinstance(part, str) else part.get("text") for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    raise TypeError(f"a message's content must be a string or a list of parts, not {type(content).__name__}")


def completion_text(completion: object) -> str:
    """Return what the model finally said: the text itself, or the content of the last assistant message.

    A tool-using completion is a list of several messages (assistant, tool, assistant, ...); what counts is the last
    one that the assistant wrote. A list without an assistant message has the text ``""``.

    Raises:
        TypeError: `completion` is neither a string nor a list of messages.
    """
    if isinstance(completion, str):
        return completion
    if type(completion) is list and len(completion) == 1 and type(message := completion[0]) is dict:  # nearly always
        content = message.get("content")
        if type(content) is str and message.get("role") == "assistant":
            return content
    if isinstance(completion, Mapping):
        completion = (completion,)
    if isinstance(completion, Sequence) and not isinstance(completion, bytes):
        for message in reversed(completion):
            if not isinstance(message, Mapping):
                break
            if message.get("role", "assistant") == "assistant":
                return content_text(message.get("content"))
        else:
            return ""
    raise TypeError(
        f"a completion must be a string or a list of messages {{'role': ..., 'content': ...}}, not {_shape(completion)}"
    )


def completion_messages(completion: object) -> list[dict[str, object]]:
    """Return the completion as messages: a plain string becomes one assistant message."""
    if isinstance(completion, str):
        return [{"role": "assistant", "content": completion}]
    if isinstance(completion, Mapping):
        return [dict(completion)]
    completion_text(completion)  # raises where the shape is wrong
    return [dict(message) for message in cast(Sequence[Mapping[str, object]], completion)]


def _shape(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and value:
        return f"{type(value).__name__} of {type(value[0]).__name__}"
    return type(value).__name__
