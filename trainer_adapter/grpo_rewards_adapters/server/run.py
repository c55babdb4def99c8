"""Running the service: a socket, an event loop, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
from collections.abc import Callable

import uvloop

from grpo_rewards import Composite
from grpo_rewards.cycles import settled
from grpo_rewards.errors import ConfigError
from grpo_rewards_adapters.server.application import Service
from grpo_rewards_adapters.server.connection import Connection
from grpo_rewards_adapters.server.settings import ServerSettings

__all__ = ["run"]

_BACKLOG = 2048  # connections that wait to be taken
_TICK = 1.0  # seconds between looks for what is late
_LOOK = 0.02  # seconds between looks whether all connections have gone


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _serve(service: Service, host: str, port: int, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    ticking = asyncio.create_task(_tick(service))
    try:
        await service.workers.start()
        try:
            server = await loop.create_server(lambda: Connection(service), host, port, backlog=_BACKLOG)
        except OSError as error:
            raise ConfigError(f"the service cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}") from None
        settled()
        ready()
        await asked.wait()
        server.close()
        for connection in list(service.connections):
            connection.leave()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(service.settings.drain):
                while service.connections:
                    await asyncio.sleep(_LOOK)
    finally:
        ticking.cancel()
        await service.workers.stop()
        await asyncio.sleep(0)  # what is answered then is sent


async def _tick(service: Service) -> None:
    while True:
        await asyncio.sleep(min(_TICK, service.settings.body_timeout / 4))
        service.tick(asyncio.get_running_loop().time())


def run(
    composite: Composite, settings: ServerSettings, *, host: str, port: int, ready: Callable[[], None] = lambda: None
) -> None:
    """Serve until SIGINT or SIGTERM; then take no more connections, and answer what has come in.

    `ready` is called when the workers have started and connections are taken.

    Raises:
        ConfigError: an address that others reach, without tokens; one that cannot be taken; or the rewards cannot be loaded in a worker.
    """
    if not settings.tokens and not _is_loopback(host):
        raise ConfigError(
            f"{host} can be reached by others, and no token is set: put one or more in the environment variable that "
            f"--token-env names (separated by commas), or listen on 127.0.0.1"
        )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(Service(composite, settings), host, port, ready))
