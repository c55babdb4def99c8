"""OpenRLHF: its executor loads the adapter's file and asks it about each response."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import grpo_rewards_adapters.openrlhf as adapter
import pytest
import ray
import torch
from grpo_rewards_adapters.single import ScoringStopped, stopping
from hostile import BROKEN, LOST, RIGHT
from openrlhf.utils.agent import SingleTurnAgentExecutor

NEED_A_GPU = {
    "openrlhf.models.ring_attn_utils": (
        "gather_and_pad_tensor", "get_ring_attn_group", "set_ring_attn_group", "unpad_and_slice_tensor",
    ),
    "openrlhf.trainer.ray.vllm_engine": ("batch_vllm_engine_call", "create_vllm_engines"),
}  # fmt: skip


def advantages(rewards: list[float], estimator: str, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What OpenRLHF makes of the rewards of one group, without its two files that need flash-attn and vLLM, and so a GPU."""
    for file, names in NEED_A_GPU.items():
        stand_in = ModuleType(file)
        vars(stand_in).update(dict.fromkeys(names))
        monkeypatch.setitem(sys.modules, file, stand_in)
    from openrlhf.trainer.ppo_utils.experience import Experience
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

    space = SimpleNamespace
    settings = space(
        rollout=space(n_samples_per_prompt=len(rewards)),
        algo=space(advantage=space(estimator=estimator, gamma=1.0, lambd=1.0, no_std_norm=True)),
        reward=space(clip_range=None, overlong_buffer_len=None, stop_properly_penalty_coef=None),
    )
    maker = RemoteExperienceMaker(None, None, None, None, space(value=0.0), space(args=settings), None)
    row = Experience(
        index=list(range(len(rewards))), rewards=torch.tensor(rewards), kl=torch.zeros(len(rewards), 1),
        action_mask=torch.ones(len(rewards), 1, dtype=torch.bool), info={},
    )  # fmt: skip
    (found,) = maker.compute_advantages_and_returns([row])
    return found.advantages.flatten().tolist()


def test_zero_moves_the_survivors_where_their_mean_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = advantages([2.0, 0.0, 2.0], "dr_grpo", monkeypatch)
    assert advantages([2.0, 0.0, 2.0, 4 / 3], "dr_grpo", monkeypatch) == pytest.approx([*alone, 0.0], abs=1e-6)
    assert advantages([2.0, 2.0, 2.0, 0.0], "dr_grpo", monkeypatch) == pytest.approx([0.5, 0.5, 0.5, -1.5])


def executed(tiny: ModuleType, text: str) -> dict[str, Any]:
    reader = tiny.make_tokenizer()

    class Engine:
        """Stands for vLLM: it writes the text, then the end token."""

        async def generate(self, *_args: Any, **_more: Any) -> Any:
            ids = [*reader(text)["input_ids"], reader.eos_token_id]
            return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)])

    executor = SingleTurnAgentExecutor(adapter.__file__)
    sampling = SimpleNamespace(max_tokens=16, logprobs=None)
    return asyncio.run(executor.execute("2+2=", "4", sampling, 64, reader, Engine()))


@pytest.mark.parametrize(("text", "reward", "valid"), [("4", 2.0, 1.0), ("5", 0.0, 1.0), ("down", 0.5, 0.0)])
def test_its_executor_reads_our_tensors(
    config: str, tiny: ModuleType, monkeypatch: pytest.MonkeyPatch, text: str, reward: float, valid: float
) -> None:
    monkeypatch.setenv("GRPO_REWARDS_MISSING", "0.5")
    found = executed(tiny, text)
    assert torch.tensor([found["reward"]]).tolist() == [reward]
    assert found["extra_logs"]["valid"].item() == valid


def test_nothing_is_scored_before_somebody_has_chosen(
    config: str, tiny: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRPO_REWARDS_MISSING", raising=False)
    with pytest.raises(ScoringStopped, match="ConfigError: OpenRLHF takes no None"):
        executed(tiny, "4")  # it catches an Exception, logs it and goes on without a reward


def test_whatever_breaks_is_the_number_that_was_chosen(
    hostile_default: Callable[..., None], tiny: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRPO_REWARDS_MISSING", "0.5")
    hostile_default()
    for text in (*LOST, *RIGHT):
        found = executed(tiny, text)
        assert found["reward"].tolist() == [2.0 * RIGHT[text] if text in RIGHT else 0.5], text
        assert found["extra_logs"]["valid"].item() == float(text in RIGHT)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_stops_the_run_by_its_name(
    hostile_default: Callable[..., None], tiny: ModuleType, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("GRPO_REWARDS_MISSING", "0.5")
    for reward, words in (("scripted", "component 'it'"), ("short", "0 values for 1 completions")):
        hostile_default(reward, plugin="raise")
        with pytest.raises(ScoringStopped, match=f"PluginError: .*{words}"):
            executed(tiny, text)


def start_ray() -> None:
    """Start a cluster of its own; again where it was not up within the 30 s that Ray gives itself, as under load."""
    for attempt in range(5):
        try:
            ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
        except Exception as error:  # Ray raises no class of its own here
            ray.shutdown()
            if attempt == 4 or "timed out" not in str(error):
                raise
        else:
            return


def test_rays_actor_hands_the_stop_on() -> None:
    """OpenRLHF's executor runs in one: the driver, which trains, gets the error by its name."""

    @ray.remote(num_cpus=0)
    class Engine:
        async def ask(self) -> None:
            def score() -> None:
                with stopping():
                    raise ValueError("a bug in the plugin")

            try:
                await asyncio.to_thread(score)
            except Exception:
                return

    start_ray()
    try:
        with pytest.raises(ray.exceptions.RayTaskError, match="ValueError: a bug in the plugin"):
            actor: Any = Engine  # which ray makes of it
            ray.get(actor.remote().ask.remote(), timeout=60)
    finally:
        ray.shutdown()
