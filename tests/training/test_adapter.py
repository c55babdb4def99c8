"""The adapter for TRL on real trainers: both forms, what is checked before the first step, logs, health, resuming."""

from __future__ import annotations

import importlib
import json
import logging
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import pyarrow.parquet as pq
import transformers
import trl
from grpo_rewards_adapters.trl import HealthCallback, HealthLimits, attach, trl_kwargs
from packaging.version import Version
from trl import GRPOConfig, RLOOConfig, RLOOTrainer, chat_template_utils

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards._report.reading import open_report_source, read_training
from grpo_rewards.errors import ColumnError, ConfigError, ResumeError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("error::FutureWarning:transformers.training_args"),  # what our own calls ask for
]


@reward(range=(0.0, 1.0))
def digits(completion: str) -> float:
    """The share of characters that are digits."""
    return sum(character.isdigit() for character in completion) / max(1, len(completion))


@reward(range=(0.0, 1.0))
def hit(completion: str, answer: str) -> Outcome:
    """The answer is somewhere in the completion."""
    found = answer in completion
    return Outcome(float(found), "scored", f"{answer!r} is {'there' if found else 'missing'}")


@reward(range=(0.0, 1.0))
def flat(completion: str) -> float:
    """Always the same, at a value that float32 rounds."""
    return 0.7


def logged(trainer: Any, key: str) -> list[float]:
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def two(**more: Any) -> Composite:
    return Composite(
        {"rewards": {"digits": {"use": digits, "weight": 0.5}, "hit": {"use": hit, "weight": 2.0}}, **more}
    )


def built(make_trainer: Callable[..., Any], composite: Composite, *, form: Any = "auto", **settings: Any) -> Any:
    """A trainer made with `trl_kwargs`."""
    more = settings.pop("given", {})

    def config(**arguments: Any) -> Any:
        found = trl_kwargs(composite, args=GRPOConfig(**arguments), form=form)
        more.update(callbacks=found["callbacks"], reward_funcs=found["reward_funcs"])
        return found["args"]

    return make_trainer(None, config=config, given=more, **settings)


def test_both_forms_train_alike_and_adapt_alike(make_trainer: Callable[..., Any]) -> None:
    adapt = {"method": "threshold", "warmup": 1, "ema": 0.5, "low": 0.6}
    trainers = []
    for form in ("fused", "expanded"):
        trainers.append(built(make_trainer, two(adapt=adapt), form=form, max_steps=4))  # sets the seed
        trainers[-1].train()
    fused, expanded = trainers
    assert logged(fused, "reward") == pytest.approx(logged(expanded, "reward"), abs=1e-5)
    for key in ("rewards/digits/mean", "rewards/hit/std", "grpo_rewards/hit/weight", "grpo_rewards/digits/group_std"):
        assert logged(fused, key) == pytest.approx(logged(expanded, key), abs=1e-5), key
    assert len(set(logged(expanded, "grpo_rewards/hit/weight"))) > 1
    applied = logged(expanded, "grpo_rewards/hit/weight")[-1]
    assert expanded.reward_weights.tolist()[1] == pytest.approx(applied)
    assert expanded.reward_func_names == ["digits", "hit"]
    assert fused.reward_func_names == ["composite"]


def test_arguments_are_copied_and_an_impossible_form_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of TRL's own default
        args = RLOOConfig(str(tmp_path), use_cpu=True, bf16=False, report_to=[])
    with pytest.raises(ConfigError, match=r"combine\.normalize: RLOOConfig has no multi_objective_aggregation"):
        trl_kwargs(two(combine={"normalize": "gdpo"}), args=args)
    found = trl_kwargs(two(), args=args)
    assert found["args"].reward_weights == [0.5, 2.0]
    assert args.reward_weights is None


