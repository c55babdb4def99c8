"""Spellings that the tokenizer does not know, brought to ones that it does. Linear in the length of the text."""

from __future__ import annotations

import re

from .chemistry import concentrations
from .number_words import amount_in_words, number_in_words, ordinal_in_words
from .text_answers import CIRCLED, repeating, words
from .unit_expressions import unit_pieces
from .unit_spellings import joined
from .units import CURRENCY_CODES, is_unit_word

_NAMED = {
    "all real numbers": "\\mathbb{R}", "all reals": "\\mathbb{R}", "real numbers": "\\mathbb{R}",
    "set of all real numbers": "\\mathbb{R}", "set of real numbers": "\\mathbb{R}", "any real number": "\\mathbb{R}",
    "every real number": "\\mathbb{R}", "all integers": "\\mathbb{Z}", "set of all integers": "\\mathbb{Z}",
    "set of integers": "\\mathbb{Z}", "all positive integers": "\\mathbb{Z}^+", "positive integers": "\\mathbb{Z}^+",
    "all natural numbers": "\\mathbb{N}", "natural numbers": "\\mathbb{N}", "empty set": "\\emptyset",
    "null set": "\\emptyset", "infinite": "\\infty", "infinitely many": "\\infty", "no solution": "\\emptyset", "no solutions": "\\emptyset",
    "no real solution": "\\emptyset", "no real solutions": "\\emptyset", "infinity": "\\infty",
    "all positive real numbers": "(0,\\infty)", "positive real numbers": "(0,\\infty)", "all positive reals": "(0,\\infty)",
    "all negative real numbers": "(-\\infty,0)", "negative real numbers": "(-\\infty,0)",
    "all nonnegative real numbers": "[0,\\infty)", "all non-negative real numbers": "[0,\\infty)",
    "nonnegative real numbers": "[0,\\infty)", "non-negative real numbers": "[0,\\infty)",
    "diverges to infinity": "\\infty", "positive infinity": "\\infty", "negative infinity": "-\\infty", "minus infinity": "-\\infty",
}  # fmt: skip
_LONGEST_NAME = 60
_LONGEST_SENTENCE = 600
_TEXT = r"\\(?:text|mathrm|textrm|mbox|textsuperscript|rm)"
_ORDINAL = re.compile(
    rf"(?<=\d)\s*(?:\^\s*)?(?:\{{\s*{_TEXT}\s*\{{\s*(?:st|nd|rd|th)\s*\}}\s*\}}|{_TEXT}\s*\{{\s*(?:st|nd|rd|th)\s*\}}"
    r"|(?<=\^)\{(?:st|nd|rd|th)\})"
)
_BARE_ORDINAL = re.compile(  # "2st" is a product
    rf"(?:{_TEXT}\s?\{{\s?)?(\d{{0,8}}(?:1(?=st)|2(?=nd)|3(?=rd)|[04-9](?=th)|1[1-3](?=th)))(?:st|nd|rd|th)\s?\}}?"
)
_WHOLE = r"(?:(?P<sign>positive|non-?negative|negative)\s+)?(?:integer|whole number|(?P<natural>natural number))s?(?![a-zA-Z])"
_WHOLE_AFTER = re.compile(
    rf"[,;]?\s*(?:{_TEXT}\s*\{{\s*,?)?\s*(?:where|for|with)?\s*(?:any|all|every|each|some)?\s*{_WHOLE}\s*\}}?"
    r"(?:\s|\\[ ,;])*(?P<letter>[a-zA-Z])\s*\}?\s*$"
)
_WHOLE_BEFORE = re.compile(
    rf"[,;]?\s*(?:{_TEXT}\s*\{{\s*,?)?\s*(?:where|for|with)?\s*\}}?\s*(?<![a-zA-Z])(?P<letter>[a-zA-Z])\s*(?:(?:\\ge(?:q|qslant)?(?![a-z])|>|\\gt(?![a-z]))\s*(?P<least>[01])\s*,?\s*)?(?:{_TEXT}\s*\{{)?"
    rf"\s*(?:is|are)?\s*(?:an?|any)?\s*{_WHOLE}\s*\}}?\s*$"
)
_WHERE = re.compile(
    rf"[,;]?\s*(?:\\q?quad)*\s*{_TEXT}\s*\{{\s*,?\s*(?:where|for|with)(?:\s+(?:all|any|every|some))?\s*\}}\s*(?=[a-zA-Z]\s*\\in)"
)
_IN_BRACKETS = re.compile(
    r"(?:\s|\\[ ,;]|\\q?quad(?![a-z]))*\(\s*([a-zA-Z]\s*\\in\s*\\(?:mathbb\s*\{?|Bbb\s*)?[ZN]\}?)\s*\)$"
)
# at most three spaces anywhere: runs of any length side by side took minutes for 18,000 of them
_EVERY = re.compile(
    r"^(?:\\(?:text|mathrm)\s{0,3}\{)?\s{0,3}(?:for\s{1,3})?(?:all|every)\s{1,3}(?:(?:real\s{1,3}(?:numbers?|values\s{1,3}of)|reals|values\s{1,3}of|(?:positive\s{1,3})?integers?|natural\s{1,3}numbers?)\s{0,3})?\}?"
    r"\s{0,3}(?=\$?\s{0,3}[a-zA-Z]\s{0,3}(?:[<>]|\\(?:ge|le|neq?|geq|leq|geqslant|leqslant|in)(?![a-z])))"
)
_OUT_OF = re.compile(
    r"(?<![\d.,])(\d{1,9})\s{0,3}(?:\\text\s{0,3}\{)?\s{0,3}out\s{1,3}of\s{1,3}(?:every\s{1,3})?\}?\s{0,3}(\d{1,9})(?![\d.,])\}?"
)
_BARE_MODULUS = re.compile(r"\(\s?mod(?:ulo)?\s{1,3}(\d{1,9})\s?\)$|(?<=\d)\s{1,3}mod\s{1,3}(\d{1,9})$")
_SHORT_POWER = re.compile(r"\b(sq|cu)\.\s?(?=[a-z])")
_CHANGED_BY = re.compile(r"(?:an?\s)?(increase|decrease)[sd]?\s(?:of|by)\s?(-?[\d.,]{1,12}\s?\\?%)", re.IGNORECASE)
_CHANGE_IN_TEXT = re.compile(r"\\(?:text|mathrm)\s?\{\s?((?:an?\s)?(?:in|de)crease[sd]?(?:\s(?:of|by))?\s?)\}")
_EXACTLY = re.compile(r"^(?:exactly|only|just) ")
_POWER_BEHIND = re.compile(r"(?<=\d)\s+(?=10\s?\^)")  # "1.45 $10^3$", as SciBench has it
_UPRIGHT_POWER = re.compile(r"\\mathrm\s?\{\s?(10\s?\^\s?(?:\d|\{-?\d{1,3}\}))\s?\}")
_OF_AN_HOUR = re.compile(r"(?<=[\d}])\s*(\\text\s?\{)?\s*of (?:an|a|one) ([a-z]{3,})(?=\}?$)")
_PERCENT_OF = re.compile(r"(?<=\d)\s?\\?%\s?(?:\\text\s?\{)?\s?of\s?\}?\s?(?=\d)")  # "25% of 60 = 15"
_OLD = re.compile(r"(?<=\d)(\s?(?:\\text\s?\{\s?)?(?:years?|months?|days?|weeks?)) old(?=\s?\}?$)")
_ONE_IN = re.compile(r"(\d{1,9}) in (\d{1,9})")
_LETTER_OF_A_SET = re.compile(
    r"\\in\s{0,3}(?:\\(?:mathbf|mathrm|boldsymbol|bf|rm)\s{0,3}\{?\s{0,3})?(?<!\\mathbb\{)([ZNQR])(?![a-zA-Z_\\^])\s{0,3}\}?(?![_^])"
)
_QUOTIENT_RING = re.compile(
    r"\\mathbb\s{0,3}\{?\s{0,3}Z\s{0,3}\}?\s{0,3}/\s{0,3}\(?\s{0,3}(\d{1,9})\s{0,3}\\mathbb\s{0,3}\{?\s{0,3}Z\s{0,3}\}?\s{0,3}\)?"
)
_ORDER = re.compile(r"\\math(?:cal|rm|scr)\s{0,3}\{?\s{0,3}([ON])\s{0,3}\}?(?=\s{0,3}(?:\\left\s{0,3})?\()")
_PIECES = re.compile(r"\\left\s*\\\{\s*\\begin\{(?:array|aligned|matrix)\}(?:\s*\{[^{}]{0,20}\})?")
_PIECES_END = re.compile(r"\\end\{(?:array|aligned|matrix)\}\s*\\right\s*\.?")
_EVENTS = re.compile(r"(P\([A-Z])\s?(?:\\text\s?\{)?\s?\b(and|or)\b\s?\}?\s?([A-Z])\)")
_POLAR = re.compile(r"(?<=[\d}])\s?\\angle\s?\{?\s?(-?\d{1,4}(?:\.\d{1,6})?)\s?\^\s?\{?\s?\\circ\s?\}?\s?\}?")
_CLASSED = re.compile(r"\\math(?:ord|bin|rel)\s?\{([^{}]{1,20})\}")
_ENTITIES = {"lt": "<", "gt": ">", "le": "\\le ", "ge": "\\ge ", "amp": "&", "nbsp": " "}
_CONSTANT = re.compile(r"(?<=[=+-])\s*\\(?:text|mathrm)\s?\{\s?const(?:ant|\.)?\s?\}")
_ENTITY = re.compile("&(" + "|".join(_ENTITIES) + ");")
_SIGNIFICANCE = re.compile(
    r"^(?:\\(?:text|mathrm)\s?\{\s?)?[pP]\s?\}?\s?(?:\\text\s?\{\s?)?-\s?value\s?\}?\s?(?:is|=|:)\s?"
)
_ONE_OVER = re.compile(r"(?<=[\d}])\s1\s?/\s?(?=[a-zA-Zμ]|\\(?:text|mathrm|mu|Omega)(?![a-z]))")  # "0.5 1/s"
_POINT_ALONE = re.compile(r"(?<=\d)\.(?=\s?/\s?\d)")
_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?(?:/\d{1,9})?"
_SPACED_MATRIX = re.compile(
    rf"\[\s?((?:{_NUMBER}[ ,]{{1,3}}){{0,11}}{_NUMBER}\s?(?:;\s?(?:{_NUMBER}[ ,]{{1,3}}){{0,11}}{_NUMBER}\s?){{1,11}})\]"
)
_CALLED_MATRIX = re.compile(r"(?:[a-z]{1,5}\.)?(?:Matrix|matrix|array)\s?\((\[\[[^a-zA-Z]{1,600}\]\])\)")
_LOST_BREAK = re.compile(r"(?<!\\)\\(?=\s?-?\d)")
_ROWS = ("matrix}", "{array", "cases}")
_DOT_GROUPS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){2,})(?![\d.])(,\d+)?")
_EXCEPT = re.compile(
    rf"(?:{_TEXT}\s*\{{)?\s*all (?:real numbers|reals)(?: \$?x\$?)? (?:except|excluding|but)(?: for)?\s*\}}?\s*(?:x\s*=\s*)?([^{{}}]+|.*\\frac.*)\}}?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:\\(?:text|mathrm|mbox)\s*\{\s*)?(?:approximately|approx\.?|about|roughly|around|nearly|exactly)(?:\s*:)?"
    r"(?:\s+equal to)?[\s~]*(\})?\s*(?=[-+\d.$€£\\(])",
    re.IGNORECASE,
)
_ABOUT_BEHIND = re.compile(
    r"(?:[\s,~;]|\\[ ,;]|\\q?quad){0,4}(?:\\left)?\(?(?:\\(?:text|mathrm)\s?\{)?[\s,(]{0,3}(?:(?:or|which is|i\.e\.|that is)\s{1,2})?"
    r"(?:(?:approximately|approx\.?|about|roughly)(?:\s(?:equal to|equals))?|(?<=[( ])(?:\\approx|\\simeq)(?=.{0,60}\)$))"
    r"[\s:~]{0,3}\}?\s?(-?\d+(?:\.\d+)?)(?:[\s}]|\\right)*\)?\}?$"
)
_CURRENCY_CODE = re.compile(r"^(" + "|".join(re.escape(code) for code in CURRENCY_CODES) + r")\.?[\s~]*(?=\\?\d)")
_BRACED_UNIT = re.compile(r"(?<=\d)\s*\{\s*([a-zA-Z]{2,12})\s*\}")
_SI_UNIT = re.compile(r"\\(?:(?:SI|qty)\s*\{([^{}]*)\}|si|unit)\s*\{([^{}]*)\}")  # the package siunitx
_UNIT_IN_BRACKETS = re.compile(
    rf"(?<=[\d}}])(?:\s|\\[ ,;])?(?:\\text\s?\{{\s?\((?P<counted>[a-z]+(?: [a-z]+)?)\)\s?\}}"
    rf"|[(\[]\s?(?:{_TEXT}\s?\{{(?P<upright>[^{{}}]{{1,30}})\}}|(?P<bare>[a-zA-Z]{{2,12}}|[a-zA-Z]{{1,12}}/[a-zA-Z]{{1,4}}(?:\^\d)?))\s?[)\]])$"
)
_COUNTED_IN_BRACKETS = re.compile(
    r"(-?\\?\$?\d[\d.,]{0,20})\s\(([a-z]{2,20}(?: [a-z]{2,20}){0,2})\)"
)  # ASDiv's "65 (red cars)"
_CONDITION_IN_BRACKETS = re.compile(  # "y = 2x (x > 0)", not "P(X > 0)"
    r"(?:(?<=[\d})])|\s|\\[ ,;]|\\q?quad)\s?\((\s?[a-z](?:_\w)?\s?(?:[<>]|\\(?:[lg](?:e|t|eq|eqslant)|neq?)(?![a-z]))[^()=]{1,30})\)$"
)
_DISTRIBUTION = re.compile(
    rf"(?:(?:{_TEXT}|\\operatorname)\s?\{{\s?|(?<![a-zA-Z]))(Normal|Bin(?:omial|om)?|Unif(?:orm)?|Poi(?:s(?:son)?)?|Exponential|Geo(?:m(?:etric)?)?)\s?\}}?\s?(?=(?:\\left)?\()"
)
_DISTRIBUTIONS = {"Nor": " N", "Bin": " B", "Uni": " U", "Poi": " D_1", "Exp": " D_2", "Geo": " D_3"}
_OLD_FONT = re.compile(r"\{\s*\\(rm|bf|it)(?![a-zA-Z])\s*([^{}]*)\}")
_TIMES = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))|(?<=\d)\s+x\s+(?=\d)")
_GROUPS = re.compile(r"(?<![\d'])(\d{1,3}(?:'\d{3})+)(?![\d'])")
_N = r"\{?\s*(\d{1,4}|[a-z])\s*\}?"
_CHOOSE = re.compile(rf"(?<![\w}})\]])(?:\{{\s*\}}\s*)?[_^]{_N}\s*(?:\\(?:mathrm|text)\{{)?([CP])\}}?\s*_{_N}")
_CHOOSE_UPPER = re.compile(r"(?<![\w\\])([CA])_\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?")
_CHOOSE_FLAT = re.compile(r"(?<![\w\\.])(\d{1,4})\s?([CP])\s?_?(\d{1,4})(?![\w.])")
_UNBRACED = re.compile(
    r"[a-z] (?:\\mid|\|) ?[^|{}]*(?:[<>]|\\(?:[lg](?:e|t|eq|eqslant)|neq?|in)(?![a-z]))[^|]*"
)  # "x | x > 2"
_ARTICLE = re.compile(r"[Aa]n?\s(?=\$?\d)")  # "a 20% increase"
_ANGLES = re.compile(r"<([^<>=]{1,400},[^<>=]{1,400})>")


