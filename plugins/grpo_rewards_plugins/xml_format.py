"""The reward `xml_format`: a completion laid out in XML-like tags."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards_plugins.bounds import between, finite

__all__ = ["xml_format"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def _check(settings: Mapping[str, Any]) -> None:
    finite(settings)
    tags, per_tag = settings["tags"], settings["per_tag"]
    if not tags or len(set(tags)) != len(tags):
        raise ValueError(f"tags must be a list of different names, not {tags!r}")
    for tag in tags:
        if not _NAME.fullmatch(tag):
            raise ValueError(f"a tag is a bare name such as answer (letters, digits, - _ .), not {tag!r}")
    if isinstance(settings["min_chars"], dict):
        for tag in settings["min_chars"]:
            if tag not in tags:
                raise ValueError(f"min_chars names the tag {tag!r}, which is not among tags ({', '.join(tags)})")
    if not 0 < per_tag <= 0.5 / len(tags) + 1e-9:
        raise ValueError(
            f"per_tag must be above 0 and at most {0.5 / len(tags):g}, so that the {2 * len(tags)} tags make at most 1; "
            f"it is {per_tag:g}"
        )
    between(settings, "per_char", 0)
    between(settings, "max_penalty", 0)
    between(settings, "thin", 0, 1)


@reward(range=(0.0, 1.0), check_settings=_check)
def xml_format(
    completion: str,
    *,
    tags: list[str] = ["reasoning", "answer"],  # noqa: B006 - never changed; the schema shows it
    mode: Literal["strict", "soft", "count"] = "soft",
    layout: Literal["lines", "blocks"] = "lines",
    min_chars: int | dict[str, int] = 1,
    thin: float = 0.5,
    per_tag: float = 0.125,
    per_char: float = 0.001,
    max_penalty: float = 0.25,
    prefix: str = "",
) -> float | Outcome:
    """The completion is laid out in the given tags.

    Each tag counts once, in the order of `tags`, none inside another; content may have any number of lines. Between 0
    and 1; linear in the length of the completion.

    Args:
        tags: the tags in their order (GSM8K recipe: reasoning, answer).
        mode: ``strict``: the completion is the tags and nothing else; 1 or 0. ``soft``: the tags are there, any text
            may stand around them; 1 or 0. ``count``: `per_tag` for each opening and each closing tag, less the penalty.
        layout: for ``strict``. ``lines``: every tag on a line of its own (GSM8K recipe). ``blocks``: only white space
            between the blocks (``<think>...</think>\\n<answer>...</answer>``, R1, nanoAhaMoment). White space around
            the whole completion is ignored in both.
        min_chars: the fewest characters, without white space around, that a tag must hold; one number, or one per tag
            (the course's first rewards: more than 20 for think).
        thin: the share that a tag (``count``) or the completion gets where it holds fewer (the same recipe: half).
        per_tag: for ``count``: the value of one tag (GSM8K recipe: 0.125, so 0.5 for two pairs).
        per_char: for ``count``: the penalty per character after the last closing tag (GSM8K recipe: 0.001, taken
            twice there by mistake, and without bound).
        max_penalty: the most that the penalty takes (ours: 0.25, half of four tags); the value never falls below 0.
        prefix: text that the prompt already wrote for the model, such as ``<think>`` (nanoAhaMoment).
    """
    text = prefix + completion
    layout_found = _Layout.read(text, tuple(tags))
    if mode == "count":
        return _counted(layout_found, tags, min_chars, thin, per_tag, per_char, max_penalty)
    problem = layout_found.problem()
    if problem is None and mode == "strict":
        problem = layout_found.stray_text(tags, layout)
    if problem is not None:
        return Outcome(0.0, "scored", problem)
    if short := layout_found.thin(tags, min_chars):
        return Outcome(thin, "scored", _thin_reason(short, min_chars))
    return 1.0


@dataclass(slots=True)
class _Layout:
    """Where the tags stand in a text: per ``<tag>`` and ``</tag>`` that is there the number of times and the first span.

    `marks` are all that are expected, in order.
    """

    text: str
    marks: tuple[str, ...]
    counts: Mapping[str, int]
    spans: Mapping[str, tuple[int, int]]

    @classmethod
    def read(cls, text: str, tags: tuple[str, ...]) -> _Layout:
        marks, pattern = _expected(tags)
        counts: dict[str, int] = {}
        spans: dict[str, tuple[int, int]] = {}
        for match in pattern.finditer(text):
            mark = match[0]
            if mark in counts:
                counts[mark] += 1
            else:
                counts[mark], spans[mark] = 1, match.span()
        return cls(text, marks, counts, spans)

    def problem(self) -> str | None:
        """What keeps the tags from standing once each, in order, side by side."""
        last, before = -1, ""
        for mark in self.marks:
            if (count := self.counts.get(mark, 0)) != 1:
                return f"{mark} is missing" if count == 0 else f"{mark} stands {count} times"
            if self.spans[mark][0] < last:
                return f"{mark} stands before {before}"
            last, before = self.spans[mark][0], mark
        return None

    def stray_text(self, tags: Sequence[str], layout: Literal["lines", "blocks"]) -> str | None:
        """What keeps a text whose tags are in order from being nothing but them."""
        place, before = 0, "the beginning"
        for tag in tags:
            start, opened = self.spans[f"<{tag}>"]
            closing, end = self.spans[f"</{tag}>"]
            between = self.text[place:start]
            if between.strip():
                return f"there is text between {before} and <{tag}>"
            if layout == "lines":
                if place and "\n" not in between:
                    return f"<{tag}> is not on a line of its own"
                if self.text[opened : opened + 1] != "\n":
                    return f"<{tag}> is not on a line of its own"
                if self.text[closing - 1] != "\n":
                    return f"</{tag}> is not on a line of its own"
            place, before = end, f"</{tag}>"
        if self.text[place:].strip():
            return f"{len(self.text[place:].strip())} characters follow {before}"
        return None

    def thin(self, tags: Sequence[str], min_chars: int | Mapping[str, int]) -> dict[str, int]:
        """The tags that hold too little, with the number of characters in each."""
        short = {}
        for tag in tags:
            opening, closing = f"<{tag}>", f"</{tag}>"
            if (
                self.counts.get(opening) == self.counts.get(closing) == 1
                and self.spans[opening][1] <= self.spans[closing][0]
            ):
                held = len(self.text[self.spans[opening][1] : self.spans[closing][0]].strip())
                if held < _wanted(min_chars, tag):
                    short[tag] = held
        return short


@lru_cache(maxsize=64)
def _expected(tags: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """All opening and closing tags in order, and what finds them."""
    marks = tuple(mark for tag in tags for mark in (f"<{tag}>", f"</{tag}>"))
    return marks, re.compile(f"</?(?:{'|'.join(map(re.escape, tags))})>")


def _wanted(min_chars: int | Mapping[str, int], tag: str) -> int:
    return min_chars if isinstance(min_chars, int) else min_chars.get(tag, 1)


def _thin_reason(short: Mapping[str, int], min_chars: int | Mapping[str, int]) -> str:
    return ", ".join(
        f"<{tag}> holds {held} of at least {_wanted(min_chars, tag)} characters" for tag, held in short.items()
    )


def _counted(
    found: _Layout,
    tags: Sequence[str],
    min_chars: int | Mapping[str, int],
    thin: float,
    per_tag: float,
    per_char: float,
    max_penalty: float,
) -> float | Outcome:
    marks, counts, spans = found.marks, found.counts, found.spans
    if not counts:
        return Outcome(0.0, "scored", f"missing: {' '.join(marks)}")
    once = [mark for mark in marks if mark in counts and counts[mark] == 1]
    places = [spans[mark][0] for mark in once]
    kept = once if places == sorted(places) else [once[index] for index in _longest_in_order(places)]
    reasons = []
    if len(counts) < len(marks):
        reasons.append(f"missing: {' '.join([mark for mark in marks if mark not in counts])}")
    if len(once) < len(counts):
        reasons.append(f"more than once: {' '.join([mark for mark in marks if counts.get(mark, 0) > 1])}")
    if len(kept) < len(once):
        reasons.append(f"out of order: {' '.join([mark for mark in once if mark not in kept])}")
    value = sum([per_tag] * len(kept), 0.0)
    if short := found.thin(tags, min_chars):
        reasons.append(_thin_reason(short, min_chars))
        value = sum([per_tag * (thin if mark.strip("</>") in short else 1.0) for mark in kept], 0.0)
    closing = marks[-1]
    if closing in kept:
        trailing = len(found.text[found.spans[closing][1] :].strip())
        if trailing and per_char:
            penalty = min(per_char * trailing, max_penalty)
            value = max(0.0, value - penalty)
            reasons.append(f"{trailing} characters follow {closing} (-{penalty:g})")
    value = min(value, 1.0)
    return Outcome(value, "scored", "; ".join(reasons)) if reasons else value


def _longest_in_order(positions: Sequence[int]) -> list[int]:
    """The indices of a longest increasing run of `positions` (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, position in enumerate(positions):
        rank = bisect_left(tails, position)
        before.append(ends[rank - 1] if rank else -1)
        if rank == len(tails):
            tails.append(position)
            ends.append(index)
        else:
            tails[rank], ends[rank] = position, index
    run: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        run.append(index)
        index = before[index]
    return run[::-1]
