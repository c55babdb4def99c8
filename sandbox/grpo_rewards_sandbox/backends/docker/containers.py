"""Hardened containers, each with a supervisor that is spoken to over the container's standard streams."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import struct
import time
import uuid
from collections.abc import Sequence
from typing import Any, Literal

from ..._backend import Backend, Worker
from ..._errors import SandboxUnavailable
from ..._guarantees import describe_mode
from ...program.isolation import plan
from ..supervised import Supervised, checkers_header
from .engine import LABEL, OWNER, SANDBOX, Engine, failures, owner
from .fleet import Fleet, Host

_FRAME = struct.Struct(">BxxxI")
_STDERR, _MAX_SAID = 2, 4000
# switch to the users of tests and candidates, end their processes, give them their folders
CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN"]
_PIDS = 256
# the root is read-only: what can be written to is in memory, and bounded in bytes and in files
_TMPFS = {
    "/tmp": "size=64m,nr_inodes=8192,mode=1777",
    "/dev/shm": "noexec,size=16m,nr_inodes=1024,mode=1777",
    "/sandbox": "exec,size=160m,nr_inodes=16384,mode=755",
}
_CONFIG: dict[str, object] = {
    "allow": ["user", "container"], "python_path": [], "pytest_path": ["/opt/grpo-rewards/site"],
    "program_path": "/opt/grpo-rewards", "sweep": ["/tmp", "/dev/shm"], "store": "/sandbox",
}  # fmt: skip


class DockerBackend(Backend):
    """Containers of one image, of one owner, on an engine: that of `DOCKER_HOST`, else of the current context; or on several.

    Args:
        hosts: the addresses of several engines (``tcp://a:2375``, ``ssh://user@b``, ``unix:///run/c.sock``), each with an image.
            Containers go where most slots are free; an engine that does not answer is left out until it does, and what it
            had begins anew on another.
        mode: "reuse" (a container serves many jobs, one after the other) or "fresh" (one each).
        image: an image of `grpo-rewards sandbox build`; None: the newest one of this version.
        runtime: the engine's runtime, such as "runsc" (gVisor).
        memory: bytes for one container.
        cpus: processors for one container.
    """

    name = "docker"
    spares = 1

    def __init__(
        self,
        *,
        hosts: Sequence[str] | None = None,
        mode: Literal["reuse", "fresh"] = "reuse",
        image: str | None = None,
        runtime: str | None = None,
        memory: int = 2 << 30,
        cpus: float = 2.0,
    ) -> None:
        if mode not in ("reuse", "fresh"):
            raise ValueError(f"mode {mode!r}; expected reuse or fresh")
        if hosts is not None and (isinstance(hosts, str) or not hosts or len(set(hosts)) < len(hosts)):
            raise ValueError(f"hosts {hosts!r}; expected a list of addresses, each once: [tcp://a:2375, ssh://b]")
        self.fleet = Fleet(hosts or [None], image, runtime)
        if hosts is not None:
            self.slots = sum(host.slots for host in self.fleet.up)
        self.fresh = mode == "fresh"
        self._runtime, self._memory, self._cpus = runtime, memory, cpus
        self._sandbox = uuid.uuid4().hex
        # the kernel counts a user's processes over all containers: each has users of its own
        self._users = itertools.count(secrets.randbelow(plan.COUNT))

    def start(self) -> Worker:
        """Start a container and its supervisor."""
        problem, header = SandboxUnavailable("there is no Docker engine"), checkers_header()
        for host in self.fleet.by_room():
            # before it is there: whoever starts one meanwhile counts it
            self.fleet.count(host, 1)
            try:
                return self._start_on(host, header)
            except SandboxUnavailable as error:
                self.fleet.count(host, -1)
                if len(self.fleet.hosts) > 1:
                    host.down(str(error))
                problem = error
        raise problem

    def _start_on(self, host: Host, header: str) -> Worker:
        if (engine := host.engine) is None:  # another thread has found it down
            raise SandboxUnavailable(host.problem)
        config = {
            **_CONFIG, "warm": not self.fresh, "users": plan.pair(next(self._users)), "processors": self._cpus,
            "testlib": header,
        }  # fmt: skip
        with engine.answering("no container could be started"):
            return Container(engine, self._options(engine, host.image), config, fleet=self.fleet, host=host)

    def describe(self, worker: Worker) -> str:
        """Say in a line what `worker` keeps candidates apart with."""
        return describe_mode("docker", worker.plan)

    def after_fork(self) -> None:
        """In a forked child: containers of its own, spoken to over connections of its own."""
        for host in self.fleet.up:
            if host.engine is not None:
                host.engine.after_fork()
        self._sandbox = uuid.uuid4().hex
        self._users = itertools.count(secrets.randbelow(plan.COUNT))

    def close(self) -> None:
        """Remove what is still there, also what the engine was just about to make."""
        for host in self.fleet.up:
            if host.engine is not None:
                host.engine.remove_all(f"{SANDBOX}={self._sandbox}")
                host.engine.close()

    def _options(self, engine: Engine, image: str) -> dict[str, object]:
        host = engine.client.api.create_host_config(
            # the engine removes it when it ends, even where this process was killed
            network_mode="none", read_only=True, auto_remove=True, ipc_mode="private", cap_drop=["ALL"],
            cap_add=CAPABILITIES, security_opt=["no-new-privileges:true"], pids_limit=_PIDS, mem_limit=self._memory,
            # memory and swap together: as much as memory alone means no swap
            memswap_limit=self._memory, nano_cpus=int(self._cpus * 1e9), runtime=self._runtime,
            tmpfs={path: f"rw,nosuid,nodev,{options}" for path, options in _TMPFS.items()},
            # jobs and verdicts go over its streams, which an engine's log would keep on disk
            log_config={"type": "none"}, restart_policy={"Name": "no"},
        )  # fmt: skip
        return {
            "image": image, "command": None, "host_config": host, "stdin_open": True, "tty": False, "user": "0:0",
            "network_disabled": True, "hostname": "sandbox",
            "labels": {LABEL: "1", OWNER: owner(), SANDBOX: self._sandbox},
        }  # fmt: skip


class Container(Supervised):
    """A container whose first process is a supervisor; it ends when its standard input does, so with this process."""

    def __init__(
        self, engine: Engine, options: dict[str, object], config: dict[str, object], *, fleet: Fleet, host: Host
    ) -> None:
        self._engine, self._fleet, self._host, self._counted = engine, fleet, host, False
        api = engine.client.api
        self.id: str = api.create_container_from_config(_once(api, options))["Id"]
        self._raw: object = None
        self._buffer, self._said = bytearray(), ""
        try:
            self._raw = api.attach_socket(self.id, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            # docker-py wraps plain sockets; those of TLS and ssh come as they are
            self._socket: Any = getattr(self._raw, "_sock", self._raw)
            api.start(self.id)
            self.begin(config)
        except BaseException as error:
            self.close()
            if self._said and isinstance(error, OSError):
                raise OSError(f"{error}; the container said: {self._said[-500:]}") from error
            raise
        self._counted = True

    def is_clean_in(self, seconds: float) -> bool:
        """As of any worker; False too where another engine has room and this one has too many, so that a new one moves there."""
        return super().is_clean_in(seconds) and not self._fleet.crowded(self._host)

    def _write(self, data: bytes, deadline: float) -> None:
        self._patience(deadline)
        self._socket.sendall(data)

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            kind, length = _FRAME.unpack(self._exactly(_FRAME.size, deadline))
            if kind == _STDERR:
                self._said = (self._said + self._exactly(length, deadline).decode(errors="replace"))[-_MAX_SAID:]
            else:
                self._buffer += self._exactly(length, deadline)
        data, self._buffer = bytes(self._buffer[:size]), self._buffer[size:]
        return data

    def _receive(self, size: int, deadline: float) -> bytes:
        self._patience(deadline)
        data: bytes = self._socket.recv(min(size, 1 << 16))
        return data

    def _patience(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise OSError("the container did not answer in time")
        self._socket.settimeout(left)

    def interrupt(self) -> None:
        """End the supervisor now, in the middle of a job too; for any thread."""
        with contextlib.suppress(*failures()):
            self._engine.client.api.kill(self.id)

    def close(self) -> None:
        """Remove the container with all that is in it."""
        self.abandon()
        if self._counted:
            self._counted = False
            self._fleet.count(self._host, -1)
        self._engine.remove(self.id)

    def abandon(self) -> None:
        """Close this process's end only. The parent's copy of it keeps the container alive."""
        raw, self._raw = self._raw, None
        if raw is not None:
            # docker-py keeps the response that a socket belongs to on the socket
            parts: tuple[Any, ...] = (getattr(raw, "_response", None), raw, self._socket)
            for part in parts:
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    part.close()


def _once(api: Any, options: dict[str, object]) -> object:
    """The container's configuration, with StdinOnce: its standard input ends with the connection that feeds it."""
    config = api.create_container_config(**options)
    config["StdinOnce"] = True
    return config
