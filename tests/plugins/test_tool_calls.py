"""The reward `tool_calls`: the originals' values, formats, hostile calls, and what validate names."""

from __future__ import annotations

import ast
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.tool_calls.literals import Unreadable, python_calls
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_rewards import Outcome, get_reward
from grpo_rewards._contract import Batch

ROWS = [
    json.loads(line)
    for line in gzip.decompress((Path(__file__).parent / "packs" / "tool_calls.jsonl.gz").read_bytes()).splitlines()
]
reward = get_reward("tool_calls")


def outcomes(pack: str, **bound: Any) -> tuple[list[Outcome], list[dict[str, Any]]]:
    rows = [row for row in ROWS if row["pack"] == pack]
    names = {name for row in rows for name in row} - {"pack", "completion", "expected", "parts"}
    columns = {name: [row.get(name) for row in rows] for name in names}
    batch = Batch.from_call(completions=[row["completion"] for row in rows], **columns)
    return reward.with_(**bound).outcomes(batch), rows


# ------------------------------------------------------------------------------------------------ the originals' values


@pytest.mark.parametrize("pack", ["bfcl_python", "bfcl_hermes"])
def test_bfcl_has_the_originals_values(pack: str) -> None:
    found, rows = outcomes(pack)
    assert len(rows) > 80
    assert [outcome.value for outcome in found] == [row["expected"] for row in rows]
    for row in rows:
        assert reward.row_problem(row) is None


def test_toolrl_has_the_originals_values_and_parts() -> None:
    found, rows = outcomes("toolrl", rule="toolrl")
    assert [outcome.value for outcome in found] == pytest.approx([row["expected"] for row in rows])
    for outcome, row in zip(found, rows, strict=True):
        assert outcome.details == pytest.approx(row["parts"])


def test_sixteen_threads_get_the_same_values() -> None:
    expected = [outcome.value for outcome in outcomes("bfcl_python")[0]]
    with ThreadPoolExecutor(16) as pool:
        for found, _ in pool.map(outcomes, ["bfcl_python"] * 32):
            assert [outcome.value for outcome in found] == expected


# ------------------------------------------------------------------------------------------------ formats

