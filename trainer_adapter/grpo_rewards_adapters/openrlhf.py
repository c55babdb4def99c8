"""OpenRLHF: ``--reward.remote_url .../grpo_rewards_adapters/openrlhf.py`` (a file with ``reward_func``)."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

from grpo_rewards import Composite
from grpo_rewards.errors import InputError
from grpo_rewards_adapters.single import (
    chosen,
    load_composite,
    score_rows,
    stand_in,
    stopping,
)

__all__ = ["SPECIAL_TOKENS", "completion_of", "reward_func", "reward_lists"]

SPECIAL_TOKENS = (
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "</s>",
    "<eos>", "<pad>", "<end_of_turn>", "<turn|>", "[PAD]", "<｜end▁of▁sentence｜>", "<|finetune_right_pad_id|>",
)  # fmt: skip
"""End and padding tokens of the usual models, as a tokenizer writes them when it keeps special tokens."""

_LEADING = re.compile(r"(?:\s|<s>|<bos>|<\|begin_of_text\|>|<\|endoftext\|>|<pad>|\[PAD\]|<｜begin▁of▁sentence｜>)*")


def completion_of(query: str, prompt: str, *, special_tokens: Sequence[str] = SPECIAL_TOKENS) -> str:
    """Return what the model wrote in `query`, OpenRLHF's decoded prompt + completion with special tokens kept.

    The prompt is cut from the start only, never where it shows up again, so a completion that echoes it stays whole.
    Decoding may add begin and padding tokens before it and change white space in it; both are allowed for. End and
    padding tokens are cut from the end only.

    Raises:
        InputError: `query` does not begin with `prompt`. Scoring it whole could find the answer in the prompt.
    """
    start = _end_of_prompt(query, prompt)
    if start is None:
        raise InputError(
            f"the query does not begin with its prompt (query {query[:60]!r}, prompt {prompt[:60]!r}), so the completion "
            f"cannot be told from it; give special_tokens, or apply the chat template before OpenRLHF gets the prompt"
        )
    text = query[start:]
    # an end token and padding behind it come in any order and number
    while token := next((token for token in special_tokens if text.rstrip().endswith(token)), None):
        text = text.rstrip().removesuffix(token)
    return text


def _end_of_prompt(query: str, prompt: str) -> int | None:
    """The index in `query` behind the prompt, or None."""
    if query.startswith(prompt):
        return len(prompt)
    lead = _LEADING.match(query)
    # the prompt may begin with such a token itself, so each place behind one is tried
    for skipped in {0, lead.end() if lead is not None else 0, *_token_starts(query)}:
        if query.startswith(prompt, skipped):
            return skipped + len(prompt)
        if (end := _same_but_spaces(query, skipped, prompt)) is not None:
            return end
    return None


def _token_starts(query: str) -> list[int]:
    """Where the prompt may begin: behind each of the begin tokens that lead the query."""
    lead = _LEADING.match(query)
    return [index + 1 for index, char in enumerate(query[: lead.end() if lead is not None else 0]) if char in ">]"]


def _same_but_spaces(query: str, start: int, prompt: str) -> int | None:
    """Walk both texts over white space; the index behind the prompt's last visible character, or None."""
    position = start
    for char in prompt:
        if char.isspace():
            continue
        while position < len(query) and query[position].isspace():
            position += 1
        if position >= len(query) or query[position] != char:
            return None
        position += 1
    return position


def reward_lists(
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[object],
    *,
    config: Composite | str | None = None,
    gold: str = "answer",
    missing: float | None = None,
    special_tokens: Sequence[str] = SPECIAL_TOKENS,
) -> dict[str, Any]:
    """Score a batch into plain lists, the JSON that OpenRLHF reads over HTTP.

    The reward sees the columns ``prompt``, ``label`` and `gold` (the label again). `missing` stands where there is none;
    OpenRLHF passes no settings on, so without it ``$GRPO_REWARDS_MISSING`` says which number.

    Returns:
        ``rewards`` and ``scores`` (the same numbers), and ``extra_logs``: ``valid`` (0.0 where `missing` stands in),
        and per component ``component_<name>`` and ``applies_<name>``.

    Raises:
        ConfigError: `missing` is not chosen, or a component compares whole groups.
        InputError: the lists differ in length, or a query does not begin with its prompt.
    """
    composite = load_composite(config, trainer="OpenRLHF")
    missing = chosen(
        missing, trainer="OpenRLHF", setting="missing=NUMBER in a file of your own that calls reward_lists"
    )
    if not len(queries) == len(prompts) == len(labels):
        raise InputError(
            f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels; expected as many of each"
        )
    rows = [
        {
            "completion": completion_of(query, prompt, special_tokens=special_tokens),
            "prompt": prompt,
            "label": label,
            gold: label,
        }
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    scored = score_rows(composite, rows)
    rewards = [stand_in(one, missing) for one in scored]
    each = [one.numbers() for one in scored]
    logs = {name: [numbers[name] for numbers in each] for name in (each[0] if each else ())}
    return {"rewards": rewards, "scores": list(rewards), "extra_logs": logs}


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **settings: Any
) -> dict[str, Any]:
    """Score a batch as OpenRLHF's file form wants it: `reward_lists`, with torch tensors where torch is installed.

    Raises:
        ScoringStopped: where `reward_lists` raises; OpenRLHF catches an Exception and goes on without a reward.
    """
    with stopping():
        result = reward_lists(queries, prompts, labels, **settings)
    # over HTTP the answer is JSON, from a machine that needs no torch
    if importlib.util.find_spec("torch") is None:
        return result
    import torch

    logs = {name: torch.tensor(values) for name, values in result["extra_logs"].items()}
    return {"rewards": torch.tensor(result["rewards"]), "scores": torch.tensor(result["scores"]), "extra_logs": logs}