def named_set(text: str) -> str | None:
    """The LaTeX of a set or an infinity that is named in words."""
    if len(text) > _LONGEST_NAME:
        return None
    said = words(text).removeprefix("set of ")
    return _NAMED.get(said) or _NAMED.get(f"all {said}")


def rewritten(text: str) -> str:
    """The text with rarer notations in the common ones.

    Numbers of permutations and combinations (``{}_6C_2``, ``C_6^2``, ``6C2``), ``3 x 10^8``, ``1'000``, ``+/-``,
    ``<1, 2>``, currencies by code, rates such as ``m/s^2`` without ``\\text``, named sets in words, words
    that only say "about", and repeating decimals.
    """
    if (found := named_set(text)) is not None:
        return found
    if text[:1].isalpha() or text[:5] == "\\text":
        said = _EXACTLY.sub("", words(text), count=1)
        if (number := number_in_words(said)) is not None:
            return str(number)
        if (place := ordinal_in_words(said)) is not None:
            return str(place)
        if (amount := amount_in_words(said)) is not None:
            return f"{amount[0]}\\text{{ {amount[1]}}}"
        if len(text) <= _LONGEST_NAME and (match := _EXCEPT.fullmatch(text)) is not None:
            return f"\\mathbb{{R}}\\setminus\\{{{match[1]}\\}}"
    if text[-1:] in ")}0123456789" and (match := _ABOUT_BEHIND.search(text)) is not None and match.start():
        text = f"{text[: match.start()]} \\approx {match[1]}"
    if "\\begin" in text:
        text = _rows(text)
    if "10" in text:
        text = _UPRIGHT_POWER.sub(r"\1", text) if "\\mathrm" in text else text
        text = _POWER_BEHIND.sub(r"\\times ", text)
    if " of " in text:
        text = _OF_AN_HOUR.sub(lambda m: f"{m[1] or ' '}{m[2]}" if is_unit_word(m[2]) else m[0], text)
        if "=" in text:
            text = _PERCENT_OF.sub(r"\\% \\times ", text)
    if " old" in text:
        text = _OLD.sub(r"\1", text)
    if "value" in text[:30]:
        text = _SIGNIFICANCE.sub("p =", text, count=1)
    if "[" in text:
        text = concentrations(_listed_matrix(text))
    text = _left_side(joined(text))
    if text[-1:] in "T}p" and (match := _ROW_TURNED.fullmatch(text)) is not None:
        text = f"({match[1]},{match[2]})"
    if "e-" in text or "E-" in text:
        text = _PRINTED_UNIT.sub(r"\\times10^{\1}", text)
    if "e}" in text:
        text = _PRINTED.sub(lambda m: f"\\times10^{{{m[1]}}}", text)
    head = text[:1]
    if text[2:3] in "\\|" and (match := _UNBRACED.fullmatch(text)) is not None:
        text, head = f"\\{{{text}\\}}", "\\"
    if head in "aA" and (match := _ARTICLE.match(text)) is not None:
        text, head = text[match.end() :], "0"
    if head.isalpha() or head == "\\":
        if "(" in text:
            text = _DISTRIBUTION.sub(lambda m: _DISTRIBUTIONS[m[1][:3]], text, count=1)
        text = _ABOUT.sub(lambda m: "" if m[1] or m[0][0] != "\\" else "\\text{", text, count=1)
        text = _CURRENCY_CODE.sub(lambda m: CURRENCY_CODES[m[1].rstrip(".")], text, count=1)
    elif head == "<" and (match := _ANGLES.fullmatch(text)) is not None:
        return f"\\langle {match[1]} \\rangle"
    if "'" in text:
        text = _GROUPS.sub(lambda m: m[1].replace("'", ""), text)
    # here and below: a look for a sign or a word spares most texts the pattern
    if "x" in text or "X" in text:
        text = _TIMES.sub(r"\\times ", text)
    if "{" in text:
        text = _BRACED_UNIT.sub(lambda m: f"\\text{{ {m[1]}}}" if is_unit_word(m[1]) else m[0], text)
    if "\\SI{" in text or "\\qty{" in text or "\\si{" in text or "\\unit{" in text:
        text = _SI_UNIT.sub(lambda m: f"{m[1] or ''}\\text{{ {m[2]}}}", text)
    if "{\\" in text:
        text = _OLD_FONT.sub(lambda m: f"\\math{m[1]}{{{m[2]}}}", text)
    counted = _COUNTED_IN_BRACKETS.fullmatch(text) if text[-1:] == ")" else None
    if (match := counted) is not None and number_in_words(match[2].partition(" ")[0]) is None:
        text = f"{match[1]}\\text{{ {match[2]}}}"
    if text[-1:] in ")]}" and (match := _UNIT_IN_BRACKETS.search(text)) is not None:
        said = match["counted"] or match["upright"] or match["bare"]
        if match["counted"] or unit_pieces(said) is not None:
            text = f"{text[: match.start()]}\\text{{ {said}}}"
    if text[-1:] == ")" and "=" in text and (match := _CONDITION_IN_BRACKETS.search(text)) is not None:
        text = f"{text[: match.start()]}, {match[1]}"
    if "P(" in text and ("and" in text or "or" in text):
        text = _EVENTS.sub(lambda m: f"{m[1]} \\{'cap' if m[2] == 'and' else 'cup'} {m[3]})", text)
    if "\\angle" in text:
        text = _POLAR.sub(r"(\\cos(\1^{\\circ})+i\\sin(\1^{\\circ}))", text)
    if "\\mathord" in text or "\\surd" in text or "\\bullet" in text:
        text = _CLASSED.sub(r"\1", text).replace("\\surd", "\\sqrt").replace("\\bullet", "\\cdot")
    if "&" in text:
        text = _ENTITY.sub(lambda m: _ENTITIES[m[1]], text)
    if "/" in text:
        text = _ONE_OVER.sub("/", _POINT_ALONE.sub("", text.replace("+/-", "\\pm ")))
    if "." in text:
        text = _DOT_GROUPS.sub(lambda m: m[1].replace(".", "") + (m[2] or "").replace(",", "."), text)
    if "\\equiv" in text:
        text = _RESIDUES.sub(_each_residue, text) if "mod" in text else text.replace("\\equiv", "=")
    if (
        ")" in text[-2:]
        and (match := _SAID_TWICE.fullmatch(text)) is not None
        and number_in_words(match[2].lower()) == int(match[1])
    ):
        return match[1]
    if "d/d" in text:
        text = _SLASHED_DERIVATIVE.sub(r"\\frac{d}{d\1}", text)
    if "(mod" in text or "\\equiv" in text:
        text = _BARE_MODULUS.sub(lambda m: f"\\pmod{{{m[1] or m[2]}}}", text)
    if "sq." in text or "cu." in text:
        text = _SHORT_POWER.sub(lambda m: "square " if m[1] == "sq" else "cubic ", text)
    if "crease" in text and (match := _CHANGED_BY.fullmatch(_CHANGE_IN_TEXT.sub(r"\1", text))) is not None:
        text = f"{match[2]}\\text{{ {match[1].lower()}}}"
    if " in " in text and (match := _ONE_IN.fullmatch(text)) is not None:
        return f"\\frac{{{match[1]}}}{{{match[2]}}}"
    if "out" in text:
        text = _OUT_OF.sub(r"\\frac{\1}{\2}", text)
    if "const" in text:
        text = _CONSTANT.sub(r"C_{\\text{const}}", text)
    if "circled" in text:
        text = CIRCLED.sub(r"\1", text)
    if "th" in text or "st" in text or "nd" in text or "rd" in text:
        text = ordinal[1] if (ordinal := _BARE_ORDINAL.fullmatch(text)) is not None else _ORDINAL.sub("", text)
    if "all" in text or "every" in text:
        text = _EVERY.sub("", text, count=1)
    if len(text) <= _LONGEST_SENTENCE and ("integer" in text or "\\in" in text or "natural number" in text):
        text = _whole_number(_LETTER_OF_A_SET.sub(r"\\in \\mathbb{\1}", text))
    if "constant" in text or "arbitrary" in text:
        text = _CONSTANT_SAID.sub("", text, count=1)
    elif "R" in text[-12:] and "=" in text:
        text = _REAL_CONSTANT.sub("", text, count=1)
    if "\\left" in text and "\\{" in text:
        text = _OPEN_BAR.sub(lambda m: f"{m[1] or ''}\\mid {m[2] or ''}", text)
    if "diag" in text and (match := _DIAGONAL.fullmatch(text)) is not None and match[1].count(",") < 12:
        text = _diagonal(match[1].split(","))
    if "\\bigcup" in text:
        text = _UNION_OVER.sub(r"\1\3, \2 \\in \\mathbb{Z}", text)
    if "\\lnot" in text:
        text = text.replace("\\lnot", "\\neg")
    if "\\math" in text:
        text = _QUOTIENT_RING.sub(r"\\mathbb{Z}_{\1}", _ORDER.sub(r"\1", text))
    if "C" in text or "P" in text or "A" in text:
        text = _combinations(text)
    return repeating(text)


