"""The service over a real socket: what it answers, whom it lets in, what it survives."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite

SERVE = [str(Path(sys.executable).with_name("grpo-rewards")), "serve", "rewards.yaml", "--port", "0"]
ROWS = [{"completion": text, "answer": "4", "prompt": "2+2?"} for text in ("4", "5", "a much longer answer than that")]


# ------------------------------------------------------------------------------------------------ shapes


def test_our_own_shape_says_what_a_composite_says(server: Any) -> None:
    status, found, _ = server.post("/score", {"rows": ROWS, "explain": True})
    assert status == 200
    folder = server.log.parent
    table = Composite(
        {"rewards": {"acts": {"use": "./acting.py:acts", "weight": 2},
                     "short": {"use": "length", "weight": 0.5, "params": {"target": 10, "band": 10}}}}, base=folder
    ).score(ROWS)  # fmt: skip
    assert found["rewards"] == table.rewards()
    assert found["components"] == {name: table.values(name) for name in table.components}
    assert found["rows"][0]["components"]["acts"]["reason"] == "compared"
    assert found["left_out"] == {}


def test_rows_come_in_every_shape_that_score_takes(server: Any) -> None:
    chat = [{"role": "assistant", "content": "4"}]
    rows = [{"completions": ["4", "5"], "answer": "4"}, {"response": "4", "answer": "4"},
            {"messages": [{"role": "user", "content": "2+2?"}, *chat], "answer": "4"}]  # fmt: skip
    status, found, _ = server.post("/score", {"rows": rows})
    assert status == 200
    assert found["components"]["acts"] == [1.0, 0.0, 1.0, 1.0]


def test_openrlhf(server: Any) -> None:
    body = {"query": ["2+2?4<|im_end|>", "2+2?5"], "prompts": ["2+2?", "2+2?"], "labels": ["4", "4"]}
    for path in ("/openrlhf", "/get_reward"):
        status, found, _ = server.post(path, body)
        assert status == 200
        assert found["rewards"] == found["scores"]
        assert found["extra_logs"]["component_acts"] == [1.0, 0.0]


def test_nemo_gym(server: Any) -> None:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}]
    body = {"responses_create_params": {"input": [{"role": "user", "content": "2+2?"}]}, "answer": "4"}
    status, found, _ = server.post("/verify", {**body, "response": {"output": output}})
    assert status == 200
    assert found["reward_components"]["acts"] == 1.0
    assert "_ng_failure_class" not in found


def test_a_row_that_cannot_be_scored_is_marked_and_the_rest_are_scored(server: Any) -> None:
    status, found, _ = server.score("4", "down:", "raise:", "5")
    assert status == 200
    assert [value is None for value in found["rewards"]] == [False, True, True, False]
    assert "the sandbox is away" in found["left_out"]["1"]
    assert "a defect" in found["left_out"]["2"]
    assert found["broken"] == [2]


# ------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize("token", [None, "", "wrong", "correct-hors", "correct-horse2", "correct-horse,other"])
def test_a_wrong_token_is_not_let_in(server: Any, token: str | None) -> None:
    status, found, headers = server.score("4", token=token)
    assert status == 401
    assert headers["www-authenticate"] == "Bearer"
    assert "rewards" not in found


def test_each_token_is_let_in_and_health_needs_none(server: Any) -> None:
    assert server.score("4", token="other")[0] == 200
    status, body = server.get("/health")
    assert status == 200
    assert json.loads(body)["workers"] == 2


@pytest.mark.slow
def test_others_may_not_reach_a_service_without_tokens(tmp_path: Path, start: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match="no token is set"):
        start("--host", "0.0.0.0", tokens="")


@pytest.mark.slow
def test_an_address_that_is_taken_is_said_before_anything_starts(start: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            AssertionError, match=rf"error: cannot listen on 127.0.0.1, port {port}: .*name another --port"
        ):
            start(port=port)


STARTS_SLOWLY = """
import pathlib, sys, time
from grpo_rewards import reward

if "grpo_rewards.workers" in " ".join(sys.orig_argv):
    pathlib.Path(__file__).with_name("starting").touch()
    time.sleep(600)

