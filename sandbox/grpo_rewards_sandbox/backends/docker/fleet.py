"""Several engines as one: containers go to the engine with the most free slots; one that does not answer is left out until it does."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from ..._errors import SandboxUnavailable
from . import image as images
from .engine import Engine, docker_py

_log = logging.getLogger(__name__)

_AGAIN = 5.0  # seconds before an engine that did not answer is asked again


class Host:
    """An engine of a fleet: its image, its slots (one for each of its processors), and the containers of ours on it."""

    def __init__(self, place: str | None, image: str | None, runtime: str | None) -> None:
        self.place, self._wanted, self._runtime = place, image, runtime
        self.engine: Engine | None = None
        self.image = ""
        self.slots = self.live = 0
        self.asked = 0.0
        self.problem = ""
        self._asking = threading.Lock()

    def connect(self) -> Engine:
        """Return the engine, connected, with an image on it.

        Raises:
            SandboxUnavailable: it cannot be had.
        """
        self.asked = time.monotonic()
        engine = Engine(self.place)
        try:
            with engine.answering("no sandbox"):
                if self._runtime is not None:
                    engine.check_runtime(self._runtime)
                engine.sweep()
                self.image = images.checked(engine, self._wanted) if self._wanted else images.find(engine)
                self.slots = max(1, int(engine.client.info().get("NCPU") or 1))
        except BaseException:
            engine.close()
            raise
        self.engine, self.problem = engine, ""
        return engine

    def answers(self, *, wait: bool) -> bool:
        """Whether it did when last asked. One that did not is asked again after a while, by one thread: `wait` for its answer?"""
        if self.engine is None and self._asking.acquire(blocking=wait):
            try:
                if self.engine is None and time.monotonic() - self.asked >= _AGAIN:
                    self.connect()
            except SandboxUnavailable as error:
                self.down(str(error))
            finally:
                self._asking.release()
        return self.engine is not None

    def free(self) -> int:
        """How many slots nobody's containers have taken, other machines' included; may be negative."""
        if (engine := self.engine) is None:
            raise SandboxUnavailable(self.problem)
        with engine.answering("nobody knows the free slots"):
            return self.slots - engine.running()

    def down(self, problem: str) -> None:
        """Leave it out until it answers again."""
        if self.engine is not None:
            _log.warning("the Docker engine at %s is left out: %s", self.engine.place, problem[:300])
            self.engine.close()
        self.engine, self.problem, self.asked = None, problem, time.monotonic()


class Fleet:
    """The engines of a backend.

    Raises:
        SandboxUnavailable: none of them can be had; the text says why of each.
    """

    def __init__(self, places: Sequence[str | None], image: str | None, runtime: str | None) -> None:
        docker_py()  # lacking, it is no engine's fault
        self.hosts = [Host(place, image, runtime) for place in places]
        self._lock = threading.Lock()
        for host in self.hosts:
            try:
                host.connect()
            except SandboxUnavailable as error:
                if len(self.hosts) == 1:
                    raise
                host.down(str(error))
                _log.warning("the Docker engine at %s is left out: %s", host.place, str(error)[:300])
        if not self.up:
            raise SandboxUnavailable(self._why())

    @property
    def up(self) -> list[Host]:
        """The engines that answered when last asked."""
        return [host for host in self.hosts if host.engine is not None]

    def _why(self) -> str:
        return "no Docker engine answers. " + "; ".join(f"{host.place}: {host.problem[:200]}" for host in self.hosts)

    def by_room(self) -> list[Host]:
        """Return the engines that answer, those with most free slots first.

        Raises:
            SandboxUnavailable: there is none.
        """
        if len(self.hosts) == 1:
            if not self.up:
                self.hosts[0].connect()
            return self.hosts
        # an engine that hangs must hold up the thread that asks it, and no other as long as there is another engine
        room = self._room(wait=False) or self._room(wait=True)
        if not room:
            raise SandboxUnavailable(self._why())
        # `live` too: what was started a moment ago the engine may not list yet
        return [host for _, host in sorted(room, key=lambda pair: (-pair[0], pair[1].live))]

    def _room(self, *, wait: bool) -> list[tuple[int, Host]]:
        room: list[tuple[int, Host]] = []
        for host in self.hosts:
            if host.answers(wait=wait):
                try:
                    room.append((host.free(), host))
                except SandboxUnavailable as error:
                    host.down(str(error))
        return room

    def crowded(self, host: Host) -> bool:
        """Whether a container of ours had better be on another engine: this one is over its slots, and one has room."""
        if len(self.hosts) == 1 or host.live <= host.slots:
            return False
        try:
            best = self.by_room()[0]
            return best is not host and best.free() > 0
        except SandboxUnavailable:
            return False

    def count(self, host: Host, change: int) -> None:
        """Take note of a container that was started or closed."""
        with self._lock:
            host.live += change
