"""Reading scored JSONL, a trainer's completions parquet, and a training output folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._report.rows import (
    CODES,
    ComponentResult,
    ReportRow,
    ReportSource,
    Training,
    TrainingPoint,
    number,
    with_groups,
)
from grpo_rewards._scoring.reading.columnar import parquet_file
from grpo_rewards._scoring.reading.lines import LineSource
from grpo_rewards._scoring.reading.rows import JSON, PARQUET, format_suffix
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_SCORE_FIRST = "score the file first: grpo-rewards score FILE -o SCORED"
_MESSAGES = ("completion", "response", "completions", "messages")
_TAKEN = frozenset({"step", "prompt", "completion", "advantage"})
_BATCH = 256  # rows read at a time: the completions of a run need not fit into memory
_WEIGHT = re.compile(r"(?:grpo_rewards|rewards)/(.+)/weight")
_NOTICE = re.compile(r"grpo_rewards/health/([^/]+)(?:/(.*))?")
_REASON = "_reason"
_LEFT_OUT = "row left out: "  # what begins the reason of a component whose value went with that of another one
_WEIGHTS = "_weight"
_VALUE = "_value"  # where a component is called like a column of the data, its value stands under this


def open_report_source(path: Path, *, weights: Mapping[str, float] | None = None) -> ReportSource:
    """Open `path`: scored JSONL (plain, .gz, .zst), a completions parquet, or a training output folder.

    `weights` are for parquet: a reward named there has that weight, any other the one that stands beside it in the file,
    else the one that the training state holds, else 1.

    Raises:
        InputError: `path` is none of these, or is not what its name says.
    """
    weights = weights or {}
    if path.is_dir():
        return _open_folder(path, weights)
    if not path.exists():
        raise InputError("no such file; give what `grpo-rewards score FILE -o OUT` wrote", source=str(path))
    kind = format_suffix(path)
    if kind in PARQUET:
        training = _training_beside(path)
        return ReportSource(path.name, "completions parquet", _parquet_rows([path], training, weights), training,
                      _weight_notes(training, weights, path))  # fmt: skip
    if kind in JSON or not kind:
        return ReportSource(path.name, "scored rows", scored_rows(path))
    raise InputError(
        "expected scored JSONL (.jsonl, .jsonl.gz, .jsonl.zst), a completions .parquet or a training output folder",
        source=str(path),
    )


# ---------------------------------------------------------------------------------------------- scored JSONL


def scored_rows(path: Path) -> Iterator[ReportRow]:
    """Read what ``grpo-rewards score -o`` wrote.

    Raises:
        InputError: a line is no JSON, or holds no scores.
    """
    return with_groups(_scored_lines(path))


def _scored_lines(path: Path) -> Iterator[ReportRow]:
    for row in LineSource(path).rows():
        if row.data is None:
            raise InputError(f"{row.problem}; {_SCORE_FIRST}", source=str(path), line=row.number)
        yield _scored_row(row.data, path, row.number)


def _scored_row(data: Mapping[str, object], path: Path, position: int) -> ReportRow:
    found = data.get("grpo_rewards")
    if not isinstance(found, dict) or not isinstance(found.get("components", {}), dict):
        raise InputError(
            f"the row has no scores under 'grpo_rewards'; {_SCORE_FIRST}",
            source=str(path), line=position,
        )  # fmt: skip
    index = found.get("index")
    prompt, completion = _texts_of(data, index)
    skip = {"prompt", "grpo_rewards", *_MESSAGES}
    group = found.get("group", data.get("group_id"))
    step = number(data.get("step"))
    return ReportRow(
        # the line in the file that was scored: one row with several completions makes several lines here
        line=found["row"] if isinstance(found.get("row"), int) else position,
        index=index if isinstance(index, int) else None,
        prompt=prompt,
        completion=completion,
        reward=number(found.get("reward")),
        parts={str(name): _part(part) for name, part in found.get("components", {}).items()},
        group=None if group is None else str(group),
        step=None if step is None else int(step),
        left_out=str(found.get("left_out") or ""),
        columns={key: value for key, value in data.items() if key not in skip},
    )


def _texts_of(data: Mapping[str, object], index: object) -> tuple[object, object]:
    """Return the row's prompt and the one completion that its scores are about."""
    many = data.get("completions")
    if isinstance(many, list) and isinstance(index, int) and 0 <= index < len(many):
        return data.get("prompt"), many[index]
    for key in ("completion", "response"):
        if data.get(key) is not None:
            return data.get("prompt"), data[key]
    messages = data.get("messages")
    if isinstance(messages, list):
        roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
        asked = [place for place, role in enumerate(roles) if role in ("user", "system")]
        # all behind the last question is the answer, with the calls of tools that stand in it
        cut = asked[-1] + 1 if asked else 0
        return data.get("prompt") or messages[:cut], messages[cut:]
    return data.get("prompt"), many


