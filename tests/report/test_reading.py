from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from grpo_rewards._report.analysis import analyse
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.reading import open_report_source, read_training
from grpo_rewards.errors import InputError

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402


def rows_of(path: Path, **more: Any) -> list[Any]:
    return list(open_report_source(path, **more).rows)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "ndjson.zstd", ""])
def test_scored_rows_are_read_from_any_compression(
    tmp_path: Path, make_row: Callable[..., dict[str, Any]], make_part: Callable[..., dict[str, Any]], ending: str
) -> None:
    line = (json.dumps(make_row(3, 1.5, {"a": make_part(0.75, 2.0)}, group_id="g", solution="7")) + "\n").encode()
    packs: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "zst": zstandard.compress,
        "zstd": zstandard.compress,
    }
    path = tmp_path / f"s.{ending}".rstrip(".")
    path.write_bytes(packs.get(ending.rpartition(".")[2], bytes)(line))
    (row,) = rows_of(path)
    assert (row.line, row.reward, row.group) == (3, 1.5, "g")
    assert (row.parts["a"].value, row.parts["a"].weight, row.parts["a"].contribution) == (0.75, 2.0, 1.5)
    assert row.columns == {"group_id": "g", "solution": "7"}


def test_a_row_of_a_list_takes_its_own_completion(
    write_rows: Callable[..., Path], make_row: Callable[..., dict[str, Any]]
) -> None:
    data = make_row(1, 0.0, {})
    del data["completion"]
    data["completions"] = ["first", "second"]
    data["grpo_rewards"]["index"] = 1
    (row,) = rows_of(write_rows([data]))
    assert (row.index, row.completion) == (1, "second")


def test_messages_are_cut_after_the_last_question(
    write_rows: Callable[..., Path], make_row: Callable[..., dict[str, Any]]
) -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    data = make_row(1, 0.0, {}) | {"messages": messages}
    del data["prompt"], data["completion"]
    (row,) = rows_of(write_rows([data]))
    assert (row.prompt, row.completion) == (messages[:1], messages[1:])


