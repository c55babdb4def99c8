"""Answers that are literals: what a function returns, compared without running anything."""

from __future__ import annotations

import json
import re

from grpo_rewards_plugins.answers import tagged
from grpo_rewards_plugins.blocks import last_block
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import literal

# brackets and signs nest in the parser, whose stack a hostile answer could exhaust
_MOST_TEXT, _DEEPEST = 20_000, 60
_ANSWER = re.compile(r"\[ANSWER\](.*?)(?:\[/ANSWER\]|$)", re.S)
_OBJECT = re.compile(r"(?s:.*)(\{\s*\"output\"\s*:(?s:.*)\})\s*\Z")  # the last one, behind words
_NOTHING = object()


def suite(wanted: str) -> Suite:
    """Return the suite of an answer that is a literal.

    Raises:
        SuiteProblem: what is wanted is none.
    """
    if _value(wanted) is _NOTHING:
        raise SuiteProblem(f"the output is no literal: {wanted[:60]!r}")
    return Suite("literal", wanted, "", "", frozenset())


def answers(text: str, wanted: str, *, tag: str) -> bool:
    """Whether a completion's answer is the literal that is wanted."""
    # as many of the last ones as the wanted value has belong to it, not to the reasoning
    text = "</think>".join(text.split("</think>")[-1 - wanted.count("</think>") :])
    found = _ANSWER.findall(text)
    hit = tagged(text, tag)
    given = found[-1] if found else hit[1] if hit is not None else text
    got, expected = _value(_stripped(given)), _value(wanted)
    if got is _NOTHING and (behind := _OBJECT.match(given[-_MOST_TEXT:])) is not None:
        got = _value(behind[1])
    # rows of output prediction ask for an object around the answer
    if isinstance(got, dict) and set(got) == {"output"} and not (isinstance(expected, dict) and "output" in expected):
        got = got["output"]
    # by type too: to Python True is 1, and 1 is 1.0
    return got is not _NOTHING and type(got) is type(expected) and bool(got == expected)


def _stripped(answer: str) -> str:
    """The value of ``assert f(x) == value``; of a text with fenced blocks what stands in the last."""
    block = last_block(answer)
    answer = (answer if block is None else block.text).strip().strip("`").strip()
    answer = answer.removeprefix("assert ").strip()
    return answer.partition("==")[2].strip() if re.match(r"\w+\(", answer) and "==" in answer else answer


def _value(text: str) -> object:
    """The literal that a text is, or `_NOTHING`: read as data, whatever it says."""
    if len(text) > _MOST_TEXT or _depth(text) > _DEEPEST:
        return _NOTHING
    try:
        return literal(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        pass
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _depth(text: str) -> int:
    """How deep brackets are nested at most, those in texts counted too, or how long a run of signs is."""
    depth = deepest = signs = 0
    for mark in text:
        depth += (mark in "([{") - (mark in ")]}")
        signs = signs + 1 if mark in "+-~" else 0
        deepest = max(deepest, depth, signs)
    return deepest
