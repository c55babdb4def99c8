"""The reward `remote`: a composite whose rewards are computed by a service elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError

REMOTE = "grpo_rewards_adapters.server.client:remote"
ROWS = [{"prompt": f"q{n // 4}", "completion": str(n % 6), "answer": "4"} for n in range(40)]


@pytest.fixture
def remote(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GRPO_REWARDS_TOKEN", "correct-horse")

    def composite(**params: Any) -> Any:
        settings = {"url": server.url, "chunk": 8, **params}
        return Composite({"rewards": {"far": {"use": REMOTE, "params": settings}}})

    return composite


def test_a_composite_scores_through_a_service_as_here(server: Any, remote: Any) -> None:
    _, local, _ = server.post("/score", {"rows": ROWS})
    assert remote().score(ROWS).rewards() == local["rewards"]


def test_the_call_of_a_trainer_goes_through(server: Any, remote: Any) -> None:
    found = remote()(
        prompts=["q", "q"], completions=["4", "5"], completion_ids=[[1], [2]], answer=["4", "4"],
        trainer_state=None, log_extra=lambda *_: None, log_metric=lambda *_: None,
    )  # fmt: skip
    assert found[0] == found[1] + 2.0


def test_what_the_service_left_out_is_left_out_here(remote: Any) -> None:
    table = remote().score([{"completion": text, "answer": "4"} for text in ("4", "down:", "raise:")])
    statuses = [outcome.status for outcome in table.components["far"]]
    assert statuses == ["scored", "unavailable", "error"]
    assert "the sandbox is away" in table.left_out[1]


def test_no_answer_is_no_grade(remote: Any) -> None:
    table = remote(url="http://127.0.0.1:9", attempts=2).score(ROWS[:3])
    assert table.rewards() == [None] * 3
    assert {outcome.status for outcome in table.components["far"]} == {"unavailable"}
    assert "cannot be reached" in table.left_out[0]


@pytest.mark.parametrize("plugin", ["raise", "drop_row"])
@pytest.mark.parametrize(("name", "said"), [("GRPO_REWARDS_TOKEN", "is not the service's"), ("NOT_SET", "is not set")])
def test_a_refused_token_is_an_error_of_the_configuration(
    server: Any, monkeypatch: pytest.MonkeyPatch, name: str, said: str, plugin: str
) -> None:
    monkeypatch.setenv("GRPO_REWARDS_TOKEN", "wrong")
    far = {"use": REMOTE, "params": {"url": server.url, "token_env": name}}
    composite = Composite({"rewards": {"far": far}, "errors": {"plugin": plugin, "max_infra_rate": 1.0}})
    with pytest.raises(
        ConfigError, match=rf"^rewards\.far: http://127.*answered 401: .*; the token in \${name} {said}$"
    ):
        composite(completions=["1", "2"], prompts=["q", "q"], answer=["4", "4"])
    table = composite.score(ROWS[:3])
    assert {outcome.status for outcome in table.components["far"]} == {"error"}
    assert "401" in table.left_out[0]


@pytest.mark.slow
def test_a_full_service_is_asked_again(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    server = start("--max-pending", 1)
    monkeypatch.setenv("GRPO_REWARDS_TOKEN", "correct-horse")
    composite = Composite({"rewards": {"far": {"use": REMOTE, "params": {"url": server.url, "chunk": 1}}}})
    rows = [{"prompt": str(n), "completion": "sleep:0.3", "answer": "4"} for n in range(4)]
    assert None not in composite.score(rows).rewards()
    assert 'status="429"' in server.get("/metrics")[1]


@pytest.mark.slow
def test_a_service_that_comes_back_loses_nothing(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRPO_REWARDS_TOKEN", "correct-horse")
    server = start()
    composite = Composite({"rewards": {"far": {"use": REMOTE, "params": {"url": server.url, "attempts": 8}}}})
    server.process.kill()
    server.process.wait()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(composite.score, ROWS[:4])
        time.sleep(0.3)
        restarted = start(port=server.port)
        assert None not in waiting.result(timeout=60).rewards()
    assert restarted.process.poll() is None
