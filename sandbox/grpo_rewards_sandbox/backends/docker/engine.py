"""The Docker engine: which one, who a container belongs to, and the removal of what a dead parent left."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..._errors import SandboxUnavailable
from .tunnel import forwarded

LABEL, OWNER, SANDBOX = "grpo-rewards.sandbox", "grpo-rewards.owner", "grpo-rewards.sandbox-id"
# seconds of a request, and of one that an engine which works answers at once; looks 0.02 s apart
_TIMEOUT, _AT_ONCE, _PATIENCE = 60, 10, 250


def failures() -> tuple[type[Exception], ...]:
    """What docker-py raises where an engine does not answer, or refuses what it is asked."""
    return (docker_py().errors.DockerException, OSError)


def docker_py() -> ModuleType:
    """Return the module docker, or say how to get it."""
    try:
        import docker
    except ImportError as error:
        raise SandboxUnavailable(
            "the docker backend needs docker-py: pip install 'docker>=7.1' 'packaging>=23'"
        ) from error
    return docker


class Engine:
    """A connection per thread to the engine at `host`, else to the one that `DOCKER_HOST` or the current context names."""

    def __init__(self, host: str | None = None) -> None:
        self.host = host
        self._local = threading.local()
        self._generation = 0
        self._clients: list[Any] = []
        docker_py()  # without it nothing is known of the engine
        try:
            self.client.ping()
        except Exception as error:  # of docker-py, requests or ssl, as the connection fails in one or another
            self.close()
            raise SandboxUnavailable(
                f"no Docker engine answers at {self.place}: {str(error)[:300]}.\nWhat to do: start one, point DOCKER_HOST or "
                "a docker context at one, or use sandbox='local'"
            ) from error

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return self.host or _place()

    @property
    def client(self) -> Any:
        """This thread's client: docker-py's sessions are not for several threads."""
        if getattr(self._local, "generation", None) != self._generation:
            self._local.client, self._local.generation = _connect(self.host), self._generation
            self._clients.append(self._local.client)
        return self._local.client

    def running(self) -> int:
        """How many containers of sandboxes run on it, those of other machines included; asked for without patience."""
        api = self.client.api
        api.timeout = _AT_ONCE
        try:
            return len(api.containers(filters={"label": LABEL}))
        finally:
            api.timeout = _TIMEOUT

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        clients, self._clients = self._clients, []
        self._generation += 1
        for client in clients:
            client.close()

    @contextlib.contextmanager
    def answering(self, otherwise: str) -> Iterator[None]:
        """Turn what docker-py raises within it into `SandboxUnavailable`; `otherwise`: what there is not then."""
        try:
            yield
        except failures() as error:
            said = getattr(error, "explanation", None) or error
            raise SandboxUnavailable(f"{otherwise} on the Docker engine at {self.place}: {str(said)[:500]}") from error

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def after_fork(self) -> None:
        """Leave the parent's connections alone."""
        self._generation += 1
        self._clients = []

    def check_runtime(self, name: str) -> None:
        """Raise `SandboxUnavailable` where the engine has no runtime of this name."""
        there = sorted(self.client.info().get("Runtimes") or ())
        if name not in there:
            raise SandboxUnavailable(
                f"the engine at {self.place} has no runtime {name!r}, only {', '.join(there)}. What to do: install it where "
                "the engine runs (for gVisor: runsc install, then restart the engine), or leave the setting runtime out"
            )

    def sweep(self) -> None:
        """Remove the containers of parents that are dead; only of this machine, of others one cannot tell."""
        # ignore_removed: others remove theirs while these are listed
        for container in self.client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
            if _is_dead(container.labels.get(OWNER, "")):
                self.remove(container.id)

    def remove(self, container_id: str) -> None:
        """Kill and remove a container; it may be gone already, and so may the engine."""
        # the engine refuses a removal that is under way already
        with contextlib.suppress(*failures()):
            self.client.api.remove_container(container_id, force=True, v=True)

    def remove_all(self, label: str) -> None:
        """Remove every container with this label and wait until the engine no longer lists them, or is gone."""
        with contextlib.suppress(*failures()):
            for _ in range(_PATIENCE):
                found = self.client.api.containers(all=True, filters={"label": label})
                if not found:
                    return
                for container in found:
                    self.remove(container["Id"])
                time.sleep(0.02)


