"""Text into tokens: one regular expression without nested repeats, one pass, a cap on length."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from typing import NamedTuple

from .tree import ParseError
from .unit_expressions import unit_pieces
from .units import CURRENCY_CODES
from .vocabulary import CONSTANT_WORDS, FUNCTIONS, GREEK, RELATIONS, SKIPPED, TEXT_COMMANDS

MAX_CHARACTERS = 20_000
MAX_TOKENS = 3_000


class Token(NamedTuple):
    """``kind``: num id func const cmd text unit rel op sep env; ``text``: its value; ``spaced``: a space stood before it."""

    kind: str
    text: str
    spaced: bool


# letters and digits of ASCII: `clean` has brought all others there; 2e3 is a number, 2e3x a product
_SCAN = re.compile(
    r"(?P<space>(?:\s|~|\\[,;:! ])+)"
    r"|(?P<num>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,9}(?![\d.a-zA-Z]))?)(?:\.(?=[*/^]))?"
    r"|(?P<cmd>\\(?:operatorname\*|not\s?=|[a-zA-Z]+))"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<rel><=|>=|!=|==|=<|<>|:=|->|[<>=])"
    r"|(?P<dots>\.\.\.)"
    r"|(?P<esc>\\.)"
    r"|(?P<op>\*\*|.)",
    re.DOTALL | re.ASCII,
)

# "sinx" and "lnx": a function that lost its space
_LETTER_SPLIT = re.compile(
    r"(?:arcsinh|arccosh|arctanh|arcsin|arccos|arctan|sinh|cosh|tanh|sqrt|sin|cos|tan|cot|sec|csc|log|ln|exp|pi|or)"
)
_BRACES = {"{": 1, "}": -1}
_MATHY = re.compile(r"[\d\s+\-*/^_(){}.,=<>:|!%$]*|\\?[A-Za-z]|.*\\(?:d?frac|sqrt|pi|cdot|times|circ)\b.*", re.DOTALL)
_BOLD, _INDEXED = ("\\mathbf", "\\boldsymbol", "\\bm", "\\mathit"), re.compile(r"[A-Za-z]_(?:\w|\{\w{1,8}\})")
_WORDY = ("\\text", "\\mbox")
_IN_TEXT = frozenset(
    "log ln cis sin cos tan sqrt gcd lcm arcsin arccos arctan exp sgn".split()
)  # no word of a sentence
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


_UPRIGHT = frozenset(
    (
        "\\text",
        "\\mathrm",
        "\\textrm",
        "\\mbox",
        "\\rm",
        "\\hbox",
        "\\operatorname",
        "\\textnormal",
        "\\unit",
        "\\textup",
        "\\mathsf",
    )
)
_BEFORE_UNIT = frozenset((")", "}", "]", "!", "|)", "\\rangle"))
_BETWEEN_UNITS = frozenset(("/", "*", "\\cdot", "\\times", "("))
_VARIANTS = {f"\\var{name}": f"\\{name}" for name in ("epsilon", "phi", "theta", "rho", "sigma")} | {
    "\\ell": "l",
    "\\top": "T",
    "\\intercal": "T",
}
_TRANSPOSED = ("\\top", "\\intercal")
_FRACTIONS = frozenset(("\\frac", "\\dfrac", "\\tfrac"))
_SAFE_RATES = re.compile(r"(?:k?m|cm|mm|mi|ft|k?g|mg|m?L|rad|rev)/(?:s|h|hr|min|sec|L|cm|mol)(?:\^\{?\d\}?)?")
_CALLS = re.compile(r"\s*(?:[(\[{_^a-zA-Z0-9]|\\(?![,;!.]|right|q?quad))")
_OF = re.compile(r"\s*(?:[(\[{_a-zA-Z]|\\(?![,;!.]|right|q?quad))")  # what a minimum is of
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
        # only before one letter or name, or "single" would be the sine of gle
        if match and (len(rest) == 1 or rest in FUNCTIONS or rest in GREEK or rest == "pi"):
            _word(match[0], spaced, out)
            _word(rest, False, out)
        else:
            out.append(Token("word", word, spaced))


def _follows_value(out: list[Token], content: str, spaced: bool) -> bool:
    """May upright letters be a unit here: behind a value, or behind another unit?"""
    if not out:
        return False
    last = out[-1]
    if last.kind == "id" and last.text != "\\mu":
        return spaced or content[:1] in " ~\\" or len(content.strip()) > 1
    if last.kind in ("num", "const", "id", "unit") or last.text in _BEFORE_UNIT:
        return True
    if last.text == "\\circ":
        return len(content.strip()) > 2  # "40^\\circ \\text{ ft-lb}", but "40^\\circ \\text{C}"
    return (last.text in _BETWEEN_UNITS and any(token.kind == "unit" for token in out[-3:])) or (
        last.text == "/" and len(out) > 1 and (out[-2].kind == "num" or out[-2].text in _BEFORE_UNIT)
    )


def _unit(content: str, after: str, spaced: bool, out: list[Token]) -> bool:
    """Upright text that is an expression of units, behind a value: its pieces are added."""
    if not _follows_value(out, content, spaced):
        return False
    plain = content.strip()
    if (len(plain) == 1 and after[:1] in ("_", "(")) or (
        plain in FUNCTIONS
        and _CALLS.match(after)
        and not (out[-1].kind == "num" and content[:1] == " " == content[-1:])
    ):
        return False  # an index or an argument follows: a name, a minimum
    first, _, last = plain.rpartition(" ")
    joined = last in ("and", "or", "at") and bool(first)
    pieces = unit_pieces(first.rstrip(" ,") if joined else content)
    if pieces is None:
        return False
    before = " " if content[:1] in " ~\\" else ""
    for at, (kind, piece) in enumerate(pieces):
        out.append(Token(kind, piece, at == 0 and (spaced or bool(before))))
    if joined:
        out.append(Token("op", ",", True) if last == "at" else Token("sep", last, True))
    return True


def _unit_fraction(text: str, at: int, spaced: bool, out: list[Token]) -> int:
    """``\\frac{\\mathrm{J}}{\\mathrm{mol\\cdot K}}`` behind a value: the place after it, or 0 where it is no fraction of units."""
    if not _follows_value(out, "  ", spaced) or text[at : at + 1] != "{":
        return 0
    above, after = _group(text, at)
    while text[after : after + 1] == " ":
        after += 1
    if text[after : after + 1] != "{":
        return 0
    below, after = _group(text, after)
    if not any(font in above + below for font in _UPRIGHT) and not (
        spaced and _SAFE_RATES.fullmatch(f"{above}/{below}")
    ):
        return 0
    top, bottom = unit_pieces(above), unit_pieces(below)
    if bottom is None or (top is None and above.strip() != "1"):
        return 0
    for kind, piece in (*(top or ()), ("op", "/"), ("op", "("), *bottom, ("op", ")")):
        out.append(Token(kind, piece, False))
    return after


def _text(command: str, content: str, spaced: bool, out: list[Token], depth: int) -> None:
    """A text command's braces: a connective, a symbol, a formula or words."""
    plain = content.replace("~", " ").replace("\\ ", " ").replace("\\,", " ").strip()
    low = plain.lower().strip(" ,;")
    if low in _SEPARATORS and command not in ("\\mathrm", "\\mathbf"):
        out.append(Token("sep", _SEPARATORS[low], spaced))
    elif not plain:
        return
    elif plain in ("\\%", "%"):
        out.append(Token("op", "%", spaced))
    elif plain.rstrip(".") in CURRENCY_CODES:
        out.append(Token("op", CURRENCY_CODES[plain.rstrip(".")], spaced))
    elif len(plain) == 1 and plain.isalpha():
        out.append(Token("id", plain, spaced))
    elif low == "to" and out and out[-1].kind == "num":
        out.append(Token("op", ":", spaced))
    elif low == "mod":
        out.append(Token("cmd", "\\bmod", spaced))
    elif plain in FUNCTIONS and content[:1] not in (" ", "~", "\\") and (plain in _IN_TEXT or command not in _WORDY):
        out.append(Token("func", FUNCTIONS[plain], spaced))
    elif depth < 3 and (
        _MATHY.fullmatch(plain) or plain[0].isdigit() or (command in _BOLD and _INDEXED.fullmatch(plain))
    ):
        inner = _tokens(plain, depth + 1)
        if inner:
            inner[0] = inner[0]._replace(spaced=spaced)
        out.extend(inner)
    else:
        out.append(Token("text", plain, spaced))


