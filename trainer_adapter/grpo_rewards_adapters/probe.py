"""Whether a trainer leaves rows without a reward out, found out by training one step with it.

Before 1.6 TRL takes a row for which every reward function returned None for a reward of 0: the rows beside it then get
an advantage that they do not deserve. A version number does not tell (patched trainers, subclasses), so a one-layer model
made on the spot is trained for one step on four completions of one prompt, two of them without a reward. Where the other
two have the same reward nothing can be learned, so no weight may move; where they differ, some weight must.

The step runs in a process of its own, on the CPU, since a second trainer would reset the state that the first one shares
with it. `ask` keeps the answer on disk for as long as the trainer's source and the packages stay as they are.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grpo_rewards.errors import how_to_install

if TYPE_CHECKING:
    import torch

FLOOR = "1.6"
"""The first TRL whose GRPOTrainer and RLOOTrainer leave such rows out."""

GRPO = ("trl.trainer.grpo_trainer:GRPOTrainer", "trl.trainer.grpo_config:GRPOConfig")
"""The trainer and its arguments, as `ask` takes them."""

_SECONDS = 300.0
# without them, or the child would wait for its parent's process group to come together
_LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_", "TORCHELASTIC_", "ACCELERATE_", "FSDP_")


_CONTRACT = {
    "log_extra": "reasons do not reach the completions table",
    "log_metric": "component means are not logged in the fused form",
    "trainer_state": "schedules and stages cannot follow the steps in the fused form",
    "reward_weights": "weights cannot change in the expanded form",
    "multi_objective_aggregation": "combine.normalize: gdpo is not available",
}


def examine() -> tuple[Literal["ok", "note", "problem"], str, str]:
    """Say how the installed TRL stands to the known contract, and what to do; one step of training is tried with a tiny model."""
    try:
        found = version("trl")
    except PackageNotFoundError:
        return "note", "not installed; scoring works, training does not", how_to_install("train")
    upgrade = f"pip install -U 'trl>={FLOOR}'"
    spec = importlib.util.find_spec("trl")  # finds the package without running it
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    files = [Path(folder) / "trainer" / "grpo_trainer.py" for folder in folders]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return "problem", f"{found} has no trainer/grpo_trainer.py", upgrade
    # read and not imported: TRL brings torch and transformers, which takes seconds
    source = file.read_text(encoding="utf-8", errors="replace")
    if missing := [f"{name} ({effect})" for name, effect in _CONTRACT.items() if name not in source]:
        return "problem", f"{found} lacks {'; '.join(missing)}", upgrade
    try:
        tried = ask(*GRPO, file)
    except PackageNotFoundError as error:
        return "problem", f"{found}: {error.name} is missing", how_to_install("train")
    if tried.neutral is None:
        why = f"{found}: one step of training could not be tried: {tried.why}"
        return "note", why, "check a small run before a long one"
    if not tried.neutral:
        return "problem", f"{found} takes a row that could not be scored for a reward of 0", upgrade
    return "ok", f"{found}, which leaves rows that could not be scored out of training (one step tried)", ""


@dataclass(frozen=True, slots=True)
class Neutrality:
    """`neutral`: whether rows without a reward move no weight; None where it could not be found out, `why` says."""

    neutral: bool | None
    why: str = ""


@functools.cache
def ask(trainer: str, config: str, source: Path) -> Neutrality:
    """Return whether the class `trainer` (``module:name``), whose code is in the file `source`, leaves such rows out.

    The first call takes as long as importing torch and TRL; the answer is then read from the user's cache folder.
    Processes of one machine wait for the first that tries.
    """
    versions = [version(package) for package in ("trl", "transformers", "torch")]
    key = hashlib.sha256(repr((trainer, config, versions)).encode() + source.read_bytes()).hexdigest()
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grpo-rewards"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # opened without truncating: the lock's waiters read what its first holder wrote
        with (folder / f"probe-{key[:32]}.json").open("a+") as known:
            fcntl.flock(known, fcntl.LOCK_EX)
            known.seek(0)
            if text := known.read():
                return Neutrality(json.loads(text))
            found = _run(trainer, config)
            if found.neutral is not None:
                known.write(json.dumps(found.neutral))
            return found
    except (OSError, ValueError):  # no folder to write to, or not what was written there
        return _run(trainer, config)


def _run(trainer: str, config: str) -> Neutrality:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(_LAUNCHER)}
    environment |= {
        "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path), "PYTHONWARNINGS": "ignore",
        # a child that touched a GPU would take memory from the run
        "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "WANDB_MODE": "disabled",
    }  # fmt: skip
    command = [sys.executable, "-m", "grpo_rewards_adapters.probe", trainer, config]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Neutrality(None, f"no answer within {_SECONDS:g} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return Neutrality(None, lines[-1][:300] if lines else f"it ended with exit code {done.returncode}")
    # the last line: trainers print to standard output as well
    learns, moved = json.loads(done.stdout.strip().splitlines()[-1])
    if not learns:
        return Neutrality(None, "a step on rewards that differ moved no weight either")
    return Neutrality(not moved)


# ------------------------------------------------------------------------------------------------ in the child


def _moves(trainer: Any, config: Any, rewards: Sequence[float | None]) -> bool:
    """Whether one step on completions with these rewards changes a weight."""
    from datasets import Dataset

    def given(completions: Sequence[object], **_: object) -> list[float | None]:
        return list(rewards)[: len(completions)]

    with tempfile.TemporaryDirectory() as folder:
        arguments = config(
            output_dir=folder, use_cpu=True, bf16=False, report_to=[], save_strategy="no", disable_tqdm=True, seed=0,
            # a rate at which one step changes weights of float32 visibly
            max_steps=1, learning_rate=0.1, per_device_train_batch_size=len(rewards), num_generations=len(rewards),
            max_completion_length=8, beta=0.0,
        )  # fmt: skip
        model, tokenizer = _tiny()
        before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        trainer(
            model=model, reward_funcs=given, args=arguments, processing_class=tokenizer,
            train_dataset=Dataset.from_list([{"prompt": "a b"}]),
        ).train()  # fmt: skip
        return any(not weight.equal(before[name]) for name, weight in model.named_parameters())


def _tiny() -> tuple[torch.nn.Module, object]:
    """A one-layer model with random weights, the same each time, and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<pad>", "<eos>", "<unk>", *"abcdefghijklmnopqrstuvwxyz"]
    raw = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config), tokenizer


def _named(reference: str) -> object:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def main(trainer: str, config: str) -> None:
    """Print, as JSON, whether a step moves weights that should move them, and whether one does that should not."""
    parts = _named(trainer), _named(config)
    found = [_moves(*parts, rewards) for rewards in ([1.0, 0.0, None, None], [1.0, 1.0, None, None])]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