def test_lone_surrogates_and_huge_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    value = '{"completion": "\\ud800", "grpo_rewards": {"reward": 1%s, "components": {}}}' % ("0" * 400)
    path.write_text(value + "\n")
    (row,) = rows_of(path)
    assert row.completion == "\ud800"
    assert row.reward is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"completion": "x"}\n', "score the file first"),
        ("not json\n", "not JSON"),
        ('{"grpo_rewards": 3}\n', "score the file first"),
        ("[1]\n", "score the file first"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        rows_of(path)
    assert caught.value.line == 1


@pytest.mark.parametrize("name", ["missing.jsonl", "x.txt", "broken.jsonl.gz", "broken.jsonl.zst", "broken.parquet"])
def test_a_file_that_is_not_what_it_says_is_an_input_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if not name.startswith("missing"):
        path.write_bytes(b"\x1f\x8bnothing of the kind")
    with pytest.raises(InputError):
        rows_of(path)


def table(path: Path, **columns: list[Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    size = len(next(iter(columns.values())))
    pq.write_table(pa.table({"step": [5] * size, "prompt": ["p"] * size, "completion": ["c"] * size, **columns}), path)


def test_a_trainers_table_names_rewards_by_its_log(tmp_path: Path) -> None:
    table(
        tmp_path / "completions" / "completions_00005.parquet",
        right=[1.0, float("nan")], seconds=[0.1, 0.2], words=[3, 4], advantage=[0.7, -0.7],
    )  # fmt: skip
    log = [{"step": 5, "reward": 1.0, "reward_std": 0.1, "rewards/right/mean": 1.0, "rewards/right/std": 0.0}]
    (tmp_path / "trainer_state.json").write_text(json.dumps({"global_step": 5, "log_history": log}))
    source = open_report_source(tmp_path)
    first, second = source.rows
    assert list(first.parts) == ["right"]
    assert first.columns == {"seconds": 0.1, "words": 3}
    assert (first.reward, first.advantage, first.step) == (1.0, 0.7, 5)
    assert (second.reward, second.parts["right"].status) == (None, "not_applicable")
    assert "weight 1" in source.notes[0]


def test_a_fused_composite_is_the_total_and_its_components_stay_apart(tmp_path: Path) -> None:
    table(
        tmp_path / "completions" / "completions_00005.parquet",
        composite=[2.5, 0.25], right=[1.0, 0.0], tags=[0.5, 0.5],
        right_reason=["equal", "rejected: no box"], tags_reason=["", ""], advantage=[0.7, -0.7],
    )  # fmt: skip
    entry = {"step": 4, "reward": 1.0, "rewards/composite/mean": 1.0, "rewards/right/mean": 0.5,
             "grpo_rewards/right/weight": 2.25, "grpo_rewards/tags/weight": 0.5}  # fmt: skip
    state = {"global_step": 5, "log_history": [entry]}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    first, second = rows_of(tmp_path)
    assert list(first.parts) == ["right", "tags"]
    assert first.reward == 2.5
    assert (first.parts["right"].weight, first.parts["right"].contribution) == (2.25, 2.25)
    assert (second.parts["right"].status, second.parts["right"].reason) == ("rejected", "no box")


def test_rows_that_a_trainer_left_out_are_told_from_those_to_which_nothing_applies(tmp_path: Path) -> None:
    nan = float("nan")
    lost = "row left out: component 'right' is unavailable: it is down"
    table(
        tmp_path / "completions" / "completions_00005.parquet",
        composite=[1.5, nan, nan, nan], right=[1.0, nan, nan, nan], tags=[0.5, nan, nan, nan], shadow=[0.0, nan, nan, nan],
        right_reason=["", "unavailable: it is down", "error: it broke", "not_applicable"],
        tags_reason=["", f"unavailable: {lost}", f"not_applicable: {lost}", "not_applicable"],
        shadow_reason=["", f"unavailable: {lost}", "", "unavailable: away"],
        right_weight=[1.0] * 4, tags_weight=[1.0] * 4, shadow_weight=[0.0] * 4,
    )  # fmt: skip
    rows = rows_of(tmp_path)
    statuses = [[part.status for part in row.parts.values()] for row in rows]
    assert statuses[1:3] == [["unavailable", "left_out", "left_out"], ["error", "left_out", "not_applicable"]]
    assert [row.left_out for row in rows] == [
        "", "component 'right' is unavailable: it is down", "component 'right' is error: it broke", "",
    ]  # fmt: skip


def test_given_weights_win(tmp_path: Path) -> None:
    path = tmp_path / "completions_00001.parquet"
    table(path, a=[1.0, 0.0], b=[1.0, 1.0], advantage=[0.0, 0.0])
    first, _ = rows_of(path, weights={"a": 3.0, "b": 0.5})
    assert first.reward == 3.5


def test_the_newest_state_counts(tmp_path: Path) -> None:
    for step in (9, 10):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        log = [{"step": s, "reward": s / 10} for s in range(1, step + 1)] + [{"step": step, "train_runtime": 1.0}]
        text = json.dumps({"global_step": step, "log_history": log}).replace("0.3", "NaN")
        (folder / "trainer_state.json").write_text(text)
    training = read_training(tmp_path)
    assert training is not None
    assert [point.step for point in training.points] == [1, 2, 4, 5, 6, 7, 8, 9, 10]


def test_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"trainer_state\.json"):
        open_report_source(tmp_path)


def test_weights_that_the_adapter_logged_make_shares_add_up_without_a_checkpoint(tmp_path: Path) -> None:
    right, tags = [1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 1.0, 0.0]
    table(
        tmp_path / "completions" / "completions_00005.parquet",
        composite=[2.25 * r + 0.5 * t for r, t in zip(right, tags, strict=True)], right=right, tags=tags,
        right_reason=[""] * 4, tags_reason=[""] * 4, right_weight=[2.25] * 4, tags_weight=[0.5] * 4,
    )  # fmt: skip
    columns = Columns()
    for row in rows_of(tmp_path):
        columns.add(row, 1)
    columns.finish()
    shares = {component.name: component.signal or 0 for component in analyse(columns).components}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["right"] > 0.8
