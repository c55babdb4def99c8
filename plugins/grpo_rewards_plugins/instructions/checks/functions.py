"""The 25 checks of RLVR-IFeval's rows, which name a function of open-instruct's ``if_functions.py`` (`func_name`) and its arguments.

They are looser and stricter than IFEval's of the same names: case counts or not, numbers are exact, and a blank text may keep one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.classic import no_comma, number_placeholders
from grpo_rewards_plugins.instructions.languages import detect
from grpo_rewards_plugins.instructions.registry import Checker, Reader, check

SOURCE = "rlvr_ifeval"


def _function(name: str, *, needs: str = "", **arguments: Reader) -> Callable[[Checker], Checker]:
    return check(name, SOURCE, needs=needs, ignored=(), blank=True, **arguments)


def _quantified(number: int, wanted: int, quantifier: str, slack: int) -> bool:
    if quantifier == "around":
        return abs(number - wanted) <= slack
    return number >= wanted if quantifier == "at least" else number <= wanted


def _tenth(number: int) -> int:
    return max(round(number * 0.1), 1)


# ------------------------------------------------------------------------------------------------ words and letters


@_function("verify_keywords", keyword_list=of.strings)
def verify_keywords(text: str, keyword_list: tuple[str, ...]) -> bool:
    """Each keyword stands somewhere, also within a word, case ignored."""
    lowered = text.lower()
    return all(keyword.lower() in lowered for keyword in keyword_list)


@_function("validate_forbidden_words", forbidden_words=of.strings)
def validate_forbidden_words(text: str, forbidden_words: tuple[str, ...]) -> bool:
    """None of the words stands anywhere, also within a word, case ignored."""
    lowered = text.lower()
    return not any(word.lower() in lowered for word in forbidden_words)


@_function("verify_keyword_frequency", word=of.string, N=of.count)
def verify_keyword_frequency(text: str, word: str, N: int) -> bool:
    """A word stands exactly so often, case ignored; one with a mark in it never does."""
    return re.findall(r"\w+", text.lower()).count(word.lower()) == N


@_function("verify_letter_frequency", letter=of.character, N=of.count)
def verify_letter_frequency(text: str, letter: str, N: int) -> bool:
    """A character stands exactly so often, in this case."""
    return text.count(letter) == N


@_function("validate_word_constraint", N=of.count, quantifier=of.quantifier)
def validate_word_constraint(text: str, N: int, quantifier: str) -> bool:
    """So many words between white space; around is a tenth more or less."""
    return _quantified(len(text.split()), N, quantifier, _tenth(N))


@_function("validate_frequency_capital_words", N=of.count, quantifier=of.quantifier)
def validate_frequency_capital_words(text: str, N: int, quantifier: str) -> bool:
    """So many words of A to Z alone."""
    return _quantified(sum(1 for _ in re.finditer(r"\b[A-Z]+\b", text)), N, quantifier, _tenth(N))


@_function("validate_uppercase")
def validate_uppercase(text: str) -> bool:
    """No letter is small, in whatever language."""
    return text == text.upper()


@_function("validate_lowercase")
def validate_lowercase(text: str) -> bool:
    """No letter is a capital, in whatever language."""
    return text == text.lower()


@_function("validate_response_language", needs="langdetect|langdetect_rs", language=of.text)
def validate_response_language(text: str, language: str) -> bool:
    """The text is in a language; where nothing tells one, the original raises."""
    return detect(text) == language


# ------------------------------------------------------------------------------------------------ sentences and paragraphs

# if_functions.py's pattern: no sentence ends behind "i.e." and "Mr."
_SENTENCES = re.compile(r"(?<!\w\.\w.)(?<![A-Z][a-z]\.)(?<=[.?!])\s")


@_function("verify_sentence_constraint", N=of.count, quantifier=of.quantifier)
def verify_sentence_constraint(text: str, N: int, quantifier: str) -> bool:
    """So many sentences, cut at white space behind a stop; around is one more or less."""
    return _quantified(1 + sum(1 for _ in _SENTENCES.finditer(text)), N, quantifier, 1)


@_function("verify_paragraph_count", N=of.count)
def verify_paragraph_count(text: str, N: int) -> bool:
    """So many paragraphs between ``* * *``, none of them blank."""
    found = "\n".join([line.strip() for line in text.splitlines()]).split("* * *")
    return len(found) == N and all(map(str.strip, found))


@_function("validate_paragraphs", N=of.count, first_word=of.string, i=of.count)
def validate_paragraphs(text: str, N: int, first_word: str, i: int) -> bool:
    """So many paragraphs between two line feeds, blank ones too, and the i-th begins with the word; the 0-th is the last."""
    found = text.split("\n\n")
    return len(found) == N >= i and found[i - 1].strip().startswith(first_word)


@_function("validate_two_responses")
def validate_two_responses(text: str) -> bool:
    """Six asterisks stand there once, and what is before differs from what is behind."""
    found = text.split("******")
    return len(found) == 2 and found[0].strip() != found[1].strip()


@_function("validate_sections", N=of.count, section_splitter=of.text)
def validate_sections(text: str, N: int, section_splitter: str) -> bool:
    """The splitter, with a number or without, cuts the text into so many pieces, an empty first one not counted."""
    return bool(text) and text.count(section_splitter) + (not text.startswith(section_splitter)) == N


# ------------------------------------------------------------------------------------------------ content and format


@_function("verify_postscript", postscript_marker=of.text)
def verify_postscript(text: str, postscript_marker: str) -> bool:
    """Something stands behind the marker, wherever that is."""
    at = text.find(postscript_marker)
    return at >= 0 and len(text[at:].strip()) > len(postscript_marker)


@_function("verify_bullet_points", N=of.count)
def verify_bullet_points(text: str, N: int) -> bool:
    """So many lines begin with ``*`` or ``-``, however many of them."""
    return sum(1 for line in text.split("\n") if line.strip().startswith(("*", "-"))) == N


@_function("validate_title")
def validate_title(text: str) -> bool:
    """``<<`` and behind it ``>>`` on a line; nothing need stand between."""
    return any(0 <= line.find("<<") < line.rfind(">>") - 1 for line in text.split("\n"))


@_function("validate_choice", options=of.strings)
def validate_choice(text: str, options: tuple[str, ...]) -> bool:
    """One of the options stands somewhere, also within a word."""
    return any(option in text for option in options)


@_function("validate_highlighted_sections", N=of.count)
def validate_highlighted_sections(text: str, N: int) -> bool:
    """So many pairs of asterisks on a line, with anything or nothing between."""
    return sum(line.count("*") // 2 for line in text.split("\n")) >= N


@_function("validate_json_format")
def validate_json_format(text: str) -> bool:
    """The whole text is JSON by Python's reader, without a fence."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@_function("validate_repeat_prompt", original_prompt=of.text)
def validate_repeat_prompt(text: str, original_prompt: str) -> bool:
    """The text begins with the prompt."""
    return text.startswith(original_prompt)


@_function("validate_end", end_phrase=of.text)
def validate_end(text: str, end_phrase: str) -> bool:
    """The text ends with the phrase."""
    return text.endswith(end_phrase)


@_function("validate_quotation")
def validate_quotation(text: str) -> bool:
    """The first and the last character are straight double quotes, which may be the same one."""
    return text.startswith('"') and text.endswith('"')


_function("validate_placeholders", N=of.count)(lambda text, N: number_placeholders(text, num_placeholders=N))
_function("validate_no_commas")(no_comma)