@pytest.mark.parametrize("key", ["mean", "std"])
def test_each_component_is_logged_under_stable_keys(make_trainer: Callable[..., Any], key: str) -> None:
    @reward(range=(0.0, 1.0))
    def shaky(completion: str, answer: str) -> Outcome:
        """Times out on one answer, cannot read another, is down on a third."""
        if answer == "1":
            return Outcome(0.0, "timeout", "ran for 8 s")
        if answer == "2":
            return Outcome(0.0, "rejected", "no answer found")
        return Outcome(None, "unavailable", "no sandbox") if answer == "3" else Outcome(1.0, seconds=0.25)

    composite = Composite({"rewards": {"digits": digits, "shaky": shaky}, "errors": {"max_infra_rate": 1.0}})
    rows = [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(4)]
    trainer = make_trainer(composite, rows=rows, max_steps=1, per_device_train_batch_size=16)
    trainer.train()
    place = "grpo_rewards/shaky"
    found = {name: logged(trainer, f"{place}/{name}")[0] for name in ("timeout_rate", "rejected_rate", "failure_rate")}
    assert found == {"timeout_rate": 0.25, "rejected_rate": 0.25, "failure_rate": 0.25}
    assert logged(trainer, f"{place}/p95_seconds")[0] == pytest.approx(0.25)
    assert logged(trainer, f"{place}/seconds")[0] > 0.0
    assert logged(trainer, "grpo_rewards/left_out_rate") == [0.25]
    assert math.isfinite(logged(trainer, f"rewards/shaky/{key}")[0])


@pytest.mark.parametrize("form", ["fused", "expanded"])
def test_the_completions_files_hold_what_scoring_them_again_needs(
    make_trainer: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    form: Any,
) -> None:
    """The same numbers from the file alone, for a component called like its column and one that counts tokens too."""

    @reward.group(range=(0.0, 64.0))
    def members(completions: list[str]) -> list[float]:
        return [float(len(completions))] * len(completions)

    composite = Composite(
        {
            "rewards": {
                "hit": {"use": hit, "weight": 2.0, "columns": {"answer": "solution"}},
                "answer": {"use": hit, "weight": 0.5},
                "brief": {"use": "length", "weight": 0.25, "params": {"target": 4, "band": 3}},
                "members": {"use": members, "weight": 0.125},
                "some": {"use": digits, "when": {"column": "kind", "equals": "sum"}},
            }
        }
    )
    rows = [
        {"prompt": f"{n}+1=", "answer": str(n), "solution": str(n + 1), "kind": "sum" if n % 2 else "other"}
        for n in range(4)
    ]
    monkeypatch.setenv("COLUMNS", "400")  # the console's width
    trainer = built(make_trainer, composite, form=form, rows=rows, log_completions=True)
    attach(trainer, composite)
    trainer.train()
    shown = capsys.readouterr().out
    assert "Completion" in shown
    assert "_reason" not in shown
    assert "missing" not in shown
    assert "solution" not in shown
    folder = tmp_path / "run" / "completions"
    for file in (folder / f"completions_0000{step}.parquet" for step in (1, 2, 3)):
        found = pq.read_table(file).to_pylist()
        table = composite.score(found)
        assert len(table) == 8
        assert ["there" in row["hit_reason"] for row in found] == [row["hit"] == 1.0 for row in found]
        assert any(row["brief_reason"].endswith("4 ± 3 wanted") and "tokens" in row["brief_reason"] for row in found)
        for name in composite.weights:
            logged_values = [row.get(f"{name}_value", row[name]) for row in found]
            assert table.values(name) == pytest.approx(
                [None if value is None or math.isnan(value) else value for value in logged_values], abs=1e-6
            ), name
            assert {row[f"{name}_weight"] for row in found} == {composite.weights[name]}
        assert [row["completion_tokens"] for row in found] == [len(row["completion_ids"]) for row in found]
        if form == "fused":
            assert table.rewards() == pytest.approx([row["composite"] for row in found], abs=1e-6)
    first = next(iter(open_report_source(folder / "completions_00001.parquet").rows))
    assert {name: part.weight for name, part in first.parts.items()} == composite.weights


