"""verl: its own loader, reward manager and advantages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from grpo_rewards_adapters import verl as adapter
from hostile import BROKEN, GROUPS, RIGHT
from hydra import compose, initialize_config_module
from verl import DataProto
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.reward import load_reward_manager

from grpo_rewards.errors import ConfigError, PluginError

TEXTS = ["4", "5", "down", "4", "5", "down", "4", "down"]
PROMPTS = ["a"] * 5 + ["b"] * 3  # of the latter only one survives


def settings(config: str, name: str, *more: str) -> Any:
    with initialize_config_module("verl.trainer.config", version_base=None):
        own = "reward.custom_reward_function"
        given = [
            f"{own}.path=pkg://grpo_rewards_adapters.verl",
            f"{own}.name={name}",
            f"+{own}.reward_kwargs.config={config}",
        ]
        return compose("ppo_trainer", [*given, *more])


def batch(texts: list[str], reader: Any, uids: list[str] | None = None) -> DataProto:
    ids = [reader(text)["input_ids"] for text in texts]
    length = max(map(len, ids))
    responses = torch.tensor([row + [reader.pad_token_id] * (length - len(row)) for row in ids])
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in ids])
    prompts = torch.ones((len(texts), 2), dtype=torch.long)
    rows = len(texts)
    return DataProto.from_dict(
        tensors={
            "prompts": prompts,
            "responses": responses,
            "response_mask": mask,
            "attention_mask": torch.cat([prompts, mask], dim=1),
        },
        non_tensors={
            "data_source": np.array(["sums"] * rows, dtype=object),
            "reward_model": np.array([{"ground_truth": "4"}] * rows, dtype=object),
            "extra_info": np.array([{"index": row} for row in range(rows)], dtype=object),
            "uid": np.array((uids or PROMPTS)[:rows], dtype=object),
        },
    )


def scored(config: Any, data: DataProto, reader: Any) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        manager = load_reward_manager(config, reader)
        manager.loop = asyncio.get_running_loop()
        return [await manager.run_single(data[row : row + 1]) for row in range(len(data))]

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_verl_loads_our_function_and_reads_its_numbers(config: str, tiny: ModuleType, name: str) -> None:
    reader = tiny.make_tokenizer()
    missing = "+reward.custom_reward_function.reward_kwargs.missing=0.5"
    found = scored(settings(config, name, missing), batch(TEXTS[:4], reader), reader)
    assert [one["reward_score"] for one in found] == [2.0, 0.0, 0.5, 2.0]
    assert [one["reward_extra_info"]["valid"] for one in found] == [1.0, 1.0, 0.0, 1.0]
    assert len({tuple(one["reward_extra_info"]) for one in found}) == 1


def test_nothing_is_scored_before_somebody_has_chosen(config: str, tiny: ModuleType) -> None:
    reader = tiny.make_tokenizer()
    with pytest.raises(ConfigError, match=r"verl takes no None.*reward_kwargs\.missing: NUMBER.*grpo_survivors"):
        scored(settings(config, "compute_score"), batch(TEXTS[:1], reader), reader)


@pytest.mark.parametrize("by_deviation", [True, False])
@pytest.mark.parametrize(
    "name", ["grpo", "rloo", "opo", "reinforce_plus_plus_baseline", "grpo_vectorized", "rloo_vectorized"]
)
def test_survivors_have_the_advantages_of_a_batch_without_the_others(
    config: str, tiny: ModuleType, name: str, by_deviation: bool
) -> None:
    reader = tiny.make_tokenizer()
    chosen = settings(
        config,
        "compute_score",
        "+reward.custom_reward_function.reward_kwargs.missing=survivors",
        f"algorithm.adv_estimator={name}_survivors",
    )
    data = batch(TEXTS, reader)
    found = scored(chosen, data, reader)

    def advantages(rows: list[int], estimator: str) -> torch.Tensor:
        part = data.select_idxs(rows)
        manager = load_reward_manager(chosen, reader)
        part.batch["token_level_rewards"] = manager.assemble_rm_scores(
            part, [found[row]["reward_score"] for row in rows]
        )
        algorithm = chosen.algorithm
        algorithm.norm_adv_by_std_in_grpo = by_deviation
        return compute_advantage(part, estimator, norm_adv_by_std_in_grpo=by_deviation, config=algorithm).batch[
            "advantages"
        ]

    ours = advantages(list(range(8)), chosen.algorithm.adv_estimator)
    survivors = [row for row in range(5) if TEXTS[row] != "down"]
    assert torch.equal(ours[survivors], advantages(survivors, name))
    assert not ours[[row for row in range(8) if row not in survivors]].any()
    assert ours[survivors].any()


def test_an_estimator_that_knows_nothing_of_it_does_not_learn_from_a_stand_in(config: str, tiny: ModuleType) -> None:
    reader = tiny.make_tokenizer()
    score = adapter.compute_score("sums", "down", "4", config=config, missing="survivors")["score"]
    data = batch(["4", "down"], reader)
    manager = load_reward_manager(settings(config, "compute_score"), reader)
    data.batch["token_level_rewards"] = manager.assemble_rm_scores(data, [2.0, score])
    assert torch.isnan(
        compute_advantage(data, "grpo").batch["advantages"]
    ).any()  # verl skips an update that is not finite


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_whatever_breaks_survivors_are_as_in_a_batch_without_it(
    hostile_config: Callable[..., str], tiny: ModuleType, name: str
) -> None:
    reader = tiny.make_tokenizer()
    groups = (*GROUPS, ("4",), ("down",))
    texts = [text for group in groups for text in group]
    uids = [str(number) for number, group in enumerate(groups) for _ in group]
    chosen = settings(hostile_config(), name, "+reward.custom_reward_function.reward_kwargs.missing=survivors")
    data = batch(texts, reader, uids)
    distinct = {text: row for row, text in enumerate(texts)}
    found = dict(zip(distinct, scored(chosen, data.select_idxs([*distinct.values()]), reader), strict=True))
    alive = [row for row, text in enumerate(texts) if text in RIGHT]
    assert [found[texts[row]]["reward_score"] for row in alive] == [2.0 * RIGHT[texts[row]] for row in alive]

    def advantages(rows: list[int], estimator: str) -> torch.Tensor:
        part = data.select_idxs(rows)
        given = [found[texts[row]]["reward_score"] for row in rows]
        part.batch["token_level_rewards"] = load_reward_manager(chosen, reader).assemble_rm_scores(part, given)
        return compute_advantage(part, estimator, config=chosen.algorithm).batch["advantages"]

    for estimator in ("grpo", "rloo"):
        ours = advantages([*range(len(texts))], f"{estimator}_survivors")
        torch.testing.assert_close(ours[alive], advantages(alive, estimator), rtol=0, atol=0)
        assert not ours[[row for row in range(len(texts)) if row not in alive]].any()


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_stops_the_run_by_its_name(
    hostile_config: Callable[..., str], tiny: ModuleType, text: str, name: str
) -> None:
    reader = tiny.make_tokenizer()
    for reward, words in (("scripted", "component 'it'"), ("short", "0 values for 1 completions")):
        missing = "+reward.custom_reward_function.reward_kwargs.missing=survivors"
        chosen = settings(hostile_config(reward, plugin="raise"), name, missing)
        with pytest.raises(PluginError, match=words):
            scored(chosen, batch([text], reader), reader)