def _is_measure(word: str, before: Token, text: str, at: int) -> bool:
    """Are these minutes, not a minimum; a cup, not a union?"""
    if word == "cup":
        return before.kind == "num" and not text[at:].strip(" .")
    return (before.kind == "num" or before.text == "/") and _OF.match(text, at) is None


def _condition(text: str, at: int) -> bool:
    """Does an equation or an inequality follow, outside of cases and matrices: "y = 1 at x = 2", "2y for 0 < y"?"""
    return _RELATION.match(text, at) is not None and "\\begin" not in text


_CONDITIONAL = frozenset(("when", "at", "for", "where", "if", "for all"))
_RELATION = re.compile(
    r"[\s~$]{0,4}(?:\|?\d{0,3}(?:\\[a-zA-Z]{1,12}|[a-zA-Z])(?:_\{?\w\}?)?\|?(?:\([a-zA-Z]\))?[\s~]{0,4}=|"
    r"(?:-?[\d.]{1,9}|[a-zA-Z])[\s~]{0,4}(?:[<>]|\\(?:[lg](?:e|t|eq|eqslant))(?![a-z])))"
)


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
            if piece in ("min", "cup", "arcsec") and out and _is_measure(piece, out[-1], text, at):
                out.append(Token("unit", piece, spaced))
            elif piece in _CONDITIONAL and out and _condition(text, at):
                out.append(Token("op", ",", spaced))
            else:
                _word(piece, spaced, out)
        elif kind == "op":
            out.append(Token("op", "^" if piece == "**" else piece, spaced))
        elif (
            piece == "!=" and out and out[-1].kind == "num" and not spaced
        ):  # "5!=120": no number is said to be unequal
            out += (Token("op", "!", False), Token("rel", "=", False))
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
            if content.strip(" ~") in _CONDITIONAL and out and _condition(text, at):
                out.append(Token("op", ",", spaced))
                return at
            if name not in _UPRIGHT or not _unit(content, text[at : at + 40], spaced, out):
                _text(name, content, spaced, out, depth)
        return at
    bare = name[1:]
    if name in _FRACTIONS and out and (end := _unit_fraction(text, at, spaced, out)):
        return end
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
    elif bare in GREEK or name in _TRANSPOSED:
        out.append(Token("id", _VARIANTS.get(name, name), spaced))
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
    elif name == "\\AA":
        out.append(Token("unit", "Å", spaced))
    elif bare[:-1] in _RUN_ON and bare not in _COMMANDS:
        _command(text, name[:-1], at, spaced, out, depth)
        _word(name[-1], False, out)
    else:
        out.append(Token("cmd", name, spaced))
    return at


