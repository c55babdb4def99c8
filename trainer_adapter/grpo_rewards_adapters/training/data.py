"""Rows to train on and rows held out: read from a file or the hub, with prompts as the model wants them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_rewards.errors import ConfigError, InputError, nearest
from grpo_rewards.rows import ShapeError, checked_marks, is_left_out, malformed, read_shape
from grpo_rewards_adapters.training.hub import look_for_dataset
from grpo_rewards_adapters.training.recipe import ChatConfig, DatasetConfig, Recipe

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TrainingRow = dict[str, Any]
_BUILDERS = {".jsonl": "json", ".json": "json", ".ndjson": "json", ".csv": "csv", ".parquet": "parquet"}
# the trainer's own keywords of a reward call: such a column would collide with one, or never arrive
_TAKEN = ("completion", "completions", "completion_ids", "prompts", "trainer_state", "log_extra", "log_metric")


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of a run, where they come from, and how many prompts were left out for their length.

    `places` says where each row stands, those of `train` first: file and line, or the row's number.
    """

    train: list[TrainingRow]
    held_out: list[TrainingRow]
    sources: dict[str, str]
    dropped: int = 0
    places: list[str] = field(default_factory=list)


def look_for_data(config: DatasetConfig, base: Path) -> None:
    """Look whether data are there at all, without importing what reads them.

    Raises:
        InputError: there is no such file, its suffix names no format, or the hub cannot be reached and nothing was kept.
    """
    if config.name is not None:
        look_for_dataset(config.name)
        return
    file = base / str(config.path)
    if file.suffix.lower() not in _BUILDERS:
        raise InputError(
            f"the suffix {file.suffix!r} names no format that is read here: {', '.join(_BUILDERS)}", source=str(file)
        )
    if not file.is_file():
        raise InputError("there is no such file", source=str(file))


def read_data(recipe: Recipe, tokenizer: PreTrainedTokenizerBase, *, base: Path) -> Data:
    """Read the training data and what is held out, the same for the same seed.

    Raises:
        InputError: a file cannot be read, or holds no rows.
        ConfigError: a column that the configuration names is not there.
    """
    rows, source, numbers = _rows(recipe.dataset, base)
    rows = _prepared(rows, recipe.dataset, recipe.chat, tokenizer)
    places = _places(rows, recipe.dataset, numbers)
    limit = recipe.dataset.max_prompt_tokens
    dropped = 0
    if limit is not None:
        lengths = prompt_lengths(rows, tokenizer)
        kept = [row for row, length in zip(rows, lengths, strict=True) if length <= limit]
        dropped, rows = len(rows) - len(kept), kept
    sources = {"train": source}
    evaluation = recipe.evaluation
    if evaluation.dataset is not None:
        found, sources["held_out"], numbers = _rows(evaluation.dataset, base)
        held_out = _prepared(found, evaluation.dataset, recipe.chat, tokenizer)
        places |= _places(held_out, evaluation.dataset, numbers)
        return Data(rows, held_out, sources, dropped, [places[id(row)] for row in (*rows, *held_out)])
    order = list(range(len(rows)))
    # a generator of its own: what else draws numbers must not change which rows are held out
    random.Random(recipe.seed).shuffle(order)
    if evaluation.held_out >= len(rows):
        raise ConfigError(
            f"{evaluation.held_out} rows are to be held out of {len(rows)}; lower it or give evaluation.dataset",
            path="evaluation.held_out",
        )
    aside = sorted(order[: evaluation.held_out])
    seen = {repr(rows[index]["prompt"]) for index in aside}
    stays = [row for row in rows if repr(row["prompt"]) not in seen]  # the same prompt twice is held out twice
    held_out = [rows[index] for index in aside]
    return Data(stays, held_out, sources, dropped, [places[id(row)] for row in (*stays, *held_out)])


def _places(rows: Sequence[TrainingRow], config: DatasetConfig, numbers: Sequence[int]) -> dict[int, str]:
    """Where each row stands, by its identity: file and line for lines, else the number of the row."""
    lines = config.path is not None and Path(config.path).suffix.lower() != ".parquet"
    head = f"{config.path}:" if lines else f"{config.path or config.name}, row "
    header = config.path is not None and config.path.lower().endswith(".csv")
    return {id(row): f"{head}{number + header}" for row, number in zip(rows, numbers, strict=True)}


