"""Finding the final answer in a completion, for rewards that look at nothing else.

Four places are known: an XML tag, ``\\boxed{}``, ``####`` and the whole text. Every search is linear in the length of
the text. The reward `math` has rules of its own, made for formulas.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["KEPT", "Place", "boxed", "find_answer", "hash_marked", "tagged"]

KEPT = 500
"""Characters of an extracted answer that an outcome's details keep."""

Place = Literal["auto", "tag", "boxed", "hash", "text"]
"""Where the answer stands. ``auto``: the tag, box or ``####`` that comes last, else the whole text."""


def tagged(text: str, tag: str) -> tuple[int, str] | None:
    """Return position and content of the last ``<tag>``; one that is never closed reaches to the end of the text.

    An unclosed tag counts because a stop string such as ``</answer>`` is cut off by the generator.
    """
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.rfind(opening)
    if start < 0:
        return None
    inside = start + len(opening)
    end = text.find(closing, inside)
    return start, text[inside : end if end >= 0 else len(text)]


def boxed(text: str) -> tuple[int, str] | None:
    """Return position and content of the last ``\\boxed{...}`` (or ``\\fbox``) whose braces are balanced."""
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    inside = text.index("{", start) + 1
    depth = 1
    position = inside
    while position < len(text):
        match text[position]:
            case "\\":
                position += 1  # an escaped brace is text
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    return start, text[inside:position]
        position += 1
    return None


def hash_marked(text: str) -> tuple[int, str] | None:
    """Return position and content of the line after the last ``####``, GSM8K's mark."""
    start = text.rfind("####")
    if start < 0:
        return None
    return start, text[start + 4 :].lstrip(" \t").split("\n", 1)[0]


def find_answer(text: str, *, place: Place = "auto", tag: str = "answer") -> str | None:
    """Return the final answer, stripped, or None where the text has no such place.

    A box inside the tag (``<answer>\\boxed{4}</answer>``) is opened too.
    """
    if place == "text":
        return text.strip()
    found: list[tuple[int, str]] = []
    if place in ("auto", "tag") and (hit := tagged(text, tag)) is not None:
        inner = boxed(hit[1]) if "\\boxed{" in hit[1] else None
        found.append((len(text), inner[1]) if inner is not None else hit)
    if place in ("auto", "boxed") and (hit := boxed(text)) is not None:
        found.append(hit)
    if place in ("auto", "hash") and (hit := hash_marked(text)) is not None:
        found.append(hit)
    if found:
        return max(found, key=lambda hit: hit[0])[1].strip()
    return text.strip() if place == "auto" else None
