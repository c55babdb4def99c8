"""The reward `xml_format`: a completion laid out in XML-like tags."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import without_end
from grpo_rewards_plugins.bounds import between, finite
from grpo_rewards_plugins.characters import holds

_LINE_ENDS = re.compile(r"[ \t\r]*\n")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def _check(settings: SettingValues) -> None:
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
    # a share of three tags has no exact float
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
) -> Outcome:
    """The completion is laid out in the given tags.

    Each tag counts once, in the order of `tags`, none inside another; content may have any number of lines. Between 0
    and 1; linear in the length of the completion. A chat's end tokens behind the completion are no part of it.

    Args:
        tags: the tags in their order (GSM8K recipe: reasoning, answer).
        mode: ``strict``: the completion is the tags and nothing else; 1 or 0. ``soft``: the tags are there, any text
            may stand around them; 1 or 0. ``count``: `per_tag` for each opening and each closing tag, less the penalty.
        layout: for ``strict``. ``lines``: every tag on a line of its own (GSM8K recipe). ``blocks``: only white space
            between the blocks (``<think>...</think>\\n<answer>...</answer>``, R1, nanoAhaMoment). White space around
            the whole completion is ignored in both.
        min_chars: the fewest characters, without white space or what is not to be seen around, that a tag must hold; one number, or one per tag
            (the course's first rewards: more than 20 for think).
        thin: the share that a tag (``count``) or the completion gets where it holds fewer (the same recipe: half); one that holds
            nothing gets none.
        per_tag: for ``count``: the value of one tag (GSM8K recipe: 0.125, so 0.5 for two pairs).
        per_char: for ``count``: the penalty per character after the last closing tag (GSM8K recipe: 0.001, taken
            twice there by mistake, and without bound).
        max_penalty: the most that the penalty takes (ours: 0.25, half of four tags); the value never falls below 0.
        prefix: text that the prompt already wrote for the model, such as ``<think>`` (nanoAhaMoment).
    """
    text = prefix + without_end(completion)
    order = _read(text, tuple(tags))
    if mode == "count":
        return _counted(text, order, min_chars, thin, per_tag, per_char, max_penalty)
    problem = order.problem
    if problem is None and mode == "strict":
        problem = _stray_text(text, tags, layout)
    if problem is not None:
        return Outcome(0.0, "scored", problem)
    if short := _thin(text, order, min_chars):
        return Outcome(min(_share(held, thin) for held in short.values()), "scored", _thin_reason(short, min_chars))
    return Outcome(1.0, "scored", "each tag stands once, in order" + (", and nothing else" if mode == "strict" else ""))


@dataclass(frozen=True, slots=True)
class _Order:
    """What the tags of a text say by their order alone, wherever they stand.

    `problem` is what keeps them from standing once each, in order, side by side. `kept` are those that stand once, as many
    as are in order; `faults` says why the others do not count. `pairs` are the tags opened once and closed once after it;
    `last` is the tag that should close the text, where it is kept.
    """

    problem: str | None
    kept: tuple[str, ...]
    faults: str
    pairs: tuple[str, ...]
    last: str | None


_LONG = 1_000_000  # characters: a text that may hold more tags than there is memory for, were each kept as it is found
_FEW = 32  # tags whose order is worth remembering


def _read(text: str, tags: tuple[str, ...]) -> _Order:
    marks, pattern = _expected(tags)
    if len(text) <= _LONG:
        found = tuple(pattern.findall(text))
    else:
        # one text for each tag, not a new piece for each place where it stands
        one = {mark: mark for mark in marks}
        found = tuple(one[match[0]] for match in pattern.finditer(text))
    # a text full of tags comes once, and as a key would only push out the usual orders
    return _order(marks, found) if len(found) <= _FEW else _order.__wrapped__(marks, found)


@lru_cache(maxsize=1024)  # most completions of a model have their tags in one of a few orders
def _order(marks: tuple[str, ...], found: tuple[str, ...]) -> _Order:
    """Judge the tags that were found, in their order, by all that are expected."""
    counts = Counter(found)
    places = {mark: place for place, mark in enumerate(found) if counts[mark] == 1}
    once = [mark for mark in marks if mark in places]
    kept = [once[index] for index in _longest_in_order([places[mark] for mark in once])]
    faults = {
        "missing": [mark for mark in marks if mark not in counts],
        "more than once": [mark for mark in marks if counts[mark] > 1],
        "out of order": [mark for mark in once if mark not in kept],
    }
    pairs = [
        opening[1:-1]
        for opening, closing in zip(marks[::2], marks[1::2], strict=True)
        if opening in places and closing in places and places[opening] < places[closing]
    ]
    return _Order(
        _problem(marks, counts, places),
        tuple(kept),
        "; ".join(f"{fault}: {' '.join(there)}" for fault, there in faults.items() if there),
        tuple(pairs),
        marks[-1] if marks[-1] in kept else None,
    )


def _problem(marks: Sequence[str], counts: Mapping[str, int], places: Mapping[str, int]) -> str | None:
    last, before = -1, ""
    for mark in marks:
        if (count := counts[mark]) != 1:
            return f"{mark} is missing" if count == 0 else f"{mark} stands {count} times"
        if places[mark] < last:
            return f"{mark} stands before {before}"
        last, before = places[mark], mark
    return None


def _stray_text(text: str, tags: Sequence[str], layout: Literal["lines", "blocks"]) -> str | None:
    """What keeps a text whose tags are in order from being nothing but them."""
    place, before = 0, "the beginning"
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        start, end = text.index(opening), text.index(closing)
        between = text[place:start]
        if between.strip():
            return f"there is text between {before} and {opening}"
        if layout == "lines":
            # the first tag may begin the text
            if place and "\n" not in between:
                return f"{opening} is not on a line of its own"
            if not _LINE_ENDS.match(text, start + len(opening)):
                return f"{opening} is not on a line of its own"
            if text[end - 1] != "\n":
                return f"{closing} is not on a line of its own"
        place, before = end + len(closing), closing
    if rest := text[place:].strip():
        return f"{len(rest)} characters follow {before}"
    return None


def _thin(text: str, order: _Order, min_chars: int | Mapping[str, int]) -> dict[str, int]:
    """The tags that hold too little, with the number of characters in each."""
    short = {}
    for tag in order.pairs:
        # it stands once, most often towards the end
        held = holds(text[text.index(f"<{tag}>") + len(tag) + 2 : text.rindex(f"</{tag}>")])
        if held < _wanted(min_chars, tag):
            short[tag] = held
    return short


@lru_cache(maxsize=64)
def _expected(tags: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """All opening and closing tags in order, and what finds them."""
    marks = tuple(mark for tag in tags for mark in (f"<{tag}>", f"</{tag}>"))
    return marks, re.compile(f"<(?:{'|'.join(re.escape(mark[1:-1]) for mark in marks)})>")


def _wanted(min_chars: int | Mapping[str, int], tag: str) -> int:
    return min_chars if isinstance(min_chars, int) else min_chars.get(tag, 1)


def _share(held: int | None, thin: float) -> float:
    """The share of a tag that holds too few characters, or (None) as many as it must."""
    return 1.0 if held is None else thin if held else 0.0


def _thin_reason(short: Mapping[str, int], min_chars: int | Mapping[str, int]) -> str:
    return ", ".join(
        f"<{tag}> holds {held} of at least {_wanted(min_chars, tag)} characters" for tag, held in short.items()
    )


def _counted(
    text: str,
    order: _Order,
    min_chars: int | Mapping[str, int],
    thin: float,
    per_tag: float,
    per_char: float,
    max_penalty: float,
) -> Outcome:
    reasons = [order.faults] if order.faults else []
    shares = [per_tag] * len(order.kept)
    if order.pairs and (short := _thin(text, order, min_chars)):
        reasons.append(_thin_reason(short, min_chars))
        shares = [per_tag * _share(short.get(mark.strip("</>")), thin) for mark in order.kept]
    value = sum(shares, 0.0)
    if order.last is not None and per_char:
        trailing = len(text[text.rindex(order.last) + len(order.last) :].strip())
        if trailing:
            penalty = min(per_char * trailing, max_penalty)
            value = max(0.0, value - penalty)
            reasons.append(f"{trailing} characters follow {order.last} (-{penalty:g})")
    value = min(value, 1.0)  # what `_check` forgives of rounding may add up
    return Outcome(value, "scored", "; ".join(reasons) or "each tag stands once, in order")


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
