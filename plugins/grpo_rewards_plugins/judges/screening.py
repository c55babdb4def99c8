"""What never reaches a judge: texts that hold nothing to grade, and the openers that judges are known to pay for.

"One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794): a judge grades ``:`` or ``Thought process:`` as right in up to nine of ten
cases, though nothing is answered. Such a text gets the low end here, and of a text that begins or ends so the rest is sent.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping

from grpo_rewards_plugins.answers import final_text
from grpo_rewards_plugins.characters import seen

MASTER_KEYS = (
    " ", ".", ",", ":", "Thought process:", "Let's solve this problem step by step.", "Solution", "解", "かいせつ", "Respuesta",
)  # fmt: skip
"""The ten of the paper."""

NOTHING = "the completion holds nothing to grade"
_OPENERS = (
    r"thought\s+process|reasoning|let['’]?s (?:solve|think|work|break|start)[^.:\n]{0,60}|step[- ]by[- ]step|solution|answer|"
    r"final answer|the answer is|here is (?:the|my) (?:answer|solution)|解|解答|解析|解説|答案|かいせつ|かいとう|respuesta|solución|"
    r"réponse|lösung|antwort"
)
_MARKS = r"[\s.,:;!?*_#`'\"’\-–—=>|()\[\]]*"
_AFTER = r"[\s.,:;!?*_#：。]*"  # no minus, bracket or quote: they belong to what follows
_FIRST = re.compile(rf"{_MARKS}(?:(?:{_OPENERS})(?![^\W_]){_AFTER})+", re.IGNORECASE)
_LAST = re.compile(rf"(?:(?:\n|(?<=[.!?])\s+)\s*(?:{_OPENERS})[\s.,:;!?*]*)+$", re.IGNORECASE)
_TAIL = 400  # characters at the end in which openers are looked for at once
_secret = os.urandom(16)


def gradable(completion: str) -> str | None:
    """Return what a judge is shown of a completion, or None where there is nothing to grade."""
    text = seen(final_text(completion))
    # marks alone are no opener: an answer may begin with a minus or a bracket
    if (opener := _FIRST.match(text)) is not None and any(map(str.isalnum, text[: opener.end()])):
        text = text[opener.end() :]
    end = len(text)
    while (last := _LAST.search(text, max(0, end - _TAIL), end)) is not None:
        end = last.start()  # not the text cut: there may be a hundred thousand of them
    text = seen(text[:end])
    return text if any(map(str.isalnum, text)) else None


def canary(asked: Mapping[str, object]) -> str:
    """A word that a judge has to repeat, which no completion can know: another one for each question and process."""
    return hashlib.sha256(_secret + repr(sorted(asked.items())).encode("utf-8", "replace")).hexdigest()[:12]


def check_canary(found: Mapping[str, object], word: str) -> None:
    """Raise ValueError for an answer that does not repeat the word: it may be the completion's, not the judge's."""
    if found.get("canary") != word:
        raise ValueError("the canary is missing")
