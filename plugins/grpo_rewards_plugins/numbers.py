"""Reading a number from text exactly, whatever its size, without ever building a huge one."""

from __future__ import annotations

import re
from fractions import Fraction

# [0-9], since \d takes the digits of every script, and int() reads them
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<grouped>[0-9]{1,3}(?:,[0-9]{3})+)|(?P<plain>[0-9]*))(?P<point>\.(?P<decimals>[0-9]*))?"
    r"(?:[eE](?P<exponent>[+-]?[0-9]{1,4}))?"
)
_LONGEST = 400  # characters; a longer one is compared as text
# the power of ten is written out exactly: beyond this it is work, and no answer
_LARGEST_EXPONENT = 400


def read_number(text: str) -> Fraction | None:
    """Return the number that `text` is: ``18``, ``-1,000.50``, ``6.02e23``, ``3/4``, with ``$`` before it or not.

    None where it is anything else, has more than 400 characters or a larger exponent than 400.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    text = text.replace("\N{MINUS SIGN}", "-").removeprefix("$").strip()
    if "/" in text:
        above, _, below = text.partition("/")
        numerator, denominator = _plain(above.strip()), _plain(below.strip())
        return numerator / denominator if numerator is not None and denominator else None
    return _plain(text)


def _plain(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole = (match["grouped"] or match["plain"] or "").replace(",", "")
    decimals = match["decimals"] or ""
    if not whole and not decimals:
        return None
    exponent = int(match["exponent"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        return None
    scale = exponent - len(decimals)
    value = Fraction(int(whole + decimals))
    # most numbers are whole, and need no power of ten
    if scale:
        value *= Fraction(10) ** scale
    return -value if match["sign"] == "-" else value
