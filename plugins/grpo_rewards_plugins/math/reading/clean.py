"""Text of an answer, made plain: Unicode into LaTeX or ASCII, wrappers and typesetting off. Linear in its length."""

from __future__ import annotations

import re
import unicodedata

from grpo_rewards_plugins.characters import normal_form

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸᵃᵇᵏᵐᵗ", "0123456789+-=()nixyabkmt", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₖₘₓᵢⱼₐₑ", "0123456789+-=()nkmxijae", strict=True))
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8), "⅐": (1, 7),
    "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
_GREEK = (
    "αalpha βbeta γgamma δdelta εvarepsilon ϵepsilon ζzeta ηeta θtheta ιiota κkappa λlambda μmu νnu ξxi πpi ρrho σsigma "
    "τtau υupsilon φphi ϕphi χchi ψpsi ωomega ΓGamma ΔDelta ΘTheta ΛLambda ΞXi ΠPi ΣSigma ΦPhi ΨPsi ΩOmega"
)
_SYMBOLS = {
    "×": "\\times ", "÷": "/", "·": "\\cdot ", "⋅": "\\cdot ", "∙": "\\cdot ", "•": "\\cdot ", "∗": "*", "−": "-",
    "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "∞": "\\infty ", "≤": "\\le ", "≥": "\\ge ",
    "⩽": "\\le ", "⩾": "\\ge ", "≦": "\\le ", "≧": "\\ge ", "≠": "\\neq ", "≈": "\\approx ", "≅": "\\approx ",
    "≡": "\\equiv ", "∪": "\\cup ", "∩": "\\cap ", "∅": "\\emptyset ", "⌀": "\\emptyset ", "∈": "\\in ", "∉": "\\notin ",
    "∖": "\\setminus ", "±": "\\pm ", "∓": "\\mp ", "°": "^\\circ ", "º": "^\\circ ", "℃": "^\\circ C", "✓": "", "✔": "", "∎": "", "■": "",
    "∘": "\\circ ", "√": "\\sqrt ", "∛": "\\sqrt[3] ", "∜": "\\sqrt[4] ", "ℝ": "\\mathbb{R}", "ℤ": "\\mathbb{Z}",
    "ℚ": "\\mathbb{Q}", "ℕ": "\\mathbb{N}", "ℂ": "\\mathbb{C}", "′": "'", "’": "'", "‘": "'", "″": "''", "“": '"',
    "”": '"', "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ", "⌉": "\\rceil ", "⟨": "\\langle ",
    "⟩": "\\rangle ", "∑": "\\sum ", "∏": "\\prod ", "∫": "\\int ", "∂": "\\partial ", "∠": "\\angle ",
    "△": "\\triangle ", "…": "\\ldots ", "⋯": "\\ldots ", "∣": "|", "｜": "|", "，": ",", "；": ";", "：": ":",
    "（": "(", "）": ")", "［": "[", "］": "]", "｛": "\\{", "｝": "\\}", "、": ",", "。": ".", "→": "\\to ",
    "⇒": "\\Rightarrow ", "∧": "\\land ", "∨": "\\lor ", "∀": "\\forall ", "∃": "\\exists ", "⊕": "\\oplus ", "¬": "\\neg ", "∶": ":", "⁄": "/", "∕": "/", "％": "%",
    "＝": "=", "＜": "<", "＞": ">", "＋": "+", "∴": "", "ℯ": "e", "ⅈ": "i", "\u200b": "", "\u200c": "", "\u200d": "",
    "\ufeff": "", "\u2061": "", "\u2062": "", "\u2060": "", "\u200e": "", "\u200f": "", "\u202a": "", "\u202c": "", "˚": "^\\circ ", "₽": "", "¢": "\\text{ cents}",
}  # fmt: skip
_CIRCLED = {0x2460 + at: f"\\textcircled{{{at + 1}}}" for at in range(20)}
_SINGLE = _CIRCLED | {ord(g[0]): f"\\{g[1:]} " for g in _GREEK.split()} | {ord(k): v for k, v in _SYMBOLS.items()}
_RUN_SUPER = re.compile("[" + "".join(_SUPER) + "]+")
_RUN_SUB = re.compile("[" + "".join(_SUB) + "]+")
_RUN_VULGAR = re.compile("[" + "".join(_VULGAR) + "]")
_DIGIT = re.compile(r"(?![0-9])\d")
_OVERLINED = re.compile("(?:\\d[\u0304\u0305])+")

