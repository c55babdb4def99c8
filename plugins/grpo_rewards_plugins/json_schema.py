"""The reward `json_schema`: JSON that is valid, also against a schema."""

from __future__ import annotations

from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.documents import DocumentProblem, check_schema, find_document, first_violation


def _check(settings: SettingValues) -> None:
    tag_name(settings)
    between(settings, "parsed", 0, 1)
    between(settings, "max_chars", 1, 10_000_000)
    between(settings, "max_depth", 1, 200)
    between(settings, "timeout", 0.001, 60)
    check_schema(settings["schema"])


@reward(range=(0.0, 1.0), check_settings=_check)
def json_schema(
    completion: str,
    *,
    schema: dict[str, object] = {},  # noqa: B006 - never changed
    parsed: float = 0.25,
    place: Literal["auto", "tag", "block", "text"] = "auto",
    tag: str = "answer",
    max_chars: int = 100_000,
    max_depth: int = 64,
    timeout: float = 1.0,
) -> Outcome:
    """The completion holds JSON that a schema accepts.

    1 when it does, `parsed` when it is JSON that the schema refuses, 0 when it is no JSON. JSON is what RFC 8259 says:
    a key that stands twice in an object, ``NaN``, ``Infinity`` and numbers too large for a float are refused, and
    nothing may stand around the document in its place.

    Args:
        schema: the JSON schema, of the draft that ``$schema`` names, else 2020-12. Without one any JSON is accepted.
            References lead within the schema only. Formats (``format:``) are not checked.
        parsed: the value of JSON that the schema refuses (ours: 0.25, so that a model learns to write JSON first).
        place: where the JSON stands: in the last ``<tag>``, in the last fenced ``block``, or the ``text`` as a whole.
            ``auto``: the first of these three that is there; a fence inside the tag is opened too.
        tag: the tag that holds the JSON.
        max_chars: a longer document is refused (ours).
        max_depth: a document nested more deeply is refused (ours).
        timeout: seconds that checking one document may take, patterns of the schema included (ours).
    """
    try:
        document = find_document(completion, place, tag, max_chars=max_chars, max_depth=max_depth)
    except DocumentProblem as problem:
        return Outcome(0.0, "scored", str(problem))
    try:
        violation = first_violation(document, schema, timeout=timeout)
    except TimeoutError:
        return Outcome(0.0, "timeout", f"checking the schema took longer than {timeout:g} s")
    except DocumentProblem as problem:
        return Outcome(0.0, "rejected", str(problem))
    if violation is None:
        return Outcome(1.0, "scored", "the schema accepts the JSON" if schema else "the JSON is valid")
    return Outcome(parsed, "scored", violation)
