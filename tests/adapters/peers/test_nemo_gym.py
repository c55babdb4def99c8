"""NeMo Gym: a resources server of its own classes, asked over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from grpo_rewards_adapters.nemo_gym import verify
from hostile import BROKEN, LOST, RIGHT
from nemo_gym.base_resources_server import (
    BaseMultiRewardVerifyResponse,
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    SimpleResourcesServer,
)
from nemo_gym.rollout_collection import NG_FAILURE_CLASS_KEY
from nemo_gym.server_utils import BaseServerConfig, ServerClient
from omegaconf import DictConfig


class Request(BaseVerifyRequest):
    """A verify request with a column of the data."""

    answer: str


class Server(SimpleResourcesServer):
    """A resources server as a user writes it."""

    async def verify(self, body: Request) -> BaseMultiRewardVerifyResponse:
        """Score in a thread, so that the server answers others meanwhile."""
        return BaseMultiRewardVerifyResponse.model_validate(await asyncio.to_thread(verify, body))


@pytest.fixture(scope="module")
def client(config: str) -> TestClient:
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=DictConfig({})
    )
    settings = BaseResourcesServerConfig(host="127.0.0.1", port=2, entrypoint="app.py", name="sums")
    app = Server(config=settings, server_client=client).setup_webserver()
    return TestClient(app, raise_server_exceptions=False)


def posted(client: TestClient, text: str) -> Any:
    said = {"type": "output_text", "text": text, "annotations": []}
    response = {
        "id": "r", "object": "response", "created_at": 0, "model": "m", "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}],
    }  # fmt: skip
    body = {
        "responses_create_params": {"input": [{"role": "user", "content": "2+2?"}]},
        "response": response,
        "answer": "4",
    }
    return client.post("/verify", json=body)


def asked(client: TestClient, text: str) -> dict[str, Any]:
    answer = posted(client, text)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(("text", "reward"), [("4", 2.0), ("5", 0.0)])
def test_a_servers_body_is_scored_and_its_components_are_kept(client: TestClient, text: str, reward: float) -> None:
    found = asked(client, text)
    assert (found["reward"], found["reward_components"]) == (reward, {"right": reward / 2})
    assert NG_FAILURE_CLASS_KEY not in found


def test_what_could_not_be_graded_has_the_mark_that_nemo_gym_sorts_out(client: TestClient) -> None:
    found = asked(client, "down")
    assert found[NG_FAILURE_CLASS_KEY] == "judge_failed"
    assert "no route to service" in found["_ng_failure_judge_error"]
    assert found["response"]["output"][0]["content"][0]["text"] == "down"


def test_whatever_breaks_has_the_mark(client: TestClient, hostile_default: Callable[..., None]) -> None:
    hostile_default()
    for text in (*LOST, *RIGHT):
        found = asked(client, text)
        if text in RIGHT:
            assert found["reward"] == 2.0 * RIGHT[text]
            assert NG_FAILURE_CLASS_KEY not in found
        else:
            assert found[NG_FAILURE_CLASS_KEY] == "judge_failed", text


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_gives_no_answer_that_has_a_reward(
    client: TestClient, hostile_default: Callable[..., None], text: str
) -> None:
    """Its collection of rollouts raises for such a status, and ends."""
    for reward in ("scripted", "short"):
        hostile_default(reward, plugin="raise")
        answer = posted(client, text)
        assert answer.status_code == 500
        assert "reward" not in answer.text