def _place() -> str:
    return os.environ.get("DOCKER_HOST") or f"the context {_context_name()}"


def _connect(host: str | None = None) -> object:
    docker = docker_py()
    name = _context_name()
    if host is not None:
        return _at(host)
    if name == "default":
        if (variable := os.environ.get("DOCKER_HOST", "")).startswith("ssh://"):
            return _at(variable)
        return _client(**docker.utils.kwargs_from_env())
    # not by docker-py, which looks for contexts below the current folder where there is no config.json
    # as the docker command names a context's folder
    key = hashlib.sha256(name.encode()).hexdigest()
    try:
        found = json.loads((_folder() / "contexts" / "meta" / key / "meta.json").read_text())["Endpoints"]["docker"]
        host = str(found["Host"])
    except FileNotFoundError as error:
        raise SandboxUnavailable(f"there is no docker context {name!r}; see: docker context ls") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SandboxUnavailable(f"the docker context {name!r} cannot be read: {error!r}") from error
    secrets = {name: _folder() / "contexts" / "tls" / key / "docker" / f"{name}.pem" for name in ("ca", "cert", "key")}
    there = {name: str(path) for name, path in secrets.items() if path.is_file()}
    tls: object = False
    if there:
        pair = (there["cert"], there["key"]) if {"cert", "key"} <= set(there) else None
        tls = docker.tls.TLSConfig(
            client_cert=pair, ca_cert=there.get("ca"), verify=not found.get("SkipTLSVerify", False)
        )
    return _at(host) if host.startswith("ssh://") else _client(base_url=host, tls=tls)


def _at(host: str) -> object:
    """A client of the engine at an address; certificates are those of ``DOCKER_CERT_PATH``, as for ``DOCKER_HOST``."""
    if host.startswith("ssh://"):
        return _client(base_url=forwarded(host))
    if not host.startswith("tcp://"):
        return _client(base_url=host)
    return _client(**docker_py().utils.kwargs_from_env(environment={**os.environ, "DOCKER_HOST": host}))


def _client(**options: object) -> object:
    docker = docker_py()

    class Api(docker.APIClient):  # type: ignore[misc,name-defined]
        def merge_environment_settings(
            self, url: object, proxies: object, stream: object, verify: object, cert: object
        ) -> object:
            # else requests prefers $REQUESTS_CA_BUNDLE to the authority that the engine's own settings name
            verify = self.verify if verify is None else verify
            return super().merge_environment_settings(url, proxies, stream, verify, cert)

    # its constructor would make an APIClient of its own
    client = docker.DockerClient.__new__(docker.DockerClient)
    # its constructor asks for the engine's version
    client.api = Api(version="auto", timeout=_AT_ONCE, **options)
    client.api.timeout = _TIMEOUT
    return client


def _folder() -> Path:
    return Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")


def _context_name() -> str:
    """Which context is in use, as the docker command decides it."""
    if os.environ.get("DOCKER_HOST"):
        return "default"
    if os.environ.get("DOCKER_CONTEXT"):
        return os.environ["DOCKER_CONTEXT"]
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return json.loads((_folder() / "config.json").read_text()).get("currentContext") or "default"
    return "default"


# ---- owners: a process, named so that it can be told from another one of the same number


def owner() -> str:
    """Name this process: boot, pid namespace, pid, time of its start."""
    return f"{_here()}/{os.getpid()}/{_started(os.getpid())}"


def _here() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"


def _started(pid: int) -> str:
    try:
        # field 22; the name in brackets before it may hold blanks and brackets itself
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_dead(name: str) -> bool:
    where, _, rest = name.rpartition("/")
    where, _, pid = where.rpartition("/")
    # another boot of another machine that shares the engine, or another pid namespace: not ours to judge
    return where == _here() and pid.isdigit() and _started(int(pid)) != rest
