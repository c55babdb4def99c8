"""What runs in an actor: composites, loaded once and kept warm with their sandboxes and pools, that evaluate rows."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from grpo_rewards._contract import Batch, Outcome
from grpo_rewards._tier.connection import ON_A_NODE
from grpo_rewards._tier.messages import pack_outcomes, unpack_rows
from grpo_rewards.cycles import freeze_gc
from grpo_rewards.slots import SHARED_BY, cores
from grpo_rewards.workers import unpickled

if TYPE_CHECKING:
    from ray import ObjectRef

_KEPT = 8  # composites of the runs that share the tier
_WATCH = 5.0  # seconds between looks at whether anybody still asks
_FAREWELL = 0.5  # seconds for the last answer to be on its way


class Evaluates(Protocol):
    """A composite, as an actor sees it."""

    def evaluate_parts(
        self, parts: Sequence[tuple[str, Batch]], *, timeout: float | None
    ) -> list[tuple[list[Outcome | None], float]]:
        """Return each part's outcomes, None where a row was not finished, and its seconds."""

    def hangs(self) -> bool:
        """Whether a call of a component hangs."""


class NotLoaded(Exception):
    """The composite was not sent along, and the actor has it no longer."""


class Retired(Exception):
    """The actor is about to end; its rows belong to another one."""


class Actor:
    """One actor. It ends when nobody has asked it for `idle` seconds, and when a row has left something in it that hangs."""

    def __init__(self, num_cpus: float, idle: float) -> None:
        os.environ[SHARED_BY] = str(max(1, round(cores() / max(num_cpus, 0.01))))  # its share of the node, for `slots`
        self._loaded: dict[str, Evaluates] = {}
        self._lock = threading.Lock()
        self._asked, self._busy, self._retired = time.monotonic(), 0, False
        self._wake = threading.Event()
        threading.Thread(target=self._watch, args=(idle,), daemon=True, name="grpo-rewards-idle").start()

    def ready(self) -> int:
        """Return the process's number, once it is there. Raises `Retired` when it ends."""
        if self._retired:
            raise Retired
        return os.getpid()

    def evaluate(self, key: str, composite: Sequence[ObjectRef[bytes]], *message: bytes) -> bytes:
        """Evaluate rows with the composite of that key, whose bytes `composite` refers to; empty where it is known here.

        Raises:
            ConfigError: it cannot be loaded on this node.
            NotLoaded: it is not known here after all.
            Retired: the actor ends.
        """
        with self._lock:
            if self._retired:
                raise Retired
            self._asked, self._busy = time.monotonic(), self._busy + 1
        try:
            found = self._load(key, composite)
            timeout, parts = unpack_rows(message)
            return pack_outcomes(found.evaluate_parts(parts, timeout=timeout))
        finally:
            with self._lock:
                self._asked, self._busy = time.monotonic(), self._busy - 1
                if key in self._loaded and self._loaded[key].hangs():
                    self._retired = True
                    self._wake.set()

    def _load(self, key: str, composite: Sequence[ObjectRef[bytes]]) -> Evaluates:
        with self._lock:
            if key not in self._loaded:
                import ray

                if not composite:
                    raise NotLoaded
                if len(self._loaded) >= _KEPT:
                    self._loaded.pop(next(iter(self._loaded)))
                self._loaded[key] = cast(Evaluates, unpickled(ray.get(composite[0]), **ON_A_NODE))
                freeze_gc()
            return self._loaded[key]

    def _watch(self, idle: float) -> None:
        while True:
            self._wake.wait(min(_WATCH, idle))
            with self._lock:
                over = not self._busy and (self._retired or time.monotonic() - self._asked > idle)
                self._retired = self._retired or over
            if over:
                time.sleep(_FAREWELL)
                os._exit(0)  # what hangs in a thread would keep any gentler end waiting