# Latin letters that JSON or Python escapes made out of a LaTeX command: "\frac" -> form feed + "rac".
_ESCAPED = (("\x0c", "\\f"), ("\x08", "\\b"), ("\x07", "\\a"), ("\x0b", "\\v"))
_DOUBLED = re.compile(r"(?<!\\)\\\\(?=[a-zA-Z(){}\[\]$%,;!])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?<!,\})(0\s*\{,\}\s*(?=\d)|\d+\s*\{,\}\s*(?=\d{1,2}(?!\d)|\d{4}))")
_THOUSANDS = re.compile(r"(?<=\d)\s*(?:\{\s*,\s*\}|,\s*\\!|\\,|\\!,|\{,\}\\!)\s*(?=\d{3}(?!\d))")
_TAIL = re.compile(r"(?:\s|\\[,;!. ]|\\\\|[.;,:?])+$")
_TIE = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " ", "\u3000": " ", "\u2002": " "})


def _from_unicode(text: str) -> str:
    text = _OVERLINED.sub(
        lambda m: "\\overline{" + m[0].replace("\u0305", "").replace("\u0304", "") + "}", text.translate(_TIE)
    )
    # before NFKC, which would make a plain 2 of the square's
    text = _RUN_SUPER.sub(lambda m: "^{" + "".join(_SUPER[c] for c in m[0]) + "}", text)
    text = _RUN_SUB.sub(lambda m: "_{" + "".join(_SUB[c] for c in m[0]) + "}", text)
    text = _RUN_VULGAR.sub(lambda m: "\\frac{{{}}}{{{}}}".format(*_VULGAR[m[0]]), text)
    text = text.translate(_SINGLE)
    if not text.isascii():
        # it may bring signs that the table has
        text = normal_form("NFKC", text).translate(_SINGLE)
    if not text.isascii():
        text = _DIGIT.sub(lambda m: str(unicodedata.decimal(m[0])), text)
    return text


_LAYERS = 4  # each costs a pass over the text; the parser opens what is left


def _unwrapped(text: str) -> str:
    """Braces around the whole text, off."""
    for _ in range(_LAYERS):
        if not (len(text) > 2 and text[0] == "{" and text[-1] == "}" and text[-2] != "\\"):
            break
        depth = 0
        for at, char in enumerate(text):
            if char == "{" and text[at - 1] != "\\":
                depth += 1
            elif char == "}" and text[at - 1] != "\\":
                depth -= 1
                if depth == 0:
                    if at != len(text) - 1:
                        return text
                    break
        else:
            return text
        text = text[1:-1].strip()
    return text


