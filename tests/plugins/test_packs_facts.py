"""What is known of the field's graders and easily lost: their quirks, which are their values, and their faults, which are not ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("nltk")
pytest.importorskip("langdetect")

from grpo_rewards import get_reward

instructions = get_reward("instructions")
AT_LEAST = {"relation": "at least"}

QUIRKS: list[tuple[str, dict[str, Any] | None, str, bool]] = [
    # a keyword is found within words, and is a pattern; forbidden words fail beside what is no letter
    ("keywords:existence", {"keywords": ["cat"]}, "a category", True),
    ("keywords:existence", {"keywords": ["c.t"]}, "a cut", True),
    ("keywords:frequency", {"keyword": "aa", "frequency": 2, **AT_LEAST}, "aaa", False),
    ("keywords:frequency", {"keyword": "b", "frequency": 0, **AT_LEAST}, "a", True),
    ("keywords:forbidden_words", {"forbidden_words": ["C#"]}, "in C# now", True),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "a category", True),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "a CAT.", False),
    ("keywords:letter_frequency", {"letter": "A", "let_frequency": 2, "let_relation": "at least"}, "a A", True),
    # lengths
    ("length_constraints:number_sentences", {"num_sentences": 1, **AT_LEAST}, "one … two … three", True),
    ("length_constraints:number_sentences", {"num_sentences": 2, **AT_LEAST}, "one … two … three", False),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 3}, "a ***bold*** c", True),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***\na\n***\nb\n***", True),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 3}, "a\n***\n \n***\nb", False),
    ("length_constraints:number_words", {"num_words": 4, **AT_LEAST}, "don't well-known", True),
    ("length_constraints:number_words", {"num_words": 2, **AT_LEAST}, "今日は良い天気", False),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "b"}, "a\n\n \n\nb", False),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "so"}, "'\"So, then", True),
    # content and format
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[]", True),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[a\nb]", False),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "as p. s. says in the middle", True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n** b\n---\n• c\n1. d", True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\n* a", True),
    ("detectable_format:constrained_response", None, "Never say: My answer is no.", True),
    ("detectable_format:constrained_response", None, "my answer is no.", False),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "**x**", True),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "**x**", False),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2}, "Section 1 a section 2 b", False),
    ("detectable_format:json_format", None, "```json\nNaN\n```", True),
    ("detectable_format:json_format", None, '{"a": 1, "a": 2}', True),
    ("detectable_format:title", None, "in the middle <<a> b>> of it", True),
    ("detectable_format:title", None, "<<a\n>>", False),
    # combination, start and end, case, marks
    ("combination:two_responses", None, "a ******* b", True),
    ("combination:two_responses", None, "a ****** a", False),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Do it"}, '"Do it" and so', False),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Do it"}, "do IT and so", True),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Do it"}, "whatever", False),
    ("startend:end_checker", {"end_phrase": " Bye. "}, 'so\nbye." ', True),
    ("startend:quotation", None, "“a”", False),
    ("change_case:capital_word_frequency", {"capital_frequency": 3, "capital_relation": "at least"}, "I saw A B2 there", True),
    ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": "at least"}, "I'M here", True),
    ("punctuation:no_comma", None, "，", True),
    ("language:response_language", {"language": "de"}, "12 + 3", True),
    # IF-RLVR
    ("new:copy_span_idx", {"prompt_to_repeat": "abcdef", "n_start": 0, "n_end": 2}, "ab", True),
    ("first_word:first_word_answer", {"first_word": "yes"}, "Yes. It is.", False),
    ("last_word:last_word_answer", {"last_word": "yes"}, "It is so: Yes.", True),
    ("detectable_format:bigram_wrapping", None, "one", True),
    ("keywords:no_adjacent_consecutive", None, "İ a", False),
    ("keywords:palindrome", None, "I am here", True),
    ("count:count_unique", None, "one, two, three", False),
    ("keywords:start_end", None, "Cats like cats.", False),
    ("keywords:exclude_word_harder", {"keyword": "cat"}, "Cat, cat.", True),
    # IFBench
    ("count:numbers", {"N": 2}, "3.5 and 2-3", True),
    ("custom:date_format_list", None, "1801-02-29", True),
    ("ratio:sentence_words", None, "Cat. Cat. Cat.", True),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "text", "kept"), QUIRKS, ids=[f"{row[0]} {row[2]!r}" for row in QUIRKS])
def test_the_quirks_of_the_checks(id: str, kwargs: dict[str, Any] | None, text: str, kept: bool) -> None:
    assert instructions.one(text, instruction_id_list=[id], kwargs=[kwargs]).value == float(kept)


def test_a_blank_response_keeps_nothing() -> None:
    for id in ("punctuation:no_comma", "words:no_consecutive", "change_case:english_lowercase"):
        assert instructions.one(" \n", instruction_id_list=[id], kwargs=[{}]).value == 0.0


@pytest.mark.parametrize(
    "around", ["{}", "Sure!\n{}", "{}\nBye, now", "Sure, so:\n{}\nBye, now", "Sure, so:\n*{}*\nBye, now"]
)
def test_the_texts_of_loose(around: str) -> None:
    row = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [None]}
    text = around.format("no mark of it")
    assert instructions.with_(match="loose").one(text, **row).value == 1.0
    assert instructions.one(text, **row).value == float("," not in text)


def test_a_language_is_the_same_each_time() -> None:
    values = {instructions.one("Hello world", instruction_id_list=["language:response_language"], kwargs=[{"language": "en"}]).value}  # fmt: skip
    for space in range(1, 20):  # another text for the cache, and the same one for langdetect
        row = {"instruction_id_list": ["language:response_language"], "kwargs": [{"language": "en"}]}
        values.add(instructions.one("Hello world" + " " * space, **row).value)
    assert len(values) == 1


@pytest.mark.parametrize("id", ["custom:csv_city", "custom:csv_special_character", "custom:csv_quotes"])
def test_a_cell_of_a_table_that_the_original_raises_on_is_0(id: str) -> None:
    assert instructions.one('"' + "a" * 140_000, instruction_id_list=[id], kwargs=[{}]).value == 0.0


# ------------------------------------------------------------------------------------------------ tool calls

_X = {
    "x": {"type": "integer"},
    "y": {"type": "float"},
    "l": {"type": "array", "items": {"type": "integer"}},
    "s": {"type": "string"},
}
_F = [{"name": "f", "description": "", "parameters": {"type": "dict", "properties": _X, "required": ["x"]}}]
CALLS: list[tuple[str, dict[str, Any], float]] = [
    ("f(x=1)", {"x": [1]}, 1.0),
    ("f(x=+5)", {"x": [5]}, 0.0),  # which is read as -5 there
    ("f(x=+5)", {"x": [-5]}, 1.0),
    ("f(5, x=1)", {"x": [1]}, 1.0),  # what has no name is lost
    ("f(x=1, l=(1, 2))", {"x": [1], "l": [[1, 2]]}, 0.0),
    ("f(x=1, y=1)", {"x": [1], "y": [1.0]}, 1.0),
    ("f(x=1.0)", {"x": [1]}, 0.0),
    ("f(x=1, s='San-Diego, CA.')", {"x": [1], "s": ["san diego ca"]}, 1.0),
    ("f(x=1)", {"x": [1], "s": ["", "a"]}, 1.0),
    ("f(x=1)", {"x": [1], "s": ["a"]}, 0.0),
    ("f(x=1, z=2)", {"x": [1]}, 0.0),
    ("f(x=__import__('os').getpid() * 0 + 1)", {"x": [1]}, 0.0),
]


@pytest.mark.parametrize(("call", "truth", "value"), CALLS, ids=[f"{row[0]} {row[1]}" for row in CALLS])
def test_the_quirks_of_bfcl(call: str, truth: dict[str, Any], value: float) -> None:
    row = {"functions": json.dumps(_F), "ground_truth": json.dumps([{"f": truth}]), "category": "simple"}
    assert get_reward("tool_calls").with_(format="python").one(f"[{call}]", **row).value == value


# ------------------------------------------------------------------------------------------------ questions

ANSWERS: list[tuple[str, str, str, float]] = [
    ("squad", "7up", "7-Up", 1.0),
    ("squad", "“x”", "x", 0.0),
    ("squad", "The X!", "x", 1.0),
    ("hotpot", "yes it is", "yes", 0.0),
    ("squad2", "", "the", 1.0),
]


@pytest.mark.parametrize(("variant", "given", "gold", "value"), ANSWERS, ids=[f"{row[0]} {row[1]}" for row in ANSWERS])
def test_the_quirks_of_answers(variant: str, given: str, gold: str, value: float) -> None:
    found = get_reward("qa").with_(variant=variant, metric="f1", place="text").one(given, golden_answers=[gold])
    assert found.value == value
