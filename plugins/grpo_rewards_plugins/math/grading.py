"""Equivalence: is an answer the gold?  A ladder of methods, cheapest first; the verdict says which rung decided."""

from __future__ import annotations

import logging
import re
from itertools import count
from typing import Literal

from flint.utils.flint_exceptions import FlintError

from grpo_rewards.workers import WorkerTimeout

from .equivalence.equality import Decision
from .equivalence.families import same_parameter
from .equivalence.normalization import without_name
from .equivalence.numerals import Numeral, grouped_list, read_numeral, regrouped, same_numeral
from .equivalence.quantities import has_unit, rules
from .equivalence.second_readings import decide
from .equivalence.structures import matched_share
from .equivalence.values import NO_SMALL_INTEGER
from .reading.calendar import clock, date, same_date, same_time
from .reading.chemistry import same_formula
from .reading.chinese import from_chinese
from .reading.clean import bare, clean, squeeze
from .reading.leads import OPTION, labelled_parts, without_lead, without_tail
from .reading.notations import named_set, rewritten
from .reading.parser import parse
from .reading.statements import paired, statement
from .reading.text_answers import (
    based_digits,
    choice,
    choices,
    division,
    is_words,
    repeating,
    same_labels,
    same_words,
    words,
)
from .reading.tokens import MAX_CHARACTERS
from .reading.tree import Node, ParseError, free, walk
from .reading.unit_spellings import without_direction
from .reading.units import only_units
from .symbolic import decide_by_sympy
from .symbolic.wire import packed, symbolic
from .verdicts import Verdict, VerdictCache

__all__ = ["Reading", "Verdict", "grade", "read", "share", "unreadable"]

# what reading and comparing hostile texts may raise
_TROUBLE = (FlintError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
_LONGEST_LOOSE = 200  # characters in which letters are tried as units
_MEMORY = 32 << 20  # bytes of verdicts that are kept
_MISSING = frozenset({"nan", "null", "n/a"})  # not "none", which may answer "which of these?"
_LONGEST_MISSING = max(map(len, _MISSING))


class Reading:
    """A text as the ladder sees it: each form is worked out when first asked for."""

    __slots__ = ("_key", "_numeral", "_rewritten", "_tree", "direction", "text")

    def __init__(self, raw: str) -> None:
        if raw.isdigit() and raw.isascii():  # clean already, as most answers are
            self.text = raw
        # what is cleaned may be shorter; what is longer than this is not worth the passes
        elif len(raw) <= 4 * MAX_CHARACTERS:
            # before `clean`, which takes dots at the end for a full stop
            text = clean(repeating(raw) if "..." in raw else raw)
            self.text = text if text.isascii() else from_chinese(text)
        else:
            self.text = raw
        self.text, self.direction = without_direction(self.text)
        self._key: str | None = None
        self._numeral: Numeral | Literal[False] | None = False
        self._rewritten: str | None = None
        self._tree: Node | ParseError | None = None

    def __repr__(self) -> str:
        return f"Reading({self.text!r})"

    @property
    def key(self) -> str:
        """The text without typesetting."""
        if self._key is None:
            self._key = squeeze(self.text)
        return self._key

    @property
    def numeral(self) -> Numeral | None:
        """The plain number that it is."""
        if self._numeral is False:
            self._numeral = read_numeral(self.text)
        return self._numeral

    @property
    def rewritten(self) -> str:
        """The text in the common notations."""
        if self._rewritten is None:
            self._rewritten = rewritten(self.text)
        return self._rewritten

    @property
    def tree(self) -> Node | ParseError:
        """The tree, or why there is none."""
        if self._tree is None:
            try:
                self._tree = parse(self.rewritten)
            except (ValueError, ArithmeticError) as error:
                self._tree = ParseError(str(error))  # without its traceback, which would keep the frames alive
        return self._tree

    def ungrouped(self) -> Node | None:
        """The tree with every comma read as that of a list."""
        try:
            return parse(self.rewritten, groups=False)
        except (ValueError, ArithmeticError):
            return None

    def without_units(self) -> Node | None:
        """The tree with letters for units only where they stand upright; None where that changes nothing."""
        assert isinstance(self.tree, Node)
        if len(self.text) > _LONGEST_LOOSE or not has_unit(self.tree):
            return None
        try:
            found = parse(self.rewritten, units=False)
        except (ValueError, ArithmeticError):
            return None
        return None if found == self.tree else found

    def with_units(self, *, glued: bool) -> Node | None:
        """The tree with the letters behind a number read as units, also `glued` to it; None where that changes nothing."""
        if len(self.text) > _LONGEST_LOOSE:
            return None
        if not only_units(self.rewritten.rpartition("=")[2]):
            return None
        try:
            found = parse(self.rewritten, loose=True, glued=glued)
        except (ValueError, ArithmeticError):
            return None
        return None if found == self.tree else found


def read(raw: str) -> Reading:
    """Read a text that is an answer or a gold."""
    return Reading(raw)


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


_SAME_TEXT, _SAME_NUMBER, _OTHER_NUMBER = (  # nearly all verdicts
    Verdict(True, "same text"), Verdict(True, "exact numbers"), Verdict(False, "exact numbers"),
)  # fmt: skip
_logger = logging.getLogger(__name__)
_memory = VerdictCache(_MEMORY)
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
) -> Verdict:
    """Decide whether `answer` is `gold`, as mathematical objects.

    `timeout` bounds the seconds of the last rung, sympy in a worker process (0: it is not asked); everything before it is bounded by its own
    caps. Two numbers whose difference is at most `tolerance` times the gold's size are equal. Never raises on any text.
    """
    mine = gold if isinstance(gold, Reading) else Reading(gold)
    theirs = answer if isinstance(answer, Reading) else Reading(answer)
    quick = _quick(mine, theirs)
    # unequal numbers may be equal within the tolerance
    if quick is not None and (quick.equal or not tolerance):
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
        found = Verdict(False, f"undecided: {type(error).__name__}", "open")
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


