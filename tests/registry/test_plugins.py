"""Third-party plugins: installed for real, and broken ones among them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pluggy
import pytest

from grpo_rewards import hookimpl, reward
from grpo_rewards._registry import Registry, hookspecs
from grpo_rewards._registry.loader import load_plugins

PLUGIN = '''
from grpo_rewards import reward

@reward(range=(0, 1))
def tone(completion: str, *, word: str = "please") -> float:
    """The completion is polite."""
    return float(word in completion)
'''
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "my-tone"
version = "4.2"
[project.entry-points.grpo_rewards]
tone = "my_tone.rewards"
[tool.hatch.build.targets.wheel]
packages = ["my_tone"]
"""


@pytest.mark.slow
def test_a_second_distribution_is_used_from_the_command_line(
    fresh_python: Path, fresh_pip: list[str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / "my_tone").mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "my_tone" / "__init__.py").touch()
    (project / "my_tone" / "rewards.py").write_text(PLUGIN)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(project)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("my_tone-*.whl")
    subprocess.run([*fresh_pip, "install", "--no-deps", str(wheel)], check=True, capture_output=True)
    rows = [{"prompt": "p", "completion": text} for text in ("yes please", "no")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rewards.yaml").write_text("rewards: {manners: {use: tone, weight: 2}}\n")
    try:
        cli = str(fresh_python.parent / "grpo-rewards")
        done = subprocess.run(
            [cli, "score", "rows.jsonl", "-o", "out.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        scored = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [row["grpo_rewards"]["reward"] for row in scored] == [2.0, 0.0], done.stderr
        listed = subprocess.run(
            [cli, "list"], cwd=tmp_path, capture_output=True, text=True, check=True, env={"COLUMNS": "200"}
        )
        assert "my-tone" in listed.stdout
        assert "4.2" in listed.stdout
    finally:
        subprocess.run([*fresh_pip, "uninstall", "-y", "my-tone"], check=True, capture_output=True)


# ------------------------------------------------------------------------------------------------ broken ones


class _Point(EntryPoint):
    """An entry point whose module is given, in place of one that is installed."""

    def load(self) -> object:
        module = MODULES[self.value]
        if isinstance(module, BaseException):
            raise module
        return module


def _module(name: str, **members: object) -> ModuleType:
    module = ModuleType(name)
    for key, value in members.items():
        if hasattr(value, "__module__"):
            value.__module__ = name
        setattr(module, key, value)
    return module


@reward
def good(completion: str) -> float:
    return 1.0


@reward
def hooked(completion: str) -> float:
    return 1.0


@hookimpl
def register_rewards() -> list[object]:
    return [hooked]


@hookimpl
def register_reward() -> list[object]:
    return []


def _not_a_reward() -> list[object]:
    return [lambda completion: 1.0]


MODULES: dict[str, object] = {
    "good_one": _module("good_one", good=good),
    "hooked_one": _module("hooked_one", register_rewards=register_rewards),
    "misspelt_one": _module("misspelt_one", register_reward=register_reward),
    "wrong_one": _module("wrong_one", register_rewards=hookimpl(_not_a_reward, specname="register_rewards")),
    "missing_one": ModuleNotFoundError("No module named 'gone'"),
    "raising_one": RuntimeError("boom"),
    "leaving_one": SystemExit(3),
}


@pytest.fixture
def plugins(caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    manager = pluggy.PluginManager("grpo_rewards")
    manager.add_hookspecs(hookspecs)
    points = [_Point(name, name, "grpo_rewards") for name in MODULES]
    return {plugin.name: plugin for plugin in load_plugins(manager, points)}


def test_broken_plugins_are_named_and_the_rest_go_on(plugins) -> None:  # type: ignore[no-untyped-def]
    assert [reward.name for reward in plugins["good_one"].rewards] == ["good"]
    assert [reward.name for reward in plugins["hooked_one"].rewards] == ["hooked"]
    problems = {name: " ".join(plugin.problems) for name, plugin in plugins.items() if plugin.problems}
    assert set(problems) == {"misspelt_one", "wrong_one", "missing_one", "raising_one", "leaving_one"}
    assert "unknown hook 'register_reward'; did you mean 'register_rewards'?" in problems["misspelt_one"]
    assert "no Reward" in problems["wrong_one"]
    assert "ModuleNotFoundError: No module named 'gone'" in problems["missing_one"]
    assert "boom" in problems["raising_one"]


def test_a_name_that_two_distributions_give_is_reported_and_the_first_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    @reward(name="good")
    def usurper(completion: str) -> float:
        return 0.0

    monkeypatch.setitem(MODULES, "usurping_one", _module("usurping_one", usurper=usurper))
    points = [_Point(name, name, "grpo_rewards") for name in ("good_one", "usurping_one")]
    monkeypatch.setattr("grpo_rewards._registry.loader.entry_points", lambda group: points)
    registry = Registry.scan()
    assert registry.rewards["good"] is good
    assert len(registry.duplicates) == 1
    assert "usurping_one:good" in registry.duplicates[0]


def test_imported_rewards_of_others_are_not_registered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    borrowed = _module("borrowing_one")
    borrowed.theirs = good  # type: ignore[attr-defined]
    good.__module__ = "good_one"
    monkeypatch.setitem(MODULES, "borrowing_one", borrowed)
    manager = pluggy.PluginManager("grpo_rewards")
    manager.add_hookspecs(hookspecs)
    (plugin,) = load_plugins(manager, [_Point("borrowing_one", "borrowing_one", "grpo_rewards")])
    assert plugin.rewards == ()
    assert plugin.problems == ()
