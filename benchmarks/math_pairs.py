"""Labelled pairs for the benchmark of `math`, made up: for a machine that has the repository and nothing else."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["made_up"]

SENTENCES = (
    "First we write down what is given.",
    "Then both sides are multiplied by {}.",
    "That leaves {} of them for the second day.",
    "Adding the two parts gives {}.",
    "We check the result by putting it in again.",
)
ENDINGS = ("The answer is \\boxed{{{}}}.", "#### {}", "A: {}", "<answer>{}</answer>", "Therefore, the answer is ${}$.")
HOSTILE = (
    "9^{9^{9^{9}}}", "(10^{10})!", "1.0000001^{10^{12}}", "\\sqrt{" * 2000 + "1" + "}" * 2000, "x+" * 50_000 + "x",
    "2\\cdot " * 20_000 + "2", "(" * 5000, "1" * 4999 + "2", "\\sum_{n=1}^{\\infty}\\frac{\\sin(n^{2})}{n^{2}+\\ln n}",
    "__import__('os').system('true')", "10^{-1000000000}", "\\binom{10^{9}}{5\\cdot 10^{8}}", "{" * 20_000 + "1" + "}" * 20_000,
)  # fmt: skip


def _expression(chance: random.Random) -> tuple[str, str, str]:
    """A gold, another way to write it, and a near miss."""
    a, b, c = chance.randint(2, 60), chance.randint(2, 60), chance.randint(2, 9)
    kinds = (
        (f"\\frac{{{a}}}{{{a + b}}}", f"{a * c}/{(a + b) * c}", f"\\frac{{{a}}}{{{a + b + 1}}}"),
        (f"{a}\\sqrt{{{c}}}", f"\\sqrt{{{a * a * c}}}", f"{a}\\sqrt{{{c + 1}}}"),
        (f"x^2+{a + b}x+{a * b}", f"(x+{a})(x+{b})", f"(x+{a})(x-{b})"),
        (f"({a},{b})", f"\\left({a}, \\frac{{{2 * b}}}{{2}}\\right)", f"({b + 1},{a})"),
        (f"{a}, {a + b}", f"{a + b} \\text{{ and }} {a}", f"{a}, {a + b + 1}"),
        (f"[{a},\\infty)", f"x \\ge {a}", f"x > {a}"),
        (f"{a}\\text{{ cm}}", f"{a}.0", f"{a}\\text{{ m}}"),
        (f"{a}\\%", f"\\frac{{{a}}}{{100}}", f"0.{a}1"),
        (f"{a}+{b}i", f"{b}i+{a}", f"{a}-{b}i"),
        (f"\\frac{{\\pi}}{{{c}}}", f"\\pi/{c}", f"{3.14159 / c:.4f}"),
        (f"{a}{b}00", f"{a}{b}\\times10^2", f"{a}{b}01"),
        (f"\\sin^2 {a}x", f"1-\\cos^2 {a}x", f"1-\\sin^2 {a}x"),
    )
    return kinds[chance.randrange(len(kinds))]


def _solution(chance: random.Random, answer: str, ending: str) -> str:
    lines = [chance.choice(SENTENCES).format(chance.randint(2, 99)) for _ in range(chance.randint(3, 7))]
    return "\n".join([*lines, ending.format(answer)])


def made_up(*, seed: int = 11) -> dict[str, list[dict[str, Any]]]:
    """Pairs by name of their set: gold, completion, expected, and seconds allowed where that is limited."""
    chance = random.Random(seed)
    expressions, solutions = [], []
    for _ in range(400):
        gold, same, other = _expression(chance)
        for answer, expected in ((gold, True), (same, True), (other, False)):
            completion = _solution(chance, answer, ENDINGS[0])
            expressions.append({"gold": gold, "completion": completion, "expected": expected, "limit": None})
    for turn in range(2_000):
        right = chance.randint(1, 5_000)
        said = right if turn % 3 else right + chance.randint(1, 9)
        completion = _solution(chance, f"{said:,}" if turn % 2 else str(said), ENDINGS[turn % len(ENDINGS)])
        solutions.append({"gold": str(right), "completion": completion, "expected": said == right, "limit": None})
    hostile = [{"gold": "42", "completion": f"\\boxed{{{x}}}", "expected": False, "limit": 5.0} for x in HOSTILE]
    return {"made_up_expressions": expressions, "made_up_solutions": solutions, "made_up_hostile": hostile}
