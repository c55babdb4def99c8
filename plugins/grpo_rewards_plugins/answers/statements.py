"""What a text gives as its answer where nothing marks one: less than people read, on purpose.

Only the last sentence counts, and a value only where the sentence says exactly one: what a calculation comes to ("12 - 4 = 8 apples"), what a
conclusion names ("so ...", "in total ..."), what something is ("the sum is 8", "x = 8"), or nothing but a value. A value behind "of", "in" or "after"
is a circumstance, and a word of doubt, denial, condition or plan leaves no answer. A policy that wants to be paid marks its answers.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .formulas import NUMBER, joined, segments


class Statement(NamedTuple):
    """The last `sentence` of a text; whether it is `doubted`; the one `value` that it says, and from which place of the text on it stands."""

    text: str
    sentence: str
    doubted: bool = False
    value: str = ""
    at: int = -1
    calculates: bool = False


class _Token(NamedTuple):
    kind: str
    said: str
    start: int
    end: int


_USUAL_SENTENCE, _LONGEST_SENTENCE = 300, 3_000
_MOST_REMARKS = 4  # behind the conclusion
_CALCULATED = re.compile(r"<<[^<>\n]{1,80}>>")  # a calculator's notes, as GSM8K has them
_PROSE = re.compile(r"(?<![\\a-z])[a-z]{2,},? [a-z$(\d\\]", re.IGNORECASE)
HAN = re.compile(r"[\u4e00-\u9fff]")
# begins with a sign that is looked for fast
_SENTENCE_START = re.compile(r"[.!?\n。！？](?:(?<=[\n。！？])\n*|(?<![\n。！？])[)*\"”]{0,3}\s+(?=[A-Z*(\[¿¡“\"]))")
# behind the conclusion: a courtesy, a remark, a check, what would have been, a sentence in brackets
_REMARK = re.compile(
    r"[\s*_>-]*(?:let me know|(?:I )?hop(?:e|ing)\b|feel free|if you (?:have|need|want|would|'d)|happy to|thanks?\b|great\b|good luck|note\b(?!\s*:?\s*the (?:final )?answer)"
    r"|for (?:example|instance),|(?:double[- ])?check(?:ing)?\**\s?:|verif[a-z]+\**\s?:|had [^.]*\bwould\b)|\s*\([^\n]*[a-z]{3} [^\n]*\)\s*\Z",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:\s[:;]-?[)D]|\$?\\(?:black)?square\$?|\$?\\qed\$?|∎|Q\.E\.D\.?|(?<!-)---+|\$\s+\$|</?[a-z]{1,20}>|[✅✓✔☑🎉\s])+\Z"
)
_LONGEST_END = 40
# arithmetic to the left of an equals sign, and to its right a single value with words behind it: "40 + 30 = 70 apples"
_CALCULATION = re.compile(
    r"[\d)%](?:[^,=\n]|,(?=\d))*?(?:[-+*/×·^−–!]|\sx\s(?=\S))(?:[^,=\n]|,(?=\d))*\Z|[-+*/×·^−–][^,=\n\d]{0,3}\d[\d,. ]*\Z"
)
_LONGEST_SUM = 120
_COMES_TO = re.compile(
    rf"\s?(?P<value>[-−]?(?:\\?\$|[€£¥])?(?:{NUMBER.pattern}))(?!\d|\s?[-+*×·^(√π]|\s?[xyzn]\b|\s?/\s?[\d$]|\s\d+/\d|\s(?!(?:in|for|after|per|of|on|to)\b)[a-z]+,?\s(?:and\s)?\d)"
    r"(?!.*\b(?:so|thus|hence|therefore|but|wrong|false|incorrect|is not|isn't)\b)(?:[^,:;=\\]|[,:](?=\d)|,(?!.*\d))*\Z"
)
_UNKNOWN = re.compile(r"\d[xyzn]\b|\b[yzn]\b")  # of an equation
# what stands before the equals sign of an equation that says no value: "x + 3 = 10", "x^2 = 16", "2x = 6"
_UNSOLVED = re.compile(
    r"(?<![\w'’.])(?<!\d )[a-zA-Z]\s?[-+*/^−]\s?[\d({]|[-+*/−]\s?[a-zA-Z]\s?\Z|\d\s?[a-fijknopqrt-z]\s?\Z"
)
_BARE_LATEX = r"(?:\\(?:pi(?![a-z])|sqrt|[dt]?frac)(?:\{(?:[^{}\n]|\{[^{}\n]{0,40}\}){0,60}\})*)+"
_GLUED = re.compile(
    r"\\(?=[a-zA-Z])(?!text|mathrm|q?quad)|[a-zB](?![\wµ])(?<![mgslh])|[eE]\d"
)  # "2n", "1e9": of a number that is a factor
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[^\W\d_π]+(?:['’-][^\W\d_]+)*)"
    r"|(?P<ordinal>\d+(?:st|nd|rd|th)\b)"
    r"|(?P<formula>\$\$?(?![^$\n]*(?<![\\{a-zA-Z])[a-zA-Z]{3,}[ ,])(?:\\.|[^$\\]){1,200}?(?<![+*/=-])\$\$?(?!\d)"
    r"|\\\((?:(?!\\\))[\s\S]){1,200}\\\)|\\\[(?:(?!\\\])[\s\S]){1,200}\\\]|`[^`\n]+`"
    r"|(?<!\w)[(\[](?![^()\[\]]*[a-z]{2})[^()\[\]\n]{0,60}[\d∞][^()\[\]\n]{0,60}[)\]])"
    r"|(?P<number>(?:(?<![\w)\]%])[-+−])?[$€£¥]?(?:(?:\d[\d,]*(?<!,)(?:[.:/]\d+)*|\.\d+)"
    rf"(?:[√π]\d*|[⁻⁰¹²³⁴-⁹]+|[¼-¾⅐-⅞]|{_BARE_LATEX})?|[√π∞∅]\d*|{_BARE_LATEX})%?)"
    r"|(?P<aside>(?<=\s)\((?:[^()\n]|\([^()\n]*\))*\))"
    r"|\*\*|(?P<mark>[,;:=≈?—–+*/×·^<>≤≥−-]|!(?=\s?[=+*/)])))"
)
_NAMED = re.compile(
    r"(?:\\(?!pi\b|infty|sqrt|[dt]?frac|emptyset)(?:[a-zA-Z]+|\W)|[a-zA-Z_{}(),'\s|])+"
)  # a formula that only names something
_RELATION = re.compile(r"[=<>≤≥]|\\(?:[lg]eq?|lt|gt|neq?|approx|in)\b")
_OPERATORS = frozenset("-+*/×·^−–!x")
_CONCLUDES = frozenset("so thus hence therefore consequently but donc entonces quindi".split())
_TOTALS = frozenset("altogether total overall insgesamt".split())
_NUMBERED = frozenset(
    "equation eq step case part problem question exercise example figure table section chapter theorem lemma page line row column rule method formula".split()
)  # a number behind one says which: "equation 5", "step (2)"
_LEFT = frozenset("left remain remains remained remaining".split())
_COMES = frozenset("makes gives leaves is means equals making giving leaving left".split())  # behind "which" or a comma
_IS = frozenset(
    "is are was were be equals equal becomes gives give get gets got makes leaves yields obtain find has have had costs cost takes take took need needs "
    "come comes amounts simplifies evaluates answer result = ≈ es est ist beträgt it's".split()
)
_HAS = frozenset("has have had costs cost takes take took need needs".split())
_BESIDE = frozenset(
    "because since as when where if though although until unless before after once whose who which while whereas in on at with among within than "
    "during for from per by over between across out of to through under every each".split()
)
_AND = frozenset((",", "and", "or"))
_REASONS = frozenset("since because as".split())
_RELATIVES = frozenset("that which who".split())
_TAILS = frozenset("because since as when where though although before after once while whereas which who".split())
DENIES = frozenset("not cannot never neither nor none nobody nicht pas kein".split())
DOUBTS = frozenset(
    "if unless suppose supposing assume assuming provided without otherwise whether would depending hardly vielleicht quizás peut-être talvez forse "
    "wrong incorrect false mistake mistaken impossible doubt perhaps maybe possibly probably likely might may could should "
    "guess guessing guessed think believe say says claims seem seems appear appears suggests unclear unsure unknown certain fail fails failed reject rejected excluded "
    "contradiction contradicts too somewhere around roughly nearly almost either hope hoped hopes hoping wish wished wishes want wants wanted know states stated "
    "substitute plug divide multiply subtract add let let's claim unable tempting stopped ignores neglects forgets forgetting misses oops hmm scratch partial check try "
    "intermediate preliminary below above under bound candidate".split()
)
# what puts off, or takes back, in more than a word
_PUTS_OFF = re.compile(
    r"\b(?:we (?:first|now)|now,? we|(?:are|is) given|so far|or so|wait,|remains to|to (?:be|show|prove)|can be|no (?:es|son)|for example|my (?:first|best|last)|no idea)\b|, no\b",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\W*(?:first(?:ly)?|next|given|consider|find|note|step|recall|no|solve|had|were)\b", re.IGNORECASE)
_OPEN_END = re.compile(
    r"(?:\b(?:for|of|in|on|at|with|by|to|from|and|or|the|an?|is|are|was|travels|than|we|s?he|they|because|if|when|which)|[-+*/×·=,:])\Z"
)
_LONGEST_OPEN = 12
_UNSURE_BEFORE = re.compile(
    r"\b(?:perhaps|maybe|possibly|probably|guess|doubt|unsure|no idea|don['’]t know|not sure|cannot tell|can['’]t tell)\W*\Z",
    re.IGNORECASE,
)
_LONGEST_UNSURE = 20  # characters of such a word and what follows it
_HAN_DOUBTED = re.compile(r"可能|或许|也许|大概|如果|假如|若|是否|不是|并非|[没未]能|无法|什么|多少|哪")
_HAN_AMOUNT = re.compile(
    r"[^\d$\\不没非无或]*?(?P<value>(?:每(?:小时|分钟|秒钟?|天)(?:行驶?|走|跑|飞行?)?\s?)?(?<!第)(?:\d+(?:年|个月|周|天|小?时|分|千米|米|元|角)零?){0,2}-?\d+(?:\.\d+)?(?:/\d+)?%?"
    r"\s?(?:(?!才|就|可以|能|以?后|左右|完成|的|[不没非无或若])[\u4e00-\u9fffA-Za-z/·²³°℃]){0,6})[^\d]*"
)
_HAN_CLAUSE = re.compile(r"(?P<said>[^,，;；\d]*\d[^,，;；]*?)[。.！!\s]*(?:[,，;；]|\Z)")
_HAN_ASIDE = re.compile(r"比|其中|当|因为|由于|即|也就是|约|而不|是原来")
_HAN_TOTAL = re.compile(r"共|合计|所以|因此")


def statement(text: str) -> Statement:
    """What the last sentence of a text says, without remarks behind it."""
    text = _without_end(_CALCULATED.sub("", text) if "<<" in text else text)
    start = _last_start(text)
    for _ in range(_MOST_REMARKS):
        if not start or _REMARK.match(text, start) is None:
            break
        text = _without_end(text[:start])
        start = _last_start(text)
    sentence = text[start:]
    if (
        sentence.endswith(("?", '?"', "?*", "？"))
        or _OPEN_END.search(sentence.rstrip("*"), max(0, len(sentence) - _LONGEST_OPEN)) is not None
        or (start and _UNSURE_BEFORE.search(text, max(0, start - _LONGEST_UNSURE), start) is not None)
    ):
        return Statement(text, sentence, doubted=True)
    if not sentence.isascii() and HAN.search(sentence) is not None:
        if _HAN_DOUBTED.search(sentence) is not None:
            return Statement(text, sentence, doubted=True)
        if (said := amounts(sentence)) is not None:
            return Statement(text, sentence, False, said, start)
    equal = max(sentence.rfind("="), sentence.rfind("≈"))
    if (
        equal > 0
        and (came := _COMES_TO.match(sentence, equal + 1)) is not None
        and _CALCULATION.search(sentence, max(0, equal - _LONGEST_SUM), equal) is not None
        and _UNKNOWN.search(sentence, max(0, equal - _LONGEST_SUM), equal) is None
        and not _unsolved(sentence, equal)
    ):
        return Statement(
            text, sentence, False, came["value"], start + came.start("value"), _PROSE.search(sentence) is not None
        )
    doubted, at, value = _asserted(sentence)
    return Statement(text, sentence, doubted, "" if doubted else value, start + at)


def _without_end(text: str) -> str:
    text = text.rstrip()
    end = _END.search(text, max(0, len(text) - _LONGEST_END))
    return text if end is None else text[: end.start()]


def _last_start(text: str) -> int:
    """Where the last sentence begins; 0 where there is but one."""
    stop = len(text.rstrip(" \n。！？"))
    for closer, opener in (("\\]", "\\["), ("$$", "$$")):
        if text.endswith((closer, closer + "."), 0, stop):
            stop = max(0, text.rfind(opener, 0, stop - 2))  # a formula on lines of its own
    start = 0
    for longest in (_USUAL_SENTENCE, _LONGEST_SENTENCE):
        for match in _SENTENCE_START.finditer(text, max(0, stop - longest), stop):
            start = match.end()
        if start or stop <= longest:
            break
    return max(start, stop - _LONGEST_SENTENCE)


def amounts(sentence: str) -> str | None:
    """The amounts that a Chinese sentence states, one in each of its clauses that have any; of a total only the last. "" where it states
    none, None where it is to be read as one in formulas.
    """
    if "$" in sentence or "\\" in sentence or "*" in sentence:
        return None
    clauses = [one for one in _HAN_CLAUSE.finditer(sentence) if _HAN_ASIDE.match(one["said"]) is None]
    if clauses and _HAN_TOTAL.search(clauses[-1]["said"]) is not None:
        clauses = clauses[-1:]
    values = [one["value"] for clause in clauses if (one := _HAN_AMOUNT.fullmatch(clause["said"])) is not None]
    return ", ".join(values) if len(values) == len(clauses) else ""


def _tokens(sentence: str) -> list[_Token]:
    """The values, names, words and marks of a sentence; a number that goes on with the value before it ("3 + 4", "m/s^2") is a part."""
    out: list[_Token] = []
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup
        if kind is None:
            continue  # bold type
        start, end = match.span(kind)
        said = sentence[start:end]
        if out and out[-1].said in _NUMBERED and said[0] in "(0123456789":
            kind = "ordinal"
        elif kind == "word":
            said = said.lower() if end - start > 1 and said != "May" else said
        elif kind == "formula":
            kind = "name" if _NAMED.fullmatch(said.strip("$")) else "value"
        elif kind == "number" and _GLUED.match(sentence, end) is not None:
            kind = "part"
        elif kind == "number" and out:
            before = out[-1]
            goes_on = (
                before.said in _OPERATORS and len(out) > 1 and (before.said != "x" or out[-2].kind in ("value", "part"))
            )
            named = before.kind == "word" and sentence[before.end : start] in ("", "(")
            kind = "part" if goes_on or named or (before.kind == "value" and before.end == start) else "value"
        elif kind == "number":
            kind = "value"
        out.append(_Token(kind, said, start, end))
    return out


def _asserted(sentence: str) -> tuple[bool, int, str]:
    """Whether a sentence doubts what it says, and the place and text of the one value that it asserts."""
    tokens = _tokens(sentence)
    planned = _PLAN.match(sentence) is not None
    begin, sure = _conclusion(tokens, planned=planned)
    end = next((at for at in range(begin + 1, len(tokens)) if _ends(tokens, at, begin)), len(tokens))
    if (planned and not sure) or _doubted(tokens[sure:end], sentence, tokens[sure - 1].start if sure else 0):
        return True, -1, ""
    bare = _PROSE.search(sentence) is None
    opened = begin > 0 and tokens[begin - 1].said == "," and tokens[0].said not in _REASONS  # "after 3 days, he has 5"
    concluded = bare or (begin > 0 and not opened) or _concludes(tokens)
    groups: list[list[int]] = []
    circumstances: list[list[int]] = []
    for at in range(begin, end):
        if tokens[at].kind != "value" or (at and _denies(tokens[at - 1])):
            continue
        if groups and _side_by_side(tokens[groups[-1][-1] + 1 : at]):
            groups[-1].append(at)
        elif not bare and (
            _beside(tokens, at, begin)
            or (circumstances and _AND.issuperset(token.said for token in tokens[circumstances[-1][-1] + 1 : at]))
        ):
            circumstances.append([at])  # "of 30 and 45"
        elif circumstances and _side_by_side(tokens[circumstances[-1][-1] + 1 : at]):
            if groups:
                return False, -1, ""
            circumstances[-1].append(at)  # "in total, for 1 hour and 40 minutes"
        else:
            groups.append([at])
    said = [group for group in groups if _said(tokens, group[0], concluded=concluded)]
    if not said and concluded:
        said = groups or circumstances
    if len(said) != 1:
        return False, -1, ""
    first, last = said[0][0], said[0][-1]
    if any(
        group[0] > last or any(token.said in (",", "and") for token in tokens[group[-1] : first])
        for group in groups
        if group is not said[0]
    ):
        return False, -1, ""  # two statements
    if first and tokens[first - 1].said in "=≈" and _unsolved(sentence, tokens[first - 1].start):
        return False, -1, ""
    named = first > 1 and tokens[first - 1].said in "=<>≤≥" and len(tokens[first - 2].said) == 1
    if named and not sentence[: tokens[first - 2].start].endswith(("(", "'")):
        first -= 2  # the letter that it is the value or the bound of
    while last + 2 < end and tokens[last + 1].said in _OPERATORS and tokens[last + 2].kind == "part":
        last += 2
    if _goes_on(tokens[last + 1 : end], concluded=begin > 0):
        return False, -1, ""
    value = sentence[tokens[first].start : tokens[last].end].strip("`")
    inner = joined(value, segments(value))
    return False, tokens[first].start, inner[0][2].strip() if len(inner) == 1 else value


def _conclusion(tokens: Sequence[_Token], *, planned: bool) -> tuple[int, int]:
    """Behind which token a sentence concludes, 0 where it does not; and from which on a doubt is about that."""
    begin = sure = 0
    opens = bool(tokens) and (tokens[0].said in _BESIDE or tokens[0].said.endswith("ing"))
    for at, (token, after) in enumerate(pairwise(tokens)):
        said, before = token.said, tokens[at - 1] if at else token
        if (said in _CONCLUDES and before.said not in DOUBTS) or (
            said == "it's" and before.kind in ("mark", "value") and after.kind == "value"
        ):
            begin = sure = at + 1
        elif said == ":":
            begin = at + 1
            sure = sure if planned or any(one.said in DOUBTS for one in tokens[:at]) else begin
        elif said == "i" and after.said == "e":
            begin = at + 2
        elif (before.said, said) in (("total", "of"), ("left", "with")):
            begin = at + 1
        elif (
            (said in ("which", ",") or (said == "that" and before.said == ","))
            and after.said in _COMES
            and all(one.said != "than" for one in tokens[at:])
        ):
            begin = at + 2
        elif said == "," and opens and not begin and after.kind == "word" and after.said not in _BESIDE | {"and", "or"}:
            begin = at + 1
            sure = begin if tokens[0].said in _REASONS else sure
    return begin, sure


def _concludes(tokens: Sequence[_Token]) -> bool:
    """Does a sentence name a total, or behind its value what is left?"""
    said = [token.said for token in tokens]
    first = next((at for at, token in enumerate(tokens) if token.kind == "value"), len(tokens))
    return not _TOTALS.isdisjoint(said) or not _LEFT.isdisjoint(said[first:])


def _doubted(tokens: Sequence[_Token], sentence: str, start: int) -> bool:
    """Is there a word of doubt, denial, condition or plan in a statement?  "5, not 6" is none."""
    return _PUTS_OFF.search(sentence, start) is not None or any(
        (token.said in DOUBTS and not (at and tokens[at - 1].said in _RELATIVES))
        or (_denies(token) and not (at + 1 < len(tokens) and tokens[at + 1].kind in ("value", "name")))
        for at, token in enumerate(tokens)
    )


def _denies(token: _Token) -> bool:
    return token.said in DENIES or token.said.endswith(("n't", "n’t"))


def _ends(tokens: Sequence[_Token], at: int, begin: int) -> bool:
    """Does a clause begin that says something else of the value before it: a reason, "which is 3 fewer"?"""
    said, kind = tokens[at].said, tokens[at].kind
    if (
        said not in _TAILS
        and kind != "aside"
        and not (said == "," and tokens[min(at + 1, len(tokens) - 1)].said in _BESIDE)
    ):
        return False
    return any(token.kind == "value" for token in tokens[begin:at])


def _unsolved(sentence: str, equal: int) -> bool:
    """Is what stands before an equals sign a term with a letter, so that what it equals is no value of the letter?"""
    start = max(0, equal - _LONGEST_SUM, sentence.rfind("=", 0, equal) + 1)
    return _UNSOLVED.search(sentence, start, equal) is not None


def _goes_on(behind: Sequence[_Token], *, concluded: bool) -> bool:
    """Does what stands behind a value change it, or say another thing: "8 years older than she is", "25 - y", "3, or whatever it is"?"""
    said = [token.said for token in behind]
    return (
        ("than" in said and not concluded)
        or ";" in said
        or "or" in said
        or said[:1] == ["to"]
        or (bool(said) and (said[0] in _OPERATORS or behind[0].kind == "part"))
    )


def _beside(tokens: Sequence[_Token], at: int, begin: int) -> bool:
    """Is a value a circumstance of another one: "of the 8 balls", "in 7 days", but not "is at 5 %"?"""
    for back in range(at - 1, max(begin, at - 4) - 1, -1):
        said = tokens[back].said
        if said in _BESIDE:
            return not (back == at - 1 and said in ("at", "to") and tokens[back - 1].said in _IS)
        if said != "=" and (tokens[back].kind != "word" or said in _IS or said == "and"):
            return False
    return False


def _said(tokens: Sequence[_Token], at: int, *, concluded: bool) -> bool:
    """Does a sentence say that something is a value: "the sum is 5", "comes to 5", "$x = 5$"?  That there are 5 or one has 5 is a fact like any."""
    if at and _RELATION.search(tokens[at].said) is not None:
        return True
    for back in range(at - 1, max(-1, at - 4), -1):
        said = tokens[back].said
        if said in _IS:
            return concluded or (said not in _HAS and all(token.said != "there" for token in tokens[:back]))
        if tokens[back].kind != "word":
            return False
    return at == 0 and len(tokens) < 4


def _side_by_side(between: Sequence[_Token]) -> bool:
    """Are two values one list or one amount: "7 and -2", "x = 2 or x = 3", "6 feet 2 inches"?"""
    said = [token.said for token in between if token.kind != "part"]
    if len(said) == 1 and said[0] not in _AND:
        return said[0].isalpha() and said[0] not in _BESIDE | _IS
    joint = next((at for at, one in enumerate(said[:2]) if one in _AND), None)
    rest = said[joint + 1 :] if joint is not None else ["none"]
    rest = rest[1:] if rest[:1] in (["and"], ["or"]) else rest
    return not rest or rest == ["about"] or (len(rest) == 2 and rest[1] == "=")
