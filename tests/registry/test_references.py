"""Rewards by name, by file and by module, and across processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_rewards import get_reward, reward
from grpo_rewards.errors import UnknownRewardError

SOURCE = '''
from grpo_rewards import reward

@reward(range=(0, 1))
def style(completion: str, *, word: str = "please") -> float:
    """Says the word."""
    return float(word in completion)

def trl_style(completions, **kwargs):
    return [float(len(completion)) for completion in completions]

def plain(completion, answer):
    return float(completion == answer)

NUMBER = 3
'''


@pytest.fixture
def rewards_file(tmp_path: Path) -> Path:
    path = tmp_path / "my_rewards.py"
    path.write_text(SOURCE)
    return path


def test_a_reward_from_a_file_relative_to_the_configuration(rewards_file: Path, tmp_path: Path) -> None:
    found = get_reward("./my_rewards.py:style", base=tmp_path)
    assert found(completions=["yes please", "no"]) == [1.0, 0.0]
    assert found.version.startswith("sha256:")
    assert get_reward(f"{rewards_file}:trl_style")(completions=["ab"]) == [2.0]
    assert get_reward(f"{rewards_file}:plain")(completions=["a"], answer=["a"]) == [1.0]


def test_an_edited_file_is_another_version(rewards_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # bytecode of the first is not taken for the second
    before = get_reward(f"{rewards_file}:style")
    written = rewards_file.stat().st_mtime_ns
    rewards_file.write_text(SOURCE.replace('"please"', '"thanks"'))
    os.utime(rewards_file, ns=(written, written))
    after = get_reward(f"{rewards_file}:style")
    assert before.version != after.version
    assert after(completions=["thanks"]) == [1.0]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("{file}:stile", "has no 'stile'; did you mean 'style'"),
        ("{file}:NUMBER", "is no reward: expected a reward or a function, not int"),
        ("{folder}/missing.py:x", "there is no file"),
        ("no_such_package.mod:x", "there is no module 'no_such_package'"),
        ("grpo_rewards:nothing", "has no 'nothing'"),
        ("no_such_reward", "there is no reward 'no_such_reward'"),
        ("xml_fromat", "did you mean 'xml_format'"),
    ],
)
def test_a_wrong_reference_says_what_to_do(rewards_file: Path, reference: str, message: str) -> None:
    text = reference.format(file=rewards_file, folder=rewards_file.parent)
    with pytest.raises(UnknownRewardError, match=message) as caught:
        get_reward(text)
    assert caught.value.reference == text


def test_a_file_that_raises_is_reported_and_not_cached(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise RuntimeError('boom')")
    for _ in range(2):
        with pytest.raises(UnknownRewardError, match="RuntimeError: boom"):
            get_reward(f"{path}:x")


def test_a_reward_from_a_file_crosses_into_a_spawned_process(rewards_file: Path) -> None:
    found = get_reward(f"{rewards_file}:style").with_(word="hello")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_score, (found, ["hello", "please"])) == [1.0, 0.0]


def test_a_reward_pickles_by_reference_with_its_settings(tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text(SOURCE + "\npolite = style.with_(word='kindly')\n")
    code = (
        "import pickle, my_module as m;"
        "bound = pickle.loads(pickle.dumps(m.style.with_(word='x')));"
        "assert bound.function is m.style.function and bound.settings == {'word': 'x'};"
        "assert pickle.loads(pickle.dumps(m.polite))(completions=['kindly']) == [1.0];"
        "from grpo_rewards._contract import as_reward;"
        "assert pickle.loads(pickle.dumps(as_reward(m.trl_style)))(completions=['abc']) == [3.0]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_local_reward_says_why_it_cannot_be_pickled() -> None:
    @reward
    def local(completion: str) -> float:
        return 0.0

    with pytest.raises(pickle.PicklingError, match="not at the top level of an importable module"):
        pickle.dumps(local)


def _score(found, completions):  # type: ignore[no-untyped-def]
    return found(completions=completions)
