"""The two sides of a condition: what the program computes, and what is expected of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grpo_rewards_plugins.code.values.text import closing, masked, parts

_EQUAL = ("===", "==")
_OTHER = re.compile(r"&&|\|\||!=|<=|>=|<|>|\band\b|\bor\b")
_NOT = re.compile(r"(?:!|not\b)\s*(?=[\w(:])")
_NEAR = re.compile(r"(?:std::|Math\.|math\.|f32::|f64::)?f?[aA]bs\s*\(")
_BOUND = re.compile(r"(?:Math\.pow\(10,\s*-(\d+)\)|1e-?(\d+)|[\d.]+(?:e-?\d+)?)f?")
_EQUALS = re.compile(r"(?:java\.util\.)?(?:Objects|Arrays)\.(?:deepE|e)quals\s*\(")
_LARGEST = 0.5  # a wider bound is no rounding


@dataclass(frozen=True, slots=True)
class Equation:
    """Two expressions, the type of both where the tests' own helper says it, and how far apart they may be."""

    got: str
    wanted: str
    kind: str = ""
    tolerance: float = 0.0


def mentions(text: str, names: tuple[str, ...], language: str) -> bool:
    """Whether a text names one of these outside of its literals; in the shell's double quotes too."""
    mask = text if language == "bash" else masked(text, language)
    return any(re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", mask) for name in names)


def equation(condition: str, names: tuple[str, ...], language: str, kinds: dict[str, str]) -> Equation | None:
    """Return the sides of a condition about one of `names`; `kinds` are comparing functions of the tests, with their type.

    None where it says anything but that one side is the other: what is expected must not stay with the program.
    """
    condition = _bare(condition.strip(), language)
    mask = masked(condition, language)
    helper = re.match(r"(\w+)\s*\(", mask)
    # the bracket must close at the very end: behind it may stand `&& other(x)`, which would be lost
    if helper and helper[1] in kinds and closing(mask, helper.end() - 1) == len(mask) - 1:
        return _sides(_arguments(condition, mask, helper.end() - 1), names, language, kinds[helper[1]])
    if (found := _EQUALS.match(mask)) and closing(mask, found.end() - 1) == len(mask) - 1:
        return _sides(_arguments(condition, mask, found.end() - 1), names, language)
    for sign in _EQUAL:
        sides = parts(condition, mask, sign)
        if len(sides) == 2:
            # `a == b && c` has two sides as well, and says more than that they are equal
            return None if _is_logical(sides, language) else _sides(sides, names, language)
        if len(sides) > 2:
            return None
    if near := _near(condition, mask, names, language):
        return near
    if _OTHER.search(_outside(mask)):
        return None
    call = mask.rfind(".equals(")
    if call > 0 and closing(mask, call + 7) == len(mask) - 1:
        return _sides([condition[:call], condition[call + 8 : -1]], names, language)
    if negated := _NOT.match(condition):
        return _sides([condition[negated.end() :], "false"], names, language)
    return _sides([condition, "true"], names, language)


def _near(condition: str, mask: str, names: tuple[str, ...], language: str) -> Equation | None:
    """``abs(f(x) - 0.5) < 1e-4``, or ``(f(x) - 0.5).abs() < 1e-4``."""
    sides = parts(condition, mask, "<")
    if len(sides) != 2 or not (bound := _BOUND.fullmatch(sides[1].strip().lstrip("= "))):
        return None
    tolerance = 10.0 ** -int(bound[1]) if bound[1] else float(bound[0].rstrip("f"))
    inside = sides[0].strip()
    if inside.endswith(".abs()"):
        inside = _bare(inside.removesuffix(".abs()"), language)
    elif found := _NEAR.match(inside):
        if closing(masked(inside, language), found.end() - 1) != len(inside) - 1:
            return None
        inside = inside[found.end() : -1]
    else:
        return None
    terms = parts(inside, masked(inside, language), "-")
    if len(terms) > 2 and not terms[1].strip():  # minus a negative number
        terms = [terms[0], "-" + terms[2]] if len(terms) == 3 else terms
    if len(terms) != 2 or not 0 < tolerance <= _LARGEST:
        return None
    found_sides = _sides(terms, names, language)
    return found_sides and Equation(found_sides.got, found_sides.wanted, "", tolerance)


def _sides(sides: list[str], names: tuple[str, ...], language: str, kind: str = "") -> Equation | None:
    """The side that names the program, and the other, which must not."""
    if len(sides) != 2:
        return None
    one, other = (side.strip() for side in sides)
    if mentions(one, names, language) and not mentions(other, names, language):
        return Equation(one, other, kind)
    if mentions(other, names, language) and not mentions(one, names, language):
        return Equation(other, one, kind)
    return None


def _is_logical(sides: list[str], language: str) -> bool:
    """Whether anything but a comparison of two sides stands outside of brackets."""
    return any(_OTHER.search(_outside(masked(side, language)).replace("->", "  ")) for side in sides)


def _outside(mask: str) -> str:
    """A text without what stands in brackets, and without what generic types have in theirs."""
    kept, depth = [], 0
    for mark in mask:
        depth -= mark in ")]}"
        if depth <= 0:
            kept.append(mark)
        depth += mark in "([{"
    # arrows hold a > that compares nothing
    text = re.sub(r"=>|->", "  ", "".join(kept))
    while (shorter := re.sub(r"(?<=[\w:])<[\w\s:,*&.?\[\]]*>", "", text)) != text:
        text = shorter
    return text


def _arguments(text: str, mask: str, start: int) -> list[str]:
    return parts(text[start + 1 : -1], mask[start + 1 : -1], ",")


def _bare(text: str, language: str) -> str:
    """A text without the brackets around all of it."""
    while text.startswith("(") and closing(masked(text, language), 0) == len(text) - 1:
        text = text[1:-1].strip()
    return text
