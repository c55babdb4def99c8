"""What bounds the service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Bounds of the service.

    `tokens` are the bearer tokens that are let in; without any everyone is. `workers` are processes that score.
    `max_pending` requests may wait or be scored at once, `max_pending_bytes` bytes of bodies be held; more are answered
    429. A body has at most `max_body` bytes, and must arrive within `body_timeout` seconds. A request that takes longer
    than `request_timeout` seconds in a worker ends that worker and is answered 504.
    """

    tokens: tuple[str, ...] = ()
    workers: int = 1
    max_pending: int = 256
    max_pending_bytes: int = 256 << 20
    max_body: int = 16 << 20
    body_timeout: float = 15.0
    request_timeout: float = 180.0
    drain: float = 30.0

    def __post_init__(self) -> None:
        for name in ("workers", "max_pending", "max_pending_bytes", "max_body", "body_timeout", "request_timeout"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)!r}")
