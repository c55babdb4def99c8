"""Held-out prompts answered greedily, and what the composite says of the answers, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grpo_rewards import Composite, ScoreTable
from grpo_rewards_adapters.training.data import TrainingRow
from grpo_rewards_adapters.training.intervals import bootstrap, wilson

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Answers:
    """The rows with their completions, and their scores."""

    rows: list[TrainingRow]
    table: ScoreTable

    def values(self) -> dict[str, list[float | None]]:
        """Per component and for the total (``reward``) one value per row."""
        return {**{name: self.table.values(name) for name in self.table.components}, "reward": self.table.rewards()}


def answer(
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    composite: Composite,
    rows: Sequence[TrainingRow],
    *,
    max_tokens: int,
    batch_size: int = 32,
) -> Answers:
    """Let the model answer each prompt with its likeliest tokens, at most `max_tokens`, and score the answers.

    One answer per prompt: a reward that compares a group sees groups of one.
    """
    import torch

    was_training, cache = model.training, getattr(model.config, "use_cache", None)
    model.eval()
    # the trainer turns it off; without it each token is computed over the whole text again
    model.config.use_cache = True
    # a decoder goes on at the end of its row, which must not be padding
    side, tokenizer.padding_side = tokenizer.padding_side, "left"
    done: list[TrainingRow] = []
    try:
        for start in range(0, len(rows), batch_size):
            batch = rows[start : start + batch_size]
            texts = [_as_text(row["prompt"], tokenizer) for row in batch]
            chat = not isinstance(batch[0]["prompt"], str)
            # a chat's special tokens are in its text
            asked = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=not chat).to(model.device)
            with torch.inference_mode():
                out = model.generate(
                    input_ids=asked["input_ids"], attention_mask=asked["attention_mask"], max_new_tokens=max_tokens,
                    # greedy: before and after differ by the weights alone; settings of sampling would be warned of
                    do_sample=False, temperature=None, top_p=None, top_k=None, pad_token_id=tokenizer.pad_token_id,
                )  # fmt: skip
            answers = tokenizer.batch_decode(out[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
            for row, text in zip(batch, answers, strict=True):
                done.append({**row, "completion": [{"role": "assistant", "content": text}] if chat else text})
    finally:
        model.config.use_cache, tokenizer.padding_side = cache, side
        model.train(was_training)
    return Answers(done, composite.score(done))


def _as_text(prompt: str | list[dict[str, str]], tokenizer: PreTrainedTokenizerBase) -> str:
    if isinstance(prompt, str):
        return prompt
    return str(tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False))


def summary(values: Sequence[float | None], *, seed: int = 0) -> dict[str, object]:
    """Return number, mean and 95 % interval: Wilson's where all values are 0 or 1, else a bootstrap's."""
    present = [value for value in values if value is not None]
    if not present:
        return {"n": 0, "mean": None, "interval_95": None, "left_out": len(values)}
    if set(present) <= {0.0, 1.0}:
        bounds, method = wilson(sum(value == 1.0 for value in present), len(present)), "wilson"
    else:
        bounds, method = bootstrap(present, seed=seed), "bootstrap"
    return {
        "n": len(present),
        "mean": round(sum(present) / len(present), 6),
        "interval_95": [round(bound, 6) for bound in bounds],
        "method": method,
        "left_out": len(values) - len(present),
    }


def compared(before: Answers, after: Answers, *, seed: int = 0) -> dict[str, dict[str, object]]:
    """Return, per component and for the reward, before, after and the change with the interval of paired differences."""
    found: dict[str, dict[str, object]] = {}
    ends = after.values()
    for name, start in before.values().items():
        # only prompts that were scored both times, or another set of prompts would look like a change
        pairs = [(a, b) for a, b in zip(start, ends[name], strict=True) if a is not None and b is not None]
        change = [b - a for a, b in pairs]
        found[name] = {
            "before": summary(start, seed=seed),
            "after": summary(ends[name], seed=seed),
            "change": round(sum(change) / len(change), 6) if change else None,
            "change_interval_95": [round(bound, 6) for bound in bootstrap(change, seed=seed)] if change else None,
        }
    return found
