"""A language model and tokenizer made on the spot, and a real trainer's settings for the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ALPHABET = "0123456789+= abcdefghijklmnopqrstuvwxyz<>/?:"


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """One token per character."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {token: index for index, token in enumerate(["<pad>", "<eos>", "<unk>", *ALPHABET])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    raw.decoder = decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )


@pytest.fixture
def make_model(tokenizer: Any) -> Callable[..., Any]:
    """Makes a one-layer Llama with random weights, the same for the same seed."""
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    def make(seed: int = 0) -> Any:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            config = LlamaConfig(
                vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
                num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
                pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
            )  # fmt: skip
            return LlamaForCausalLM(config)

    return make


@pytest.fixture
def make_trainer(tmp_path: Path, tokenizer: Any, make_model: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a `GRPOTrainer` (or another class) of the tiny model for a few steps on the CPU."""
    pytest.importorskip("trl")
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    def make(
        rewards: Any,
        *,
        rows: list[dict[str, Any]] | None = None,
        trainer: Any = GRPOTrainer,
        config: Any = GRPOConfig,
        callbacks: Any = None,
        kwargs: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Any:
        rows = rows or [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(8)]
        defaults: dict[str, Any] = {
            "output_dir": str(tmp_path / "run"), "use_cpu": True, "bf16": False, "gradient_checkpointing": False,
            "report_to": [], "logging_steps": 1, "max_steps": 3, "num_generations": 4, "disable_tqdm": True,
            "per_device_train_batch_size": 8, "max_completion_length": 6, "save_strategy": "no", "seed": 7,
        }  # fmt: skip
        args = config(**{**defaults, **settings})
        return trainer(
            model=make_model(), reward_funcs=rewards, args=args, train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer, callbacks=callbacks, **(kwargs or {}),
        )  # fmt: skip

    return make
