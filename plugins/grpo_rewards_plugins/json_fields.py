"""The reward `json_fields`: JSON that has the reference's fields, with its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between, finite, tag_name
from grpo_rewards_plugins.cells import from_json
from grpo_rewards_plugins.documents import DocumentProblem, find_document
from grpo_rewards_plugins.exact import normal_text

_MOST_NAMED = 5


def _check(settings: SettingValues) -> None:
    finite(settings)
    tag_name(settings)
    between(settings, "extra", 0, 1)
    between(settings, "max_chars", 1, 10_000_000)
    between(settings, "max_depth", 1, 200)


def _check_row(answer: object = None, **_columns: object) -> str | None:
    return None if _reference(answer) else f"answer must be a JSON object with a field or more, not {answer!r:.80}"


@reward(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def json_fields(
    completion: str,
    answer: dict[str, object] | str,
    *,
    extra: float = 0.0,
    place: Literal["auto", "tag", "block", "text"] = "auto",
    tag: str = "answer",
    max_chars: int = 100_000,
    max_depth: int = 64,
) -> Outcome:
    """The completion's JSON has the reference's fields, with its values: the share of them that are right.

    Between 0 and 1; 0 where there is no JSON object. Texts are equal without regard to case, runs of white space and
    quotes around them (as in `exact`); numbers by value; lists and objects in all their parts.

    Args:
        answer: the reference: an object, or its JSON.
        extra: what each field costs that the reference does not have (ours: nothing; a schema can forbid them).
        place: where the JSON stands: in the last ``<tag>``, in the last fenced ``block``, or the ``text`` as a whole.
            ``auto``: the first of these three that is there; a fence inside the tag is opened too.
        tag: the tag that holds the JSON.
        max_chars: a longer document is refused (ours).
        max_depth: a document nested more deeply is refused (ours).
    """
    reference = _reference(answer)
    if not reference:
        return Outcome(None, "not_applicable", "the column answer holds no JSON object")
    try:
        found = find_document(completion, place, tag, max_chars=max_chars, max_depth=max_depth)
    except DocumentProblem as problem:
        return Outcome(0.0, "scored", str(problem))
    if not isinstance(found, dict):
        return Outcome(0.0, "scored", f"the JSON is no object but {type(found).__name__}")
    wrong = [name for name in reference if name not in found or not _same(found[name], reference[name])]
    surplus = len(found.keys() - reference.keys())
    value = max(0.0, 1.0 - len(wrong) / len(reference) - extra * surplus)
    if not wrong and not (surplus and extra):
        return Outcome(value, "scored", f"all {len(reference)} fields are right")
    reasons = [f"{len(wrong)} of {len(reference)} fields are wrong: {_names(wrong)}"] if wrong else []
    reasons += [f"{surplus} further fields"] if surplus and extra else []
    return Outcome(value, "scored", "; ".join(reasons))


def _reference(answer: object) -> dict[str, object]:
    answer = from_json(answer)
    return dict(answer) if isinstance(answer, Mapping) else {}


def _same(found: object, wanted: object) -> bool:
    # before the numbers: in Python True equals 1, in JSON it does not
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted is None or found is None:
        return found is wanted
    if isinstance(wanted, str) and isinstance(found, str):
        return normal_text(found) == normal_text(wanted)
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return found == wanted
    if isinstance(wanted, Mapping) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(_same(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list | tuple) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return False


def _names(names: list[str]) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown}, ..."
