"""An output that is killed in mid-file and taken up again: nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest

REWARD = """
import os, time
from grpo_rewards import reward

@reward(range=(0.0, 1.0))
def slow(completion: str, n: int) -> float:
    with open({log!r}, "a") as log:
        log.write(f"{{n}}\\n")
    time.sleep({seconds})
    return (n % 7) / 7
"""

ROWS = 160


@pytest.fixture
def setting(tmp_path: Path, jsonl: Callable[..., Path]) -> Any:
    """A file of rows in groups of four, a reward that logs each row it scores, and a configuration."""
    (tmp_path / "slow.py").write_text(REWARD.format(log=str(tmp_path / "log"), seconds=0.02))
    (tmp_path / "rewards.yaml").write_text("version: 1\nrewards:\n  slow: {use: './slow.py:slow'}\n")
    jsonl({"prompt": f"p{n // 4}", "completion": f"c{n}", "n": n} for n in range(ROWS))
    return tmp_path


def _logged(folder: Path) -> list[int]:
    log = folder / "log"
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def _kill_in_midfile(process: Any, folder: Path, after: int) -> None:
    """SIGKILL the process once `after` rows were scored and some of them are committed."""
    state = folder / "out.jsonl.partial.state"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        committed = json.loads(state.read_bytes())["row"] if state.exists() else 0
        if len(_logged(folder)) >= after and committed:
            break
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL


def _wait_for_quiet(folder: Path) -> None:
    """Workers end with their parent; what they still had under way is not to be counted as the resumed run's."""
    before = -1
    while before != (before := len(_logged(folder))):
        time.sleep(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("torn", [False, True])
def test_a_killed_run_goes_on_as_if_nothing_had_been(
    setting: Path, cli: Callable[..., CompletedProcess[str]], start: Callable[..., Popen[str]], workers: int, torn: bool
) -> None:
    whole = cli("score", "rows.jsonl", "-o", "whole.jsonl", "--workers", workers)
    assert whole.returncode == 0, whole.stderr
    (setting / "log").unlink()

    _kill_in_midfile(start("score", "rows.jsonl", "-o", "out.jsonl", "--workers", workers), setting, after=40)
    _wait_for_quiet(setting)
    assert not (setting / "out.jsonl").exists()
    committed = json.loads((setting / "out.jsonl.partial.state").read_bytes())["row"]
    assert 0 < committed < ROWS
    if torn:
        with (setting / "out.jsonl.partial").open("ab") as partial:
            partial.write(b'{"prompt":"p1","completion":"torn')
    (setting / "log").unlink()

    resumed = cli("score", "rows.jsonl", "-o", "out.jsonl", "--workers", workers, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert (setting / "out.jsonl").read_bytes() == (setting / "whole.jsonl").read_bytes()
    assert sorted(_logged(setting)) == list(range(committed, ROWS))
    summary = json.loads(resumed.stdout)
    assert (summary["rows"], summary["resumed"]) == (ROWS, committed)
    assert not list(setting.glob("out.jsonl.partial*"))


@pytest.mark.slow
def test_the_figures_of_a_resumed_run_are_those_of_a_whole_one(
    setting: Path, cli: Callable[..., CompletedProcess[str]], start: Callable[..., Popen[str]]
) -> None:
    whole = json.loads(cli("score", "rows.jsonl", "-o", "whole.jsonl", "--json").stdout)
    (setting / "log").unlink()
    _kill_in_midfile(start("score", "rows.jsonl", "-o", "out.jsonl"), setting, after=40)
    resumed = json.loads(cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume", "--json").stdout)
    for figures in (resumed["components"]["slow"], whole["components"]["slow"]):
        del figures["p95_seconds"]
    assert resumed["components"]["slow"] == pytest.approx(whole["components"]["slow"])
    assert resumed["reward"] == pytest.approx(whole["reward"])
    assert resumed["rows"] == whole["rows"] == ROWS


@pytest.fixture
def killed(setting: Path, start: Callable[..., Popen[str]]) -> Any:
    _kill_in_midfile(start("score", "rows.jsonl", "-o", "out.jsonl"), setting, after=20)
    return setting


@pytest.mark.slow
def test_an_unfinished_output_is_not_overwritten_unasked(
    killed: Any, cli: Callable[..., CompletedProcess[str]]
) -> None:
    before = (killed / "out.jsonl.partial").read_bytes()
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl")
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    assert "--force" in refused.stderr
    assert (killed / "out.jsonl.partial").read_bytes() == before
    forced = cli("score", "rows.jsonl", "-o", "out.jsonl", "--force")
    assert forced.returncode == 0
    assert len((killed / "out.jsonl").read_text().splitlines()) == ROWS


def test_a_changed_configuration_is_refused(killed: Any, cli: Callable[..., CompletedProcess[str]]) -> None:
    (killed / "rewards.yaml").write_text("version: 1\nrewards:\n  slow: {use: './slow.py:slow', weight: 2.0}\n")
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert refused.returncode == 2
    assert "config was" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_changed_plugin_is_refused_by_name(killed: Any, cli: Callable[..., CompletedProcess[str]]) -> None:
    with (killed / "slow.py").open("a") as file:
        file.write("# edited\n")
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert refused.returncode == 2
    assert "plugins was" in refused.stderr or "plugins.slow" in refused.stderr


def test_a_changed_input_is_refused(killed: Any, cli: Callable[..., CompletedProcess[str]]) -> None:
    with (killed / "rows.jsonl").open("a") as file:
        file.write('{"prompt": "p", "completion": "more", "n": 1}\n')
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert refused.returncode == 2
    assert "input.size was" in refused.stderr


def test_a_partial_that_was_cut_is_refused(killed: Any, cli: Callable[..., CompletedProcess[str]]) -> None:
    partial = killed / "out.jsonl.partial"
    os.truncate(partial, 10)
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert refused.returncode == 2
    assert "cut or changed" in refused.stderr


@pytest.mark.slow
def test_a_finished_output_is_kept(setting: Path, cli: Callable[..., CompletedProcess[str]]) -> None:
    assert cli("score", "rows.jsonl", "-o", "out.jsonl").returncode == 0
    before = (setting / "out.jsonl").read_bytes()
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl")
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    (setting / "log").unlink()
    again = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert again.returncode == 0
    assert (setting / "out.jsonl").read_bytes() == before
    assert _logged(setting) == []


FLAKY = """
import os
from grpo_rewards import Outcome, reward

@reward(range=(0.0, 1.0))
def flaky(completion: str, n: int):
    with open({log!r}, "a") as log:
        log.write(f"{{n}}\\n")
    if n in (5, 18) and not os.path.exists({flag!r}):
        return Outcome(None, "unavailable", "the service is down")
    return (n % 7) / 7
"""


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "workers"), [("", "1"), (".gz", "1"), (".zst", "1"), ("", "2")])
def test_resume_on_a_finished_output_scores_only_groups_with_rows_left_out(
    tmp_path: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]], suffix: str, workers: str
) -> None:
    (tmp_path / "flaky.py").write_text(FLAKY.format(log=str(tmp_path / "log"), flag=str(tmp_path / "up")))
    jsonl({"prompt": f"p{n // 4}", "completion": f"c{n}", "n": n} for n in range(40))
    only, out = ("--only", "./flaky.py:flaky"), f"out.jsonl{suffix}"

    first = cli("score", "rows.jsonl", *only, "-o", out)
    assert first.returncode == 3, first.stderr
    assert "2 left out" in first.stderr
    still_down = cli("score", "rows.jsonl", *only, "-o", out, "--resume")
    assert still_down.returncode == 3, still_down.stderr

    (tmp_path / "up").touch()
    (tmp_path / "log").unlink()
    second = cli("score", "rows.jsonl", *only, "-o", out, "--resume", "--json", "--workers", workers)
    assert second.returncode == 0, second.stderr
    assert sorted(_logged(tmp_path)) == [4, 5, 6, 7, 16, 17, 18, 19]
    summary = json.loads(second.stdout)
    assert (summary["rows"], summary["resumed"], summary["unavailable"]) == (40, 32, 0)

    whole = cli("score", "rows.jsonl", *only, "-o", f"whole.jsonl{suffix}")
    assert whole.returncode == 0
    assert (tmp_path / out).read_bytes() == (tmp_path / f"whole.jsonl{suffix}").read_bytes()
    assert sorted(path.name for path in tmp_path.glob("out.jsonl*")) == [out, f"{out}.meta.json"]
    assert json.loads((tmp_path / f"{out}.meta.json").read_text())["summary"] == json.loads(second.stdout)


def test_a_missing_column_leaves_no_partial_behind(
    setting: Path, cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl([{"completion": "x"}] * 3)
    refused = cli("score", "rows.jsonl", "-o", "out.jsonl")
    assert refused.returncode == 2
    assert "'n'" in refused.stderr
    assert not list(setting.glob("out.jsonl*"))
