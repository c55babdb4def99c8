"""What the package's scorers give to `eval`: literals and bounded arithmetic, read instead of run; and formulas that are safe to parse."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import ast
import io
import token
import tokenize

from grpo_rewards_plugins.operators import evaluated
from grpo_rewards_plugins.syntax import literal, parse

_LONGEST = 100_000  # characters
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def evaluate(text: str, *_names: object) -> object:
    """Return what Python's `eval` returns for literals and arithmetic on small numbers; anything else is refused.

    Raises:
        ValueError: it is something else, or too large.
        SyntaxError: it is no expression.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long")
    return evaluated(parse(text.lstrip(" \t"), mode="eval").body, _ARITHMETIC)


# ------------------------------------------------------------------------------------------------ formulas

_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc asin acos atan acot asec acsc sinh cosh tanh coth sech csch asinh acosh atanh acoth exp log ln "
    "sqrt cbrt Abs sign Rational Integer Float Add Mul Pow pi E I oo erf erfi Si Ci Ei li factorial gamma floor ceiling re im "
    "conjugate arg Min Max root expand simplify factor".split()
)
_SKIPPED = frozenset({token.NEWLINE, token.NL, token.ENDMARKER, token.INDENT, token.DEDENT})
_REFUSED_MARKS = frozenset({".", "[", "]", "{", "}", ":", ";", ":=", "@", "->", "=", "\\"})
_WORDS = frozenset({"lambda", "for", "in", "if", "else", "import", "yield", "await", "async", "global", "nonlocal"})


def check_formula(text: str, known: dict[str, object]) -> None:
    """Refuse a formula that sympy's parser would run as more than arithmetic and its own functions.

    `known` are the names that the parser would look up: a name that is not among them becomes a symbol. A quoted formula is
    checked for what it quotes, since sympy reads texts as formulas.

    Raises:
        ValueError: it holds an attribute, an index, a name of something that can be called, or is too long.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long")
    tokens = [item for item in _tokens(text) if item.type not in _SKIPPED]
    if len(tokens) == 1 and tokens[0].type == token.STRING:
        inner = literal(tokens[0].string)
        if not isinstance(inner, str):
            raise ValueError("bytes are no formula")
        check_formula(inner, known)
        return
    for item in tokens:
        if item.type == token.NAME and not _harmless(item.string, known):
            raise ValueError(f"the name {item.string[:40]!r} is not allowed in a formula")
        if item.type == token.STRING or (item.type == token.OP and item.string in _REFUSED_MARKS):
            raise ValueError(f"{item.string[:40]!r} is not allowed in a formula")


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text.strip()).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError) as problem:
        raise ValueError(f"no formula: {problem}") from None


def _harmless(name: str, known: dict[str, object]) -> bool:
    if name in _FUNCTIONS:
        return True
    return name not in known and name not in _WORDS and not name.startswith("__")
