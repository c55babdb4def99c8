"""Whether the answer stands in the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["leak"]

_LONG = 12  # characters without white space; a shorter passage may stand there by chance
_CUE = r"(?:\b(?:answer|ans|solution|result|gold|key|hint|expected output)s?\b[^\n.?!]{0,24}?(?:\bis\b|[:=])\s*[\"'(\[$*]*|\\boxed\{\s*|####\s*|<answer>\s*)"
_SPACE = re.compile(r"\s+")


def leak(trial: Trial) -> Iterator[str]:
    """The answer stands in the prompt: the body of the reference, or the gold after words that announce it."""
    prompt = trial.prompt
    squeezed = ""
    for passage in trial.probes.passages:
        wanted = _SPACE.sub("", passage)
        squeezed = squeezed or _SPACE.sub("", prompt)
        if len(wanted) >= _LONG and wanted in squeezed:
            yield "the prompt holds the reference"
            return
    for gold in trial.probes.golds:
        if gold.strip() and (found := re.search(_CUE + re.escape(gold.strip()) + r"(?![\w^/]|[.,]\d)", prompt, re.I)):
            yield f"the prompt gives the answer: {' '.join(found[0].split())[:80]!r}"
            return
