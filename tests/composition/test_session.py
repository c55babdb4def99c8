"""Sessions of a trainer that is not TRL: when one is opened and kept, what it may say, and ranks that are threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from grpo_rewards import Composite, hookimpl, reward, use_plugin
from grpo_rewards._registry import registry
from grpo_rewards.errors import InputError, ResumeError
from grpo_rewards.types import Batch, Caller, ScoredCall, Session, World


@reward(range=(0.0, 1.0))
def good(completion: str) -> float:
    return float(completion == "good")


@reward.group(range=(0.0, 9.0))
def members(completions: list[str]) -> list[float]:
    return [float(len(completions))] * len(completions)


@dataclass(slots=True)
class Loop:
    """What the trainer knows; composites are called with it as ``loop``."""

    training: bool = True
    world: World = field(default_factory=World)
    step: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    saved: dict[str, Any] = field(default_factory=dict)

    def call(self, composite: Composite, *completions: str) -> list[float | None]:
        return composite(completions=list(completions), loop=self)


class LoopSession(Session):
    def __init__(self, composite: Composite, loop: Loop) -> None:
        super().__init__(composite)
        self._loop = loop
        if loop.saved:
            self.restore(loop.saved)

    def serves(self, call: Mapping[str, Any]) -> bool:
        return call.get("loop") is self._loop

    def read(self, call: Mapping[str, Any]) -> tuple[Batch, Caller]:
        batch = Batch.from_call(**{name: values for name, values in call.items() if name != "loop"})
        return batch, Caller(self._loop.step, self._loop.training, group_size=2, world=self._loop.world)

    def scored(self, found: ScoredCall) -> None:
        self._loop.figures.update(found.figures())
        self._loop.saved = self.state()


@pytest.fixture(autouse=True)
def loops() -> Iterator[None]:
    """The plugin of that trainer."""
    plugin = SimpleNamespace(
        open_session=hookimpl(lambda composite, call: LoopSession(composite, call["loop"]) if "loop" in call else None)
    )
    use_plugin(plugin)
    yield
    registry().manager.unregister(plugin)


def adaptive(**rewards: Any) -> Composite:
    return Composite({"rewards": {"good": good, **rewards}, "adapt": {"method": "threshold", "warmup": 0, "ema": 0.0}})


def test_a_session_is_kept_as_long_as_it_serves_and_another_run_starts_afresh() -> None:
    composite, first, second = adaptive(), Loop(), Loop()
    alone = composite.session
    assert first.call(composite, "bad", "bad") == [0.0, 0.0]
    session = composite.session
    assert first.call(composite, "good", "good") == [1.2, 1.2]
    assert composite.session is session
    assert composite(completions=["good"]) == [1.0]  # nobody's call, in the middle of the run
    assert composite.session is session
    assert second.call(composite, "good", "good") == [1.0, 1.0]
    assert composite.session not in (alone, session)
    assert composite.weights == {"good": 1.0}


def test_sessions_of_two_composites_in_one_trainer_do_not_meet() -> None:
    one, two, loop = adaptive(), adaptive(other=good), Loop()
    loop.call(one, "bad", "bad")
    loop.saved = {}
    loop.call(two, "good", "good")
    assert one.session.weights == {"good": 1.2}
    assert two.session.weights == {"good": 0.9, "other": 0.9}
    with pytest.raises(ResumeError, match=r"rewards\.other: .* -> \(absent\)"):
        Loop(saved=two.session.state()).call(adaptive(), "good")


def test_an_evaluation_is_scored_and_logged_and_moves_nothing() -> None:
    composite, loop = adaptive(), Loop(training=False)
    loop.call(composite, "bad", "bad", "good", "bad")
    assert composite.session.weights == {"good": 1.0}
    assert loop.figures["grpo_rewards/good/zero_std_groups"] == 0.5  # groups of two
    assert composite.session.state()["batches"] == 0


class Threads(World):
    """Ranks that are threads of one process, and meet at a barrier."""

    def __init__(self, rank: int, parts: list[Any], barrier: threading.Barrier) -> None:
        super().__init__(rank, len(parts))
        object.__setattr__(self, "shared", (parts, barrier))

    def gather(self, thing: Any) -> list[Any]:
        parts, barrier = self.shared  # type: ignore[attr-defined]
        parts[self.rank] = thing
        barrier.wait(60)
        gathered = list(parts)
        barrier.wait(60)
        return gathered


def on_two_ranks(run: Callable[[int, Loop], None]) -> None:
    parts, barrier = [None, None], threading.Barrier(2)
    loops = [Loop(world=Threads(rank, parts, barrier)) for rank in range(2)]
    threads = [threading.Thread(target=run, args=(rank, loop)) for rank, loop in enumerate(loops)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_ranks_that_share_groups_see_all_of_them_and_hold_the_same_weights() -> None:
    composites = [adaptive(members=members), adaptive(members=members)]
    found: dict[int, Any] = {}

    def run(rank: int, loop: Loop) -> None:
        found[rank] = loop.call(composites[rank], "good" if rank else "bad")

    on_two_ranks(run)
    assert found == {0: [2.0], 1: [3.0]}  # each rank has one row of the group of two
    assert composites[0].session.state() == composites[1].session.state()


def test_values_are_not_standardised_in_groups_that_are_not_whole() -> None:
    composites = [Composite({"rewards": {"good": good}, "combine": {"normalize": "gdpo"}}) for _ in range(2)]
    with pytest.raises(InputError, match=r"gdpo compares .* 3 rows are no whole number of groups of 2"):
        Loop().call(composites[0], "good", "bad", "bad")
    told: dict[int, str] = {}

    def run(rank: int, loop: Loop) -> None:
        with pytest.raises(InputError) as refused:
            loop.call(composites[rank], *["good", "bad"][: rank + 1])
        told[rank] = str(refused.value)

    on_two_ranks(run)  # one of them has a whole group, and is not left waiting
    assert "3 rows are no whole number of groups of 2" in told[0]
    assert told[0] == told[1]


def test_several_ranks_without_a_gather_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="World of 2 processes needs a gather"):
        Loop(world=World(0, 2)).call(adaptive(), "good")
