"""The Docker engine: which one, who a container belongs to, and the removal of what a dead parent left."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import Any

from .._errors import SandboxUnavailable

LABEL, OWNER, SANDBOX = "grpo-rewards.sandbox", "grpo-rewards.owner", "grpo-rewards.sandbox-id"
_TIMEOUT, _PATIENCE = 60, 250


def docker_py() -> Any:
    """Return the module docker, or say how to get it."""
    try:
        import docker
    except ImportError as error:
        raise SandboxUnavailable("the docker backend needs docker-py: pip install 'grpo-rewards[docker]'") from error
    return docker


class Engine:
    """A connection per thread to the engine that `DOCKER_HOST` or the current context names."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._generation = 0
        self._clients: list[Any] = []
        try:
            self.client.ping()
        except Exception as error:
            self.close()
            raise SandboxUnavailable(
                f"no Docker engine answers at {_place()}: {str(error)[:300]}.\nWhat to do: start one, point DOCKER_HOST or "
                "a docker context at one, or use sandbox='local'"
            ) from error

    @property
    def client(self) -> Any:
        """This thread's client: docker-py's sessions are not for several threads."""
        if getattr(self._local, "generation", None) != self._generation:
            self._local.client, self._local.generation = _connect(), self._generation
            self._clients.append(self._local.client)
        return self._local.client

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        clients, self._clients = self._clients, []
        self._generation += 1
        for client in clients:
            client.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def after_fork(self) -> None:
        """Leave the parent's connections alone."""
        self._generation += 1
        self._clients = []

    def sweep(self) -> None:
        """Remove the containers of parents that are dead; only of this machine, of others one cannot tell."""
        for container in self.client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
            if _is_dead(container.labels.get(OWNER, "")):
                self.remove(container.id)

    def remove(self, container_id: str) -> None:
        """Kill and remove a container; it may be gone already."""
        errors = docker_py().errors
        with contextlib.suppress(errors.NotFound, errors.APIError):
            self.client.api.remove_container(container_id, force=True, v=True)

    def remove_all(self, label: str) -> None:
        """Remove every container with this label and wait until the engine no longer lists them."""
        for _ in range(_PATIENCE):
            found = self.client.api.containers(all=True, filters={"label": label})
            if not found:
                return
            for container in found:
                self.remove(container["Id"])
            time.sleep(0.02)


def _place() -> str:
    return os.environ.get("DOCKER_HOST") or f"the context {os.environ.get('DOCKER_CONTEXT') or 'in use'}"


def _connect() -> Any:
    docker = docker_py()
    if os.environ.get("DOCKER_HOST"):
        return docker.from_env(timeout=_TIMEOUT)
    try:
        context = docker.ContextAPI.get_context(os.environ.get("DOCKER_CONTEXT") or None)
    except Exception as error:
        raise SandboxUnavailable(f"the docker context cannot be read: {error}") from error
    if context is None:
        raise SandboxUnavailable(f"there is no docker context {os.environ.get('DOCKER_CONTEXT')!r}")
    if not context.Host or context.Name == "default":
        return docker.from_env(timeout=_TIMEOUT)
    return docker.DockerClient(base_url=context.Host, tls=context.TLSConfig or False, timeout=_TIMEOUT)


# ---- owners: a process, named so that it can be told from another one of the same number


def owner() -> str:
    """Name this process: boot, pid namespace, pid, time of its start."""
    return f"{_here()}/{os.getpid()}/{_started(os.getpid())}"


def _here() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_dead(name: str) -> bool:
    where, _, rest = name.rpartition("/")
    where, _, pid = where.rpartition("/")
    # another boot of another machine that shares the engine, or another pid namespace: not ours to judge
    return where == _here() and pid.isdigit() and _started(int(pid)) != rest
