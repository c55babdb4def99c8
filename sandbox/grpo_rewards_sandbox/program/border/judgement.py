"""When an object of the candidate may be compared with, or combined with, data of the tests.

A candidate's object never equals a plain value because it says so. Objects of classes that the tests do not name never
see the tests' data at all. Objects of a named class are asked, but about the right value and 63 wrong ones at once, among
which it cannot be told (`variants`): what it says counts only where it says it of hardly any other.
"""

from __future__ import annotations

import random
from typing import Any

from .codec import Ref
from .variants import NotPlain, step, variants

_TIES = 3  # so many wrong values may look as right as the right one: rounding, the sign that abs() drops
_FAR = 10**9
_draw = random.SystemRandom()
# differences and ratios: what a tolerance is asked of. The value that says "equal".
CLOSENESS = {"sub": 0.0, "rsub": 0.0, "truediv": 1.0, "rtruediv": 1.0}
_CLAIMS_TRUE = frozenset(("eq", "lt", "le"))
_NUMBERS = (int, float)


class Siblings:
    """What one object would be, had it been computed from each of the variants instead; the real one first."""

    __slots__ = ("neutral", "step", "values")

    def __init__(self, values: list[Any], neutral: float, apart: float) -> None:
        self.values, self.neutral, self.step = values, neutral, apart


def ask(peer: Any, operation: str, questions: list[tuple[Any, ...]]) -> list[tuple[bool, Any]]:
    """Ask the candidate for the same operation on many operands at once, in an order it knows nothing of.

    Return for each whether it had a result, and the result.
    """
    order = list(range(len(questions)))
    _draw.shuffle(order)
    answers = peer.request("each", operation, tuple(questions[at] for at in order))
    if type(answers) is not tuple or len(answers) != len(order):
        raise peer.protocol("answers to other questions")
    found: list[Any] = [None] * len(order)
    for at, answer in zip(order, answers, strict=True):
        if type(answer) is not tuple or len(answer) != 2:
            raise peer.protocol("an answer")
        found[at] = (answer[0] is True, answer[1])
    return found


def agrees(peer: Any, number: int, value: Any) -> bool:
    """An object of a named class equals plain data: it says so of this, and of nothing else."""
    try:
        asked = variants(value)
    except NotPlain:
        return False  # an object of the tests: it may have an opinion itself, and is asked by Python next
    real, *others = ask(peer, "eq", [(Ref(number), other) for other in asked])
    if not real[0]:
        peer.request("op", "eq", Ref(number), value)  # for the exception
    return real[1] is True and not any(said is True for _, said in others)


def contains(peer: Any, number: int, value: Any) -> Any:
    """An object of a named class contains plain data: it says so, and not of just anything."""
    answer = peer.request("op", "contains", Ref(number), value)
    return _refuses_some(peer, "contains", number) if answer is True else answer


def discerns(peer: Any, number: int) -> bool:
    """An object that says it equals another of the candidate's objects does not say so of just anything."""
    return _refuses_some(peer, "eq", number)


def _refuses_some(peer: Any, operation: str, number: int) -> bool:
    far = [_FAR + _draw.randrange(_FAR), -_FAR - _draw.randrange(_FAR), _draw.random() * _FAR, None, (_FAR,)]
    foils = [*far, "".join(_draw.choices("abcdefghijklmnopqrstuvwxyz", k=12))]
    return not all(said is True for _, said in ask(peer, operation, [(Ref(number), foil) for foil in foils]))


def compares(peer: Any, number: int, operation: str, value: Any, defined: list[str]) -> Any:
    """`<` and the like with plain data; NotImplemented where the object's answers contradict each other."""
    try:
        asked = variants(value)
    except NotPlain:
        return peer.request("op", operation, Ref(number), value)
    said = {}
    for name in {*defined, operation}:
        said[name] = [answer for _, answer in ask(peer, name, [(Ref(number), other) for other in asked])]
    never = [False] * len(asked)
    less, greater = said.get("lt", never), said.get("gt", never)
    at_most, at_least = said.get("le", never), said.get("ge", never)
    both = sum(a is True and b is True for a, b in zip(at_most, at_least, strict=True))
    strict = zip(less, greater, at_most, at_least, strict=True)
    if both > 1 or any(
        (lt and (gt or ge)) or (gt and le) for lt, gt, le, ge in strict if {lt, gt, le, ge} <= {True, False}
    ):
        return NotImplemented
    answer = said[operation][0]
    return answer if type(answer) is bool else peer.request("op", operation, Ref(number), value)


def combines(peer: Any, number: int, operation: str, value: Any) -> Any:
    """A difference from, or a ratio to, a plain number: it must change with that number."""
    try:
        asked = variants(value)
    except NotPlain:
        return peer.request("op", operation, Ref(number), value)
    answers = ask(peer, operation, [(Ref(number), other) for other in asked])
    if not answers[0][0]:
        return peer.request("op", operation, Ref(number), value)  # for the exception
    apart = step(value)
    if operation.endswith("truediv"):
        apart /= abs(value) or 1
    return follow(operation, Siblings([said for done, said in answers if done], CLOSENESS[operation], apart))


def operate(peer: Any, operation: str, siblings: Siblings, arguments: tuple[Any, ...]) -> Any:
    """Do with every sibling what the tests do with the real one."""
    numbers = [object.__getattribute__(part, "_border_number") for part in siblings.values if _is_mirror(part)]
    answers = ask(peer, operation, [(Ref(number), *arguments) for number in numbers])
    if not answers or not answers[0][0]:
        return peer.request("op", operation, Ref(numbers[0]), *arguments)
    return follow(operation, Siblings([said for done, said in answers if done], siblings.neutral, siblings.step))


def follow(operation: str, found: Siblings) -> Any:
    """Return the real result, if it does not say "equal" of more than it can know."""
    real = found.values[0]
    if _is_mirror(real):
        object.__setattr__(real, "_border_siblings", found)
        return real
    return real if credible(operation, found) else NotImplemented


def credible(operation: str, found: Siblings) -> bool:
    """The real one does not look equal along with the siblings, which would be equal to other values."""
    real = found.values[0]
    if type(real) is bool:
        claim = operation in _CLAIMS_TRUE
        if real is not claim or operation in ("gt", "ge"):
            return True
        return sum(value is real for value in found.values) <= _TIES
    if type(real) is str:
        return not any(c.isdigit() for c in real) or found.values.count(real) <= _TIES
    if type(real) not in _NUMBERS:
        return True
    off = abs(real - found.neutral)
    if not off < found.step / 2:
        return True
    nearer = [value for value in found.values if type(value) in _NUMBERS and abs(value - found.neutral) <= off]
    return len(nearer) <= _TIES


def _is_mirror(value: Any) -> bool:
    from .mirrors import Mirror

    return isinstance(value, Mirror)
