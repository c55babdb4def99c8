"""What the last sentence of a text asserts, where nothing in the text marks its answer.

Such an answer counts only where the last sentence says exactly one value, in one of a few forms: what a calculation comes to
("12 - 4 = 8 apples"), what a conclusion names ("so ...", "in total ..."), what a verb of a closed list says ("is 8", "has 8", "x = 8", "8 are left").
The sentence is read as values, words and marks. A clause that opens with "since" or "after" is no statement, a number behind
"of", "in" or "per" is none either, and a word of doubt, denial, condition or plan leaves no answer. A policy that wants to be
paid marks its answers.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_USUAL_SENTENCE, _LONGEST_SENTENCE = 300, 3_000
_MOST_SENTENCES = 4  # behind the conclusion


class Statement(NamedTuple):
    """A text up to the `value` that its last sentence asserts; whether that is `doubted`, `unclear` which it is, or what it `calculates`."""

    text: str
    doubted: bool = False
    unclear: bool = False
    calculates: bool = False
    value: str = ""


class _Token(NamedTuple):
    kind: str
    said: str
    start: int
    end: int


_new = tuple.__new__  # twice as fast as the class's own
_CALCULATED = re.compile(r"<<[^<>\n]{1,80}>>")  # a calculator's notes, as GSM8K has them
_PROSE = re.compile(r"(?<![\\a-z])[a-z]{2,},? [a-z$(\d\\]", re.IGNORECASE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HAN_DOUBTED = re.compile(
    r"(?:[没未]能|无法)(?:求|算|解|完|得|判|继)[^。.!?\n]{0,60}[。.]?\s*\Z|(?:也许|可能|或许|大概)[^，,。.!?\n]{0,30}[。.]?\s*\Z"
)
# begins with a sign that is looked for fast
_SENTENCE_START = re.compile(r"[.!?\n](?:(?<=\n)\n*|(?<!\n)[)*\"”]{0,3}\s+(?=[A-Z*(\[¿¡“\"]))")
# behind the conclusion: a courtesy, a remark, a check, what would have been, a sentence in brackets
_AFTER = re.compile(
    r"[\s*_>-]*(?:let me know|(?:I )?hop(?:e|ing)\b|feel free|if you (?:have|need|want|would|'d)|happy to|thanks?\b|great\b|good luck|note\b(?!\s*:?\s*the (?:final )?answer)"
    r"|for (?:example|instance),|(?:double[- ])?check(?:ing)?\**\s?:|verif[a-z]+\**\s?:|had [^.]*\bwould\b)|\s*\([^\n]*[a-z]{3} [^\n]*\)\s*\Z",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:\s[:;]-?[)D]|\$?\\(?:black)?square\$?|\$?\\qed\$?|∎|Q\.E\.D\.?|(?<!-)---+|\$\s+\$|</?[a-z]{1,20}>|[✅✓✔☑🎉\s])+\Z"
)
_LONGEST_END = 40
_LONGEST_UNSURE = 20  # characters of such a word and what follows it
_UNSURE = frozenset("perhaps maybe possibly probably guess doubt unsure".split())
_CLUELESS = r"\b(?:no idea|don['’]t know|not sure|unsure|cannot tell|can['’]t tell)\b"
_UNSURE_BEFORE = re.compile(rf"(?:\b(?:{'|'.join(_UNSURE)})\W*\n|{_CLUELESS}\W*)\Z", re.IGNORECASE)
_UNSURE_LINE = re.compile(rf"(?:{'|'.join(_UNSURE)})\W*(?:\Z|:)|{_CLUELESS}", re.IGNORECASE)
# arithmetic to the left of an equals sign, and to its right a value with words behind it: "40 + 30 = 70 apples"
_CALCULATION = re.compile(
    r"[\d)%](?:[^,=\n]|,(?=\d))*?(?:[-+*/×·^−–!]|\sx\s(?=\S))(?:[^,=\n]|,(?=\d))*\Z|[-+*/×·^−–][^,=\n\d]{0,3}\d[\d,. ]*\Z"
)
_LONGEST_SUM = 120
_PLAIN = re.compile(
    r"\s?[-−]?[$€£¥]?[-−]?[\d.](?!.*\b(?:so|thus|hence|therefore|but)\b)(?:[^,:;=]|[,:](?=\d)|,(?!.*\d))*\Z"
)
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[^\W\d_π]+(?:['’-][^\W\d_]+)*)"
    r"|(?P<ordinal>\d+(?:st|nd|rd|th)\b)"
    r"|(?P<formula>\$\$?(?![^$\n]*(?<![\\{a-zA-Z])[a-zA-Z]{3,}[ ,])(?:\\.|[^$\\]){1,200}?(?<![+*/=-])\$\$?(?!\d)"
    r"|\\\((?:(?!\\\))[\s\S]){1,200}\\\)|\\\[(?:(?!\\\])[\s\S]){1,200}\\\]|`[^`\n]+`"
    r"|(?<!\w)[(\[](?![^()\[\]]*[a-z]{2})[^()\[\]\n]{0,60}[\d∞][^()\[\]\n]{0,60}[)\]])"
    r"|(?P<number>(?:(?<![\w)\]%])[-+−])?[$€£¥]?(?:(?:\d[\d,]*(?<!,)(?:[.:/]\d+)*|\.\d+)(?:[√π]\d*|[⁻⁰¹²³⁴-⁹]+|[¼-¾⅐-⅞])?|[√π∞∅]\d*)%?)"
    r"|(?P<aside>(?<=\s)\((?:[^()\n]|\([^()\n]*\))*\))"
    r"|\*\*|(?P<mark>[,;:=≈?—–+*/×·^<>≤≥−-]|!(?=\s?[=+*/)])))"
)
_NAMED = re.compile(
    r"(?:\\(?!pi\b|infty|sqrt|[dt]?frac|emptyset)(?:[a-zA-Z]+|\W)|[a-zA-Z_{}(),'\s|])+"
)  # a formula that only names something
_RELATION = re.compile(r"[=<>]|\\(?:[lg]eq?|lt|gt|neq?|approx|in)\b")
_OPERATORS = frozenset("-+*/×·^−–!")

_CONCLUDES = frozenset("so thus hence therefore consequently but donc entonces quindi".split())
_COMES_TO = frozenset("makes gives leaves is means equals left made".split())  # behind "which" or "that"
_ADDS_UP = frozenset("making giving leaving".split())
_IN_ALL = frozenset("altogether total overall insgesamt".split())
_COMPARES = frozenset("more less fewer greater larger smaller times than as twice half".split())
_SAYS = frozenset(
    "is are was were be equals equal becomes gives will can must has have had answer gets get got give gave makes make made leaves leave left costs cost "
    "takes take took needs need earns earned pays pay paid spends spend spent saves saved sold sells bought buys receives received contains "
    "obtain yields works ends find weighs runs lasts reaches corresponds occurs holds meet meets rose fell arrives arrive it's es est ist beträgt = ≈".split()
)
_STANDS = frozenset(
    "is are was were works remain remains remained left stay stayed need needed".split()
)  # behind a value
_IS = frozenset("is are was were".split())  # "52 is a nice number" says nothing of an answer
_REASONS = frozenset("because since as".split())
_TAILS = _REASONS | frozenset("when where if though although until unless before after once".split())
_BESIDE = _TAILS | frozenset(
    "whose who that which while whereas in on at with among within during for from per by over between across out of to through than under every each".split()
)
_CONDITIONS = frozenset(
    "if unless suppose supposing assume assuming provided without otherwise whether would depending had were".split()
)
_RELATIVES = frozenset("that which who".split())
_WRONG = frozenset("wrong incorrect false mistake mistaken impossible".split())
_DENIES = frozenset("not cannot never neither nor none nobody".split())
_DOUBTS = frozenset(
    "hardly vielleicht quizás peut-être talvez forse doubt if unless whether would otherwise depending perhaps maybe possibly probably likely might may could guess guessing guessed think believe say says claims seem seems appear "
    "appears suggests unclear unsure unknown certain fail fails failed reject rejected excluded contradiction contradicts too somewhere around roughly nearly "
    "almost either hope hoped hopes hoping wish wished wishes want wants wanted know states stated substitute plug divide multiply subtract add let let's claim unable tempting stopped ignores neglects forgets "
    "forgetting misses oops hmm scratch partial intermediate preliminary below above under bound candidate nicht pas kein".split()
)
# what puts off, or takes back, in more than a word
_PUTS_OFF = re.compile(
    r"\b(?:we (?:first|now)|now,? we|(?:are|is) given|so far|or so|wait,|remains to|to (?:be|show|prove)|can be|no (?:es|son)|for example|my (?:first|best|last)|no idea)\b|, no\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\W*(?:first(?:ly)?|next|suppose|assume|given|consider|find|note|step|recall|no|solve)\b", re.IGNORECASE
)
_OPEN_ENDS = frozenset(
    "for of in on at with by to from and or the a an is are was travels than we he she they because if when which".split()
)


def statement(text: str) -> Statement:
    """The text up to what its last sentence asserts: without calculator's notes, courtesies, reasons and circumstances behind it."""
    if "<<" in text:
        text = _CALCULATED.sub("", text)
    text = _without_end(text)
    near = text[-_USUAL_SENTENCE:]
    if not near.isascii() and _HAN.search(near) is not None:
        return Statement(text, doubted=_HAN_DOUBTED.search(near) is not None)
    start = _last_start(text)
    for _ in range(_MOST_SENTENCES):
        if not start or _AFTER.match(text, start) is None:
            break
        text = _without_end(text[:start])
        start = _last_start(text)
    if start and _UNSURE_BEFORE.search(text, max(0, start - _LONGEST_UNSURE), start) is not None:
        return Statement(text, doubted=True)  # "Perhaps\n12", "I have no idea. 12"
    if _PROSE.search(text, min(start, max(0, len(text) - _USUAL_SENTENCE))) is None:
        return Statement(
            text, doubted=text.endswith("?") or _UNSURE_LINE.search(text, start) is not None
        )  # a formula, and nothing said about it
    start = max(start, len(text) - _LONGEST_SENTENCE)
    equal = max(text.rfind("=", start), text.rfind("≈", start))
    if (
        calculates := equal > 0
        and _CALCULATION.search(text, max(start, equal - _LONGEST_SUM), equal) is not None
        and _PLAIN.match(text, equal + 1) is not None
    ):
        start = equal + 1
    end, doubted, unclear, value = _asserted(text[start:], calculates=calculates)
    return Statement(text if end is None else f"{text[: start + end].rstrip()}.", doubted, unclear, calculates, value)


