"""The columns of a file against a composition, before its first row is scored."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from grpo_rewards._composition import Composite
from grpo_rewards._contract import Batch
from grpo_rewards._scoring.chunks import Chunk
from grpo_rewards._scoring.reading import Source, open_source

__all__ = ["available_columns", "checked"]


def checked(chunks: Iterator[Chunk], composite: Composite, source: Source, path: str | Path) -> Iterator[Chunk]:
    """Return the chunks of the file at `path`, once the first one is known to have the columns that its rows need.

    Raises:
        ColumnError: a column is missing.
    """
    ahead: list[Chunk] = []
    for chunk in chunks:
        ahead.append(chunk)
        if chunk.samples:
            batch = chunk.batch()
            composite.check_columns(available_columns(batch, composite, source, path), batch=batch)
            break
    return chain(ahead, chunks)


def available_columns(batch: Batch, composite: Composite, source: Source, path: str | Path) -> list[str]:
    """Return the columns of a file's first rows, and those that the configuration names and a later row has.

    In JSONL rows may leave out what they do not have, so all of the file is looked through; except for a stream, which
    cannot be read twice.
    """
    found = batch.available
    left = {column for component in composite.components for column in component.named.values()}.difference(found)
    if not left or source.columns is not None or str(path) == "-":
        return found
    for row in open_source(path).rows():
        if row.data is not None and (there := left.intersection(row.data)):
            found = [*found, *there]
            left -= there
            if not left:
                break
    return found
