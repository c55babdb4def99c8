"""The file that ``grpo-rewards train`` reads: model, data, prompts, rewards and how to train, checked key by key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from grpo_rewards import Composite, load
from grpo_rewards.config import Section, is_preset, problems_of, read_yaml
from grpo_rewards.errors import ConfigError, nearest
from grpo_rewards.rows import checked_marks
from grpo_rewards_adapters.training.arguments import HARDWARE, argument_problem

Count = Annotated[int, Field(ge=1)]


class ModelConfig(Section):
    """The model to train."""

    name: str = Field(description="A folder, or a name on the hub.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="float32", description="The weights' type; with LoRA bfloat16 saves half the memory."
    )
    revision: str | None = Field(default=None, description="The hub's revision.")
    tokenizer: str | None = Field(default=None, description="Another place for the tokenizer.")


class DatasetConfig(Section):
    """Rows with a prompt and the columns that rewards need: one file (JSONL, CSV, parquet) or a hub name."""

    path: str | None = Field(default=None, description="A .jsonl, .json, .csv or .parquet file.")
    name: str | None = Field(default=None, description="A dataset on the hub.")
    config: str | None = Field(default=None, description="The hub dataset's configuration.")
    split: str = Field(default="train", description="The hub dataset's split.")
    prompt: str = Field(default="prompt", description="The column with the prompt: text, or chat messages.")
    template: str | None = Field(
        default=None, description="The prompt's text with {column} in it, instead of the column prompt."
    )
    columns: dict[str, str] = Field(default_factory=dict, description="New column: the column it is taken from.")
    limit: Count | None = Field(default=None, description="Take no more than this many rows.")
    leave_out: list[str] = Field(
        default_factory=list, description="Leave out rows with these marks of grpo-rewards audit, or any."
    )
    max_prompt_tokens: Count | None = Field(default=None, description="Leave out rows with a longer prompt.")

    @model_validator(mode="after")
    def _one_source(self) -> DatasetConfig:
        try:
            checked_marks(self.leave_out)
        except ConfigError as error:
            # of all errors pydantic takes this one for a problem of the key
            raise ValueError(str(error)) from None
        if (self.path is None) == (self.name is None):
            raise ValueError("give one of path (a file) and name (a dataset on the hub)")
        return self


class ChatConfig(Section):
    """How a text prompt becomes chat. Without a chat template the prompt stays text."""

    system: str | None = Field(default=None, description="The system message.")
    examples: list[dict[Literal["user", "assistant"], str]] = Field(
        default_factory=list, description="Worked examples as earlier turns: {user: ..., assistant: ...}."
    )
    template: str | None = Field(default=None, description="A file with a jinja chat template for the tokenizer.")


class LoraConfig(Section):
    """Train low-rank adapters (arXiv 2106.09685) and leave the model's own weights alone."""

    r: Count = 16
    alpha: Count = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    targets: str | list[str] = Field(default="all-linear", description="The modules that get adapters.")


class EvaluationConfig(Section):
    """Held-out prompts, answered greedily before and after training."""

    held_out: Annotated[int, Field(ge=0)] = Field(
        default=100, description="Rows of the training data set aside, drawn by the seed; 0 with a file of its own."
    )
    dataset: DatasetConfig | None = Field(default=None, description="Rows from elsewhere instead.")
    batch_size: Count = 32
    max_tokens: Count | None = Field(default=None, description="training.max_completion_length by default.")


def _arguments(arguments: dict[str, object]) -> dict[str, object]:
    problems = [text for name, value in arguments.items() if (text := argument_problem(name, value))]
    if problems:
        raise ValueError("; ".join(problems))
    return arguments


class Recipe(Section):
    """Everything of a run."""

    version: Literal[1] = 1
    model: ModelConfig
    rewards: str | dict[str, object] = Field(description="The rewards file, preset/NAME, or the composition itself.")
    dataset: DatasetConfig
    chat: ChatConfig = ChatConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    hardware: Literal["cpu", "small_gpu", "large_gpu"] | None = Field(
        default=None, description="Arguments to start from, for a machine of that kind."
    )
    training: Annotated[dict[str, object], AfterValidator(_arguments)] = Field(
        default_factory=dict, description="The trainer's own arguments; they win over those of `hardware`."
    )
    lora: LoraConfig | None = None
    form: Literal["auto", "expanded", "fused"] = "auto"
    output: str = Field(description="The folder for checkpoints, the model and what was measured.")
    seed: int = 0

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: object) -> object:
        if isinstance(data, Mapping):
            data = dict(data)
            for key, short in (("model", "name"), ("dataset", "path")):
                if isinstance(data.get(key), str):
                    data[key] = {short: data[key]}
            if data.get("lora") is True:
                data["lora"] = {}
        return data

    @property
    def arguments(self) -> dict[str, object]:
        """The trainer's arguments, those of `hardware` included."""
        # before transformers 5 every reporter that is installed was the default
        common = {"report_to": [], "logging_steps": 1}
        return {**common, **(HARDWARE[self.hardware] if self.hardware else {}), **self.training}

    def composite(self, base: Path) -> Composite:
        """The composite that it trains with; relative paths start from `base`."""
        if isinstance(self.rewards, str):
            return load(self.rewards if is_preset(self.rewards) else base / self.rewards)
        return Composite(self.rewards, base=base)


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Read and check a training configuration.

    Raises:
        ConfigError: the text names file, key and what to write, for removed arguments their replacement.
    """
    file = Path(path)
    data = read_yaml(file)
    if not isinstance(data, Mapping):
        raise ConfigError("expected the keys model, rewards, dataset and output", source=str(file))
    try:
        return Recipe.model_validate(dict(data))
    except ValidationError as error:
        raise ConfigError(problems_of(error, Recipe, hint=_meant), source=str(file)) from None


def _meant(parts: Sequence[str]) -> str:
    """The trainer's argument that an unknown key at the top may be."""
    misspelt = len(parts) > 1 or nearest(parts[-1], Recipe.model_fields)
    return "" if misspelt or not argument_like(parts[-1]) else f"; did you mean training.{parts[-1]}?"


def argument_like(name: str) -> bool:
    """Whether a key looks like one of the trainer's arguments."""
    return any(name in known for known in HARDWARE.values()) or argument_problem(name, 0) is not None or "_" in name
