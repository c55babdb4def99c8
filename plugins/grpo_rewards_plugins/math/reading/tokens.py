"""Text into tokens: one regular expression without nested repeats, one pass, a cap on length."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from typing import NamedTuple

from .tree import ParseError
from .words import CONSTANT_WORDS, FUNCTIONS, GREEK, RELATIONS, SKIPPED, TEXT_COMMANDS

__all__ = ["MAX_CHARACTERS", "MAX_TOKENS", "Token", "tokenize"]

MAX_CHARACTERS = 20_000
MAX_TOKENS = 3_000


class Token(NamedTuple):
    """``kind``: num id func const cmd text rel op sep env; ``text``: its value; ``spaced``: a space stood before it."""

    kind: str
    text: str
    spaced: bool


_SCAN = re.compile(
    r"(?P<space>(?:\s|~|\\[,;:! ])+)"
    r"|(?P<num>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,9}(?![\d.a-zA-Z]))?)"
    r"|(?P<cmd>\\(?:operatorname\*|not\s?=|[a-zA-Z]+))"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<rel><=|>=|!=|==|=<|<>|:=|->|[<>=])"
    r"|(?P<dots>\.\.\.)"
    r"|(?P<esc>\\.)"
    r"|(?P<op>\*\*|.)",
    re.DOTALL | re.ASCII,
)

_LETTER_SPLIT = re.compile(
    r"(?:arcsinh|arccosh|arctanh|arcsin|arccos|arctan|sinh|cosh|tanh|sqrt|sin|cos|tan|cot|sec|csc|log|ln|exp|pi|or)"
)
_BRACES = {"{": 1, "}": -1}
_MATHY = re.compile(r"[\d\s+\-*/^_(){}.,=<>:|!%$]*|\\?[A-Za-z]|.*\\(?:d?frac|sqrt|pi|cdot|times|circ)\b.*", re.DOTALL)
_WORDY = ("\\text", "\\mbox")
_IN_TEXT = frozenset("log ln sin cos tan sqrt gcd lcm arcsin arccos arctan exp sgn".split())  # no word of a sentence
_SEPARATORS = {"and": "and", "or": "or", ",and": "and", ",or": "or", "&": "and", "et": "and", "und": "and", "y": "and"}


_ESCAPED = {"\\{": "\\{", "\\}": "\\}", "\\|": "\\|", "\\\\": "\\\\", "\\%": "%", "\\$": "\\$", "\\^": "^"}
_ALIASES = {
    "\\lbrace": "\\{",
    "\\rbrace": "\\}",
    "\\lbrack": "[",
    "\\rbrack": "]",
    "\\colon": ":",
    "\\cr": "\\\\",
    "\\Vert": "\\|",
}


_TIMES_OF_UNITS = frozenset(("min", "sec"))
_BEFORE_VALUE = frozenset(("+", "-", "=", "(", "{", "[", ",", "\\cdot", "\\times", "*", "^", "<", ">", "|"))
_CALLS = re.compile(r"\s*(?:[(\[{_^a-zA-Z0-9]|\\(?![,;!.]|right|q?quad))")
_BESIDE = re.compile(r"\s*(?:-?\d|\(|[a-zA-Z](?:_\w)?\s*(?:[=<>]|\\(?:le|ge|lt|gt|neq?|in)(?![a-z])))")


def _ends_value(token: Token) -> bool:
    """May a value end here, so that a wide space behind it stands between two answers?"""
    return token.kind in ("num", "const") or (token.kind == "id" and len(token.text) == 1) or token.text in (")", "}")


def _group(text: str, start: int) -> tuple[str, int]:
    """What stands in the braces that open at ``start`` and the place after them."""
    depth, at, end = 0, start, len(text)
    while at < end:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char in _BRACES:
            depth += _BRACES[char]
            if depth == 0:
                return text[start + 1 : at], at + 1
        at += 1
    return text[start + 1 :], end


def _word(word: str, spaced: bool, out: list[Token]) -> None:
    if len(word) == 1:
        out.append(Token("id", word, spaced))
    elif word in FUNCTIONS:
        out.append(Token("func", FUNCTIONS[word], spaced))
    elif word in CONSTANT_WORDS:
        out.append(Token("const", CONSTANT_WORDS[word], spaced))
    elif word in ("or", "and"):
        out.append(Token("sep", word, spaced))
    elif word in ("cup", "cap", "mod", "infty", "frac", "dfrac", "tfrac", "cdot", "times"):
        out.append(Token("cmd", "\\" + word, spaced))
    elif word == "to" and out and out[-1].kind == "num":
        out.append(Token("op", ":", spaced))
    elif word in GREEK:
        out.append(Token("id", "\\" + word, spaced))
    else:
        match = _LETTER_SPLIT.match(word)
        rest = word[match.end() :] if match else ""
        if match and (len(rest) == 1 or rest in FUNCTIONS or rest in GREEK or rest == "pi"):
            _word(match[0], spaced, out)
            _word(rest, False, out)
        else:
            out.append(Token("word", word, spaced))


def _text(command: str, content: str, spaced: bool, out: list[Token], depth: int) -> None:
    """A text command's braces: a connective, a symbol, a formula or words."""
    plain = content.replace("~", " ").replace("\\ ", " ").replace("\\,", " ").strip()
    low = plain.lower().strip(" ,;")
    if low in _SEPARATORS and command not in ("\\mathrm", "\\mathbf"):
        out.append(Token("sep", _SEPARATORS[low], spaced))
    elif not plain:
        return
    elif len(plain) == 1 and plain.isalpha():
        unit = command in ("\\mathrm", "\\text", "\\mbox", "\\rm") and content[:1] in " ~\\"
        out.append(Token("text" if unit else "id", plain, spaced))
    elif low == "to" and out and out[-1].kind == "num":
        out.append(Token("op", ":", spaced))
    elif low == "mod":
        out.append(Token("cmd", "\\bmod", spaced))
    elif plain in FUNCTIONS and content[:1] not in (" ", "~", "\\") and (plain in _IN_TEXT or command not in _WORDY):
        out.append(Token("func", FUNCTIONS[plain], spaced))
    elif (_MATHY.fullmatch(plain) or plain[0].isdigit()) and depth < 3:
        inner = _tokens(plain, depth + 1)
        if inner:
            inner[0] = inner[0]._replace(spaced=spaced)
        out.extend(inner)
    else:
        out.append(Token("text", plain, spaced))


