"""What a forked child gets: threads, locks and connections of its own, by one rule."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grpo_rewards.forks import PerProcess

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("grpo_rewards", "plugins/grpo_rewards_plugins", "trainer_adapter/grpo_rewards_adapters")


def test_a_process_makes_one_for_all_its_threads() -> None:
    made: list[int] = []

    def make() -> object:
        made.append(1)
        return object()

    ours = PerProcess(make)
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(ours())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert len(set(map(id, seen))) == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_makes_its_own_though_the_parent_held_the_lock() -> None:
    lock = PerProcess(threading.Lock)
    with lock():
        child = os.fork()
        if child == 0:
            os._exit(0 if lock().acquire(blocking=False) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (path for path in (ROOT / package).rglob("*.py") if path.name != "forks.py")


def test_no_module_keeps_a_lock_or_a_hook_of_its_own() -> None:
    """A lock that another thread holds during a fork is held for ever in the child."""
    kept = []
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            text = ast.unparse(node) if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else ""
            if any(text.endswith(f"= {lock}()") for lock in ("threading.Lock", "threading.RLock")):
                kept.append(f"{path}: {text}")
            if "register_at_fork" in text:
                kept.append(f"{path}: {text}")
    assert kept == []