@reward(range=(0, 1))
def slow(completion: str) -> float:
    return 1.0
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_whose_workers_still_start_ends_when_it_is_asked_to(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "slow.py").write_text(STARTS_SLOWLY)
    (tmp_path / "rewards.yaml").write_text('rewards: {slow: {use: "./slow.py:slow"}}')
    with subprocess.Popen(SERVE, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "starting").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")


@pytest.mark.slow
def test_rewards_that_no_worker_can_load_are_an_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(STARTS_SLOWLY.replace("time.sleep(600)", "raise RuntimeError('not here')"))
    (tmp_path / "rewards.yaml").write_text('rewards: {slow: {use: "./slow.py:slow"}}')
    done = subprocess.run(
        [*SERVE, "--workers", "2"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the rewards cannot be loaded in a worker process")
    assert "RuntimeError: not here" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("declared", [True, False])
def test_an_oversized_body_is_refused_before_it_is_scored(server: Any, declared: bool) -> None:
    body = json.dumps({"rows": [{"completion": "x" * 1_000_000, "answer": "4"}]}).encode()
    sent = body if declared else (body[start : start + 50_000] for start in range(0, len(body), 50_000))
    status, answer, _ = server.request("POST", "/score", sent)
    assert status == 413
    assert b"fewer rows" in answer


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/score", b"", 400, "not JSON"),
        ("/score", b"{", 400, "not JSON"),
        ("/score", b"\xff\xfe", 400, "not"),
        ("/score", b"[1]", 400, "must be a JSON object"),
        ("/score", b"[" * 100_000, 400, "not JSON"),
        ("/score", {"rows": []}, 400, "one row or more"),
        ("/score", {"rows": ["x"]}, 400, "rows[0] must be an object"),
        ("/score", {"rows": [{"completion": 3, "answer": "4"}]}, 400, "rows[0]"),
        ("/score", {"rows": [{"answer": "4"}]}, 400, "no completion"),
        ("/score", {"rows": [{"completion": "4"}]}, 422, "'answer'"),
        ("/openrlhf", {"query": "x", "prompts": [], "labels": []}, 400, "query"),
        ("/openrlhf", {"query": ["b"], "prompts": ["a"], "labels": ["4"]}, 400, "does not begin with its prompt"),
        ("/verify", {"response": {}}, 400, "responses_create_params"),
    ],
)
def test_what_is_malformed_is_told(server: Any, path: str, body: Any, status: int, told: str) -> None:
    found = server.post(path, body)
    assert found[0] == status, found
    assert told in found[1]["error"]
    assert server.score("4")[0] == 200


def test_other_paths_and_methods(server: Any) -> None:
    assert server.request("GET", "/score")[0] == 405
    assert server.request("POST", "/nothing", b"{}")[0] == 404


# ------------------------------------------------------------------------------------------------ trouble


@pytest.mark.slow
def test_a_slow_client_is_cut_off_and_keeps_nobody_waiting(server: Any) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
        head = "POST /score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer correct-horse\r\nContent-Length: 1000\r\n\r\n{"
        slow.sendall(head.encode())
        assert server.score("4")[0] == 200
        answer = http.client.HTTPResponse(slow)
        answer.begin()
        assert answer.status == 408
        assert b"did not arrive" in answer.read()


