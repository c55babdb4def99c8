"""Train a model of 112,000 parameters, made on the spot, with a composite reward: a real GRPO run of a minute on a CPU.

    pip install '.[train]'
    python examples/train_tiny.py --seed 0 --out run.json

The model first learns from demonstrations that are bad on purpose: two of five have no tags, and two of three a sum that
is one short. So it knows how a good answer looks, and does not prefer it. GRPO then sees nothing but the rewards of
`tiny_rewards.yaml`. Sums of the held-out pairs appear in neither part. `--constant-steps 40` also trains, from the same
start, with a reward that is the same for all, from which nothing can be learned.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from grpo_rewards_adapters.trl import attach
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

from grpo_rewards import Composite, load

REWARDS = Path(__file__).with_name("tiny_rewards.yaml")
PIECES = [*"0123456789+=<>", "</", "answer"]
PAIRS = [(a, b) for a in range(20) for b in range(20)]
HELD_OUT = 60
TOKENS = 16
BATCH = 64
TAGGED, RIGHT = 0.6, 0.35  # shares of the demonstrations


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token per digit, sign, bracket and tag name."""
    vocabulary = {token: index for index, token in enumerate(["<pad>", "<eos>", "<unk>", *PIECES])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("answer|</|."), "isolated")
    raw.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of two layers with random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=198, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64, tie_word_embeddings=False,
            pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
        )
    )  # fmt: skip


def question(a: int, b: int) -> str:
    """The prompt of a sum, two digits each."""
    return f"{a:02d}+{b:02d}="


def demonstration(a: int, b: int, chance: random.Random) -> str:
    """An answer as a bad teacher gives it."""
    total = a + b if chance.random() < RIGHT else a + b - 1
    return f"<answer>{total:02d}</answer>" if chance.random() < TAGGED else f"{total:02d}"


def fine_tune(model: Any, tokenizer: Any, pairs: list[tuple[int, int]], *, steps: int, seed: int) -> None:
    """Teach the demonstrations: AdamW, 64 of them a step, the rate falling to a tenth; the loss is on the answer only."""
    chance = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=3e-4)
    model.train()
    for _ in range(steps):
        batch = [(question(*pair), demonstration(*pair, chance)) for pair in chance.choices(pairs, k=BATCH)]
        asked = len(batch[0][0])
        texts = [[*tokenizer(prompt + answer).input_ids, tokenizer.eos_token_id] for prompt, answer in batch]
        width = max(map(len, texts))
        ids = torch.tensor([text + [tokenizer.pad_token_id] * (width - len(text)) for text in texts])
        mask = torch.tensor([[1] * len(text) + [0] * (width - len(text)) for text in texts])
        labels = ids.masked_fill(mask == 0, -100)
        labels[:, :asked] = -100
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


@torch.inference_mode()
def accuracy(model: Any, tokenizer: Any, pairs: list[tuple[int, int]]) -> float:
    """The share of pairs whose sum is right and tagged in the model's likeliest answer."""
    model.eval()
    asked = tokenizer([question(*pair) for pair in pairs], return_tensors="pt", padding=True).to(model.device)
    out = model.generate(
        input_ids=asked["input_ids"], attention_mask=asked["attention_mask"], max_new_tokens=TOKENS, do_sample=False
    )
    texts = tokenizer.batch_decode(out[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
    right = [text == f"<answer>{a + b:02d}</answer>" for text, (a, b) in zip(texts, pairs, strict=True)]
    return sum(right) / len(right)


def train(
    *, seed: int, steps: dict[str, int], sft_steps: int = 600, folder: str, threads: int | None = None
) -> dict[str, Any]:
    """Fine-tune once, then train with each reward from there; `steps` says how long with ``composite`` or ``constant``."""
    if threads is not None:
        torch.set_num_threads(threads)
    set_seed(seed)
    pairs = random.Random(seed).sample(PAIRS, len(PAIRS))
    held_out, taught = pairs[:HELD_OUT], pairs[HELD_OUT:]
    tokenizer = make_tokenizer()
    taught_model = make_model(tokenizer)
    started = time.monotonic()
    fine_tune(taught_model, tokenizer, taught, steps=sft_steps, seed=seed)
    found: dict[str, Any] = {
        "seed": seed,
        "parameters": sum(p.numel() for p in taught_model.parameters()),
        "sft_seconds": round(time.monotonic() - started, 1),
        "held_out": len(held_out),
        "held_out_before": accuracy(taught_model, tokenizer, held_out),
    }
    for reward, count in steps.items():
        model = copy.deepcopy(taught_model)
        started = time.monotonic()
        found[reward] = optimise(model, tokenizer, taught, reward=reward, steps=count, seed=seed, folder=folder)
        found[reward]["held_out_after"] = accuracy(model, tokenizer, held_out)
        found[reward]["seconds"] = round(time.monotonic() - started, 1)
    return found


def optimise(
    model: Any, tokenizer: Any, pairs: list[tuple[int, int]], *, reward: str, steps: int, seed: int, folder: str
) -> dict[str, Any]:
    """Train with GRPO and return, step by step, what the composite says of the completions, and what health said."""
    composite = load(REWARDS)
    weights = composite.weights
    if reward == "constant":  # what is learned from is always the same; the components go along to be looked at
        shadows = {
            name: {"use": c.use, "params": c.params, "weight": 0} for name, c in composite.config.rewards.items()
        }
        composite = Composite({"rewards": {**shadows, "same": constant}})
    trainer = GRPOTrainer(
        model,
        reward_funcs=composite,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"prompt": question(a, b), "answer": str(a + b)} for a, b in pairs]),
        args=GRPOConfig(
            output_dir=folder, seed=seed, max_steps=steps, learning_rate=2e-4, lr_scheduler_type="constant",
            per_device_train_batch_size=128, num_generations=8, max_completion_length=TOKENS, temperature=1.0,
            scale_rewards="none", use_cpu=True, bf16=False, report_to=[],
            logging_steps=1, save_strategy="no", disable_tqdm=True,
        ),
    )  # fmt: skip
    watch = attach(trainer, composite)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    logs = [entry for entry in trainer.state.log_history if "reward" in entry]
    parts = {name: [round(entry[f"rewards/{name}/mean"], 4) for entry in logs] for name in weights}
    curve = [round(sum(weights[name] * parts[name][step] for name in weights), 4) for step in range(len(logs))]
    return {"curve": curve, **parts, "findings": [finding.key for finding in watch.findings]}


def constant(completion: str) -> float:
    """The same for all."""
    return 0.5


def main() -> None:
    """Train one seed and write what came of it."""
    parser = argparse.ArgumentParser(description="GRPO on a tiny model: the reward rises, and a constant one does not.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=200, help="with the composite")
    parser.add_argument("--constant-steps", type=int, default=0, help="with a reward that is always the same")
    parser.add_argument("--sft-steps", type=int, default=600)
    parser.add_argument("--threads", type=int, help="of torch; all cores by default")
    parser.add_argument("--out", type=Path, help="where the JSON goes; the screen by default")
    asked = parser.parse_args()
    wanted = {"composite": asked.steps, "constant": asked.constant_steps}
    steps = {reward: count for reward, count in wanted.items() if count}
    with tempfile.TemporaryDirectory() as folder:
        found = train(seed=asked.seed, steps=steps, sft_steps=asked.sft_steps, folder=folder, threads=asked.threads)
    text = json.dumps(found) + "\n"
    if asked.out is None:
        sys.stdout.write(text)
    else:
        asked.out.write_text(text)


if __name__ == "__main__":
    main()
