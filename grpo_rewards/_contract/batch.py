"""The rows of one call, column by column, as TRL hands them over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import repeat
from typing import Any

import orjson

from grpo_rewards._contract.text import completion_messages, completion_text
from grpo_rewards.errors import InputError

TRAINER_ARGUMENTS = ("trainer_state", "log_extra", "log_metric")
"""What a trainer adds to the columns: its state and two functions that log."""


def _log_nowhere(*_args: object, **_kwargs: object) -> None:
    """Stand in for ``log_extra`` and ``log_metric`` where no trainer gave them."""


def _no_trainer() -> dict[str, Any]:
    return {"trainer_state": None, "log_extra": _log_nowhere, "log_metric": _log_nowhere}


@dataclass(frozen=True)
class Batch:
    """`size` rows as equally long columns.

    `completions` holds a string or a list of messages per row; `prompts` the same, or is None when there is none;
    `completion_ids` holds token ids per row, or is None; `columns` maps every further column to its values.
    `grouping`, where given, holds a key per row that says which group it is in, whatever the columns say: a trainer's
    groups are blocks of its `group_size`, which equal prompts are not (two rows of the data may have the same one). Where
    the size is known and `grouping` is not, other processes hold the rest of a group.
    """

    completions: Sequence[object]
    prompts: Sequence[object] | None = None
    completion_ids: Sequence[object] | None = None
    columns: Mapping[str, Sequence[object]] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=_no_trainer)
    grouping: Sequence[object] | None = None
    group_size: int | None = None

    @classmethod
    def from_call(
        cls,
        *,
        completions: Sequence[object],
        prompts: Sequence[object] | None = None,
        completion_ids: Sequence[object] | None = None,
        **columns: Any,
    ) -> Batch:
        """Build a batch from the keywords of TRL's reward call.

        Raises:
            InputError: a column is not a list, or not as long as `completions`.
        """
        trainer = _no_trainer()
        for name in TRAINER_ARGUMENTS:
            if (given := columns.pop(name, None)) is not None:
                trainer[name] = given
        # beside the prompts of all rows, one that is the group's is no column
        if prompts is not None:
            columns.pop("prompt", None)
        size = _length("completions", completions)
        for name, values in (("prompts", prompts), ("completion_ids", completion_ids), *columns.items()):
            if values is not None and _length(name, values) != size:
                raise InputError(
                    f"column {name!r} has {len(values)} values for {size} completions; every column needs one value "
                    f"per completion (repeat a prompt's columns for each completion of its group)"
                )
        columns = {name: values for name, values in columns.items() if values is not None}
        return cls(completions, prompts, completion_ids, columns, trainer)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, object]],
        *,
        columns: Iterable[str] = (),
        grouping: Sequence[object] | None = None,
    ) -> Batch:
        """Build a batch from row mappings with ``completion``, optionally ``prompt`` and ``completion_ids``, and columns.

        A column that some rows lack is None in those; one of `columns` even where all rows lack it.

        Raises:
            InputError: a row has no ``completion``.
        """
        rows = list(rows)
        names: dict[str, None] = {}
        known: object = None
        for index, row in enumerate(rows):
            if (keys := tuple(row)) != known:  # nearly every row has the keys of the one before
                known = keys
                names.update(dict.fromkeys(row))
            if "completion" not in row:
                raise InputError(f"row {index} has no 'completion', only {', '.join(sorted(row)) or 'nothing'}")
        names.update(dict.fromkeys(columns))
        completions = [row["completion"] for row in rows]
        prompts = [row.get("prompt") for row in rows] if "prompt" in names else None
        ids = [row.get("completion_ids") for row in rows] if "completion_ids" in names else None
        reserved = {"completion", "prompt", "completion_ids"}
        found = {name: [row.get(name) for row in rows] for name in names if name not in reserved}
        return cls(completions, prompts, ids, found, grouping=grouping)

    @classmethod
    def joined(cls, batches: Sequence[Batch], *, grouping: Sequence[object] | None) -> Batch:
        """Return the rows of several batches as one; a column that only some of them have is None in the others' rows."""

        def joined(parts: Sequence[Sequence[object] | None]) -> list[object] | None:
            if all(part is None for part in parts):
                return None
            each = zip(batches, parts, strict=True)
            return [value for batch, part in each for value in (repeat(None, len(batch)) if part is None else part)]

        names = dict.fromkeys(name for batch in batches for name in batch.columns)
        columns = {name: joined([batch.columns.get(name) for batch in batches]) or [] for name in names}
        completions = [completion for batch in batches for completion in batch.completions]
        prompts, ids = joined([batch.prompts for batch in batches]), joined([batch.completion_ids for batch in batches])
        return cls(completions, prompts, ids, columns, grouping=grouping)

    def __len__(self) -> int:
        return len(self.completions)

    @cached_property
    def rows(self) -> range:
        """The numbers of all rows."""
        return range(len(self.completions))

    @cached_property
    def texts(self) -> list[str]:
        """The text of the last assistant message of each completion."""
        return [text if isinstance(text, str) else completion_text(text) for text in self.completions]

    @cached_property
    def messages(self) -> list[list[dict[str, object]]]:
        """Each completion as a list of messages."""
        return [completion_messages(completion) for completion in self.completions]

    def in_groups_of(self, size: int | None) -> Batch:
        """Return the batch with its groups known to be blocks of `size` rows; nothing is known of them with None.

        Raises:
            InputError: `size` is less than 1.
        """
        if size is None:
            return self
        check_group_size(size)
        blocks = None if len(self) % size else [row // size for row in range(len(self))]  # None: others hold the rest
        return replace(self, group_size=size, grouping=blocks)

    @cached_property
    def groups(self) -> list[list[int]]:
        """The rows of each group, in order of first appearance: by `grouping`, else the column ``group_id``, else equal prompts.

        Where they cannot be known (`ungrouped`), each row is a group of its own.
        """
        return self._groups_or_why[0]

    @property
    def ungrouped(self) -> str:
        """Why the groups cannot be known, or an empty string."""
        return self._groups_or_why[1]

    @cached_property
    def _groups_or_why(self) -> tuple[list[list[int]], str]:
        keys, why = self.grouping if self.grouping is not None else self.columns.get("group_id"), ""
        by_prompt = keys is None
        if by_prompt and len(self) > 1:
            if self.group_size is not None:
                why = incomplete_groups(len(self), self.group_size)
            elif self.prompts is None:
                why = "the data have neither a column group_id nor prompts"
            keys = self.prompts
        if keys is not None and not why:
            try:
                found = rows_by_key(keys)
            except TypeError as error:
                why = f"a prompt cannot be compared with others: {error}"
            else:
                # two rows of the data with one prompt would be one larger group, and a trainer's are equally large
                if not (by_prompt and self.trainer["trainer_state"] is not None and len(set(map(len, found))) > 1):
                    return found, ""
                why = "the trainer does not show its group size, and the rows with one prompt are not equally many"
        return [[row] for row in range(len(self))], why

    @cached_property
    def repeated(self) -> list[list[int]]:
        """The rows of each text that several rows have."""
        texts = self.texts
        if len(set(texts)) == len(texts):  # the usual case, seen without a look at each row
            return []
        first: dict[str, int] = {}
        places: dict[int, list[int]] = {}
        for row, text in enumerate(texts):
            if (known := first.setdefault(text, row)) != row:
                places.setdefault(known, [known]).append(row)
        return [places[row] for row in sorted(places)]

    @property
    def available(self) -> list[str]:
        """The names that a configuration may refer to: ``prompt`` and ``completion_ids`` when there, and the columns."""
        names = list(self.columns)
        if self.completion_ids is not None:
            names.append("completion_ids")
        if self.prompts is not None:
            names.append("prompt")
        return names

    def check_groups(self, reward: str) -> None:
        """Raise `InputError` for a `reward` that compares the rows of a group, when the groups cannot be known."""
        if self.ungrouped:
            raise groups_unknown(reward, self.ungrouped)

    def column(self, name: str) -> Sequence[object] | None:
        """Return the values of a dataset column, or of ``prompt`` or ``completion_ids``, or None."""
        if name in self.columns:
            return self.columns[name]
        if name in ("prompt", "prompts"):
            return self.prompts
        if name == "completion_ids":
            return self.completion_ids
        return None

    def select(self, rows: Sequence[int], *, columns: Collection[str] | None = None) -> Batch:
        """Return the batch of the given rows, in that order; only with the columns named, where some are."""

        # a run of rows is one copy
        run = slice(rows.start, rows.stop) if isinstance(rows, range) and rows.step == 1 else None

        def picked(values: Sequence[object]) -> list[object]:
            return values[run] if run is not None and type(values) is list else [values[row] for row in rows]

        def pick(values: Sequence[object] | None) -> list[object] | None:
            return None if values is None else picked(values)

        wanted = self.columns if columns is None else [name for name in self.columns if name in columns]
        prompts = pick(self.prompts) if columns is None or "prompt" in columns or "prompts" in columns else None
        ids = pick(self.completion_ids) if columns is None or "completion_ids" in columns else None
        named = {name: picked(self.columns[name]) for name in wanted}
        batch = Batch(picked(self.completions), prompts, ids, named, self.trainer, pick(self.grouping), self.group_size)
        if "texts" in self.__dict__:
            # where cached_property keeps them: worked out once for all components
            batch.__dict__["texts"] = pick(self.texts)
        return batch

    def renamed(self, columns: Mapping[str, str]) -> Batch:
        """Return the batch as seen by a reward whose column ``k`` is the data's column ``columns[k]``."""
        if not columns:
            return self
        renamed = dict(self.columns)
        for wanted, actual in columns.items():
            values = self.column(actual)
            if values is None:
                renamed.pop(wanted, None)
            else:
                renamed[wanted] = values
        batch = Batch(
            self.completions, self.prompts, self.completion_ids, renamed, self.trainer, self.grouping, self.group_size
        )
        if "texts" in self.__dict__:
            batch.__dict__["texts"] = self.texts
        return batch

    @property
    def log_metric(self) -> Callable[[str, float], None]:
        """The trainer's function that logs a number, or one that does nothing."""
        return self.trainer["log_metric"]  # type: ignore[no-any-return]

    @property
    def log_extra(self) -> Callable[[str, list[object]], None]:
        """The trainer's function that logs a column of the completions table, or one that does nothing."""
        return self.trainer["log_extra"]  # type: ignore[no-any-return]


def check_group_size(size: int) -> None:
    """Raise `InputError` for groups of no row."""
    if size < 1:
        raise InputError(f"group_size is how many rows form one group: 1 or more, not {size}")


def incomplete_groups(rows: int, group_size: int) -> str:
    """Say why the groups of so many rows cannot be known where each has `group_size`."""
    return (
        f"{rows} rows are no whole number of groups of {group_size}, and the rest lies on other processes or is missing"
    )


def groups_unknown(reward: str, why: str) -> InputError:
    """Return the error for a `reward` that compares the rows of a group, when the groups cannot be known."""
    return InputError(
        f"{reward} compares the completions of a group, and the groups cannot be known here: {why}. "
        f"Give the data a column group_id, the same in all rows of a group, or leave the reward out"
    )


def _length(name: str, values: object) -> int:
    if (
        isinstance(values, str | bytes | Mapping)
        or not hasattr(values, "__len__")
        or not hasattr(values, "__getitem__")
    ):
        raise InputError(f"{name!r} must be a list with one value per completion, not {type(values).__name__}")
    return len(values)


def rows_by_key(keys: Iterable[object]) -> list[list[int]]:
    """Return the rows of each key, in order of first appearance. Raises TypeError where a key cannot be compared by content."""
    groups: dict[object, list[int]] = {}
    members: list[int] = []
    before: object = groups  # no key is this
    for index, key in enumerate(keys):
        if key is not before:  # the rows of a group mostly share one object, which is keyed once
            members, before = groups.setdefault(group_key(key), []), key
        members.append(index)
    return list(groups.values())


def group_key(key: object) -> object:
    """Make a prompt usable as a key: messages are lists of mappings, which cannot be hashed.

    Raises:
        TypeError: it holds what cannot be compared by content.
    """
    if type(key) in (str, int, float):
        return key
    try:  # JSON text is many times quicker than a repr
        return orjson.dumps(key, default=_content, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError) as error:
        if error.__cause__ is not None:  # what `_content` says
            raise TypeError(str(error.__cause__)) from None
        return repr(key)  # plain data that JSON cannot hold


def _content(value: object) -> object:
    """Return the content of a value that JSON does not know: an image's pixels, the repr of what defines equality."""
    if callable(pixels := getattr(value, "tobytes", None)):
        shape = [str(getattr(value, name, "")) for name in ("size", "shape", "mode", "dtype")]
        return [type(value).__qualname__, *shape, blake2b(pixels(), digest_size=16).hexdigest()]
    if getattr(type(value), "__eq__", None) is object.__eq__:
        raise TypeError(f"it holds a {type(value).__name__}, which is equal to itself alone")
    return [type(value).__qualname__, repr(value)]
