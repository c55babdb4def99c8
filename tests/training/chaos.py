"""Training in which processes die: what is lost may not move the rest.

Usage: ``chaos.py [--seeds 100] [--first 0] [--steps 3] [--form fused|expanded]``, with RANK and WORLD_SIZE for several.

Each seed trains twice from the same start with math, code in the sandbox and a served judge. The first time processes
below this one, the judge among them, are killed at random moments of the reward calls; the second time nothing dies and
exactly the rows that were left out are masked. Rewards and advantages have to be equal to the last bit, call by call.
Prints a JSON object per rank and ends with 1 where they are not.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tiny
from transformers import TrainerCallback

from grpo_rewards import Composite

JUDGE = """
import hashlib, http.server, json, sys
class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        grade = json.dumps({"score": hashlib.sha256(body).digest()[0] / 255, "reason": "so it is"})
        answer = json.dumps({"choices": [{"message": {"content": grade}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Judge).serve_forever()
"""
TESTS = (
    "from solution import double\n\n\ndef test_double():\n    assert [double(n) for n in (0, 3, -4)] == [0, 6, -8]\n"
)
PROGRAMS = ("return n * 2", "return n + n", "return n ** 2", "return 2", "while True: pass")


class Judged:
    """The served judge of this process; can be killed, and is brought back."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", JUDGE, str(self.port)])

    def ready(self) -> None:
        if self.process.poll() is not None:
            self.start()
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def composite(judge: Judged) -> Composite:
    """Half of the rows are for `math`, half for `code`, all are judged."""
    served = {
        "url": f"http://127.0.0.1:{judge.port}/v1",
        "model": "m",
        "attempts": 1,
        "requests_per_minute": 1e6,
        "timeout": 20,
    }
    return Composite(
        {
            "rewards": {
                "math": {"use": "math", "weight": 1.5, "when": {"column": "kind", "equals": "math"}},
                "code": {
                    "use": "code", "weight": 2.0, "when": {"column": "kind", "equals": "code"},
                    "params": {"sandbox": "local", "timeout": 1.0},
                },
                "judge": {"use": "judge", "weight": 0.5, "params": served},
            },
            "errors": {"max_infra_rate": 1.0, "batch_timeout": 60},
        }
    )  # fmt: skip


def written(ids: list[int], kind: str, seed: int) -> str:
    """What the completion stands for: right and wrong answers by what the model sampled, each text but once per seed."""
    number = int.from_bytes(hashlib.sha256(repr(ids).encode()).digest()[:4], "big")
    if kind == "math":
        return f"Case {seed}-{number}: \\boxed{{{('4', '2^2', '5', '8/2', 'x')[number % 5]}}}"
    return f"```python\n# case {seed}-{number}\ndef double(n):\n    {PROGRAMS[number % 5]}\n```"


def descendants() -> list[int]:
    """The processes below this one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found, queue = [], [os.getpid()]
    while queue:
        found += (below := parents.get(queue.pop(), []))
        queue += below
    return found


class Chaos(threading.Thread):
    """Kills at random moments while a reward call runs."""

    def __init__(self, judge: Judged, seed: int) -> None:
        super().__init__(daemon=True)
        self.judge, self.random = judge, random.Random(seed)
        self.calling, self.over = threading.Event(), threading.Event()
        self.killed: Counter[str] = Counter()

    def run(self) -> None:
        while not self.over.is_set():
            self.calling.wait(0.2)
            time.sleep(self.random.uniform(0.0, 0.6))
            if not self.calling.is_set():
                continue
            if self.random.random() < 0.2:
                self.judge.kill()
                self.killed["judge"] += 1
                continue
            if victims := [pid for pid in descendants() if pid != self.judge.process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.random.choice(victims), signal.SIGKILL)
                    self.killed["process"] += 1


class Recorded:
    """A reward function of the trainer that hands on what the completions stand for, and writes down what comes back."""

    def __init__(self, inner: Any, name: str, run: Run) -> None:
        self.inner, self.__name__, self.run = inner, name, run

    def __call__(self, **call: Any) -> list[float | None]:
        return self.run.scored(self, call)


class Run(TrainerCallback):  # type: ignore[misc]
    """One training run: with chaos, or with the rows of `masks` left out, call by call."""

    def __init__(self, judge: Judged, seed: int, form: str, masks: list[list[bool]] | None) -> None:
        self.judge, self.seed, self.masks = judge, seed, masks
        built = composite(judge)
        parts = [built] if form == "fused" else built.parts()
        self.functions = [Recorded(part, part.__name__, self) for part in parts]
        self.chaos = Chaos(judge, seed * 1000 + int(os.environ.get("RANK", "0"))) if masks is None else None
        self.texts: Any = None
        self.calls: list[dict[str, list[float | None]]] = []
        self.advantages: list[list[float]] = []

    def scored(self, function: Recorded, call: dict[str, Any]) -> list[float | None]:
        if function is self.functions[0]:
            self.judge.ready()
            kinds = call["kind"]
            self.texts = [written(i, k, self.seed) for i, k in zip(call["completion_ids"], kinds, strict=True)]
            self.calls.append({})
        if self.chaos is not None:
            self.chaos.calling.set()
        try:
            values = function.inner(**{**call, "completions": self.texts})
        finally:
            if self.chaos is not None:
                self.chaos.calling.clear()
        if self.masks is not None:
            mask = self.masks[len(self.calls) - 1]
            values = [None if masked else value for value, masked in zip(values, mask, strict=True)]
        self.calls[-1][function.__name__] = values
        return values

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.advantages.append(list(self.trainer._logs["advantages"]))

    def train(self, steps: int) -> None:
        rows = [
            {"prompt": f"{n}+{n}=", "answer": "4", "tests": TESTS, "kind": ("math", "code")[n % 2]} for n in range(8)
        ]
        world = int(os.environ.get("WORLD_SIZE", "1"))
        with tempfile.TemporaryDirectory() as folder:
            self.trainer = tiny.make_trainer(
                self.functions, folder, rows=rows, max_steps=steps, seed=self.seed, num_generations=8, logging_steps=100,
                per_device_train_batch_size=16 // world, given={"callbacks": [self]},
                reward_weights=[1.0] if len(self.functions) == 1 else [1.5, 2.0, 0.5],
            )  # fmt: skip
            if self.chaos is not None:
                self.chaos.start()
            self.trainer.train()
        if self.chaos is not None:
            self.chaos.over.set()
            self.chaos.join()

    def left_out(self) -> list[list[bool]]:
        """Per call, the rows for which every function returned None."""
        return [
            [all(value is None for value in row) for row in zip(*call.values(), strict=True)] for call in self.calls
        ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--form", choices=("fused", "expanded"), default="fused")
    asked = parser.parse_args()
    judge, killed, differ = Judged(), Counter[str](), []
    rows = lost = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        wild = Run(judge, seed, asked.form, None)
        wild.train(asked.steps)
        masks = wild.left_out()
        calm = Run(judge, seed, asked.form, masks)
        calm.train(asked.steps)
        killed.update(wild.chaos.killed if wild.chaos else {})
        rows += sum(map(len, masks))
        lost += sum(map(sum, masks))
        if repr((wild.calls, wild.advantages)) != repr((calm.calls, calm.advantages)):
            differ.append(seed)
            print(json.dumps({"seed": seed, "wild": wild.calls, "calm": calm.calls}), file=sys.stderr)
    judge.kill()
    moved = any(any(step) for step in wild.advantages)
    print(json.dumps({"seeds": asked.seeds, "rows": rows, "lost": lost, **killed, "learns": moved, "differ": differ}))
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
