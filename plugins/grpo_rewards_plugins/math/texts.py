"""An answer's text as the ladder sees it, and what the same letters may mean besides: units or factors, brackets, commas."""

from __future__ import annotations

import re
from typing import Literal

from .equivalence.equality import Decision
from .equivalence.normalization import without_name
from .equivalence.numerals import Numeral, grouped_list, read_numeral, regrouped, same_numeral
from .equivalence.quantities import has_unit
from .equivalence.second_readings import decide
from .grades import Grade
from .reading.chinese import from_chinese, said_of_value
from .reading.clean import clean, squeeze
from .reading.derivatives import derived
from .reading.notations import rewritten
from .reading.parser import parse
from .reading.text_answers import repeating
from .reading.tokens import MAX_CHARACTERS
from .reading.tree import Node, ParseError, free
from .reading.unit_spellings import without_direction
from .reading.units import DEGREE, only_units

_LONGEST_LOOSE = 200  # characters in which letters are tried as units


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
        if not raw.isascii() and not self.direction:
            self.direction = said_of_value(raw)
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
        return self._parsed(groups=False)

    def without_units(self) -> Node | None:
        """The tree with letters for units only where they stand upright; None where that changes nothing."""
        assert isinstance(self.tree, Node)
        if len(self.text) > _LONGEST_LOOSE or not has_unit(self.tree):
            return None
        found = self._parsed(units=False)
        return None if found == self.tree else found

    def with_units(self, *, glued: bool) -> Node | None:
        """The tree with the letters behind a number read as units, also `glued` to it; None where that changes nothing."""
        if len(self.text) > _LONGEST_LOOSE:
            return None
        if not only_units(_LEFT_SIDES.sub("", self.rewritten)):
            return None
        found = self._parsed(loose=True, glued=glued)
        return None if found == self.tree else found

    def _parsed(self, **how: bool) -> Node | None:
        try:
            return parse(self.rewritten, **how)
        except (ValueError, ArithmeticError):
            return None


def read(raw: str) -> Reading:
    """Read a text that is an answer or a gold."""
    return Reading(raw)


def second_reading(gold: Reading, answer: Reading) -> Grade | None:
    """Equal (or another number) where the texts mean something else than they seem to; None where that tells nothing."""
    for reading, why in _READINGS:
        if (again := reading(gold, answer)) is not None:
            return Grade(True, f"{again.rule}, {why}")
    return _with_other_marks(gold, answer)


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
            if (mine is not gold.tree or theirs is not answer.tree) and not (free(_end(mine)) or free(_end(theirs))):
                again = decide(mine, theirs, gold.text[:200])
                if again.equal:
                    return again
    return None


def _end(tree: Node) -> Node:
    """What a chain comes to (``F = m a = 6 N``), or the value that an equation names."""
    chain = tree.kind == "rel" and all(op in ("=", "~") for op in tree.value) and tree.value != ("=",)
    return tree.args[-1] if chain else without_name(tree)


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


def _with_marks_of_arc(gold: Reading, answer: Reading) -> Decision | None:
    """Equal where one side's primes are minutes and seconds of arc, as the other's unit is one of angles."""
    for one, other in ((gold, answer), (answer, gold)):
        if not isinstance(other.tree, Node) or other.tree.kind != "unit" or other.tree.value.bases != DEGREE.bases:
            continue
        marked = _ARC.fullmatch(one.text)
        again = None if marked is None else Reading(f"{marked[1]}\\text{{ arc{'sec' if marked[2] else 'min'}}}").tree
        if isinstance(again, Node):
            decision = decide(*((again, other.tree) if one is gold else (other.tree, again)), gold.text[:200])
            if decision.equal:
                return decision
    return None


_ARC = re.compile(r"(-?[\d.]{1,20})\s?(?:\^\s?\{?\s?)?(?:'|\\prime)\s?('|\\prime)?\s?\}?")


def _with_derivatives_as_names(gold: Reading, answer: Reading) -> Decision | None:
    r"""Equal where derivatives are written in other ways (``\\dot x``, ``\\frac{dx}{dt}``, ``x'(t)``), by the same variable as far as both say."""
    mine = derived(gold.text)
    theirs = None if mine is None else derived(answer.text)
    if mine is None or theirs is None or (mine.text, theirs.text) == (gold.text, answer.text):
        return None
    said = mine.variables | theirs.variables
    if len(said) > 1 or (mine.variables != theirs.variables and not (mine.closed and theirs.closed)):
        return None
    one, other = Reading(mine.text).tree, Reading(theirs.text).tree
    if not isinstance(one, Node) or not isinstance(other, Node):
        return None
    again = decide(one, other, gold.text[:200])
    return again if again.equal else None


_LEFT_SIDES = re.compile(r"^.*(?:=|\\approx(?![a-z]))", re.DOTALL)
_SQUARE = re.compile(r"(?<!\\sqrt)\[|\](?!\{)")


def _with_other_marks(gold: Reading, answer: Reading) -> Grade | None:
    """Equal where commas mean something else: between groups of digits, before decimals, or between the parts of a list."""
    for one, other, decimal in ((gold, answer, True), (answer, gold, False)):
        if (
            one.numeral is not None
            and (second := regrouped(other.text, decimal=decimal and one.numeral.digits > 0)) is not None
        ):
            pair = (one.numeral, second) if decimal else (second, one.numeral)
            return Grade(bool(same_numeral(*pair)), "exact numbers, with other marks between the digits")
    if grouped_list(gold.text) or grouped_list(answer.text):
        mine, theirs = gold.ungrouped(), answer.ungrouped()
        if mine is not None and theirs is not None:
            again = decide(mine, theirs, gold.text[:200])
            if again.equal and mine.kind in ("list", "set"):
                return Grade(True, f"{again.rule}, as lists")
    return None


_READINGS = (
    (_with_letters_as_units, "with letters for a unit"),
    (_with_letters_as_factors, "with letters for factors"),
    (_with_floors, "with brackets for the whole part"),
    (_with_marks_of_arc, "with primes for minutes and seconds"),
    (_with_derivatives_as_names, "with derivatives in one spelling"),
)
