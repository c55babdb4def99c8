"""The judge against a local endpoint over a real socket."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from grpo_rewards_plugins.judges import judge
from grpo_rewards_plugins.judges.endpoint import _Endpoint, _Limits

from grpo_rewards import Composite, Reward
from grpo_rewards.errors import ConfigError


class Endpoint(ThreadingHTTPServer):
    """Answers with what `script` says, one entry per request, the last one repeated, each after `seconds`."""

    request_queue_size = 64

    def __init__(self) -> None:
        self.script: list[tuple[int, str]] = []
        self.seen: list[tuple[Any, dict[str, Any]]] = []
        self.tokens, self.seconds = 0, 0.0
        self.running = self.most = 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append((self.headers.get("Authorization"), body))
        status, content = server.script[0] if len(server.script) == 1 else server.script.pop(0)
        with server.lock:
            server.running += 1
            server.most = max(server.most, server.running)
        canary = body["messages"][0]["content"].partition('"canary": \'')[2][:12]
        content = content.replace('{"score"', f'{{"canary": "{canary}", "score"')
        time.sleep(server.seconds)
        with server.lock:
            server.running -= 1
        usage = {"total_tokens": server.tokens}
        answer = json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/elsewhere")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def bound(server: Endpoint, **settings: Any) -> Reward:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return judge.with_(url=url, model="m", key_env="A_TEST_KEY", **{"requests_per_minute": 1e6, **settings})


def test_a_verdict_is_cached_and_the_key_is_sent_but_not_shown(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TEST_KEY", "s3cret")
    endpoint.script = [(200, '{"score": 0.25, "reason": "thin"}')]
    graded = [bound(endpoint).one("x", prompt="p") for _ in range(3)]
    assert [(one.value, one.reason) for one in graded] == [(0.25, "thin")] * 3
    assert len(endpoint.seen) == 1
    assert endpoint.seen[0][0] == "Bearer s3cret"
    assert "s3cret" not in repr(bound(endpoint)) + repr(graded)


def test_a_fenced_verdict_counts(endpoint: Endpoint) -> None:
    endpoint.script = [(200, 'So:\n```json\n{"score": 0.5, "reason": "half\\nright"}\n```')]
    found = bound(endpoint).one("x")
    assert (found.value, found.reason) == (0.5, "half right")


@pytest.mark.parametrize(
    "content", ["no json", "[]", '{"score": "1"}', '{"score": true}', '{"score": 2}', '{"score": NaN}', "{}"]
)
def test_an_answer_that_is_no_verdict_is_unavailable(endpoint: Endpoint, content: str) -> None:
    endpoint.script = [(200, content)]
    found = bound(endpoint, attempts=1).one("x")
    assert (found.value, found.status) == (None, "unavailable")


@pytest.mark.parametrize(("status", "asked"), [(500, 2), (429, 2), (404, 1), (302, 1)])
def test_only_what_may_pass_is_tried_again(endpoint: Endpoint, status: int, asked: int) -> None:
    endpoint.script = [(status, "")]
    found = bound(endpoint, attempts=2).one("x")
    assert found.status == "unavailable"
    assert str(status) in found.reason
    assert len(endpoint.seen) == asked


def test_it_recovers_and_the_budget_ends_it(endpoint: Endpoint) -> None:
    endpoint.script = [(503, ""), (200, '{"score": 1}')]
    assert bound(endpoint, budget=2).one("x").value == 1.0
    over = bound(endpoint, budget=2).one("y")
    assert over.status == "unavailable"
    assert "budget of 2" in over.reason
    assert len(endpoint.seen) == 2


@pytest.mark.parametrize("limits", [_Limits(6.0, math.inf, 3), _Limits(1e9, 600.0, 3)])
def test_calls_are_spaced_by_requests_and_tokens_until_the_budget_is_spent(limits: _Limits) -> None:
    endpoint = _Endpoint()
    waits = [endpoint.take_turn(100.0, limits) for _ in range(4)]
    assert waits[3] is None
    first, second, third = (wait for wait in waits if wait is not None)
    assert (first, second, third) == pytest.approx((0.0, 10.0, 20.0), abs=1.0)


@pytest.mark.slow
def test_tokens_are_put_right_by_what_the_endpoint_counted(endpoint: Endpoint) -> None:
    endpoint.script, endpoint.tokens = [(200, '{"score": 1}')], 6_000
    composite = Composite({"rewards": {"judge": {"use": bound(endpoint, tokens_per_minute=60_000.0)}}})
    started = time.monotonic()
    assert composite(completions=["x"]) == [1.0]
    assert composite(completions=["y"]) == [1.0]
    assert 4.0 < time.monotonic() - started < 30.0  # 6000 of 60000 tokens a minute: the next may start after 6 s


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_an_error_and_no_outage(endpoint: Endpoint, status: int) -> None:
    endpoint.script = [(status, "")]
    assert bound(endpoint, attempts=3).one("x").status == "error"
    assert len(endpoint.seen) == 1
    composite = Composite({"rewards": {"judge": {"use": bound(endpoint)}}})
    with pytest.raises(
        ConfigError, match=rf"rewards.judge: .*answered {status} at http://127.*refuses the key.*A_TEST_KEY"
    ):
        composite(completions=["y"])


@pytest.mark.parametrize("workers", [2, 8])
def test_the_width_is_the_components_workers(endpoint: Endpoint, workers: int) -> None:
    endpoint.script, endpoint.seconds = [(200, '{"score": 1}')], 0.2
    composite = Composite({"rewards": {"judge": {"use": bound(endpoint), "workers": workers}}})
    assert composite(completions=[str(row) for row in range(16)]) == [1.0] * 16
    assert endpoint.most == workers


def test_a_dead_judge_leaves_the_whole_row_out(endpoint: Endpoint) -> None:
    endpoint.script = [(500, "")]
    composite = Composite({"rewards": {"judge": bound(endpoint, attempts=1), "whole": "integer"}})
    table = composite.score([{"completion": "4"}])
    assert table.rewards() == [None]
    assert "judge" in table.left_out[0]
    assert "500" in table.left_out[0]


def test_nobody_there_is_unavailable() -> None:
    found = judge.with_(url="http://127.0.0.1:9", model="m", attempts=1).one("x")
    assert found.status == "unavailable"
