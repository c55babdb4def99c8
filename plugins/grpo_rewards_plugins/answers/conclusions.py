"""What a sentence says in words: "so the ball is blue", "因此无解"."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from .formulas import COUNTS

BECOMES = r"is|are|was|becomes?|remains?|(?:falls|lands) on"
"""The verbs by which a sentence says in words what something is."""
UNREAL = "opposite|converse|negation|inverse|contrary|if|when|may|might|could|would|should|nothing|none|nobody"
"""Words of a sentence that does not say that it is so."""

_LONGEST_SENTENCE = 300
_DIGIT = re.compile(r"\d")


def complement(sentence: str) -> str | None:
    """What a sentence says at its end that something is or has, in a few words or a number: "The sum is 15", "it is a **Monday**",
    "the ratio is one half", "there are six of them"; None where it is doubted or denied, or says something of the solution itself.
    """
    if len(sentence) > _LONGEST_SENTENCE:
        return None
    match = _COMPLEMENT.match(sentence.replace("*", "").replace("$", ""))
    if match is None or DENIED.search(match["subject"]) is not None:
        return None
    said = match["said"]
    if (number := _NUMBER_IN_WORDS.match(said)) is not None:
        return number[0]
    words = said.split()
    if len(words) > 1 and _DIGIT.search(said) is not None:
        return None
    if words[0].lower() in ABOUT_AN_ANSWER - {"right"} or not _SAYS_NOTHING.isdisjoint(word.lower() for word in words):
        return None
    return said


_COMPLEMENT = re.compile(
    r"(?P<subject>.*)\b(?:is|are|was|be|equals|has|have|on)\s*:?\s+(?:exactly\s|only\s)?(?:an?\s(?!half)|the\s)?(?P<said>[\w./%-]*\w%?(?: [a-z-]+){0,3})[.!]?\Z"
)
DENIED = re.compile(
    rf"\b(?:{UNREAL.replace('would', 'would(?! (?:choose|pick|select|go))')}|not|cannot|never|neither|nor|unless|wrong|incorrect|false(?= that)|impossible|unlikely|rule out"
    r"|perhaps|maybe|possibly|probably|likely|seems?|appears?|assume|suppose|guess|think)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a sentence that does not say that it is so, or not for certain."""
_WORDED = f"(?:an?|{'|'.join(sorted(COUNTS, key=len, reverse=True))}|(?:thir|for|fif|six|seven|eigh|nine)ty)"
_NUMBER_IN_WORDS = re.compile(
    rf"(?!an? (?!half|third|quarter|hundred|thousand)){_WORDED}(?:[- ](?:{_WORDED}|hundred|thousand|and|half|halves|thirds?|quarters?|(?:four|fif|six|seven|eigh|nin|ten|twelf)ths?)\b)*(?![\w-])(?! or\b)"
)


