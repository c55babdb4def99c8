"""IFEval's 25 checks (Zhou et al. 2023, arXiv 2311.07911)."""

from __future__ import annotations

import json
import re

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.languages import detect
from grpo_rewards_plugins.instructions.patterns import count_of, found, pieces
from grpo_rewards_plugins.instructions.registry import check
from grpo_rewards_plugins.instructions.sentences import capitals, punkt, words

_LANGDETECT = "langdetect|langdetect_rs"


def compared(number: int, wanted: int, at_least: bool) -> bool:
    """Whether a number is at least what is wanted, or below it."""
    return number >= wanted if at_least else number < wanted


# ------------------------------------------------------------------------------------------------ keywords


@check("keywords:existence", "ifeval", keywords=of.texts)
def existence(text: str, keywords: tuple[str, ...]) -> bool:
    """Each keyword is found, anywhere in a word."""
    return all(found(keyword, text) for keyword in keywords)


@check("keywords:word_count_different_numbers", "ifrlvr", keyword=of.text, frequency=of.count, relation=of.relation)
@check("keywords:frequency", "ifeval", keyword=of.text, frequency=of.count, relation=of.relation)
def frequency(text: str, keyword: str, frequency: int, relation: bool) -> bool:
    """A keyword is found often enough, or seldom enough."""
    return compared(count_of(keyword.strip(), text), frequency, relation)


@check("keywords:forbidden_words", "ifeval", forbidden_words=of.texts)
def forbidden_words(text: str, forbidden_words: tuple[str, ...]) -> bool:
    """None of the words is found between borders of words."""
    return not any(found(rf"\b{word}\b", text) for word in forbidden_words)


@check("letters:letter_counting2", "ifrlvr", letter=of.letter, let_frequency=of.count, let_relation=of.relation)
@check("keywords:letter_frequency", "ifeval", letter=of.letter, let_frequency=of.count, let_relation=of.relation)
def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: bool) -> bool:
    """A letter stands often enough, or seldom enough, case ignored."""
    return compared(text.lower().count(letter), let_frequency, let_relation)


# ------------------------------------------------------------------------------------------------ language and case


@check("language:response_language", "ifeval", needs=_LANGDETECT, language=of.language)
def response_language(text: str, language: str) -> bool:
    """The text is in a language; one of which nothing tells the language passes."""
    return detect(text) in (language, None)


@check("change_case:english_capital", "ifeval", needs=_LANGDETECT)
def english_capital(text: str) -> bool:
    """Every letter is a capital, and the text passes for English."""
    return text.isupper() and detect(text) in ("en", None)


@check("change_case:english_lowercase", "ifeval", needs=_LANGDETECT)
def english_lowercase(text: str) -> bool:
    """No letter is a capital, and the text passes for English."""
    return text.islower() and detect(text) in ("en", None)


@check(
    "change_case:capital_word_frequency",
    "ifeval",
    needs="nltk",
    capital_frequency=of.count,
    capital_relation=of.relation,
)
def capital_word_frequency(text: str, capital_frequency: int, capital_relation: bool) -> bool:
    """Enough tokens, or few enough, are in capitals; ``I`` and ``B2`` are."""
    return compared(capitals(text), capital_frequency, capital_relation)


# ------------------------------------------------------------------------------------------------ length


@check("length_constraints:number_sentences", "ifeval", needs="nltk", num_sentences=of.count, relation=of.relation)
def number_sentences(text: str, num_sentences: int, relation: bool) -> bool:
    """Punkt finds enough sentences, or few enough."""
    return compared(len(punkt(text)), num_sentences, relation)


@check("length_constraints:number_words", "ifeval", num_words=of.count, relation=of.relation)
def number_words(text: str, num_words: int, relation: bool) -> bool:
    """There are enough runs of letters and digits, or few enough."""
    return compared(len(words(text)), num_words, relation)


STARS = re.compile(r"\s?\*\*\*\s?")


def parts(found: list[str]) -> int:
    """Return how many parts a text has, or -1 where one between others is blank; a blank first or last does not count."""
    blank = [not part.strip() for part in found]
    if any(blank[1:-1]):
        return -1
    return len(found) - blank[0] - (blank[-1] if len(found) > 1 else 0)


@check("length_constraints:number_paragraphs", "ifeval", num_paragraphs=of.count)
def number_paragraphs(text: str, num_paragraphs: int) -> bool:
    """Three asterisks divide the text into so many paragraphs."""
    return parts(STARS.split(text)) == num_paragraphs


_ENDS_WORD = re.compile("[.,?!'\"]")


@check(
    "length_constraints:nth_paragraph_first_word", "ifeval",
    num_paragraphs=of.count, nth_paragraph=of.position, first_word=of.text,
)  # fmt: skip
def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """There are so many paragraphs that are not blank, and the n-th of all begins with the word."""
    found = text.split("\n\n")
    written = sum(1 for paragraph in found if paragraph.strip())
    if written != num_paragraphs or nth_paragraph > written:
        return False
    paragraph = found[nth_paragraph - 1].split(None, 1)
    if not paragraph:
        return False
    word = paragraph[0].lstrip("'").lstrip('"')
    return _ENDS_WORD.split(word, maxsplit=1)[0].lower() == first_word.lower()


