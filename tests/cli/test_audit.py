"""``grpo-rewards audit``, from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

GREEDY = """
import time
from grpo_rewards import hookimpl, reward
from grpo_rewards.types import Probes

@reward(range=(0, 1))
def magic(completion: str) -> float:
    '''Falls for one word.'''
    return float("xyzzy" in completion)

@reward(range=(0, 1))
def backwards(completion: str, word: str) -> float:
    '''The word, read backwards.'''
    return float(completion.strip() == word[::-1])

@hookimpl
def register_probes():
    def probes(word=None):
        return Probes(stubs=("", word), references=(word[::-1],), mutants=(word[::-1] + "x",)) if word else None
    return {"backwards": probes}

@hookimpl
def register_attacks():
    def say_it(case):
        '''says the magic word'''
        yield "xyzzy " + case.prompt_text
    return {"magic word": say_it}
"""


@pytest.fixture
def site(tmp_path: Path) -> Any:
    """A folder with an installed distribution that brings a reward and an attack on it."""
    folder = tmp_path / "site"
    info = folder / "greedy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[grpo_rewards]\ngreedy = greedy\n")
    (folder / "greedy.py").write_text(GREEDY)
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))}


@pytest.mark.slow
def test_a_plugin_contributes_attacks(cli: Callable[..., CompletedProcess[str]], site: Path, tmp_path: Path) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {it: magic}\n")
    run = cli("audit", "rewards.yaml", env=site)
    assert run.returncode == 1, run.stderr
    assert "finding: magic word (says the magic word) earns 1, an honest wrong answer 0" in run.stdout
    assert "it paid +1" in run.stdout
    found = json.loads(cli("audit", "rewards.yaml", "--json", env=site).stdout)
    assert [one["attack"] for one in found["findings"]] == ["magic word"]
    assert {one["attack"] for one in found["attacks"]} >= {"empty", "padding", "magic word"}


def test_a_clean_configuration_exits_0(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {exact: exact}\n")
    run = cli("audit", "rewards.yaml")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no cheat pays" in run.stderr
    assert "PAYS" not in run.stdout


@pytest.mark.slow
def test_a_service_that_is_down_is_no_clean_bill(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "down.py").write_text(
        "from grpo_rewards import Outcome, reward\n@reward\ndef down(completion: str) -> Outcome:\n"
        "    return Outcome(None, 'unavailable', 'connection refused')\n"
    )
    (tmp_path / "rewards.yaml").write_text("rewards: {down: './down.py:down'}\n")
    run = cli("audit", "rewards.yaml")
    assert run.returncode == 3
    assert "connection refused" in run.stderr


def test_a_missing_configuration_is_usage(cli: Callable[..., CompletedProcess[str]]) -> None:
    run = cli("audit", "none.yaml")
    assert run.returncode == 2
    assert "none.yaml" in run.stderr


@pytest.mark.slow
def test_a_plugin_says_what_is_tried_on_its_rows(
    cli: Callable[..., CompletedProcess[str]], site: Path, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    file = jsonl(
        [{"prompt": "Turn it round: stressed", "word": "stressed"}, {"prompt": "Turn it round: level", "word": "level"}]
    )
    run = cli("audit", file, "-o", "marked.jsonl", env=site)
    assert run.returncode == 1, run.stderr
    assert "judged 2 by backwards" in run.stderr
    assert f"{file}:2: the completion 'level' gets 100% of the reward" in run.stdout
    marks = [json.loads(line)["audit"] for line in (tmp_path / "marked.jsonl").read_text().splitlines()]
    assert marks == ["fit", "nop"]
    found = json.loads(cli("audit", file, "--json", env=site).stdout)
    assert (found["kind"], found["checks"]["nop"]["rows"], found["findings"][0]["row"]) == ("data audit", 1, 2)


def test_data_that_is_fit_exits_0(cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]) -> None:
    run = cli(
        "audit", jsonl([{"prompt": "What is 6 times 7?", "gold": "42"}]), "--only", "math", "--column", "answer=gold"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "nothing found" in run.stderr


def test_data_in_which_nothing_can_be_tried_is_usage(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    run = cli("audit", jsonl([{"prompt": "Say something.", "mood": "good"}]))
    assert run.returncode == 2
    assert "nothing in it could be tried" in run.stderr


def test_a_configuration_on_which_nothing_can_be_tried_is_no_clean_bill(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {exact: {use: exact, when: {column: answer, present: false}}}\n")
    run = cli("audit", "rewards.yaml")
    assert run.returncode == 3, run.stdout + run.stderr
    assert "nothing could be tried" in run.stderr


def test_options_of_data_are_refused_for_a_configuration(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {exact: exact}\n")
    run = cli("audit", "rewards.yaml", "-o", "marked.jsonl")
    assert run.returncode == 2
    assert "goes with DATA" in run.stderr
