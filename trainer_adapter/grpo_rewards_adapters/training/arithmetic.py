"""Batch arithmetic: how prompts, generations, devices and accumulation fit together, before anything is loaded."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grpo_rewards.errors import ConfigError
from grpo_rewards_adapters.training.arguments import Arguments


@dataclass(frozen=True, slots=True)
class Batches:
    """What one generation batch holds, over all processes, and how many optimizer steps the run takes."""

    generation_batch: int
    prompts: int
    generations: int
    steps_per_generation: int
    optimizer_steps: int | None

    def __str__(self) -> str:
        steps = "" if self.optimizer_steps is None else f", {self.optimizer_steps} optimizer steps in all"
        return (
            f"{self.generation_batch} completions in a generation batch: {self.prompts} prompts x {self.generations}, "
            f"used for {self.steps_per_generation} steps of the backward pass{steps}"
        )


def count_batches(arguments: Arguments, *, rows: int | None = None, processes: int = 1) -> Batches:
    """Work out the batches from the trainer's arguments (those absent have the trainer's defaults).

    `rows` is the number of training prompts, `processes` that of the ranks.

    Raises:
        ConfigError: they do not fit; the text says which numbers would.
    """
    device = _count(arguments, "per_device_train_batch_size", 8)
    accumulation = _count(arguments, "gradient_accumulation_steps", 1)
    # an advantage is a distance from the others of a group: of one completion there is none
    generations = _count(arguments, "num_generations", 8, least=2)
    once = device * processes
    whole, several = arguments.get("generation_batch_size"), arguments.get("steps_per_generation")
    if whole is not None and several is not None:
        raise ConfigError("give one of generation_batch_size and steps_per_generation", path="training")
    if whole is None:
        several = _count(arguments, "steps_per_generation", accumulation)
        whole = once * several
        made_of = f"{device} per device x {processes} processes x {several} steps_per_generation"
    else:
        whole = _count(arguments, "generation_batch_size", 1)
        made_of = "generation_batch_size"
        if whole % once:
            raise ConfigError(
                f"generation_batch_size = {whole} is not a multiple of {once} ({device} per device x {processes} "
                f"processes); take {max(1, whole // once) * once}",
                path="training.generation_batch_size",
            )
        several = whole // once
    if whole % generations:
        fits = [n for n in range(2, whole + 1) if whole % n == 0]
        near = sorted(sorted(fits, key=lambda n: (abs(n - generations), n))[:3])
        raise ConfigError(
            f"a generation batch of {whole} completions ({made_of}) does not hold whole groups of {generations}; take "
            f"num_generations {' or '.join(map(str, near)) or '(a larger batch)'}, or a multiple of {generations} "
            f"as per_device_train_batch_size",
            path="training.num_generations",
        )
    prompts = whole // generations
    if rows is not None and rows < prompts:
        raise ConfigError(
            f"the data has {rows} training prompts, and one generation batch needs {prompts}; add rows, or lower "
            f"per_device_train_batch_size or gradient_accumulation_steps",
            path="dataset",
        )
    return Batches(whole, prompts, generations, several, _steps(arguments, rows, prompts, several, accumulation))


def _steps(arguments: Arguments, rows: int | None, prompts: int, several: int, accumulation: int) -> int | None:
    limit = arguments.get("max_steps", -1)
    if isinstance(limit, int) and limit > 0:
        return limit
    if rows is None:
        return None
    # the trainer's sampler gives out each generation batch so often
    repeated = int(arguments.get("num_iterations", 1)) * several
    batches = (rows // prompts) * repeated
    # as transformers counts: what is left over at an epoch's end is a step too, and so is a part of an epoch
    return math.ceil(math.ceil(batches / accumulation) * float(arguments.get("num_train_epochs", 3.0)))


def _count(arguments: Arguments, name: str, default: int, *, least: int = 1) -> int:
    value = arguments.get(name, default)
    if value is None:
        return default
    # YAML's true is an int to Python
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"must be a whole number, {least} or more, not {value!r}", path=f"training.{name}")
    return value
