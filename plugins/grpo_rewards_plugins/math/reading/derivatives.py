r"""Derivatives in one spelling: ``\dot x``, ``\frac{dx}{dt}`` and ``x'(t)`` as ``x'``, ``\frac{\partial u}{\partial x}`` as ``u_x``.

A differential equation is then one of letters, and equal to another as those are. Linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .vocabulary import GREEK


class Derived(NamedTuple):
    """A text with its derivatives as names; the `variables` that it says they are taken by (none where it does not say); `closed`:
    what is differentiated stands in it by itself too, so that it is about one function whatever its variable is called.
    """

    text: str
    variables: frozenset[str]
    closed: bool


def derived(text: str) -> Derived | None:
    """A text with its derivatives in one spelling; None where it has none."""
    if len(text) > _LONGEST or _ANY.search(text) is None:
        return None
    variables: set[str] = set()
    text = _PRIMES.sub(lambda m: "'" * (m[0].count("\\prime") + m[0].count("'")), text)
    text = _UPRIGHT_D.sub("d", text)

    def dotted(match: re.Match[str]) -> str:
        variables.add("t")
        return f"{match[2] or match[3]}{match[4] or ''}{chr(39) * len(match[1])} "

    def divided(match: re.Match[str]) -> str:
        if (match["above"] or "1") != (match["below"] or "1"):
            return match[0]
        variables.add(match["by"])
        return f" {match['of']}{chr(39) * int(match['above'] or 1)} "

    def partial(match: re.Match[str]) -> str:
        order, below = match["above"] or "1", _BY.findall(match["by"])
        letters = "".join(sorted(letter * int(times or 1) for letter, times in below))
        return f" {match['of']}_{{\\text{{{letters}}}}} " if len(letters) == int(order) else match[0]

    text = _DOTTED.sub(dotted, text)
    if "\\partial" in text:
        text = _PARTIAL.sub(partial, text)
    text = _INDEXED.sub(lambda m: f"{m[1]}_{{\\text{{{''.join(sorted(m[2] or m[3]))}}}}}", text)
    text = _SLASHED.sub(divided, _DIVIDED.sub(divided, text))
    variables.update(match[1] for match in _TAKEN_AT.finditer(text))
    for variable in variables:  # "x'(t) + x(t)"
        text = re.sub(rf"({_NAME}(?:_\w|_\{{\w{{1,9}}\}})?'{{0,4}})\s{{0,2}}\({variable}\)", r"\1 ", text)
    if "'" not in text and "_{\\text" not in text:
        return None
    letters = _COMMAND.sub(" ", text)
    primed = {match[1] for match in _PRIMED.finditer(letters)}
    return Derived(text, frozenset(variables), not primed.isdisjoint(_LETTER.findall(_PRIMED.sub(" ", letters))))


_LONGEST = 600
_GREEK = "|".join(sorted(GREEK))
_NAME = rf"(?:(?<![a-zA-Z\\])[a-zA-Z]|\\(?:{_GREEK})(?![a-zA-Z]))"
_ANY = re.compile(r"'|\\d{1,2}ot(?![a-z])|\\prime|d\s?\}?\s?/?\s?\\?(?:[a-zA-Z{^]|\\)|\\partial|_\{?[xyzt]")
_PRIMES = re.compile(r"\^\s?(?:\{\s?(?:(?:\\prime|')\s?){1,4}\}|\\prime(?![a-z]))")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|text|operatorname|rm)\s?\{\s?d\s?\}")
_DOTTED = re.compile(
    rf"\\(d{{1,2}})ot(?![a-z])\s?(?:\{{\s?({_NAME}(?:_\w|_\{{\w{{1,9}}\}})?)\s?\}}|({_NAME}))(_\w|_\{{\w{{1,9}}\}})?"
)
_OF = rf"(?P<of>{_NAME}(?:_\w|_\{{\w{{1,9}}\}})?)"
_POWER = r"\s?(?:\^\s?\{{?(?P<{}>[2-4])\}}?)?\s?"
_DIFFERENTIAL = rf"d{_POWER.format('above')}(?P<of>(?<!\\)(?:[a-ce-zA-Z]|\\(?:{_GREEK})(?![a-zA-Z]))(?:_\w|_\{{\w{{1,9}}\}})?)(?:\([a-z]\))?\s?"
_DIVIDED = re.compile(rf"\\[dt]?frac\s?\{{\s?{_DIFFERENTIAL}\}}\s?\{{\s?d\s?(?P<by>[a-z]){_POWER.format('below')}\}}")
_SLASHED = re.compile(rf"(?<![a-zA-Z\\]){_DIFFERENTIAL}/\s?d(?P<by>[a-z])(?![a-zA-Z]){_POWER.format('below')}")
_PARTIAL = re.compile(
    rf"\\[dt]?frac\s?\{{\s?\\partial{_POWER.format('above')}{_OF}(?:\([a-z, ]{{1,9}}\))?\s?\}}\s?"
    r"\{(?P<by>(?:\s?\\partial\s?[a-z]\s?(?:\^\s?\{?[2-4]\}?)?\s?){1,3})\}"
)
_BY = re.compile(r"\\partial\s?([a-z])\s?(?:\^\s?\{?([2-4])\}?)?")
_INDEXED = re.compile(r"([a-zA-Z])_(?:\{\s?([xyzt]{1,3})\s?\}|([xyzt])(?![a-zA-Z]))")
_COMMAND = re.compile(rf"\\(?!(?:{_GREEK})(?![a-zA-Z]))[a-zA-Z]+")
_LETTER = re.compile(rf"(?:[a-zA-Z]|\\(?:{_GREEK})(?![a-zA-Z]))(?:_\w|_\{{\w{{1,9}}\}})?")
_PRIMED = re.compile(rf"({_LETTER.pattern})'{{1,4}}")
_TAKEN_AT = re.compile(r"'\s{0,2}\(([a-z])\)")
