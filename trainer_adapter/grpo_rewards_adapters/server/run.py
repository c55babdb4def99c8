"""Running the service: a socket, uvicorn, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from grpo_rewards import Composite
from grpo_rewards.cycles import freeze_gc
from grpo_rewards.errors import ConfigError, InfrastructureError
from grpo_rewards_adapters.server.application import create_app
from grpo_rewards_adapters.server.settings import ServerSettings
from grpo_rewards_adapters.server.workers import Workers

_LOOK = 0.1  # seconds between two looks for a signal while workers start
_BACKLOG = 2048  # connections that wait to be taken, as uvicorn has it


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of the host, all of one port, which the system chooses where it is 0."""
    bound: list[socket.socket] = []
    try:
        for family, _, _, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            taken = bound[0].getsockname()[1] if bound else port
            bound.append(socket.create_server((str(address[0]), taken), family=family, backlog=_BACKLOG))
            # connections inherit it; asyncio sets it only where a socket was made with TCP's number
            bound[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        for one in bound:
            one.close()
        raise InfrastructureError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}. What to do: name another --port or --host"
        ) from error
    return bound


class _Server(uvicorn.Server):
    """Says when it can be reached; ends with status 0 when asked to stop, instead of raising the signal once more at the end."""

    def __init__(self, config: uvicorn.Config, workers: Workers, ready: Callable[[int], None]) -> None:
        super().__init__(config)
        self._workers, self._ready = workers, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # here and not with the application: what keeps them from starting is our error then, not a traceback in uvicorn's log,
        # and uvicorn looks for signals once all has started, which is minutes for a reward that loads a model
        watch = asyncio.create_task(self._watch())
        try:
            await self._workers.start()
        except BaseException:
            await self._workers.stop()
            raise
        await super().startup(sockets)
        if self.should_exit:
            await watch
            return
        watch.cancel()
        if self.started and sockets:
            self._ready(sockets[0].getsockname()[1])

    async def _watch(self) -> None:
        while not self.should_exit:
            await asyncio.sleep(_LOOK)
        await self._workers.stop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(
    composite: Composite,
    settings: ServerSettings,
    *,
    host: str,
    port: int,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Serve until SIGINT or SIGTERM; then take no more connections, and answer what has come in.

    `ready` is called with the port when the workers have started and connections are taken.

    Raises:
        ConfigError: an address that others reach, without tokens; or the rewards cannot be loaded in a worker.
        InfrastructureError: the address cannot be listened on.
    """
    if not settings.tokens and not _is_loopback(host):
        raise ConfigError(
            f"{host} can be reached by others, and no token is set: put one or more in the environment variable that "
            f"--token-env names (separated by commas), or listen on 127.0.0.1"
        )
    app = create_app(composite, settings)
    config = uvicorn.Config(
        app, lifespan="on", log_level="warning", access_log=False,
        timeout_graceful_shutdown=int(settings.drain), server_header=False, proxy_headers=False, ws="none",
    )  # fmt: skip
    # before the workers start: an address that is taken is said at once, by us
    sockets = _listening(host, port)
    freeze_gc()
    _Server(config, app.state.service.workers, ready).run(sockets)
