"""Equivalence: is an answer the gold?  A ladder of methods, cheapest first; the grade says which rung decided."""

from __future__ import annotations

import logging
import re
from itertools import count

from flint.utils.flint_exceptions import FlintError

from grpo_rewards.workers import WorkerTimeout

from .equivalence.numerals import grouped_list, same_numeral
from .equivalence.quantities import has_unit, rules
from .equivalence.second_readings import decide
from .equivalence.structures import matched_share
from .equivalence.values import NO_SMALL_INTEGER
from .grades import Grade, GradeCache
from .reading.calendar import clock, date, same_date, same_time
from .reading.chemistry import is_reaction, same_formula
from .reading.chinese import contradict
from .reading.clean import bare
from .reading.leads import OPTION, labelled_parts, without_lead, without_tail
from .reading.notations import named_set
from .reading.statements import paired, statement
from .reading.text_answers import (
    based_digits,
    choice,
    choices,
    division,
    is_words,
    permutation,
    same_labels,
    same_words,
    words,
)
from .reading.tokens import MAX_CHARACTERS
from .reading.tree import Node, ParseError, free, walk
from .reading.unit_spellings import unit_behind
from .symbolic import decide_by_sympy
from .symbolic.wire import packed, symbolic
from .texts import Reading, read, second_reading

__all__ = ["Grade", "Reading", "grade", "read", "share", "unreadable", "with_unit"]