def _without_end(text: str) -> str:
    text = text.rstrip()
    end = _END.search(text, max(0, len(text) - _LONGEST_END))
    return text if end is None else text[: end.start()]


def _last_start(text: str) -> int:
    """Where the last sentence begins; 0 where there is but one."""
    stop = len(text.rstrip())
    for closer, opener in (("\\]", "\\["), ("$$", "$$")):
        if text.endswith((closer, closer + "."), 0, stop):
            stop = max(0, text.rfind(opener, 0, stop - 2))  # a formula on lines of its own
    start = 0
    for longest in (_USUAL_SENTENCE, _LONGEST_SENTENCE):
        for match in _SENTENCE_START.finditer(text, max(0, stop - longest), stop):
            start = match.end()
        if start or stop <= longest:
            break
    return start


def _tokens(sentence: str) -> list[_Token]:
    """The values, names, words and marks of a sentence; a number that goes on with the value before it ("3 + 4", "m/s^2") is a part."""
    out: list[_Token] = []
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup
        if kind is None:
            continue  # bold type
        start, end = match.span(kind)
        said = sentence[start:end]
        before = out[-1].said if len(out) > 1 else ""
        if kind == "word":
            said = said.lower() if end - start > 1 and said != "May" else said
        elif kind == "formula":
            kind = "name" if _NAMED.fullmatch(said.strip("$")) else "value"
        elif kind == "number":
            goes_on = before in _OPERATORS or (before == "x" and len(out) > 1 and out[-2].kind in ("value", "part"))
            kind = "part" if goes_on or (out and out[-1].kind == "value" and out[-1].end == start) else "value"
        elif kind == "mark":
            kind = said
        out.append(_new(_Token, (kind, said, start, end)))
    return out


