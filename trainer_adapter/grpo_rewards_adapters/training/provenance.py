"""What a run was made of, saved beside every checkpoint and the final model."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from transformers import TrainerCallback

from grpo_rewards import Composite
from grpo_rewards_adapters.training.recipe import Recipe

if TYPE_CHECKING:
    from transformers import TrainerState, TrainingArguments

FILE = "grpo_rewards.json"
"""The name of the file in each checkpoint."""

_PACKAGES = ("grpo-rewards", "torch", "transformers", "trl", "peft", "datasets", "accelerate", "tokenizers")


def provenance(recipe: Recipe, composite: Composite, sources: dict[str, str]) -> dict[str, object]:
    """Return configuration, rewards with their plugins' versions, data, seed and packages, as plain data."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "recipe": recipe.model_dump(mode="json"),
        "arguments": recipe.arguments,
        "rewards": {**composite.provenance, **composite.identity},
        "data": sources,
        "seed": recipe.seed,
        "packages": {**versions, "python": platform.python_version()},
    }


def write_json(path: Path, data: object) -> None:
    """Write plain data as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(data, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


class ProvenanceCallback(TrainerCallback):
    """Puts the file into every checkpoint."""

    def __init__(self, data: dict[str, object]) -> None:
        self.data = data

    def on_save(self, args: TrainingArguments, state: TrainerState, control: object, **_: object) -> None:
        """Write it once, on the main process."""
        if state.is_world_process_zero:
            folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
            write_json(folder / FILE, self.data)
