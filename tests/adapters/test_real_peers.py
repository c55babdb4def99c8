"""The peers' own code, from unpacked wheels: ``GRPO_REWARDS_PEERS=FOLDER``, one folder per wheel in it.

The whole packages need GPU stacks. What calls a reward in each is one method, which is taken from the real file, unchanged,
and run. Without the folder these tests are skipped; docs/adapters names the versions they were run with.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from grpo_rewards_adapters import openrlhf, verl

from grpo_rewards import Composite, reward


def method(pattern: str, name: str, **names: Any) -> Any:
    """Return the function `name` of the file that matches `pattern`, compiled with the given global names."""
    folder = os.environ.get("GRPO_REWARDS_PEERS")
    if not folder:
        pytest.skip("set GRPO_REWARDS_PEERS to a folder of unpacked wheels")
    (file,) = Path(folder).glob(pattern)
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            node.decorator_list = []
            module = ast.fix_missing_locations(
                ast.Module([ast.ImportFrom("__future__", [ast.alias("annotations")], 0), node], [])
            )
            exec(compile(module, str(file), "exec"), names)
            return names[name]
    raise AssertionError(f"{file} has no function {name}")


@reward(range=(0.0, 1.0))
def right(completion: str, answer: str) -> float:
    """The completion is the answer."""
    return float(completion.strip() == answer)


COMPOSITE = Composite({"rewards": {"right": {"use": right, "weight": 2.0}}})


@pytest.mark.parametrize("is_async", [False, True])
def test_verls_reward_loop_takes_our_dict(is_async: bool) -> None:
    torch = pytest.importorskip("torch")
    run_single = method("verl-*/verl/experimental/reward_loop/reward_manager/naive.py", "run_single")
    compute = verl.compute_score_async if is_async else verl.compute_score

    def sync(**call: Any) -> Any:
        return compute(config=COMPOSITE, **call)

    item = SimpleNamespace(
        batch={"responses": torch.tensor([1, 2]), "attention_mask": torch.tensor([1, 1, 1, 1])},
        non_tensor_batch={"data_source": "gsm8k", "reward_model": {"ground_truth": "4"}, "extra_info": {}},
    )

    async def run() -> Any:
        manager = SimpleNamespace(
            loop=asyncio.get_running_loop(), tokenizer=SimpleNamespace(decode=lambda ids, **_: "4"),
            compute_score=sync, is_async_reward_score=is_async, reward_router_address=None,
        )  # fmt: skip
        return await run_single(manager, [item])

    found = asyncio.run(run())
    assert found["reward_score"] == 2.0
    assert found["reward_extra_info"]["component/right"] == 1.0


def test_openrlhf_calls_our_function_and_reads_its_tensors() -> None:
    torch = pytest.importorskip("torch")
    fetch = method(
        "openrlhf-*/openrlhf-*.data/purelib/openrlhf/utils/agent.py", "_fetch_rewards_via_func", asyncio=asyncio
    )
    executor = SimpleNamespace(reward_func=lambda *call: openrlhf.reward_func(*call, config=COMPOSITE))
    (info,) = asyncio.run(fetch(executor, ["2+2?4</s>"], ["2+2?"], ["4"]))
    # what its samples_generator does with the values
    assert torch.tensor([info["rewards"]]).tolist() == [2.0]
    assert info["extra_logs"]["valid"].flatten()[0].item() == 1.0


def test_axolotl_accepts_our_function_by_its_name() -> None:
    get = method(
        "axolotl-*/axolotl/core/trainers/grpo/__init__.py",
        "get_reward_func",
        importlib=importlib,
        inspect=inspect,
        os=os,
    )
    found = get(None, "grpo_rewards_adapters.axolotl.composite_reward")
    assert found.__name__ == "composite_reward"
    assert len(inspect.signature(COMPOSITE).parameters) < 2  # why the adapter is there: Axolotl refuses that