def _asserted(sentence: str, *, calculates: bool) -> tuple[int | None, bool, bool, str]:
    """Where the statement of a sentence ends, None for all of it; whether its value is doubted; whether it is unclear which it is; the value.

    Of one that calculates only what stands behind the equals sign is given.
    """
    tokens = _tokens(sentence)
    places = [at for at, token in enumerate(tokens) if token.kind == "value"]
    last = tokens[-1] if tokens else None
    if not places or last is None or last.kind in "?:,=" or last.said in _OPERATORS or last.said in _OPEN_ENDS:
        return None, last is not None and last.kind == "?", True, ""
    concluded = sure = begin = 0
    if not calculates:
        concluded, sure = _conclusion(tokens, places[-1])
        begin = _main_clause(tokens, concluded)
    end = _end(tokens, begin)
    doubted = _doubted(tokens, begin if sure == concluded else sure, begin, end, calculates=calculates) or (
        not calculates
        and (
            tokens[concluded].said in _CONDITIONS
            or _PUTS_OFF.search(sentence, tokens[sure].start if sure else 0) is not None
            or (_PLAN.match(sentence) is not None and (not sure or tokens[sure - 1].kind == ":"))
        )
    )
    groups: list[list[int]] = []
    for at in places:
        if not begin <= at < end or (at and _denies(tokens[at - 1])):
            continue
        if groups and _side_by_side(tokens[groups[-1][-1] + 1 : at]):
            groups[-1].append(at)
        else:
            groups.append([at])
    said = groups[:1] if calculates else [group for group in groups if _said(tokens, group[0], begin)]
    if not said and (concluded or any(token.said in _IN_ALL for token in tokens)):
        said = [group for group in groups if not _beside(tokens, group[0], begin)] or groups
    if len(said) != 1:
        return None, doubted, True, ""
    final = said[0][-1]
    value = sentence[_named_from(tokens, final) : _parts_end(tokens, final)]
    listed = [token.said for token in tokens[said[0][0] : final] if token.said in (",", "and", "or")]
    others = [at for group in groups for at in group if at > final and not calculates]
    unclear = (
        any(not _beside(tokens, at, final) for at in others)
        or listed[-1:] == [","]
        or any(token.kind == ";" for token in tokens[begin:end])
    )
    stop = next((at for at in range(final + 1, end) if tokens[at].kind in _BREAKS or tokens[at].said in _CUTS), end)
    rest = tokens[stop:]
    carries = any(token.kind in ("value", "aside") for token in rest)
    subject = not carries and rest and rest[0].kind != "," and any(token.said in _SAYS for token in rest)
    if (
        not rest
        or subject
        or not (calculates or stop == end or carries)
        or (not calculates and rest[0].said in _CONDITIONS)
    ):
        return None, doubted, unclear, value
    return rest[0].start, doubted, unclear, value


