"""A reward that does what its completion says: what a plugin, a service or a sandbox can do wrong, in one row each."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy
from grpo_rewards_plugins.code import code

from grpo_rewards import Outcome, reward

RIGHT = {"4": 1.0, "5": 0.0, "numpy": 1.0, "torch": 1.0}
"""What can be graded; every other text of `GROUPS` cannot, and may move nothing."""

BROKEN = ("raise", "nan", "inf", "1e39", "1e20", "string")
"""What breaks the contract of a plugin: it stops a run, unless ``errors.plugin`` is ``drop_row``."""

GROUPS = (
    ("4", "5", "raise", "none", "nan", "inf", "numpy", "1e39"),
    ("1e20", "string", "4", "hang", "down", "5", "no sandbox", "torch"),
    ("4", "killed", "cobol", "5", "format", "none", "raise", "down"),
    ("raise", "nan", "string", "down", "none", "inf", "1e20", "1e39"),
)
LOST = sorted({text for group in GROUPS for text in group} - {*RIGHT})

TESTS = "from solution import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
PROGRAM = "```python\nimport time\ntime.sleep(0.3)\n\ndef double(n):\n    return n * 2\n```"
COBOL = "```cobol\nIDENTIFICATION DIVISION.\nPROGRAM-ID. DOUBLE.\n```"


try:  # before any row has to wait for it
    import torch

    ARRAYS: dict[str, Any] = {"numpy": numpy.float32(1.0), "torch": torch.tensor(1.0)}
except ImportError:  # in the environment of one peer
    ARRAYS = {"numpy": numpy.float32(1.0), "torch": numpy.array(1.0)}


def processes_below(pid: int) -> list[int]:
    """The processes below one."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *processes_below(child)]
    return found


def killed() -> Outcome:
    """A right program's verdict while every process of the sandbox is killed, again and again."""
    over, before = threading.Event(), set(processes_below(os.getpid()))

    def kill() -> None:
        while not over.wait(0.05):
            for pid in set(processes_below(os.getpid())) - before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        return code.with_(timeout=5.0).one(PROGRAM, tests=TESTS)
    finally:
        over.set()
        killer.join()


@reward
def scripted(completion: str, answer: str) -> Any:
    """Whether the completion is the answer; or what it says happens."""
    match completion.strip():
        case "raise":
            raise ValueError("a bug in the plugin")
        case "none":
            return None
        case "nan" | "inf" | "1e39" | "1e20" as number:
            return float(number)
        case "string":
            return "1.0"
        case "numpy" | "torch" as name:
            return ARRAYS[name]
        case "hang":
            return threading.Event().wait()
        case "down":
            return Outcome(None, "unavailable", "no route to service")
        case "no sandbox":
            return code.with_(sandbox="docker").one(PROGRAM, tests=TESTS)
        case "killed":
            return killed()
        case "cobol":
            return code.one(COBOL, tests=[{"input": "4", "output": "8"}], language="cobol")
        case "format":
            return code.one(PROGRAM, tests={"what": ["nobody", "knows"]})
        case text:
            return float(text == answer)


@reward.batch
def short(completions: list[str]) -> list[float]:
    """A list that is one too short."""
    return [1.0] * (len(completions) - 1)
