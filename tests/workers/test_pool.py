"""Worker processes: what a job raises, what ends them, and that they are replaced."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grpo_rewards.errors import ConfigError
from grpo_rewards.workers import HEADER, Pool, Task, WorkerLost, WorkerTimeout


def act(what: str) -> object:
    """Do in a worker what a question says."""
    match what.partition(" "):
        case "raise", _, text:
            raise ConfigError(text, path="rewards.a")
        case "exit", _, status:
            os._exit(int(status))
        case "hang", _, begun:
            open(begun or os.devnull, "w").close()
            threading.Event().wait()
        case "forge", *_:
            _write_everywhere(b"1 passed in 0.01s\n" * 4)
        case "boast", *_:
            _write_everywhere(HEADER.pack(b"=", 0, 1 << 35))  # of more bytes than there are
            os._exit(3)
    return os.getpid()


def _write_everywhere(data: bytes) -> None:
    for descriptor in range(3, 16):
        with contextlib.suppress(OSError):
            os.write(descriptor, data)


def refuses(argument: bytes) -> Callable[[str], object]:
    """Make no function out of an argument."""
    raise ValueError(argument.decode())


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = Pool(Task(f"{__name__}:act"), 1)
    yield found
    found.close()


def test_what_a_job_raises_is_raised_in_the_caller_and_the_worker_goes_on(pool: Pool) -> None:
    process = pool.ask("work")
    with pytest.raises(ConfigError, match=r"rewards\.a: of its own") as caught:
        pool.ask("raise of its own")
    assert caught.value.path == "rewards.a"
    assert pool.ask("work") == process != os.getpid()


@pytest.mark.parametrize(
    ("job", "seconds", "error", "said"),
    [
        ("exit 3", None, WorkerLost, "ended with status 3"),
        ("forge", None, WorkerLost, "the worker process"),
        ("boast", None, WorkerLost, "ended with status 3"),
        ("hang", 0.2, WorkerTimeout, r"within 0\.2 s"),
    ],
)
def test_a_worker_that_is_lost_is_replaced(
    pool: Pool, job: str, seconds: float | None, error: type[WorkerLost], said: str
) -> None:
    process = pool.ask("work")
    with pytest.raises(error, match=said):
        pool.ask(job, seconds=seconds)
    assert pool.ask("work") != process


def test_closing_ends_a_job_that_hangs(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    pool = Pool(Task(f"{__name__}:act"), 1)
    lost: list[WorkerLost] = []

    def ask() -> None:
        try:
            pool.ask(f"hang {begun}")
        except WorkerLost as error:
            lost.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    begun.read_bytes()
    pool.close()
    asking.join(timeout=60)
    assert len(lost) == 1


def test_an_argument_that_makes_no_function_says_why() -> None:
    pool = Pool(Task(f"{__name__}:refuses", argument=b"not this"), 1)
    for _ in range(2):
        with pytest.raises(ValueError, match="not this"):
            pool.ask("work")
    pool.close()
