"""Hardened containers, each with a supervisor that is spoken to over the container's standard streams."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import struct
import time
import uuid
from typing import Any

from ..._backend import Backend, Worker
from ..._errors import SandboxUnavailable
from ..._guarantees import describe_mode
from ...program.isolation import plan
from ...program.languages import testlib
from ..supervised import START_SECONDS, Supervised
from . import image as images
from .engine import LABEL, OWNER, SANDBOX, Engine, docker_py, owner

_FRAME = struct.Struct(">BxxxI")
_STDERR, _MAX_SAID = 2, 4000
# switch to the users of tests and candidates, end their processes, give them their folders
CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN"]
_PIDS = 256
_TMPFS = {
    "/tmp": "size=64m,nr_inodes=8192,mode=1777",
    "/dev/shm": "noexec,size=16m,nr_inodes=1024,mode=1777",
    "/sandbox": "exec,size=160m,nr_inodes=16384,mode=755",
}
_CONFIG: dict[str, Any] = {
    "allow": ["user", "container"], "python_path": [], "pytest_path": ["/opt/grpo-rewards/site"],
    "program_path": "/opt/grpo-rewards", "sweep": ["/tmp", "/dev/shm"], "store": "/sandbox",
}  # fmt: skip


class DockerBackend(Backend):
    """Containers of one image, of one owner, on an engine: that of `DOCKER_HOST`, else of the current context.

    Args:
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
        mode: str = "reuse",
        image: str | None = None,
        runtime: str | None = None,
        memory: int = 2 << 30,
        cpus: float = 2.0,
    ) -> None:
        if mode not in ("reuse", "fresh"):
            raise ValueError(f"mode {mode!r}; expected reuse or fresh")
        self.engine = Engine()
        try:
            if runtime is not None:
                self.engine.check_runtime(runtime)
            self.engine.sweep()
            self.image = image or images.find(self.engine)
        except BaseException:
            self.engine.close()
            raise
        self.fresh = mode == "fresh"
        self._runtime, self._memory, self._cpus = runtime, memory, cpus
        self._sandbox = uuid.uuid4().hex
        # the kernel counts a user's processes over all containers: each has users of its own
        self._users = itertools.count(secrets.randbelow(plan.COUNT))

    def start(self) -> Worker:
        """Start a container and its supervisor."""
        try:
            users = plan.pair(next(self._users))
            return Container(
                self.engine,
                self._options(),
                {
                    **_CONFIG,
                    "warm": not self.fresh,
                    "users": users,
                    "processors": self._cpus,
                    "testlib": testlib.find(),
                },
            )
        except (docker_py().errors.DockerException, OSError) as error:
            raise SandboxUnavailable(f"no container could be started: {str(error)[:500]}") from error

    def describe(self, worker: Worker) -> str:
        """Say in a line what `worker` keeps candidates apart with."""
        return describe_mode("docker", worker.plan)

    def after_fork(self) -> None:
        """In a forked child: containers of its own, spoken to over connections of its own."""
        self.engine.after_fork()
        self._sandbox = uuid.uuid4().hex
        self._users = itertools.count(secrets.randbelow(plan.COUNT))

    def close(self) -> None:
        """Remove what is still there, also what the engine was just about to make."""
        with contextlib.suppress(docker_py().errors.DockerException, OSError):
            self.engine.remove_all(f"{SANDBOX}={self._sandbox}")
        self.engine.close()

    def _options(self) -> dict[str, Any]:
        host = self.engine.client.api.create_host_config(
            network_mode="none", read_only=True, auto_remove=True, ipc_mode="private", cap_drop=["ALL"],
            cap_add=CAPABILITIES, security_opt=["no-new-privileges:true"], pids_limit=_PIDS, mem_limit=self._memory,
            memswap_limit=self._memory, nano_cpus=int(self._cpus * 1e9), runtime=self._runtime,
            tmpfs={path: f"rw,nosuid,nodev,{options}" for path, options in _TMPFS.items()},
            log_config={"type": "none"}, restart_policy={"Name": "no"},
        )  # fmt: skip
        return {
            "image": self.image, "command": None, "host_config": host, "stdin_open": True, "tty": False, "user": "0:0",
            "network_disabled": True, "hostname": "sandbox",
            "labels": {LABEL: "1", OWNER: owner(), SANDBOX: self._sandbox},
        }  # fmt: skip


class Container(Supervised):
    """A container whose first process is a supervisor; it ends when its standard input does, so with this process."""

    def __init__(self, engine: Engine, options: dict[str, Any], config: dict[str, Any]) -> None:
        self._engine = engine
        api = engine.client.api
        self.id: str = api.create_container_from_config(_once(api, options))["Id"]
        self._raw: Any = None
        self._buffer, self._said = bytearray(), ""
        try:
            self._raw = api.attach_socket(self.id, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            # docker-py wraps plain sockets; those of TLS and ssh come as they are
            self._socket: Any = getattr(self._raw, "_sock", self._raw)
            api.start(self.id)
            hello = self.ask(config, START_SECONDS)
        except BaseException as error:
            self.close()
            if self._said and isinstance(error, OSError):
                raise OSError(f"{error}; the container said: {self._said[-500:]}") from error
            raise
        if "error" in hello:
            self.close()
            raise SandboxUnavailable(hello["error"])
        self.plan = hello["plan"]

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

    def _exactly(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._patience(deadline)
            chunk = self._socket.recv(min(size - len(data), 1 << 16))
            if not chunk:
                raise OSError("the container ended")
            data += chunk
        return bytes(data)

    def _patience(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise OSError("the container did not answer in time")
        self._socket.settimeout(left)

    def interrupt(self) -> None:
        """End the supervisor now, in the middle of a job too; for any thread."""
        with contextlib.suppress(docker_py().errors.DockerException, OSError):
            self._engine.client.api.kill(self.id)

    def close(self) -> None:
        """Remove the container with all that is in it."""
        self.abandon()
        with contextlib.suppress(docker_py().errors.DockerException, OSError):
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


def _once(api: Any, options: dict[str, Any]) -> Any:
    """The container's configuration, with StdinOnce: its standard input ends with the connection that feeds it."""
    config = api.create_container_config(**options)
    config["StdinOnce"] = True
    return config
