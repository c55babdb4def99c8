"""Hand-made tables by class of answer, one file each; every line is a gold, what stands in the box, and whether they are the same."""

from __future__ import annotations

import pytest
from grpo_rewards_plugins.math.grading import grade

from grpo_rewards import get_reward

from .table_rows import ANSWER_TABLES, COMPLETION_TABLES, rows


@pytest.mark.parametrize("same", [True, False], ids=["same", "different"])
@pytest.mark.parametrize("name", ANSWER_TABLES)
def test_each_line_of_a_table_holds(name: str, same: bool) -> None:
    chosen = [(row.gold, row.answer) for row in rows(name) if row.same == same]
    assert len(chosen) > 60
    patient = get_reward("math").with_(timeout=30.0)  # a loaded machine is no finding
    found = patient(
        completions=[rf"So it is \boxed{{{answer}}}." for _, answer in chosen], answer=[gold for gold, _ in chosen]
    )
    assert [pair for pair, value in zip(chosen, found, strict=True) if value != float(same)] == []


def test_units_are_converted_only_where_the_setting_says_so() -> None:
    assert grade("1.8\\text{ m}", "180\\text{ cm}").equal
    assert not grade("1.8\\text{ m}", "180\\text{ cm}", convert_units=False).equal
    assert grade("12\\text{ N}", "12\\text{ kg m/s}^2", convert_units=False).equal  # algebra is no conversion


@pytest.mark.parametrize("same", [True, False], ids=["same", "different"])
@pytest.mark.parametrize("name", COMPLETION_TABLES)
def test_the_answer_is_found_whatever_stands_around_it(name: str, same: bool) -> None:
    chosen = [(row.gold, row.answer) for row in rows(name) if row.same == same]
    assert len(chosen) > 30
    found = get_reward("math")(completions=[text for _, text in chosen], answer=[gold for gold, _ in chosen])
    assert [pair for pair, value in zip(chosen, found, strict=True) if value != float(same)] == []