def _tokens(text: str, depth: int) -> list[Token]:
    out: list[Token] = []
    at, end, spaced = 0, len(text), False
    scan = _SCAN.match
    while at < end:
        match = scan(text, at)
        if match is None:  # cannot happen: the last branch takes any character
            raise ParseError(f"a character that cannot be read at {at}")
        kind, piece = match.lastgroup, match[0]
        at = match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "num":
            out.append(Token("num", piece, spaced))
        elif kind == "word":
            _word(piece, spaced, out)
        elif kind == "op":
            out.append(Token("op", "^" if piece == "**" else piece, spaced))
        elif kind == "rel":
            out.append(Token("rel", RELATIONS[piece], spaced))
        elif kind == "cmd":
            at = _command(text, piece, at, spaced, out, depth)
        elif kind == "dots":
            out.append(Token("cmd", "\\ldots", spaced))
        elif piece in _ESCAPED:
            out.append(Token("op", _ESCAPED[piece], spaced))
        elif piece in ("\\#", "\\_", "\\&", "\\/", "\\-", "\\\n"):
            pass
        else:
            raise ParseError(f"the unknown sequence {piece!r}")
        spaced = False
        if len(out) > MAX_TOKENS:
            raise ParseError(f"more than {MAX_TOKENS} symbols")
    return out


def _command(text: str, name: str, at: int, spaced: bool, out: list[Token], depth: int) -> int:
    """One LaTeX command; returns the place after it."""
    if name in TEXT_COMMANDS:
        while at < len(text) and text[at] == " ":
            at += 1
        if at < len(text) and text[at] == "{":
            content, at = _group(text, at)
            if name in ("\\textcolor", "\\color"):
                return at
            plain = content.strip(" ~\\,")
            if plain in _TIMES_OF_UNITS and out and out[-1].text not in _BEFORE_VALUE and not _CALLS.match(text, at):
                out.append(Token("text", plain, spaced))  # minutes, not a minimum
            else:
                _text(name, content, spaced, out, depth)
        return at
    bare = name[1:]
    if name in ("\\left", "\\right"):
        if at < len(text) and text[at] == "|":
            out.append(Token("op", "|(" if name == "\\left" else "|)", spaced))
            return at + 1
        if at < len(text) and text[at] == ".":
            return at + 1
    elif name in _ALIASES:
        out.append(Token("op", _ALIASES[name], spaced))
    elif name in RELATIONS:
        out.append(Token("rel", RELATIONS[name], spaced))
    elif name.startswith("\\not") and name.endswith("="):
        out.append(Token("rel", "!=", spaced))
    elif bare in FUNCTIONS and bare != "binom" and bare != "sqrt" and bare != "Gamma":
        out.append(Token("func", FUNCTIONS[bare], spaced))
    elif bare in ("pi", "infty"):
        out.append(Token("const", CONSTANT_WORDS[bare], spaced))
    elif bare in GREEK:
        out.append(Token("id", name, spaced))
    elif name in ("\\begin", "\\end"):
        if at < len(text) and text[at] == "{":
            content, at = _group(text, at)
            if name == "\\begin" and content.startswith(("array", "tabular")) and text[at : at + 1] == "{":
                _, at = _group(text, at)
            out.append(Token("env", name[1:] + " " + content.rstrip("*"), spaced))
    elif name in ("\\hspace", "\\vspace", "\\phantom", "\\hphantom", "\\vphantom", "\\label", "\\tag", "\\kern"):
        if at < len(text) and text[at] == "{":
            _, at = _group(text, at)
    elif name in ("\\quad", "\\qquad") and out and _BESIDE.match(text, at) and _ends_value(out[-1]):
        out.append(Token("op", ",", spaced))
    elif name in SKIPPED:
        pass
    elif name in ("\\cdots", "\\dots", "\\dotsc", "\\dotsm", "\\dotsb", "\\ldots"):
        out.append(Token("cmd", "\\ldots", spaced))
    elif name.startswith(("\\quad", "\\qquad")):
        _word(name[6 if name[1] == "q" and name[2] == "q" else 5 :], spaced, out)
    else:
        out.append(Token("cmd", name, spaced))
    return at


def tokenize(text: str) -> list[Token]:
    """Tokens of a cleaned text.

    Raises :class:`ParseError` on a text too long or a sequence unknown.
    """
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"longer than {MAX_CHARACTERS} characters")
    return _tokens(text, 0)