# what reading and comparing hostile texts may raise
_TROUBLE = (FlintError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
_MEMORY = 32 << 20  # bytes of grades that are kept
_MISSING = frozenset({"nan", "null", "n/a"})  # not "none", which may answer "which of these?"
_LONGEST_MISSING = max(map(len, _MISSING))


def _missing(gold: str) -> str | None:
    if not gold.strip():
        return "it is empty"
    if len(gold) <= _LONGEST_MISSING and gold.lower() in _MISSING:
        return "tables write that where nothing is there"
    return None


def unreadable(gold: Reading) -> str | None:
    """Why nothing can be graded against a gold, or None: it is empty, or neither mathematics nor words."""
    if (problem := _missing(gold.text)) is not None:
        return problem
    if (
        gold.numeral is not None
        or is_words(gold.text)
        or based_digits(gold.text)
        or clock(gold.text)
        or date(gold.text)
        or permutation(gold.text)
        or is_reaction(gold.text)
    ):
        return None
    tree = gold.tree
    if isinstance(tree, Node):
        return None
    if (option := OPTION.match(gold.text)) is not None:
        return unreadable(Reading(gold.text[option.end() :]))
    if (parts := labelled_parts(gold.text)) is not None:
        return next((why for part in parts if (why := unreadable(Reading(part))) is not None), None)
    if len(gold.text) > MAX_CHARACTERS:
        return str(tree)
    plain = words(gold.text)
    if "\\" not in plain and any(c.isalpha() for c in plain):
        return None  # words with marks in them: compared as text
    if (mixed := statement(gold.text)) is not None:
        return next((why for piece in mixed.formulas if (why := unreadable(Reading(piece))) is not None), None)
    return str(tree)


def with_unit(gold: Reading, answer: str, behind: str) -> str:
    """An answer with the unit that stands behind its box or its dollars, where one tells it from the reference, and it has none."""
    unit = unit_behind(behind)
    if not unit or not (unit == "\\%" or _measured(gold)) or _measured(Reading(answer)):
        return answer
    return f"{answer} {unit}"


def _measured(reading: Reading) -> bool:
    """Has a text, or the last part of a list ("1 hour and 40"), a unit, a percent sign or a currency?"""
    if reading.numeral is not None:
        return bool(reading.numeral.mark)
    tree = reading.tree
    if not isinstance(tree, Node):
        return False
    return has_unit(tree.args[-1] if tree.kind == "list" else tree) or reading.with_units(glued=False) is not None


_SAME_TEXT, _SAME_NUMBER, _OTHER_NUMBER = (  # nearly all grades
    Grade(True, "same text"), Grade(True, "exact numbers"), Grade(False, "exact numbers"),
)  # fmt: skip
_OTHER_DIRECTION = Grade(False, "different directions")
_logger = logging.getLogger(__name__)
_memory = GradeCache(_MEMORY)
_broken = count(1)


def _report(error: Exception, gold: Reading, answer: Reading) -> None:
    """Log that the ladder broke: the first time, the tenth, the hundredth and so on; a policy may repeat itself for hours."""
    times = next(_broken)
    if times in (1, 10, 100) or times % 1000 == 0:
        _logger.warning(
            "the ladder broke %d times so far, on %.200r against %.200r: %s: %s; such an answer is not equal",
            times, answer.text, gold.text, type(error).__name__, error,
        )  # fmt: skip
    _logger.debug("where it broke", exc_info=error)


def grade(
    gold: str | Reading,
    answer: str | Reading,
    *,
    timeout: float = 1.0,
    tolerance: float = 0.0,
    convert_units: bool = True,
) -> Grade:
    """Decide whether `answer` is `gold`, as mathematical objects.

    `timeout` bounds the seconds of the last rung, sympy in a worker process (0: it is not asked); everything before it is bounded by its own
    caps. Two numbers whose difference is at most `tolerance` times the gold's size are equal. Never raises on any text.
    """
    mine = gold if isinstance(gold, Reading) else Reading(gold)
    theirs = answer if isinstance(answer, Reading) else Reading(answer)
    quick = _quick(mine, theirs)
    # unequal numbers may be equal within the tolerance
    if quick is not None and (quick.equal or not tolerance or quick is _OTHER_DIRECTION):
        return quick
    key = (mine.text + mine.direction, theirs.text + theirs.direction, timeout, tolerance, convert_units)
    found = _memory.get(key)
    if found is not None:
        return found
    try:
        with rules(tolerance=tolerance, convert_units=convert_units):
            found = _slow(mine, theirs, timeout)
            if not found.equal:
                found = _by_parts(mine, theirs, timeout) or found
    except _TROUBLE as error:
        _report(error, mine, theirs)
        found = Grade(False, f"undecided: {type(error).__name__}", "open")
    _memory.put(key, found)
    return found


def share(gold: str | Reading, answer: str | Reading) -> float:
    """Of a gold of several parts, the part that an answer has right: 0 to 1.

    Parts of a tuple are matched by place, those of a list or a set in any order; parts too many count against the
    answer. 0 for a gold of one part.
    """
    mine = gold if isinstance(gold, Reading) else Reading(gold)
    theirs = answer if isinstance(answer, Reading) else Reading(answer)
    if isinstance(mine.tree, ParseError) or isinstance(theirs.tree, ParseError):
        return 0.0
    try:
        return matched_share(mine.tree, theirs.tree)
    except _TROUBLE:
        return 0.0


def _quick(gold: Reading, answer: Reading) -> Grade | None:
    if (problem := _missing(gold.text)) is not None:
        return Grade(False, problem, "unreadable_gold")
    if not answer.text:
        return Grade(False, "the answer is empty")
    if gold.direction and answer.direction and contradict(gold.direction, answer.direction):
        return _OTHER_DIRECTION
    if gold.text == answer.text:
        return _SAME_TEXT
    if (one := gold.numeral) is not None and (other := answer.numeral) is not None:
        same = same_numeral(one, other)
        if same is not None and (same or not (grouped_list(gold.text) or grouped_list(answer.text))):
            return _SAME_NUMBER if same else _OTHER_NUMBER
    if len(answer.text) > MAX_CHARACTERS:
        return Grade(False, f"the answer cannot be read: longer than {MAX_CHARACTERS} characters")
    return _SAME_TEXT if gold.key == answer.key else None


def _slow(gold: Reading, answer: Reading, timeout: float) -> Grade:
    if (labelled := _labelled(gold, answer, timeout)) is not None:
        return labelled
    as_words = _as_words(gold, answer)
    if as_words is not None:
        return as_words
    mine, theirs = gold.tree, answer.tree
    if isinstance(mine, ParseError):
        if same_words(gold.text, answer.text) or bare(gold.text) == bare(answer.text):
            return Grade(True, "same words")
        problem = unreadable(gold)
        if problem is not None:
            return Grade(False, problem, "unreadable_gold")
        return Grade(False, "different words")
    if isinstance(theirs, ParseError):
        same = same_words(gold.text, answer.text) or bare(gold.text) == bare(answer.text)
        return Grade(same, "same words" if same else f"the answer cannot be read: {theirs}")
    decision = decide(mine, theirs, gold.text[:200])
    if not decision.equal and (other := second_reading(gold, answer)) is not None:
        return other
    if decision.equal is not None:
        return Grade(decision.equal, decision.rule)
    if _endless(mine) and _endless(theirs):  # nothing that sympy has an answer to
        return Grade(False, "undecided: two infinite series", "open")
    if decision.rule == NO_SMALL_INTEGER or not (symbolic(mine) and symbolic(theirs)):  # sympy could only hang
        return Grade(False, f"undecided: {decision.rule}", "open")
    return _symbolic(mine, theirs, decision.rule, timeout)


def _by_parts(gold: Reading, answer: Reading, timeout: float) -> Grade | None:
    """Equal without what leads one of them (an option's letter, what the value is), or part by labelled part; else None."""
    for texts in (*without_lead(gold.text, answer.text), *without_tail(gold.text, answer.text)):
        again = _slow(Reading(texts[0]), Reading(texts[1]), timeout)
        if again.equal:
            return again
    if _same_statement(gold, answer, timeout):
        return Grade(True, "the same words about equal formulas")
    return None


def _labelled(gold: Reading, answer: Reading, timeout: float) -> Grade | None:
    """The grade of two texts with as many labelled parts, ``(a) 3 (b) 5``, part by part; None for any others."""
    mine = labelled_parts(gold.text)
    theirs = None if mine is None else labelled_parts(answer.text)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return None
    pairs = [(Reading(one), Reading(other)) for one, other in zip(mine, theirs, strict=True)]
    return Grade(all(_same(*pair, timeout) for pair in pairs), "labelled part by labelled part")


def _same_statement(gold: Reading, answer: Reading, timeout: float) -> bool:
    """Are words and formulas between them the same, each compared as what it is?"""
    if _LETTERS.search(gold.text) is None or _LETTERS.search(answer.text) is None:
        return False
    mine, theirs = statement(gold.text), statement(answer.text)
    pairs = None if mine is None or theirs is None else paired(mine, theirs)
    return pairs is not None and all(_same(Reading(one), Reading(other), timeout) for one, other in pairs)


_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3}|\\(?:text|mathrm|mbox|max|min)")


