"""What of a completion can hold its answer: no reasoning, no end tokens of a chat, no tail that repeats one token."""

from __future__ import annotations

import re

_END_TOKEN = re.compile(
    r"<[|｜](?:im_end|endoftext|eot_id|eom_id|end_of_text|end|eos|return|pad|begin_of_text|im_start|end_of_turn|end▁of▁sentence)[|｜]>"
    r"|</s>|<eos>|<pad>|<end_of_turn>|<end_of_utterance>"
)
_LAST_END = re.compile(rf"\s*(?:{_END_TOKEN.pattern})\s*\Z")
_LONGEST_END = 40  # characters of a token with white space around it
# Behind its own turn a policy may go on with another question of its own; what a tool says comes in a turn of the user's too.
_OTHER_TURN = re.compile(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<\|start_of_role\|>|<start_of_turn>|<\|)user(?![a-z])(?!\W{0,40}tool)"
    r"|(?:<\|(?:im_end|endoftext|eot_id|end_of_text)\|>|</s>)\s*(?:Human|User)\s?:"
)
_LONGEST_TOKEN = 24  # characters of a token that a tail repeats
_TIMES = 16
_SEEN = 8  # of its last characters, that are looked for a second time
_LETTER_TIMES = 64  # a number may well end in many zeros


def final_text(completion: str, tag: str = "answer") -> str:
    """The text after the reasoning, without end tokens; nothing where the reasoning never ends.

    Where the tail repeats one token, what is left is the text up to the last closed `tag`: a policy that collapses behind
    its answer has given one. Without a closed tag nothing is left.
    """
    text = completion
    if "think>" in text:
        end = text.rfind("</think>")
        text = text[end + 8 :] if end >= 0 else text
        begin = text.find("<think>")
        text = text if begin < 0 else text[:begin]
    if "|>" in text or "</s>" in text or "<eos>" in text or "<pad>" in text or "<end_of_" in text or "｜>" in text:
        if (other := _OTHER_TURN.search(text)) is not None:
            text = text[: other.start()]
        text = _END_TOKEN.sub("\n", text)
    period = _period(text)
    if not period:
        return text
    if once := _said_once(text, period):
        return once
    before = text[: max(0, text.rfind(f"</{tag}>"))]
    return f"{before}</{tag}>" if before and not repeats_itself(before) else ""


def without_end(completion: str) -> str:
    """The completion without the end tokens of a chat behind it, which a decoder may leave there."""
    end = len(completion.rstrip())
    while (token := _LAST_END.search(completion, max(0, end - _LONGEST_END), end)) is not None:
        end = token.start()
    return completion[:end] if end < len(completion.rstrip()) else completion


def own_question(text: str) -> str:
    """The text up to a next question of the policy's own (``Q: ...`` behind "the answer is"), as base models go on; all of it
    where no answer stands before one.
    """
    if (
        "\n" not in text
        or (question := _QUESTION.search(text)) is None
        or not _ANSWERED.search(text, 0, question.start())
    ):
        return text
    return text[: question.start()]


_QUESTION = re.compile(
    r"\n[ \t]{0,4}(?:\*\*|#{1,6} ?)?(?:Q|Question|Problem|Exercise|Human|User|Instruction)(?: \d{1,4})?(?:\*\*)?:"
)
_ANSWERED = re.compile(
    r"[Aa]nswer is|\b(?:Answer|(?<![^\n])A):\**[ \t]*[-$\\(]*\d|\\boxed\{|(?<![^\n])####|</answer>"
    r"|\A\s*[-$\\(]*\d[\d.,/]*[$\\)]*\.?\s*(?=\n|\Z)"  # a number alone in the first line
)


def outside_code(text: str, kept: str | None = None) -> str:
    """The text without its closed blocks of code in a programming language: what a program would print is no answer yet.

    Those inside of the tag `kept` stay: there the code is the answer.
    """
    if "```" not in text:
        return text
    out: list[str] = []
    at = 0
    for match in _CODE.finditer(text):
        if kept and text.rfind(f"<{kept}>", 0, match.start()) > text.rfind(f"</{kept}>", 0, match.start()):
            continue
        if match.start() >= at and (end := text.find("```", match.end())) >= 0:
            out.append(text[at : match.start()])
            at = end + 3
    return "\n".join([*out, text[at:]]) if out else text


_CODE = re.compile(
    r"```(?:python\d?|py|sympy|c|cpp|c\+\+|java|javascript|js|typescript|rust|go|bash|sh|sql|matlab|julia|r)[ \t]*\n"
)


def repeats_itself(text: str) -> bool:
    """Does a text end in one token again and again, as a policy that has collapsed writes it?"""
    return _period(text) > 0


def _period(text: str) -> int:
    """The length of the token that a text ends in again and again; 0 where there is none."""
    stop = len(text.rstrip())
    last = text[stop - _SEEN : stop]
    # the nearest earlier place of the last characters is one period away
    at = text.rfind(last, max(0, stop - _SEEN - _LONGEST_TOKEN), stop - 1) if stop >= 2 * _TIMES else -1
    if at < 0:
        return 0
    period = stop - _SEEN - at
    token = text[stop - period : stop]
    times = _LETTER_TIMES if period == 1 else _TIMES
    repeated = text[max(0, stop - times * period) : stop] == token * times and any(char.isalnum() for char in token)
    return period if repeated else 0


def _said_once(text: str, period: int) -> str:
    """The text with its repeated sentence only once or twice, where that sentence gives the answer ("The answer is True.");
    "" where it does not.
    """
    stop = len(text.rstrip())
    token = text[stop - period : stop]
    if "answer is" not in (token + token).lower():
        return ""
    start = stop
    while start >= period and text.startswith(token, start - period):
        start -= period
    kept = text[: start + 3 * period]
    return kept[: max(kept.rfind("\n"), kept.rfind(". ")) + 1]
