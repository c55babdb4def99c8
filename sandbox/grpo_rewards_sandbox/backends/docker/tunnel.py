"""The socket of an engine behind ssh, on this machine: the ssh command forwards it.

docker-py's own connections over ssh know no time limits, and a verdict must not wait for ever.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from urllib.parse import urlsplit

from ..._errors import SandboxUnavailable

_START = 20.0  # seconds for ssh to connect
_SOCKET = "/var/run/docker.sock"
# no question to anyone, no silent end, and no connection that the user's own ssh shares and may close
_OPTIONS = (
    "BatchMode=yes", "ExitOnForwardFailure=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3",
    "ControlMaster=no", "ControlPath=none",
)  # fmt: skip
# ssh itself would outlive a process that is killed: a shell beside it waits for the end of its standard input, and of ssh
_WATCHED = """exec 3<&0
"$@" 3<&- </dev/null & ssh=$!
{ read -r _ <&3; kill $ssh; } >/dev/null 2>&1 & watch=$!
wait $ssh; status=$?
kill $watch 2>/dev/null; rm -rf "$0"; exit $status"""
_tunnels: dict[str, Tunnel] = {}
_lock = threading.Lock()


class Tunnel:
    """A running ssh that forwards an engine's socket; `path` is its end here."""

    def __init__(self, place: str) -> None:
        ssh = shutil.which("ssh")
        if ssh is None:
            raise SandboxUnavailable(f"the engine at {place} needs the ssh command, which is not here")
        parts = urlsplit(place)
        if not parts.hostname:
            raise SandboxUnavailable(
                f"{place!r} names no machine; expected ssh://[user@]host[:port][/path/of/the.sock]"
            )
        target = f"{parts.username}@{parts.hostname}" if parts.username else parts.hostname
        port = ["-p", str(parts.port)] if parts.port else []
        self._pid = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="grpo-ssh-")
        self.path = f"{self._folder}/docker.sock"
        options = [word for option in _OPTIONS for word in ("-o", option)]
        forward = f"{self.path}:{parts.path or _SOCKET}"
        self._process = subprocess.Popen(
            # --: a name that begins with a dash is no option
            ["sh", "-c", _WATCHED, self._folder, ssh, "-nNT", *options, *port, "-L", forward, "--", target],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        if problem := self._wait():
            self.close()
            raise SandboxUnavailable(f"no connection to {place}: {problem[:300]}")

    def _wait(self) -> str:
        """Wait until the socket is there; return why it is not."""
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                said = self._process.stderr.read() if self._process.stderr else b""
                return said.decode(errors="replace").strip() or f"ssh ended with status {self._process.returncode}"
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.path)
                return ""
            time.sleep(0.02)
        return f"ssh did not connect within {_START:g} s"

    @property
    def alive(self) -> bool:
        """Whether the connection stands."""
        return self._pid == os.getpid() and self._process.poll() is None

    def close(self) -> None:
        """End it."""
        # a forked child's copy: the process is the parent's
        if self._pid != os.getpid():
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stderr):
            if stream:
                stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def forwarded(place: str) -> str:
    """Return the address here of the engine at ``ssh://...``; one connection serves all of this process.

    Raises:
        SandboxUnavailable: it cannot be reached.
    """
    with _lock:
        tunnel = _tunnels.get(place)
        if tunnel is None or not tunnel.alive:
            if tunnel is not None:
                tunnel.close()
            tunnel = _tunnels[place] = Tunnel(place)
        return f"unix://{tunnel.path}"


@atexit.register
def _close_all() -> None:
    with _lock:
        for tunnel in _tunnels.values():
            tunnel.close()
        _tunnels.clear()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _tunnels.clear()  # the parent's


os.register_at_fork(after_in_child=_after_fork)
