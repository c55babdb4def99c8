"""Whether the answer stands in the prompt."""

from __future__ import annotations

import base64
import builtins
import keyword
import re
from collections.abc import Iterator, Mapping

from grpo_rewards._audit.data.prompts import cell_of_prompt
from grpo_rewards._audit.data.trial import Trial
from grpo_rewards._contract.text import content_text

_LONG = 12  # characters without white space; a shorter passage may stand there by chance
_RENAMED, _SYMBOLS = 24, 0.4  # tokens of code that is known again under other names, and the share that is no name

_TELLING = 3  # digits of a number that stands behind a question by no chance

_MARKS = re.compile(  # of quotes, comments, interpreters, differences and numbered lines
    r"^[ \t]*(?:>>>|\.\.\.|[>#|*+]+|//|-+|\d{1,4}[ \t]*[:.|)]?[ \t])[ \t]?", re.M
)
_COMMENTS = re.compile(r"(?<=\S)[ \t]+(?:#|//)[^'\"\n]*$", re.M)
_NOISE = re.compile(r"[\s;`'\"]+")
_TOKENS = re.compile(r"(?P<name>(?<!\.)\b[^\W\d]\w*)|\w+|[^\w\s;`'\"]")
_KEPT = frozenset((*keyword.kwlist, *dir(builtins)))

_NOUN = (
    r"\b(?:answers?|ans|solutions?|results?|gold|keys?|hints?|spoiler|ground[ _]truth|truth|expected|grade against|"
    r"(?:correct|right|final|desired)(?: \w+)?|(?:looking|asked|searched) for|sought)\b"
)
_SAYS = r"(?:\b(?:is|was|be|equals|gives|yields|shows|says)\b|[:=]|->|→)"
_DRESS = (
    r"[\s\"'(\[$*_`]{0,9}(?:(?:\\boxed|\\text|\\mathbf)\{|(?:option|letter|choice|the|number) )?[\s\"'(\[$*_`]{0,9}"
)
_BEFORE = (
    rf"{_NOUN}[^\n.?!]{{0,24}}?{_SAYS}{_DRESS}",
    rf"^[ \t*#=-]{{0,9}}{_NOUN}[ \t*:=-]{{0,9}}\n{_DRESS}",  # a heading
    rf"^[ \t*#>-]{{0,9}}(?:labels?|targets?|outputs?|response|reply)[ \t*]{{0,9}}[:=]{_DRESS}",  # words of prose elsewhere
    r"\\boxed\{\s{0,9}",
    r"####\s*",
    r"<answer>\s*",
    rf"\b(?:show|prove|verify|confirm|explain why|demonstrate)\b[^\n.?!]{{0,40}}?\b(?:is|equals|are|be|get)\b{_DRESS}",
    rf"\b(?:you|we|they|one) (?:should|must|will|ought to|would|can)\b[^\n.?!]{{0,16}}?\b(?:get|obtain|find|arrive at|end up with|reach)\b{_DRESS}",
    rf"\b(?:comes? (?:out )?|turns? out |works? out |amounts? |adds up |evaluates? |boils? down )(?:as|to|at)(?: be)?\b{_DRESS}",
    rf"(?:[(\[]\s{{0,9}}=|=+>|-+>|[→⇒≈])\s{{0,9}}{_DRESS}",
    rf"\b(?:until|ends? up|arrives?|finish(?:es)?) (?:you |we |it )?(?:reach(?:es)? |gets? |with |at |as ){_DRESS}",
    r"\bwhy\b[^\n.?!]{0,40}? (?:is|are|was|were|does|do|did|get)\b[^\n.?!]{0,24}? ",
    rf"\b(?:choose|pick|select|tick) {_DRESS}",
    rf"[(\[]\s*(?:it|this|that) (?:is|was) {_DRESS}",
)
_CUE = "|".join(_BEFORE)
_AFTER_A = rf"|(?:^|[\s(\[])A:\s{{1,9}}{_DRESS}"  # where no B: makes it the first option
_AFTER = r"[\])}$*_`\"']*\s*(?:\w+ )?(?:is|as|being) (?:the )?(?:correct|right|expected|final|true) ?(?:answer|one|option|choice|solution|result|value)?(?=\s*(?:[\])}.!,;]|$))"
_END = r"(?![\w^/]|[.,]\d)"
_ANNOUNCED = re.compile(rf"(?:{_CUE})([^\s,;)}}\]<*$.]+)", re.I | re.M)
_BASE64 = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/]{4}){3,40}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![\w+/=])")
_MOST_DECODED = 50  # words of a long prompt that have the form
_WHOLE = re.compile(r"[+-]?\d[\d,]*(?:\.0+)?")


def leak(trial: Trial) -> Iterator[str]:
    """The answer stands in the prompt: the body of the reference, also under other names, or the gold after words that announce it, in base64, or in an assistant's message."""
    if any(map(_Shown(trial.prompt).holds, trial.probes.passages)):
        yield "the prompt holds the reference"
        return
    hidden = _decoded(trial.prompt)
    for gold in filter(None, map(str.strip, trial.probes.golds)):
        if found := _announcement(trial.prompt, gold) or _announcement(hidden, gold) or _answered(trial.data, gold):
            yield f"the prompt gives the answer: {' '.join(found.split())[-80:]!r}"
            return


