"""The figures of a comparison, against definitions written out and against numbers worked out by hand."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Composite, reward
from grpo_rewards._compare import spool
from grpo_rewards._compare.comparison import compare
from grpo_rewards._compare.ranking import kendall, rank_correlations
from grpo_rewards._compare.sides import ComparedRow, ComponentScore, Side, score_sides
from grpo_rewards._compare.significance import interval, sign_flip
from grpo_rewards._composition.stats import pearson
from grpo_rewards.errors import ConfigError, InputError

SMALL = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40)


def _kendall_by_definition(x: Any, y: Any) -> Any:
    signs = [
        ((a > b) - (a < b), (c > d) - (c < d)) for (a, c), (b, d) in itertools.combinations(zip(x, y, strict=True), 2)
    ]
    tied = [sum(one != 0 for one, _ in signs), sum(two != 0 for _, two in signs)]
    return None if 0 in tied else sum(one * two for one, two in signs) / math.sqrt(tied[0] * tied[1])


@given(SMALL)
def test_kendall_is_tau_b(pairs: Any) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    expected = _kendall_by_definition(x, y)
    assert kendall(x, y) == (None if expected is None else pytest.approx(expected))


def test_equal_values_share_a_rank() -> None:
    assert rank_correlations(zip([10.0, 20.0, 20.0, 5.0], [2.0, 3.5, 3.5, 1.0], strict=True))[1] == pytest.approx(1.0)
    assert rank_correlations(zip([1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 9.0, 16.0], strict=True))[1] == 1.0
    assert rank_correlations(zip([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], strict=True))[1] == -1.0
    assert pearson([1.0, 1.0], [1.0, 2.0]) is None


def test_sign_flip_tries_every_pattern_of_few_groups() -> None:
    assert sign_flip([1.0, 1.0, 1.0]) == 2 / 8
    assert sign_flip([1.0, -1.0]) == 1.0
    assert sign_flip([0.0, 0.0]) == 1.0


def test_sign_flip_tells_a_shift_from_noise_and_repeats_itself() -> None:
    chance = random.Random(3)
    noise = [side * chance.gauss(0, 1) for _ in range(30) for side in (1, -1)]
    assert sign_flip(noise, seed=1) > 0.1
    shifted = [value + 1.5 for value in noise]
    assert sign_flip(shifted, seed=1) < 0.001
    assert sign_flip(noise, seed=1) == sign_flip(noise, seed=1)


def test_sign_flip_is_calibrated() -> None:
    chance = random.Random(0)
    found = [sign_flip([chance.gauss(0, 1) for _ in range(15)], seed=n, repetitions=1000) for n in range(200)]
    assert 0.01 <= sum(p <= 0.05 for p in found) / 200 <= 0.10
    assert 0.4 <= sum(found) / 200 <= 0.6


def test_interval_holds_the_mean_and_narrows_with_more_groups() -> None:
    chance = random.Random(5)
    few, many = ([chance.gauss(1.0, 1.0) * 4 for _ in range(n)] for n in (20, 400))
    wide, narrow = interval(few, [4] * 20), interval(many, [4] * 400)
    assert wide is not None
    assert narrow is not None
    assert narrow[0] < 1.0 < narrow[1]
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    assert interval([1.0], [4]) is None


# ------------------------------------------------------------------------------------------------ whole comparisons


def _row(line: int, group: str, reward: Any, **values: Any) -> Any:
    cells = {name: ComponentScore(value, 1.0, 1.0, value, "scored", "") for name, value in values.items()}
    return ComparedRow(line, None, line.to_bytes(16), group, reward, cells, "")


def test_what_changes_in_advantages() -> None:
    a = Side(
        "a", [_row(1, "g", 1.0, x=1.0), _row(2, "g", 0.0, x=0.0), _row(3, "h", 0.5, x=0.5), _row(4, "h", 0.5, x=0.5)]
    )
    b = Side(
        "b", [_row(1, "g", 0.0, x=0.0), _row(2, "g", 1.0, x=1.0), _row(3, "h", 0.5, x=0.5), _row(4, "h", 0.9, x=0.9)]
    )
    found = compare(a, b).summary
    assert found["rows_changed"] == 3
    assert found["advantages"]["rows_that_change_sign"] == 2
    assert found["advantages"]["groups_that_gain_signal"] == 1
    assert found["advantages"]["groups_with_another_best"] == 1
    assert found["advantages"]["kendall_within_groups"] == -1.0
    assert found["reward"]["difference"] == pytest.approx(0.1)
    assert found["components"]["x"]["main_cause"] == 3


def test_rows_are_paired_by_content_whatever_their_order() -> None:
    rows = [_row(n, f"g{n // 2}", n / 10, x=n / 10) for n in range(10)]
    found = compare(Side("a", rows), Side("b", [*rows[::-1][:9], _row(77, "z", 0.0, x=0.0)]))
    assert not found.changed
    assert found.summary["rows"] == 9
    assert (found.summary["only_in_a"], found.summary["only_in_b"]) == (1, 1)
    assert found.summary["reward"]["p_value"] == 1.0


def test_rows_of_other_completions_are_refused() -> None:
    with pytest.raises(InputError, match="no row of a is in b"):
        compare(Side("a", [_row(1, "g", 1.0)]), Side("b", [_row(2, "g", 1.0)]))


def test_a_row_that_loses_its_reward_is_a_change_outside_of_the_means() -> None:
    a = Side("a", [_row(1, "g", 1.0, x=1.0), _row(2, "g", 0.0, x=0.0)])
    lost = ComparedRow(
        1, None, (1).to_bytes(16), "g", None, {"x": ComponentScore(None, 1.0, 1.0, None, "unavailable", "down")}, ""
    )
    found = compare(a, Side("b", [lost, a[1]]))
    assert found.summary["rows_changed"] == 1
    assert found.summary["reward"]["no_reward_in_b"] == 1
    assert found.summary["reward"]["rows"] == 1
    assert found.changed[0]["components"]["x"]["what"] == ["value", "status"]


def test_the_clip_of_the_total_is_told_from_the_components() -> None:
    a = Side("a", [_row(1, "g", 1.0, x=1.0), _row(2, "g", 0.0, x=0.0)])
    b = Side("b", [_row(1, "g", 0.5, x=1.0), _row(2, "g", 0.0, x=0.0)])
    (entry,) = compare(a, b).changed
    assert entry["by"] == ["(combination)"]
    assert entry["components"]["(combination)"]["change"] == -0.5


def test_what_a_component_finds_wrong_when_it_is_called_ends_a_comparison(tmp_path: Path) -> None:
    @reward
    def judged(completion: str) -> float:
        raise ConfigError("the service refuses its token")

    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt": "p", "completion": "a"}\n')
    with pytest.raises(ConfigError, match=r"rewards.judged: the service refuses its token"):
        score_sides([(name, Composite(judged=judged)) for name in "ab"], path, warn=print)


def test_numbers_on_disk_are_those_that_were_added() -> None:
    numbers = [random.Random(3).getrandbits(60) - number for number in range(5000)]
    column = spool.Column("q", numbers)
    assert list(column) == numbers
    assert list(column.between(2047, 4100)) == numbers[2047:4100]
    assert [column[place] for place in (0, 4999, 2048, 2047)] == [numbers[place] for place in (0, 4999, 2048, 2047)]
    with pytest.raises(IndexError):
        column[5000]


def test_more_rows_than_are_sorted_at_once_give_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    records = [(draw.randrange(30) / 4, place) for place in range(500)]
    pairs = [(value, draw.choice([value, draw.random()])) for value, _ in records]
    expected = rank_correlations(pairs)
    monkeypatch.setattr(spool, "SORTED_AT_ONCE", 7)
    assert list(spool.in_order(records, "dq")) == sorted(records)
    assert rank_correlations(pairs) == expected