_LEAD = re.compile(
    r"[\s*]*(?:(?:[Tt]herefore|[Tt]hus|[Hh]ence|[Ss]o|[Ff]inally|[Cc]onsequently|[Aa]ccordingly|[Ii]n (?:conclusion|summary)|[Oo]verall|[Cc]onclusion|[Yy]es|[Ii]t follows that"
    r"|[Ww]e (?:conclude|see|find)(?: that|:)|[Bb]ut(?: here)?|[Hh]ere|[Tt]his (?:means|shows|implies) that)\b[\s,:*]*)*"
)
_BEHIND_CLAUSE = re.compile(
    r"(?:,?\s(?:by(?!\s\$?\d)|since|because|as|due to|which|whose|according to|so that|using|from(?![^.\n]*\bby\s\$?\d))\s|,\s(?:and|not|\w+ days?)\s|\s(?:in general|as (?:required|claimed|desired))|\s\().*$"
)
_OTHERWISE = re.compile(
    r"\b(?:either|or|and|but|except|only if|whether|want|need|ask(?:s|ed)?|let|find|show|prove|because|since|although|though|while|before|after|as)\b",
    re.IGNORECASE,
)
_WORD = r"[^\W\d_][^\W\d_'’-]*(?:[-'’][^\W\d_]+)*"
_CLAUSE = re.compile(
    rf"(?:there\s(?:is|are|exists?)\s(?P<none>(?:no|infinitely many)\s{_WORD}(?:\s{_WORD}){{0,2}})"
    rf"|(?:(?:the|this|that)\s)?(?:{_WORD}\s){{1,4}}(?:has|have)\s(?:(?P<has>(?:no|infinitely many)\s{_WORD}(?:\s{_WORD}){{0,2}})|the\s(?:most|fewest|least|[a-z]+est)\s{_WORD})"
    rf"|(?:(?:the|this|that)\s)?(?:{_WORD}\s){{1,5}}(?P<not>do(?:es)? not exist|cannot be determined)"
    rf"|(?:{_WORD}\s){{1,6}}(?:is|are)\s(?P<neither>neither\s{_WORD}\snor\s{_WORD})"
    rf"|(?:(?:the|this|that|these|our|a|an)\s)?(?:(?:{_WORD}|\d+(?:st|nd|rd|th)|\$(?=[^$]*[a-zA-Z])[^$=<>]{{1,30}}\$|△\w+)\s){{1,8}}(?:{BECOMES})\s"
    rf"(?P<said>(?:(?:an?|the|on)\s)?{_WORD}(?:\s{_WORD}){{0,3}})"
    rf"|(?:(?:the|this|that)\s)?(?:{_WORD}\s){{0,3}}{_WORD}\s(?P<verb>(?:con|di)verges?(?:\s[a-z]+ly)?|exists?|(?:does|do) exist)"
    r")[.!]?",
    re.IGNORECASE,
)


def stated(sentence: str) -> str | None:
    """The clause in words that a sentence ends in, and concludes by: "the graph is a hyperbola", "the series diverges"; None for
    one that is doubted or denied, or that says something of the solution itself ("we are done").
    """
    if len(sentence) > _LONGEST_SENTENCE or _FINITE.search(sentence) is None:
        return None
    plain = _BEHIND_CLAUSE.sub("", sentence[_LEAD.match(sentence).end() :].rstrip()).replace("*", "")  # type: ignore[union-attr]
    for clause in dict.fromkeys((plain, plain[plain.rfind(", ") + 2 :] if ", " in plain else plain)):
        clause = clause[_LEAD.match(clause).end() :]  # type: ignore[union-attr]
        last = clause.rstrip(".!")[-1:]
        if last.isdecimal() or not last.isalnum() or (match := _CLAUSE.fullmatch(clause)) is None:
            continue
        if (verdict := _VERDICT.match(sentence)) is not None:
            return verdict[1]
        if (denial := match["has"] or match["not"] or match["neither"]) is not None:
            return denial
        if DENIED.search(clause) is not None or _OTHERWISE.search(clause) is not None:
            return None
        words = (match["said"] or "").lower().removeprefix("the ").removeprefix("a ").split()
        if words and (
            len(words[-1]) == 1
            or not _SAYS_NOTHING.isdisjoint(words)
            or words[0] in ABOUT_AN_ANSWER - {"right"}
            or words[-1] in ABOUT_AN_ANSWER
        ):
            return None
        return (match["none"] or clause).rstrip(".!")
    return None


_FINITE = re.compile(rf"\s(?:{BECOMES}|has|have|cannot|(?:con|di)verges?|exists?)\b")
_VERDICT = re.compile(
    r"(?:[Ww]e (?:conclude|find)(?: that)?:? )?(?:[Ss]o|[Tt]herefore|[Tt]hus|[Hh]ence)?[\s,:*]*([Yy]es|[Nn]o),\s"
)
# "we are done", "there are six of them"
_SAYS_NOTHING = (
    frozenset(
        "done proved proven shown solved finished satisfied required desired needed requested verified follows answer solution".split()
    )
    | COUNTS
)
ABOUT_AN_ANSWER = frozenset(
    "clear correct incorrect reasonable obvious obviously right wrong unique simple below above found given known consistent verified "
    "confirmed complete approximately about roughly exactly simply just therefore thus hence then now still also equal equivalent the "
    "that this these those what which in at on to of as it its we our follows expressed written called denoted "
    "obtained based correctly indeed usually probably likely possibly perhaps maybe between at least most more less "
    "sin cos tan log ln exp sqrt pi max min gcd lcm mod either following same".split()
)
"""Words that only speak about an answer."""


