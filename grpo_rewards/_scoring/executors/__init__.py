"""Where chunks are scored: on this machine, or on a Ray cluster.

An executor is a function from a composite and chunks to pairs of chunk and output, in the order of the chunks. It
asks for the next chunk only when there is room for it, so that memory stays flat, and writes the same bytes as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from grpo_rewards._composition import Composite
from grpo_rewards._scoring.chunks import Chunk
from grpo_rewards._scoring.executors.local import local
from grpo_rewards._scoring.executors.on_ray import on_ray
from grpo_rewards._scoring.scored import ScoredChunk

__all__ = ["EXECUTORS", "Executor"]

Executor = Callable[[Composite, Iterable[Chunk], int], Iterator[tuple[Chunk, ScoredChunk]]]
"""Called with the composite, the chunks and the number of workers."""

EXECUTORS: dict[str, Executor] = {"local": local, "ray": on_ray}