def _left_side(text: str) -> str:
    """Names of one thing on the left of an equation: ``\\frac{dy}{dx}`` and ``y'``, ``E[X]`` and ``\\mathbb{E}(X)``, ``|A|`` and ``\\det A``."""
    if "=" in text:
        text = _DERIVATIVE.sub(lambda m: f"{m[2]}{(m[1] and chr(39) * int(m[1])) or chr(39)} =", text, count=1)
        text = "\\text{pH}" + text[2:] if text.startswith("pH") else text
        text = _EXPECTED.sub(
            lambda m: f"{'E' if m[1] else 'V_0' if m[2] == 'Var' else 'C_0'}({m[3] or m[4]}) =", text, count=1
        )
        text = _PROBABILITY.sub("P", text, count=1) if "P" in text[:20] else text
        text = _DETERMINANT.sub(r"\\det(\1) =", text, count=1)
        text = _PARTIAL.sub(lambda m: f"{m[1]}_{m[2]} =", text, count=1) if "\\partial" in text else text
        text = (
            _SECOND_PARTIAL.sub(_second, text, count=1)
            if "\\partial" in text
            else _SECOND_INDEX.sub(_second, text, count=1)
        )
        text = _GRADIENT.sub(r"\\text{grad} =", text, count=1) if "\\nabla" in text else text
    if "_" in text and "+" in text and (match := _UNEVEN.match(text)) is not None:
        return _uneven(match) + text[match.end() :]
    if "\\pm" in text and (match := _UNEQUAL_BOTH.fullmatch(text)) is not None:
        return f"{match[1]}{match[2]}, {match[1]}-{match[2]}"
    return text


