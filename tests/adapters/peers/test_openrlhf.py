"""OpenRLHF: its executor loads the adapter's file and asks it about each response."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import grpo_rewards_adapters.openrlhf as adapter
import pytest
import torch
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
    assert executed(tiny, "4")["reward"] is None  # OpenRLHF logs the error and has no reward to train on
