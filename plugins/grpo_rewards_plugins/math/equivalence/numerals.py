"""Plain numbers, read exactly and without the parser: the fast path for most golds and answers of word problems."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

_PLAIN = re.compile(
    r"(?P<money>\\?\$|[€£¥])?\s*(?P<sign>[+-]?)\s*(?P<money2>\\?\$|[€£¥])?\s*"
    r"(?:(?P<grouped>[1-9][0-9]{0,2}(?:,[0-9]{3})+)|(?P<whole>[0-9]*))(?:\.(?P<decimals>[0-9]+))?\.?"
    r"(?:/(?P<below>[0-9]+))?\s*(?P<percent>\\?%)?"
)
_LATEX = re.compile(r"(?P<sign>[+-]?)\\[dtc]?frac\s*\{\s*(?P<top>[+-]?[0-9]+)\s*\}\s*\{\s*(?P<bottom>[0-9]+)\s*\}")
_POINT_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+,\d+")
# 1,234 is a thousand; with any other number of digits behind it the comma is that of decimals
_COMMA = re.compile(r"[-+]?(?:0,\d+|\d+,(?!\d{3}$)\d+)")
_INDIAN = re.compile(r"[-+]?[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?")
_TRIPLES = re.compile(r"(?<![\d.,])\d{3},\d{3}(?!\d)")
_LONGEST = 60


class Numeral(NamedTuple):
    """A number as written: its value, its digits after the point (-1 for none), its mark (``%``, a currency or nothing)."""

    value: Fraction | int
    digits: int
    mark: str


def read_numeral(text: str) -> Numeral | None:
    """Return the plain number that `text` is, or None where it is anything else."""
    if len(text) > _LONGEST:
        return None
    if text.isdigit() and text.isascii():
        return Numeral(int(text), -1, "")
    match = _PLAIN.fullmatch(text)
    if match is None:
        match = _LATEX.fullmatch(text)
        if match is None or not int(match["bottom"]):
            return None
        value = Fraction(int(match["top"]), int(match["bottom"]))
        return Numeral(-value if match["sign"] == "-" else value, -1, "")
    whole, decimals, below = match["grouped"] or match["whole"] or "", match["decimals"], match["below"]
    if not whole and not decimals:
        return None
    digits = (whole.replace(",", "") or "0") + (decimals or "")
    value = Fraction(int(digits), 10 ** len(decimals or ""))
    if below is not None:
        if decimals or not int(below):
            return None
        value /= int(below)
    if match["sign"] == "-":
        value = -value
    money = match["money"] or match["money2"] or ""
    if money and match["percent"]:
        return None
    return Numeral(value, len(decimals) if decimals else -1, "%" if match["percent"] else money.lstrip("\\"))


def regrouped(text: str, *, decimal: bool = False) -> Numeral | None:
    """The number that ``1.234,5``, ``12,34,567`` and ``0,5`` are by the marks of other countries; with `decimal`, also ``1,5``."""
    if len(text) > _LONGEST or "," not in text:
        return None
    if _POINT_GROUPS.fullmatch(text) or ((decimal or text.startswith("0,")) and _COMMA.fullmatch(text)):
        return read_numeral(text.replace(".", "").replace(",", "."))
    return read_numeral(text.replace(",", "")) if _INDIAN.fullmatch(text) else None


def grouped_list(text: str) -> bool:
    """May the commas between groups of three digits be those of a list (``101,103,107``)?"""
    return "," in text and _TRIPLES.search(text) is not None


def same_numeral(gold: Numeral, answer: Numeral) -> bool | None:
    """Decide two plain numbers; None where their marks need the rules for units."""
    if gold.mark == answer.mark or not gold.mark or not answer.mark:
        if gold.value == answer.value:
            # "0.5%" is not 0.5 nor "7/2%" 7/2; of a larger number the sign is a unit that the gold leaves out
            if answer.mark != "%" or gold.mark:
                return True
            share = 0 < abs(Fraction(gold.value)) <= 1
            return not share and (gold.digits > 0 or Fraction(gold.value).denominator == 1)
        if "%" not in (gold.mark, answer.mark):
            return None if gold.digits > 0 and answer.digits < 0 and isinstance(answer.value, Fraction) else False
        if gold.mark == answer.mark:
            return False
        one, other = (gold.value, answer.value) if gold.mark else (answer.value, gold.value)
        return Fraction(one) / 100 == other
    return None
