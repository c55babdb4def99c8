"""How things show themselves in a notebook: small HTML, whatever their size, with every text of others escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from grpo_rewards.errors import printable

if TYPE_CHECKING:
    from grpo_rewards._contract.outcome import Outcome
    from grpo_rewards._contract.reward import Reward

_PLAIN = "white-space:pre-wrap;overflow-wrap:anywhere;text-align:left"


def shown_number(value: float | None) -> str:
    """A value as a person reads it; a dash for None."""
    return "–" if value is None else f"{value:.4g}"


def cut(text: str, most: int) -> str:
    """The beginning of a text, and its end where it is longer than `most` characters, with control characters made visible."""
    if len(text) > most:
        text = f"{text[: most * 2 // 3]} … [{len(text):,} characters] … {text[-most // 3 :]}"
    return "\n".join(map(printable, text.split("\n")))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts, which are escaped."""
    cells = "".join(f"<th>{escape(one)}</th>" for one in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>" for row in rows)
    return f"<table style='{_PLAIN}'><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def block(title: str, text: str) -> str:
    """A text with line breaks under a title; both are escaped."""
    return f"<div><b>{escape(title)}</b><pre style='{_PLAIN}'>{escape(text)}</pre></div>"


def html_of_outcome(outcome: Outcome) -> str:
    """An outcome as one line of a table."""
    row = (shown_number(outcome.value), outcome.status, cut(outcome.reason, 400), cut(repr(dict(outcome.details)), 400))
    return table(("value", "status", "reason", "details"), [row])


def html_of_reward(reward: Reward) -> str:
    """A reward's documentation, range, columns and settings."""
    title = f"{reward.name} ({reward.source} {reward.version}, {reward.style} by {reward.style})"
    return block(title, cut(reward.__doc__ or "", 4_000))
