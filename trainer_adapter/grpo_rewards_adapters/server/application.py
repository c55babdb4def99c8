"""The application: routes, who is let in, what is too much, and what is answered then."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import time
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from grpo_rewards import Composite, __version__
from grpo_rewards_adapters.server.description import page, specification
from grpo_rewards_adapters.server.metrics import Metrics
from grpo_rewards_adapters.server.settings import ServerSettings
from grpo_rewards_adapters.server.workers import Answer, Workers

_DISCARDED = 64 << 20  # bytes of a refused body that are read and thrown away
_KINDS = {"/score": b"s", "/openrlhf": b"o", "/get_reward": b"o", "/verify": b"v"}


class _Refused(Exception):
    """A request that is not scored: its status, why, and headers."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class _Body:
    """A request's body as it comes; `held` are the bytes of it that are held, to be given back if it is refused in the middle."""

    __slots__ = ("_receive", "ended", "held")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False
        self.held = 0

    async def part(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self.ended = not message.get("more_body", False)
        part: bytes = message.get("body", b"")
        return part


class Service:
    """One composite behind HTTP; called, the ASGI application of requests to score."""

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
        try:
            await self.workers.start()
            yield
        finally:
            await self.workers.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to score."""
        path = scope["path"]
        body = _Body(receive)
        try:
            self._admit(scope)
            answer = await self._score(scope, body, _KINDS[path])
            status = answer.status
            headers = [
                (b"content-length", str(len(answer.body)).encode()),
                (b"content-type", b"application/json"),
            ]
            if status == 503:
                headers.append((b"retry-after", str(self._wait()).encode()))
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": answer.body})
        except _Refused as refused:
            status = refused.status
            await self._discard(body)
            closing = {**refused.headers, "Connection": "close"}  # what is left of a body is no request
            await JSONResponse({"error": str(refused)}, status, closing)(scope, receive, send)
        except ClientDisconnect:
            # nginx's number for it; nobody reads it but the metrics
            status = 499
        self.metrics.requests[path, status] += 1

    async def _score(self, scope: Scope, body: _Body, kind: bytes) -> Answer:
        if self.pending >= self.settings.max_pending:
            raise self._busy(f"{self.pending} requests are waiting already")
        self.pending += 1
        try:
            text = await self._whole(scope, body)
            started = time.perf_counter()
            answer = await self.workers.do(kind, text)
        finally:
            self.pending -= 1
            self.held -= body.held
        if answer.status == 200:
            self.metrics.scored(answer.rows, time.perf_counter() - started)
        return answer

    def _admit(self, scope: Scope) -> None:
        if not self._tokens:
            return
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        token = given.strip().encode()
        known = [hmac.compare_digest(token, one) for one in self._tokens]  # all of them: no time to learn from
        if scheme.lower() != "bearer" or not any(known):
            raise _Refused(401, "give a valid token: Authorization: Bearer <token>", WWW_Authenticate="Bearer")

    async def _whole(self, scope: Scope, body: _Body) -> bytes:
        most = self.settings.max_body
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared) > most:
            raise _Refused(
                413, f"the body has {declared.decode()} bytes, at most {most} are taken; send fewer rows at once"
            )
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self.settings.body_timeout):
                while not body.ended:
                    parts.append(part := await body.part())
                    body.held += len(part)
                    self.held += len(part)
                    if body.held > most:
                        raise _Refused(413, f"the body has more than {most} bytes; send fewer rows at once")
                    if self.held > self.settings.max_pending_bytes:
                        raise self._busy(f"{self.held} bytes are waiting already")
        except TimeoutError:
            raise _Refused(408, f"the body did not arrive within {self.settings.body_timeout:g} s") from None
        return b"".join(parts)

    async def _discard(self, body: _Body) -> None:
        """Read on for a moment: a connection that is closed on data unread takes the answer with it."""
        left = _DISCARDED
        with contextlib.suppress(TimeoutError, ClientDisconnect):
            async with asyncio.timeout(1.0):
                while left > 0 and not body.ended:
                    left -= len(await body.part())

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
    """Requests to score go straight to the service: a route, a request and a response made for each cost more than all the rest."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in _KINDS:
            await self.state.service(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create_app(composite: Composite, settings: ServerSettings | None = None) -> Starlette:
    """Return the ASGI application. All but requests to score ask for no token and tell no data."""
    service = Service(composite, settings or ServerSettings())
    routes = [Route(path, service, methods=["POST"]) for path in _KINDS]  # for what else they are asked
    routes += [Route("/health", service.health), Route("/metrics", service.show_metrics)]
    routes += [Route("/docs", service.docs), Route("/openapi.json", service.openapi)]
    app = _Application(routes=routes, lifespan=service.lifespan)
    app.state.service = service
    return app
