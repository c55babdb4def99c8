"""Files as they come: every format, every shape of a row, and what is wrong with some of them."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import zstandard

ROWS = [{"prompt": f"p{n // 2}", "completion": f"<answer>{n}</answer>", "answer": str(n % 3)} for n in range(6)]
ONLY = ("--only", "exact")
EXPECTED = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def _rewards(rows: Any) -> Any:
    return [row["grpo_rewards"]["reward"] for row in rows]


def _lines(rows: Any = ROWS) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _csv(rows: Any = ROWS) -> bytes:
    import io

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


FILES = {
    "rows.jsonl": _lines(),
    "rows.json": _lines(),
    "rows": _lines(),
    "rows.jsonl.gz": gzip.compress(_lines()),
    "rows.jsonl.zst": zstandard.compress(_lines()),
    "rows.csv": _csv(),
    "rows.csv.gz": gzip.compress(_csv()),
    "bom.jsonl": b"\xef\xbb\xbf" + _lines(),
    "bom.csv": b"\xef\xbb\xbf" + _csv(),
    "utf16.jsonl": _lines().decode().encode("utf-16"),
    "crlf.jsonl": _lines().replace(b"\n", b"\r\n"),
    "empty_lines.jsonl": b"\n" + _lines().replace(b"\n", b"\n\n  \n"),
    "no_last_newline.jsonl": _lines().rstrip(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_rows(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], read: Callable[[Path], list[dict[str, Any]]], name: str
) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    run = cli("score", name, *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    rows = read(tmp_path / "out.jsonl")
    assert _rewards(rows) == EXPECTED
    assert [{key: row[key] for key in ROWS[0]} for row in rows] == ROWS
    groups = [row["grpo_rewards"]["group"] for row in rows]
    assert [groups.index(group) for group in groups] == [0, 0, 2, 2, 4, 4]


def test_standard_input_and_output(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    run = cli("score", "-", *ONLY, "-o", "-", input=_lines().decode())
    assert run.returncode == 0, run.stderr
    assert _rewards(map(json.loads, run.stdout.splitlines())) == EXPECTED
    assert "exact" in run.stderr


def test_a_multi_line_cell_of_a_csv_file(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    rows = [{"completion": 'two\nlines, "quoted"', "answer": "x"}, {"completion": "x", "answer": "x"}]
    (tmp_path / "rows.csv").write_bytes(_csv(rows))
    run = cli("score", "rows.csv", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    scored = read(tmp_path / "out.jsonl")
    assert [row["completion"] for row in scored] == ['two\nlines, "quoted"', "x"]
    assert [row["grpo_rewards"]["row"] for row in scored] == [2, 4]


def test_a_cell_with_a_chat_is_a_chat(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    chat = json.dumps([{"role": "assistant", "content": "<answer>4</answer>"}])
    (tmp_path / "rows.csv").write_bytes(_csv([{"completion": chat, "answer": "4"}]))
    assert cli("score", "rows.csv", *ONLY, "-o", "out.jsonl").returncode == 0
    assert _rewards(read(tmp_path / "out.jsonl")) == [1.0]


@pytest.fixture
def parquet(tmp_path: Path) -> Any:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(columns: Any, name: str = "rows.parquet") -> None:
        parquet.write_table(arrow.table(columns), tmp_path / name, row_group_size=3)

    return write


def test_parquet(
    cli: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
    read: Callable[[Path], list[dict[str, Any]]],
    parquet: Any,
) -> None:
    parquet({name: [row[name] for row in ROWS] for name in ROWS[0]})
    run = cli("score", "rows.parquet", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    assert _rewards(read(tmp_path / "out.jsonl")) == EXPECTED


def test_the_completions_table_that_trl_writes(
    cli: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
    read: Callable[[Path], list[dict[str, Any]]],
    parquet: Any,
) -> None:
    parquet(
        {
            "step": ["1"] * 4 + ["2"] * 4,
            "prompt": ["same"] * 8,
            "completion": [f"<answer>{n}</answer>" for n in range(8)],
            "some_reward": [float(n) for n in range(8)],
            "advantage": [0.5] * 8,
            "answer": ["3"] * 8,
        },
        "completions_00001.parquet",
    )
    run = cli("score", "completions_00001.parquet", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    rows = read(tmp_path / "out.jsonl")
    assert _rewards(rows) == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [row["some_reward"] for row in rows] == list(range(8))
    # one prompt in two steps is two groups
    assert [row["grpo_rewards"]["group"] for row in rows] == [1] * 4 + [5] * 4


SHAPES: dict[str, dict[str, Any]] = {
    "completion": {"completion": "<answer>7</answer>"},
    "chat": {"completion": [{"role": "assistant", "content": "<answer>7</answer>"}]},
    "one message": {"completion": {"role": "assistant", "content": "<answer>7</answer>"}},
    "parts": {"completion": [{"role": "assistant", "content": [{"type": "text", "text": "<answer>7</answer>"}]}]},
    "response": {"response": "<answer>7</answer>"},
    "messages": {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "3 + 4"},
            {"role": "assistant", "content": "<answer>7</answer>"},
        ]
    },
    "tools": {
        "messages": [
            {"role": "user", "content": "3 + 4"},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "add"}}]},
            {"role": "tool", "content": "<answer>8</answer>"},
            {"role": "assistant", "content": "<answer>7</answer>"},
        ]
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_row(
    cli: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
    shape: str,
) -> None:
    jsonl([{**SHAPES[shape], "answer": "7"}])
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    assert _rewards(read(tmp_path / "out.jsonl")) == [1.0]


def test_a_list_of_completions_is_a_group(
    cli: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
) -> None:
    row = {"prompt": "p", "completions": ["<answer>1</answer>", "<answer>2</answer>"], "answer": "2"}
    jsonl([row, row])
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl", "--json")
    assert run.returncode == 0, run.stderr
    rows = read(tmp_path / "out.jsonl")
    places = [tuple(row["grpo_rewards"][key] for key in ("row", "index", "group")) for row in rows]
    assert places == [(1, 0, 1), (1, 1, 1), (2, 0, 2), (2, 1, 2)]
    assert _rewards(rows) == [0, 1, 0, 1]
    assert json.loads(run.stdout)["components"]["exact"]["zero_std_groups"] == 0


BAD = [
    (b'{"completion": "x", "answer": "1"', "not JSON"),
    (b"[1, 2]", "array"),
    (b'"text"', "string"),
    (b'{"completion": "\xff\xfe", "answer": "1"}', "not UTF-8"),
    (b'{"answer": "1"}', "no completion"),
    (b'{"completion": null, "answer": "1"}', "'completion' is null"),
    (b'{"completion": 7, "answer": "1"}', "'completion' must be a string"),
    (b'{"completions": [], "answer": "1"}', "empty list"),
    (b'{"completions": "x", "answer": "1"}', "must be a list"),
    (b'{"messages": [{"role": "user", "content": "x"}], "answer": "1"}', "no assistant turn"),
    (b'{"completion": "x", "prompt": 5, "answer": "1"}', "'prompt' must be"),
    (b'{"completion": "x", "completion_ids": "12", "answer": "1"}', "completion_ids"),
    (b"\x00\x00", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b'{"completion": "1", "answer": "1", "answer": "2"}', "the key 'answer' is given twice"),
    (b'{"completion" :"a: b", "completion": "a"}', "the key 'completion' is given twice"),
    (b'{"completion": [{"role": "assistant", "content": "1", "content": "2"}]}', "the key 'content' is given twice"),
    (b'{"completion": "1", "score": NaN, "score": 1}', "the key 'score' is given twice"),
]


def test_malformed_lines_are_named_and_kept_and_the_rest_go_on(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    lines = _lines().splitlines()
    mixed = [line for pair in zip(BAD, [*lines, *[lines[0]] * 12], strict=True) for line in (pair[0][0], pair[1])]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(mixed) + b"\n")
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl", "--json")
    assert run.returncode == 1, run.stderr
    assert "Traceback" not in run.stderr
    summary = json.loads(run.stdout)
    assert (summary["rows"], summary["malformed"]) == (len(BAD), len(BAD))
    assert summary["side_file"].endswith("out.jsonl.malformed.jsonl")
    assert "rows.jsonl:1: not JSON" in run.stderr
    side = read(tmp_path / "out.jsonl.malformed.jsonl")
    assert [(entry["file"], entry["line"]) for entry in side] == [("rows.jsonl", 2 * n + 1) for n in range(len(BAD))]
    for entry, (raw, problem) in zip(side, BAD, strict=True):
        assert problem in entry["problem"]
        assert entry["raw"] == raw.decode("utf-8", "replace")
    assert _rewards(read(tmp_path / "out.jsonl"))[:6] == EXPECTED


def test_malformed_records_of_a_csv_file(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    (tmp_path / "rows.csv").write_bytes(b"completion,answer\n<answer>1</answer>,1\nx\n\xff,1\n<answer>2</answer>,2\n")
    run = cli("score", "rows.csv", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 1
    assert "rows.csv:3: 1 cells, but the header has 2" in run.stderr
    assert "rows.csv:4: not UTF-8" in run.stderr
    assert _rewards(read(tmp_path / "out.jsonl")) == [1.0, 1.0]


def test_a_file_that_breaks_off_is_scored_up_to_there(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    whole = gzip.compress(_lines([{**row, "noise": "".join(map(chr, range(33, 120)))} for row in ROWS * 300]))
    (tmp_path / "rows.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    run = cli("score", "rows.jsonl.gz", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 1
    assert "cannot be read on from here" in run.stderr
    assert _rewards(read(tmp_path / "out.jsonl"))[:6] == EXPECTED


def test_numbers_and_keys_survive(tmp_path: Path, cli: Callable[..., CompletedProcess[str]]) -> None:
    line = '{"completion":"<answer>1</answer>","answer":"1","big":123456789012345678901234567890,"é":"\\ud83d\\ude00"'
    (tmp_path / "rows.jsonl").write_text(line + "}\n")
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "out.jsonl").read_text().startswith(line + ',"grpo_rewards":{')


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "no such file"),
        ("rows.txt", b"x", "names no format"),
        ("empty.jsonl", b"", "no rows"),
        ("empty.csv", b"", "empty"),
        ("rows.csv", b"a,b\n1,2\n", "has none of completion"),
        ("twice.csv", b"completion,completion\n1,2\n", "twice"),
        ("rows.parquet", b"PAR?", "cannot be read as parquet"),
    ],
)
def test_a_file_that_is_no_rows(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    run = cli("score", name, *ONLY, "-o", "out.jsonl")
    assert run.returncode == 2, run.stderr
    assert message in run.stderr
    assert name in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.glob("out.jsonl*"))


def test_a_missing_column_is_found_before_the_first_row(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl({"completion": "x", "anser": "1"} for _ in range(10))
    run = cli("score", "rows.jsonl", *ONLY, "-o", "-")
    assert run.returncode == 2
    assert run.stdout == ""
    assert "'answer'" in run.stderr
    assert "did you mean 'anser'" in run.stderr


def test_groups_are_not_split_over_chunks(
    tmp_path: Path,
    cli: Callable[..., CompletedProcess[str]],
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
) -> None:
    """Group rewards see whole groups, however long, and whatever the rows around them are."""
    (tmp_path / "size.py").write_text(
        "from grpo_rewards import reward\n@reward.group\n"
        "def size(completions: list[str]) -> list[float]:\n    return [float(len(completions))] * len(completions)\n"
    )
    sizes = [3, 40, 1, 300, 7, 16, 700, 2]
    jsonl({"prompt": f"p{g}", "completion": "x"} for g, size in enumerate(sizes) for _ in range(size))
    run = cli("score", "rows.jsonl", "--only", "./size.py:size", "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    assert _rewards(read(tmp_path / "out.jsonl")) == [float(size) for size in sizes for _ in range(size)]


def test_a_group_that_lies_scattered_is_warned_of_once(
    tmp_path: Path,
    cli: Callable[..., CompletedProcess[str]],
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
) -> None:
    jsonl({"group_id": n % 2, "completion": "x", "answer": "x"} for n in range(8))
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0
    assert run.stderr.count("warning:") == 1
    assert "rows.jsonl:3" in run.stderr
    assert "Sort the file by group" in run.stderr


def test_group_id_goes_before_equal_prompts(
    tmp_path: Path,
    cli: Callable[..., CompletedProcess[str]],
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
) -> None:
    jsonl({"prompt": "same", "group_id": n // 2, "completion": "x", "answer": "x"} for n in range(4))
    assert cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl").returncode == 0
    assert [row["grpo_rewards"]["group"] for row in read(tmp_path / "out.jsonl")] == [1, 1, 3, 3]


def test_scoring_a_scored_file_replaces_its_scores(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl(ROWS)
    assert cli("score", "rows.jsonl", *ONLY, "-o", "once.jsonl").returncode == 0
    assert cli("score", "once.jsonl", *ONLY, "-o", "twice.jsonl").returncode == 0
    assert (tmp_path / "once.jsonl").read_bytes() == (tmp_path / "twice.jsonl").read_bytes()


def test_a_column_that_only_later_rows_lack_does_not_apply_there(
    tmp_path: Path,
    cli: Callable[..., CompletedProcess[str]],
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
) -> None:
    jsonl([{"completion": "<answer>1</answer>", "answer": "1"}] * 20 + [{"completion": "x"}] * 600)
    run = cli("score", "rows.jsonl", *ONLY, "-o", "out.jsonl")
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("'answer'") == 1
    assert _rewards(read(tmp_path / "out.jsonl")) == [1.0] * 20 + [None] * 600