def _decoded(prompt: str) -> str:
    """What stands in a prompt in base64, a line each."""
    found = []
    for text in _BASE64.findall(prompt)[:_MOST_DECODED]:
        try:
            found.append(base64.b64decode(text, validate=True).decode())
        except ValueError:
            continue
    return "\n".join(text for text in found if text.isprintable())


def _answered(data: Mapping[str, object], gold: str) -> str:
    """What an assistant's message of the prompt says, where it holds a number of some length that no user's does."""
    prompt = cell_of_prompt(data)
    if isinstance(prompt, str) or _WHOLE.fullmatch(gold) is None or sum(map(str.isdigit, gold)) < _TELLING:
        return ""
    said: dict[bool, str] = {True: "", False: ""}
    for one in prompt:
        if isinstance(one, Mapping):
            said[one.get("role") == "assistant"] += f"\n{content_text(one.get('content'))}"
    alone = rf"(?<![\w.,/^-]){_notations(gold)}{_END}"
    found = re.search(rf"[^\n]{{0,40}}{alone}", said[True])
    return found[0] if found is not None and re.search(alone, said[False]) is None else ""


def _announcement(prompt: str, gold: str) -> str:
    """The words with which a prompt tells an answer, in whatever notation; nothing where it tells other answers too, as examples do."""
    written = _notations(gold)
    cue = _CUE if "B:" in prompt else _CUE + _AFTER_A
    found = re.search(rf"(?:{cue}){written}{_END}|(?:^|[\s(\[$*\"'`]){written}{_AFTER}", prompt, re.I | re.M)
    if found is None:
        return _after_the_question(prompt, gold, written)
    others = [one[1] for one in _ANNOUNCED.finditer(prompt) if one.end() <= found.start() or one.start() >= found.end()]
    values = [other for other in others if any(map(str.isdigit, other)) or len(other) == 1]
    return "" if any(not re.match(written, other, re.I) for other in values) else found[0]


def _after_the_question(prompt: str, gold: str, written: str) -> str:
    """What stands behind the last question mark, where that is a number of some length which the question does not have."""
    question, _, rest = prompt.rpartition("?")
    if not question.strip() or _WHOLE.fullmatch(gold) is None or sum(map(str.isdigit, gold)) < _TELLING:
        return ""
    alone = rf"(?<![\w.,/^-]){written}{_END}"
    found = re.search(rf"[^.!\n]{{0,40}}?{alone}", rest)
    return found[0] if found is not None and re.search(alone, question) is None else ""


def _notations(gold: str) -> str:
    """A pattern of the ways to write an answer: a whole number with and without commas, and with a point; a letter is no article."""
    if len(gold) == 1 and gold.isalpha():
        return rf"(?-i:{gold})(?![ \t]+[a-z])"
    if _WHOLE.fullmatch(gold) is None:
        return re.escape(gold)
    plain = gold.replace(",", "").partition(".")[0].lstrip("+")
    return rf"(?:{re.escape(gold)}|{re.escape(plain)}|{int(plain):,})(?:\.0+)?"


class _Shown:
    """A prompt, in which passages are looked for: as they are, in comments or quotes, or with other names."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt
        self._forms: tuple[str, str] | None = None
        self._tokens: list[tuple[str, bool]] | None = None

    def holds(self, passage: str) -> bool:
        """Whether the prompt shows a passage."""
        if self._forms is None:
            self._forms = _bare(self._prompt), _bare(_MARKS.sub("", self._prompt))
        wanted = _bare(passage)
        return len(wanted) >= _LONG and (
            any(wanted in form for form in self._forms) or self._under_other_names(passage)
        )

    def _under_other_names(self, passage: str) -> bool:
        """Whether code stands there with its names changed one by one; what it says besides has to be the same."""
        wanted = _tokens(passage)
        if len(wanted) < _RENAMED or sum(not name for _, name in wanted) < _SYMBOLS * len(wanted):
            return False
        if self._tokens is None:
            self._tokens = _tokens(_MARKS.sub("", self._prompt))
        ours, theirs = _kinds(wanted), _kinds(self._tokens)
        start = theirs.find(ours)
        while start >= 0:
            at = theirs.count("\0", 0, start)  # the number of the token there
            pairs = {
                (mine, other)
                for (mine, name), (other, _) in zip(wanted, self._tokens[at : at + len(wanted)], strict=True)
                if name
            }
            if len(pairs) == len({mine for mine, _ in pairs}) == len({other for _, other in pairs}):
                return True
            start = theirs.find(ours, start + 1)
        return False


def _bare(text: str) -> str:
    """A text without white space, quotes and the comments at its lines' ends."""
    return _NOISE.sub("", _COMMENTS.sub("", text))


def _tokens(text: str) -> list[tuple[str, bool]]:
    """The tokens of code, and whether each is a name that could be another one."""
    found = _TOKENS.finditer(_COMMENTS.sub("", text))
    return [(one[0], one.lastgroup == "name" and one[0] not in _KEPT) for one in found]


def _kinds(tokens: list[tuple[str, bool]]) -> str:
    return "\0".join(["", *("\1" if name else token for token, name in tokens), ""])
