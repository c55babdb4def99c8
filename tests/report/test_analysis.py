from __future__ import annotations

import math
import random
from typing import Any

import pytest

from grpo_rewards._report.analysis import analyse, histogram
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.findings import findings
from grpo_rewards._report.rows import ComponentResult, ReportRow, ReportSource, with_groups


def columns_of(groups: Any, *, prompt: Any = None, step: Any = None) -> Any:
    """Columns of groups of rows, each row a dict of component values (weight 1)."""
    made = []
    line = 0
    for name, rows in groups.items():
        for values in rows:
            line += 1
            parts = {
                key: ComponentResult(v, 1.0, 1.0, v, "scored" if v is not None else "not_applicable")
                for key, v in values.items()
            }
            given = [v for v in values.values() if v is not None]
            reward = sum(given) if given else None
            made.append(ReportRow(line, prompt or name, "x" * line, reward, parts, group=None if prompt else name))
    columns = Columns()
    for row in with_groups(made):
        columns.add(row, row.line)
    columns.finish()
    return columns


def test_histogram_keeps_few_values_apart_and_counts_every_value() -> None:
    assert [(b.low, b.high, b.count) for b in histogram([1.0, 0.0, 1.0])] == [(0.0, 0.0, 1), (1.0, 1.0, 2)]
    chance = random.Random(1)
    values = [chance.random() for _ in range(1000)] + [0.0, 1.0]
    bars = histogram(values)
    assert sum(bar.count for bar in bars) == len(values)
    assert (bars[0].low, bars[-1].high) == pytest.approx((0.0, 1.0))
    assert histogram([1e308 * (-1) ** i + i for i in range(20)])


def test_advantages_are_those_of_the_definition() -> None:
    analysis = analyse(
        columns_of({"g": [{"a": 1.0}, {"a": 0.0}, {"a": 0.5}], "flat": [{"a": 1.2}] * 8, "one": [{"a": 3.0}]})
    )
    assert list(analysis.centred[:3]) == pytest.approx([0.5, -0.5, 0.0])
    assert list(analysis.centred[3:11]) == [0.0] * 8
    assert math.isnan(analysis.centred[11])
    assert (analysis.reward.groups, analysis.reward.flat) == (2, 0.5)


def test_signal_shares_add_to_one_and_follow_the_variance() -> None:
    chance = random.Random(2)
    groups = {
        f"g{g}": [{"big": chance.choice((0.0, 2.0)), "small": chance.random() / 10} for _ in range(8)]
        for g in range(50)
    }
    analysis = analyse(columns_of(groups))
    shares = {component.name: component.signal or 0 for component in analysis.components}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["big"] > 0.98


def test_correlation_within_groups_can_differ_from_all_rows() -> None:
    # over all rows a and b rise together; inside each group one falls as the other rises
    groups = {f"g{g}": [{"a": 10.0 * g + i, "b": 10.0 * g - i} for i in range(3)] for g in range(20)}
    analysis = analyse(columns_of(groups))
    a, b = analysis.names.index("a"), analysis.names.index("b")
    assert (analysis.pooled[a][b] or 0) > 0.99
    assert analysis.within[a][b] == pytest.approx(-1.0)


def test_correlation_is_none_where_nothing_varies() -> None:
    analysis = analyse(columns_of({f"g{g}": [{"a": 1.0, "b": float(i)} for i in range(3)] for g in range(3)}))
    assert analysis.pooled[1][2] is None


def test_equal_prompts_in_a_row_are_one_group_and_a_new_prompt_begins_another() -> None:
    columns = Columns()
    for row in with_groups(ReportRow(1, prompt, "c", 1.0, {}) for prompt in ("p", "p", "q", "p", None, None)):
        columns.add(row, 1)
    assert list(columns.groups) == [0, 0, 1, 2, 3, 4]


def test_named_groups_may_lie_apart() -> None:
    columns = Columns()
    for group in ("x", "y", "x"):
        columns.add(ReportRow(1, "p", "c", 1.0, {}, group=group), 1)
    assert list(columns.groups) == [0, 1, 0]


def test_components_that_only_some_rows_have_stay_aligned() -> None:
    analysis = analyse(columns_of({"g": [{"a": 1.0}, {"b": 2.0}, {"a": 3.0, "b": None}]}))
    a, b = analysis.components
    assert (a.summary.n, b.summary.n) == (2, 1)
    assert (b.statuses["scored"], b.statuses["not_applicable"]) == (1, 1)


def texts(groups: Any) -> Any:
    analysis = analyse(columns_of(groups))
    return [(f.level, f.about, f.text) for f in findings(ReportSource("t", "k", iter(())), analysis)]


def test_findings_name_what_is_wrong() -> None:
    said = texts({f"g{i}": [{"same": 1.0, "a": float(i % 2)}] * 4 for i in range(6)})
    assert any(level == "warning" and about == "groups" and "100 %" in text for level, about, text in said)
    assert any(about == "same" and "1 on every row" in text for _, about, text in said)


def test_findings_are_quiet_about_a_healthy_reward() -> None:
    chance = random.Random(3)
    said = texts({f"g{i}": [{"a": chance.random(), "b": chance.random()} for _ in range(4)] for i in range(40)})
    assert said == []


def test_a_shut_gate_counts_as_zero_like_in_the_trainer() -> None:
    columns = Columns()
    for gate in (1.0, 0.0):
        columns.add(ReportRow(1, "p", "c", gate, {"a": ComponentResult(1.0, 1.0, gate, gate, "scored")}), 1)
    columns.finish()
    (a,) = analyse(columns).components
    assert (a.summary.mean, a.summary.flat, a.gated) == (0.5, 0.0, 1)


def test_shares_are_not_shown_where_the_reward_is_not_the_sum_of_what_is_recorded() -> None:
    columns = Columns()
    for line, (reward, a, b) in enumerate([(2.5, 1.0, 0.0), (0.25, 0.0, 0.5), (2.75, 1.0, 0.5), (0.0, 0.0, 0.0)], 1):
        parts = {name: ComponentResult(value, 1.0, None, value, "scored") for name, value in (("a", a), ("b", b))}
        columns.add(ReportRow(line, "p", "c", reward, parts), 1)  # weights of 2.5 and 0.5 that nobody recorded
    columns.finish()
    analysis = analyse(columns)
    assert not analysis.adds_up
    assert [component.signal for component in analysis.components] == [None, None]
    said = [f.text for f in findings(ReportSource("t", "k", iter(())), analysis)]
    assert any("no component's share of the signal is shown" in text for text in said)
