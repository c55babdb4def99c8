"""What a sandbox backend is: `Backend`, where workers come from, and `Worker`, which judges one job at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

from ._job import Job, Verdict


class Worker(ABC):
    """A place that judges one job at a time.

    One thread asks it at a time; only `interrupt` may be called by another one meanwhile.
    """

    plan: Mapping[str, object] = MappingProxyType({})
    """What the worker found out about its isolation, as plain data."""

    @abstractmethod
    def run(self, job: Job) -> Verdict:
        """Judge a job, within its own limits of time.

        A worker that raises, or says ``unavailable``, is closed, and the job begins anew with another one, three times at most.

        Raises:
            OSError: the worker is broken, gone, or gives no sign of life.
        """

    def is_clean_in(self, seconds: float) -> bool:
        """Wait until nothing is left of the job whose verdict came; False, after so long at most, has the worker replaced."""
        return True

    @abstractmethod
    def interrupt(self) -> None:
        """End what runs now, in the middle of a job too: `run` then raises. For any thread, and more than once."""

    @abstractmethod
    def close(self) -> None:
        """End the worker and all below it; nothing of it stays."""

    def abandon(self) -> None:  # noqa: B027 - most workers share nothing with a forked child
        """In a forked child: close this process's copies of what belongs to the parent's worker, and end nothing."""


class Backend(ABC):
    """Where a sandbox's workers come from. Its options are the keywords of its constructor, each with a default.

    `spares` is how many workers are kept ready beyond those at work; `fresh` says that a worker serves one job only; `slots`
    is how many jobs there is room for at once where that is not on this machine.
    Workers are started by several threads at once.
    """

    name: str
    spares: int = 0
    fresh: bool = False
    slots: int | None = None

    @abstractmethod
    def start(self) -> Worker:
        """Start a worker that keeps what it runs away from this machine and from the tests.

        Raises:
            SandboxUnavailable: it cannot be had here; the text says why and what to do.
        """

    @abstractmethod
    def describe(self, worker: Worker) -> str:
        """Say in a line what `worker` keeps candidates apart with."""

    def after_fork(self) -> None:  # noqa: B027 - most backends hold nothing themselves
        """In a forked child: let go of what belongs to the parent."""

    def close(self) -> None:  # noqa: B027 - most backends hold nothing themselves
        """Every worker was closed: leave nothing behind."""
