"""The rule of slots: the processors that a process may use, divided by the processes that share them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grpo_rewards.slots import SHARED_BY, quota

PRINT = "from grpo_rewards.slots import cores, slots; print(cores(), slots())"
HERE = len(os.sched_getaffinity(0))


def asked(prepare: str = "", **environment: str) -> tuple[int, int]:
    """Cores and slots of a process of its own."""
    clean = {name: value for name, value in os.environ.items() if name not in ("LOCAL_WORLD_SIZE", SHARED_BY)}
    done = subprocess.run(
        [sys.executable, "-c", f"import os\n{prepare}\n{PRINT}"],
        env={**clean, **environment}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    first, second = map(int, done.stdout.split())
    return first, second


def test_affinity_counts() -> None:
    one = min(os.sched_getaffinity(0))
    assert asked() == (HERE, HERE)
    assert asked(f"os.sched_setaffinity(0, {{{one}}})") == (1, 1)


@pytest.mark.parametrize(
    ("environment", "processes"),
    [
        ({"LOCAL_WORLD_SIZE": "2"}, 2),
        ({"LOCAL_WORLD_SIZE": "64"}, 64),
        ({"LOCAL_SIZE": "2"}, 2),
        ({"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, 2),
        ({"WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1"}, 1),
        ({"WORLD_SIZE": "16", "MASTER_ADDR": "localhost", "LOCAL_WORLD_SIZE": "1"}, 1),
        ({SHARED_BY: "2"}, 2),
        ({SHARED_BY: "0", "LOCAL_WORLD_SIZE": "two"}, 1),
    ],
)
def test_processes_that_share_the_processors_share_the_slots(environment: dict[str, str], processes: int) -> None:
    assert asked(**environment) == (HERE, max(1, HERE // processes))


@pytest.mark.slow
def test_scoring_processes_share_the_slots(tmp_path, jsonl, cli) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "asks.py").write_text(
        "from grpo_rewards import reward\nfrom grpo_rewards.slots import sharers\n"
        "@reward\ndef shared(completion: str) -> float:\n    return float(sharers())\n"
    )
    jsonl([{"prompt": f"p{number}", "completion": "x"} for number in range(4)])
    for workers in (1, 3):
        out = f"out{workers}.jsonl"
        run = cli("score", "rows.jsonl", "--only", "./asks.py:shared", "-o", out, "--workers", workers)
        assert run.returncode == 0, run.stderr
        rewards = [json.loads(line)["grpo_rewards"]["reward"] for line in (tmp_path / out).read_text().splitlines()]
        processes = 1 if workers == 1 else max(2, min(workers, HERE))  # no more than have a processor
        assert rewards == [processes] * 4


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/pod/container\n", {"pod/cpu.max": "200000 100000", "pod/container/cpu.max": "max 100000"}, 2.0),
        ("0::/pod/a\n", {"pod/cpu.max": "400000 100000", "pod/a/cpu.max": "100000 50000", "cpu.max": "nonsense"}, 2.0),
        ("0::/of/the/machine\n", {"cpu.max": "300000 100000"}, 3.0),
        (
            "5:memory:/x\n4:cpu,cpuacct:/docker/a\n",
            {"cpu,cpuacct/docker/a/cpu.cfs_quota_us": "50000", "cpu,cpuacct/docker/a/cpu.cfs_period_us": "100000"},
            0.5,
        ),
        ("1:cpu:/docker/a\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, float("inf")),
        ("2:cpu:/\n0::/\n", {"unified/cpu.max": "max 100000"}, float("inf")),
        ("", {}, float("inf")),
    ],
)
def test_quotas_of_both_versions_are_read(tmp_path: Path, cgroup: str, files: dict[str, str], expected: float) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert quota(tmp_path) == expected


@pytest.fixture
def half_a_processor() -> Iterator[str]:
    """The path of `cgroup.procs` of a group of this machine that has half a processor."""
    made: Path | None = None
    for controller, limits in (
        ("cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}),
        ("", {"cpu.max": "50000 100000"}),
    ):
        folder = Path("/sys/fs/cgroup") / controller / f"grpo-rewards-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            made = folder
            for name, value in limits.items():
                (folder / name).write_text(value)
            break
        if made is not None:
            made.rmdir()
            made = None
    if made is None:
        pytest.skip("THE QUOTA OF A REAL CONTROL GROUP WAS NOT TESTED: this user may not make one")
    yield f"{made}/cgroup.procs"
    made.rmdir()


def test_the_quota_of_a_real_group_counts(half_a_processor: str) -> None:
    join = f"open({half_a_processor!r}, 'w').write(str(os.getpid()))"
    assert asked(f"{join}\nfrom grpo_rewards.slots import quota\nassert quota() == 0.5, quota()") == (1, 1)
