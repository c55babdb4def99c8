"""A service in a process of its own, on a socket of this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

COMMAND = Path(sys.executable).with_name("grpo-rewards")
REWARDS = '''
import os, pathlib, signal, time
from grpo_rewards import Outcome, reward

@reward(range=(0, 1))
def acts(completion: str, answer: str) -> Outcome:
    """Does what the completion says."""
    word, _, rest = completion.partition(":")
    if word == "sleep":
        time.sleep(float(rest))
    if word == "kill" or (word == "kill once" and not pathlib.Path(rest).exists()):
        if rest:
            pathlib.Path(rest).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "down":
        return Outcome(None, "unavailable", "the sandbox is away")
    if word == "raise":
        raise RuntimeError("a defect")
    return Outcome(float(completion == answer), reason="compared")
'''
CONFIG = """
rewards:
  acts: {use: "./acting.py:acts", weight: 2}
  short: {use: length, weight: 0.5, params: {target: 10, band: 10}}
"""
TOKEN = "correct-horse"


class Server:
    """A running service."""

    def __init__(
        self, folder: Path, *options: object, tokens: str = f"other,{TOKEN}", port: int = 0, more: str = ""
    ) -> None:
        (folder / "acting.py").write_text(REWARDS)
        (folder / "rewards.yaml").write_text(CONFIG + more)
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [COMMAND, "serve", "rewards.yaml", "--port", str(port), *map(str, options)],
                cwd=folder, stderr=log, env={**os.environ, "GRPO_REWARDS_TOKENS": tokens, "GRPO_REWARDS_MISSING": "0"},
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            if found := re.search(r"serving .* on http://127\.0\.0\.1:(\d+)", self.log.read_text()):
                self.port = int(found[1])
                assert self.get("/health")[0] == 200
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError(f"the service did not start: {self.log.read_text()}")
            time.sleep(0.05)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        headers: Any = None,
        timeout: float = 30,
    ) -> Any:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(line):
            given = {"Authorization": f"Bearer {token}"} if token is not None else {}
            line.request(method, path, body=body, headers={**given, **(headers or {})})
            response = line.getresponse()
            return response.status, response.read(), dict(response.getheaders())

    def get(self, path: str) -> Any:
        status, body, _ = self.request("GET", path, token=None)
        return status, body.decode()

    def post(self, path: str, data: Any, **more: Any) -> Any:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        status, answer, headers = self.request("POST", path, body, **more)
        return status, json.loads(answer), headers

    def score(self, *completions: Any, **more: Any) -> Any:
        return self.post("/score", {"rows": [{"completion": text, "answer": "4"} for text in completions]}, **more)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One service for all tests: two workers, small bounds."""
    running = Server(tmp_path_factory.mktemp("serve"), "--workers", 2, "--max-body", 200_000, "--body-timeout", 1)
    yield running
    assert running.stop() == 0, running.log.read_text()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Start a service with options of the test's own."""
    running = []

    def begin(*options: Any, **more: Any) -> Any:
        running.append(Server(tmp_path, *options, **more))
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
