"""The search for a completion's final answer: one for every reward, with one vocabulary of places.

Marks come first (a box, a tag, ``####``, "the answer is"): the one that stands last wins. Then weaker signs in a given order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from .assertion import guessed, hedged, refused
from .completions import final_text, outside_code, own_question
from .marks import Extraction, Rule, from_boxes, from_hash, from_tag, tagged
from .phrases import phrase
from .signs import unmarked

KEPT = 500
"""Characters of an extracted answer that an outcome's details keep."""

ORDER: tuple[Rule, ...] = ("box", "tag", "hash", "phrase", "bold", "line", "segment", "letter", "number", "text")
"""All places. The first four are marks: of those given, the one that stands last in the text wins. The others are tried in order."""

Place = Literal["auto", "tag", "box", "boxed", "hash", "text"]
"""Where a reward with a setting `place` looks. ``auto``: the tag, box or ``####`` that comes last, else the whole text;
``boxed`` is ``box`` by its older name."""

_MARKS = frozenset(("box", "tag", "hash", "phrase"))
_NOTHING = Extraction(None, None)


def extract(completion: str, *, order: Sequence[Rule] = ORDER, tag: str = "answer") -> Extraction:
    """Find the final answer in a completion, in the places of `order`; `tag` is the name of the tag."""
    return _search(final_text(completion, tag), tuple(order), tag)


def _search(text: str, order: tuple[Rule, ...], tag: str) -> Extraction:
    """Find the answer in a text that is final already, as `final_text` gives it."""
    finders, phrases, signs = _plan(order)
    text = own_question(outside_code(text, None if phrases else tag))
    best: tuple[int, Extraction] | None = None
    for find in finders:
        hit = find(text, tag, phrases=phrases)
        if hit is not None and (best is None or hit[0] > best[0]):
            best = hit
    if phrases and (hit := _said(text, tag, best)) is not None:
        best = hit
    if best is not None and best[1].text == "":
        return _NOTHING
    if best is not None:
        return _in_place(text, *best) if phrases else best[1]
    if not signs or (weak := unmarked(text, signs)) is None:
        return _NOTHING
    return _in_place(*weak)


def _in_place(text: str, start: int, found: Extraction) -> Extraction:
    """An answer with what stands around its place: behind any a unit, and a hedge that no box or tag closes off."""
    answer = found.text
    if answer and (answer[-1] == "?" or (answer[0] == "?" and len(answer) > 1)):
        return found._replace(text=f"maybe {answer}", hedged=True)  # a question
    if not answer or start < 0 or len(found.parts) > 1 or (at := text.find(answer, start)) < 0:
        return found
    if found.rule in _OPEN and (said := hedged(text, at, answer, said=found.rule == "phrase")) is not None:
        return found._replace(text=said, hedged=True)
    end = at + len(answer)
    behind = text[end : end + _BEHIND]
    if not behind.strip(_CLOSERS):
        return found
    return Extraction(answer, found.rule, found.parts, found.hedged, behind)


_OPEN = frozenset(("phrase", "bold", "line", "segment", "number"))
_CLOSERS = "}$*). \n"
_BEHIND = 48  # characters in which a unit may stand


def _said(text: str, tag: str, best: tuple[int, Extraction] | None) -> tuple[int, Extraction] | None:
    """What a phrase gives; of other marks only a later phrase wins."""
    if best is None:
        hit = phrase(text)
        return None if hit is None else (hit[0], Extraction(hit[1], "phrase"))
    after = text[best[0] :]
    # as most completions with a tag end, and nothing to search
    if after == f"</{tag}>" or (" " not in after and "\n" not in after and after.isascii()):
        return None
    hit = phrase(after, after_box=best[1].rule == "box")
    return None if hit is None or not hit[0] else (best[0] + hit[0], Extraction(hit[1], "phrase"))


def _box(text: str, _tag: str, *, phrases: bool) -> tuple[int, Extraction] | None:
    """The last box that is neither denied nor guessed."""
    hit = from_boxes(text) if "box" in text else None
    denied = 0
    while hit is not None and (guessed(text, hit[0]) or refused(text, hit[0], hit[1].text)):
        denied += 1
        hit = from_boxes(text[: hit[0]]) if denied < _MOST_DENIED else None
    return hit


_MOST_DENIED = 24  # boxes from the end, that may be denied before the search is given up


def _hash(text: str, _tag: str, *, phrases: bool) -> tuple[int, Extraction] | None:
    return from_hash(text) if "####" in text else None


_FINDERS: dict[Rule, Callable[..., tuple[int, Extraction] | None]] = {"box": _box, "tag": from_tag, "hash": _hash}


@lru_cache(maxsize=64)
def _plan(
    order: tuple[Rule, ...],
) -> tuple[tuple[Callable[..., tuple[int, Extraction] | None], ...], bool, tuple[Rule, ...]]:
    """What looks for the marks, whether phrases count, and the weaker signs: those of `order`."""
    finders = tuple(_FINDERS[rule] for rule in order if rule in _FINDERS)
    return finders, "phrase" in order, tuple(rule for rule in order if rule not in _MARKS)


def find_answer(completion: str, *, place: Place = "auto", tag: str = "answer") -> str | None:
    """The final answer in a place, stripped; None where the text has no such place.

    A box inside the tag (``<answer>\\boxed{4}</answer>``) is opened too; a tag with nothing in it holds an empty answer.
    """
    if place == "text":
        return final_text(completion).strip()
    order: tuple[Rule, ...] = ("tag", "box", "hash") if place == "auto" else ("box" if place == "boxed" else place,)
    text = final_text(completion, tag)
    found = _search(text, order, tag)
    if found.text is not None:
        return found.text.strip()
    if "tag" in order and tagged(text, tag) is not None:
        return ""
    return text.strip() if place == "auto" else None