WEATHER = {"name": "weather", "parameters": {"type": "object", "required": ["city"], "properties": {
    "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}}}  # fmt: skip
TIME = {"name": "time.now", "parameters": {"properties": {"zone": {"type": "string"}}}}
PARIS: dict[str, Any] = {
    "ground_truth": [{"weather": {"city": ["Paris"], "days": ["", 3]}}],
    "functions": [WEATHER, TIME],
}
NATIVE = [{"role": "assistant", "content": "", "tool_calls": [
    {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}]}]  # fmt: skip
FORMATS: list[tuple[str, Any, float]] = [
    ("auto", "[weather(city='Paris')]", 1.0),
    ("auto", "weather(city='paris', days=3)", 1.0),
    ("auto", '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>', 1.0),
    ("auto", '[{"name": "weather", "arguments": {"city": "Paris"}}]', 1.0),
    ("auto", '{"name": "weather", "parameters": {"city": "Paris"}}', 1.0),
    ("json", '```json\n[{"name": "weather", "arguments": {"city": "Paris"}}]\n```', 1.0),
    ("auto", '<think>\nParis\n</think>\n\n[weather(city="Paris")]<|im_end|>', 1.0),
    ("auto", '<think>{}</think>{"name": "weather", "arguments": {"city": "Paris"}}', 1.0),
    (
        "auto",
        '<think><tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call></think>[weather(city="Paris")]',
        1.0,
    ),
    (
        "auto",
        '<think>\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>\n</think>\nNo call.',
        0.0,
    ),
    ("auto", '<think>\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>', 0.0),
    ("auto", '<tool_call>{"name": "weather", "parameters": {"city": "Paris"}}</tool_call>', 1.0),
    ("auto", '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}</tool_call>', 1.0),
    ("auto", '```json\n[{"name": "weather", "arguments": {"city": "Paris"}}]\n```', 1.0),
    ("auto", "```python\n[weather(city='Paris')]\n```", 1.0),
    ("auto", 'I look it up:\n```json\n[{"name": "weather", "arguments": {"city": "Paris"}}]\n```\nOne moment.', 1.0),
    ("auto", "```python\n[weather(city='Paris')]\n```\nor\n```python\n[weather(city='Rome')]\n```", 0.0),
    ("auto", NATIVE, 1.0),
    ("python", NATIVE, 1.0),
    ("python", '{"name": "weather", "arguments": {"city": "Paris"}}', 0.0),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>', 0.0),
    ("hermes", "[weather(city='Paris')]", 0.0),
    ("auto", '<|python_tag|>{"name": "weather", "parameters": {"city": "Paris"}}<|eom_id|>', 1.0),
    ("auto", "<|python_tag|>[weather(city='Paris')]", 1.0),
    ("auto", '{"name": "weather", "parameters": {"city": "Paris"}}; {"name": "time.now", "parameters": {}}', 0.0),
    ("auto", 'I look.[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Paris"}}]</s>', 1.0),
    ("auto", '[TOOL_CALLS]weather[ARGS]{"city": "Paris"}</s>', 1.0),
    ("auto", '[TOOL_CALLS]weather[CALL_ID]a1B2[ARGS]{"city": "Paris"}', 1.0),
    ("auto", '[TOOL_CALLS]weather{"city": "Paris", "days": 3}', 1.0),
    ("auto", '[TOOL_CALLS]weather[ARGS]{"city": "Paris"}[TOOL_CALLS]time.now[ARGS]{}', 0.0),
    ("auto", '[TOOL_CALLS]weather[ARGS]{"city": "Rome"}', 0.0),
    ("auto", '<function=weather>{"city": "Paris"}</function>', 1.0),
    (
        "auto",
        "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        1.0,
    ),
    ("auto", "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>", 0.0),
    (
        "auto",
        "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\nsoon\n</parameter>\n</function>\n</tool_call>",
        0.0,
    ),
    ("auto", "[weather('Paris')]", 0.0),
    ("auto", "[weather(city='Paris', days=4)]", 0.0),
    ("auto", "[weather(city='Paris', days='3')]", 0.0),
    ("auto", "[weather(city='Paris'), time.now()]", 0.0),
    ("auto", "[time.now(zone='CET')]", 0.0),
]


@pytest.mark.parametrize(
    ("format", "completion", "value"), FORMATS, ids=[f"{row[0]} {row[1]!r:.50}" for row in FORMATS]
)
def test_formats(format: str, completion: Any, value: float) -> None:
    outcome = reward.with_(format=format).one(completion, **PARIS)
    assert outcome.value == value
    assert outcome.reason.endswith("as they should be") == (value == 1.0)


def test_the_categories_and_the_id_say_which_rule_holds() -> None:
    two = {**PARIS, "ground_truth": [{"weather": {"city": ["Rome"]}}, {"weather": {"city": ["Paris"]}}]}
    assert reward.one("[weather(city='Paris'), weather(city='Rome')]", **two).value == 1.0
    assert reward.one("[weather(city='Paris'), weather(city='Paris')]", **two).value == 0.0
    for row in ({"category": "live_irrelevance"}, {"id": "irrelevance_3"}, {"ground_truth": None}):
        assert reward.one("I cannot help with that.", functions=[WEATHER], **row).value == 1.0
        for call in (
            "[weather(city='Paris')]", '<tool_call>{"name": "weather", "arguments": {}}</tool_call>',
            '[TOOL_CALLS]weather[ARGS]{}', '<function=weather>{}</function>', '<|python_tag|>{"name": "weather", "parameters": {}}',
        ):  # fmt: skip
            assert reward.one(call, functions=[WEATHER], **row).value == 0.0
    assert reward.one("I cannot help with that.", ground_truth=None).status == "not_applicable"
    assert reward.one("[weather(city='Oslo')]", functions=[WEATHER], category="live_relevance").value == 1.0


BEGUN = [
    '<tool_call>\n{"name": "weather", "argum', "<tool_call>\nweather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜>", '<|tool_call|>[{"name": "weather"',
    '<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
    '<functioncall> {"name": "weather", "arguments": "{}"}', "[TOOL_CALLS]weather[ARGS]{", "<|python_tag|>weather.call(city=",
]  # fmt: skip


@pytest.mark.parametrize("text", BEGUN)
def test_a_call_that_cannot_be_read_is_not_no_call(text: str) -> None:
    for row in (PARIS, {"functions": [WEATHER], "category": "irrelevance"}):
        found = reward.one(text, **row)
        assert (found.value, "a call begins" in found.reason) == (0.0, True), found


TWICE = [
    '[{"name": "weather", "arguments": {"city": "Rome", "city": "Paris"}}]',
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}, "arguments": {"city": "Paris"}}\n</tool_call>',
    '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Rome\\", \\"city\\": \\"Paris\\"}"}</tool_call>',
    "[weather(city='Rome', city='Paris')]",
    '[TOOL_CALLS]weather[ARGS]{"city": "Rome", "city": "Paris"}',
    "<function=weather><parameter=city>Rome</parameter><parameter=city>Paris</parameter></function>",
]  # fmt: skip


@pytest.mark.parametrize("text", TWICE)
def test_of_two_values_of_a_parameter_none_is_taken(text: str) -> None:
    for row in (PARIS, {"functions": [WEATHER], "category": "irrelevance"}):
        found = reward.one(text, **row)
        assert (found.value, "stands twice" in found.reason) == (0.0, True), found


XLAM: dict[str, Any] = {
    "answers": json.dumps([{"name": "f", "arguments": {"x": 1, "y": [True, "a"]}}, {"name": "g", "arguments": {}}]),
    "tools": json.dumps([{"name": "f", "parameters": {"x": {"type": "int"}}}]),
}
EXACT: list[tuple[str, str, float]] = [
    ("any", "[g(), f(y=[True, 'a'], x=1)]", 1.0),
    ("given", "[g(), f(y=[True, 'a'], x=1)]", 0.0),
    ("given", "[f(y=[True, 'a'], x=1.0), g()]", 1.0),
    ("any", "[f(y=[1, 'a'], x=1), g()]", 0.0),
    ("any", "[f(y=[True, 'a'], x=True), g()]", 0.0),
    ("any", "[f(y=[True, 'A'], x=1), g()]", 0.0),
    ("any", "[f(y=[True, 'a'], x=1)]", 0.0),
    ("any", '{"name": "g", "arguments": {}}\n{"name": "f", "arguments": {"x": 1, "y": [true, "a"]}}', 1.0),
    ("given", '[TOOL_CALLS]f[ARGS]{"x": 1, "y": [true, "a"]}[TOOL_CALLS]g[ARGS]{}', 1.0),
    (
        "any",
        '<function=f><parameter=x>1</parameter><parameter=y>[true, "a"]</parameter></function><function=g></function>',
        1.0,
    ),
]


@pytest.mark.parametrize(("order", "completion", "value"), EXACT, ids=[f"{row[0]} {row[1]}" for row in EXACT])
def test_exact_calls(order: str, completion: str, value: float) -> None:
    assert reward.with_(rule="exact", order=order).one(completion, **XLAM).value == value


def test_calls_of_chat_messages_as_golds() -> None:
    golds = {"tool_calls": NATIVE[0]["tool_calls"]}
    assert reward.with_(rule="exact").one("[weather(city='Paris')]", **golds).value == 1.0


def test_arguments_are_held_against_the_schema_where_that_is_asked() -> None:
    row = {"answers": [{"name": "weather", "arguments": {"city": "Paris", "days": 0}}], "tools": [WEATHER]}
    strict = reward.with_(rule="exact", check_schema=True)
    assert reward.with_(rule="exact").one("[weather(city='Paris', days=0)]", **row).value == 1.0
    refused = strict.one("[weather(city='Paris', days=0)]", **row)
    assert refused.value == 0.0
    assert refused.reason.startswith("weather:")
    fine = {**row, "answers": [{"name": "weather", "arguments": {"city": "Paris", "days": 2}}]}
    assert strict.one("[weather(city='Paris', days=2)]", **fine).value == 1.0


GRADINGS = [("fine", 2.4), ("refined", 1.6), ("intermediate", 1.0), ("coarse", -2.0)]  # as its environment variables


@pytest.mark.parametrize(("grading", "value"), GRADINGS)
def test_gradings_of_toolrl(grading: str, value: float) -> None:
    text = '<think>a</think>\n<tool_call>\n{{"name": "f", "parameters": {}}}\n</tool_call>'
    truth = text.format('{"x": 1, "y": 2, "z": 3}')
    found = reward.with_(rule="toolrl", grading=grading).one(text.format('{"x": 1, "y": 2}'), ground_truth=truth)
    assert found.value == pytest.approx(value)
    assert reward.with_(rule="toolrl", grading=grading).one(truth, ground_truth=truth).value == 4.0


# ------------------------------------------------------------------------------------------------ rows

UNREADABLE: list[tuple[str, dict[str, Any], str]] = [
    ("bfcl", {**PARIS, "ground_truth": "[{"}, "not JSON"),
    ("bfcl", {**PARIS, "ground_truth": [{"weather": {"city": "Paris"}}]}, "accepted values"),
    ("bfcl", {**PARIS, "functions": None}, "no functions are described"),
    ("bfcl", {**PARIS, "functions": [TIME, WEATHER], "ground_truth": [{"rain": {}}], "category": "multiple"}, "no function 'rain'"),
    ("bfcl", {**PARIS, "functions": [{"name": "weather", "parameters": {"properties": {"city": {"type": "town"}}}}]}, "'town' is not known"),
    ("toolrl", {"ground_truth": None}, "must be the text"),
    ("toolrl", {"ground_truth": "<tool_call>\nf(x=1)\n</tool_call>"}, "not JSON, one a line"),
    ("exact", {"answers": [{"name": "f"}]}, "a name and arguments"),
    ("exact", {}, "a name and arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "row", "problem"), UNREADABLE, ids=[f"{row[0]} {row[2]}" for row in UNREADABLE])
def test_rows_that_cannot_be_read_do_not_apply_and_are_named(rule: str, row: dict[str, Any], problem: str) -> None:
    bound = reward.with_(rule=rule)
    assert problem in (bound.row_problem(row) or "")
    outcome = bound.one("[weather(city='Paris')]", **row)
    assert outcome.status == "not_applicable"
    assert problem in outcome.reason


# ------------------------------------------------------------------------------------------------ hostile calls

LITERALS: list[tuple[str, Any]] = [
    ("'a' + 'b'", "ab"), ("2 ** 10", 1024), ("-5 + 3", -2), ("[1] * 2", [1, 1]), ("1 / 2", 0.5), ("+5", -5), ("x", "x"),
    ("not 3", -3), ("(1, 2)", (1, 2)), ("g(1)", "g(1)"), ("g(y=1)", {"g": {"y": 1}}), ("a[0]", "a[0]"), ("...", "..."),
    ("{'k': [None]}", {"k": [None]}), ("1 < 2", None), ("a.b", None), ("lambda: 1", None), ("f'{1}'", None), ("*a", None),
    ("__import__('os').getcwd() + ''", None), ("'%99999999d' % 1", None), ("9 ** 9 ** 9", None), ("'a' * 10 ** 9", None),
    ("[0] * 10 ** 6 * 10 ** 6", None), ("1 << 10 ** 9", None), ("(1).__class__ + 1", None), ("1 / 0", None), ("-'a'", None),
    ("2.0 ** 99999", None), ("{[]: 1}", None), ("{**a}", None), ("(yield)", None), ("-(1)", -1), ("--1", None),
]  # fmt: skip


@pytest.mark.parametrize(("written", "value"), LITERALS, ids=[written for written, _ in LITERALS])
def test_values_are_read_or_refused_but_never_evaluated(written: str, value: Any) -> None:
    if value is None:
        with pytest.raises(Unreadable):
            python_calls(f"[f(x={written})]")
    else:
        assert python_calls(f"[f(x={written})]") == [{"f": {"x": value}}]


def test_a_call_that_writes_a_file_writes_none(tmp_path: Path) -> None:
    file = tmp_path / "made"
    for written in (f"__import__('os').system('touch {file}') + 1", f"open('{file}', 'w') + 1", f"1 + exec('open({str(file)!r}, 1)')"):  # fmt: skip
        row = {"ground_truth": [{"f": {"x": [1]}}], "functions": [{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}]}  # fmt: skip
        assert reward.one(f"[f(x={written})]", **row).value == 0.0
    assert not file.exists()


LONG = ["f(x=" * 20_000, "[" * 50_000, "-" * 90_000 + "1", "f(x=1), " * 12_000, "a." * 40_000, "1+" * 40_000 + "1",
        "<tool_call>\n" * 50_000, "<tool_call>\n{\n</tool_call>" * 20_000, '{"name":' * 50_000, "f(x=" + "9" * 90_000 + ")",
        "<think></think>\n<tool_call>\n" * 20_000, "[f(x='\\d')]" * 5000,
        "[TOOL_CALLS]" * 60_000, "[TOOL_CALLS]" + "a" * 500_000, "<function=f><parameter=" * 40_000, "<|python_tag|>" + "{}" * 200_000]  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=[text[:24] for text in LONG])
def test_long_texts_are_answered(text: str) -> None:
    assert reward.one(text, **PARIS).value == 0.0
    truth = '<think>a</think>\n<tool_call>\n{"name": "f", "parameters": {}}\n</tool_call>'
    assert reward.with_(rule="toolrl").one(text, ground_truth=truth).value in (-3.0, -2.0)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0)
    | st.floats(0, allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True).filter(lambda name: not name.startswith(("i", "a", "f", "o", "n", "d", "e", "w", "b", "t", "y", "r", "p", "c", "g", "l"))), VALUES, max_size=3))  # fmt: skip
@settings(max_examples=50)
def test_what_is_written_as_python_or_json_is_read_back(arguments: dict[str, Any]) -> None:
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    assert python_calls(f"[h({shown})]") == [{"h": arguments}]
    wanted = {"answers": [{"name": "h", "arguments": arguments}]}
    exact = reward.with_(rule="exact")
    assert exact.one(f"[h({shown})]", **wanted).value == 1.0
    assert exact.one(json.dumps([{"name": "h", "arguments": arguments}]), **wanted).value == 1.0


@given(st.lists(st.sampled_from(["f", "(", ")", "[", "]", "x=", "1", "'a'", ",", "{", "}", ":", "-", "+", "*", " ", "\n", "lambda", ".", "\\", "é"]), max_size=20).map("".join))  # fmt: skip
@settings(max_examples=150)
def test_any_text_is_read_as_literals_or_refused(text: str) -> None:
    try:
        calls = python_calls(text)
    except Unreadable:
        return
    for call in calls:
        ast.literal_eval(repr(list(call.values())))