def test_a_client_that_goes_away_leaves_nothing_behind(server: Any) -> None:
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as gone:
            gone.sendall(
                b"POST /score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer correct-horse\r\nContent-Length: 9\r\n\r\n{"
            )
    deadline = time.monotonic() + 20
    while json.loads(server.get("/health")[1])["pending"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert json.loads(server.get("/health")[1])["pending"] == 0
    assert "grpo_rewards_pending_bytes 0\n" in server.get("/metrics")[1]


def test_a_worker_that_is_killed_loses_no_request(server: Any, tmp_path: Path) -> None:
    status, found, _ = server.score("4", f"kill once:{tmp_path / 'mark'}")
    assert (tmp_path / "mark").exists()
    assert status == 200
    assert found["components"]["acts"] == [1.0, 0.0]


DYING = """
import contextlib, os, pathlib, signal, sys
from grpo_rewards import reward

if any("server.worker" in part for part in sys.orig_argv):  # not in the service itself, which reads the rewards too
    for mark in pathlib.Path(__file__).parent.glob("death-*"):
        with contextlib.suppress(FileNotFoundError):
            mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

@reward
def dying(completion: str) -> float:
    return 0.0
"""


@pytest.mark.slow
@pytest.mark.parametrize("deaths", [1, 2, 9])
def test_a_worker_that_is_killed_while_it_starts_is_started_again(
    start: Callable[..., Any], tmp_path: Path, deaths: int
) -> None:
    (tmp_path / "dying.py").write_text(DYING)
    for number in range(deaths):
        (tmp_path / f"death-{number}").touch()
    if deaths == 9:  # not by chance
        with pytest.raises(AssertionError, match=r"a worker process did not start, 3 times: .* signal 9"):
            start(more="  dying: {use: './dying.py:dying'}\n")
        return
    server = start(more="  dying: {use: './dying.py:dying'}\n")
    assert server.score("4")[1]["components"]["acts"] == [1.0]
    assert f"grpo_rewards_worker_restarts_total {deaths}\n" in server.get("/metrics")[1]


def test_a_request_that_kills_its_workers_is_told_and_the_service_goes_on(server: Any) -> None:
    status, found, _ = server.score("kill:")
    assert status == 500
    assert "signal 9" in found["error"]
    with ThreadPoolExecutor(4) as pool:
        assert [found[0] for found in pool.map(server.score, ["4"] * 8)] == [200] * 8
    assert json.loads(server.get("/health")[1])["workers"] >= 1


@pytest.mark.slow
def test_a_row_that_hangs_costs_itself_only(start: Callable[..., Any]) -> None:
    server = start(more="errors: {batch_timeout: 5}\n")
    status, found, _ = server.score("4", "sleep:1000", "5")
    assert status == 200
    assert [value is None for value in found["rewards"]] == [False, True, False]
    assert "batch_timeout" in found["left_out"]["1"]
    assert server.score("4")[0] == 200
    assert "grpo_rewards_worker_restarts_total 1\n" in server.get("/metrics")[1]


def test_metrics_count(server: Any) -> None:
    def count(name: str) -> Any:
        return sum(float(line.split()[-1]) for line in server.get("/metrics")[1].splitlines() if line.startswith(name))

    before = count("grpo_rewards_rows_total"), count('grpo_rewards_requests_total{path="/score",status="401"}')
    server.score("4", "5", "6")
    server.score("4", token="wrong")
    assert count("grpo_rewards_rows_total") == before[0] + 3
    assert count('grpo_rewards_requests_total{path="/score",status="401"}') == before[1] + 1
    assert count("grpo_rewards_request_seconds_count") > 0


@pytest.mark.slow
def test_a_full_queue_says_when_to_come_back(start: Callable[..., Any]) -> None:
    server = start("--max-pending", 2)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(server.score, ["sleep:0.5"] * 8))
    statuses = [status for status, _, _ in found]
    assert set(statuses) == {200, 429}
    assert all(int(headers["retry-after"]) >= 1 for status, _, headers in found if status == 429)
    assert server.score("4")[0] == 200


@pytest.mark.slow
def test_no_request_is_lost_at_twice_the_load_that_is_admitted(start: Callable[..., Any]) -> None:
    server = start("--max-pending", 4)
    until = time.monotonic() + 3

    def client(number: int) -> Any:
        statuses: list[int] = []
        while time.monotonic() < until or statuses[-1] == 429:  # what was refused is asked again to the end
            status, found, _ = server.score("4", "5", f"sleep:0.0{number}")
            statuses.append(status)
            if status == 429:
                time.sleep(0.05)
            else:
                assert found["components"]["acts"] == [1.0, 0.0, 0.0]
        return statuses

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for found in pool.map(client, range(8)) for status in found]
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 8
    assert f'path="/score",status="200"}} {statuses.count(200)}\n' in server.get("/metrics")[1]


@pytest.mark.slow
def test_asked_to_stop_it_answers_what_has_come_in(start: Callable[..., Any]) -> None:
    server = start()
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(server.score("sleep:1.5", "4")))
    waiting.start()
    deadline = time.monotonic() + 20
    while json.loads(server.get("/health")[1])["pending"] == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    server.process.send_signal(signal.SIGTERM)
    waiting.join(timeout=30)
    assert answers[0][0] == 200
    assert answers[0][1]["components"]["acts"] == [0.0, 1.0]
    assert server.process.wait(timeout=30) == 0
    with pytest.raises(OSError):
        server.score("4")
