"""Engines that are reached over the network: TCP, TLS with a certificate authority of one's own, docker contexts, runtimes.

A small proxy in front of this machine's engine plays the remote one.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, SandboxUnavailable, open_sandbox
from grpo_rewards_sandbox.backends.docker import engine as engines
from grpo_rewards_sandbox.backends.docker import image as images

pytest.importorskip("docker")
pytestmark = [pytest.mark.docker, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"
JOBS = [
    Job("def solve(x):\n    return x * 2\n", CHECK, "humaneval", entry_point="solve"),
    Job("def solve(x):\n    return x\n", CHECK, "humaneval", entry_point="solve"),
    Job("print(int(input()) * 2)\n#" + "x" * (1 << 20), [{"input": "2\n", "output": "4\n"}], "stdio"),
]
VARIABLES = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG")


@pytest.fixture(scope="module")
def socket_path() -> Iterator[str]:
    """This machine's engine, which must be at a unix socket."""
    place = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    try:
        with engines.Engine() as engine:
            images.find(engine)
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF REMOTE ENGINES RAN: {error}")
    if not place.startswith("unix://"):
        pytest.skip(f"NO TESTS OF REMOTE ENGINES RAN: the engine is at {place}, not at a unix socket")
    yield place.removeprefix("unix://")
    gc.collect()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket, path: str, context: ssl.SSLContext | None) -> None:
    while True:
        try:
            outer, _ = server.accept()
        except OSError:
            return
        with contextlib.suppress(OSError):  # a client that does not trust this one
            inner = context.wrap_socket(outer, server_side=True) if context else outer
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(path)
            threads = [threading.Thread(target=_copy, args=pair) for pair in ((inner, engine), (engine, inner))]
            for thread in threads:
                thread.start()
            threading.Thread(target=_end, args=(threads, inner, engine)).start()


def _end(threads: list[threading.Thread], *ends: socket.socket) -> None:
    for thread in threads:
        thread.join()
    for end in ends:
        end.close()


@contextlib.contextmanager
def proxy(path: str, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A port of this machine that leads to the socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, path, context))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def choose(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def judges(monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    """What the jobs get with these variables, and that nothing is left afterwards."""
    choose(monkeypatch, **variables)
    with open_sandbox("docker", workers=1) as opened:
        found = [verdict.status for verdict in opened.run(JOBS)]
    with engines.Engine() as engine:
        label = f"{engines.SANDBOX}={vars(opened._backend)['_sandbox']}"
        assert not engine.client.api.containers(all=True, filters={"label": label})
    return found


def test_an_engine_over_tcp_judges(socket_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy(socket_path) as port:
        assert judges(monkeypatch, DOCKER_HOST=f"tcp://127.0.0.1:{port}") == ["passed", "failed", "passed"]


@pytest.mark.parametrize("by", ["variable", "configuration"])
def test_an_engine_of_a_context_is_found(
    socket_path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by: str
) -> None:
    with proxy(socket_path) as port:
        folder = tmp_path / "contexts" / "meta" / hashlib.sha256(b"far").hexdigest()
        folder.mkdir(parents=True)
        host = {"docker": {"Host": f"tcp://127.0.0.1:{port}", "SkipTLSVerify": False}}
        (folder / "meta.json").write_text(json.dumps({"Name": "far", "Metadata": {}, "Endpoints": host}))
        chosen = {"DOCKER_CONTEXT": "far"} if by == "variable" else {}
        if by == "configuration":
            (tmp_path / "config.json").write_text(json.dumps({"currentContext": "far"}))
        choose(monkeypatch, DOCKER_CONFIG=str(tmp_path), **chosen)
        with engines.Engine() as engine:
            assert engine.client.api.base_url == f"http://127.0.0.1:{port}"
            assert images.find(engine)


def authority(folder: Path, name: str) -> None:
    """Make a certificate authority in `folder`, and a key and a certificate for 127.0.0.1."""
    folder.mkdir()
    subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)
    shutil.copy(folder / "cert.pem", folder / "ca.pem")  # its own authority


@pytest.mark.skipif(not shutil.which("openssl"), reason="NO TEST OF TLS RAN: there is no openssl to make certificates")
def test_an_engine_over_tls_is_verified(socket_path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority(tmp_path / "right", "engine")
    authority(tmp_path / "wrong", "other")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "right" / "cert.pem", tmp_path / "right" / "key.pem")
    context.load_verify_locations(tmp_path / "right" / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with proxy(socket_path, context) as port:
        place = {"DOCKER_HOST": f"tcp://127.0.0.1:{port}", "DOCKER_TLS_VERIFY": "1"}
        found = judges(monkeypatch, DOCKER_CERT_PATH=str(tmp_path / "right"), **place)
        assert found == ["passed", "failed", "passed"]
        with pytest.raises(SandboxUnavailable, match=r"(?i)certificate verify failed"):
            judges(monkeypatch, DOCKER_CERT_PATH=str(tmp_path / "wrong"), **place)


def test_a_runtime_that_is_not_there_is_named(socket_path: str) -> None:
    with pytest.raises(SandboxUnavailable, match=r"no runtime 'no-such-runtime', only .*runc"):
        open_sandbox("docker", runtime="no-such-runtime")
