"""Answers that are words, choice letters or digits in a base: recognised and brought to one spelling."""

from __future__ import annotations

import re

from grpo_rewards_plugins.answers.phrases import VERDICTS

from .statements import same_content
from .vocabulary import WEEKDAYS

_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|math(?:rm|bf|it|sf|tt)|mbox|operatorname|emph|hbox|boldsymbol|bf|rm)\s*(?=\{)"
)
_SPACING = re.compile(r"\\(?:left|right|quad|qquad|[,;:! ])|~|[$*{}]|\\$")
_EDGE = " .,;:!?\"'`()[]"
_ARTICLES = re.compile(r"\b(?:the|an?)\s+")
_SPACE = re.compile(r"\s+")
_STOP = re.compile(r"(?<=[^\W\d_])\.(?=\s|$)")
_INDEX = re.compile(r"(?<=[a-zA-Z])_(?=\d)")
_HYPHEN = re.compile(r"(?<=[^\W\d_]) ?-(?=[^\W\d_])")
_PLURAL = re.compile(r"(?<=[^\W\d_s]{3})s\b")
_LETTERS = re.compile(
    r"[^\W\d_]{3,}(?:[\s'-]+[^\W\d_]+)*|(?i:no|yes|am|pm|on|up|it|he|we|so|if)|[^\W\d_]+(?:[\s'-]+[^\W\d_]{2,})+"
)
_CHOICE = re.compile(r"\(?\s*([A-Za-z])\s*(?:\)|(?=[.:)]|$))[.:)]?\s*$")
_CALLED = re.compile(
    r"^(?:the\s+|both\s+)?(?:correct\s+)?(?:option|choice|answer|point|figure|graph|statement|plan|box|line|curve|quadrant)s?\b\s*(?:is|are|:)?\s*|^both\s+(?=[(A-Z])",
    re.IGNORECASE,
)
_CORRECT = re.compile(r"(?<=[A-J)]) is (?:the )?(?:correct|right)(?: (?:answer|option|choice|one))?\.?$")
_CHOICES = re.compile(r"\(?[A-J]\)?(?:\s*(?:,|;|&|and|or|,\s*and|,\s*or)\s*\(?[A-J]\)?){1,9}")
# in the alphabet's order, so that no letter stands twice and no other word is one
_CHOICES_GLUED = re.compile(r"(?=[A-J]{2,10}$)A?B?C?D?E?F?G?H?I?J?")
# "A) or B" and "A) + 1" are no choice with its text
_CHOICE_LEAD = re.compile(
    r"(?:\(?\s?([A-Z])\s?(?:\)|[.:])(?!.*\bor\s\(?[A-Z][).:])|\(?([a-j])\)(?!.*\([a-j]\)))\s+(?!(?:or|and|nor|not|but|if)\b|[-+*/=^&,;<>])\S"
)
_BASED = re.compile(
    r"\(?\s*([0-9A-Za-z ]{1,200}?)\s*\)?\s*(?:_\s*\(?\s*(?:base[\s-]*)?([0-9]{1,2}|[a-z]+)\s*\)?"
    r"|\(?\s*(?:in\s+)?base[\s-]*([0-9]{1,2}|[a-z]+)\s*\)?)"
)
_PREFIXED = re.compile(r"0(?:b([01]{1,200})|x([0-9A-Fa-f]{1,60})|o([0-7]{1,100}))")
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
          "eleven": 11, "twelve": 12, "sixteen": 16}  # fmt: skip
# sixty digits at most: a period of a million would make a fraction of as many
_BAR = re.compile(
    r"(\d{0,60})\.(\d{0,60})(?:\\overline\s*\{(\d{1,60})\}|\\(?:dot|bar)\s*\{(\d)\}(?:(\d{0,60})\\(?:dot|bar)\s*\{(\d)\})?)(?:\\ldots|\\dots|\.\.\.)?"
)
_PARENTHESES = re.compile(r"(?<![\w.])(\d{1,60})\.(\d{0,60})\((\d{1,60})\)(?![\w(])")
_BARE_BAR = re.compile(r"(?<=[\d.])\\(?:overline|bar|dot)\s*(\d)")
_DOTS = re.compile(r"(?<![\d.])(\d{0,40})\.(\d{1,60})\s*(?:\\ldots|\\dots|\\cdots|\.\.\.)")