def _part(data: object) -> ComponentResult:
    if not isinstance(data, dict):
        data = {"value": data}
    value = number(data.get("value"))
    details = data.get("details")
    status = data.get("status", "scored" if value is not None else "not_applicable")
    if isinstance(details, dict) and "left_out" in details:
        status = "left_out"
    return ComponentResult(
        value=value,
        weight=number(data.get("weight")),
        gate=number(data.get("gate")),
        contribution=number(data.get("contribution")),
        status=status if status in CODES else "error",
        reason=str(data.get("reason") or ""),
        details=details if isinstance(details, dict) else {},
    )


# ---------------------------------------------------------------------------------------------- parquet


def _parquet_rows(
    paths: Sequence[Path], training: Training | None, weights: Mapping[str, float]
) -> Iterator[ReportRow]:
    return with_groups(row for path in paths for row in _file_rows(path, training, weights))


def _reward_columns(
    names: Sequence[str], floats: Sequence[str], training: Training | None, weights: Mapping[str, float]
) -> tuple[list[str], str | None]:
    """Return the columns that are components, and the one that holds their total, if there is one.

    A trainer writes rewards and extra figures side by side. A composite that is one reward function has its total
    there and its components as extras, each with its reasons; the log names the weights of components only.
    """
    free = [name for name in names if name not in _TAKEN]
    weighted = {name for point in training.points for name in point.weights} if training else set()
    logged = {name for point in training.points for name in point.means} if training else set()
    # a component may be called NAME_weight itself: then it has a reason, as a weight has not
    marked = {name.removesuffix(_WEIGHTS) for name in free if name.endswith(_WEIGHTS) and name + _REASON not in free}
    ours = {name for name in free if name in weighted or name + _REASON in free or name in weights or name in marked}
    # where weights stand beside them every component is known, and of other floats the total alone is a reward
    called = [name for name in free if name in logged] or [n for n in floats if not marked or n == "composite"]
    outside = [name for name in called if name not in ours]
    if ours and len(outside) == 1 and outside[0] == "composite":
        return [name for name in free if name in ours], outside[0]
    return [name for name in free if name in ours or name in called], None


def _file_rows(path: Path, training: Training | None, weights: Mapping[str, float]) -> Iterator[ReportRow]:
    with parquet_file(path) as file:
        yield from _table_rows(file, path, training, weights)


def _table_rows(
    file: ParquetFile, path: Path, training: Training | None, weights: Mapping[str, float]
) -> Iterator[ReportRow]:
    import pyarrow.types as types

    schema = file.schema_arrow
    if "completion" not in schema.names:
        raise InputError(f"no column 'completion' among {', '.join(schema.names)}", source=str(path))
    floats = [name for name in schema.names if name not in _TAKEN and types.is_floating(schema.field(name).type)]
    rewards, total = _reward_columns(schema.names, floats, training, weights)
    used = {
        *_TAKEN,
        "completion_ids",
        *rewards,
        *(name + end for name in rewards for end in (_REASON, _WEIGHTS)),
        total,
    }
    line = 0
    for batch in file.iter_batches(batch_size=_BATCH):
        for data in batch.to_pylist():
            line += 1
            step = number(data.get("step"))
            at = None if step is None else int(step)
            logged = training.weights_at(at) if training else {}
            parts = {
                name: _column_part(
                    data.get(name + _VALUE, data[name]),
                    _first(weights.get(name), number(data.get(name + _WEIGHTS)), logged.get(name), 1.0),
                    data.get(name + _REASON),
                )
                for name in rewards
            }
            given = [part.contribution for part in parts.values() if part.contribution is not None]
            # where nothing gave a value there is no reward, which is not a reward of 0
            summed = sum(given) if given else None
            yield ReportRow(
                line=line,
                prompt=data.get("prompt"),
                completion=data["completion"],
                reward=number(data[total]) if total is not None else summed,
                parts=parts,
                step=at,
                advantage=number(data.get("advantage")),
                left_out="" if given else _why_left_out(parts),
                columns={key: value for key, value in data.items() if key not in used},
            )


def _first(*found: float | None) -> float:
    return next(value for value in found if value is not None)


def _column_part(value: object, weight: float, cell: object) -> ComponentResult:
    """Return a component from its column and from its reason, which begins with any status but ``scored``."""
    found = number(value)
    head, _, rest = str(cell or "").partition(": ")
    status, reason = (head, rest) if head in CODES else ("", str(cell or ""))
    if found is None:
        known = status if status and status != "scored" else "not_applicable"
        if reason.startswith(_LEFT_OUT):
            known = "left_out"
        return ComponentResult(None, weight, None, None, known, reason)
    return ComponentResult(found, weight, None, found * weight, status or "scored", reason)