# what a letter may follow that lost its space: "\sinx", "\pir^2", "\cdotx"
_RUN_ON = frozenset(
    (
        *FUNCTIONS,
        *GREEK,
        *(name[1:] for name in RELATIONS if name[0] == "\\"),
        *"pi infty cdot times div pm mp cup cap".split(),
    )
) - {"tg", "sign", "binom", "binomial"}
_COMMANDS = frozenset("int inf top neg pmb cdotp sinc".split())  # and what LaTeX or a package knows as a whole


def tokenize(text: str) -> list[Token]:
    """Tokens of a cleaned text.

    Raises :class:`ParseError` on a text too long or a sequence unknown.
    """
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"longer than {MAX_CHARACTERS} characters")
    return _tokens(text, 0)


def grouped(tokens: list[Token]) -> list[Token]:
    """Digit groups put together: ``1,234,567`` and ``12 345`` outside brackets."""
    if not any(t.kind == "num" for t in tokens[1:]):
        return tokens
    out: list[Token] = []
    depth, at, count = 0, 0, len(tokens)
    while at < count:
        token = tokens[at]
        if token.kind == "op":
            depth += (token.text in ("(", "[", "\\{")) - (token.text in (")", "]", "\\}"))
        if (
            token.kind == "num"
            and token.text.isdigit()
            and len(token.text) <= 3
            and token.text[0] != "0"
            and at + 1 < count
        ):
            digits, here = token.text, at + 1
            while here < count:
                comma = (
                    # within brackets a comma stands between parts
                    tokens[here].kind == "op" and tokens[here].text == "," and not tokens[here].spaced and depth == 0
                )
                after = tokens[here + 1] if comma and here + 1 < count else None
                nxt = after if comma else tokens[here]
                # no space behind the comma of 1,234, and one between the groups of 12 345
                if nxt is None or nxt.kind != "num" or nxt.spaced == comma:
                    break
                head, _, _ = nxt.text.partition(".")
                if len(head) != 3 or not head.isdigit() or "e" in nxt.text.lower():
                    break
                digits += nxt.text
                here += 2 if comma else 1
                if "." in digits:
                    break
            out.append(token._replace(text=digits))
            at = here
            continue
        out.append(token)
        at += 1
    return out