_CYCLE = re.compile(r"\(\s?(\d{1,2}(?:(?:\s|~|\\[ ,;:])\s?\d{1,2}){0,19})\s?\)")
_CYCLES = re.compile(rf"(?:{_CYCLE.pattern}(?:\s|\\[ ,;]|\\cdot\s|\\circ\s)?){{1,12}}")
_CYCLES_GLUED = re.compile(r"(?:\((?!\d*(\d)\d*\1)[1-9]{1,9}\)\s?){1,6}")


def permutation(text: str, *, glued: bool = False) -> list[tuple[int, ...]] | None:
    """Cycles with spaces between their numbers (``(1 2)(3 4)``), with `glued` also ``(12)(34)``: each from its smallest number on,
    in one order where they have no number in common; None for any other text.
    """
    if text[:1] != "(":
        return None
    if _CYCLES.fullmatch(text) is not None and any(" " in cycle or "\\" in cycle for cycle in _CYCLE.findall(text)):
        cycles = [[int(number) for number in re.findall(r"\d+", cycle)] for cycle in _CYCLE.findall(text)]
    elif glued and _CYCLES_GLUED.fullmatch(text) is not None:
        cycles = [[int(number) for number in cycle] for cycle in re.findall(r"\d+", text)]
    else:
        return None
    if any(len(set(cycle)) < len(cycle) for cycle in cycles):
        return None
    turned = [tuple(cycle[(at := cycle.index(min(cycle))) :] + cycle[:at]) for cycle in cycles if len(cycle) > 1]
    numbers = [number for cycle in turned for number in cycle]
    return sorted(turned) if len(set(numbers)) == len(numbers) else turned


def words(text: str) -> str:
    """One spelling of an answer in words: without typesetting, case, edge punctuation and articles."""
    plain = _SPACING.sub(" ", _TEXT.sub("", text))
    plain = _INDEX.sub("", plain) if "_" in plain else plain
    plain = _SPACE.sub(" ", _HYPHEN.sub(" ", _SPACE.sub(" ", _STOP.sub("", plain)))).strip(_EDGE).casefold()
    return _ARTICLES.sub("", plain)


_SAME = {
    "dne": "does not exist", "infinitely many solutions": "infinitely many", "infinite solutions": "infinitely many",
    "infinite number of solutions": "infinitely many", "infinite": "infinitely many", "infinitely many answers": "infinitely many",
    "none exist": "none", "none of them": "none", "none of these": "none", "nothing": "none", "divergent": "diverges", "convergent": "converges",
    "does not converge": "diverges", "doesn't converge": "diverges", "not convergent": "diverges", "does not diverge": "converges",
    "first quadrant": "quadrant i", "second quadrant": "quadrant ii", "third quadrant": "quadrant iii", "fourth quadrant": "quadrant iv",
    "1st quadrant": "quadrant i", "2nd quadrant": "quadrant ii", "3rd quadrant": "quadrant iii", "4th quadrant": "quadrant iv",
    "no real roots": "no real solutions", "no real root": "no real solutions", "no real solution": "no real solutions",
    "not defined": "undefined", "always true": "always", "never true": "never", "sometimes true": "sometimes",
    "one to one": "injective", "1 1": "injective", "onto": "surjective", "one to one and onto": "bijective",
    "cannot be determined": "not enough information", "can't be determined": "not enough information",
}  # fmt: skip