def clean(raw: str) -> str:
    """The answer's text ready for the tokenizer: one spelling of each symbol, no math delimiters, no final full stop."""
    text = raw.strip()
    if not text.isascii():
        text = _from_unicode(text)
    if "\\" not in text and "$" not in text and "{" not in text:
        if "~" in text:
            text = _DISTRIBUTED.sub(r"\1 \\sim ", text)
        return _TAIL.sub("", text) if text[-1:] in ".;,:!? " and not text.endswith("!") else text
    for bad, good in _ESCAPED:
        if bad in text:
            text = text.replace(bad, good)
    if "\\\\" in text and "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    if "$" in text:
        text = text.replace("$", "\\$") if _DOLLARS.fullmatch(text) is not None else text
        text = text.replace("\\$", "\x01").replace("$", " ").replace("\x01", "\\$")
    if "\\(" in text or "\\[" in text or "\\)" in text or "\\]" in text:
        for mark in ("\\(", "\\)", "\\[", "\\]"):
            # "\\[2pt]" inside a matrix is a row end with a length, not a delimiter
            text = text.replace("\\\\" + mark[1], "\x01").replace(mark, " ").replace("\x01", "\\\\" + mark[1])
    if "{,}" in text and "(" not in text and "[" not in text and "\\{" not in text:
        text = _DECIMAL_COMMA.sub(lambda m: m[0].replace("{,}", ".").replace(" ", ""), text)
    if "," in text or "\\," in text:
        text = _THOUSANDS.sub("", text)
    text = text.strip()
    if text[:6] == "\\text{" and (inner := _NO_WORDS.fullmatch(text)) is not None:
        text = inner[1].strip()
    while text[-1:] in ("\\", ".", ",", ";", ":", "?", " ", "~") and text:
        if text.endswith("\\\\"):
            text = text[:-2]
        elif text[-1] == "\\" or text[-2:-1] != "\\" or text[-2:] in ("\\,", "\\;", "\\:", "\\."):
            text = text[: -2 if text[-2:] in ("\\,", "\\;", "\\:") else -1]
        else:
            break
        text = text.rstrip()
    if text.startswith(("\\,", "\\;", "\\!")):
        text = text[2:].lstrip()
    if text[:1] == "{" and text[-1] == "}" and _BUILDER.match(text) is not None:
        return f"\\{text[:-1]}\\}}"  # a set whose braces lost their strokes
    return _unwrapped(text)


_DOLLARS = re.compile(r"-?\$-?\d[\d,.]{0,20}")  # with no second one that would end a formula
_NO_WORDS = re.compile(r"\\text\{((?:[^{}\\a-zA-Z]|\\[$%]){1,60})\}")
_DISTRIBUTED = re.compile(r"^([A-Z])\s?~")
_BUILDER = re.compile(r"\{\s{0,3}[a-z]\s{0,3}(?:\\mid(?![a-z])|\|)[^{}]{1,300}\}$")
_SQUEEZE = re.compile(r"\s+|\\left(?![a-zA-Z])|\\right(?![a-zA-Z])|\\[,;!:]|~|\\!")
_SINGLE_POWER = re.compile(r"([\^_])\{(\w)\}")


def squeeze(text: str) -> str:
    """A key for string identity of two cleaned texts: typesetting and spaces that cannot change the meaning are off."""
    if "\\" in text:
        text = text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\cfrac", "\\frac")
        text = text.replace("\\geq", "\\ge").replace("\\leq", "\\le").replace("\\mbox", "\\text")
    if "{" in text:
        text = _SINGLE_POWER.sub(r"\1\2", text)
    # A space between two digits or letters can matter ("1 1/2", "a b" and "ab" of a text), any other cannot.
    return _SQUEEZE.sub("", text) if not _MATTERS.search(text) else _SPACES.sub(" ", text)


def bare(text: str) -> str:
    """A key of last resort, for texts that are not read as mathematics: no typesetting, no space but between digits."""
    if "\\" in text:
        text = _UPRIGHT.sub(lambda m: m[1], text)
    return _NOT_BETWEEN_DIGITS.sub("", squeeze(text))


_UPRIGHT = re.compile(r"\\(?:text(?:rm|bf|it)?|mathrm|mbox)\s?\{([^{}\\]*)\}")


_MATTERS = re.compile(r"\d\s+[\d.]|[a-zA-Z]{2}\s+[a-zA-Z]|[a-zA-Z]\s+[a-zA-Z]{2}")
_SPACES = re.compile(r"\s+")
_NOT_BETWEEN_DIGITS = re.compile(r"(?<!\d)\s+|\s+(?!\d)|(?<=\^\d)\s+")
