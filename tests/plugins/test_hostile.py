"""Hostile completions are graded by every pack: no error, nothing left out. How long they take: benchmarks/packs_hostile.py."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import hostile_rows

pytestmark = pytest.mark.slow
LENGTH = 60_000


def graded(rows: Iterator[hostile_rows.Row], every: int = 1) -> list[float]:
    """The values; a row that has none is named."""
    values = []
    for reward, text, columns in list(rows)[::every]:
        outcome = reward.one(text, **columns)
        assert outcome.value is not None, (outcome, columns, text[:40])
        values.append(outcome.value)
    return values


@pytest.mark.parametrize("pack", ["instructions", "qa", "tool_calls"])
def test_texts_that_are_long_deep_or_broken_are_graded(pack: str) -> None:
    for name in {"instructions": ("nltk", "langdetect", "syllapy", "emoji")}.get(pack, ()):
        pytest.importorskip(name)
    every = {"instructions": 7}.get(pack, 1)  # a hundred texts for each of 137 checks
    values = graded(getattr(hostile_rows, pack)(LENGTH), every)
    assert len(values) > 250
    # ToolRL pays two of four points for the name and the key; a lone x is one word of a gold
    assert max(values) <= {"instructions": 1.0, "tool_calls": 2.0, "qa": 0.1}[pack]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # files that the package's data leaves open
def test_answers_that_a_scorer_may_run_are_graded() -> None:
    if importlib.util.find_spec("reasoning_gym") is None:
        pytest.skip("needs the extra reasoning-gym")
    rows = list(hostile_rows.reasoning_gym(2_000))
    paid = {
        json.loads(row[2]["metadata"])["source_dataset"]
        for row, value in zip(rows, graded(iter(rows)), strict=True)
        if value > 0.1
    }
    assert paid <= {"game_of_life_halting", "propositional_logic", "spell_backward"}, "these pay what is no answer"


def test_queries_that_write_or_never_end_are_0(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "d.sqlite")
    connection.executescript(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'a')"
    )
    connection.close()
    before = (tmp_path / "d.sqlite").read_bytes()
    assert set(graded(hostile_rows.sql("sqlite", str(tmp_path)))) == {0.0}
    assert (tmp_path / "d.sqlite").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["d.sqlite"]