def _why_left_out(parts: Mapping[str, ComponentResult]) -> str:
    """Why a row without values counts nowhere; empty where only nothing applies to it."""
    for name, part in parts.items():
        if part.status == "left_out":
            return part.reason.removeprefix(_LEFT_OUT)
        if part.status == "error" or (part.status == "unavailable" and part.weight):
            return f"component {name!r} is {part.status}: {part.reason}"
    return ""


def _weight_notes(training: Training | None, weights: Mapping[str, float], file: Path) -> tuple[str, ...]:
    if weights or (training and (training.weights or any(point.weights for point in training.points))):
        return ()
    if any(name.endswith(_WEIGHTS) for name in _column_names(file)):
        return ()
    return ("The run did not record its weights: every reward counts with weight 1 here; set others with --weight.",)


def _column_names(file: Path) -> list[str]:
    """The columns of a parquet file; none where it cannot be read, which reading its rows will say."""
    try:
        with parquet_file(file) as opened:
            return list(opened.schema_arrow.names)
    except InputError:
        return []


# ---------------------------------------------------------------------------------------------- training folders


def _open_folder(path: Path, weights: Mapping[str, float]) -> ReportSource:
    training = read_training(path)
    files = completion_files(path)
    if training is None and not files:
        raise InputError(
            "no trainer_state.json, no checkpoint-*/trainer_state.json and no completions/*.parquet in this folder; "
            "train with log_completions=True to keep completions", source=str(path),
        )  # fmt: skip
    notes = list(_weight_notes(training, weights, files[0])) if files else []
    if not files:
        notes.append("The folder holds no completions; train with log_completions=True to keep them.")
    if training is None:
        notes.append("The folder holds no trainer_state.json yet; the training curves are drawn from the completions.")
    rows = _parquet_rows(files, training, weights) if files else iter(())
    return ReportSource(path.resolve().name, "training run", rows, training, tuple(notes))


def completion_files(path: Path) -> list[Path]:
    """The files of rows of a source: itself, or a training output folder's tables of completions."""
    if not path.is_dir():
        return [path]
    return sorted((path / "completions").glob("*.parquet")) or sorted(path.glob("completions*.parquet"))


def _training_beside(path: Path) -> Training | None:
    folder = path.resolve().parent
    # TRL writes its tables into a folder beside the state
    return read_training(folder.parent) if folder.name == "completions" else None


def read_training(folder: Path) -> Training | None:
    """Read the newest trainer_state.json of a training output folder; None where there is none.

    Raises:
        InputError: the file is not a trainer's state.
    """
    candidates = [folder / "trainer_state.json", *folder.glob("checkpoint-*/trainer_state.json")]
    states = [(path, _state(path)) for path in candidates if path.is_file()]
    if not states:
        return None
    # by step and not by time: a copied folder has the times of the copying
    _, state = max(states, key=lambda pair: number(pair[1].get("global_step")) or 0.0)
    points: dict[int, TrainingPoint] = {}
    history = state.get("log_history")
    entries = [entry for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []
    for entry in entries:
        if (point := _point(entry)) is not None:
            points[point.step] = point
    saved: object = state
    for key in ("stateful_callbacks", "grpo_rewards", "weights"):
        saved = saved.get(key) if isinstance(saved, dict) else None
    warnings = [
        # ``no_spread/math`` is read as ``no spread: math``
        (int(number(entry.get("step")) or 0), match[1].replace("_", " ") + (f": {match[2]}" if match[2] else ""))
        for entry in entries
        for key in entry
        if (match := _NOTICE.fullmatch(key))
    ]
    return Training(
        tuple(points[step] for step in sorted(points)),
        tuple(warnings),
        _numbers(saved),
    )


def _state(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))  # a trainer writes NaN, which orjson refuses
    except ValueError as error:
        raise InputError(f"not a trainer's state: {error}", source=str(path)) from None
    if not isinstance(found, dict):
        raise InputError("not a trainer's state: expected an object with 'log_history'", source=str(path))
    return found


def _numbers(data: object) -> dict[str, float]:
    pairs = data.items() if isinstance(data, dict) else ()
    return {str(name): found for name, value in pairs if (found := number(value)) is not None}


def _point(entry: Mapping[str, object]) -> TrainingPoint | None:
    step = number(entry.get("step"))
    means: dict[str, float] = {}
    weights: dict[str, float] = {}
    for key, value in entry.items():
        found = number(value)
        if found is None:
            continue
        if key.startswith("rewards/") and key.endswith("/mean"):  # an evaluation's keys begin with eval_
            means[key[8:-5]] = found
        elif match := _WEIGHT.fullmatch(key):
            weights[match[1]] = found
    if step is None or (not means and number(entry.get("reward")) is None):
        return None
    return TrainingPoint(
        step=int(step),
        reward=number(entry.get("reward")),
        reward_std=number(entry.get("reward_std")),
        flat_groups=number(entry.get("frac_reward_zero_std")),
        means=means,
        weights=weights,
    )
