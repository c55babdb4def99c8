"""A worker process: it reads requests, scores them, and answers with JSON. It ends when its parent does."""

from __future__ import annotations

import logging
import pickle
import socket
import struct
import threading
from collections.abc import Mapping
from typing import Any

import orjson

from grpo_rewards import Composite
from grpo_rewards._contract import Batch
from grpo_rewards._scoring.reading import ShapeError, dump_json, parse_object, read_shape
from grpo_rewards.errors import ColumnError, GrpoRewardsError, InfrastructureError, InputError, PluginError

__all__ = ["HEADER", "main"]

HEADER = struct.Struct("!cIHI")
"""Before each body in both directions: kind, length, status and rows (the last two are 0 in requests)."""

_log = logging.getLogger(__name__)


def answer(composite: Composite, kind: bytes, body: bytes) -> tuple[int, int, bytes]:
    """Return status, rows and JSON for a request of `kind`: ``s`` our own, ``o`` OpenRLHF's, ``v`` NeMo Gym's."""
    try:
        try:
            data = parse_object(body)
        except ValueError as error:
            return _problem(400, str(error).replace("a row must be", "the body must be"))
        match kind:
            case b"s":
                return _score(composite, data)
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


def _score(composite: Composite, data: Mapping[str, Any]) -> tuple[int, int, bytes]:
    """Our own shape: columns of results, and with ``explain`` every row in full."""
    rows = data.get("rows")
    if not isinstance(rows, list) or not rows:
        raise InputError("expected {'rows': [{'completion': ..., 'prompt': ..., ...}, ...]} with one row or more")
    samples: list[dict[str, Any]] = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"rows[{index}] must be an object, not {type(row).__name__}")
        try:
            samples += read_shape(row).samples
        except ShapeError as error:
            raise InputError(f"rows[{index}]: {error}") from None
    batch = Batch.from_rows(samples)
    composite.check_columns(
        batch.available, components=[c for c in composite.components if c.when is None or c.rows(batch)]
    )
    table = composite._table(batch, timeout=composite.config.errors.batch_timeout)
    broken = sorted(
        row for row in table.left_out if any(outcomes[row].status == "error" for outcomes in table.components.values())
    )
    found: dict[str, Any] = {
        "rewards": table.rewards(),
        "components": {name: table.values(name) for name in table.components},
        "left_out": {str(row): reason for row, reason in table.left_out.items()},
        "broken": broken,
        "provenance": dict(table.provenance),
    }
    if data.get("explain"):
        found["rows"] = [table.row(row) for row in range(len(table))]
    try:
        text = orjson.dumps(found)
    except (TypeError, ValueError):  # what reasons and details may hold
        text = dump_json(found)
    return 200, len(samples), text


def _openrlhf(composite: Composite, data: Mapping[str, Any]) -> tuple[int, int, bytes]:
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


def _verify(composite: Composite, data: Mapping[str, Any]) -> tuple[int, int, bytes]:
    from grpo_rewards_adapters.nemo_gym import verify

    return 200, 1, dump_json(verify(data, config=composite))


# ------------------------------------------------------------------------------------------------ the process


def main(descriptor: int) -> None:
    """Serve requests on a connected socket until it closes."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which drains first
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the parent has said it
    with socket.socket(fileno=descriptor) as line:
        reader = line.makefile("rb")
        _, length, _, _ = HEADER.unpack(reader.read(HEADER.size))
        try:
            composite = pickle.loads(reader.read(length))  # noqa: S301 - from our own parent
        except Exception as error:  # noqa: BLE001 - told to the parent, which says it
            _send(line, b"!", 500, 0, f"{type(error).__name__}: {error}".encode())
            return
        _send(line, b"+", 200, 0, b"")
        while len(header := reader.read(HEADER.size)) == HEADER.size:
            kind, length, _, _ = HEADER.unpack(header)
            body = reader.read(length)
            if len(body) < length:
                return
            status, rows, text = answer(composite, kind, body)
            _send(line, b"=", status, rows, text)
    if threading.active_count() > 1:  # a row that hangs must not keep the process
        import os

        from grpo_rewards_plugins.code.runner import close_sandboxes

        close_sandboxes()
        os._exit(0)


def _send(line: socket.socket, kind: bytes, status: int, rows: int, body: bytes) -> None:
    line.sendall(HEADER.pack(kind, len(body), status, rows) + body)