def prompt_lengths(rows: Sequence[TrainingRow], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The number of tokens of each prompt, as the trainer tokenizes it."""
    lengths = []
    for row in rows:
        prompt = row["prompt"]
        if isinstance(prompt, str):
            lengths.append(len(tokenizer(prompt)["input_ids"]))
        else:
            text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
            # the template has written the special tokens already
            lengths.append(len(tokenizer(text, add_special_tokens=False)["input_ids"]))
    return lengths


def _rows(config: DatasetConfig, base: Path) -> tuple[list[TrainingRow], str, list[int]]:
    """The rows, what they are, and their numbers from 1."""
    from datasets import load_dataset

    look_for_data(config, base)
    if config.name is not None:
        try:
            found = load_dataset(config.name, config.config, split=config.split)
        except Exception as error:
            raise InputError(f"cannot be loaded: {error}", source=f"dataset {config.name}") from error
        source = f"hub {config.name} {config.config or ''} {config.split}".replace("  ", " ")
    else:
        file = base / str(config.path)
        try:
            found = load_dataset(_BUILDERS[file.suffix.lower()], data_files=str(file), split="train")
        except Exception as error:
            if broken := malformed(file):
                raise InputError("; ".join(broken)) from error
            # datasets wraps what its reader met in an error that only says that something went wrong
            raise InputError(f"cannot be read: {error.__cause__ or error}", source=str(file)) from error
        source = f"{file.name} sha256:{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
    rows = [
        dict(row) for row in (found if config.limit is None else found.select(range(min(config.limit, len(found)))))
    ]
    if not rows:
        raise InputError("holds no rows", source=source)
    if marks := checked_marks(config.leave_out):
        numbers = [
            number for number, row in enumerate(rows, 1) if not is_left_out(row, marks, where=f"{source}, row {number}")
        ]
        if not numbers:
            raise InputError(f"all {len(rows)} rows are left out by their marks", source=source)
        source = f"{source}, {len(rows) - len(numbers)} of {len(rows)} rows left out by their marks"
        return [rows[number - 1] for number in numbers], source, numbers
    return rows, source, list(range(1, len(rows) + 1))


def _prepared(
    rows: Sequence[TrainingRow], config: DatasetConfig, chat: ChatConfig, tokenizer: PreTrainedTokenizerBase
) -> list[TrainingRow]:
    have = list(rows[0])
    for wanted in (*config.columns.values(), *(() if config.template else (config.prompt,))):
        if wanted not in have:
            raise ConfigError(
                f"there is no column {wanted!r}{nearest(wanted, have)} (columns: {', '.join(have)})", path="dataset"
            )
    out = []
    for row in rows:
        columns = {key: value for key, value in row.items() if key not in _TAKEN}
        columns.update({new: row[old] for new, old in config.columns.items()})
        columns["prompt"] = _prompt(_asked(row, config), chat, tokenizer)
        out.append(columns)
    return out


def _asked(row: TrainingRow, config: DatasetConfig) -> object:
    if config.template is None:
        return row[config.prompt]
    try:
        return config.template.format_map(row)
    except (KeyError, IndexError, ValueError) as error:
        raise ConfigError(f"does not fit the columns {', '.join(row)}: {error}", path="dataset.template") from None


def _prompt(asked: object, chat: ChatConfig, tokenizer: PreTrainedTokenizerBase) -> object:
    """Text stays text for a tokenizer without chat template; otherwise everything becomes messages."""
    if isinstance(asked, str):
        if getattr(tokenizer, "chat_template", None) is None:
            shown = "".join(f"{turn.get('user', '')}{turn.get('assistant', '')}\n" for turn in chat.examples)
            return f"{chat.system}\n{shown}{asked}" if chat.system else shown + asked
        messages = [{"role": "user", "content": asked}]
    elif isinstance(asked, Sequence) and all(isinstance(turn, Mapping) and "role" in turn for turn in asked):
        messages = [dict(turn) for turn in asked]
    else:
        try:
            read_shape({"prompt": asked, "completion": ""})
        except ShapeError as error:  # in the words of score and validate
            raise InputError(str(error)) from None
        raise InputError(f"a prompt must be text or a list of messages with role and content, not {asked!r:.80}")
    head = []
    if chat.system is not None and messages[0]["role"] != "system":
        head.append({"role": "system", "content": chat.system})
    for turn in chat.examples:
        head += [{"role": role, "content": turn[role]} for role in ("user", "assistant") if role in turn]
    return [*head, *messages]