def _uneven(match: re.Match[str]) -> str:
    """``5.0^{+0.2}_{-0.1}``, a value and what it may be at most and at least."""
    value, more, less = match["value"], match["more"], match["less"]
    if more is None or less is None:
        return match[0]
    if more == less:
        return f"{value} \\pm {more}"
    name, equals, size = value.rpartition("=")
    return f"{name}{equals}({size}, {size}+{more}, {size}-{less})"


def _second(match: re.Match[str]) -> str:
    """``f_{xy} =``, of whose letters the order says nothing."""
    letters = "".join(sorted((match[2], match[3] or match[2])))
    return f"{match[1]}_\\text{{{letters}}} ="


_DERIVATIVE = re.compile(
    r"^\\[dt]?frac\s*\{\s*d\s*(?:\^\s*\{?([23])\}?\s*)?([a-z])\s*\}\s*\{\s*d\s*(?:x|t(?=.{0,40}?=.*\2))\s*(?:\^\s*\{?\1\}?)?\s*\}\s*="
)
_PARTIAL = re.compile(
    r"^\\[dt]?frac\s{0,3}\{\s{0,3}\\partial\s{0,3}([a-zA-Z])\s{0,3}\}\s{0,3}\{\s{0,3}\\partial\s{0,3}([a-z])\s{0,3}\}\s{0,3}(?:\([^()=]{0,40}\)\s{0,3})?="
)
_SECOND_PARTIAL = re.compile(
    r"^\\[dt]?frac\s?\{\s?\\partial\s?\^\s?\{?2\}?\s?([a-zA-Z])\s?\}\s?\{\s?\\partial\s?([a-z])\s?(?:\^\s?\{?2\}?|\\partial\s?([a-z]))\s?\}\s?="
)
_SECOND_INDEX = re.compile(r"^([a-zA-Z])_\{\s?([xyztuv])\s?([xyztuv])\s?\}\s?=")
_GRADIENT = re.compile(r"^\\nabla\s{0,3}[a-zA-Z]\s{0,3}(?:\([^()=]{0,40}\)\s{0,3})?=")
_UPRIGHT = r"\\(?:mathrm|operatorname|text|mathbb|mathbf)\s*\{?\s*"
_EXPECTED = re.compile(
    rf"^(?:((?:{_UPRIGHT})?E\s*\}}?)|(?:{_UPRIGHT})(Var|Cov)\s*\}}?)\s*(?:\[([^\[\]]{{1,60}})\]|\(([^()]{{1,60}})\))\s*="
)
_PROBABILITY = re.compile(rf"^(?:\\Pr(?![a-z])|{_UPRIGHT}Pr?\s*\}}?)\s*(?=(?:\\left\s*)?\()")
_DETERMINANT = re.compile(r"^(?:\||\\left\s*\||\\det\s*\(?)\s*([A-Z])\s*(?:\||\\right\s*\||\))?\s*=")
_ROW_TURNED = re.compile(r"\[([^\[\]]{1,200}),([^\[\]]{1,200})\]\s*\^\s*\{?\s*(?:T|\\top|\\intercal)\s*\}?")
_PRINTED = re.compile(r"(?<=\d)\s*\\mathrm\s*\{\s*e\s*\}\s*\{?\+?(-?\d{1,9})\}?")
_PRINTED_UNIT = re.compile(r"(?<=\d)[eE]\+?(-?\d{1,3})(?=\s[a-zA-ZÅ]|\s?\\(?:text|mathrm)(?![a-z]))")  # "1.6E-19 C"
_UNEVEN = re.compile(
    r"(?P<value>(?:[a-zA-Z]\s?=\s?)?-?\d+(?:\.\d+)?)\s?(?:\^\s?\{\s?\+\s?(?P<more>\d+(?:\.\d+)?)\s?\}\s?|_\s?\{\s?-\s?(?P<less>\d+(?:\.\d+)?)\s?\}\s?){2}"
)
_UNEQUAL_BOTH = re.compile(r"([a-zA-Z]\s*\\neq?\s*)\\pm\s*([\w\\{}]+)")


