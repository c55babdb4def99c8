"""The prompt of a row of data, and which rows have one prompt and different columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from grpo_rewards._contract.shapes import SCORES
from grpo_rewards._contract.text import content_text
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.marked import MARK
from grpo_rewards._scoring.reading.rows import digest as digest_of_size
from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS

_PROMPTS = ("prompt", "question", "problem", "question_content", "instruction", "query", "description", "text")
_OF_ONE_ANSWER = frozenset((*COMPLETION_COLUMNS, "completion_ids", "advantage", "group_id", "step", SCORES, MARK))


def task_of(data: Mapping[str, object]) -> dict[str, object]:
    """Return a row's columns without those of one completion; of chat with an answer the prompt is kept."""
    task = {name: value for name, value in data.items() if name not in _OF_ONE_ANSWER}
    messages = data.get("messages")
    if "prompt" not in task and isinstance(messages, list):
        roles = [message.get("role") if isinstance(message, Mapping) else None for message in messages]
        if "user" in roles:
            task["prompt"] = messages[: len(roles) - roles[::-1].index("user")]
    return task


def cell_of_prompt(task: Mapping[str, object]) -> str | list[object]:
    """Return the text or the messages of the first column that is usual for what is asked; empty where there is none."""
    for name in _PROMPTS:
        prompt = task.get(name)
        if (isinstance(prompt, str) and prompt.strip()) or (isinstance(prompt, list) and prompt):
            return prompt
    return ""


def prompt_of(task: Mapping[str, object]) -> str:
    """Return what is asked, as text; of messages all."""
    prompt = cell_of_prompt(task)
    if isinstance(prompt, str):
        return prompt
    return "\n".join(content_text(one.get("content")) for one in prompt if isinstance(one, Mapping))


def question_of(prompt: str) -> str:
    """Return a prompt without what copies of one question differ in: white space, case, the marks at its end."""
    return " ".join(unicodedata.normalize("NFC", prompt).split()).casefold().rstrip(" .?!:")


def digest(value: object) -> bytes:
    """Return eight bytes that stand for a value; those of all rows are kept at once."""
    return digest_of_size(value, size=8)


def twins(path: Path) -> frozenset[bytes]:
    """Return the digests of prompts that stand in rows which differ in other columns; sixteen bytes are kept for a row."""
    first: dict[bytes, bytes] = {}
    found = set()
    for row in open_source(path).rows():
        if row.data is None:
            continue
        task = task_of(row.data)
        if prompt := question_of(prompt_of(task)):
            whole = digest(task)
            if first.setdefault(digest(prompt), whole) != whole:
                found.add(digest(prompt))
    return frozenset(found)
