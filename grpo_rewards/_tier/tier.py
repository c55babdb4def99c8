"""The caller's side of a tier: a batch's rows go out by component, and their outcomes come in, whatever dies meanwhile.

`score` has a way of its own for rows whose process died (`_scoring.executors.recovery`): there a chunk is scored by all
components or not at all, has no deadline, and the row that ends its process is searched for and marked as broken in the file. Here
messages hold rows of single components, are cut by what they cost, and what is not back at the deadline is ``unavailable``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from grpo_rewards._contract import Batch, Outcome, Reward
from grpo_rewards._tier.connection import connect
from grpo_rewards._tier.messages import counted, pack_rows, unpack_outcomes
from grpo_rewards._tier.nodes import Actors, Member, places
from grpo_rewards._tier.settings import ScaleConfig
from grpo_rewards.cycles import relaxed_gc
from grpo_rewards.errors import ConfigError
from grpo_rewards.workers import pickled

_log = logging.getLogger(__name__)

_MESSAGE = 0.2  # seconds of work that a message holds: what it costs to send one is a hundredth of that
_LEAST = 0.05  # seconds of work for each actor from which on rows are spread: sending takes a twentieth of that
_GUESS = 0.005  # seconds for a row of a component that was not measured yet
_SPLIT = 8  # pieces of a message whose actor died twice
_STARTING = 4  # times `grace` that rows wait for actors that are being started
_DEATHS = 4  # so many actors that a unit, alone in its message, may outlive
_PATIENCE = 5.0  # seconds, where there is no deadline, after which a message is taken to hang
_POLL = 0.5  # seconds between looks at the cluster while waiting
_MARGIN = 0.05  # share of the time left, a second at most, that an actor's answer gets for its way back


@dataclass(slots=True, eq=False)
class ComponentRows:
    """One component's rows: `units` are those that must stay together (single rows, or groups); outcomes go to `into`.

    `reads` names the columns that it looks at beside the text (``completion``: the messages; ``len(completion_ids)``: how many
    token ids, not which); None: all there are.
    """

    name: str
    batch: Batch
    units: Sequence[Sequence[int]]
    into: list[Outcome | None]
    reads: frozenset[str] | None
    seconds: float = 0.0


@dataclass(eq=False)
class _Piece:
    part: ComponentRows
    units: Sequence[Sequence[int]]
    cost: float

    @cached_property
    def rows(self) -> Sequence[int]:
        found = [row for unit in self.units for row in unit]
        run = range(found[0], found[0] + len(found)) if found else range(0)
        return run if found == list(run) else found

    def batch(self) -> Batch:
        """The rows, with the columns that are read."""
        whole, rows, reads = self.part.batch, self.rows, self.part.reads
        if reads is None:
            return whole if len(rows) == len(whole) else whole.select(rows)
        found = whole.select(rows, columns=reads)
        completions = found.completions if "completion" in reads else found.texts
        ids = found.completion_ids
        if "len(completion_ids)" in reads and whole.completion_ids is not None:
            ids = counted([whole.completion_ids[row] for row in rows])
        return Batch(completions, found.prompts, ids, found.columns)


@dataclass(slots=True, eq=False)
class _Message:
    pieces: list[_Piece]
    deaths: int = 0

    def smaller(self) -> list[_Message]:
        """The message in smaller ones: by component, then by units."""
        if len(self.pieces) > 1:
            return [_Message([piece], self.deaths) for piece in self.pieces]
        (piece,) = self.pieces
        size = -(-len(piece.units) // _SPLIT)
        parts = [piece.units[start : start + size] for start in range(0, len(piece.units), size)]
        alone = 0 if size == 1 else self.deaths
        return [_Message([_Piece(piece.part, units, piece.cost)], alone) for units in parts]

    @property
    def suspect(self) -> bool:
        """Whether it is one unit with which an actor was lost: what it dies of next is its own doing."""
        return self.single and self.deaths > 0

    @property
    def single(self) -> bool:
        return len(self.pieces) == 1 and len(self.pieces[0].units) == 1


@dataclass(slots=True)
class _Flight:
    message: _Message
    member: Member


class Tier:
    """A composite's way to the actors. Threads may share it; each call waits for its own rows only.

    Raises:
        ConfigError: Ray is not installed, or the composite cannot be sent to another process.
        InfrastructureError: there is no cluster.
    """

    def __init__(self, composite: object, settings: ScaleConfig) -> None:
        self.settings = settings
        self._pickled, self._key = pickled(composite, "leave scale out to score in this process")
        self._ray, self._ours = connect("scale: {executor: ray}")
        self._composite = self._ray.put(self._pickled)
        self.actors = Actors(self._ray, settings)
        self._taken_for: dict[
            str, tuple[float, float]
        ] = {}  # by component: rows and their seconds, the latest ones most
        self._lock = threading.Lock()
        self.actors.look(now=True)

    # -------------------------------------------------------------------------------------------- what it is

    @staticmethod
    def takes(reward: Reward) -> bool:
        """Whether a reward's rows may be sent away.

        What waits (``async def``, several `workers`) needs no processor, and its limit is one number, so it stays with the
        caller; so does what takes the trainer's own functions: this package's rewards take other columns by ``**``, not those.
        """
        named = any(parameter.source == "trainer" for parameter in reward.shape.data)
        given = reward.shape.takes_rest and reward.style != "row" and reward.source != "grpo-rewards"
        return not (reward.is_async or reward.workers > 1 or named or given)

    @staticmethod
    def part(
        name: str,
        batch: Batch,
        units: Sequence[Sequence[int]],
        into: list[Outcome | None],
        reads: frozenset[str] | None = None,
    ) -> ComponentRows:
        """Return one component's rows as `evaluate` takes them."""
        return ComponentRows(name, batch, units, into, reads)

    def describe(self, rewards: Iterable[tuple[str, Reward]]) -> str:
        """Say in a line where rows go, and the caps."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        found = places(nodes, self.settings)
        used, stay = {node for node, _ in found}, [name for name, reward in rewards if not self.takes(reward)]
        cap = "no cap" if self.settings.actors is None else f"at most {self.settings.actors}"
        return (
            f"Ray tier {self.settings.name!r}: {len(found)} actors of {self.settings.num_cpus:g} CPU ({cap}) on "
            f"{len(used)} of {len(nodes)} nodes"
            + ("" if self.settings.gpu_nodes else ", none on nodes with a GPU")
            + f"; up to {2 * len(found)} messages under way from each process"
            + (f"; {', '.join(stay)} stay in this process" if stay else "")
        )

    def close(self) -> None:
        """Let go of the cluster where it was started here; actors end by themselves."""
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()

    # -------------------------------------------------------------------------------------------- a call

    def evaluate(self, parts: Sequence[ComponentRows], deadline: float | None) -> None:
        """Fill the parts' `into`; what is not finished at the `deadline` (`time.monotonic`) stays None.

        Raises:
            ConfigError: the rewards cannot be loaded on a node.
        """
        self.actors.look()
        queue = deque(self._messages(parts))
        flying: dict[object, _Flight] = {}
        alone_since = time.monotonic()
        patience = _PATIENCE if deadline is None else max(0.05, (deadline - alone_since) / 4)
        began = alone_since
        try:
            while queue or flying:
                now = time.monotonic()
                if deadline is not None and now >= deadline:
                    break
                self.actors.look()
                while queue and (member := self.actors.freest(patience)) is not None:
                    if member.sent and (queue[0].suspect or any(one.message.suspect for one in flying.values())):
                        break  # what may have killed an actor is alone in the next one, so that it takes nobody with it
                    message = queue.popleft()
                    flying[self._send(message, member, deadline)] = _Flight(message, member)
                if self.actors.ready:
                    alone_since = now
                elif now - alone_since > self.settings.grace * (_STARTING if self.actors.starting() else 1):
                    self._give_up(queue, flying)
                    break
                left = _POLL if deadline is None else max(0.0, min(_POLL, deadline - now))
                for reference in self._wait(flying, left, full=not queue):
                    queue.extendleft(reversed(self._taken(reference, flying.pop(reference))))
        finally:
            for reference, flight in flying.items():
                flight.member.sent.pop(reference, None)
                self._ray.cancel(reference, force=False)
        for part in parts:
            part.seconds = time.monotonic() - began

    def _wait(self, flying: dict[object, _Flight], seconds: float, *, full: bool) -> list[object]:
        """What has come; returns early too when an actor has started and rows wait for one."""
        watched = list(flying) if full else [*flying, *self.actors.starting()]
        if not watched:
            time.sleep(min(seconds, 0.1))  # nothing is under way anywhere: the next look may find a node
            return []
        found, _ = self._ray.wait(watched, num_returns=1, timeout=seconds)
        if found and len(watched) > 1:
            found, _ = self._ray.wait(watched, num_returns=len(watched), timeout=0)
        return [reference for reference in found if reference in flying]

    def _send(self, message: _Message, member: Member, deadline: float | None) -> object:
        left = None if deadline is None else deadline - time.monotonic()
        timeout = None if left is None else max(0.01, left - min(1.0, _MARGIN * left))
        body = pack_rows(timeout, [(piece.part.name, piece.batch()) for piece in message.pieces])
        along = [] if member.loaded else [self._composite]
        reference: object = member.handle.evaluate.remote(self._key, along, *body)
        member.sent[reference] = time.monotonic()
        return reference

    def _taken(self, reference: object, flight: _Flight) -> list[_Message]:
        """Take in a message's outcomes; return what has to be sent again.

        Raises:
            ConfigError: the rewards cannot be loaded on a node.
        """
        from grpo_rewards._tier.actor import NotLoaded, Retired

        beside = max(1, len(flight.member.sent))  # messages among which the actor's time was divided
        flight.member.sent.pop(reference, None)
        message, errors = flight.message, self._ray.exceptions
        try:
            reply = self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, ConfigError):
                raise ConfigError(str(error.cause)) from None
            if isinstance(error.cause, Retired):
                self.actors.lost(flight.member)
                return [message]
            if isinstance(error.cause, NotLoaded):  # other runs' composites have taken its place
                flight.member.loaded = False
                return [message]
            if isinstance(error.cause, errors.ObjectLostError):  # the actor's node could not fetch what was sent to it
                self._composite = self._ray.put(self._pickled)
                return self._after_loss(message, type(error.cause).__name__)
            raise
        except errors.RayError as error:
            self.actors.lost(flight.member)
            return self._after_loss(message, type(error).__name__)
        flight.member.loaded = True
        with relaxed_gc():
            found = unpack_outcomes(reply)
        for piece, (outcomes, seconds) in zip(message.pieces, found, strict=True):
            into = piece.part.into
            for row, outcome in zip(piece.rows, outcomes, strict=True):
                if outcome is not None and into[row] is None:
                    into[row] = outcome
            self._measured(piece.part.name, len(outcomes), seconds / beside)
        return []

    def _after_loss(self, message: _Message, how: str) -> list[_Message]:
        message.deaths += 1
        rows = sum(len(piece.rows) for piece in message.pieces)
        _log.warning("an actor of the Ray tier was lost (%s); its %d rows are sent to another", how, rows)
        if not message.single:
            return [message] if message.deaths < 2 else message.smaller()
        if message.deaths < _DEATHS:
            return [message]
        _fail(message, f"{message.deaths} actors of the Ray tier died while this row was scored ({how})")
        return []

    def _give_up(self, queue: deque[_Message], flying: dict[object, _Flight]) -> None:
        why = f"no actor of the Ray tier {self.settings.name!r} is left" + (
            f" ({self.actors.problem})" if self.actors.problem else ""
        )
        for message in (*queue, *(flight.message for flight in flying.values())):
            _fail(message, why)
        queue.clear()

    # -------------------------------------------------------------------------------------------- how much at once

    def _measured(self, name: str, rows: int, seconds: float) -> None:
        with self._lock:
            known, taken = self._taken_for.get(name, (0.0, 0.0))
            self._taken_for[name] = (known / 2 + rows, taken / 2 + seconds)

    def _cost(self, name: str) -> float:
        """The seconds that a row of a component takes."""
        rows, seconds = self._taken_for.get(name, (0.0, 0.0))
        return seconds / rows if rows else _GUESS

    def _messages(self, parts: Sequence[ComponentRows]) -> list[_Message]:
        """Cut the parts into messages of about `_MESSAGE` seconds each; quick components ride together."""
        whole = sum(self._cost(part.name) * len(part.batch) for part in parts)
        spread = max(1, min(len(self.actors.ready), int(whole / _LEAST)))
        pieces: list[tuple[float, int, _Piece]] = []
        for order, part in enumerate(parts):
            if not part.units:
                continue
            each = self._cost(part.name) * len(part.batch) / len(part.units)
            size = max(1, min(int(_MESSAGE / max(each, 1e-9)), -(-len(part.units) // spread)))
            for start in range(0, len(part.units), size):
                units = part.units[start : start + size]
                pieces.append((start / len(part.units), order, _Piece(part, units, each * len(units))))
        pieces.sort(key=lambda item: item[:2])  # the same rows of several components beside each other
        budget = min(_MESSAGE, whole / spread)
        messages: list[_Message] = []
        room = 0.0
        for *_, piece in pieces:
            if not messages or piece.cost > room * 1.25:
                messages.append(_Message([]))
                room = budget
            messages[-1].pieces.append(piece)
            room -= piece.cost
        return messages


def _fail(message: _Message, reason: str) -> None:
    outcome = Outcome(None, "unavailable", reason)
    for piece in message.pieces:
        for row in piece.rows:
            if piece.part.into[row] is None:
                piece.part.into[row] = outcome