def _named_from(tokens: list[_Token], at: int) -> int:
    """Where a value begins, with the letter that it is the value or the bound of."""
    named = at > 1 and tokens[at - 1].kind in "=<>≤≥" and len(tokens[at - 2].said) == 1
    return tokens[at - 2 if named else at].start


def _parts_end(tokens: list[_Token], at: int) -> int:
    """Where a value ends, with what is added to it or multiplied with it."""
    end = tokens[at].end
    for token in tokens[at + 1 :]:
        if token.kind == "part":
            end = token.end
        elif token.said not in _OPERATORS and token.said != "x":
            break
    return end


_CUTS = _BESIDE - frozenset(("per", "every", "each"))
_BREAKS = frozenset(("value", "aside", ",", ":", "—", "–"))


def _conclusion(tokens: list[_Token], last: int) -> tuple[int, int]:
    """Behind which token the conclusion of a sentence begins, and from which on a doubt is about it."""
    begin = sure = 0
    for at, token in enumerate(tokens[:-1]):
        after = tokens[at + 1]
        if (
            (token.said in _CONCLUDES and tokens[at - 1].said not in _CONDITIONS)  # not "if so"
            or (token.kind == ":" and not any(one.said in _UNSURE for one in tokens[begin:at]))
            or (token.said == "it's" and after.kind == "value" and at and tokens[at - 1].kind in (",", "value"))
        ):
            begin = sure = at + 1
        elif at >= last or token.kind != "word":
            continue
        elif (token.said in _ADDS_UP and at and tokens[at - 1].kind == ",") or (
            token.said == "total" and after.said == "of"
        ):
            begin = at + 1
        elif (token.said == "i" and after.said == "e") or (
            token.said in ("which", "that")
            and after.said in _COMES_TO
            and all(one.said not in _COMPARES for one in tokens[at + 2 : at + 7])
        ):
            begin = at + 2
    return begin, sure


def _main_clause(tokens: list[_Token], begin: int) -> int:
    """Where the main clause begins, behind one that opens with a circumstance ("since ...,", "dividing by 3,")."""
    while begin < len(tokens) - 1 and (
        tokens[begin].said in (",", "and", "then") or (tokens[begin].kind == "word" and tokens[begin + 1].kind == ",")
    ):
        begin += 1
    opens = tokens[begin].said in _BESIDE | _CONDITIONS or tokens[begin].said.endswith("ing")
    commas = [at for at in range(begin, len(tokens) - 1) if tokens[at].kind == ","]
    for at in commas:
        after = tokens[at + 1].said
        if opens and (len(commas) == 1 or (after[:1].isalpha() and after not in _BESIDE | {"and", "or"})):
            begin = at + 1 if any(token.kind == "value" for token in tokens[at:]) else begin
    return begin