def _same(gold: Reading, answer: Reading, timeout: float) -> bool:
    quick = _quick(gold, answer)
    return quick.equal if quick is not None else _slow(gold, answer, timeout).equal


def _as_words(gold: Reading, answer: Reading) -> Grade | None:
    letter = choice(gold.text)
    if letter is not None and (other := choice(answer.text, lead=True)) is not None:
        if letter == other and (gold.text.islower() == answer.text.islower() or _LABELLED.fullmatch(gold.text)):
            return Grade(True, "choice letter")
        if letter in "ABCDEFGHIJ" and not gold.text.islower():
            return Grade(letter == other, "choice letter")
    option = None if letter is not None or choices(gold.text) is not None else _OPTION.match(gold.text)
    if option is not None and (other := choice(answer.text, lead=True)):
        same = (option[1] or option[2]) == other
        if not same or choice(answer.text) is not None:  # of two texts behind one letter the texts decide
            return Grade(same, "choice letter")
    if (formula := same_formula(gold.text, answer.text)) is not None:
        return Grade(formula, "chemical formulas")
    if (named := same_labels(gold.text, answer.text)) is not None:
        return Grade(named, "numbers of statements")
    if (cycles := permutation(gold.text)) is not None or permutation(answer.text) is not None:
        mine = cycles or permutation(gold.text, glued=True)
        same = mine is not None and mine == permutation(answer.text, glued=True)
        return Grade(same, "permutations")
    several, theirs_too = choices(gold.text, glued=True), choices(answer.text, glued=True)
    if several is not None and theirs_too is not None and not (gold.key.isalpha() and answer.key.isalpha()):
        return Grade(several == theirs_too, "choice letters")
    words_alone = is_words(gold.text), is_words(answer.text)
    # "the 100th bead is red" has a number in it
    if (
        any(words_alone)
        and (all(words_alone) or _SENTENCE.search(gold.text if words_alone[1] else answer.text))
        and same_words(gold.text, answer.text)
    ):
        return Grade(True, "same words")
    if all(words_alone):
        name = named_set(gold.text)  # of those that say "no solution" each says something else
        same = name is not None and name != "\\emptyset" and name == named_set(answer.text)
        return Grade(same, "two names of one set" if same else "different words")
    if (time := clock(gold.text)) is not None and (theirs := clock(answer.text)) is not None:
        return Grade(same_time(time, theirs), "times of day")
    return _dates_and_digits(gold, answer)


