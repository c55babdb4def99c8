"""The answer in a reference, which is written by people who know where it stands; completions are searched by `answers`."""

from __future__ import annotations

import re

from grpo_rewards_plugins.answers import ORDER, Extraction, Rule, boxes, extract, from_boxes
from grpo_rewards_plugins.answers.formulas import segments

__all__ = ["ORDER", "Extraction", "Rule", "boxes", "extract", "gold_text"]


def gold_text(gold: str) -> str:
    """The answer in a reference: a box or ``####`` in it, else what its math delimiters hold, else all of it."""
    text = _CALLED.sub("", gold.strip(), count=1)
    marked = from_boxes(text) if "boxed" in text or "fbox" in text else None
    if marked is not None and marked[1].text:
        between = boxes(text)
        before = text[: between[0][0]] if len(between) == 1 else ""
        return (before[before.rfind("$") + 1 :] if _SET_LEAD.search(before) else "") + marked[1].text
    if marked is None and text.startswith(("\\boxed{", "\\\\boxed{")):  # cut off before its end
        text = text[text.index("{") + 1 :]
    if "####" in text:
        return text[text.rfind("####") + 4 :].strip()
    if "$" in text or "\\(" in text or "\\[" in text:
        found = segments(text)
        if len(found) == 1:
            before, after = text[: found[0][0]].strip(), text[found[0][1] :].strip()
            if (
                not before
                and len(after.split()) <= 3
                and not after[1:2].isdigit()
                and not after.startswith(("or ", "and "))
            ):
                return f"{found[0][2].strip()} \\text{{{after}}}" if after.strip(". ") else found[0][2].strip()
            if len(before) > 40 or (_SAYS.search(before) and not after.strip(". ")):
                return found[0][2].strip()
        # a whole solution: its last formula is what it comes to
        elif found and len(text) > 200:
            return found[-1][2].strip()
    return text


_CALLED = re.compile(
    r"^(?:(?:the\s+)?(?:solutions?|answers?)\s+(?:is|are)\s*(?::\s*|(?=[-\d$\\(\[]))|答案\s*[是为:：]\s*[:：]?)",
    re.IGNORECASE,
)
_SAYS = re.compile(r"^(?:The|Its?|Their|This|That|So|Thus|Hence|Therefore)\b[^$]*\b(?:is|are|was|equals|has [a-z]+)$")
_SET_LEAD = re.compile(r"[a-zA-Z]\s*\\in\s*$")
