"""IFBench's checks `custom:` and `repeat:`."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from itertools import islice

from grpo_rewards_plugins.characters import normal_form
from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.counts import AROUND, NO_MARKS
from grpo_rewards_plugins.instructions.registry import check, mended
from grpo_rewards_plugins.instructions.sentences import punkt
from grpo_rewards_plugins.instructions.tables import CAPITALS

_DIGITS = re.compile(r"\d+")
_MULTIPLES = [str(number) for number in range(14, 51, 7)]


@check("custom:multiples", "ifbench")
def multiples(text: str) -> bool:
    """The numbers of the text are the multiples of 7 from 14 to 49, in order."""
    return _DIGITS.findall(text) == _MULTIPLES


_QUESTION = re.compile(r"Question \d+[.|):;]?\s*")
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w+")


def _question_length(question: str) -> int | None:
    """The length of a question's text, or None where it has not five options."""
    asked, options = "", 0
    for line in map(str.strip, question.split("\n")):
        if _OPTION.match(line):
            options += 1
        elif not options:
            asked += " " + line
    return len(asked.strip()) if options == 5 else None


@check("custom:mcq_count_length", "ifbench")
def mcq_count_length(text: str) -> bool:
    """Four questions with five options each, each question longer than the one before."""
    if not text.startswith("Question"):
        return False
    questions = [question.strip() for question in _QUESTION.split(text) if question.strip()]
    lengths = [_question_length(question) for question in questions]
    known = [length for length in lengths if length is not None]
    return len(lengths) == len(known) == 4 and known == sorted(set(known))


def _ascii(text: str) -> str:
    return normal_form("NFKD", text).encode("ascii", "ignore").decode("ascii")


@check("custom:reverse_newline", "ifbench")
def reverse_newline(text: str) -> bool:
    """From the line with Zimbabwe on there are 52 lines or more, in the reverse order of the alphabet."""
    lines = [bare for line in text.split("\n") if (bare := line.strip(AROUND))]
    # what stands before the last country of the alphabet is an introduction
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), None)
    if start is None or len(lines) - start < 52:
        return False
    plain = list(map(_ascii, lines[start:]))
    return plain == sorted(plain, reverse=True)


@check("custom:word_reverse", "ifbench", needs="nltk")
def word_reverse(text: str) -> bool:
    """Read backwards, the text is one sentence with the bald eagle in it."""
    turned = " ".join(text.lower().strip().translate(NO_MARKS).split()[::-1])
    return "bald eagle" in turned and turned in punkt(turned)


@check("custom:character_reverse", "ifbench")
def character_reverse(text: str) -> bool:
    """The bald eagle stands there backwards."""
    return "elgae dlab" in text.lower()


@check("custom:sentence_alphabet", "ifbench", needs="nltk")
def sentence_alphabet(text: str) -> bool:
    """There are 26 sentences, which begin with a to z."""
    found = [sentence.split() for sentence in punkt(text)]
    return len(found) == 26 and all(words and words[0].lower()[0] == chr(97 + n) for n, words in enumerate(found))


@check("custom:european_capitals_sort", "ifbench")
def european_capitals_sort(text: str) -> bool:
    """The capitals stand between commas in their order, accents aside."""
    return tuple(capital.strip() for capital in _ascii(text).split(",") if capital.strip()) == CAPITALS


# ------------------------------------------------------------------------------------------------ tables of text


def _rows(text: str, delimiter: str = ",") -> list[list[str]] | None:
    """The first rows of a text, more than any check wants, or None where csv cannot read them: the originals raise there."""
    try:
        return list(islice(csv.reader(io.StringIO(text), delimiter=delimiter), 20))
    except csv.Error:
        return None


@check("custom:csv_city", "ifbench")
def csv_city(text: str) -> bool:
    """A heading of five columns and seven rows."""
    rows = _rows(text)
    return (
        rows is not None
        and len(rows) == 8
        and rows[0] == ["ID", "Country", "City", "Year", "Count"]
        and all(len(row) == 5 for row in rows[1:])
    )


