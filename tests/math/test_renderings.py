"""One value in random notations is one answer, from either side; two values in any notations are two."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from grpo_rewards_plugins.math.grading import grade
from hypothesis import given, settings
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32)


def fraction(value: Fraction, random: Random) -> str:
    sign, top, bottom = "-" if value < 0 else "", abs(value.numerator), value.denominator
    if bottom == 1:
        grouped = [f"{top:,}", f"{top:,}".replace(",", "{,}"), f"{top:,}".replace(",", ",\\!")]
        return sign + random.choice([str(top), f"{top}.0", *grouped])
    forms = [
        rf"\frac{{{top}}}{{{bottom}}}",
        rf"\dfrac{{{2 * top}}}{{{2 * bottom}}}",
        f"{top}/{bottom}",
        rf"\tfrac{{{top}}}{{{bottom}}}",
    ]
    if top > bottom:
        forms.append(rf"{top // bottom}\frac{{{top % bottom}}}{{{bottom}}}")
    while bottom % 2 == 0:
        bottom //= 2
    while bottom % 5 == 0:
        bottom //= 5
    if bottom == 1:
        forms.append(f"{float(abs(value)):.6f}".rstrip("0"))
    return sign + random.choice(forms)


def interval(ends: tuple[int, int], random: Random) -> str:
    low, high = ends
    half = rf"\frac{{{2 * low}}}{{2}}"
    return random.choice(
        [
            f"[{low},{high})",
            rf"\left[{low}, {high}\right)",
            rf"{low} \le x < {high}",
            rf"x \in [{half},{high})",
            rf"{high} > x \ge {low}",
            rf"\{{x \mid {low} \leq x < {high}\}}",
        ]
    )


def numbers(values: tuple[int, ...], random: Random) -> str:
    parts = [str(value) for value in random.sample(values, len(values))]
    return random.choice(
        [r"\{" + ", ".join(parts) + r"\}", ",".join(parts), r" \text{ and } ".join(parts), "x = " + ", ".join(parts)]
    )


def point(values: tuple[int, ...], random: Random) -> str:
    shown = [fraction(Fraction(value), random).replace(",", "") for value in values]
    shown = [part.replace("{}", "").replace("\\!", "") for part in shown]
    return random.choice(["({})", r"\left({}\right)", r"( {} )", "(x,y,z) = ({})"]).format(", ".join(shown))


def matrix(values: tuple[int, ...], random: Random) -> str:
    rows = [values[:2], values[2:]]
    body = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
    name = random.choice("pbB")
    return random.choice(
        [
            rf"\begin{{{name}matrix}} {body} \end{{{name}matrix}}",
            rf"\left[\begin{{array}}{{cc}} {body} \end{{array}}\right]",
            "[" + ", ".join(str(list(row)) for row in rows) + "]",
        ]
    )


def polynomial(roots: tuple[int, int, int], random: Random) -> str:
    """``a (x - b)(x - c)``."""
    a, b, c = roots
    factors = [f"(x{-b:+d})", f"(x{-c:+d})"]
    random.shuffle(factors)
    terms = [f"{a:+d}x^{{2}}", f"{-a * (b + c):+d}x", f"{a * b * c:+d}"]
    random.shuffle(terms)
    return random.choice(
        [f"{a}" + "".join(factors), "".join(terms).lstrip("+"), rf"{a}\left(x^2 {-b - c:+d}x {b * c:+d}\right)"]
    )


LENGTHS = {"m": Fraction(1), "cm": Fraction(1, 100), "km": Fraction(1000), "mm": Fraction(1, 1000)}


def length(metres: Fraction, random: Random) -> str:
    unit = random.choice(list(LENGTHS))
    value = metres / LENGTHS[unit]
    shown = f"{float(value):.9f}".rstrip("0").rstrip(".")
    spelled = random.choice(
        [r"{} \text{{ {}}}", r"{}\,\mathrm{{{}}}", r"{} \mathrm{{~{}}}", "{} {}", r"{}\ \textrm{{{}}}"]
    )
    return spelled.format(shown, unit)


INTEGERS = st.integers(-9, 9)
KINDS = {
    "fraction": (fraction, st.fractions(-5000, 5000, max_denominator=40).filter(lambda value: value != 0)),
    "interval": (interval, st.tuples(INTEGERS, INTEGERS).filter(lambda ends: ends[0] < ends[1])),
    "numbers": (
        numbers,
        st.lists(INTEGERS, min_size=2, max_size=4, unique=True).map(lambda found: tuple(sorted(found))),
    ),
    "point": (point, st.tuples(INTEGERS, INTEGERS, INTEGERS)),
    "matrix": (matrix, st.tuples(INTEGERS, INTEGERS, INTEGERS, INTEGERS)),
    "polynomial": (
        polynomial,
        st.tuples(st.integers(2, 9), INTEGERS, INTEGERS).map(lambda abc: (abc[0], *sorted(abc[1:]))),
    ),
    "length": (length, st.integers(1, 9000).map(lambda size: Fraction(size, 100))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_value_is_one_answer_and_another_is_not(kind: str) -> None:
    values: Any
    render: Any
    render, values = KINDS[kind]

    @settings(max_examples=25)
    @given(values, values, SEEDS)
    def check(one: object, other: object, seed: int) -> None:
        random = Random(seed)
        first, again, second = render(one, random), render(one, random), render(other, random)
        for gold, answer in ((first, again), (again, first)):
            assert grade(gold, answer, timeout=30).equal, (gold, answer)
        for gold, answer in product((first, second), repeat=2):
            if gold is not answer:
                assert grade(gold, answer, timeout=30).equal == (one == other), (gold, answer)

    check()
