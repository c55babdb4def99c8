"""Scoring on a Ray cluster: chunks are tasks, a bounded window of them in flight; a lost node loses nothing.

The cluster is the one that ``RAY_ADDRESS`` names, else a local one of this machine's cores, started here and ended with
the run. A task that died with its node is sent again to another; one whose worker was ended by a row is taken apart until the row is
found, as on one machine. Rewards given as files (``./rewards.py:name``) must lie at the same path on every node.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import cast

from grpo_rewards._composition import Composite
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.executors.recovery import score_in_window
from grpo_rewards._scoring.scored import ScoredChunk, score_samples
from grpo_rewards._tier.connection import ON_A_NODE, connect
from grpo_rewards.errors import ConfigError, InfrastructureError
from grpo_rewards.slots import shared_by
from grpo_rewards.workers import WorkerLost, pickled, unpickled

_log = logging.getLogger(__name__)

_LOST_NODES = 5  # as often one chunk may lose the node that it is on before the run gives up


def on_ray(composite: Composite, chunks: Iterable[Chunk], workers: int) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score on a Ray cluster with `workers` tasks at a time; fewer than two: as many as the cluster has processors.

    Raises:
        ConfigError: Ray is not installed, or the rewards cannot be sent to another process.
        InfrastructureError: there is no cluster at ``RAY_ADDRESS``, or it keeps losing its nodes.
    """
    ray, ours = connect("--executor ray")
    try:
        yield from _Cluster(ray, composite, workers).score(chunks)
    finally:
        if ours:
            ray.shutdown()


# ------------------------------------------------------------------------------------------------ in the worker

_loaded: dict[str, Composite] = {}


def _score_in_task(composite: bytes, key: str, environment: dict[str, str], samples: list[Sample]) -> ScoredChunk:
    """Score samples with the composite, which a worker loads once."""
    os.environ.update(environment)
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = cast(Composite, unpickled(composite, **ON_A_NODE))
    return score_samples(_loaded[key], samples)


# ------------------------------------------------------------------------------------------------ in the driver


class _Cluster:
    """Chunks as tasks, and what to do when one is lost."""

    def __init__(self, ray: ModuleType, composite: Composite, workers: int) -> None:
        self._ray = ray
        self._composite = composite
        # sent with every task: a few kilobytes, and no object of ours that a node could fail to fetch
        self._pickled, self._key = pickled(composite, "score with --executor local --workers 1")
        # no retries of Ray's own: a row that ends its worker would end one after another, and here it is searched for
        self._task = ray.remote(max_retries=0, num_cpus=1)(_score_in_task)
        self._workers = workers if workers > 1 else max(1, int(ray.cluster_resources().get("CPU", 1)))

    def score(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ScoredChunk]]:
        return score_in_window(
            self._composite,
            chunks,
            workers=self._workers,
            submit=self._submit,
            result=self._result,
            wait=lambda references: self._ray.wait(references)[0],
        )

    def _submit(self, samples: list[Sample]) -> object:
        return self._task.remote(self._pickled, self._key, shared_by(self._workers), samples)

    def _result(self, reference: object, samples: list[Sample]) -> ScoredChunk:
        """Wait for a task; send it again when its node was lost.

        Raises:
            WorkerLost: the worker ended while it scored.
        """
        errors = self._ray.exceptions
        for _ in range(_LOST_NODES):
            try:
                found: ScoredChunk = self._ray.get(reference)
                return found
            except (errors.NodeDiedError, errors.LocalRayletDiedError, errors.ObjectLostError) as error:
                # Also from within the task, where its node could not fetch the rows: before what the task itself raised.
                _log.warning("a node of the cluster was lost (%s); its rows are sent to another", type(error).__name__)
                reference = self._submit(samples)
            except errors.RayTaskError as error:  # raised in the task, not by it being lost
                if isinstance(error.cause, ConfigError):
                    raise ConfigError(str(error.cause)) from None
                raise
            except errors.OutOfMemoryError:
                raise WorkerLost("the worker was ended for want of memory on its node") from None
            except errors.WorkerCrashedError:
                raise WorkerLost("the worker process died") from None
        raise InfrastructureError(
            f"the cluster lost {_LOST_NODES} nodes one after another under the same rows; what is done is kept, go on with --resume"
        )