def _rows(text: str) -> str:
    """Cases that are written as an array beside a brace; rows whose ``\\\\`` lost a stroke on its way through an escape."""
    if "\\right" in text and len(found := _PIECES.split(text)) > 1 and len(_PIECES_END.split(text)) == len(found):
        text = _PIECES_END.sub(lambda m: "\\end{cases}", _PIECES.sub(lambda m: "\\begin{cases}", text))
    if any(mark in text for mark in _ROWS):
        text = _LOST_BREAK.sub(lambda m: "\\\\", text)
    if "cases}" in text:
        text = _PARITY.sub(lambda m: f" {m[1]} \\equiv {int(m[2] == 'odd')} \\pmod 2", text)
    return text


_PARITY = re.compile(  # "n \\text{ odd}", "\\text{if $n$ is even}"
    rf"(?:{_TEXT}\s?\{{\s?)?(?:\b(?:if|when|for)\s?)?\}}?\s?\$?\b([a-z])\$?\s?(?:{_TEXT}\s?\{{\s?)?(?:\bis )?(?:an )?\b(odd|even)\b(?: integers?)?[.,]?\s?\}}"
)


def _listed_matrix(text: str) -> str:
    """``[1 2; 3 4]`` and ``Matrix([[1, 2], [3, 4]])``, as programs print them, as a matrix."""
    if (called := _CALLED_MATRIX.fullmatch(text)) is not None:
        return called[1]
    if ";" not in text or (spaced := _SPACED_MATRIX.fullmatch(text)) is None:
        return text
    rows = (",".join(row.replace(",", " ").split()) for row in spaced[1].split(";"))
    return "[" + ",".join(f"[{row}]" for row in rows) + "]"


