"""What takes the place of IFEval's checks where mended ones are asked for.

The same rule everywhere: a thing that is counted has a letter or a digit in it, what is asked for stands there beside its mark, and a
keyword is a word.
"""

from __future__ import annotations

import re
from functools import lru_cache

from grpo_rewards_plugins.documents import DocumentProblem, read_document
from grpo_rewards_plugins.instructions.checks.classic import STARS, compared, parts
from grpo_rewards_plugins.instructions.languages import detect
from grpo_rewards_plugins.instructions.registry import mended

_SAID = re.compile(r"[^\W_]")  # a letter or digit of any script


def _says(text: str) -> bool:
    return _SAID.search(text) is not None


# ------------------------------------------------------------------------------------------------ keywords


@lru_cache(maxsize=4096)
def _word(keyword: str) -> re.Pattern[str]:
    """The keyword as a word or its plural; borders by Latin letters, since other scripts write words side by side."""
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(keyword.strip())}(?:e?s)?(?![A-Za-z0-9_])", re.IGNORECASE)


@mended("keywords:existence")
def existence(text: str, keywords: tuple[str, ...]) -> bool:
    return all(_word(keyword).search(text) is not None for keyword in keywords)


@mended("keywords:word_count_different_numbers")
@mended("keywords:frequency")
def frequency(text: str, keyword: str, frequency: int, relation: bool) -> bool:
    return compared(len(_word(keyword).findall(text)), frequency, relation)


# ------------------------------------------------------------------------------------------------ language and case

_TOLD_FROM = 60  # letters; of fewer langdetect takes English for other languages


@mended("language:response_language")
def response_language(text: str, language: str) -> bool:
    """A text of digits and marks is in no language."""
    return detect(text) == language


@mended("change_case:english_capital")
def english_capital(text: str) -> bool:
    """By the lower-cased text: capitals alone are often taken for German."""
    return text.isupper() and _is_english(text)


@mended("change_case:english_lowercase")
def english_lowercase(text: str) -> bool:
    return text.islower() and _is_english(text)


def _is_english(text: str) -> bool:
    letters = "".join(filter(str.isalpha, text))
    return letters.isascii() if len(letters) < _TOLD_FROM else detect(text.lower()) in ("en", None)


# ------------------------------------------------------------------------------------------------ length


@mended("length_constraints:number_paragraphs")
def number_paragraphs(text: str, num_paragraphs: int) -> bool:
    return parts([part if _says(part) else "" for part in STARS.split(text)]) == num_paragraphs


# ------------------------------------------------------------------------------------------------ content and format

_PLACEHOLDER = re.compile(r"\[([^\[\]\n]*)\]")
_BULLET = re.compile(r"^[ \t]*[*+-][ \t]+(\S.*)$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"(?<!\*)\*++([^\n*]+)\*++")


@mended("detectable_content:number_placeholders")
def number_placeholders(text: str, num_placeholders: int) -> bool:
    return sum(map(_says, _PLACEHOLDER.findall(text))) >= num_placeholders


@mended("detectable_content:postscript")
def postscript(text: str, postscript_marker: str) -> bool:
    """Something is said behind the marker."""
    letters = [re.escape(letter) for letter in postscript_marker.upper() if letter.isalnum()]
    _, *behind = re.split(r"(?<!\w)" + r"\.?\s?".join(letters) + r"\b\.?", text, flags=re.IGNORECASE)
    return any(map(_says, behind))


@mended("detectable_format:number_bullet_lists")
def number_bullet_lists(text: str, num_bullets: int) -> bool:
    """So many lines are bullets of Markdown; ``---`` is a rule."""
    return sum(map(_says, _BULLET.findall(text))) == num_bullets


@mended("detectable_format:constrained_response")
def constrained_response(text: str) -> bool:
    """One of the three sentences stands there, and no other."""
    return sum(f"My answer is {answer}." in text for answer in ("yes", "no", "maybe")) == 1


@mended("detectable_format:number_highlighted_sections")
def number_highlighted_sections(text: str, num_highlights: int) -> bool:
    """Enough pieces stand between asterisks without blanks at their ends, as Markdown asks (``2 * 3 * 4`` is none)."""
    pieces: list[str] = _HIGHLIGHT.findall(text)
    return sum(_says(piece) and piece == piece.strip() for piece in pieces) >= num_highlights


@mended("detectable_format:multiple_sections")
def multiple_sections(text: str, section_spliter: str, num_sections: int) -> bool:
    """Something is said under each of enough headings."""
    _, *sections = re.split(rf"{re.escape(section_spliter.strip())}\s?\d+", text, flags=re.IGNORECASE)
    return sum(map(_says, sections)) >= num_sections


_FENCED = re.compile(r"```(?:json)?\s(.*)```", re.DOTALL | re.IGNORECASE)


@mended("detectable_format:json_format")
def json_format(text: str) -> bool:
    """The whole text is an object or a list of RFC 8259's JSON, which is not empty."""
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        document = read_document(text if fenced is None else fenced[1], max_chars=100_000, max_depth=64)
    except DocumentProblem:
        return False
    return isinstance(document, dict | list) and bool(document)


@mended("detectable_format:title")
def title(text: str) -> bool:
    return any(_says(line.partition("<<")[2].rpartition(">>")[0]) for line in text.split("\n"))


# ------------------------------------------------------------------------------------------------ combination, start and end


@mended("combination:two_responses")
def two_responses(text: str) -> bool:
    """The answers differ in more than case, marks and white space."""
    found = [re.sub(r"\W+", " ", part).strip().casefold() for part in text.split("******")]
    return parts(found) == 2 and len(set(filter(None, found))) == 2


@mended("combination:repeat_prompt")
def repeat_prompt(text: str, prompt_to_repeat: str) -> bool:
    """An answer stands behind the prompt."""
    text, wanted = text.strip().casefold(), prompt_to_repeat.strip().casefold()
    return text.startswith(wanted) and _says(text[len(wanted) :])


@mended("startend:end_checker")
def end_checker(text: str, end_phrase: str) -> bool:
    return text.rstrip(" \t\r\n\"“”'’*_").casefold().endswith(end_phrase.strip(" \t\r\n\"“”'’*_").casefold())


@mended("startend:quotation")
def quotation(text: str) -> bool:
    """Double quotes, straight or curly, stand around something."""
    text = text.strip()
    return text[:1] in ('"', "“") and text[-1:] in ('"', "”") and _says(text)


_COMMAS = re.compile(
    "[,\u055d\u060c\u07f8\u1363\u1802\u1808\u3001\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51\uff0c\uff64]"
)


@mended("punctuation:no_comma")
def no_comma(text: str) -> bool:
    """There is no comma of any script."""
    return _COMMAS.search(text) is None
