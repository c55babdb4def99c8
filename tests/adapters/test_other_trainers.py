"""Each trainer's documented call, against one composite with every way of having no value."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from grpo_rewards_adapters import axolotl, ms_swift, nemo_gym, openrlhf, verifiers, verl
from grpo_rewards_adapters.single import MISSING_VARIABLE

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards.errors import ConfigError, InfrastructureError, InputError
from grpo_rewards.types import World


@reward(range=(0.0, 1.0))
def right(completion: str, answer: str) -> float | None:
    """The completion is the answer."""
    return float(completion.strip() == answer)


@reward(range=(0.0, 1.0))
def fragile(completion: str) -> Outcome:
    """A service that is down for some, and does not apply to others."""
    if "down" in completion:
        return Outcome(None, "unavailable", "no route to service")
    return Outcome(None) if "skip" in completion else Outcome(0.0)


def composite(**errors: Any) -> Composite:
    rewards = {"right": {"use": right, "weight": 2.0}, "fragile": {"use": fragile, "weight": 0.5}}
    return Composite({"rewards": rewards, "errors": {"max_infra_rate": 1.0, **errors}})


def test_verl_has_the_same_keys_and_numbers_for_every_sample() -> None:
    config = composite()
    results = {
        text: verl.compute_score(
            "gsm8k", text, "4", {"index": 3}, config=config, missing=0.0, reward_router_address=None
        )
        for text in ("4", "5", "skip", "down")
    }
    assert len({tuple(result) for result in results.values()}) == 1
    assert all(value is not None for result in results.values() for value in result.values())
    assert results["4"]["score"] == 2.0
    assert results["5"]["score"] == 0.0
    assert results["5"]["valid"] == 1.0
    assert (results["skip"]["component/fragile"], results["skip"]["applies/fragile"]) == (0.0, 0.0)
    assert results["4"]["applies/fragile"] == 1.0
    assert results["down"]["valid"] == 0.0
    assert "no route to service" in str(results["down"]["reason"])
    assert verl.compute_score("gsm8k", "down", "4", None, config=config, missing=0.7)["score"] == 0.7


def test_verl_async_agrees_and_the_dataset_wins_over_the_alias() -> None:
    config = composite()
    settings: dict[str, Any] = {"config": config, "missing": 0.0}
    one = asyncio.run(verl.compute_score_async("gsm8k", "4", "4", {}, **settings))
    assert one == verl.compute_score("gsm8k", "4", "4", {}, **settings)
    assert verl.compute_score("gsm8k", "7", "4", {"answer": "7"}, **settings)["score"] == 2.0
    assert verl.compute_score("gsm8k", "4", "4", {"completion": "9"}, **settings)["score"] == 2.0


def test_verl_gets_nan_where_its_estimator_leaves_samples_out() -> None:
    found = verl.compute_score("gsm8k", "down", "4", config=composite(), missing="survivors")
    assert math.isnan(float(found["score"]))
    assert found["valid"] == 0.0


@pytest.mark.parametrize("missing", ["nan", "inf", "-inf"])
def test_a_stand_in_that_would_poison_the_batch_is_refused(missing: str) -> None:
    with pytest.raises(ConfigError, match="finite"):
        verl.compute_score("gsm8k", "4", "4", config=composite(), missing=float(missing))


def test_nothing_is_scored_before_somebody_has_chosen_what_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MISSING_VARIABLE, raising=False)
    config, asked = composite(), ([QWEN + "4"], [QWEN], ["4"])
    with pytest.raises(
        ConfigError, match=r"verl takes no None.*reward_kwargs\.missing.*GRPO_REWARDS_MISSING.*grpo_survivors"
    ):
        verl.compute_score("gsm8k", "4", "4", config=config)
    with pytest.raises(ConfigError, match=r"OpenRLHF takes no None.*reward_lists.*GRPO_REWARDS_MISSING"):
        openrlhf.reward_lists(*asked, config=config)
    monkeypatch.setenv(MISSING_VARIABLE, "-0.5")
    assert verl.compute_score("gsm8k", "down", "4", config=config)["score"] == -0.5
    assert openrlhf.reward_lists([QWEN + "down"], *asked[1:], config=config)["rewards"] == [-0.5]
    monkeypatch.setenv(MISSING_VARIABLE, "zero")
    with pytest.raises(ConfigError, match="must be a number, not 'zero'"):
        openrlhf.reward_lists(*asked, config=config)


def test_a_reward_over_groups_is_refused_where_groups_are_not_shown() -> None:
    @reward.group
    def rank(completions: list[str]) -> list[float]:
        return [0.0] * len(completions)

    with pytest.raises(ConfigError, match="one completion at a time"):
        verl.compute_score("x", "4", "4", config=Composite({"rewards": {"rank": {"use": rank}}}))


QWEN = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("query", "prompt", "expected"),
    [
        (QWEN + "4<|im_end|>", QWEN, "4"),
        (QWEN + "4<|im_end|><|endoftext|><|endoftext|>", QWEN, "4"),
        (QWEN + "4<|im_end|>\n", QWEN, "4"),
        ("<s> 2+2? 4</s>", "2+2?", " 4"),
        ("<|begin_of_text|>2+2? 4<|eot_id|>", "2+2?", " 4"),
        ("<pad><pad><s>2+2? 4</s>", "2+2?", " 4"),
        ("<s><s>Q 4</s>", "<s>Q", " 4"),
        ("What is  2+2 ? 4", "What is 2+2?", " 4"),
        (QWEN + QWEN + "4<|im_end|>", QWEN, QWEN + "4"),
        (QWEN + "a </s> b<|im_end|>", QWEN, "a </s> b"),
        (QWEN, QWEN, ""),
        (QWEN + "<|im_end|>", QWEN, ""),
    ],
)
def test_openrlhf_cuts_the_prompt_once_and_end_tokens_at_the_end(query: str, prompt: str, expected: str) -> None:
    assert openrlhf.completion_of(query, prompt) == expected


@pytest.mark.parametrize(("query", "prompt"), [("4", "2+2?"), ("xx 2+2? 4", "2+2?"), ("2+", "2+2?")])
def test_openrlhf_never_scores_a_query_whose_prompt_it_cannot_find(query: str, prompt: str) -> None:
    with pytest.raises(InputError, match="does not begin with its prompt"):
        openrlhf.completion_of(query, prompt)


def test_openrlhf_lists_and_tensors_agree_and_flag_what_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MISSING_VARIABLE, "0")
    config = composite()
    call = ([QWEN + text + "<|im_end|>" for text in ("4", "5", "down")], [QWEN] * 3, ["4"] * 3)
    lists = openrlhf.reward_lists(*call, config=config)
    assert lists["rewards"] == [2.0, 0.0, 0.0]
    assert lists["extra_logs"]["valid"] == [1.0, 1.0, 0.0]
    assert lists["extra_logs"]["component_right"] == [1.0, 0.0, 0.0]
    assert lists["extra_logs"]["applies_right"] == [1.0, 1.0, 0.0]
    json.dumps(lists)
    pytest.importorskip("torch")
    tensors = openrlhf.reward_func(*call, config=config)
    assert tensors["rewards"].tolist() == lists["rewards"]
    assert tensors["extra_logs"]["valid"].tolist() == lists["extra_logs"]["valid"]
    with pytest.raises(InputError, match="as many of each"):
        openrlhf.reward_lists(["a"], [], [], config=config)


def gym_body(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output = [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "4"}]},
        {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "4"},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content},
    ]
    params = {"input": [{"role": "user", "content": "2+2?"}]}
    return {"responses_create_params": params, "response": {"id": "x", "output": output}, "answer": "4"}


def test_nemo_gym_answers_with_the_body_and_its_own_mark_for_what_was_not_measured() -> None:
    config = composite()
    good: Any
    down: Any
    good, wrong, down = (nemo_gym.verify(gym_body(text), config=config) for text in ("4", "5", "down"))
    assert (good["reward"], good["reward_components"]) == (2.0, {"right": 1.0, "fragile": 0.0})
    assert good["response"] == gym_body("4")["response"]
    assert wrong["reward"] == 0.0
    assert "_ng_failure_class" not in {**good, **wrong}
    assert down["_ng_failure_class"] == "judge_failed"
    assert "no route" in down["_ng_failure_judge_error"]
    assert down["reward_components"].keys() == good["reward_components"].keys()
    chosen = nemo_gym.verify(gym_body("down"), config=config, missing=0.7)
    assert chosen["reward"] == 0.7
    assert "_ng_failure_class" not in chosen


@pytest.mark.parametrize("body", [{}, {"response": {}}, {"responses_create_params": {}, "response": {"output": "4"}}])
def test_nemo_gym_says_what_a_verify_request_lacks(body: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"verify request|response\.output"):
        nemo_gym.verify(body, config=composite())


ARGS = SimpleNamespace(num_generations=4, num_generations_eval=2)


@pytest.mark.parametrize(
    ("ids", "args", "groups"),
    [
        ({"prompt_id": ["p"] * 8}, ARGS, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ({"prompt_id": [*"aabbccdd"]}, ARGS, [[0, 1], [2, 3], [4, 5], [6, 7]]),  # in evaluation
        ({"prompt_id": [*"aaaaabbb"], "request_id": [*"uuvwxyyz"]}, ARGS, [[0, 1, 2, 3, 4], [5, 6, 7]]),  # multi-turn
        ({}, ARGS, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ({"group_id": [*"aaaabbbb"]}, SimpleNamespace(), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ],
)
def test_ms_swifts_groups_are_its_own(ids: dict[str, Any], args: Any, groups: list[list[int]]) -> None:
    assert ms_swift.groups_of(ids, 8, args) == groups


@pytest.mark.parametrize("args", [None, SimpleNamespace(num_generations=3)])
def test_groups_that_ms_swift_does_not_show_are_refused(args: Any) -> None:
    with pytest.raises(InputError, match=r"groups of 8 rows cannot be known.*num_generations"):
        ms_swift.groups_of({}, 8, args)


def test_ms_swift_fills_a_gap_so_that_its_advantage_is_zero() -> None:
    orm = ms_swift.orm_class(composite())(args=SimpleNamespace())
    rewards = orm(
        completions=["4", "5", "down", "down"],
        answer=["4"] * 4,
        prompt_id=["a", "a", "a", "b"],
        trainer_state=SimpleNamespace(),
    )
    assert rewards == [2.0, 0.0, 1.0, 0.0]
    assert orm.components["right"] == [1.0, 0.0, None, None]
    assert all(isinstance(value, float) for value in rewards)


MEET = threading.Barrier(2)
SENT: dict[int, bytes] = {}


class Ranks(World):
    """Two processes that gather, each in a thread."""

    def gather(self, thing: Any) -> list[Any]:
        SENT[self.rank] = pickle.dumps(thing)
        MEET.wait(20)
        found = [pickle.loads(SENT[rank]) for rank in range(2)]  # noqa: S301 - its own
        MEET.wait(20)
        return found


def test_what_one_process_of_ms_swift_raises_all_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    here = threading.local()
    monkeypatch.setattr(ms_swift, "world", lambda: Ranks(here.rank, 2))
    orm = ms_swift.orm_class(composite(max_infra_rate=0.0))(args=SimpleNamespace(num_generations=4))

    def call(rank: int) -> str:
        here.rank = rank
        with pytest.raises(InfrastructureError) as raised:
            orm(completions=["4", "5", "down", "down"] if rank else ["4"] * 4, answer=["4"] * 4)
        return str(raised.value)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(call, range(2))
    assert first == second
    assert "2 of the latest" in first


def test_axolotl_gets_a_function_it_accepts_with_trls_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "def same(completion: str, answer: str | None):\n    return None if answer is None else float(completion == answer)\n"
    )
    (tmp_path / "rewards.yaml").write_text("rewards: {same: './mine.py:same'}\n")
    monkeypatch.setenv("GRPO_REWARDS_CONFIG", str(tmp_path / "rewards.yaml"))
    monkeypatch.delitem(vars(__import__("grpo_rewards")), "composite_reward", raising=False)
    assert len(inspect.signature(axolotl.composite_reward).parameters) >= 2
    logged: dict[str, float] = {}
    call = {"answer": ["4", "4", None], "log_metric": logged.__setitem__}
    assert axolotl.composite_reward(["p"] * 3, ["4", "5", "x"], **call) == [1.0, 0.0, None]
    assert logged["rewards/same/mean"] == 0.5
    vars(__import__("grpo_rewards")).pop("composite_reward", None)


def test_verifiers_functions_see_a_group_and_evaluate_once() -> None:
    calls = []

    @reward
    def counted(completion: str, answer: str) -> float | None:
        calls.append(completion)
        return None if completion == "skip" else float(completion == answer)

    arguments = verifiers.rubric_arguments(Composite({"rewards": {"counted": {"use": counted, "weight": 3.0}}}))

    functions: Any = arguments["funcs"]

    async def group(*texts: str) -> dict[str, list[float]]:
        size = len(texts)
        said = [[{"role": "assistant", "content": text}] for text in texts]
        given = {"completions": said, "prompts": ["2+2?"] * size, "answers": ["4"] * size, "infos": [{}] * size,
                 "tasks": [None] * size, "states": []}  # fmt: skip
        return {function.__name__: await function(**given) for function in functions}

    assert asyncio.run(group("4", "5", "skip")) == {
        "composite": [3.0, 0.0, 1.5],
        "valid": [1.0, 1.0, 0.0],
        "component_counted": [1.0, 0.0, 0.0],
        "applies_counted": [1.0, 1.0, 0.0],
    }
    assert calls == ["4", "5", "skip"]
    assert arguments["weights"] == [1.0, 0.0, 0.0, 0.0]