def _whole_number(text: str) -> str:
    """``n\\pi`` for any integer n, where k is an integer, ``(k \\in \\mathbb{Z})``: all as a relation after a comma."""
    if "integer" in text or "number" in text:
        for pattern in (_WHOLE_AFTER, _WHOLE_BEFORE):
            match = pattern.search(text)
            if match is not None and match.start():
                return f"{text[: match.start()]}, {match['letter']} \\in {_whole_set(match)}"
        return text
    return _IN_BRACKETS.sub(r", \1", _WHERE.sub(", ", text))


def _whole_set(match: re.Match[str]) -> str:
    """The set that a letter comes from, by the words about it and a bound before them (``m \\ge 0 \\text{ an integer}``)."""
    bound = match.groupdict().get("least")
    if bound is not None:
        above = ">" in match[0] or "\\gt" in match[0]
        return (
            "\\mathbb{Z}^+"
            if above == (bound == "0")
            else "\\mathbb{Z}_{\\ge 0}"
            if bound == "0"
            else "\\mathbb{Z}_{>1}"
        )
    if match["natural"]:
        return "\\mathbb{N}"
    return {"positive": "\\mathbb{Z}^+", "negative": "\\mathbb{Z}^-", None: "\\mathbb{Z}"}.get(
        match["sign"], "\\mathbb{Z}_{\\ge 0}"
    )


