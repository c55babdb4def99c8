"""Fenced blocks of Markdown, and what stands between tags, each found in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grpo_rewards_plugins.answers import final_text, tagged

# no backtick behind the marks: that is code within a line
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^\n`]*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """The `text` between two fences, the first word after the opening one as `language` in lower case, `closed` or not."""

    text: str
    language: str
    closed: bool = True


def fenced_blocks(text: str) -> list[Block]:
    """Return the fenced blocks in order; one that is never closed reaches to the end (a completion may be cut off).

    As in CommonMark, a fence is closed by one of the same mark that is at least as long and has no language; where there is none, by
    the first line that ends in it (``{"a": 1}``` ``), as models write it too.
    """
    blocks: list[Block] = []
    marks, language = "", ""
    inside: list[str] = []
    for line in text.split("\n"):
        stripped = line.rstrip("\r")
        fence = _FENCE.match(stripped) if stripped.lstrip(" ")[:3] in ("```", "~~~") else None
        if not marks:
            if fence is not None:
                marks, language, inside = fence["marks"], fence["info"].strip().partition(" ")[0].lower(), []
        elif fence is not None and fence["marks"].startswith(marks) and not fence["info"].strip():
            blocks.append(Block("\n".join(inside), language))
            marks = ""
        else:
            inside.append(line)
    if marks:
        ended = ended_within(inside, marks)
        blocks.append(Block("\n".join(ended or inside), language, closed=bool(ended)))
    return blocks


def ended_within(lines: list[str], marks: str) -> list[str]:
    """Return the lines of a block up to the first that ends in the fence's marks; none where no line does."""
    ends = next((at for at, line in enumerate(lines) if line.rstrip().endswith(marks)), None)
    return [] if ends is None else [*lines[:ends], lines[ends].rstrip().removesuffix(marks)]


def last_block(text: str) -> Block | None:
    """Return the last fenced block, or None; a text without any fence costs nothing."""
    if "```" not in text and "~~~" not in text:
        return None
    blocks = fenced_blocks(text)
    return blocks[-1] if blocks else None


def marked_text(text: str, place: str, tag: str) -> str | None:
    """Return what stands in the last `tag` (a fence in it is opened), the last fenced block, or all of `text`.

    Reasoning and end tokens of a chat do not count, as wherever an answer is looked for. `place` says which: ``tag``, ``block``, ``text``, or ``auto`` for the first of them that is there; None where it is not.
    """
    text = final_text(text, tag)
    if place in ("auto", "tag") and (hit := tagged(text, tag)) is not None:
        inner = last_block(hit[1])
        return hit[1] if inner is None else inner.text
    if place in ("auto", "block") and (block := last_block(text)) is not None:
        return block.text
    return text if place in ("auto", "text") else None


def between_tags(text: str, opening: str, closing: str) -> Iterator[str]:
    """Yield what stands between each closed pair of tags, as a lazy pattern finds them, but in linear time.

    Such a pattern looks to the end of the text from each tag that is never closed.
    """
    at = text.find(opening)
    while at >= 0 and (end := text.find(closing, at + len(opening))) >= 0:
        yield text[at + len(opening) : end]
        at = text.find(opening, end + len(closing))