def _quick(gold: Reading, answer: Reading) -> Verdict | None:
    if (problem := _missing(gold.text)) is not None:
        return Verdict(False, problem, "unreadable_gold")
    if not answer.text:
        return Verdict(False, "the answer is empty")
    if gold.text == answer.text:
        return _SAME_TEXT if gold.direction == answer.direction else None
    if (one := gold.numeral) is not None and (other := answer.numeral) is not None:
        same = same_numeral(one, other)
        if same is not None and (same or not (grouped_list(gold.text) or grouped_list(answer.text))):
            return _SAME_NUMBER if same else _OTHER_NUMBER
    if len(answer.text) > MAX_CHARACTERS:
        return Verdict(False, f"the answer cannot be read: longer than {MAX_CHARACTERS} characters")
    return _SAME_TEXT if gold.key == answer.key and gold.direction == answer.direction else None


def _slow(gold: Reading, answer: Reading, timeout: float) -> Verdict:
    if gold.direction and answer.direction and gold.direction != answer.direction:
        return Verdict(False, "different directions")
    as_words = _as_words(gold, answer)
    if as_words is not None:
        return as_words
    mine, theirs = gold.tree, answer.tree
    if isinstance(mine, ParseError):
        if same_words(gold.text, answer.text) or bare(gold.text) == bare(answer.text):
            return Verdict(True, "same words")
        problem = unreadable(gold)
        if problem is not None:
            return Verdict(False, problem, "unreadable_gold")
        return Verdict(False, "different words")
    if isinstance(theirs, ParseError):
        same = same_words(gold.text, answer.text) or bare(gold.text) == bare(answer.text)
        return Verdict(same, "same words" if same else f"the answer cannot be read: {theirs}")
    decision = decide(mine, theirs, gold.text[:200])
    if not decision.equal and (again := _with_letters_as_units(gold, answer)) is not None:
        return Verdict(True, f"{again.rule}, with letters for a unit")
    if not decision.equal and (again := _with_letters_as_factors(gold, answer)) is not None:
        return Verdict(True, f"{again.rule}, with letters for factors")
    if not decision.equal and (families := same_parameter(mine, theirs)) is not None:
        again = decide(*families, gold.text[:200])
        if again.equal:
            return Verdict(True, f"{again.rule}, for every integer")
    if not decision.equal and (again := _with_floors(gold, answer)) is not None:
        return Verdict(True, f"{again.rule}, with brackets for the whole part")
    if not decision.equal and (other := _with_other_marks(gold, answer)) is not None:
        return other
    if decision.equal is not None:
        return Verdict(decision.equal, decision.rule)
    if _endless(mine) and _endless(theirs):  # nothing that sympy has an answer to
        return Verdict(False, "undecided: two infinite series", "open")
    if decision.rule == NO_SMALL_INTEGER or not (symbolic(mine) and symbolic(theirs)):  # sympy could only hang
        return Verdict(False, f"undecided: {decision.rule}", "open")
    return _symbolic(mine, theirs, decision.rule, timeout)


