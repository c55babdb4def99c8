"""Arguments of the trainer: those that fit a machine, and what older guides write and is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Arguments = Mapping[str, Any]
"""A trainer's arguments by name, of the types that its own configuration has."""

HARDWARE: Mapping[str, Arguments] = {
    "cpu": {
        # pinned memory is for copies to a GPU: without one torch warns of it at every start
        "use_cpu": True, "bf16": False, "gradient_checkpointing": False, "per_device_train_batch_size": 16,
        "num_generations": 8, "max_completion_length": 64, "learning_rate": 2e-5, "dataloader_pin_memory": False,
    },
    "small_gpu": {
        "bf16": True, "gradient_checkpointing": True, "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": 4, "num_generations": 8, "max_completion_length": 256, "learning_rate": 1e-5,
    },
    "large_gpu": {
        "bf16": True, "gradient_checkpointing": True, "per_device_train_batch_size": 32,
        "gradient_accumulation_steps": 4, "num_generations": 16, "max_completion_length": 1024, "learning_rate": 1e-6,
    },
}  # fmt: skip
"""Trainer arguments for a few CPU cores, a GPU of up to 24 GB (with `lora` for models above 1 B) and one of 80 GB."""

# transformers 5 warns of the old names, which are to go in 6
_RENAMED = {
    "gradient_checkpointing": "activation_checkpointing",
    "gradient_checkpointing_kwargs": "activation_checkpointing_kwargs",
}


def current_names(arguments: Arguments, defaults: Arguments) -> dict[str, Any]:
    """Return the arguments under the names that the installed trainer has now; `defaults` are its arguments' own.

    Where it knows the new name of one, the old one is None, also where the default would be set by it and warned of.
    Before transformers 5 a share of all steps to warm up in was ``warmup_ratio``, and ``warmup_steps`` of 0.1 were none.
    """
    found = dict(arguments)
    if isinstance(defaults.get("warmup_ratio"), float) and 0 < (found.get("warmup_steps") or 0) < 1:
        found["warmup_ratio"] = found.pop("warmup_steps")
    for old, new in _RENAMED.items():
        if new in defaults:
            value = arguments.get(new)
            found |= {old: None, new: arguments.get(old, defaults.get(old)) if value is None else value}
    return found


REMOVED: Mapping[str, str] = {
    "max_prompt_length": "the trainer cuts no prompts any more; drop long ones with dataset.max_prompt_tokens",
    "max_length": "write max_completion_length for completions and dataset.max_prompt_tokens for prompts",
    "num_generation": "write num_generations",
    "num_sample_generations": "write log_completions: true",
    "warmup_ratio": "write warmup_steps; a value below 1 is a share of all steps",
    "torch_dtype": "write model: {name: ..., dtype: ...}",
    "evaluation_strategy": "write eval_strategy",
    "no_cuda": "write use_cpu",
    "per_gpu_train_batch_size": "write per_device_train_batch_size",
    "logging_dir": "reporters choose their own folder (TENSORBOARD_LOGGING_DIR for tensorboard)",
    "overwrite_output_dir": "name another output folder, or go on with --resume",
    "save_safetensors": "every checkpoint is safetensors now",
    "group_by_length": "leave it out: prompts are grouped by their completions",
    "use_liger_loss": "write use_liger_kernel",
    "vllm_device": "write vllm_mode: colocate or server",
    "vllm_dtype": "vLLM takes the model's dtype: model: {name: ..., dtype: ...}",
    "vllm_max_model_len": "write vllm_max_model_length",
    "vllm_guided_decoding_regex": "write vllm_structured_outputs_regex",
    "wandb_log_unique_prompts": "write log_unique_prompts",
    "tokenizer": "write model: {name: ..., tokenizer: ...}",
    "use_mps_device": "leave it out: the device is found",
    "generate_completions": "write log_completions: true",
}
"""What the trainer took once, and what to write instead."""

OURS: Mapping[str, str] = {
    "output_dir": "output",
    "seed": "seed",
    "reward_weights": "rewards.<name>.weight in the rewards file",
    "multi_objective_aggregation": "combine.normalize: gdpo in the rewards file",
    "remove_unused_columns": "nothing: rewards need the columns",
    "model_init_kwargs": "model: {name: ..., dtype: ...}",
}
"""Arguments that have a place of their own in the configuration."""


def argument_problem(name: str, value: object) -> str | None:
    """Return what is wrong with a trainer argument, whatever the trainer's version, or None."""
    if name in REMOVED:
        return f"the trainer has no {name} any more: {REMOVED[name]}"
    if name in OURS:
        return f"{name} is not set here: its place is {OURS[name]}"
    if name == "max_steps" and value is None:
        return "max_steps must be a number; -1 (with num_train_epochs) means no limit"
    return None
