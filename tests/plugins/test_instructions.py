"""The reward `instructions`: the originals' values, the columns of the public data, and what is refused."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nltk")
pytest.importorskip("langdetect")

from grpo_rewards_plugins.instructions import checks, punkt, sentences  # noqa: F401 - the checks register themselves
from grpo_rewards_plugins.instructions.attacks import one_word
from grpo_rewards_plugins.instructions.registry import CHECKS

from grpo_rewards import Outcome, get_reward
from grpo_rewards._contract import Batch
from grpo_rewards.errors import PluginError

ROWS = [
    json.loads(line)
    for line in gzip.decompress((Path(__file__).parent / "packs" / "instructions.jsonl.gz").read_bytes()).splitlines()
]
SOURCES = {"ifeval": 25, "ifbench": 58, "ifrlvr": 54, "rlvr_ifeval": 25}
reward = get_reward("instructions")


def outcomes(source: str, **settings: Any) -> tuple[list[Outcome], list[dict[str, Any]]]:
    rows = [row for row in ROWS if row["source"] == source]
    names = ("instruction_id_list", "kwargs", "ground_truth")
    columns = {name: [row.get(name) for row in rows] for name in names if name in rows[0]}
    batch = Batch.from_call(completions=[row["completion"] for row in rows], **columns)
    if "instruction_id_list" in columns:  # their own scripts count reasoning too
        settings["think"] = "keep"
    return reward.with_(**settings).outcomes(batch), rows


# ------------------------------------------------------------------------------------------------ the originals' values


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_every_check_has_the_originals_value(source: str) -> None:
    found, rows = outcomes(source, score="share" if source == "ifrlvr" else "all")
    assert [outcome.value for outcome in found] == pytest.approx([row["expected"] for row in rows])
    seen: Counter[str] = Counter()
    for outcome, row in zip(found, rows, strict=True):
        each: Any = outcome.details["checks"]
        assert [check["kept"] for check in each] == row["each"]
        seen.update(check["id"] for check in each)
    assert len(seen) == SOURCES[source]


@pytest.mark.parametrize("source", ["ifeval", "ifbench"])
def test_loose_and_share(source: str) -> None:
    found, rows = outcomes(source, match="loose")
    assert [outcome.value for outcome in found] == [row["expected_loose"] for row in rows]
    found, rows = outcomes(source, score="share")
    assert [outcome.value for outcome in found] == pytest.approx([row["expected_share"] for row in rows])


def test_there_are_as_many_checks_as_the_sources_have() -> None:
    assert len(CHECKS) == 25 + 58 + 29 + 25
    assert Counter(check.source for check in CHECKS.values()) == {
        "ifeval": 25,
        "ifbench": 58,
        "ifrlvr": 29,
        "rlvr_ifeval": 25,
    }


@pytest.mark.slow
def test_the_first_use_by_sixteen_threads_gives_the_same_values() -> None:
    """langdetect's own loading races, so this begins in a fresh process."""
    program = """if True:
        import threading
        from grpo_rewards import get_reward
        reward, start, values = get_reward("instructions"), threading.Barrier(16), []
        def score():
            start.wait()
            values.append(reward(completions=["The old house stands by the river, and nobody lives in it."] * 3,
                                 instruction_id_list=[["language:response_language", "count:count_unique"]] * 3,
                                 kwargs=[[{"language": "en"}, None]] * 3))
        threads = [threading.Thread(target=score) for _ in range(16)]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        assert values == [[1.0] * 3] * 16, values
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)


def test_threads_that_share_the_tokenizers_get_the_same_values() -> None:
    expected = [outcome.value for outcome in outcomes("ifrlvr")[0]]
    with ThreadPoolExecutor(16) as pool:
        for found, _ in pool.map(outcomes, ["ifrlvr"] * 16):
            assert [outcome.value for outcome in found] == expected


# ------------------------------------------------------------------------------------------------ columns

COMMA = "punctuation:no_comma"
OBJECT: dict[str, Any] = {"instruction_id": [COMMA, "length_constraints:number_words"], "kwargs": [None, {"num_words": 1, "relation": "at least"}]}  # fmt: skip
LISTS = {"instruction_id_list": OBJECT["instruction_id"], "kwargs": OBJECT["kwargs"]}
SHAPES: dict[str, dict[str, Any]] = {
    "lists": LISTS,
    "null keys": {**LISTS, "kwargs": [{"num_words": None, "N": None}, {"N": None, "num_words": 1.0, "relation": "at least"}]},
    "JSON": {name: json.dumps(cell) for name, cell in LISTS.items()},
    "objects as JSON": {**LISTS, "kwargs": [json.dumps(cell) for cell in LISTS["kwargs"]]},
    "text of a Python list": {"ground_truth": repr([OBJECT])},
    "text of a list of one JSON text": {"ground_truth": repr([json.dumps(OBJECT)])},
    "JSON of a list": {"ground_truth": json.dumps([OBJECT])},
    "JSON of an object": {"ground_truth": json.dumps(OBJECT)},
    "an object": {"ground_truth": OBJECT},
}  # fmt: skip
OLD = {
    "func_name": "validate_word_constraint",
    "N": 2,
    "quantifier": "at least",
    "end_phrase": None,
    "keyword_list": None,
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_the_shapes_of_public_columns(shape: str) -> None:
    assert reward.row_problem(SHAPES[shape]) is None
    assert reward.one("a word", **SHAPES[shape]).value == 1.0
    half = reward.with_(score="share").one("a, word", **SHAPES[shape])
    assert (half.value, half.details) == (0.5, {"checks": [{"id": COMMA, "kept": False}, {"id": OBJECT["instruction_id"][1], "kept": True}]})  # fmt: skip
    assert half.reason.startswith(f"1 of 2 not kept: {COMMA} [google-research")


@pytest.mark.parametrize(
    "cell", [OLD, json.dumps(OLD), repr(OLD), json.dumps([OLD])], ids=["object", "JSON", "Python", "list"]
)
def test_a_row_of_rlvr_ifeval_names_a_function(cell: object) -> None:
    assert reward.row_problem({"ground_truth": cell}) is None
    assert reward.one("<think>a, b</think>two words", ground_truth=cell).value == 1.0
    outcome = reward.one("<think>a, b</think>one", ground_truth=cell)
    assert (outcome.value, outcome.details) == (0.0, {"checks": [{"id": "validate_word_constraint", "kept": False}]})
    assert outcome.reason.endswith("if_functions.py]")


def test_a_blank_text_keeps_what_a_function_of_rlvr_ifeval_says() -> None:
    assert reward.one(" ", ground_truth={"func_name": "validate_no_commas"}).value == 1.0
    assert reward.one(" ", ground_truth={"func_name": "validate_response_language", "language": "en"}).value == 0.0


def test_one_id_twice_is_two_checks() -> None:
    ids = ["keywords:existence"] * 2
    outcome = reward.one("a cat", instruction_id_list=ids, kwargs=[{"keywords": ["cat"]}, {"keywords": ["dog"]}])
    each: Any = outcome.details["checks"]
    assert [check["kept"] for check in each] == [True, False]


def test_rows_without_instructions_do_not_apply() -> None:
    batch = Batch.from_call(completions=["a", "b"], instruction_id_list=[[COMMA], None], kwargs=[[{}], None])
    assert [outcome.status for outcome in reward.outcomes(batch)] == ["scored", "not_applicable"]
    assert reward.row_problem({}) is not None


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (COMMA + "s", {}, "unknown instruction 'punctuation:no_commas'; did you mean 'punctuation:no_comma'"),
    (COMMA, {"n": 3}, "has no argument 'n'"),
    ("length_constraints:number_words", {"num_words": 3}, "needs the argument 'relation'"),
    ("length_constraints:number_words", {"num_words": -1, "relation": "at least"}, "a whole number of 0 or more"),
    ("length_constraints:number_words", {"num_words": 2.5, "relation": "at least"}, "a whole number of 0 or more"),
    ("length_constraints:number_words", {"num_words": 2, "relation": "more than"}, "'less than' or 'at least'"),
    ("keywords:letter_frequency", {"letter": "é", "let_frequency": 1, "let_relation": "at least"}, "one letter from a to z"),
    ("keywords:existence", {"keywords": []}, "a list of texts"),
    ("keywords:existence", {"keywords": "cat"}, "a list of texts"),
    ("copy:copy", {"prompt_to_repeat": " "}, "a text"),
    ("language:response_language", {"language": "zh-cn"}, "must be one of ar, bg"),
    ("sentence:keyword", {"word": "cat", "N": 0}, "a place counted from 1"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "problem"), REFUSED, ids=[f"{id} {kwargs}" for id, kwargs, _ in REFUSED])
def test_what_the_originals_draw_or_raise_on_is_an_error_before_the_first_row(
    id: str, kwargs: dict[str, Any], problem: str
) -> None:
    with pytest.raises(PluginError) as caught:
        reward(completions=["a", "b"], instruction_id_list=[[COMMA], [id]], kwargs=[[{}], [kwargs]])
    assert problem in str(caught.value)
    assert problem in (reward.row_problem({"instruction_id_list": [id], "kwargs": [kwargs]}) or "")


@pytest.mark.parametrize(
    "columns",
    [
        {"instruction_id_list": COMMA, "kwargs": []}, {"instruction_id_list": [], "kwargs": []},
        {"instruction_id_list": [COMMA], "kwargs": [{}, {}]}, {"instruction_id_list": [COMMA], "kwargs": [3]},
        {"ground_truth": "[{'a': 1}]"}, {"ground_truth": "__import__('os').getcwd()"}, {"ground_truth": "((" * 5000},
        {"ground_truth": '{"func_name": "verify_nothing", "N": 1}'}, {"ground_truth": '{"func_name": "verify_keywords"}'},
        {"ground_truth": '{"func_name": "verify_letter_frequency", "letter": "ab", "N": 1}'}, {"ground_truth": 7},
        {"ground_truth": '{"func_name": "validate_word_constraint", "N": 1, "quantifier": "exactly"}'},
    ],
    ids=repr,
)  # fmt: skip
def test_columns_that_cannot_be_read_are_named(columns: dict[str, Any]) -> None:
    assert reward.row_problem(columns)
    with pytest.raises(PluginError):
        reward(completions=["a"], **{name: [cell] for name, cell in columns.items()})


# ------------------------------------------------------------------------------------------------ settings

MENDED: list[tuple[str, dict[str, Any] | None, str, bool, bool]] = [
    ("language:response_language", {"language": "en"}, "12 + 3 = 15", True, False),
    ("detectable_format:json_format", None, "NaN", True, False),
    ("detectable_format:json_format", None, '{"a": 1, "a": 2}', True, False),
    ("detectable_format:json_format", None, '```json\n{"a": [1]}\n```', True, True),
    (
        "detectable_format:constrained_response",
        None,
        "My answer is yes. My answer is no. My answer is maybe.",
        True,
        False,
    ),
    ("detectable_format:constrained_response", None, "Well. My answer is no.", True, True),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hello.\nP.S. P.S.", True, False),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Hello.\nP.P.S. I love it", True, True),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[][ ] [\u200b]", True, False),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] at [address]", True, True),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "a c\u200bat", True, False),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "it concatenates", True, True),
    ("keywords:existence", {"keywords": ["tea"]}, "steam", True, False),
    ("keywords:existence", {"keywords": ["na\u00efve", "tea"]}, "nai\u0308ve teas", False, True),
    ("keywords:existence", {"keywords": ["\u8336"]}, "\u6211\u559d\u8336\u3002", True, True),
    ("keywords:frequency", {"keyword": "tea", "frequency": 2, "relation": "at least"}, "steam, steam", True, False),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Write a poem."}, "Write a poem.", True, False),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Write a poem."}, "Write a poem.\n\nRoses are red.", True, True),
    ("combination:two_responses", None, "one\n******\nOne.", True, False),
    ("combination:two_responses", None, "one\n******\ntwo", True, True),
    ("change_case:english_capital", None, "ALL UPPER", False, True),
    ("change_case:english_capital", None, "DER HUND SCHL\u00c4FT UNTER DEM TISCH", False, False),
    (
        "change_case:english_capital",
        None,
        "DAS IST EIN LANGER SATZ AUF DEUTSCH UND ER STEHT HIER IN LAUTER GROSSEN LETTERN",
        False,
        False,
    ),
    ("punctuation:no_comma", None, "I like tea\uff0c and more", True, False),
    ("startend:quotation", None, '"  "', True, False),
    ("startend:quotation", None, "\u201cHello there.\u201d", False, True),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, "Done. \u201cAny questions?\u201d", False, True),
    ("detectable_format:title", None, "<<\u200b>>", True, False),
    ("detectable_format:title", None, "<<A <b> title>>", True, True),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*.* *.*", True, False),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "2 * 3 * 4 * 5 * 6", True, False),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "**a** x *b c*", True, True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "---\n- a", True, False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "- **a**: one\n* b\n---", False, True),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1 Section 2",
        True,
        False,
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1\na\nSection 2\nb",
        True,
        True,
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "\u200b\n***\n.", True, False),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One.\n\n***\n\nTwo.", True, True),
    ("count:conjunctions", {"small_n": 2}, "this and that and, that", True, False),
    ("ratio:sentence_type", None, "Stop!", True, False),
    ("ratio:sentence_balance", None, "…", True, False),
    ("ratio:sentence_words", None, "Cat. Cat. Cat.", True, False),
    ("words:palindrome", None, "level " * 10, True, False),
    ("format:line_indent", None, "one line", True, False),
    ("custom:date_format_list", None, "1801-00-00", True, False),
    ("custom:date_format_list", None, "1801-02-29", True, False),
    ("custom:date_format_list", None, "1804-02-29, 1815-06-18", True, True),
    ("repeat:repeat_span", {"prompt_to_repeat": "one two three", "n_start": 0, "n_end": 1}, "on", True, False),
    ("repeat:repeat_span", {"prompt_to_repeat": "one two three", "n_start": 0, "n_end": 1}, "one two", False, True),
    ("new:copy_span_idx", {"prompt_to_repeat": "abcdef", "n_start": 0, "n_end": 2}, "abc", False, True),
    ("keywords:palindrome", None, "I am a man.", True, False),
    ("keywords:start_end", None, "Cats like cats.", False, True),
    ("keywords:exclude_word_harder", {"keyword": "cat"}, "Cat, cat.", True, False),
    ("count:count_unique", None, "one, two, three", False, True),
    ("format:quotes", None, '"don\'t \'a "b" c\' d"', False, True),
    ("ratio:overlap", {"reference_text": "the cat sat down", "percentage": 100}, "the cat sat", True, True),
]


@pytest.mark.parametrize(("id", "kwargs", "text", "original", "mended"), MENDED, ids=[f"{row[0]} {row[2]}" for row in MENDED])  # fmt: skip
def test_mended_checks(id: str, kwargs: dict[str, Any] | None, text: str, original: bool, mended: bool) -> None:
    row = {"instruction_id_list": [id], "kwargs": [kwargs]}
    assert reward.one(text, **row).value == float(original)
    outcome = reward.with_(checkers="mended").one(text, **row)
    assert outcome.value == float(mended)
    assert mended or ", mended]" in outcome.reason


THOUGHTS = [
    ("auto", "lists", 1.0),
    ("keep", "lists", 0.0),
    ("auto", "an object", 1.0),
    ("strip", "lists", 1.0),
    ("keep", "an object", 0.0),
]


@pytest.mark.parametrize(("think", "shape", "value"), THOUGHTS)
def test_thoughts_count_where_the_sources_script_is_asked_for(think: str, shape: str, value: float) -> None:
    assert reward.with_(think=think).one("<think>a, b</think> <answer>c</answer>", **SHAPES[shape]).value == value


def test_a_response_is_what_stands_behind_the_thoughts() -> None:
    row = {"instruction_id_list": ["startend:quotation"], "kwargs": [None]}
    values = {
        '<think>"a</think>\n\n"b"': 1.0,
        '"b"</think>b': 0.0,
        '<think>"b"': 0.0,
        '"<think>"': 1.0,
        '"<answer>b</answer>"': 1.0,
    }
    assert {text: reward.one(text, **row).value for text in values} == values


@pytest.mark.parametrize("think", ["keep", "strip"])
def test_end_tokens_of_a_chat_are_no_part_of_the_text(think: str) -> None:
    row = {"instruction_id_list": ["startend:end_checker"], "kwargs": [{"end_phrase": "so be it"}]}
    assert reward.with_(think=think).one("Then so be it<|im_end|>\n<|endoftext|>", **row).value == 1.0
    assert reward.with_(think=think).one("Then so be it<|im_end|>x", **row).value == 0.0


def test_one_word_passes_what_is_asked_of_neighbours_unless_more_are_wanted() -> None:
    class Row:
        columns = {"instruction_id_list": ["words:no_consecutive", "words:last_first"], "kwargs": [{}, {}]}  # noqa: RUF012

    cheats = list(one_word(Row()))  # type: ignore[arg-type]
    assert (
        reward(completions=cheats, **{name: [cell] * len(cheats) for name, cell in Row.columns.items()}).count(1.0) > 3
    )
    careful = reward.with_(min_words=10)
    assert {careful.one(text, **Row.columns).value for text in cheats} == {0.0}
    assert "fewer than 10 words" in careful.one("Yes", **Row.columns).reason


def test_zero_is_a_value() -> None:
    row = {"instruction_id_list": ["count:lowercase_counting"], "kwargs": [{"N": 0}]}
    assert [reward.one(text, **row).value for text in ("LOUD", "quiet")] == [1.0, 0.0]


TRICKY = [
    'HELLO', 'I', "I'M", "CAN'T", 'CANNOT', 'Wanna', 'U.S.A.', 'A-B', 'A--B', '(OK)', '"NO"', "'TIS", "D'YE", "O'NEIL", "Don't",
    "In't", "It's", 'B2', 'A.', 'NASA,', 'NASA:', 'A:B', 'A,B', '$A', 'X...', '...Y', 'E.G.,', '#TAG', '**B**', '[C]', 'A/B', 'A_B',
    "''A''", '"A"B', '"I', 'I"', 'X..Y', 'M.D.)', 'Q?!', 'GONNA,', "'A", "A'", "A's", "THE'S", "I'll", '((A', 'A.)', 'A."', '.A', '-A',
    'A-', 'É', 'ÉA,', '“A”', 'end', 'the', 'of.', '<T>A', 'B--C', 'B---c', 'A,,B', 'A,,:b', 'A,3B', 'A:3b', 'A;b', 'X"Y', '``A', 'A`B', 'ǅ',
    '𝔸', 'A\u0301B', 'A–B', 'CANNOTÉ', 'GIMMEx', 'A..b', 'A@B', 'A²', 'Ⓐ',
]  # fmt: skip


def test_capitals_are_counted_as_among_nltks_tokens() -> None:
    chance = random.Random(5)
    for _ in range(400):
        text = "".join(chance.choice(TRICKY) + chance.choice("   \n\t") for _ in range(chance.randrange(1, 14)))
        assert sentences.capitals(text) == sum(map(str.isupper, sentences.tokens(text))), text


ENDS = ["Dr.", "U.S.", "e.g.", "A.", "I", "No.", "5.", "3.5", "...", ". .", "?", "!", "?!", ".", '"', "'", ")", "]", "”", "(", "--", " ", "  ",
        "\n", "\t", "\x0b", "\x1c", "\u00a0", "\x85", "Word", "word", "The", "é", "Émile", "中", "*", "a.b", "st.", "Mr", "inc.", "p.m.", ":", ","]  # fmt: skip


def test_sentences_are_nltks() -> None:
    chance = random.Random(6)
    nltks = punkt._punkt().nltks
    texts = [row["completion"] for row in ROWS[:300]]
    texts += ["".join(chance.choice(ENDS) + chance.choice(("", " ", " ")) for _ in range(20)) for _ in range(600)]
    for text in texts:
        assert punkt.sentences(text) == tuple(nltks(text)), text


# ------------------------------------------------------------------------------------------------ hostile texts

EXPLODING = {"keyword": "(a+)+$", "frequency": 1, "relation": "at least"}


def test_a_rows_pattern_that_explodes_is_stopped() -> None:
    outcome = reward.one("a" * 5000 + "b", instruction_id_list=["keywords:frequency"], kwargs=[EXPLODING])
    assert outcome.value == 0.0
    broken = {"keyword": "(", "frequency": 1, "relation": "at least"}
    assert reward.one("a (b", instruction_id_list=["keywords:frequency"], kwargs=[broken]).value == 1.0


def test_a_pattern_that_is_too_slow_is_not_tried_on_seven_more_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    from grpo_rewards_plugins.instructions import patterns

    tried: list[object] = []
    search = patterns.spans

    def counted(*given: Any, **more: Any) -> Any:
        tried.append(given)
        return search(*given, **more)

    monkeypatch.setattr(patterns, "spans", counted)
    text = "\n".join(["*first*", "a" * 5000 + "b", "last"])
    outcome = reward.with_(match="loose").one(text, instruction_id_list=["keywords:frequency"], kwargs=[EXPLODING])
    assert (outcome.value, len(tried)) == (0.0, 1)
    assert "takes too long" in outcome.reason


@pytest.mark.parametrize("piece", ["<<", "[", "p.s", "\n-", "*\n", "a.", "Question 1\n", '"', " \n"], ids=repr)
def test_long_texts_are_answered(piece: str) -> None:
    ids = ["detectable_format:title", "detectable_content:number_placeholders", "detectable_content:postscript",
           "detectable_format:number_bullet_lists", "length_constraints:number_sentences", "custom:mcq_count_length",
           "custom:csv_quotes", "format:line_indent", "change_case:english_lowercase", "detectable_format:json_format"]  # fmt: skip
    kwargs = [None, {"num_placeholders": 1}, {"postscript_marker": "P.S."}, {"num_bullets": 3},
              {"num_sentences": 3, "relation": "at least"}, None, None, None, None, None]  # fmt: skip
    outcome = reward.with_(match="loose").one(piece * 200_000, instruction_id_list=ids, kwargs=kwargs)
    assert (outcome.value, outcome.status) == (0.0, "scored")
    each: Any = outcome.details["checks"]
    assert "more than 50000 characters" in outcome.reason or len(each) == len(ids)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000], ids=["[", "{"])
def test_json_of_many_levels_is_none(text: str) -> None:
    assert reward.one(text, instruction_id_list=["detectable_format:json_format"], kwargs=[None]).value == 0.0
