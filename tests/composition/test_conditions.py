"""A misspelt `when`, or column under `columns`, is found before the first row, everywhere in the same words; what is asked for in vain is a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite, reward
from grpo_rewards._audit.cases import cases_of_file
from grpo_rewards._compare.sides import score_sides
from grpo_rewards._doctor.rows import examine_rows
from grpo_rewards._doctor.weights import asked_in_vain, idle_weights
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.reading import open_source
from grpo_rewards.errors import ColumnError, ConfigError

ROWS = [{"completion": "4", "answer": "4", "task": "math"}, {"completion": "x", "answer": "y", "task": "words"}]
WORDS = "component 'exact' looks at the column 'taks', but the data has only answer, task; did you mean 'task'? Correct rewards.exact.when.column"


def composite(when: dict[str, Any] | None = None, **more: Any) -> Composite:
    return Composite(
        {"rewards": {"exact": {"weight": 2.0, **({"when": when} if when else {})}, "length": {"use": "length"}}, **more}
    )


def file_of(folder: Path, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("condition", [{"equals": "math"}, {"any_of": ["math"]}, {"present": True}, {"present": False}])
def test_a_misspelt_column_is_an_error_before_the_first_row(tmp_path: Path, condition: dict[str, Any]) -> None:
    wrong, path = composite({"column": "taks", **condition}), file_of(tmp_path, ROWS)
    calls = [
        lambda: wrong.score(ROWS),
        lambda: wrong(completions=["4"], answer=["4"], task=["math"]),
        lambda: score_file(path, wrong, out=tmp_path / "out.jsonl"),
        lambda: examine_rows(path, wrong),
        lambda: cases_of_file(wrong, path, limit=1),
        lambda: score_sides([("one", wrong)], path, warn=print),
    ]
    for call in calls:
        with pytest.raises(ColumnError) as raised:
            call()
        assert WORDS in str(raised.value)
        assert raised.value.setting == "when.column"


@reward(range=(0.0, 1.0))
def within(completion: str, limit: int | None = None, unit: str = "characters") -> float:
    """The completion has at most `limit` units, or one."""
    return float(len(completion if unit == "characters" else completion.split()) <= (limit or 1))


def mapped(**columns: str) -> Composite:
    return Composite({"rewards": {"within": {"use": within, "columns": columns}}})


MAPPED = "component 'within' looks at the column 'lenght', but the data has only answer, length; did you mean 'length'? Correct rewards.within.columns.limit"


def test_a_misspelt_column_that_a_reward_could_do_without_is_an_error_too(tmp_path: Path) -> None:
    rows = [{"completion": "four", "answer": "4", "length": 4}]
    assert mapped(limit="length").score(rows).rewards() == [1.0]  # by its default of 1 it would be 0
    wrong, path = mapped(limit="lenght"), file_of(tmp_path, rows)
    calls = [
        lambda: wrong.score(rows),
        lambda: wrong(completions=["four"], answer=["4"], length=[4]),
        lambda: score_file(path, wrong, out=tmp_path / "out.jsonl"),
        lambda: examine_rows(path, wrong),
        lambda: score_sides([("one", wrong)], path, warn=print),
        lambda: list(wrong.stream(rows)),
    ]
    for call in calls:
        with pytest.raises(ColumnError) as raised:
            call()
        assert MAPPED in str(raised.value)
        assert raised.value.setting == "columns.limit"
    with pytest.raises(ColumnError, match="'lenght'"):
        within.with_columns(limit="lenght").one("four", length=4)


def test_a_mapped_column_that_only_later_rows_have_is_no_error(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"completion": "a"}] * 600 + [{"completion": "four", "length": 4}])
    found = score_file(path, mapped(limit="length")).statistics.components["within"]
    assert found.n == 601
    assert examine_rows(path, mapped(limit="length"))["rows"] == 601


def test_a_column_that_only_later_rows_have_is_no_error(tmp_path: Path) -> None:
    plain = [{"completion": "4", "answer": "4"}] * 600
    path = file_of(tmp_path, [*plain, ROWS[0]])
    right = composite({"column": "task", "equals": "math"})
    assert score_file(path, right).statistics.components["exact"].n == 1
    assert examine_rows(path, right)["rows"] == 601


def test_what_a_reward_needs_is_asked_of_the_rows_that_it_applies_to() -> None:
    rows = [{"completion": "4", "task": "words"}]
    assert composite({"column": "task", "equals": "math"}).score(rows).components["exact"][0].value is None
    with pytest.raises(
        ColumnError, match=r"reward 'exact' needs the column 'answer'.*columns: \{answer: <your column>\}"
    ):
        composite({"column": "task", "equals": "words"}).score(rows)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ({"equals": "maths"}, ["rewards.exact.when.equals: 'maths' occurs in no row; the column 'task' holds 'math', 'words'; did you mean \"'math'\"?", "applies to no row"]),
        ({"any_of": ["math", "wrods"]}, ["rewards.exact.when.any_of: 'wrods' occurs in no row"]),
        ({"present": False}, ["rewards.exact applies to no row, so its weight cannot matter"]),
    ],
)  # fmt: skip
def test_values_that_occur_nowhere_are_findings(tmp_path: Path, when: dict[str, Any], words: list[str]) -> None:
    path = file_of(tmp_path, ROWS)
    found = examine_rows(path, composite({"column": "task", **when}))["findings"]
    assert len(found) == len(words), found
    for text in words:
        assert any(text in finding for finding in found)


def test_a_gate_that_cannot_be_looked_at_is_not_shut(tmp_path: Path) -> None:
    short = {"use": "length", "params": {"target": 1, "band": 1}, "gate": {"component": "exact", "at_least": 1}}
    math = {"use": "exact", "when": {"column": "task", "equals": "math"}}
    gated = Composite({"rewards": {"exact": math, "length": short}})
    table = gated.score([{"completion": "4", "answer": "4", "task": task} for task in ("math", "words")])
    assert table.rewards() == [2.0, None]  # 0 would be a grade
    assert table[1]["components"]["length"]["reason"] == "its gate looks at 'exact', which has no value here"
    never = {**short, "when": {"column": "task", "equals": "words"}}
    rows = [{**row, "answer": "4"} for row in ROWS]
    (found,) = examine_rows(file_of(tmp_path, rows), Composite({"rewards": {"exact": math, "length": never}}))[
        "findings"
    ]
    assert found.startswith("rewards.length applies to no row")
    assert "gate's 'exact'" in found


def test_values_that_occur_are_none(tmp_path: Path) -> None:
    for when in ({"equals": "math"}, {"any_of": ["math", "words"]}, {"present": True}):
        assert examine_rows(file_of(tmp_path, ROWS), composite({"column": "task", **when}))["findings"] == []
    numbers = file_of(tmp_path, [{**row, "task": number} for number, row in enumerate(ROWS)])
    assert examine_rows(numbers, composite({"column": "task", "equals": 1}))["findings"] == []


def test_what_is_asked_for_in_vain_is_found_before_the_first_row(tmp_path: Path) -> None:
    wrong = composite({"column": "task", "equals": "maths"}, combine={"clip": [1, 1]})
    found = asked_in_vain(wrong, open_source(file_of(tmp_path, ROWS)))
    assert found == list(reversed(examine_rows(file_of(tmp_path, ROWS), wrong)["findings"]))
    assert asked_in_vain(wrong, None) == ["combine.clip: every reward is 1, so no weight can matter"]
    assert asked_in_vain(composite({"column": "task", "equals": "math"}), open_source(file_of(tmp_path, ROWS))) == []


def test_scoring_says_when_a_component_applies_to_no_row(tmp_path: Path) -> None:
    said: list[str] = []
    run = score_file(file_of(tmp_path, ROWS), composite({"column": "task", "equals": "maths"}), warn=said.append)
    assert "component 'exact' applies to none of the 2 rows: 'grpo-rewards validate' says why" in said
    assert run.problems == said
    said.clear()
    score_file(file_of(tmp_path, ROWS), composite({"column": "task", "equals": "math"}), warn=said.append)
    assert said == []


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"rewards": {"exact": {"weight": 0}}}, "no component has a weight"),
        ({"rewards": {"exact": {"clip": [1, 2]}, "length": {}}}, "rewards.exact.weight cannot matter: clip"),
        ({"rewards": {"exact": {"gate": {"component": "length", "at_least": 1.5}}, "length": {}}}, "its gate never opens, since 'length' is from"),
        ({"rewards": {"exact": {"gate": {"component": "length", "at_most": -9}}, "length": {}}}, "its gate never opens"),
        ({"rewards": {"exact": {}, "length": {}}, "combine": {"clip": [1, 1]}}, "combine.clip: every reward is 1"),
        ({"rewards": {"exact": {"weight": 3}, "length": {"weight": 0}}, "combine": {"method": "weighted_mean"}}, "rewards.exact.weight cannot matter: a weighted mean of one"),
        ({"rewards": {"exact": {"weight": 3}, "length": {}}, "stages": [{"until": 5, "weights": {"exact": 1}}, {"weights": {"exact": 2}}]}, "cannot matter in training: every stage"),
    ],
)  # fmt: skip
def test_weights_that_cannot_matter_whatever_the_data_are(config: dict[str, Any], words: str) -> None:
    (found,) = idle_weights(Composite(config))
    assert words in found


@pytest.mark.parametrize(
    "config",
    [
        {"rewards": {"exact": {"weight": 2}, "length": {"weight": 0}}}, {"rewards": {"exact": {"gate": {"component": "length", "at_least": 0.5}}, "length": {"weight": 0}}},
        {"rewards": {"exact": {"weight": 2, "clip": [0.2, 0.8]}, "length": {}}, "combine": {"method": "weighted_mean"}},
        {"rewards": {"exact": {"weight": 3}, "length": {}}, "stages": [{"until": 5, "weights": {"exact": 1}}]}, {"rewards": {"exact": {}}, "combine": {"method": "weighted_mean"}},
    ],
)  # fmt: skip
def test_weights_that_matter(config: dict[str, Any]) -> None:
    assert idle_weights(Composite(config)) == []


def test_a_package_that_is_missing_is_said_before_a_row_is_scored() -> None:
    @reward(needs=("json", "no_such_package"))
    def strange(completion: str) -> float:
        return 1.0

    (found,) = idle_weights(Composite(strange=strange))
    said = "'strange' needs no_such_package, not installed here: pip install no_such_package"
    assert found == f"rewards.strange: {said}"
    for call in (lambda **rows: Composite(strange=strange)(**rows), strange):
        with pytest.raises(ConfigError, match=said):
            call(completions=["4", "5"], prompts=["2 + 2"] * 2)


def test_a_weight_that_cancels_in_every_row_is_a_finding(tmp_path: Path) -> None:
    rewards = {
        "exact": {"weight": 2.0, "when": {"column": "task", "equals": "math"}},
        "words": {"use": "exact", "when": {"column": "task", "equals": "words"}},
    }
    path = file_of(tmp_path, ROWS)
    (found,) = examine_rows(path, Composite({"rewards": rewards, "combine": {"method": "weighted_mean"}}))["findings"]
    assert "rewards.exact.weight cannot matter: in a weighted mean it cancels" in found
    assert examine_rows(path, Composite({"rewards": rewards}))["findings"] == []