@pytest.mark.parametrize("form", ["fused", "expanded"])
def test_rloo_takes_either_form(make_trainer: Callable[..., Any], form: str) -> None:
    composite = two()
    functions = composite if form == "fused" else composite.parts()
    trainer = make_trainer(functions, trainer=RLOOTrainer, config=RLOOConfig, max_steps=2, beta=0.0)
    watch = attach(trainer, composite)
    trainer.train()
    assert logged(trainer, "grpo_rewards/hit/weight") == [2.0, 2.0]
    sums = [
        0.5 * d + 2.0 * h
        for d, h in zip(*(logged(trainer, f"rewards/{n}/mean") for n in ("digits", "hit")), strict=True)
    ]
    assert logged(trainer, "reward") == pytest.approx(sums, abs=1e-6)
    assert watch in trainer.callback_handler.callbacks


def test_the_asynchronous_trainer_scores_in_a_spawned_child(tmp_path: Path) -> None:
    composite = Composite(
        {
            "rewards": {
                "correct": {"use": "math", "weight": 2.0, "params": {"places": ["tag"]}},
                "format": {"use": "xml_format", "weight": 0.5, "params": {"tags": ["answer"]}},
            }
        }
    )
    file = tmp_path / "rewards.pickle"
    file.write_bytes(pickle.dumps([composite]))
    script = Path(__file__).with_name("async_scoring.py")
    done = subprocess.run([sys.executable, "-W", "ignore", str(script), str(file)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = json.loads(done.stdout)
    assert [one["metrics"]["rewards/composite"] for one in found] == [2.5, 0.5, 0.0] * 3
    assert all(found[k]["advantage"] > 0 > found[k + 2]["advantage"] for k in (0, 3, 6))


def test_the_asynchronous_trainer_scores_rollouts_as_they_are_finished(tmp_path: Path) -> None:
    if Version(trl.__version__) < Version("1.10"):  # its loop does not say to which group a rollout belongs
        from grpo_rewards_adapters.trl.asynchronous import stream_rollouts

        with pytest.raises(ConfigError, match=r"TRL 1\.\d.* group .* 'trl>=1\.10'"):
            stream_rollouts(None)
        return
    script = Path(__file__).with_name("async_streaming.py")
    found = {}
    for kind in ("plain", "streaming"):
        command = [sys.executable, "-W", "ignore", str(script), str(tmp_path), kind]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        found[kind] = json.loads((tmp_path / f"{kind}.json").read_text())
    rewards = {kind: sorted(told["rewards"]) for kind, told in found.items()}
    assert rewards["streaming"] == rewards["plain"]
    assert [reward for text, reward, _ in rewards["plain"] if text.startswith("0")] == [0.5, 0.5, 1.5, 0.5]
    happened = found["streaming"]["happened"]
    scored = [text for text in happened if text.startswith("scored")]
    assert len(scored) == len(set(scored)), "nothing is scored twice"
    for group in range(3):
        assert happened.index(f"scored {group}: 0") < happened.index(f"generated {group}: 3")


# ------------------------------------------------------------------------------------------------ checks


def test_attach_finds_a_missing_column_before_the_first_step(make_trainer: Callable[..., Any]) -> None:
    composite = two()
    trainer = make_trainer(composite, rows=[{"prompt": "1+1=", "answr": "2"}] * 4)
    with pytest.raises(ColumnError, match="'hit' needs the column 'answer'"):
        attach(trainer, composite)


def test_attach_looks_at_evaluation_data_too(make_trainer: Callable[..., Any]) -> None:
    from datasets import Dataset

    composite = two()
    trainer = make_trainer(composite, given={"eval_dataset": {"held": Dataset.from_list([{"prompt": "1+1="}] * 4)}})
    with pytest.raises(ColumnError, match="'hit' needs the column 'answer'"):
        attach(trainer, composite)


def test_attach_refuses_what_cannot_work(make_trainer: Callable[..., Any]) -> None:
    composite = two()
    with pytest.raises(ConfigError, match="does not use this composite"):
        attach(make_trainer(two()), composite)
    with pytest.raises(ConfigError, match="expanded form needs all components; the trainer lacks hit"):
        attach(make_trainer(composite.parts()[:1]), composite)
    with pytest.raises(ConfigError, match="two rewards are called digits"):
        attach(make_trainer([composite, digits]), composite)
    with pytest.raises(ConfigError, match="remove_unused_columns=True takes the columns answer away"):
        attach(make_trainer(composite, remove_unused_columns=True), composite)


def test_attach_says_what_is_asked_for_in_vain(
    make_trainer: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    when = {"column": "task", "equals": "maths"}
    composite = Composite({"rewards": {"digits": {"use": digits, "when": when}, "flat": {"use": flat, "clip": [9, 9]}}})
    rows = [{"prompt": f"{n}+1=", "task": "math"} for n in range(4)]
    attach(make_trainer(composite, rows=rows), composite)
    assert "rewards.digits.when.equals: 'maths' occurs in no row; the column 'task' holds 'math'" in caplog.text
    assert "rewards.digits applies to no row, so its weight cannot matter" in caplog.text
    assert "rewards.flat.weight cannot matter: clip" in caplog.text


def test_what_the_rollout_function_adds_counts_as_a_column(
    make_trainer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    def rollout(prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        ids = [trainer.processing_class(prompt)["input_ids"] for prompt in prompts]
        ends = [[3 + index % 7, 4, 1] for index in range(len(prompts))]
        logprobs = [[[0.0]] * 3 for _ in prompts]
        answers = [str(index % 7) for index in range(len(prompts))]
        return {"prompt_ids": ids, "completion_ids": ends, "logprobs": logprobs, "answer": answers}

    composite = two()
    trainer = make_trainer(composite, rows=[{"prompt": "1+1="}] * 4, given={"rollout_func": rollout}, max_steps=1)
    attach(trainer, composite)
    trainer.train()
    assert logged(trainer, "rewards/hit/mean") == [1.0]


CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for call in m.tool_calls or [] %}"
    "{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}:{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_the_environments_of_a_trainer_count_as_a_column(
    make_trainer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    class Counter:
        """An environment with one tool."""

        def reset(self, **row: Any) -> None:
            self.start = int(row["answer"])

        def count(self) -> int:
            """Count."""
            return self.start

    @reward(range=(0.0, 9.0))
    def started(completion: str, environments: Any) -> float:
        return float(environments.start)

    composite = Composite({"rewards": {"started": started}})
    rows = [{"prompt": [{"role": "user", "content": f"{n}+1="}], "answer": str(n + 1)} for n in range(4)]
    tokenizer = make_trainer(composite).processing_class
    tokenizer.chat_template = CHAT
    given = {"environment_factory": Counter, "processing_class": tokenizer}
    if Version(transformers.__version__) < Version("5.2"):
        with pytest.raises(ImportError, match=r"`environment_factory`.*requires transformers version 5\.2"):
            make_trainer(composite, rows=rows, given=given)
        return
    tokenizer.response_template = chat_template_utils.qwen3_template
    trainer = make_trainer(composite, rows=rows, given=given, max_steps=1)
    attach(trainer, composite)
    trainer.train()
    assert logged(trainer, "rewards/started/mean")[0] >= 1.0


def test_two_composites_in_one_trainer_are_refused_at_once(
    make_trainer: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    first, second = two(), Composite({"rewards": {"flat": flat}})
    second.__name__ = "second"
    trainer = make_trainer([first, second])
    for start in (lambda: attach(trainer, first), lambda: attach(trainer, second), trainer.train):
        with pytest.raises(ConfigError, match=r"two composites.*under the rewards of one"):
            start()
    with pytest.raises(ConfigError, match="two composites"):
        attach(make_trainer([*first.parts(), *second.parts()]), first)
    resumed = make_trainer(
        [first, second]
    )  # of a checkpoint that is of neither: not the words of another configuration
    resumed.state.stateful_callbacks["grpo_rewards"] = Composite({"rewards": {"other": flat}}).session.state()
    for function in resumed.reward_funcs:
        call = {"trainer_state": resumed.state, "log_metric": resumed._log_metric}
        with pytest.raises(ConfigError, match="two composites"):
            function(prompts=["p"] * 4, completions=["4"] * 4, completion_ids=[[1]] * 4, **call)
    attach(make_trainer([first, flat]), first)
    assert "flat stands beside the composite" in caplog.text


def test_attach_refuses_a_trainer_that_learns_from_rows_without_a_reward(
    make_trainer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As TRL did before 1.6, whatever the version says: it is tried with the trainer's own class."""
    (tmp_path / "older.py").write_text(
        "from trl import GRPOTrainer\n\n\nclass OlderTrainer(GRPOTrainer):\n"
        "    def _calculate_rewards(self, *given):\n        return super()._calculate_rewards(*given).nan_to_num(0.0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    composite = two()
    trainer = make_trainer(composite, trainer=importlib.import_module("older").OlderTrainer)
    with pytest.raises(ConfigError, match=r"OlderTrainer of TRL \d.* reward of 0.*pip install -U 'trl>=1\.6'"):
        attach(trainer, composite)


def test_attach_again_does_not_watch_twice(make_trainer: Callable[..., Any]) -> None:
    composite = two()
    trainer = make_trainer(composite)
    first = attach(trainer, composite)
    assert attach(trainer, composite) is first
    other = attach(trainer, composite, limits=HealthLimits(window=3))
    assert first not in trainer.callback_handler.callbacks
    assert [isinstance(known, HealthCallback) for known in trainer.callback_handler.callbacks].count(True) == 1
    assert other is not first


# ------------------------------------------------------------------------------------------------ health, resuming


@pytest.mark.parametrize("form", ["fused", "expanded"])
def test_a_finding_reaches_log_reporters_and_report(
    make_trainer: Callable[..., Any], caplog: pytest.LogCaptureFixture, tmp_path: Path, form: Any
) -> None:
    composite = Composite({"rewards": {"digits": digits, "flat": flat}})
    trainer = built(make_trainer, composite, form=form, max_steps=6, max_completion_length=4)
    watch = attach(trainer, composite, limits=HealthLimits(window=3, long_window=50))
    with caplog.at_level(logging.WARNING, logger="grpo_rewards_adapters"):
        trainer.train()
    key = "grpo_rewards/health/no_spread/flat"
    assert [finding.key for finding in watch.findings].count(key) == 1
    assert logged(trainer, key) == [1.0]
    (said,) = [record.message for record in caplog.records if "'flat' is the same" in record.message]
    assert "num_generations" in said
    cut = [finding for finding in watch.findings if finding.kind == "cut"]
    assert len(cut) == len(logged(trainer, "grpo_rewards/health/cut"))
    trainer.state.save_to_json(str(tmp_path / "trainer_state.json"))
    training = read_training(tmp_path)
    assert training is not None
    assert "no spread: flat" in [words for _, words in training.warnings]


def test_a_changed_reward_on_resume_needs_to_be_accepted(make_trainer: Callable[..., Any], tmp_path: Path) -> None:
    def trainer(weight: float, steps: int, **more: Any) -> Any:
        composite = Composite({"rewards": {"digits": {"use": digits, "weight": weight}, "hit": hit}})
        made = make_trainer(composite, max_steps=steps, save_strategy="steps", save_steps=1)
        attach(made, composite, **more)
        return made

    trainer(1.0, 1).train()
    with pytest.raises(ResumeError, match=r"config\.rewards\.digits\.weight: 1\.0 -> 3\.0"):
        trainer(3.0, 2).train(resume_from_checkpoint=True)
    resumed = trainer(3.0, 2, accept_changes=True)
    resumed.train(resume_from_checkpoint=True)
    assert resumed.state.global_step == 2
    assert logged(resumed, "grpo_rewards/digits/weight")[-1] == 3.0
