"""Trainers as they are released, whole, each in an environment of its own that ``.ci/peers`` makes and names here."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import grpo_rewards

sys.path.insert(0, str(Path(__file__).parent))

PEER = os.environ.get("GRPO_REWARDS_PEER", "")
"""The peer whose environment this is; elsewhere none of these tests is collected."""

collect_ignore_glob = ["test_*.py"] if not PEER else []

REWARDS = '''
from grpo_rewards import Outcome, reward


@reward(range=(0.0, 1.0))
def right(completion: str, answer: str) -> Outcome:
    """The completion is the answer; a service that it asks is down for some."""
    if "down" in completion:
        return Outcome(None, "unavailable", "no route to service")
    return Outcome(float(completion.strip() == answer))
'''


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a composition that gives 2.0 for the answer, 0.0 for another one, and nothing for "down"."""
    folder: Path = tmp_path_factory.mktemp("composition")
    (folder / "mine.py").write_text(REWARDS)
    (folder / "rewards.yaml").write_text(
        "rewards: {right: {use: './mine.py:right', weight: 2.0}}\nerrors: {max_infra_rate: 1.0}\n"
    )
    path = str(folder / "rewards.yaml")
    os.environ["GRPO_REWARDS_CONFIG"] = path
    return path


@pytest.fixture(scope="session")
def hostile_config(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The path of a composition of weight 2.0 around a reward of `hostile`, for a choice of ``errors.plugin``.

    No engine answers where it looks for Docker.
    """
    os.environ["DOCKER_HOST"] = "unix:///nonexistent/docker.sock"
    source = Path(__file__).with_name("hostile.py")

    def path_of(reward: str = "scripted", *, plugin: str = "drop_row") -> str:
        path = tmp_path_factory.mktemp("hostile") / "rewards.yaml"
        errors = f"{{plugin: {plugin}, max_infra_rate: 1.0, batch_timeout: 4}}"
        path.write_text(f"rewards: {{it: {{use: '{source}:{reward}', weight: 2.0}}}}\nerrors: {errors}\n")
        return str(path)

    return path_of


@pytest.fixture
def hostile_default(hostile_config: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make such a composition the one that adapters take where they are told none."""

    def use(reward: str = "scripted", *, plugin: str = "drop_row") -> None:
        composite = grpo_rewards.load(hostile_config(reward, plugin=plugin))
        monkeypatch.setitem(vars(grpo_rewards), "composite_reward", composite)

    return use


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The one-layer model and its tokenizer of the training tests."""
    spec = importlib.util.spec_from_file_location("tiny", Path(__file__).parents[2] / "training" / "tiny.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