# ------------------------------------------------------------------------------------------------ content and format


@check("detectable_content:number_placeholders", "ifeval", num_placeholders=of.count)
def number_placeholders(text: str, num_placeholders: int) -> bool:
    """Enough pairs of square brackets are closed within their line."""
    number = 0
    for line in text.split("\n"):
        # not by `\[.*?\]`, which looks to the end of the line from each bracket that is never closed
        at = line.find("[")
        while at >= 0 and (end := line.find("]", at)) >= 0:
            number, at = number + 1, line.find("[", end)
    return number >= num_placeholders


# without the originals' `\s*` before and `.*$` behind, which change no verdict; the first is quadratic in blanks
_POSTSCRIPTS = {"P.P.S": re.compile(r"p\.\s?p\.\s?s"), "P.S.": re.compile(r"p\.\s?s\.")}


@check("detectable_content:postscript", "ifeval", postscript_marker=of.text)
def postscript(text: str, postscript_marker: str) -> bool:
    """The marker stands anywhere, case ignored."""
    marker = postscript_marker.strip()
    known = _POSTSCRIPTS.get(marker)
    lowered = text.lower()
    return found(marker.lower(), lowered, ignore_case=False) if known is None else known.search(lowered) is not None


@check("detectable_format:number_bullet_lists", "ifeval", num_bullets=of.count)
def number_bullet_lists(text: str, num_bullets: int) -> bool:
    """So many lines begin with ``*`` (not two) or ``-``; a lone ``*`` takes the next line with it."""
    lines = [line.lstrip() for line in text.split("\n")]
    dashes = sum(1 for line in lines if line.startswith("-"))
    # the original's pattern is `^\s*\*[^\*].*$`, whose `[^\*]` may be a line feed
    stars, taken, last = 0, False, len(lines) - 1
    for place, line in enumerate(lines):
        if taken:
            taken = False
        elif line == "*":
            taken = place < last
            stars += taken
        elif line.startswith("*") and line[1] != "*":
            stars += 1
    return dashes + stars == num_bullets


@check("detectable_format:constrained_response", "ifeval")
def constrained_response(text: str) -> bool:
    """One of three sentences stands somewhere."""
    return any(f"My answer is {answer}." in text for answer in ("yes", "no", "maybe"))


_HIGHLIGHT = re.compile(r"\*([^\n*]*)\*")
_DOUBLE = re.compile(r"\*\*([^\n*]*)\*\*")


@check("detectable_format:number_highlighted_sections", "ifeval", num_highlights=of.count)
def number_highlighted_sections(text: str, num_highlights: int) -> bool:
    """Enough pieces of a line, not blank, stand between one or two asterisks."""
    number = sum(1 for pattern in (_HIGHLIGHT, _DOUBLE) for inside in pattern.findall(text) if inside.strip())
    return number >= num_highlights


@check("detectable_format:multiple_sections", "ifeval", section_spliter=of.text, num_sections=of.count)
def multiple_sections(text: str, section_spliter: str, num_sections: int) -> bool:
    """Enough headings stand in the text: the word and a number."""
    # more than: one piece stands before the first heading
    return pieces(rf"\s?{section_spliter.strip()}\s?\d+\s?", text) > num_sections


_FENCES = ("```json", "```Json", "```JSON", "```")


@check("detectable_format:json_format", "ifeval")
def json_format(text: str) -> bool:
    """The whole text, without a fence around it, is JSON by Python's reader: scalars and NaN too."""
    text = text.strip()
    for fence in _FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):  # of a thousand levels: the original raises
        return False
    return True


@check("detectable_format:title", "ifeval")
def title(text: str) -> bool:
    """Something that is not blank stands between ``<<`` and ``>>`` on a line."""
    for line in text.split("\n"):
        # the original's pattern is greedy, so the last >> of the line closes
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start:end].lstrip("<").rstrip(">").strip():
            return True
    return False


# ------------------------------------------------------------------------------------------------ combination, start and end


@check("combination:two_responses", "ifeval")
def two_responses(text: str) -> bool:
    """Six asterisks divide two different answers."""
    found = text.split("******")
    return parts(found) == 2 and len({part.strip() for part in found if part.strip()}) == 2


@check("combination:repeat_prompt", "ifeval", prompt_to_repeat=of.text)
def repeat_prompt(text: str, prompt_to_repeat: str) -> bool:
    """The text begins with the prompt, case ignored."""
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


@check("startend:end_checker", "ifeval", end_phrase=of.text)
def end_checker(text: str, end_phrase: str) -> bool:
    """The text ends with the phrase, case, white space and quotes around the text ignored."""
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


@check("startend:quotation", "ifeval")
def quotation(text: str) -> bool:
    """The first and the last character are straight double quotes."""
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


@check("punctuation:no_comma", "ifeval")
def no_comma(text: str) -> bool:
    """There is no comma."""
    return "," not in text
