"""Is an answer in a mark asserted there?  Not where its sentence doubts, denies or supposes it, nor where the next one takes it back.

What hedges a value belongs to it: a bound ("at least 4"), an alternative ("3 or 4") and a range are not that value.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from .formulas import any_in

_LONGEST_LEAD = 2_000
_SHORT_LEAD = 20
_PLAIN_LEADS = frozenset(
    f"{mark}{so}{the}{final}"
    for mark in ("", "**", "### ")
    for so in ("", "So ", "So, ", "Thus ", "Thus, ", "Hence ", "Hence, ", "Therefore ", "Therefore, ")
    for the in ("", "the ", "The ")
    for final in ("", "final ", "Final ", "correct ")
)
# what a sentence supposes where a clause of it opens so, or of the mark itself; what one clause of it doubts, denies, plans or has others say
_LEAD_DOUBTS = re.compile(
    r"\b(?P<means>(?:by|from|using|with) (?:[a-z]+ ){1,3}test)\b|(?P<supposed>(?:(?<![a-z\d$] )|(?<=\bso )|(?<=\band )|(?<=\bbut )|(?<=\bthat ))\b(?:if|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|depending|otherwise|in case|wenn|falls|si"
    r"|without(?! (?:loss|(?:a )?doubt)\b)|had(?=[^.\n]* been\b))\b|\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine)(?=(?: that)?(?: [a-z]+){0,2} \Z)"
    r"|\A\W*(?:were|had|should)\b|\b(?:perhaps|maybe|possibly|probably|likely|vielleicht|peut-être|quizás?|tal vez|talvez|forse|если)\b)"
    r"|\b(?:not(?! (?:hard|difficult|only)\b)|never|nobody|no (?:way|one|reason)|none|cannot|wrong|false|incorrect|impossible|unclear|unsure|guess(?:ed|ing)?|might|could"
    r"|(?-i:may)|(?<!no )(?<!without )(?<!without a )doubt|rule[sd]? out|mistake|partial|intermediate|preliminary|interim|incomplete"
    r"|(?:check|verify|confirm|test)(?:s|ed|ing)?|says|thinks|believes|claims|writes|said|thought|believed|claimed|wrote|according to|tempt(?:ed|ing)"
    r"|(?:some|many|most|people|others|they)\b[^,.;:\n]* (?:say|think|believe|claim|argue)|[a-z]{3,}s (?:say|think|believe|claim|argue))\b|(?:\A\W*|\b(?:to|will|shall|let us|let's) |'ll )(?:show|prove|demonstrate) that\b"
    r"|\b(?:example|sample|old|previous|earlier|former|initial|his|her|their|(?!(?:that|here|it|what|let|problem|question)['’])[a-z]+['’]s) \Z"
    r"|n['’]t\b|如果|若|假[设如]|也许|可能|或许|不确定|有人|有的",
    re.IGNORECASE,
)
# one of which is in each of these leads, but for letters outside of ASCII
_DOUBT_WORDS = frozenset(
    "if unless whether suppose supposing assume assuming imagine depending without otherwise case were had should perhaps maybe possibly probably likely wenn falls vielleicht si "
    "quizas tal talvez forse not never nobody no none cannot wrong false incorrect impossible unclear unsure guess guessed guessing might could may "
    "doubt rule rules ruled mistake partial intermediate preliminary interim incomplete check checks checked checking verify "
    "verifying confirm confirms confirmed confirming test tests tested testing says thinks believes claims said thought believed claimed say think believe wrote writes "
    "claim argue according tempted tempting show prove demonstrate example sample old previous earlier former initial his her their "
    "don't doesn't isn't can't won't wouldn't didn't wasn't couldn't shouldn't".split()
)
_TURNS = re.compile(
    r"\b(?:(?<!if )(?<!it )so|thus|hence|therefore|consequently|but|however|donc|entonces|also)\b|所以|因此",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[,;:—–]|\b(?:and|because|since)\b")
_THAT = re.compile(r"\b(?:that|whether)\s+(?:(?:the|our|my|this|its)\s+)?(?:[a-z]+\s+)?\Z", re.IGNORECASE)


def asserted(text: str, at: int) -> bool:
    """Does its sentence assert what stands at a place?  Not where the words before it doubt, deny or suppose it ("if n = 2, the answer
    is 3", "I doubt that the answer is 3"), unless a conclusion of its own begins in between.
    """
    near = text[max(0, at - _SHORT_LEAD) : at]
    if near[max(near.rfind("\n") + 1, near.rfind(". ") + 2 if ". " in near else 0) :] in _PLAIN_LEADS and (
        at <= _SHORT_LEAD or near not in _PLAIN_LEADS
    ):
        return True  # as most begin
    begin = max(0, at - _LONGEST_LEAD)
    begin = max(begin, text.rfind("\n", begin, at) + 1)
    begin = max(begin, text.rfind(". ", begin, at) + 1)
    lead = text[begin:at]
    if (
        lead.isascii()
        and not lead.endswith("'s ")
        and _DOUBT_WORDS.isdisjoint(lead.lower().replace(",", " ").replace("-", " ").split())
    ):
        return True  # as nearly always
    lead = lead[max(lead.rfind("? "), lead.rfind("! ")) + 1 :]
    for match in _LEAD_DOUBTS.finditer(lead):
        rest = lead[match.end() :]
        if (
            not match["means"]
            and _TURNS.search(rest) is None
            and (match["supposed"] or _CLAUSES.search(rest) is None or _THAT.search(rest) is not None)
        ):
            return False
    return True


_NEAR = 48  # characters in which a box is denied
_GUESSES = frozenset(
    "doubt Maybe maybe Perhaps perhaps Possibly possibly Probably probably guess may might could Not not Never never cannot impossible wrong incorrect "
    "isn't can't won't doesn't wasn't isn’t can’t".split()
)
# what a box is next to, but for words that say nothing of their own: elsewhere in its sentence a doubt is about something else
_GUESSED = re.compile(
    r"(?:(?<!\bor )(?<!\bno )(?<!\bwithout )(?<!\ba )\b(?:doubt|maybe|perhaps|possibly|probably|guess|(?-i:may|might|could)(?:\s\w+)?\sbe)\b[^.,;:\n]*"
    r"|(?:\b(?:not|cannot|never)|n['’]t)(?:\s(?:be|have|get|equal|reach|answer|accept|write|the|an?|to|as|is|correct|right|just|simply|value|result))*[\s$\\(\[*]*"
    r"|\b(?:impossible|wrong|incorrect)\s(?:to|for)\s[^.,;:=\n]*)\Z",
    re.IGNORECASE,
)


def guessed(text: str, at: int) -> bool:
    """Is a box at a place guessed or denied by what stands right before it ("maybe `\\boxed{3}`", "we cannot have
    `\\boxed{3}`", "if n = 2, it would be `\\boxed{3}`")?
    """
    start = max(0, at - _NEAR)
    words = text[start:at].split()
    if "would" in words and _WOULD_BE.search(text, max(0, at - _LONGEST_CONDITION), at) is not None:
        return True
    return not _GUESSES.isdisjoint(words) and _GUESSED.search(text, start, at) is not None


_LONGEST_CONDITION = 300
_WOULD_BE = re.compile(
    r"(?:\A|[.!?(\n]|\b(?:and|but)\b)\W*(?:if|had|were|without|suppos(?:e|ing)|assuming)\b(?:(?!\b(?:so|thus|hence|therefore)\b)[^.!?\n])*\bwould\b[^.!?\n]*\Z",
    re.IGNORECASE,
)


_BEHIND = 120  # characters in which an answer may be taken back
_TURNS_BACK = (
    "ait",
    "cratch",
    "rror",
    "rrect",
    "istake",
    "kidding",
    "mean",
    "rong",
    "alse",
    "t sure",
    "tually",
    "second th",
    "wever",
    "t I ",
    ". No, ",
    "ut it ",
    "ut th",
    "t right",
)
_WRONG = r"(?:wrong|incorrect|false|an? (?:mistake|error)|not (?:right|correct|true))"
_TAKEN_BACK = re.compile(
    r"[^\n]{1,80}?(?:(?:[.!…]\s+|\.\.\.\s?)(?:(?:oh|hmm|ah|no|sorry|well|oops),?\s)*"
    rf"(?:(?:but|however),?\s)?(?:wait|scratch that|correction|just kidding|I meant?\b|no, (?:it|that|this|sorry|[$]?\d)|actually,?\s(?:it|that|this|no)\b|on second thought|I(?:'m| am) not (?:so )?sure"
    rf"|(?:this|that|it|the answer)(?:'s| is| was) {_WRONG}|(?:this|that|it) does(?: not|n't) )"
    rf"|,\s(?:which is {_WRONG}|(?:but|although|though) (?:(?:this|that|it)(?:'s| is| was) (?:not\b|{_WRONG}|[$]?\d)|I (?:get|got|think|am|have)\b)))",
    re.IGNORECASE,
)


_SHORTEST_REFUSAL = 10  # characters: "} is wrong"
_REFUSALS = ("rong", "orrect", "alse", "istake", "rror", "t right", "t true")
_REFUSED = re.compile(rf"[^\w(]*(?:(?:which|this|that|it) )?(?:is|was) {_WRONG}", re.IGNORECASE)


def refused(text: str, at: int, found: str | None) -> bool:
    """Does what follows a box say that it is wrong: "`\\boxed{3}`. This is incorrect"?"""
    end = at + len(found or "")
    if len(text) - end < _SHORTEST_REFUSAL:
        return False
    behind = text[end : end + _NEAR]
    return any_in(_REFUSALS, behind) and _REFUSED.match(behind.partition("}")[2]) is not None


def taken_back(rest: str) -> bool:
    """Does what follows "the answer is" take it back: "4. Wait, ...", "4, but that is wrong"?"""
    return any_in(_TURNS_BACK, rest[:_BEHIND]) and _TAKEN_BACK.match(rest) is not None


_ABOUT = 64  # characters before and behind a value that may change it

_NUMBER = r"-?(?:\d[\d,]*(?:\.\d+)?(?:/\d+)?|\.\d+)"
_DIGIT = re.compile(r"\d")
# what bounds or doubts the value behind it, beside the words one of which is in it
_BOUNDS = {
    "least most": r"at\s(?:least|most)",
    "than": r"(?:no\s|not\s)?(?:more|less|fewer|greater|larger|smaller|higher|lower|bigger|earlier|later|other)\sthan(?:\sor\sequal\sto)?",
    "under below above over between beyond": r"(?:is|are|be|was)\s(?:well\s|just\s|strictly\s)?(?:under|below|above|over|between|beyond)|(?<![\d)}] )over",
    "exceed exceeds up ruled rule excluding except": r"exceeds?|up\sto|ruled?\sout|excluding|except(?:\sfor)?",
    "bounded but": r"bounded\s(?:above\s|below\s)?by|all\sbut",
    "twice half double thrice": r"(?:nearly\s|almost\s|about\s)?(?:twice|half|double|thrice)",
    "nearly almost close guess perhaps maybe possibly probably": r"nearly|almost|close\sto|guess(?:\sis)?|perhaps|maybe|possibly|probably",
    "not isn't": r"(?:is|are|was|be)\snot|isn't",
    "bound": r"(?:upper|lower)\sbound\s[^.]*\b(?:is|of)",
    "might may could": r"(?:might|may|could)\s(?:also\s|well\s|even\s)?be",
    # and in the other languages whose phrases count
    "mas menos menor mayor moins plus mais": r"m[áa]s\sde|menos\sde|(?:al|por\slo|pelo)\smenos|como\sm[áa]ximo|mayor\sque|menor\sque|(?:plus|moins)\sde|au\s(?:moins|plus)|mais\sde",
    "als mindestens nicht almeno piu meno": r"(?:mehr|weniger|gr[öo](?:ß|ss)er|kleiner|h[öo]her)\sals|mindestens|h[öo]chstens|nicht|almeno|pi[ùu]\sdi|meno\sdi",
    "менее": r"не\s(?:менее|более)|больше|меньше",
}
_BOUND_WORDS = frozenset(" ".join(_BOUNDS).split())
_BOUND = re.compile(
    rf"\b(?=[^\W\d_])(?:{'|'.join(_BOUNDS.values())})\s(?:[a-z]{{1,8}}\s)?[\s$*({{\\]*\Z"
    r"|(?:至少|至多|最少|最多|不到|不足|不少于|不多于|不超过|超过|多于|少于|大于|小于|大于等于|小于等于|不小于|不大于|不是|不等于|接近|将近|不止)[\u4e00-\u9fff]{0,2}[\s$]*\Z",
    re.IGNORECASE,
)
_SHORTEST_HEDGE = 2
_FUNCTION = re.compile(
    r"\b(?:(factor)|square|cube|root|reciprocal|double|half|third|quarter|multiple|opposite)\sof\s[\s$*({\\]*\Z"
)
_OTHER = re.compile(
    rf"(?:\b[a-zA-Z]\s?=\s?)?(?<![\w.,/^]){_NUMBER}\$?\*{{0,2}}(?:(?:\s[a-zA-Z]+)?,?\s(?:or|to|o|ou|oder)\s(?:maybe\s|perhaps\s|possibly\s|even\s|also\s)?|\sand\s)"
    r"(?:[a-zA-Z]\s?=\s?)?[\s$*({\\]*\Z"
)
_OR_BEHIND = re.compile(
    rf"[\s$*)}}]*(?:,?\s*(?:或(?:者)?|or|o|ou|oder|and\s(?:maybe|perhaps|possibly))\s?(?<![a-z])(?:maybe\s|perhaps\s|possibly\s|even\s|(?:more|less|fewer|higher|lower|greater|so|something)\b)?\$?(?:{_NUMBER})?)"
)
_DOUBTED_BEHIND = re.compile(
    r"[\s$*)}]{0,4}\?(?=[\s*]|\Z)|[\s$*)}]*(?:\s[a-z]{1,12}){0,2}?,?\s(?:if|unless|depending|provided|assuming)\b|[^.\n]{0,60}\bnot\s(?:sure|certain)\b"
)
_JOINING = frozenset(("or", "to", "and", "o", "ou", "oder", "maybe", "perhaps", "possibly", "even", "also"))


def hedged(text: str, at: int, found: str, *, said: bool = False) -> str | None:
    """What a value is with what hedges it: "at least 4", "3 or 4", "4 or more"; None where nothing does.

    Of a value that is `said` by "the answer is" nothing before those words counts.
    """
    before, end = text[max(0, at - _ABOUT) : at], at + len(found)
    if " " not in before and before.isascii() and len(text) - end < _SHORTEST_HEDGE:
        return None
    if not (said and before.rstrip(" $*({\\").endswith(_LEADS)):
        hedge = _hedged_before(before, found)
        if hedge is not None:
            return hedge
    if text[end : end + 1] in ("", "."):
        return None  # as most answers end
    if said and _DOUBTED_BEHIND.match(text, end) is not None:
        return f"maybe {found}"
    behind = _OR_BEHIND.match(text, end, end + _ABOUT)
    if behind is not None and behind[0].strip(" $*)},") not in ("or", ""):
        return found + behind[0].rstrip()
    return None


_LEADS = (" is", " are", ":", "=")


def _hedged_before(before: str, found: str) -> str | None:
    words = before.lower().replace("*", " ").rstrip(" $({\\").split()
    if (not _BOUND_WORDS.isdisjoint(words) or not before.isascii()) and (bound := _BOUND.search(before)) is not None:
        return f"{' '.join(bound[0].strip(' $*({').split())} {found}"
    if words[-1:] == ["of"] and (function := _FUNCTION.search(before)) is not None:
        return f"{found} \\text{{times}}" if function[1] else f"{function[0]}{found}"
    if _DIGIT.search(before) is None:
        return None
    last = words[-1].rstrip(",") if words else ""
    other = _OTHER.search(before) if last in _JOINING or last[-1:] == "=" else None
    if other is not None:
        return (other[0] + found).replace("$", "").replace("*", "")
    return None
