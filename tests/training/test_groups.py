"""Groups in a real trainer: its own, also where two rows of the data have the same prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("trl")

from grpo_rewards_adapters.trl import attach

from grpo_rewards import Composite, reward

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

SAME = [{"prompt": "1+1=", "answer": "2"}] * 2


@pytest.mark.parametrize("alone", [True, False])
def test_two_rows_with_an_equal_prompt_are_two_groups(make_trainer: Callable[..., Any], alone: bool) -> None:
    sizes: list[int] = []

    @reward.group(range=(0.0, 1.0))
    def ranked(completions: list[str]) -> list[float]:
        sizes.append(len(completions))
        return [row / len(completions) for row in range(len(completions))]

    composite = Composite({"rewards": {"ranked": {"use": ranked}}, "combine": {"normalize": "gdpo"}})
    trainer = make_trainer(
        ranked if alone else composite, rows=SAME, max_steps=1, **({} if alone else {"scale_rewards": "batch"})
    )
    if alone:
        trainer.train()
    else:
        attach(trainer, composite)
        trainer.train()
        assert composite.session.latest is not None
        seen = composite.session.latest.seen
        assert seen.groups == [[0, 1, 2, 3], [4, 5, 6, 7]]
        within = [row / 4 for row in range(4)]
        spread = (sum((value - 0.375) ** 2 for value in within) / 3) ** 0.5
        assert seen.components["ranked"].group_std == pytest.approx(spread)
    assert sizes == [4, 4]