_RESIDUES = re.compile(
    r"([a-zA-Z]\s?)\\equiv\s?((?:-?\d{1,9}\s?(?:,|\\text\{\s?(?:or|and)\s?\}|(?<=\s)(?:or|and)\s)\s?){1,12}-?\d{1,9})\s?"
    r"(\\pmod\s?\{?\s?\d{1,9}\s?\}?|\(\s?\\?(?:bmod|mod)\s?\{?\d{1,9}\}?\s?\))"
)
_SAID_TWICE = re.compile(r"(?:\\text\{)?(\d{1,6})\s?\(([a-zA-Z -]{2,40})\)\}?")
_SLASHED_DERIVATIVE = re.compile(r"(?<![a-zA-Z\\])d\s?/\s?d([a-z])(?=\s?[(\[\\])")


def _each_residue(match: re.Match[str]) -> str:
    """``x \\equiv 2, 5 \\pmod 7``: the letter and the modulus are those of each."""
    return ", ".join(f"{match[1]}\\equiv {rest} {match[3]}" for rest in re.findall(r"-?\d+", match[2]))


_REAL_CONSTANT = re.compile(
    r"(?<=[\w}) ])[,;](?:\s|\\[ ,;]){0,3}(?:\\text\{\s?(?:where|for|with)\s?\}\s?)?(?:[a-dkmA-DK]\s?,\s?){0,3}[a-dkmA-DK]\s?\\in\s?\\mathbb\s?\{?\s?R\s?\}?$"
)
# the bar of a set-builder with a stretched half that is not there: "\left\{ x \left| x > 1 \right. \right\}"
_OPEN_BAR = re.compile(
    r"\\left\s?\.\s?([a-zA-Z]{1,3})\s?\\right\s?\||\\left\s?\|((?:(?!\\left|\\right).){1,300}?)\\right\s?\."
)


