"""A one-layer model, its tokenizer and a trainer of a few steps, for tests and for the processes that they start."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

ALPHABET = "0123456789+= abcdefghijklmnopqrstuvwxyz<>/?:"


def make_tokenizer() -> Any:
    """One token per character."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: index for index, token in enumerate(["<pad>", "<eos>", "<unk>", *ALPHABET])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    raw.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )


def make_model(tokenizer: Any, *, seed: int = 0) -> Any:
    """Return a one-layer Llama with random weights, the same for the same seed."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
        )  # fmt: skip
        return LlamaForCausalLM(config)


def make_trainer(
    rewards: Any,
    output: str,
    *,
    rows: list[dict[str, Any]] | None = None,
    trainer: Any = None,
    config: Any = None,
    given: dict[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Return a `GRPOTrainer` (or another class) on the CPU; `settings` go to its configuration, `given` to itself."""
    from datasets import Dataset
    from grpo_rewards_adapters.training.arguments import current_names
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = make_tokenizer()
    rows = rows or [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(8)]
    defaults: dict[str, Any] = {
        "output_dir": output, "use_cpu": True, "bf16": False, "gradient_checkpointing": False, "report_to": [],
        "logging_steps": 1, "max_steps": 3, "num_generations": 4, "disable_tqdm": True, "save_strategy": "no",
        "per_device_train_batch_size": 8, "max_completion_length": 6, "seed": 7, "learning_rate": 1e-2,
    }  # fmt: skip
    names = {field.name: field.default for field in fields(GRPOConfig)}
    arguments = {
        "model": make_model(tokenizer), "train_dataset": Dataset.from_list(rows), "processing_class": tokenizer,
        "args": (config or GRPOConfig)(**current_names({**defaults, **settings}, names)), "reward_funcs": rewards,
        **(given or {}),
    }  # fmt: skip
    return (trainer or GRPOTrainer)(**arguments)
