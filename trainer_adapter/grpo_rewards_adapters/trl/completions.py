"""What a trainer's completions files need to be scored again, added to them once they are written.

TRL prints every column that a reward function logs for its completions, so reasons and whole test files would fill its
console table. Component values go that way; everything else is added to the parquet file afterwards.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import cast

from grpo_rewards import completion_text
from grpo_rewards.types import Component, ScoredCall
from grpo_rewards_adapters.trl.trainer import Callback, State, TrainerArguments

_log = logging.getLogger(__name__)

# columns that the trainer writes itself
_TRAINERS = ("step", "prompt", "completion", "advantage")
_NOT_DATA = ("prompt", "prompts", "environments")  # stands there already, or is no data
_COMPLETION = "completion"
_REASON = 300  # characters of a reason


def logged_columns(components: Sequence[Component], found: ScoredCall) -> dict[str, Sequence[object]]:
    """Return the columns that go with a call's rows: what the components read, and why and by which weight they judged."""
    batch, table = found.batch, found.table
    names: dict[str, None] = {}
    for component in components:
        if component.reward.shape.takes_rest:
            names.update(dict.fromkeys(batch.columns))
        names.update(dict.fromkeys((*component.columns, *component.reward.optional_columns)))
    read = {name: batch.column(name) for name in names if name not in _NOT_DATA}
    columns: dict[str, Sequence[object]] = {name: list(values) for name, values in read.items() if values is not None}
    if batch.completion_ids is not None:
        columns["completion_tokens"] = [len(cast(Sized, ids)) for ids in batch.completion_ids]
    for name, outcomes in table.components.items():
        reasons = [o.reason if o.status == "scored" else _unscored(o.status, o.reason) for o in outcomes]
        columns[f"{name}_reason"] = [reason[:_REASON] for reason in reasons]
        columns[f"{name}_weight"] = [table.weights[name]] * len(table)
    return columns


def _unscored(status: str, reason: str) -> str:
    return f"{status}: {reason}" if reason else status


class CompletionsFiles(Callback):
    """Keeps the further columns of the latest rows, and adds them to the file of those rows; a callback of the trainer.

    A file is written after the event ``on_log`` and before any other.
    """

    def __init__(self, folder: Path, *, rows: int) -> None:
        self._folder = folder
        self._kept: deque[dict[str, object]] = deque(maxlen=rows)
        self._written: int | None = None
        self._warned: set[str] = set()

    def keep(self, texts: Sequence[str], columns: Mapping[str, Sequence[object]]) -> None:
        """Keep the rows of a reward call: the completions' texts, and the columns to add."""
        for row, text in enumerate(texts):
            self._kept.append({_COMPLETION: text, **{name: values[row] for name, values in columns.items()}})

    def on_log(self, args: TrainerArguments, state: State, control: object, **_: object) -> None:
        """Note that the file of this step is written now."""
        self._written = int(state.global_step)

    def other_event(self, event: str, args: TrainerArguments, state: State, control: object, **_: object) -> None:
        """Complete the file that was written since the last event."""
        if self._written is not None:
            step, self._written = self._written, None
            self._complete(self._folder / f"completions_{step:05d}.parquet")

    def _complete(self, file: Path) -> None:
        if not file.is_file():
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        # the trainer writes its latest rows; here are more where it does not say how many it keeps
        rows = list(self._kept)[-len(table) :]
        texts = [completion_text(completion) for completion in table.column(_COMPLETION).to_pylist()]
        # a reason beside another row's completion would be worse than none
        if [row[_COMPLETION] for row in rows] != texts:
            self._warn_once(f"{file} holds other rows than the latest that were scored; nothing was added to it")
            return
        # calls of training and of evaluation may have brought different columns
        for name in dict.fromkeys(name for row in rows for name in row if name not in _TRAINERS):
            try:
                values = pa.array([row.get(name) for row in rows])
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                self._warn_once(f"the column {name!r} cannot be written to the completions files: {error}")
                continue
            if name in table.column_names:  # a component's value, called like the column that it reads
                free = f"{name}_value"
                table = table.rename_columns([free if known == name else known for known in table.column_names])
            table = table.append_column(name, values)
        # who reads *.parquet while the run goes on never meets half a file
        draft = file.with_suffix(".part")
        pq.write_table(table, draft)
        os.replace(draft, file)

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            _log.warning("%s", text)