_CONSTANT_SAID = re.compile(
    r"[,;]?(?:\s|\\[ ,;]|\\q?quad|\\text\s?\{){0,6}(?:(?:for|with|where)\s)?(?:(?:some|any|every|an?|all)\s)?(?:(?:arbitrary|real|fixed)\s){0,2}"
    r"(?:constants?|number)\s{0,2}\}?\s{0,3}[a-zA-Z](?:_\d)?\}?$"
    r"|[,;]?(?:\s|\\[ ,;]|\\q?quad|\\text\s?\{){0,6}(?:where\s|with\s)?\}?\s?[a-zA-Z](?:_\d)?\s?(?:\\text\s?\{\s?)?\s?(?:is|are)\s"
    r"(?:(?:any|an?)\s)?(?:(?:arbitrary|real|fixed)\s){0,2}(?:constants?|number)\.?\s?\}?$"
)
_UNION_OVER = re.compile(  # "\\bigcup_{k \\in \\mathbb{Z}} (k, k+1)", one interval for every k
    r"^([a-z]\s?\\in\s?)?\\bigcup\s?(?:\\limits\s?)?_\s?\{\s?([a-z])\s?(?:\\in\s?\\mathbb\s?\{?\s?Z\s?\}?\s?\}|=\s?-\s?\\infty\s?\}\s?\^\s?\{?\s?\+?\s?\\infty\s?\}?)"
    r"\s?(?:\\left)?(?:\\\{)?((?:\\left)?[(\[][^{}]*(?:\{[^{}]*\}[^{}]*)*?)(?:\\right\s?\\\})?$"
)
_DIAGONAL = re.compile(
    r"(?:\\(?:text|operatorname|mathrm)\s?\{diag\}|diag)\s?(?:\\left)?\(([^()]{1,200}?)(?:\\right)?\)"
)


def _diagonal(entries: list[str]) -> str:
    """``diag(a, b)`` as a matrix."""
    size = len(entries)
    rows = (" & ".join(entries[row] if row == column else "0" for column in range(size)) for row in range(size))
    return "\\begin{pmatrix}" + " \\\\ ".join(rows) + "\\end{pmatrix}"


def _combinations(text: str) -> str:
    text = _CHOOSE.sub(lambda m: _count(m[2], m[1], m[3]), text)
    text = _CHOOSE_UPPER.sub(lambda m: _count(m[1], m[2], m[3]) if int(m[3]) <= int(m[2]) > 2 else m[0], text)
    return _CHOOSE_FLAT.sub(lambda m: _count(m[2], m[1], m[3]), text)


def _count(letter: str, top: str, bottom: str) -> str:
    if letter == "C":
        return f"\\binom{{{top}}}{{{bottom}}}"
    return f"\\frac{{({top})!}}{{({top}-{bottom})!}}"
