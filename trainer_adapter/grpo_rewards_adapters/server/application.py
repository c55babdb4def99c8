"""The application: who is let in, what is too much, and what is answered then."""

from __future__ import annotations

import hmac
import math
import time

from grpo_rewards import Composite, __version__
from grpo_rewards.rows import dump_json
from grpo_rewards_adapters.server.connection import JSON, Connection, Refused, Request, date_header
from grpo_rewards_adapters.server.description import page, specification
from grpo_rewards_adapters.server.metrics import Metrics
from grpo_rewards_adapters.server.settings import ServerSettings
from grpo_rewards_adapters.server.workers import Answer, Workers

__all__ = ["Service"]

_KINDS = {"/score": b"s", "/openrlhf": b"o", "/get_reward": b"o", "/verify": b"v"}
_PAGES = ("/health", "/metrics", "/docs", "/openapi.json")


class Service:
    """One composite behind HTTP."""

    def __init__(self, composite: Composite, settings: ServerSettings) -> None:
        self.composite = composite
        self.settings = settings
        self.metrics = Metrics()
        self.workers = Workers(composite, settings.workers, settings.request_timeout)
        self.connections: set[Connection] = set()
        self.pending = 0
        self.held = 0
        self.date = date_header()
        self._tokens = [token.encode() for token in settings.tokens]

    def tick(self, now: float) -> None:
        """Do what is due every second or so."""
        self.date = date_header()
        self.workers.end_late(now)
        for connection in list(self.connections):
            connection.look(now)

    # ------------------------------------------------------------------------------------------ a request's way

    def admit(self, request: Request) -> None:
        """Let a request in whose head has come. All but requests to score ask for no token and tell no data.

        Raises:
            Refused: it is not to be scored.
        """
        path = request.path
        try:
            if path not in _KINDS:
                return
            if request.method != b"POST":
                raise Refused(405, f"{path} takes POST", Allow="POST")
            self._check_token(request)
            declared = request.headers.get(b"content-length", b"0")
            if int(declared) > self.settings.max_body:
                raise self._too_large(f"has {declared.decode()} bytes, at most {self.settings.max_body} are taken")
            if self.pending >= self.settings.max_pending:
                raise self._busy(f"{self.pending} requests are waiting already")
        except Refused as refused:
            self.metrics.requests[path, refused.status] += 1
            raise
        request.kind = _KINDS[path]
        request.admitted = True
        self.pending += 1

    def hold(self, request: Request, part: bytes) -> None:
        """Keep a part of a request's body.

        Raises:
            Refused: it is too much.
        """
        request.size += len(part)
        if request.admitted:
            request.parts.append(part)
            self.held += len(part)
        try:
            if request.size > self.settings.max_body:
                raise self._too_large(f"has more than {self.settings.max_body} bytes")
            if self.held > self.settings.max_pending_bytes:
                raise self._busy(f"{self.held} bytes are waiting already")
        except Refused as refused:
            self._leaves(request, refused.status)
            raise

    def arrived(self, request: Request) -> None:
        """Have a request scored that is whole, or answer it."""
        if request.admitted:
            request.began = time.perf_counter()
            request.body = request.parts[0] if len(request.parts) == 1 else b"".join(request.parts)
            request.parts = []
            self.workers.put(request)
        elif request.path not in _PAGES:
            request.respond(404, dump_json({"error": f"there is no {request.path} here; see /docs"}))
        elif request.method not in (b"GET", b"HEAD"):
            request.respond(405, dump_json({"error": f"{request.path} takes GET"}), JSON, {"Allow": "GET, HEAD"})
        else:
            self._show(request)

    def scored(self, request: Request, answer: Answer) -> None:
        """Answer a request as a worker does."""
        if not request.admitted:  # its client has gone
            return
        self._leaves(request, answer.status)
        if answer.status == 200:
            self.metrics.scored(answer.rows, time.perf_counter() - request.began)
        request.respond(
            answer.status, answer.body, JSON, {"Retry-After": str(self._wait())} if answer.status == 503 else None
        )

    def dropped(self, request: Request, status: int = 499) -> None:
        """Forget a request that did not come, or that nobody waits for: nginx's number for it, which the metrics alone show."""
        request.dropped = True
        self._leaves(request, status)

    def _leaves(self, request: Request, status: int) -> None:
        if request.admitted:
            request.admitted = False
            self.pending -= 1
            self.held -= request.size
            self.metrics.requests[request.path, status] += 1

    # ------------------------------------------------------------------------------------------ refused

    def _check_token(self, request: Request) -> None:
        if not self._tokens:
            return
        scheme, _, given = request.headers.get(b"authorization", b"").partition(b" ")
        token = given.strip()
        known = [hmac.compare_digest(token, one) for one in self._tokens]  # all of them: no time to learn from
        if scheme.lower() != b"bearer" or not any(known):
            raise Refused(401, "give a valid token: Authorization: Bearer <token>", WWW_Authenticate="Bearer")

    def _too_large(self, what: str) -> Refused:
        return Refused(413, f"the body {what}; send fewer rows at once")

    def _busy(self, why: str) -> Refused:
        return Refused(429, f"{why}; come back after Retry-After seconds", Retry_After=str(self._wait()))

    def _wait(self) -> int:
        return max(1, min(60, math.ceil(self.metrics.mean_seconds / 2)))

    # ------------------------------------------------------------------------------------------ pages

    def _show(self, request: Request) -> None:
        match request.path:
            case "/health":
                request.respond(*self._health())
            case "/metrics":
                request.respond(200, self._metrics().encode(), "text/plain; version=0.0.4; charset=utf-8")
            case "/openapi.json":  # for programs
                request.respond(200, dump_json(self._described()))
            case _:  # the same for people; the page may load and run nothing
                host = request.headers.get(b"host", b"localhost").decode("latin-1")
                text = page(self._described(), f"http://{host}")
                policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
                request.respond(200, text.encode(), "text/html; charset=utf-8", policy)

    def _health(self) -> tuple[int, bytes]:
        """Whether requests are being scored."""
        alive = self.workers.alive
        state = {
            "status": "ok" if alive else "starting workers",
            "version": __version__,
            "config": self.composite.provenance["config"],
            "components": [component.name for component in self.composite.components],
            "columns": list(self.composite.required_columns),
            "workers": alive,
            "pending": self.pending,
        }
        return 200 if alive else 503, dump_json(state)

    def _metrics(self) -> str:
        """What has happened, for Prometheus."""
        workers = self.workers
        return self.metrics.text(
            {
                "grpo_rewards_pending_requests": ("Requests being read, waiting or being scored.", float(self.pending)),
                "grpo_rewards_pending_bytes": ("Bytes of bodies held for them.", float(self.held)),
                "grpo_rewards_workers": ("Worker processes that are up.", float(workers.alive)),
                "grpo_rewards_worker_restarts_total": ("Workers started in place of one that died.", float(workers.restarts)),
            }
        )  # fmt: skip

    def _described(self) -> dict[str, object]:
        return specification(self.composite, tokens=bool(self._tokens))
