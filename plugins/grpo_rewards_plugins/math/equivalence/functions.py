"""Functions of values: powers, roots, logarithms, factorials and the like, of exact rationals and of balls.

Nothing here runs long: exact powers and factorials have caps, beyond which balls take over.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb, fmpq, fmpz

NO_SMALL_INTEGER = "no small integer"

_EXACT_BITS = 60_000


class Undefined(ArithmeticError):
    """The expression has no finite value here."""


class Unknown(ArithmeticError):
    """The expression is of a kind that has no number, or costs too much."""


def _exact_power(base: fmpq, exponent: int) -> object:
    if base == 0:
        if exponent <= 0:
            raise Undefined("a power of zero")
        return base
    size = max(int(base.p.bit_length()), int(base.q.bit_length()))
    if base in (1, -1) or abs(exponent) * size <= _EXACT_BITS:
        return base**exponent
    return arb(base) ** fmpz(exponent)


def _root(base: fmpq, exponent: fmpq) -> Any:
    """A rational power; the real root where the denominator is odd (``(-8)^{1/3} = -2``), the principal one else."""
    degree, times = int(exponent.q), exponent.p
    if base < 0:
        if degree % 2:
            value = _root(-base, exponent)
            return -value if int(times) % 2 else value
        return acb(base) ** acb(exponent)
    if base == 0:
        if exponent < 0:
            raise Undefined("a negative power of zero")
        return base
    if degree <= 64 and max(int(base.p.bit_length()), int(base.q.bit_length())) < 4_000:
        top, bottom = base.p.root(degree), base.q.root(degree)
        if top**degree == base.p and bottom**degree == base.q and abs(times) < 10_000:
            return _exact_power(fmpq(top, bottom), int(times))
    return arb(base) ** exponent


def raised(base: Any, exponent: Any) -> object:
    if isinstance(exponent, fmpq):
        if isinstance(base, fmpq):
            if exponent.q == 1:
                if abs(exponent.p) < 1 << 62:
                    return _exact_power(base, int(exponent.p))
                if base == 0 and exponent < 0:
                    raise Undefined("a negative power of zero")
                if base in (0, 1, -1):
                    return base if base != -1 or exponent.p % 2 else -base
                return arb(base) ** exponent.p
            if abs(exponent.p) < 1 << 40 and exponent.q < 1 << 20:
                return _root(base, exponent)
            return arb(base) ** arb(exponent) if base > 0 else acb(base) ** acb(exponent)
        if exponent.q == 1:
            value = base ** fmpz(exponent.p)
            if not value.is_finite():
                raise Undefined("a power without a finite value")
            return value
        if isinstance(base, arb):
            if base > 0:
                return base**exponent
            if base < 0 and int(exponent.q) % 2 and exponent.q < 1 << 20:
                value = (-base) ** exponent
                return -value if int(exponent.p) % 2 else value
            if base < 0:
                return acb(base) ** acb(exponent)
            if exponent > 0:
                return base.abs_upper() ** exponent * arb(0, 1)  # a ball around zero
            raise Undefined("a root near zero")
        return base ** acb(exponent)
    if isinstance(exponent, arb):
        real = arb(base) if isinstance(base, fmpq) else base
        if isinstance(real, arb) and real > 0:
            return real**exponent
        if isinstance(base, fmpq) and base == 0:
            if exponent > 0:
                return base
            raise Undefined("a power of zero")
    return acb(base) ** acb(exponent)


def as_real(value: object) -> Any:
    if isinstance(value, acb):
        if value.imag.is_zero():
            return value.real
        raise Undefined("a complex number where a real one is needed")
    return value


_BALL_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth", "sech": "sech", "csch": "csch", "asin": "asin", "acos": "acos", "atan": "atan",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "exp": "exp", "erf": "erf",
}  # fmt: skip
_NEED_COMPLEX = frozenset(("asin", "acos", "acosh", "atanh"))
_INVERTED = {"asec": "acos", "acsc": "asin"}


def _log(value: Any) -> Any:
    if isinstance(value, fmpq):
        if value == 1:
            return fmpq(0)
        if value == 0:
            raise Undefined("the logarithm of zero")
        return arb(value).log() if value > 0 else acb(value).log()
    if isinstance(value, arb) and value > 0:
        return value.log()
    return acb(value).log()


def _log_to(value: object, base: object) -> object:
    """A logarithm, exact where it is a whole number, so that rounding it is too."""
    found = _log(value) / _log(base)
    if isinstance(found, arb) and isinstance(value, fmpq) and isinstance(base, fmpq):
        whole = found.unique_fmpz()
        if whole is not None and abs(whole) <= _LARGEST_LOG and base ** int(whole) == value:
            return fmpq(whole)
    return found


_LARGEST_LOG = 64


def ball_call(name: str, value: Any) -> Any:
    if isinstance(value, fmpq):
        # exact where it can be: of a ball it is never certain that it is 0
        if value == 0 and name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"):
            return fmpq(0)
        if value == 0 and name in ("cos", "exp", "cosh", "sec", "sech"):
            return fmpq(1)
    ball = value if isinstance(value, acb) else arb(value)
    result = getattr(ball, name)()
    # outside of their real domain
    if name in _NEED_COMPLEX and isinstance(ball, arb) and result.is_nan():
        result = getattr(acb(ball), name)()
    return result


def as_integer(value: object, limit: int) -> int:
    if isinstance(value, fmpq) and value.q == 1 and abs(value.p) <= limit:
        return int(value.p)
    raise Unknown(NO_SMALL_INTEGER)


_LARGEST_ZETA = 64


def _factorial(value: object) -> object:
    if isinstance(value, fmpq) and value.q == 1:
        if value < 0:
            raise Undefined("the factorial of a negative number")
        # above, a ball: the exact factorial of a large number would take all memory
        if value <= 3_000:
            return fmpq(fmpz.fac_ui(value.p))
    return arb(value).gamma() if isinstance(value, fmpq) and value == 0 else (_real_or_ball(value) + 1).gamma()


def _real_or_ball(value: object) -> Any:
    return arb(value) if isinstance(value, fmpq) else value


def _binomial(top: object, bottom: object) -> object:
    if isinstance(top, fmpq) and isinstance(bottom, fmpq) and top.q == 1 and bottom.q == 1:
        if bottom < 0 or (0 <= top < bottom):
            return fmpq(0)
        if 0 <= top <= 3_000:
            return fmpq(fmpz.bin_uiui(int(top.p), int(bottom.p)))
    x, y = _real_or_ball(top), _real_or_ball(bottom)
    return (x + 1).gamma() / ((y + 1).gamma() * (x - y + 1).gamma())


def _choose(values: list[object], *, largest: bool) -> object:
    best = values[0]
    for value in values[1:]:
        value, best = as_real(value), as_real(best)
        if value > best:
            best = value if largest else best
        elif value < best:
            best = best if largest else value
        elif not (isinstance(value, fmpq) and isinstance(best, fmpq)):
            raise Unknown("which is larger is open")
    return best


def call(name: str, args: list[Any]) -> Any:
    first = args[0]
    if name in _BALL_FUNCTIONS:
        return ball_call(_BALL_FUNCTIONS[name], first)
    if name == "ln" or (name == "log" and len(args) == 1):
        return _log(first)
    if name in ("log", "lb"):
        return _log_to(first, args[1] if name == "log" else fmpq(2))
    if name == "abs" or name == "norm":
        return (
            abs(first)
            if isinstance(first, acb)
            else (first if first >= 0 else -first if first < 0 else abs(arb(first)))
        )
    if name in ("floor", "ceil"):
        real = as_real(first)
        if isinstance(real, fmpq):
            return fmpq(real.floor() if name == "floor" else real.ceil())
        return real.floor() if name == "floor" else real.ceil()
    if name == "sign":
        real = as_real(first)
        return fmpq(1) if real > 0 else fmpq(-1) if real < 0 else fmpq(0) if isinstance(real, fmpq) else real.sgn()
    if name == "factorial":
        return _factorial(first)
    if name == "factorial2":
        value, out = as_integer(first, 2_000), fmpz(1)
        while value > 1:
            out, value = out * value, value - 2
        return fmpq(out)
    if name == "zeta":
        if not 1 < as_real(first) <= _LARGEST_ZETA:  # beyond, it is 1 but for digits that no ball of ours has
            raise Unknown(NO_SMALL_INTEGER)
        return _real_or_ball(first).zeta()
    if name == "gamma":
        return _factorial(first - 1)
    if name == "binom":
        return _binomial(first, args[1])
    if name == "mod":
        if args[1] == 0:
            raise Undefined("modulo zero")
        quotient = call("floor", [first / args[1]])
        return first - args[1] * quotient
    if name in ("gcd", "lcm"):
        out = fmpz(as_integer(first, 1 << 200))
        for value in args[1:]:
            other = fmpz(as_integer(value, 1 << 200))
            out = out.gcd(other) if name == "gcd" else out.lcm(other)
        return fmpq(out)
    if name in ("max", "min"):
        return _choose(args, largest=name == "max")
    if name == "acot":  # between 0 and pi, so that it has no step at 0
        return arb.pi() / 2 - ball_call("atan", first)
    if name in _INVERTED:
        return ball_call(_INVERTED[name], 1 / first)
    if name == "conj":
        return first.conjugate() if isinstance(first, acb) else first
    if name == "re":
        return first.real if isinstance(first, acb) else first
    if name == "im":
        return first.imag if isinstance(first, acb) else fmpq(0)
    if name == "arg":
        return acb(first).arg()
    raise Unknown(f"the function {name}")
