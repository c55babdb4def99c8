"""What a sentence says in words ("so the ball is blue", "因此无解"), and what hedges a value.

A bound ("at least 4"), an alternative ("3 or 4") and a range belong to the value that they stand around, so that none of them is that
value.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from .formulas import COUNTS

BECOMES = r"is|are|was|becomes?|remains?|(?:falls|lands) on"
"""The verbs by which a sentence says in words what something is."""
UNREAL = "opposite|converse|negation|inverse|contrary|if|when|may|might|could|would|should|nothing|none|nobody"
"""Words of a sentence that does not say that it is so."""

_LONGEST_SENTENCE = 300
_LONGEST_LEAD = 2_000
_SHORT_LEAD = 20
_PLAIN_LEADS = frozenset(
    f"{mark}{so}{the}{final}"
    for mark in ("", "**", "### ")
    for so in ("", "So ", "So, ", "Thus ", "Thus, ", "Hence ", "Hence, ", "Therefore ", "Therefore, ")
    for the in ("", "the ", "The ")
    for final in ("", "final ", "Final ", "correct ")
)
# what a sentence supposes where a clause of it opens so, or of the mark itself; and what one clause of it doubts or denies
_LEAD_DOUBTS = re.compile(
    r"(?P<supposed>(?:(?<![a-z\d$] )|(?<=\bso )|(?<=\band )|(?<=\bbut )|(?<=\bthat ))\b(?:if|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|depending|wenn|falls|si"
    r"|without(?! (?:loss|(?:a )?doubt)\b)|had(?=[^.\n]* been\b))\b|\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine)(?=(?: that)?(?: [a-z]+){0,2} \Z)"
    r"|\b(?:perhaps|maybe|possibly|probably|likely|vielleicht|peut-être|quizás?|tal vez|talvez|forse|если)\b)"
    r"|\b(?:not(?! (?:hard|difficult|only)\b)|never|nobody|no (?:way|one|reason)|none|cannot|wrong|false|incorrect|impossible|unclear|unsure|guess(?:ed|ing)?|might|could"
    r"|(?-i:may)|(?<!no )(?<!without )(?<!without a )doubt|says|claims|claimed|rule[sd]? out|mistake|partial|intermediate|preliminary|interim|incomplete"
    r"|(?:check|verify|confirm|test)(?:s|ed|ing)?)\b|n['’]t\b|如果|若|假[设如]|也许|可能|或许|不确定",
    re.IGNORECASE,
)
# what is in each of these leads, but for letters outside of ASCII
_DOUBT_WORDS = frozenset(
    "if unless whether suppose supposing assume assuming imagine depending without perhaps maybe possibly probably likely had wenn falls vielleicht si "
    "quizas tal talvez forse not never nobody no none cannot wrong false incorrect impossible unclear unsure guess guessed guessing might could may "
    "doubt says claim claims claimed rule rules ruled mistake partial intermediate preliminary interim incomplete check checks checked checking verify "
    "verifying confirm confirms confirmed confirming test tests tested testing don't doesn't isn't can't won't wouldn't didn't wasn't couldn't shouldn't".split()
)
_TURNS = re.compile(
    r"\b(?:(?<!if )so|thus|hence|therefore|consequently|but|however|donc|entonces|also)\b|所以|因此", re.IGNORECASE
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
    if lead.isascii() and _DOUBT_WORDS.isdisjoint(lead.lower().replace(",", " ").replace("-", " ").split()):
        return True  # as nearly always
    lead = lead[max(lead.rfind("? "), lead.rfind("! ")) + 1 :]
    for match in _LEAD_DOUBTS.finditer(lead):
        rest = lead[match.end() :]
        if _TURNS.search(rest) is None and (
            match["supposed"] or _CLAUSES.search(rest) is None or _THAT.search(rest) is not None
        ):
            return False
    return True


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
_FACTOR = re.compile(r"\bfactor\sof\s[\s$*({\\]*\Z")
_OTHER = re.compile(
    rf"(?:\b[a-zA-Z]\s?=\s?)?(?<![\w.,/^]){_NUMBER}\$?\*{{0,2}}(?:(?:\s[a-zA-Z]+)?,?\s(?:or|to|o|ou|oder)\s(?:maybe\s|perhaps\s|possibly\s|even\s|also\s)?|\sand\s)"
    r"(?:[a-zA-Z]\s?=\s?)?[\s$*({\\]*\Z"
)
_LARGER = frozenset(
    "week weeks day days hour hours hr hrs h minute minutes min year years month months feet foot ft yard yards pound pounds lb lbs ° degree degrees km kg m".split()
)
# "3 hours and 20 minutes", "4 cats and 3 dogs", "5 ft 3 in": no part is all of it
_AMOUNT_BEFORE = re.compile(
    rf"(?<![\w.,/^])(?:{_NUMBER}\$?\s?(?:[a-zA-Z]+,?\sand\s|(?:{'|'.join(_LARGER)})(?:,\s|\s|(?=\d))"
    r"|(?:年|个月|星期|周|天|小?时|分|千米|米|千克|元|角)(?:零|又)?)[\s$*]*){1,3}\Z"
)
_ITS_UNIT = re.compile(
    r"[\s$*]*(?!(?:are|is|was|were|of|have|has|or|and|more|less|fewer|left|remain|[a-z]+ed)\b)([a-zA-Z′″'\"]+|分钟?|秒|厘米|角|小?时|天|克|米)"
)
_OR_BEHIND = re.compile(
    rf"[\s$*)}}]*(?:,?\s*(?:或(?:者)?|or|o|ou|oder|and\s(?:maybe|perhaps|possibly))\s?(?<![a-z])(?:maybe\s|perhaps\s|possibly\s|even\s|(?:more|less|fewer|higher|lower|greater|so)\b)?\$?(?:{_NUMBER})?)"
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
        hedge = _hedged_before(before, found, text, end)
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


def _hedged_before(before: str, found: str, text: str, end: int) -> str | None:
    words = before.lower().replace("*", " ").rstrip(" $({\\").split()
    if (not _BOUND_WORDS.isdisjoint(words) or not before.isascii()) and (bound := _BOUND.search(before)) is not None:
        return f"{' '.join(bound[0].strip(' $*({').split())} {found}"
    if "factor" in before and _FACTOR.search(before) is not None:
        return f"{found} \\text{{times}}"
    if _DIGIT.search(before) is None:
        return None
    last = words[-1].rstrip(",") if words else ""
    other = _OTHER.search(before) if last in _JOINING or last[-1:] == "=" else None
    if other is not None:
        return (other[0] + found).replace("$", "").replace("*", "")
    if (last == "and" or last in _LARGER or not last.isascii() or last[:1].isdigit()) and (
        (part := _AMOUNT_BEFORE.search(before)) is not None and (unit := _ITS_UNIT.match(text, end)) is not None
    ):
        return f"{part[0]}{found} {unit[1]}".replace("$", "").replace("*", "")
    return None


def concluded(sentence: str) -> str | None:
    """What a sentence says that something is, in one word or number at its end: "The sum is 15.", "So the ball is blue."."""
    match = _CONCLUDED.search(sentence) if len(sentence) <= _LONGEST_SENTENCE else None
    return None if match is None or match[1].lower() in ABOUT_AN_ANSWER else match[1]


_CONCLUDED = re.compile(r"^[A-Z][^.\n=]*\s(?:is|are|was|be|equals)\s*:?\s+[*$]*([\w./%-]*\w%?)[*$]*[.!]?$")


_LEAD = re.compile(
    r"[\s*]*(?:(?:[Tt]herefore|[Tt]hus|[Hh]ence|[Ss]o|[Ff]inally|[Cc]onsequently|[Aa]ccordingly|[Ii]n (?:conclusion|summary)|[Oo]verall|[Cc]onclusion|[Yy]es|[Ii]t follows that"
    r"|[Ww]e (?:conclude|see|find)(?: that|:)|[Bb]ut(?: here)?|[Hh]ere|[Tt]his (?:means|shows|implies) that)\b[\s,:*]*)*"
)
_BEHIND_CLAUSE = re.compile(
    r"(?:,?\s(?:by(?!\s\$?\d)|since|because|as|due to|which|whose|according to|so that|using|from(?![^.\n]*\bby\s\$?\d))\s|,\s(?:and|not|\w+ days?)\s|\s(?:in general|as (?:required|claimed|desired))|\s\().*$"
)
_DOUBTED = re.compile(
    rf"\b(?:{UNREAL}|not|cannot|never|neither|nor|unless|wrong|incorrect|perhaps|maybe|possibly|probably|likely|seems?|appears?"
    r"|assume|suppose|guess|think|either|or|and|but|except|only if|whether|want|need|ask(?:s|ed)?|let|find|show|prove|because|since|although|though|while|before|after|as)\b|n't\b",
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
        if _DOUBTED.search(clause) is not None:
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
