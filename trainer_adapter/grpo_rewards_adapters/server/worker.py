"""What a worker process does with a request: it scores the rows, and answers with JSON."""

from __future__ import annotations

import logging
import struct
import threading
import time
from collections.abc import Mapping
from typing import Any, cast

import orjson

from grpo_rewards import Composite
from grpo_rewards.cycles import freeze_gc
from grpo_rewards.errors import ColumnError, GrpoRewardsError, InfrastructureError, InputError, PluginError
from grpo_rewards.rows import ShapeError, dump_json, parse_object, read_shape
from grpo_rewards.types import Batch
from grpo_rewards.workers import unpickled
from grpo_rewards.workers.program import answer_and_leave

REQUEST = struct.Struct("!cd")
"""Before each request's body: its kind, and the time (``time.monotonic()``) after which it is not to be begun any more."""

REPLY = struct.Struct("!HI")
"""Before each reply's JSON: status and rows."""

LATE = 0
"""The status of a request that was not begun, because it was too late for it."""

_log = logging.getLogger(__name__)


def answer(
    composite: Composite, kind: bytes, body: bytes | bytearray, *, careful: bool = False
) -> tuple[int, int, bytes]:
    """Return status, rows and JSON for a request of `kind`: ``s`` our own, ``o`` OpenRLHF's, ``v`` NeMo Gym's.

    `careful` gives each component a thread, so that a row that hangs is found and costs itself only.
    """
    try:
        try:
            data = parse_object(body)
        except ValueError as error:
            return _problem(400, str(error).replace("a row must be", "the body must be"))
        match kind:
            case b"s":
                return _score(composite, data, careful=careful)
            case b"o":
                return _openrlhf(composite, data)
            case _:
                return _verify(composite, data)
    except (InputError, ShapeError) as error:
        return _problem(400, str(error))
    except ColumnError as error:
        return _problem(422, str(error))
    except InfrastructureError as error:
        return _problem(503, str(error))
    except PluginError as error:
        return _problem(500, str(error))
    except GrpoRewardsError as error:
        return _problem(422, str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of a request: the service goes on
        _log.exception("a request failed")
        return _problem(500, f"{type(error).__name__}: {error}"[:500])


def _problem(status: int, text: str) -> tuple[int, int, bytes]:
    return status, 0, dump_json({"error": text[:2000]})


def _are_plain(rows: list[Any]) -> bool:
    """Whether rows have the usual shape, which needs no closer look; column by column, as the rows of a request are alike."""
    if set(map(type, rows)) != {dict}:
        return False
    completions = [row.get("completion") for row in rows]
    if set(map(type, completions)) != {str} and not all(map(_is_said, completions)):
        return False
    prompts = [row.get("prompt", "") for row in rows]
    # rows of a group have one prompt: to compare it is quicker than to look at its messages again
    if not all(
        map(_is_said, [prompt for prompt, seen in zip(prompts, ["", *prompts], strict=False) if prompt != seen])
    ):
        return False
    return not [row for row in rows if "completion_ids" in row]


def _is_said(value: object) -> bool:
    if type(value) is str:
        return True
    if type(value) is not list or not value:
        return False
    for message in value:  # noqa: SIM110 - all() with a generator takes twice as long
        if type(message) is not dict or type(message.get("content")) is not str:
            return False
    return True


def _score(composite: Composite, data: Mapping[str, object], *, careful: bool) -> tuple[int, int, bytes]:
    """Our own shape: columns of results, and with ``explain`` every row in full."""
    rows = data.get("rows")
    if not isinstance(rows, list) or not rows:
        raise InputError("expected {'rows': [{'completion': ..., 'prompt': ..., ...}, ...]} with one row or more")
    samples = rows if _are_plain(rows) else _samples(rows)
    if careful:
        batch = Batch.from_rows(samples)
        composite.check_columns(batch.available, batch=batch)
        table = composite.evaluate(batch, timeout=_patience(composite))
    else:
        table = composite.score(samples)
    broken = sorted(
        row for row in table.left_out if any(outcomes[row].status == "error" for outcomes in table.components.values())
    )
    found: dict[str, object] = {
        "rewards": table.rewards(),
        "components": {name: table.values(name) for name in table.components},
        "left_out": {str(row): reason for row, reason in table.left_out.items()},
        "broken": broken,
        "provenance": dict(table.provenance),
    }
    if data.get("explain"):
        found["rows"] = [table.row(row) for row in range(len(table))]
    return 200, len(samples), dump_json(found)


def _samples(rows: list[object]) -> list[dict[str, object]]:
    samples: list[dict[str, object]] = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"rows[{index}] must be an object, not {type(row).__name__}")
        try:
            samples += read_shape(row).samples
        except ShapeError as error:
            raise InputError(f"rows[{index}]: {error}") from None
    return samples


def _openrlhf(composite: Composite, data: Mapping[str, object]) -> tuple[int, int, bytes]:
    from grpo_rewards_adapters.openrlhf import reward_lists

    lists = {}
    for name in ("query", "prompts", "labels"):
        values = data.get(name)
        if not isinstance(values, list):
            raise InputError(
                f"expected OpenRLHF's {{query, prompts, labels}}, each a list; {name!r} is {type(values).__name__}"
            )
        lists[name] = values
    if not all(isinstance(text, str) for name in ("query", "prompts") for text in lists[name]):
        raise InputError("query and prompts must be lists of strings")
    found = reward_lists(lists["query"], lists["prompts"], lists["labels"], config=composite)
    return 200, len(lists["query"]), orjson.dumps(found)


def _verify(composite: Composite, data: Mapping[str, object]) -> tuple[int, int, bytes]:
    from grpo_rewards_adapters.nemo_gym import verify

    return 200, 1, dump_json(verify(data, config=composite))


def _patience(composite: Composite) -> float | None:
    """Seconds that a request may take in either of two attempts."""
    limit = composite.config.errors.batch_timeout
    return None if limit is None else limit / 2


# ------------------------------------------------------------------------------------------------ the process


class RequestScorer:
    """Answers requests, and has a watch that answers in the main thread's place when that hangs.

    A request is a `REQUEST` and its body; the answer is a `REPLY` and JSON.
    """

    def __init__(self, pickled: bytes) -> None:
        self._composite = cast(Composite, unpickled(pickled))
        freeze_gc()
        self._patience = _patience(self._composite)
        self._job: tuple[bytes, bytearray] | None = None
        self._began = 0.0
        self._lock = threading.Lock()
        if self._patience is not None:
            threading.Thread(target=self._watch, daemon=True, name="grpo-rewards-watch").start()

    def __call__(self, request: bytearray) -> bytes:
        """Answer a request."""
        now = time.monotonic()
        kind, until = REQUEST.unpack_from(request)
        if now > until:
            return REPLY.pack(LATE, 0)
        del request[: REQUEST.size]  # without a copy of the rest
        job = kind, request
        with self._lock:
            self._job, self._began = job, now
        status, rows, text = answer(self._composite, *job)
        with self._lock:  # held for good by the watch once it has taken over
            self._job = None
        return REPLY.pack(status, rows) + text

    def _watch(self) -> None:
        patience = self._patience or 0.0
        while True:
            # a row that hangs is found late by a quarter of its time at most
            time.sleep(min(1.0, patience / 4))
            with self._lock:
                if self._job is None or time.monotonic() - self._began < patience:
                    continue
                status, rows, text = answer(self._composite, *self._job, careful=True)
                answer_and_leave(REPLY.pack(status, rows) + text)