def same_words(one: str, other: str) -> bool:
    """Are two answers in words one?  A plural is its singular: ``no solution`` and ``no solutions``."""
    a, b = (
        _SAME.get(said, said)
        for said in (_SUBJECT.sub("", _EXISTENCE.sub("", _NO_SUCH.sub("none", words(text)))) for text in (one, other))
    )
    if {a, b} == {"no", "none"} and any(_NO_SUCH.match(words(text)) for text in (one, other)):
        return True
    if any(char.isdigit() for char in a) and _BRACKET.findall(one) != _BRACKET.findall(other):
        return False
    if (a in b or b in a) and _KIND.sub("", a) == _KIND.sub("", b):
        return True
    if _VERDICT_OF.get(a) == b or _VERDICT_OF.get(b) == a:
        return True
    if (kind := _KIND.search(a)) is not None and b.endswith(kind[0]) and sorted(a.split()) == sorted(b.split()):
        return _DENIES.search(a) is None  # "right isosceles triangle"
    if a.startswith("neither") and b.startswith("neither"):  # "neither even nor odd"
        return "neither" in (a, b) or sorted(a[8:].split(" nor ")) == sorted(b[8:].split(" nor "))
    if a == b or _without_reason(a, b) or _abbreviated(a, b) or _in_any_order(a, b) or _answers(a, b) or _answers(b, a):
        return True
    if len(a) > 4 and len(b) > 4 and _PLURAL.sub("", a) == _PLURAL.sub("", b):
        return True
    if (_VERDICT_FIRST.match(a) is None) != (_VERDICT_FIRST.match(b) is None):
        return same_content(_VERDICT_FIRST.sub("", a), _VERDICT_FIRST.sub("", b))  # "no, they are not independent"
    return same_content(a, b) or (_verdict(a) or a) == (_verdict(b) or b)


def _verdict(said: str) -> str | None:
    """``true`` or ``false`` where a sentence says nothing else: ``yes, the statement is true``."""
    found = {_VERDICT_OF.get(word, word) for word in said.replace(",", " ").split() if word not in _ABOUT_A_STATEMENT}
    return found.pop() if len(found) == 1 and found <= {"true", "false"} else None


_VERDICT_FIRST = re.compile(r"^(?:yes|no),? (?:it|they|these|this) (?:is|are) (?=\w)")
_ABOUT_A_STATEMENT = frozenset(
    ("statement", "claim", "assertion", "proposition", "conjecture", "it", "this", "is", "given", "answer")
)


def _without_reason(one: str, other: str) -> bool:
    """Does one say no more than by which test or theorem it is so?"""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and _REASON.fullmatch(long, len(short)) is not None


_REASON = re.compile(
    r" (?:by|using|from|according to) [^,;]{0,60}\b(?:test|theorem|criterion|rule|law|lemma|principle)|,? (?:because|since|due to) .+"
)


