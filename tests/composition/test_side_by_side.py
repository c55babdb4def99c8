"""Components run side by side: each waits for the others, which none could do that ran before or after them."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ConfigError, SettingsError

SIDES = 3


def waiting(barrier: threading.Barrier, number: int) -> object:
    @reward.batch(range=(0.0, 1.0), name=f"side_{number}")
    def side(completions: list[str]) -> list[float]:
        barrier.wait(timeout=60)  # raises where the others do not come
        return [1.0 / (number + 1)] * len(completions)

    return side


@pytest.mark.parametrize("in_training", [True, False])
@pytest.mark.parametrize("expanded", [True, False])
def test_components_of_a_reward_call_run_side_by_side(in_training: bool, expanded: bool) -> None:
    barrier = threading.Barrier(SIDES)
    composite = Composite({"rewards": {f"side_{n}": waiting(barrier, n) for n in range(SIDES)}})
    call: dict[str, Any] = {"prompts": ["p"] * 4, "completions": ["a", "b", "c", "d"]}
    if in_training:
        call["trainer_state"] = SimpleNamespace(global_step=0, stateful_callbacks={})
    found = [part(**call) for part in composite.parts()] if expanded else [composite(**call)]
    assert [sum(column) for column in zip(*found, strict=True)] == pytest.approx([1 + 1 / 2 + 1 / 3] * 4)


def test_a_row_reward_that_waits_is_asked_side_by_side_in_order() -> None:
    together = threading.Barrier(64)

    @reward(range=(0.0, 200.0))
    def asked(completion: str) -> float:
        together.wait(timeout=60)  # raises where fewer than 64 are asked at once
        return float(completion)

    composite = Composite({"rewards": {"asked": {"use": asked, "workers": 64}}})
    texts = [str(row) for row in range(128)]
    found = composite(completions=texts)
    assert found == [float(row) for row in range(128)]
    assert composite.score([{"completion": text} for text in texts]).rewards() == found


class Slow(list[str]):
    """A column written in Python, whose rows take several steps to read."""

    def __getitem__(self, index: Any) -> Any:
        time.sleep(0)
        return super().__getitem__(index)


def test_workers_never_mix_the_columns_of_rows() -> None:
    @reward(workers=16)
    def together(completion: str, answer: str) -> float:
        return float(completion == answer)

    texts = [str(row) for row in range(2000)]
    assert together(completions=Slow(texts), answer=Slow(texts)) == [1.0] * 2000


@pytest.mark.slow
def test_rows_that_hang_take_their_workers_and_no_other_row() -> None:
    release = threading.Event()

    @reward(range=(0.0, 1.0))
    def hangs(completion: str) -> float:
        if completion.startswith("hang"):
            release.wait(60)
        return 1.0

    errors = {"batch_timeout": 4.0, "max_infra_rate": 1.0}
    composite = Composite({"rewards": {"hangs": {"use": hangs, "workers": 2}}, "errors": errors})
    texts = ["hang 1", "first", "hang 2", *(str(row) for row in range(20))]
    try:
        found = composite(completions=texts)
    finally:
        release.set()
    assert found == [None if text.startswith("hang") else 1.0 for text in texts]


@pytest.mark.parametrize(("style", "workers"), [(reward.batch, 2), (reward.group, 2), (reward, 0), (reward, 2000)])
def test_workers_where_nothing_runs_side_by_side_are_refused(style: Any, workers: int) -> None:
    name = "completion" if style is reward else "completions"
    made = style(eval(f"lambda {name}: 1.0"))  # noqa: S307 - the parameter's name is the point
    with pytest.raises(SettingsError, match="workers"):
        made.with_workers(workers)
    with pytest.raises(ConfigError, match=r"rewards\.it.*workers"):
        Composite({"rewards": {"it": {"use": made, "workers": workers}}})
