"""The application: routes, who is let in, what is too much, and what is answered then."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from grpo_rewards import Composite, __version__
from grpo_rewards_adapters.server.description import page, specification
from grpo_rewards_adapters.server.metrics import Metrics
from grpo_rewards_adapters.server.settings import ServerSettings
from grpo_rewards_adapters.server.workers import Workers

__all__ = ["Service", "create_app"]

_DISCARDED = 64 << 20  # bytes of a refused body that are read and thrown away
_KINDS = {"/score": b"s", "/openrlhf": b"o", "/get_reward": b"o", "/verify": b"v"}


class _Refused(Exception):
    """A request that is not scored: its status, why, and headers."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Service:
    """One composite behind HTTP."""

    def __init__(self, composite: Composite, settings: ServerSettings) -> None:
        self.composite = composite
        self.settings = settings
        self.metrics = Metrics()
        self.workers = Workers(composite, settings.workers, settings.request_timeout)
        self.pending = 0
        self.held = 0
        self._tokens = [token.encode() for token in settings.tokens]

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Start the workers, and end them once every request has been answered."""
        await self.workers.start()
        try:
            yield
        finally:
            await self.workers.stop()

    async def scored(self, request: Request) -> Response:
        """Answer a request to score."""
        path = request.scope["path"]
        try:
            self._admit(request)
            response = await self._score(request, _KINDS[path])
        except _Refused as refused:
            await self._discard(request)
            headers = {**refused.headers, "Connection": "close"}  # what is left of a body is no request
            response = JSONResponse({"error": str(refused)}, refused.status, headers)
        except ClientDisconnect:
            # nginx's number for it; nobody reads it but the metrics
            response = Response(status_code=499)
        self.metrics.requests[path, response.status_code] += 1
        return response

    async def _score(self, request: Request, kind: bytes) -> Response:
        if self.pending >= self.settings.max_pending:
            raise self._busy(f"{self.pending} requests are waiting already")
        self.pending += 1
        # a list: what a body that was refused in the middle has taken is given back below
        held = [0]
        try:
            body = await self._body(request, held)
            started = time.perf_counter()
            answer = await self.workers.do(kind, body)
        finally:
            self.pending -= 1
            self.held -= held[0]
        if answer.status == 200:
            self.metrics.scored(answer.rows, time.perf_counter() - started)
        headers = {"Retry-After": str(self._wait())} if answer.status == 503 else None
        return Response(answer.body, answer.status, headers, media_type="application/json")

    def _admit(self, request: Request) -> None:
        if not self._tokens:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        token = given.strip().encode()
        known = [hmac.compare_digest(token, one) for one in self._tokens]  # all of them: no time to learn from
        if scheme.lower() != "bearer" or not any(known):
            raise _Refused(401, "give a valid token: Authorization: Bearer <token>", WWW_Authenticate="Bearer")

    async def _body(self, request: Request, held: list[int]) -> bytes:
        most = self.settings.max_body
        if (declared := request.headers.get("content-length", "0")).isdigit() and int(declared) > most:
            raise _Refused(413, f"the body has {declared} bytes, at most {most} are taken; send fewer rows at once")
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self.settings.body_timeout):
                async for part in request.stream():
                    parts.append(part)
                    held[0] += len(part)
                    self.held += len(part)
                    if held[0] > most:
                        raise _Refused(413, f"the body has more than {most} bytes; send fewer rows at once")
                    if self.held > self.settings.max_pending_bytes:
                        raise self._busy(f"{self.held} bytes are waiting already")
        except TimeoutError:
            raise _Refused(408, f"the body did not arrive within {self.settings.body_timeout:g} s") from None
        return b"".join(parts)

    async def _discard(self, request: Request) -> None:
        """Read on for a moment: a connection that is closed on data unread takes the answer with it."""
        left = _DISCARDED
        with contextlib.suppress(TimeoutError, RuntimeError, ClientDisconnect):  # RuntimeError: it was all read
            async with asyncio.timeout(1.0):
                async for part in request.stream():
                    left -= len(part)
                    if left < 0:
                        return

    def _busy(self, why: str) -> _Refused:
        return _Refused(429, f"{why}; come back after Retry-After seconds", Retry_After=str(self._wait()))

    def _wait(self) -> int:
        return max(1, min(60, math.ceil(self.metrics.mean_seconds / 2)))

    async def health(self, _request: Request) -> Response:
        """Say whether requests are being scored."""
        up = self.workers.alive > 0
        state = {
            "status": "ok" if up else "starting workers",
            "version": __version__,
            "config": self.composite.provenance["config"],
            "components": [component.name for component in self.composite.components],
            "columns": list(self.composite.required_columns),
            "workers": self.workers.alive,
            "pending": self.pending,
        }
        return JSONResponse(state, 200 if up else 503)

    async def show_metrics(self, _request: Request) -> Response:
        """Say what has happened, for Prometheus."""
        gauges = {
            "grpo_rewards_pending_requests": ("Requests being read, waiting or being scored.", float(self.pending)),
            "grpo_rewards_pending_bytes": ("Bytes of bodies held for them.", float(self.held)),
            "grpo_rewards_workers": ("Worker processes that are up.", float(self.workers.alive)),
            "grpo_rewards_worker_restarts_total": (
                "Workers started in place of one that died.",
                float(self.workers.restarts),
            ),
        }
        return PlainTextResponse(self.metrics.text(gauges), media_type="text/plain; version=0.0.4")

    async def openapi(self, _request: Request) -> Response:
        """Say what is taken and answered, for programs."""
        return JSONResponse(self._described())

    async def docs(self, request: Request) -> Response:
        """Say the same for people; the page may load and run nothing."""
        text = page(self._described(), str(request.base_url).rstrip("/"))
        return HTMLResponse(text, headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"})

    def _described(self) -> dict[str, object]:
        return specification(self.composite, tokens=bool(self._tokens))


class _Application(Starlette):
    """Requests to score go straight to the service: finding their route costs a fifth of what the front does for them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in _KINDS:
            response = await self.state.service.scored(Request(scope, receive))
            await response(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create_app(composite: Composite, settings: ServerSettings | None = None) -> Starlette:
    """Return the ASGI application. All but requests to score ask for no token and tell no data."""
    service = Service(composite, settings or ServerSettings())
    routes = [Route(path, service.scored, methods=["POST"]) for path in _KINDS]  # for what else they are asked
    routes += [Route("/health", service.health), Route("/metrics", service.show_metrics)]
    routes += [Route("/docs", service.docs), Route("/openapi.json", service.openapi)]
    app = _Application(routes=routes, lifespan=service.lifespan)
    app.state.service = service
    return app
