"""ToolRL's graded rule (Qian et al. 2025, arXiv 2504.13958, `rlla.py`): format from 0 to 1 and calls from -3 to 3."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from grpo_rewards_plugins.cells import RowProblem

Grading = Literal["fine", "refined", "intermediate", "coarse"]
_THINK = r"^<think>.*?</think>"
_CALL, _SAID = r"\n<tool_call>\n.*?\n</tool_call>", r"\n<response>.*?</response>"
_FORMS = {
    (calls, says): re.compile(_THINK + _CALL * calls + _SAID * says + "$", re.DOTALL)
    for calls in (False, True)
    for says in (False, True)
}


def grade(text: str, truth: str, *, grading: str) -> tuple[float, float]:
    """Return the format's value and the calls' of a completion against a whole reference answer.

    Raises:
        RowProblem: the reference's calls cannot be read.
    """
    # the marks of Qwen's and Llama's chat templates, behind which the original looks at nothing
    text = text.split("<|im_end|>")[0].split("<|eot_id|>")[0].strip()
    return _format(text, "<tool_call>" in truth, "<response>" in truth), _calls(text, truth, grading)


def _format(text: str, calls: bool, says: bool) -> float:
    """Whether the text is the tags that the reference has, in order, each once."""
    wanted = [tag for tag, is_there in (("tool_call", calls), ("response", says)) if is_there]
    once = all(text.count(f"<{tag}>") == text.count(f"</{tag}>") == 1 for tag in wanted)
    return float(once and _FORMS[calls, says].search(text) is not None)


@lru_cache(maxsize=8192)
def wanted_calls(truth: str) -> tuple[dict[str, object], ...]:
    """Return the calls of a reference answer, one JSON object a line; none where it has no such tag.

    Raises:
        RowProblem: they cannot be read.
    """
    if "<tool_call>" not in truth:
        return ()
    try:
        found = _objects(truth)
    except (ValueError, RecursionError):
        raise RowProblem("the reference's calls are not JSON, one a line") from None
    if not all(
        isinstance(call, dict) and isinstance(call.get("parameters"), dict) and "name" in call for call in found
    ):
        raise RowProblem("each call of the reference must have a name and parameters")
    return tuple(found)


def _objects(text: str) -> list[dict[str, object]]:
    inside = text.split("<tool_call>", 2)[1].split("</tool_call>", 1)[0]
    return [json.loads(line) for line in inside.strip().split("\n")]


def _calls(text: str, truth: str, grading: str) -> float:
    wanted = wanted_calls(truth)
    if not wanted:
        return 0.0
    if "<tool_call>" not in text or "</tool_call>" not in text:
        return -3.0
    try:
        given = _objects(text)
        if given == list(wanted):
            return 3.0
        share = 0.0 if grading == "coarse" else _share(wanted, given, grading)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # no calls: what the original takes for the worst
        return -3.0
    return 6.0 * share - 3.0


def _share(wanted: Sequence[Mapping[str, Any]], given: Sequence[Mapping[str, object]], grading: str) -> float:
    """The points for names, and for each wanted call those of the best one given that is not taken, of all there are."""
    points = _overlap([call["name"] for call in wanted], [call["name"] for call in given], grading)
    most = 1.0
    taken: set[int] = set()
    for call in wanted:
        most += 1.0 if grading == "intermediate" else 1.0 + len(call["parameters"])
        best, place = 0.0, -1
        for index, other in enumerate(given):
            if index not in taken and other["name"] == call["name"]:
                found = _points(call, other, grading)
                if found > best:
                    best, place = found, index
        if place >= 0:
            taken.add(place)
            points += best
    return points / most


def _points(call: Mapping[str, Any], other: Mapping[str, Any], grading: str) -> float:
    if grading == "intermediate":
        return float(call == other)
    wanted, given = call["parameters"], other["parameters"]
    equal = sum(1.0 for key, value in wanted.items() if key in given and given[key] == value)
    return _overlap(list(wanted), list(given.keys()), grading) + equal


def _overlap(wanted: Sequence[object], given: Sequence[object], grading: str) -> float:
    """What two bags share, of what is in either."""
    if wanted == given:
        return 1.0
    if grading == "refined" or not wanted or not given:
        return 0.0
    shared = (Counter(wanted) & Counter(given)).total()
    return shared / (len(wanted) + len(given) - shared)