def _heading(names: str, divider: str) -> re.Pattern[str]:
    return re.compile(divider.join(f'(?:{name}|"{name}")' for name in names.split()))


_PRODUCTS = _heading("ProductID Category Brand Price Stock", r",[ \t]*")
_GRADES = _heading("StudentID Subject Grade Semester Score", r"\t *")


@check("custom:csv_special_character", "ifbench")
def csv_special_character(text: str) -> bool:
    """A heading of five columns and fourteen rows of five, up to one with a quoted field that has a mark in it."""
    if not _PRODUCTS.fullmatch(text.split("\n", 1)[0].strip()):
        return False
    # tripled, a field's quotes come through the reader as part of its text, as the original has it
    rows = _rows(text.replace('"', '"""'))
    if rows is None or len(rows) != 15:
        return False
    for row in rows[1:]:
        if len(row) != 5:
            return False
        if any(_has_quoted_mark(field) for field in row):
            return True
    return False


def _has_quoted_mark(field: str) -> bool:
    """Whether a field begins with a quote and has a mark before a later one, on its first line."""
    line = field.split("\n", 1)[0] if field.startswith('"') else ""
    inside = line[1 : line.rfind('"')] if line.count('"') > 1 else ""
    return any(not (char.isalnum() or char == "_" or char.isspace()) for char in inside)


@check("custom:csv_quotes", "ifbench")
def csv_quotes(text: str) -> bool:
    """A heading and three rows of five fields between tabs, each in double quotes."""
    if not _GRADES.fullmatch(text.split("\n", 1)[0].strip()):
        return False
    # tripled as above
    rows = _rows(text.replace('"', '"""'), "\t")
    if rows is None or len(rows) != 4:
        return False
    fields = [field.strip() for row in rows for field in row]
    return all(len(row) == 5 for row in rows) and all(field[:1] == field[-1:] == '"' for field in fields)


_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})$")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _dates(text: str) -> list[tuple[int, int, int]] | None:
    """The dates between commas, or None where one of them is not written like one."""
    found = [_DATE.match(part.strip()) for part in text.strip().split(",")]
    return None if None in found else [(int(hit[1]), int(hit[2]), int(hit[3])) for hit in found if hit is not None]


@check("custom:date_format_list", "ifbench")
def date_format_list(text: str) -> bool:
    """Dates of Napoleon's life; the month and the day 00 pass, and 29 February of every year."""
    found = _dates(text)
    return found is not None and all(
        1769 <= year <= 1821 and month <= 12 and (not month or day <= _DAYS[month - 1]) for year, month, day in found
    )


@mended("custom:date_format_list")
def date_format_list_real(text: str) -> bool:
    """The same, of days that there were."""
    try:
        return date_format_list(text) and all(date(*found) for found in _dates(text) or [])
    except ValueError:
        return False


# ------------------------------------------------------------------------------------------------ repeating


@check("repeat:repeat_change", "ifbench", prompt_to_repeat=of.text)
def repeat_change(text: str, prompt_to_repeat: str) -> bool:
    """The text is the prompt but for its first word."""
    return text != prompt_to_repeat and text.split()[1:] == prompt_to_repeat.split()[1:]


@check("repeat:repeat_simple", "ifbench")
def repeat_simple(text: str) -> bool:
    """The text is one fixed sentence, case ignored."""
    return text.strip().lower() == "only output this sentence here, ignore all other requests."


@check("repeat:repeat_span", "ifbench", prompt_to_repeat=of.text, n_start=of.count, n_end=of.count)
def repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The text is a span of the prompt's *characters*, the last included, case ignored."""
    return text.strip().lower() == prompt_to_repeat[n_start : n_end + 1].strip().lower()


@mended("repeat:repeat_span")
def repeat_span_of_words(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The same of the prompt's words, of which the prompt speaks."""
    return text.lower().split() == prompt_to_repeat.lower().split()[n_start : n_end + 1]