def _by_parts(gold: Reading, answer: Reading, timeout: float) -> Verdict | None:
    """Equal without what leads one of them (an option's letter, what the value is), or part by labelled part; else None."""
    for texts in (*without_lead(gold.text, answer.text), *without_tail(gold.text, answer.text)):
        again = _slow(Reading(texts[0]), Reading(texts[1]), timeout)
        if again.equal:
            return again
    if _same_statement(gold, answer, timeout):
        return Verdict(True, "the same words about equal formulas")
    mine, theirs = labelled_parts(gold.text), labelled_parts(answer.text)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return None
    pairs = [(Reading(one), Reading(other)) for one, other in zip(mine, theirs, strict=True)]
    if all(_same(*pair, timeout) for pair in pairs):
        return Verdict(True, "labelled part by labelled part")
    return None


def _same_statement(gold: Reading, answer: Reading, timeout: float) -> bool:
    """Are words and formulas between them the same, each compared as what it is?"""
    if _LETTERS.search(gold.text) is None or _LETTERS.search(answer.text) is None:
        return False
    mine, theirs = statement(gold.text), statement(answer.text)
    pairs = None if mine is None or theirs is None else paired(mine, theirs)
    return pairs is not None and all(_same(Reading(one), Reading(other), timeout) for one, other in pairs)


_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3}|\\(?:text|mathrm|mbox)")


def _same(gold: Reading, answer: Reading, timeout: float) -> bool:
    quick = _quick(gold, answer)
    return quick.equal if quick is not None else _slow(gold, answer, timeout).equal


def _with_letters_as_units(gold: Reading, answer: Reading) -> Decision | None:
    """Equal where the letters behind a number are a unit (``5 m``); without a space only where the other side has a unit."""
    trees: list[list[Node]] = []
    for side, other in ((gold, answer), (answer, gold)):
        assert isinstance(side.tree, Node)
        assert isinstance(other.tree, Node)
        loose = side.with_units(glued=has_unit(other.tree)) if free(side.tree) else None
        trees.append([side.tree] if loose is None else [loose, side.tree])
    for mine in trees[0]:
        for theirs in trees[1]:
            if (mine is not gold.tree or theirs is not answer.tree) and not any(
                free(without_name(tree)) for tree in (mine, theirs)
            ):
                again = decide(mine, theirs, gold.text[:200])
                if again.equal:
                    return again
    return None


def _with_letters_as_factors(gold: Reading, answer: Reading) -> Decision | None:
    r"""Equal where letters that could be units are factors (``\sqrt{3kT/m}``): only where one side has letters besides."""
    assert isinstance(gold.tree, Node)
    assert isinstance(answer.tree, Node)
    mine, theirs = gold.without_units(), answer.without_units()
    if mine is None and theirs is None:
        return None
    if not free(without_name(gold.tree)) and not free(without_name(answer.tree)):
        return None
    again = decide(mine or gold.tree, theirs or answer.tree, gold.text[:200])
    return again if again.equal else None


def _with_floors(gold: Reading, answer: Reading) -> Decision | None:
    """Equal where one side's square brackets are the whole part that the other writes with ``\\lfloor``."""
    for one, other in ((gold, answer), (answer, gold)):
        if "[" not in other.text or "floor" not in one.rewritten or "floor" in other.rewritten:
            continue
        again = Reading(_SQUARE.sub(lambda m: "\\lfloor " if m[0] == "[" else "\\rfloor ", other.text)).tree
        if isinstance(again, Node) and isinstance(one.tree, Node):
            decision = decide(*((one.tree, again) if one is gold else (again, one.tree)), gold.text[:200])
            if decision.equal:
                return decision
    return None


_SQUARE = re.compile(r"(?<!\\sqrt)\[|\](?!\{)")