def _abbreviated(one: str, other: str) -> bool:
    """``sat`` and ``saturday``."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and long in WEEKDAYS and long.startswith(short)


_NO_SUCH = re.compile(r"^no such \w+(?: exists?)?$")
_VERDICT_OF = {"yes": "true", "no": "false"}
_EXISTENCE = re.compile(
    r"^there (?:is|are|exists?) (?=(?:no|infinitely) )|^(?:this|it|they|these) (?:is|are) (?=not )|(?<=solution) exists$|(?<=solutions) exist$"
    r"|(?<=first) one$|(?<=second) one$|(?<=third) one$"
)


_BRACKET = re.compile(r"[\[\]()]")
_SUBJECT = re.compile(
    r"^(?:series|sequence|integral|limit|function|graph|statement|claim|argument|sentence|relation|system|reaction|process|solution|matrix|set|map|mapping"
    r"|operator|group|ring|triangle|quadrilateral|shape|data|distribution|correlation|graph|curve|number|vectors|lines|events|slope|expression|value|it)"
    r" (?:(?:is|are|will be|was) )?(?!of |that |not )(?=\w)|^(?:for )?(?:all|every|any) (?=\w+ )|(?<=integers) [a-z](?= |$)|(?<=numbers) [a-z](?= |$)"
    r"|^(?:(?:for )?all )?[a-z] (?:is |are )?(?=(?:even|odd|prime|composite)$)|(?<=\beven) [a-z]$|(?<=\bodd) [a-z]$|^only | only$"
)
_KIND = re.compile(
    r"(?<=\w) (?:triangle|point|line|number|function|series|sequence|integer|angle|matrix|graph|relation|event|color|colour|error|geometry|shape|distribution"
    r"|structure|molecule|bond|reaction|process)s?$"
)


def _answers(short: str, sentence: str) -> bool:
    """Does a sentence say no more than a verdict or a name does: ``yes, it is prime``, ``bob is the oldest``?"""
    if len(short) < 2:
        return False
    said = sentence if sentence.endswith(short) else _KIND.sub("", sentence)
    if said.endswith(f" {short}") and short.replace(" ", "").isalpha():
        # "the first bead is red", "f is an odd function"
        return _SUBJECT_IS.fullmatch(said, 0, len(said) - len(short)) is not None and _DENIES.search(said) is None
    if not sentence.startswith(short):
        return False
    if short in VERDICTS:
        denied = _OTHERWISE if short in ("no", "false") else _DENIES
        return denied.search(sentence, len(short)) is None and _VERDICT_REASON.match(sentence, len(short)) is not None
    return _DENIES.search(sentence, len(short)) is None and _SUPERLATIVE.match(sentence, len(short)) is not None


_VERDICT_REASON = re.compile(r"\s*[,.;:]\s")
_SUPERLATIVE = re.compile(
    r"\s(?:is|was|has|finished|came|stands)\s(?:\w+est|(?:first|last|second|third)|most \w+)(?: \w+)?$|\shas (?:most|fewest|least|\w+est) \w+$"
    r"|\s(?:(?:always |will )?wins?(?: the game)?|has (?:an? )?winning strategy)$"
)
_SUBJECT_IS = re.compile(
    r"(?!.*\b(?:opposite|converse|negation|inverse|contrary|complement|if|when|may|might|could|would|should|nothing|none|nobody)\b)"
    r"(?:\S+ ){1,8}(?:is|are|was|becomes?|remains?|(?:falls|lands) on) (?:an? |the )?"
)
_OTHERWISE = re.compile(r"\b(?:yes|true|wrong|incorrect|or|but|maybe|perhaps)\b")
_DENIES = re.compile(r"\b(?:not|cannot|never|wrong|incorrect|no|yes|true|false|neither|nor|or|and|but)\b|n't\b")


def _in_any_order(one: str, other: str) -> bool:
    """``Bob and Alice`` and ``Alice, Bob``: the same names."""
    mine, theirs = (sorted(part for part in _AND.split(text.removeprefix("both ")) if part) for text in (one, other))
    return len(mine) > 1 and mine == theirs and " or " not in one


_AND = re.compile(r"\s*(?:[,;&]|\band\b)\s*")


def is_words(text: str) -> bool:
    """Is it letters alone, of a length at which they are a word rather than a product of variables?"""
    plain = _SPACING.sub(" ", _TEXT.sub("", text)).strip(_EDGE)
    return len(plain) <= 400 and _LETTERS.fullmatch(plain) is not None


def choice(text: str, *, lead: bool = False) -> str | None:
    """The choice letter that a text is (with `lead`: or begins with), in upper case."""
    if len(text) > 200:
        return None
    plain = _CALLED.sub("", _SPACING.sub(" ", _TEXT.sub("", text)).strip(), count=1)
    plain = _CORRECT.sub("", plain)
    match = _CHOICE.fullmatch(plain) or (_CHOICE_LEAD.match(plain) if lead else None)
    return match[match.lastindex or 1].upper() if match else None


def choices(text: str, *, glued: bool = False) -> frozenset[str] | None:
    """Several choice letters: ``A, C``, ``A and C`` and, with `glued`, ``AC``; of alternatives the word "or" is one more."""
    if len(text) > 120:
        return None
    plain = _CALLED.sub("", _SPACING.sub(" ", _TEXT.sub("", text)).strip(), count=1)
    if _CHOICES.fullmatch(plain) is None and not (glued and _CHOICES_GLUED.fullmatch(plain)):
        return None
    return frozenset(re.findall(r"[A-J]|or", plain))


def labels(text: str) -> frozenset[str] | None:
    """Numbers of statements: ``①③④``, ``(1)(3)(4)``, ``(1), (3)``, with or without separators; None for one alone."""
    if len(text) > 200 or not ("circled" in text or text[:1] == "("):
        return None
    plain = _SPACING.sub(" ", _TEXT.sub("", CIRCLED.sub(r"(\1)", text)))
    if _LABELS.fullmatch(plain) is None:
        return None
    return frozenset(re.findall(r"\d+", plain))


CIRCLED = re.compile(r"\\(?:text)?circled\s*\{?\s*(\d{1,2})\s*\}?")
_LABELS = re.compile(r"\s*\(\d{1,2}\)(?:\s*(?:,|;|and|&)?\s*\(\d{1,2}\)){1,9}\s*")
_PLAIN_LABELS = re.compile(r"\s*\d{1,2}(?:\s*(?:,|;|and|&)\s*\d{1,2}){1,9}\s*")


def same_labels(one: str, other: str) -> bool | None:
    """Do two texts name the same statements?  The brackets or circles of one side may be left out; None where neither is such a list."""
    mine, theirs = labels(one), labels(other)
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        bare, names = (one, theirs) if mine is None else (other, mine)
        plain = _SPACING.sub(" ", _TEXT.sub("", bare))
        if _PLAIN_LABELS.fullmatch(plain) is None:
            return False if "circled" in one + other and plain.strip().isdigit() else None
        return frozenset(re.findall(r"\d+", plain)) == names
    return mine == theirs


def based_digits(text: str) -> tuple[str, int] | None:
    """Digits and base of ``204_5``, ``(1010)_2``, ``AB_{16}``, ``204 base 5``, ``0x1F``; None for a name with an index."""
    if len(text) > 300 or not ("_" in text or "base" in text or text[:1] == "0" or text[:7] == "\\text{0"):
        return None
    if (prefixed := _PREFIXED.fullmatch(text.removeprefix("\\text{").removesuffix("}"))) is not None:
        found = next(group for group in prefixed.groups() if group)
        return found.lstrip("0").upper() or "0", 2 if prefixed[1] else 16 if prefixed[2] else 8
    plain = _TEXT.sub("", text.replace("\\left", "").replace("\\right", ""))
    match = _BASED.fullmatch(_SPACING.sub(" ", plain).strip())
    if match is None:
        return None
    digits, name = match[1].replace(" ", ""), match[2] or match[3]
    base = _BASES.get(name, 0) if name.isalpha() else int(name)
    if not 2 <= base <= 36 or not digits or any(int(c, 36) >= base for c in digits):
        return None
    if digits.isalpha() and digits.islower() and not (base == 16 and len(digits) > 1):
        return None  # a term of a sequence
    digits = digits.upper()
    if digits.isalpha() and base < 11:
        return None
    return digits.lstrip("0") or "0", base


def division(text: str) -> tuple[int, int] | None:
    """Quotient and remainder of ``7 R 2``, ``7\\text{ remainder }2``, ``7 ... 2``."""
    if len(text) > 60 or not text[:1].isdigit():
        return None
    match = _DIVISION.fullmatch(_SPACING.sub(" ", _TEXT.sub("", text)))
    return (int(match[1]), int(match[2])) if match is not None else None


_DIVISION = re.compile(
    r"(\d{1,20})\s*,?\s*(?:[Rr](?:em)?\.?|(?:with )?(?:an? )?remainder(?: of)?|余|\.{3}|\\[cl]?dots)\s*(\d{1,20})\s*"
)


def repeating(text: str) -> str:
    """The text with repeating decimals (``0.\\overline{3}``, ``0.(3)``, ``0.333...``) as exact fractions."""
    if "\\overline" in text or "\\dot" in text or "\\bar" in text:
        text = _BAR.sub(_bar, _BARE_BAR.sub(r"\\overline{\1}", text))
    if "(" in text and "." in text:
        text = _PARENTHESES.sub(lambda m: _fraction(m[1], m[2], m[3]), text)
    if "..." in text or "dots" in text:
        text = _DOTS.sub(_dots, text)
    return text


def _bar(match: re.Match[str]) -> str:
    if match[3]:
        return _fraction(match[1], match[2], match[3])
    return _fraction(match[1], match[2], match[4] + (match[5] or "") + (match[6] or "") if match[6] else match[4])


def _fraction(whole: str, fixed: str, period: str) -> str:
    below = (10 ** len(period) - 1) * 10 ** len(fixed)
    above = int((whole or "0") + fixed + period) - int((whole or "0") + fixed)
    return f"\\frac{{{above}}}{{{below}}}"


def _dots(match: re.Match[str]) -> str:
    """``0.333...``: the shortest period that the digits show at least twice (three times where it is one digit)."""
    digits = match[2]
    for size in range(1, len(digits) // 2 + 1):
        period = digits[-size:]
        times = 0
        while digits[: len(digits) - times * size].endswith(period):
            times += 1
        if times >= (3 if size == 1 else 2):
            return _fraction(match[1], digits[: len(digits) - times * size], period)
    return match[0]