def _end(tokens: list[_Token], begin: int) -> int:
    """Where a clause begins that says something else of the value before it: a reason, a condition, "which is 3 fewer"."""
    valued = False
    for at in range(begin, len(tokens) - 1):
        kind, said = tokens[at][:2]
        if not valued:
            valued = kind == "value"
        elif said in _TAILS:
            return at
        elif kind == ",":
            two, three = tokens[at + 1].said, tokens[min(at + 2, len(tokens) - 1)].said
            if (
                two in _BESIDE
                or two == "about"
                or (two == "and" and three in _SAME)
                or (two.isalpha() and three in _BESIDE)
            ):
                return at
    return len(tokens)


_SAME = frozenset("it they its their this that".split())


def _denies(token: _Token) -> bool:
    return token.said in _DENIES or token.said.endswith(("n't", "n’t"))


def _doubted(tokens: list[_Token], start: int, begin: int, end: int, *, calculates: bool) -> bool:
    """Is there a word of doubt in a statement?  What a calculation counts may be denied something ("= 40 girls who do not sing")."""
    for at in range(start, len(tokens)):
        token = tokens[at]
        if at >= end and token.said in _REASONS:
            return False
        if token.said in _WRONG or (not calculates and token.said in (_DOUBTS if at < end else _CONDITIONS)):
            if at > 1 and tokens[at - 1].said in _RELATIVES:
                continue  # "the largest number that could be in it is 19"
            return True
        denied = tokens[at + 1].kind if at + 1 < len(tokens) else ""  # "not 5"
        if (
            at >= begin
            and _denies(token)
            and denied not in ("value", "name")
            and not (calculates and tokens[at - 1].said != "is")
        ):
            return True
    return False


def _said(tokens: list[_Token], at: int, begin: int) -> bool:
    """Does the form of a sentence say that something is a value: "has 5", "needs to buy 5", "is at 5", "$x = 5$", "5 are left"?"""
    before = tokens[at - 1].said if at > begin else ""
    if before not in _BESIDE - {"that"} and _RELATION.search(tokens[at].said) is not None:
        return True
    for back in range(at - 1, max(begin, at - 6) - 1, -1):
        token = tokens[back]
        if token.said in _SAYS:
            # not "when x = 3", and no order or question
            return (back > 0 or token.said == "answer") and not (
                token.kind == "=" and back > 1 and tokens[back - 2].said in _BESIDE - {"that"}
            )
        if token.kind in ("value", ","):
            return False
        if token.said in _BESIDE and token.said != "of":
            ahead = [one.said for one in tokens[max(begin, back - 2) : back]] if tokens[back - 1].kind == "word" else []
            if token.said == "to" and back + 1 == at:
                return (  # "comes to 5", but not "5 added to 8 gives 13"
                    bool(ahead)
                    and all(one.said != "from" for one in tokens[begin:back])
                    and all(one.said not in _SAYS for one in tokens[at + 1 :])
                )
            return token.said != "than" and not _SAYS.isdisjoint(ahead)
    return at <= begin + 1 and (_stands(tokens[at + 1 : at + 6]) or (at == 0 and len(tokens) < 4))


def _stands(behind: list[_Token]) -> bool:
    """Is what is said of a value, by the tokens behind it, that it is there ("are left"), and not another value ("plus 8 is 13")?"""
    for token, after in pairwise([*behind, _Token("end", "", 0, 0)]):
        if token.kind == "value":
            return False
        if token.said in _STANDS:
            return after.kind != "value" and not (token.said in _IS and after.said in ("a", "an"))
    return False


def _beside(tokens: list[_Token], at: int, begin: int) -> bool:
    """Is a value a circumstance of another one: "of the 8 balls", "in 7 days", "at 5 %"?"""
    for back in range(at - 1, max(begin, at - 5) - 1, -1):
        token = tokens[back]
        if token.said in _BESIDE:
            return True
        if token.kind in ("value", ",") or token.said in _SAYS - {"="} or token.said == "and":
            return False
    return False


def _side_by_side(between: list[_Token]) -> bool:
    """Are two values one list or one amount: "7 and -2", "x = 2 or x = 3", "6 feet 2 inches"?"""
    said = [token.said for token in between if token.kind != "part"]
    joint = next((at for at, word in enumerate(said) if word in (",", "and", "or")), None)
    if joint is None:
        return len(said) == 1 and said[0].isalpha() and said[0] not in _BESIDE | _SAYS
    behind = said[joint + 1 :]
    if behind[:1] in (["and"], ["or"]):
        behind = behind[1:]
    return joint <= 3 and (not behind or behind == ["about"] or (len(behind) == 2 and behind[1] == "="))
