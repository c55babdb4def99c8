"""Worker processes: the same output as without them, also when one of them dies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

DEADLY = """
import ctypes, os, signal
from grpo_rewards import reward

@reward(range=(0.0, 1.0))
def deadly(completion: str) -> float:
    if completion == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if completion == "segfault":
        ctypes.string_at(0)
    if completion == "exit":
        os._exit(7)
    return 0.5
"""


def _rows(groups: int, size: int = 4, **special: int) -> Iterator[Any]:
    placed = {position: completion for completion, position in special.items()}
    for n in range(groups * size):
        yield {"prompt": f"p{n // size}", "completion": placed.get(n, f"<answer>\n{n}\n</answer>"), "answer": str(n)}


@pytest.fixture
def deadly(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "deadly.py").write_text(DEADLY)
    return ("--only", "./deadly.py:deadly")


def test_two_workers_write_what_one_writes(
    tmp_path: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    jsonl(_rows(150))
    (tmp_path / "rewards.yaml").write_text(
        "version: 1\nrewards:\n  exact: {use: exact}\n  format: {use: xml_format, params: {tags: [answer]}}\n"
        "  diversity: {use: diversity}\n"
    )
    summaries = []
    for workers in (1, 2):
        run = cli("score", "rows.jsonl", "-o", f"{workers}.jsonl", "--workers", workers, "--json")
        assert run.returncode == 0, run.stderr
        summaries.append(json.loads(run.stdout))
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    one, two = ({n: {**c, "p95_seconds": 0} for n, c in summary["components"].items()} for summary in summaries)
    assert one == {name: pytest.approx(figures) for name, figures in two.items()}
    assert one["exact"]["mean"] == 1.0


@pytest.mark.slow
def test_one_process_feeds_what_is_done_in_processes_apart(
    tmp_path: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
    cli: Callable[..., CompletedProcess[str]],
) -> None:
    (tmp_path / "fed.py").write_text(
        "import os\nfrom grpo_rewards import Outcome, reward\n@reward.batch(range=(0.0, 1.0), apart=True)\n"
        "def fed(completions: list[str]) -> list[Outcome]:\n"
        "    return [Outcome(1.0, reason=str(os.getpid())) for _ in completions]\n"
    )
    (tmp_path / "here.py").write_text(
        "from grpo_rewards import reward\n@reward\ndef here(completion: str) -> float:\n    return 1.0\n"
    )
    jsonl(_rows(40))
    slots = {"GRPO_REWARDS_SHARED_BY": "4096"}  # one slot, whatever the machine
    run = cli("score", "rows.jsonl", "--only", "./fed.py:fed", "-o", "fed.jsonl", "--workers", 2, env=slots)
    assert run.returncode == 0, run.stderr
    assert "1 scoring process, not 2" in run.stderr
    assert len({row["grpo_rewards"]["components"]["fed"]["reason"] for row in read(tmp_path / "fed.jsonl")}) == 1
    (tmp_path / "both.yaml").write_text(
        "version: 1\nrewards:\n  fed: {use: './fed.py:fed'}\n  here: {use: './here.py:here'}\n"
    )
    run = cli("score", "rows.jsonl", "-c", "both.yaml", "-o", "both.jsonl", "--workers", 2, env=slots)
    assert run.returncode == 0, run.stderr
    assert "1 scoring process" not in run.stderr  # a row may end the process that somebody's own reward runs in


@pytest.mark.slow
@pytest.mark.parametrize(
    ("completion", "how"), [("kill", "SIGKILL"), ("segfault", "SIGSEGV"), ("exit", "ended with status 7")]
)
def test_a_row_that_kills_its_worker_is_the_only_one_lost(
    tmp_path: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
    cli: Callable[..., CompletedProcess[str]],
    deadly: tuple[str, str],
    completion: str,
    how: str,
) -> None:
    jsonl(_rows(20, **{completion: 33}))
    run = cli("score", "rows.jsonl", *deadly, "-o", "out.jsonl", "--workers", 2)
    assert run.returncode == 1, run.stderr
    scores = [row["grpo_rewards"] for row in read(tmp_path / "out.jsonl")]
    parts = [score["components"]["deadly"] for score in scores]
    assert [score["row"] for score in scores] == list(range(1, 81))
    assert [position for position, part in enumerate(parts) if part["status"] == "error"] == [33]
    assert how in parts[33]["reason"]
    assert parts[33]["value"] is None
    assert all(part["value"] == 0.5 for position, part in enumerate(parts) if position != 33)
    assert "1 on which a plugin broke" in run.stderr


@pytest.mark.slow
def test_several_deadly_rows_in_one_group(
    tmp_path: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
    cli: Callable[..., CompletedProcess[str]],
    deadly: tuple[str, str],
) -> None:
    jsonl(_rows(6, kill=8, segfault=10))
    run = cli("score", "rows.jsonl", *deadly, "-o", "out.jsonl", "--workers", 2)
    assert run.returncode == 1, run.stderr
    statuses = [row["grpo_rewards"]["components"]["deadly"]["status"] for row in read(tmp_path / "out.jsonl")]
    assert [position for position, status in enumerate(statuses) if status == "error"] == [8, 10]


def test_what_cannot_cross_into_a_worker_is_said_before_the_first_row(
    tmp_path: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    (tmp_path / "parent_only.py").write_text(
        "import sys\nfrom grpo_rewards import reward\n"
        "if any('workers.program' in part for part in sys.orig_argv):\n    raise RuntimeError('not in a child')\n"
        "@reward\ndef here(completion: str) -> float:\n    return 1.0\n"
    )
    jsonl(_rows(3))
    run = cli("score", "rows.jsonl", "--only", "./parent_only.py:here", "-o", "out.jsonl", "--workers", 2)
    assert run.returncode == 2
    assert "not in a child" in run.stderr
    assert "--workers 1" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.glob("out.jsonl*"))


def test_an_unknown_executor_names_those_there_are(
    jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    jsonl(_rows(1))
    run = cli("score", "rows.jsonl", "--only", "exact", "--executor", "locl")
    assert run.returncode == 2
    assert "'local'" in run.stderr
