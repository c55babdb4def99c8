"""Texts that stand where something is missing, and texts that were damaged on their way."""

from __future__ import annotations

import re

_WORDS = (
    r"n\.?\s?/?\s?a\.?|nan|null|nil|unknown|tbd|tba|tbc|to[ -]?do|fix[ -]?me|x{3,}|placeholder|missing|pending|blank|empty|not sure|idk|none given|i (?:do not|don't) know|(?:the )?(?:final )?answer(?: is)? ?:|"
    r"(?:please )?(?:see|refer to|cf\.?|as) (?:the )?(?:above|below|text|solution|figure|image|picture|attachment|attached|explanation|proof|notes?)\b.*|"
    r"(?:answer |value |solution )?(?:is )?not (?:yet )?(?:available|given|known|provided|applicable|found|answered|specified|set|stated)|"
    r"(?:the |an )?answer (?:is|was|has been) (?:left out|omitted|missing|withheld|hidden|lost|redacted)|"
    r"no (?:answer|solution|value|data|key)(?: (?:given|provided|available|yet|found|here))?|"
    r"to be (?:\w+ )?(?:filled|determined|done|announced|added|completed|defined|decided|confirmed|supplied|written)(?: in| later| soon)?|"
    r"(?:left )?(?:as an |for the )(?:exercise|reader)\b.*|coming soon|answers? (?:may |will )?var(?:y|ies)|"
    r"(?:the |a )?proof(?: (?:is |was )?(?:omitted|left|trivial|obvious|by)\b.*)?|i(?: am|'m)? (?:sorry|cannot|can't|can not|unable|am unable|won't)\b.*|"
    r"(?:the |your |final |correct )*answer|#(?:n/a|ref!|value!|div/0!|name\?|num!)|lorem ipsum\b.*"
)
_SLOT = (
    r"(?:(?:put|write|insert|enter|type|add|fill in)\b.{0,30}|"
    r"(?:(?:your|the|my|a|final|correct|right|insert|gold|short|full|expected)[ _-]+)*"
    r"(?:answer|solution|value|result|number|question|prompt|problem|query|input|text|instruction|task|response|output|target|label|gold)s?(?:[ _-](?:here|goes here|text|only))?)"
)
_PLACEHOLDER = re.compile(
    rf"(?:{_WORDS})[.!]*|[\[(<{{*_=~\-–—]+\s*(?:{_WORDS}|{_SLOT}|none|\.+|_+|\?+)\s*[\])>}}*_=~\-–—]+|{_SLOT} (?:goes )?here|"
    r"<\|[\w ]+\|>|<(?:unk|pad|eos|bos|mask|endoftext)>|\[(?:redacted|mask|deleted|removed|unk|pad|censored|cut|omitted|inaudible)\]|[?\-–—_.…*~\s]+|\${2,4}|\\(?:boxed|text)\{\s*\}",
    re.I | re.S,
)
_NEVER = re.compile(r"\W*(?:tb[acd]|to[ -]?do|fix[ -]?me|x{3,}|lorem ipsum\b.*|#\S+)\W*", re.I | re.S)
_DRESS = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\s?\{([^{}]*)\}")
_IMAGE = re.compile(r"!\[[^\]]*\]\(|<img\b|^\S+\.(?:png|jpe?g|gif|svg|webp|pdf)$", re.I)
_LINK = re.compile(r"https?://\S+")
_FAILURE = re.compile(
    r"(?:http )?(?:\w*error|\w*exception|traceback|timeout|failed)\b *(?:[:(\[]|\d{3}\b|$|to\b|in\b|at\b)", re.I
)
_ESCAPED = re.compile(r"\\[{}\\]")
_TAGS = re.compile(r"</?\w{1,10}[^<>]{0,80}>")
_FOREIGN = re.compile(r"[^\x00-\x7f]{2,}")
# "Spaß“" happens to be bytes of a letter too, of an alphabet that nobody meant
_EUROPEAN = re.compile("[\x80-\u017f\u2000-\u206f\u20ac\u2122\u2190-\u22ff]+")
# without "is": "the answer is" begins an answer
_JOINING = re.compile(r"\b(?:the|an|of|to|and|or|but|then|with|for|from|how many|how much)\s*$", re.I)
_OPEN = re.compile(r"[\^=(\[\\]\s*$")  # not behind + or -: "C++" and "A-" are answers
_GO_ON = re.compile(r"\b(?:complet|continu|finish|fill|next word|predict)", re.I)
_CUT = re.compile(r"[\[(<](?:\W*)(?:truncated|cut(?: off)?|continued|snip(?:ped)?|omitted)\W*[\])>]\W*$", re.I)


def is_placeholder(text: str, prompt: str = "") -> bool:
    """Whether a text is what people and programs write where an answer, or a question, is missing.

    A word that a prompt names, as in "yes, no or unknown", is an answer; no prompt asks for ``TODO``.
    """
    bare = _DRESS.sub(r"\1", text).strip(" \n\t$\"'`")
    if (not bare or not _TAGS.sub("", bare).strip()) and text.strip():
        return True
    if bare == "None":  # as Python writes that there is nothing; an answer in words is hardly written so
        return "none" not in prompt.lower()
    if _PLACEHOLDER.fullmatch(bare) is None:
        return False
    return not bare or bare.lower() not in prompt.lower() or _NEVER.fullmatch(bare) is not None


def garbled(text: str) -> str:
    """Return what in a text was read in the wrong encoding: letters that are the bytes of others, or U+FFFD; else nothing."""
    if "\ufffd" in text:
        return "\ufffd"
    for run in _FOREIGN.findall(text):
        # Windows' code page first, which most such texts went through; bytes that it leaves free stay as they are
        raw = b"".join(letter.encode("cp1252", "ignore") or letter.encode("latin-1", "ignore") for letter in run)
        try:
            if len(raw) == len(run) > len(found := raw.decode()) and _EUROPEAN.fullmatch(found):
                return str(run[:20])
        except UnicodeDecodeError:
            continue
    return ""


def is_cut(text: str) -> bool:
    """Whether a text ends where no sentence does, without asking to go on: behind a word that joins, or with a note of it."""
    return (_JOINING.search(text) is not None and not _GO_ON.search(text)) or _CUT.search(text) is not None


def is_question(text: str, prompt: str) -> bool:
    """Whether an answer is a question, or the prompt again; a prompt may ask for one."""
    words = text.split()
    if len(words) < 4 or words == prompt.split():
        return len(words) >= 4
    # the words of a title, which may well be the answer, are capitals
    small = sum(word[0].islower() for word in words[1:]) > len(words) / 2
    return text.rstrip().endswith("?") and small and "question" not in prompt.lower()


def damage(text: str) -> str:
    """Return how an answer was damaged: cut off within braces, an image or a link in its place, the message of a failure; else nothing."""
    bare = _ESCAPED.sub("", text)
    if bare.count("{") != bare.count("}"):
        return "its braces do not match"
    if wrong := garbled(text):
        return f"it was read in the wrong encoding: {wrong!r}"
    if (len(text.split()) >= 4 and is_cut(text)) or _OPEN.search(text):
        return "it is cut off"
    if _IMAGE.search(text):
        return "it is an image"
    if _LINK.fullmatch(text.strip()):
        return "it is a link"
    return "it is the message of a failure" if _FAILURE.match(text.strip()) else ""