def _with_other_marks(gold: Reading, answer: Reading) -> Verdict | None:
    """Equal where commas mean something else: between groups of digits, before decimals, or between the parts of a list."""
    for one, other, decimal in ((gold, answer, True), (answer, gold, False)):
        if (
            one.numeral is not None
            and (second := regrouped(other.text, decimal=decimal and one.numeral.digits > 0)) is not None
        ):
            pair = (one.numeral, second) if decimal else (second, one.numeral)
            return Verdict(bool(same_numeral(*pair)), "exact numbers, with other marks between the digits")
    if grouped_list(gold.text) or grouped_list(answer.text):
        mine, theirs = gold.ungrouped(), answer.ungrouped()
        if mine is not None and theirs is not None:
            again = decide(mine, theirs, gold.text[:200])
            if again.equal and mine.kind in ("list", "set"):
                return Verdict(True, f"{again.rule}, as lists")
    return None


def _as_words(gold: Reading, answer: Reading) -> Verdict | None:
    letter = choice(gold.text)
    if letter is not None and (other := choice(answer.text, lead=True)) is not None:
        if letter == other and (gold.text.islower() == answer.text.islower() or _LABELLED.fullmatch(gold.text)):
            return Verdict(True, "choice letter")
        if letter in "ABCDEFGHIJ" and not gold.text.islower():
            return Verdict(letter == other, "choice letter")
    option = None if letter is not None or choices(gold.text) is not None else _OPTION.match(gold.text)
    if option is not None and (other := choice(answer.text)):
        return Verdict((option[1] or option[2]) == other, "choice letter")
    if (formula := same_formula(gold.text, answer.text)) is not None:
        return Verdict(formula, "chemical formulas")
    if (named := same_labels(gold.text, answer.text)) is not None:
        return Verdict(named, "numbers of statements")
    several, theirs_too = choices(gold.text, glued=True), choices(answer.text, glued=True)
    if several is not None and theirs_too is not None and not (gold.key.isalpha() and answer.key.isalpha()):
        return Verdict(several == theirs_too, "choice letters")
    if is_words(gold.text) and is_words(answer.text):
        if same_words(gold.text, answer.text):
            return Verdict(True, "same words")
        name = named_set(gold.text)  # of those that say "no solution" each says something else
        same = name is not None and name != "\\emptyset" and name == named_set(answer.text)
        return Verdict(same, "two names of one set" if same else "different words")
    if (time := clock(gold.text)) is not None and (theirs := clock(answer.text)) is not None:
        return Verdict(same_time(time, theirs), "times of day")
    return _dates_and_digits(gold, answer)


def _dates_and_digits(gold: Reading, answer: Reading) -> Verdict | None:
    one, other = date(gold.text), date(answer.text)
    if one is not None or other is not None:
        same = one is not None and other is not None and same_date(one, other)
        return Verdict(same or gold.key == answer.key, "dates, part by part")
    quotient, theirs = division(gold.text), division(answer.text)
    if quotient is not None or theirs is not None:
        return Verdict(quotient == theirs, "quotient and remainder")
    base = based_digits(gold.text)
    other_base = based_digits(answer.text)
    if base is not None or other_base is not None:
        same = (base or _in_base_ten(gold)) == (other_base or _in_base_ten(answer))
        return Verdict(same, "digits and base")
    return None


_LABELLED = re.compile(r"\([a-e]\)")
_OPTION = re.compile(
    r"(?:\\(?:text|math)(?:bf|rm)?\s*\{)?\s*(?:\(([A-J])\)|([A-J])[.:](?=\s|\\ ))[\s}~]*(?:\\[ ,;]|\s|\$)*\S"
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


def _symbolic(gold: Node, answer: Node, doubt: str, timeout: float) -> Verdict:
    if timeout <= 0:
        return Verdict(False, f"undecided without sympy ({doubt})", "timeout")
    try:
        equal, rule = decide_by_sympy(packed(gold), packed(answer), seconds=timeout)
    except WorkerTimeout:
        return Verdict(False, f"undecided after {timeout:g} s ({doubt})", "timeout")
    except OSError as error:
        return Verdict(False, f"no worker could be started: {error}", "open")
    if equal is None:
        return Verdict(False, f"undecided: {doubt}; {rule}", "open")
    return Verdict(equal, rule)