def han_statement(sentence: str) -> str | None:
    """What a Chinese sentence states: the amount in its clause that has one ("小明还剩 21 个苹果，比原来少了 14 个"), the total, or each of
    several amounts; else what it says at its end that something is; None for one that is denied, doubted or in formulas.
    """
    if len(sentence) > _LONGEST_SENTENCE:
        return None
    clauses = [clause for clause in _HAN_COMMA.split(_HAN_LEAD.sub("", sentence.strip(" *。.!！"))) if clause]
    amounts = [clause for clause in clauses if _DIGIT.search(clause) is not None]
    if amounts and "$" not in sentence and "\\" not in sentence:
        if amounts[-1] is not clauses[-1] and (none := _HAN_NONE.fullmatch(clauses[-1])) is not None:
            return none[1]
        if _HAN_TOTAL.search(amounts[-1]) is not None:
            amounts = amounts[-1:]
        said = [_HAN_AMOUNT.fullmatch(clause) for clause in amounts if _HAN_ASIDE.match(clause) is None]
        found = [
            (one["each"] or "") + one["number"] + _HAN_REST.sub("", one["unit"]) for one in said if one is not None
        ]
        return ", ".join(found) if found and len(found) == len(said) else None
    match = _HAN_IS.fullmatch(clauses[-1]) if clauses else None
    if match is None or _HAN_DOUBT.search(clauses[-1]) is not None:
        match = _HAN_NONE.fullmatch(clauses[-1]) if clauses else None
    return None if match is None else match[1]


_HAN_COMMA = re.compile(r"[,，;；]")
_HAN_LEAD = re.compile(r"^(?:(?:所以|因此|故|综上(?:所述)?|答|即|则|解|因而|从而|可知|可得)[\s:：,，]*)+")
_HAN = "(?:(?![不没非无或若])[\u4e00-\u9fffA-Za-z△∠])"
_HAN_AMOUNT = re.compile(
    rf"{_HAN}{{2,24}}?(?P<each>每(?:小时|分钟|秒钟?|天)(?:行驶?|走|跑|飞行?)?)?\s?[:：=]?\s?(?P<number>(?<!第)(?:\d+(?:年|个月|周|天|小?时|分|千米|米|元|角)零?){{0,2}}-?\d+(?:\.\d+)?(?:/\d+)?%?)"
    r"\s?(?P<unit>(?:(?![不没非无或若])[\u4e00-\u9fffA-Za-z/·²³°℃]){0,12})"
)
_HAN_TOTAL = re.compile(r"一共|总共|共[计有]|合计|^共")
_HAN_ASIDE = re.compile(r"(?:比|其中|如果|若|当|因为|由于|即|也就是|约|而不|不是|是原来)")
_HAN_REST = re.compile(r"(?:才|就|可以|能够?|以?后|左右|完成|的).*$")
_HAN_IS = re.compile(r"(?:.{0,80}[^不没非并])?[是为]\s?(?:[“\"‘'][^”\"’']{1,30}[”\"’']的)?([\u4e00-\u9fff①-⑳]{1,12})")
_HAN_NONE = re.compile(r"[^不能]{2,80}?([无没]有?(?:实数|实|整数|正整数)?[解根]|不存在)")
_HAN_DOUBT = re.compile(
    r"可能|或许|也许|如果|假如|若|是否|不是|并非|正确|成立|合理|唯一|可行|的[解根]$|所求|什么|多少|哪"
)
