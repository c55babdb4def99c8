"""The actors of a tier: which nodes they may stand on, how many there are to be, which are ready."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from grpo_rewards._tier.actor import Actor, Retired
from grpo_rewards._tier.settings import ScaleConfig
from grpo_rewards._version import __version__

if TYPE_CHECKING:
    from types import ModuleType

    from ray.actor import ActorHandle

_log = logging.getLogger(__name__)

NAMESPACE = "grpo-rewards"
_LOOK = 2.0  # seconds between looks at the cluster's nodes
_AGAIN = 20.0  # seconds before a node on which an actor could not start is tried again
_AT_ONCE = 2  # messages at an actor: one at work, one behind it
_THREADS = 16  # messages that run side by side in an actor whose earlier ones hang


class NodeInfo(TypedDict):
    """A node as ``ray.nodes()`` describes it, as far as it is read here."""

    NodeID: str
    Alive: bool
    Resources: Mapping[str, float]


@dataclass(slots=True, eq=False)
class Member:
    """An actor: its handle, the node that it is on, and when each message that is with it was sent (by this process).

    `loaded` says that it has this process's composite, which then need not go along: Ray keeps books of references that are lent.
    """

    name: str
    node: str
    handle: ActorHandle[Actor]
    sent: dict[object, float] = field(default_factory=dict)
    loaded: bool = False

    def room(self, patience: float) -> int:
        """How many more messages it may have; those that have taken longer than `patience` seconds do not count."""
        late = time.monotonic() - patience
        fresh = sum(1 for since in list(self.sent.values()) if since > late)
        return min(_AT_ONCE - fresh, _THREADS - len(self.sent))


def places(nodes: list[NodeInfo], settings: ScaleConfig) -> list[tuple[str, int]]:
    """Return the places for actors as (node, number on it), taking turns over the nodes, no more than asked for."""
    room: dict[str, int] = {}
    for node in nodes:
        has = node["Resources"]
        if not node["Alive"] or (has.get("GPU", 0) > 0 and not settings.gpu_nodes):
            continue
        wanted = {"CPU": settings.num_cpus, **settings.resources}
        room[node["NodeID"]] = min(int(has.get(name, 0) / much + 1e-9) for name, much in wanted.items() if much > 0)
    found = [
        (node, number)
        for number in range(max(room.values(), default=0))
        for node in sorted(room)
        if number < room[node]
    ]
    return found if settings.actors is None else found[: settings.actors]


class Actors:
    """The actors of a tier as this process sees them; other processes see the same ones, by their names."""

    def __init__(self, ray: ModuleType, settings: ScaleConfig) -> None:
        self._ray = ray
        self._settings = settings
        self._class = ray.remote(Actor)
        self.lock = threading.RLock()
        self.ready: dict[str, Member] = {}
        self._starting: dict[object, Member] = {}
        self._looked = 0.0
        self._refused: dict[str, float] = {}
        self.problem = ""
        if settings.actors is not None:
            self._ask_for(settings.actors)

    def _ask_for(self, actors: int) -> None:
        """Let an autoscaling cluster know how much is wanted; any other takes no notice."""
        from ray.autoscaler.sdk import request_resources

        each = {"CPU": self._settings.num_cpus, **self._settings.resources}
        try:
            request_resources(bundles=[dict(each) for _ in range(actors)])
        except Exception as error:  # noqa: BLE001 - Ray raises what its cluster's kind makes it raise
            _log.debug("the cluster was not asked for nodes: %s", error)

    def look(self, *, now: bool = False) -> None:
        """Begin actors where there is room for them, and take in those that are ready."""
        with self.lock:
            if now or time.monotonic() - self._looked > _LOOK:
                self._looked = time.monotonic()
                self._begin()
            if self._starting:
                begun, _ = self._ray.wait(list(self._starting), num_returns=len(self._starting), timeout=0)
                for reference in begun:
                    self._take_in(reference)

    def _begin(self) -> None:
        nodes = self._ray.nodes()
        alive = {node["NodeID"] for node in nodes if node["Alive"]}
        for member in [member for member in self.ready.values() if member.node not in alive]:
            del self.ready[member.name]
        taken = {member.name for member in (*self.ready.values(), *self._starting.values())}
        settings = self._settings
        for node, number in places(nodes, settings):
            resources = ",".join(f"{name}={much:g}" for name, much in sorted(settings.resources.items()))
            name = f"{settings.name}/{__version__}/{settings.num_cpus:g}/{resources}/{node[:16]}/{number}"
            if name in taken or self._refused.get(node, 0.0) > time.monotonic():
                continue
            on_node = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
            handle = self._class.options(
                name=name, namespace=NAMESPACE, get_if_exists=True, lifetime="detached", num_cpus=settings.num_cpus,
                resources=dict(settings.resources), max_restarts=0, max_task_retries=0, max_concurrency=_THREADS,
                scheduling_strategy=on_node,
            ).remote(settings.num_cpus, settings.idle)  # fmt: skip
            self._starting[handle.ready.remote()] = Member(name, node, handle)

    def _take_in(self, reference: object) -> None:
        member = self._starting.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            # a name that its dead or dying bearer still has
            gone = isinstance(error, self._ray.exceptions.RayActorError) or isinstance(
                getattr(error, "cause", None), Retired
            )
            if not gone:
                self.problem = str(error).strip().splitlines()[-1][:300]
            self._refused[member.node] = time.monotonic() + (1.0 if gone else _AGAIN)
            _log.debug("no actor on node %s: %s", member.node, error)
            return
        self.ready[member.name] = member

    def freest(self, patience: float) -> Member | None:
        """Return the actor with the most room, or None."""
        with self.lock:
            best = max(self.ready.values(), key=lambda member: member.room(patience), default=None)
            return best if best is not None and best.room(patience) > 0 else None

    def lost(self, member: Member) -> None:
        """Take note that an actor is gone: the next look begins another one in its place."""
        with self.lock:
            if self.ready.get(member.name) is member:
                del self.ready[member.name]
            self._looked = 0.0

    def starting(self) -> list[object]:
        """Return what becomes ready when an actor has started."""
        with self.lock:
            return list(self._starting)

    def end(self) -> None:
        """End every actor, for all processes that share them."""
        with self.lock:
            for member in (*self.ready.values(), *self._starting.values()):
                self._ray.kill(member.handle)
            self.ready.clear()
            self._starting.clear()