def _dates_and_digits(gold: Reading, answer: Reading) -> Grade | None:
    one, other = date(gold.text), date(answer.text)
    if one is not None or other is not None:
        same = one is not None and other is not None and same_date(one, other)
        return Grade(same or gold.key == answer.key, "dates, part by part")
    quotient, theirs = division(gold.text), division(answer.text)
    if quotient is not None or theirs is not None:
        return Grade(quotient == theirs, "quotient and remainder")
    base = based_digits(gold.text)
    other_base = based_digits(answer.text)
    if base is not None or other_base is not None:
        same = (base or _in_base_ten(gold)) == (other_base or _in_base_ten(answer))
        return Grade(same, "digits and base")
    return None


_SENTENCE = re.compile(r"[a-z]{3} (?:is|are|was|on) (?:an? )?[A-Za-z]{2}")
_LABELLED = re.compile(r"\([a-e]\)")
_OPTION = re.compile(
    r"(?:\\(?:text|math)(?:bf|rm)?\s*\{)?\s*(?:\(([A-J])\)|([A-J])[.:)](?=\s|\\ ))[\s}~]*(?:\\[ ,;]|\s|\$)*\S"
)


def _in_base_ten(reading: Reading) -> tuple[str, int] | None:
    """A plain whole number as digits in base ten."""
    number = reading.numeral
    return (
        (str(number.value), 10)
        if number is not None
        and number.digits < 0
        and not number.mark
        and number.value >= 0
        and number.value.denominator == 1
        else None
    )


def _endless(node: Node) -> bool:
    """Is there an infinite series with a variable besides its index?"""
    return bool(free(node)) and any(
        here.kind == "sum" and here.args[2] == Node("const", "oo") and free(here) for here in walk(node)
    )


def _symbolic(gold: Node, answer: Node, doubt: str, timeout: float) -> Grade:
    if timeout <= 0:
        return Grade(False, f"undecided without sympy ({doubt})", "timeout")
    try:
        equal, rule = decide_by_sympy(packed(gold), packed(answer), seconds=timeout)
    except WorkerTimeout:
        return Grade(False, f"undecided after {timeout:g} s ({doubt})", "timeout")
    except OSError as error:
        return Grade(False, f"no worker could be started: {error}", "open")
    if equal is None:
        return Grade(False, f"undecided: {doubt}; {rule}", "open")
    return Grade(equal, rule)
