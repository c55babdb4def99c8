"""The reward `qa`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards_plugins.answers import Place, find_answer
from grpo_rewards_plugins.blocks import between_tags
from grpo_rewards_plugins.bounds import tag_name
from grpo_rewards_plugins.characters import typed
from grpo_rewards_plugins.qa.golds import accepted_answers
from grpo_rewards_plugins.qa.metrics import METRICS, gold_normal, normal

_NO_ANSWERS = (
    "no column holds an answer that can be read (golden_answers, answers, answer, reward_model.ground_truth.target)"
)
_NOTHING = "an answer that normalises to nothing (a mark, the letter A) is given by an empty completion, and is part of every text"


def _check_row(
    golden_answers: object = None,
    answers: object = None,
    answer: object = None,
    reward_model: object = None,
    metric: str = "em",
    variant: str = "squad",
) -> str | None:
    golds = accepted_answers(golden_answers, answers, answer, reward_model)
    if golds is None or (not golds and variant != "squad2"):
        return _NO_ANSWERS
    return _NOTHING if variant != "squad2" and not all(map(gold_normal, golds)) else None


@reward(range=(0.0, 1.0), check_settings=tag_name, check_row=_check_row)
def qa(
    completion: str,
    prompt: str | list[object] | None = None,
    golden_answers: list[str] | str | None = None,
    answers: dict[str, object] | list[str] | str | None = None,
    answer: str | float | list[str] | dict[str, object] | None = None,
    reward_model: dict[str, object] | str | None = None,
    *,
    metric: Literal["em", "subem", "f1"] = "em",
    variant: Literal["squad", "squad2", "hotpot", "search_r1"] = "squad",
    place: Place = "auto",
    tag: str = "answer",
    checkers: Literal["original", "mended"] = "original",
) -> Outcome:
    """The completion's answer is one of the accepted ones, by exact match, sub-match or F1.

    The best value over the accepted answers. Both sides are normalised first: lower case, ASCII punctuation taken out
    (``7-Up`` is ``7up``), the words a, an and the taken out, white space joined. Answers are read from the first column
    that is there; a row without any does not apply.

    Args:
        prompt: with ``search_r1``, whether it shows the tag.
        golden_answers: the accepted answers (Search-R1, FlashRAG).
        answers: a list, or ``{"text": [...]}`` (SQuAD; an empty list means that there is no answer).
        answer: one (HotpotQA), a list (NQ), or ``{"value": ..., "aliases": [...]}`` (TriviaQA).
        reward_model: ``{"ground_truth": {"target": [...]}}`` (verl's Search-R1).
        metric: ``em``: 1 where the normalised texts are equal. ``subem``: 1 where an accepted answer stands in the
            completion's. ``f1``: over bags of words.
        variant: ``squad``: SQuAD 1.1. ``squad2``: where either side is empty, F1 is 1 only if both are. ``hotpot``: F1 is
            0 where one side is yes, no or noanswer and the other differs. ``search_r1``: the answer must stand in a closed
            tag of the completion, reasoning included; where the prompt does not show the tag, in the last of two or more
            (the recipe counts tags in prompt and completion together and wants two).
        place: where the answer stands: ``tag``, ``box``, ``hash`` (after ``####``), ``text`` (all of it), or ``auto``: the
            one of the first three that comes last, else all of it.
        tag: the tag that holds the answer (ReSearch: finish).
        checkers: ``original``: the value of the original. ``mended``: rows with an accepted answer that normalises to
            nothing (``A``, an article) do not apply, curly quotes and long dashes count as ASCII's, letters as the same however
            they are put together, and what has no width as nothing; originally an empty completion passes them, with ``subem`` every one.
    """
    golds = accepted_answers(golden_answers, answers, answer, reward_model)
    if variant == "squad2" and golds is not None:
        # as SQuAD 2.0's script: golds that normalise to nothing are none, and without any the right answer is empty
        golds = tuple(filter(gold_normal, golds)) or ("",)
    if not golds:
        return Outcome(None, "not_applicable", _NO_ANSWERS)
    if checkers == "mended" and variant != "squad2" and not all(map(gold_normal, golds)):
        return Outcome(None, "not_applicable", _NOTHING)
    found = _last_closed(completion, prompt, tag) if variant == "search_r1" else _found(completion, place, tag)
    if found is None:
        return Outcome(0.0, "scored", f"no answer found ({'tag' if variant == 'search_r1' else place})")
    if checkers == "mended":
        found, golds = typed("NFC", found), tuple(typed("NFC", gold) for gold in golds)
    compare, ours = METRICS[metric, variant], normal(found)
    value = max([compare(ours, gold_normal(gold)) for gold in golds])
    return Outcome(value, "scored", _reason(found, golds, value))


def _found(completion: str, place: Place, tag: str) -> str | None:
    opening, closing = f"<{tag}>", f"</{tag}>"
    if place in ("auto", "tag") and completion.startswith(opening) and completion.endswith(closing):
        inner = completion[len(opening) : -len(closing)]
        if (
            "<" not in inner and "\\" not in inner and "#" not in inner
        ):  # nothing but the tag: most completions, twice as fast
            return inner.strip()
    return find_answer(completion, place=place, tag=tag)


def _reason(found: str, golds: tuple[str, ...], value: float) -> str:
    others = f" or {len(golds) - 1} others" if len(golds) > 1 else ""
    said = "answers as" if value == 1.0 else "shares words with" if value else "is not"
    return f"{found[:60]!r} {said} {golds[0][:60]!r}{others}"


def _last_closed(completion: str, prompt: object, tag: str) -> str | None:
    """The content of the last closed tag, where there are enough of them: two, one of which may be the prompt's."""
    pairs = list(_pairs(completion, tag))
    shown = len(pairs) > 1 or prompt is None or any(list(_pairs(text, tag)) for text in _texts(prompt))
    return pairs[-1].strip() if pairs and shown else None


def _texts(prompt: object) -> Iterable[str]:
    if isinstance(prompt, str):
        return (prompt,)
    messages = prompt if isinstance(prompt, list | tuple) else ()
    contents = [message.get("content") for message in messages if isinstance(message, Mapping)]
    return [content for content in contents if isinstance(content, str)]


def _pairs(text: str, tag: str) -> Iterator[str]:
    return between_tags(text, f"<{tag}>", f"</{tag}>")
