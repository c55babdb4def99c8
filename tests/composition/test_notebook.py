"""What a notebook shows: small whatever the size, text of completions escaped; rows, slices, frames, the report in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite, Outcome, ScoreTable, reward
from grpo_rewards.errors import InputError
from grpo_rewards.rewards import exact

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J</td></table>"
BOUND = 60_000  # characters of HTML, whatever is shown


@reward(range=(0.0, 1.0))
def echo(completion: str) -> Outcome:
    """Says back <b>what</b> it reads."""
    return Outcome(0.5, reason=completion, details={"said": completion})


@pytest.fixture(scope="module")
def table() -> ScoreTable:
    rows = [
        {"prompt": f"{n // 4}+1?", "completion": HOSTILE if n == 0 else str(n), "answer": str(n // 4 + 1)}
        for n in range(40)
    ]
    return Composite(correct=(exact, 2.0), echo=echo).score(rows)


def shown(thing: Any) -> str:
    html: str = thing._repr_html_()
    assert len(html) < BOUND
    assert "<script" not in html.lower()
    assert "<img" not in html.lower()
    assert "\x1b" not in html
    return html


def test_hostile_text_is_escaped_everywhere(table: ScoreTable) -> None:
    outcome = Outcome(1.0, reason=HOSTILE, details={HOSTILE: HOSTILE})
    for thing in (table, table[0], outcome, echo, Composite(correct=exact)):
        shown(thing)
    assert "&lt;script&gt;" in shown(table)
    assert "&lt;script&gt;" in shown(table[0])
    assert "&lt;script&gt;" in shown(outcome)
    assert "&lt;b&gt;" in shown(echo)


def test_html_and_repr_are_small_whatever_the_size() -> None:
    long = "<" * 200_000
    rows = [{"prompt": long, "completion": long, "answer": "4"} for _ in range(3000)]
    names = {f"component_{n}": (echo if n % 2 else exact) for n in range(60)}
    composite = Composite(names)
    big = composite.score(rows[:20])
    for thing in (big, composite, big.components["component_1"][0]):
        shown(thing)
    many = Composite(correct=exact).score(rows)
    shown(many)
    assert len(repr(many)) < 1_000
    assert len(repr(big)) < 1_000
    assert "2,990 more rows" in shown(many)


def test_a_table_is_asked_for_rows_and_slices(table: ScoreTable) -> None:
    assert len(table[3:7]) == 4
    assert table[3:7].rewards() == table.rewards()[3:7]
    assert table[3:7].groups == [[0], [1, 2, 3]]
    assert table[-1]["reward"] == table.rewards()[-1]
    assert table[3:7][1]["completion"] == "4" == table[4]["completion"]
    assert dict(table[4]) == {**table.row(4), "prompt": "1+1?", "completion": "4"}
    assert [row["reward"] for row in table] == table.rewards()
    with pytest.raises(IndexError):
        table[40]
    assert table[5:5].rewards() == []
    shown(table[5:5])


def test_rows_that_were_left_out_stay_so_in_a_slice() -> None:
    @reward
    def fails(completion: str) -> float:
        if completion == "1":
            raise ValueError("no")
        return 1.0

    table = Composite(fails=fails).score([{"completion": str(n)} for n in range(3)])
    assert list(table[1:].left_out) == [0]
    assert "left out" in str(table[1])
    assert "left out" in shown(table[1])


def test_explain_says_prompt_completion_and_why() -> None:
    composite = Composite(correct=(exact, 2.0), echo=(echo, 0.5))
    found = composite.explain({"prompt": "2+2?", "completion": [{"role": "assistant", "content": "4"}], "answer": "4"})
    assert found["reward"] == 2.25
    lines = str(found).splitlines()
    assert lines[:3] == ["prompt: 2+2?", "completion: 4", "reward 2.25"]
    assert lines[3].split()[:8] == ["correct", "1", "×", "2", "×", "gate", "1", "="]
    assert repr(found) == str(found)


def test_frames_hold_a_row_per_completion(table: ScoreTable) -> None:
    arrow = pytest.importorskip("pyarrow")
    columns = ["prompt", "completion", "reward", "left_out"]
    columns += [f"{name}.{what}" for name in ("correct", "echo") for what in ("value", "status", "reason")]
    found = table.to_arrow()
    assert isinstance(found, arrow.Table)
    assert found.column_names == columns
    assert found["reward"].to_pylist() == table.rewards()
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert list(frame.columns) == columns
    assert frame["correct.value"].tolist() == table.values("correct")


def test_the_report_is_shown_in_place_and_written(table: ScoreTable, tmp_path: Path) -> None:
    found = table.report(tmp_path / "report.html", title="My <b>run</b>")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == found.page
    html = found._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert html.count("<") == 2
    assert "allow-same-origin" not in html
    assert table.report().path is None


def test_a_trainers_table_says_that_it_has_no_completions(table: ScoreTable) -> None:
    from grpo_rewards.types import Batch

    bare = Composite(echo=echo).evaluate(Batch.from_rows([{"completion": "4"}]))
    assert "completion" not in bare[0]
    shown(bare)
    with pytest.raises(InputError, match="needs the completions"):
        bare.report()
