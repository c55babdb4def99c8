"""Training in which processes die: what is lost may not move the rest.

Usage: ``chaos.py [--seeds 100] [--first 0] [--steps 3] [--form fused|expanded] [--docker]``, with RANK and WORLD_SIZE for several.
Where the moments were such that nothing was lost in any seed, more seeds follow, up to ten times as many.

Each seed trains twice from the same start with math, code in the sandbox (with --docker in containers too), a served judge
and a `grpo-rewards serve`. The first time judge, service, the service's workers, containers, and the sandbox's supervisors
and workers are killed at random moments of the reward calls, all but the last; the second time nothing dies and exactly the
rows that were left out are masked. Rewards and advantages have to be equal to the last bit, call by call, the trainer's
figure of rows left out has to be theirs, and the last call has to lose nothing. A run that hangs ends with a traceback.
Prints a JSON object per seed and one of all, per rank, and ends with 1 where that is not so.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
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
from accelerate.utils import gather_object
from transformers import TrainerCallback

from grpo_rewards import Composite

JUDGE = """
import hashlib, http.server, json, sys, time
class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told, asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        digest = hashlib.sha256(asked["content"].encode()).digest()
        time.sleep(digest[1] / 1000)
        canary = told["content"].partition('"canary": \\'')[2][:12]
        grade = json.dumps({"canary": canary, "score": digest[0] / 255, "reason": "so it is"})
        answer = json.dumps({"choices": [{"message": {"content": grade}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 128  # of its own 5 a call of 16 rows loses some where nothing is killed
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Judge).serve_forever()
"""
SERVED = """
import hashlib, time
from grpo_rewards import reward
@reward(range=(0.0, 1.0))
def hashed(completion):
    digest = hashlib.sha256(completion.encode()).digest()
    time.sleep(digest[1] / 10000)
    return digest[0] / 255
"""
TESTS = (
    "from solution import double\n\n\ndef test_double():\n    assert [double(n) for n in (0, 3, -4)] == [0, 6, -8]\n"
)
PROGRAMS = ("return n * 2", "return n + n", "return n ** 2", "return 2", "while True: pass")


class Service:
    """A process that listens on a port of this machine; can be killed, and is brought back."""

    def __init__(self, *command: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.command = [sys.executable, *command, str(self.port)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command)

    def ready(self) -> None:
        while True:
            if self.process.poll() is not None:  # also where it ended while it started
                self.start()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Services:
    """What a composite asks: a judge, and a service of rewards with one worker."""

    def __init__(self, folder: Path, docker: bool) -> None:
        (folder / "mine.py").write_text(SERVED)
        (folder / "rewards.yaml").write_text("rewards: {hashed: {use: './mine.py:hashed', weight: 1.0}}\n")
        self.docker = docker
        self.judge = Service("-c", JUDGE)
        serve = "from grpo_rewards._cli import main; main()"
        self.rewards = Service("-c", serve, "serve", str(folder / "rewards.yaml"), "--port")

    def ready(self) -> None:
        self.judge.ready()
        self.rewards.ready()

    def kill(self) -> None:
        self.judge.kill()
        self.rewards.kill()


def composite(services: Services) -> Composite:
    """Every row is for `math`, for `code` or for `contained`; all are judged here and scored elsewhere."""
    judge = {
        "url": f"http://127.0.0.1:{services.judge.port}/v1",
        "model": "m",
        "attempts": 1,
        "requests_per_minute": 1e6,
        "timeout": 20,
    }
    remote = {"url": f"http://127.0.0.1:{services.rewards.port}", "attempts": 2, "chunk": 4, "timeout": 20}

    def code(kind: str, sandbox: str) -> dict[str, Any]:
        when, params = {"column": "kind", "equals": kind}, {"sandbox": sandbox, "timeout": 0.3}
        return {"use": "code", "weight": 2.0, "when": when, "params": params}

    return Composite(
        {
            "rewards": {
                "math": {"use": "math", "weight": 1.5, "when": {"column": "kind", "equals": "math"}},
                "code": code("code", "local"),
                **({"contained": code("contained", "docker")} if services.docker else {}),
                "judge": {"use": "judge", "weight": 0.5, "params": judge},
                "remote": {"use": "grpo_rewards_adapters.server.client:remote", "weight": 0.25, "params": remote},
            },
            "errors": {"max_infra_rate": 1.0, "batch_timeout": 60},
        }
    )


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


def containers() -> list[str]:
    """The containers that this process started."""
    listed = ["docker", "ps", "--format", '{{.ID}} {{.Label "grpo-rewards.owner"}}']
    lines = subprocess.run(listed, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines if f"/{os.getpid()}/" in line]


class Chaos(threading.Thread):
    """Kills at random moments while a reward call runs."""

    def __init__(self, services: Services, seed: int) -> None:
        super().__init__(daemon=True)
        self.services, self.random = services, random.Random(seed)
        self.calling, self.over = threading.Event(), threading.Event()
        self.killing = threading.Lock()  # what is killed dies in the call that was going on
        self.killed: Counter[str] = Counter()

    def run(self) -> None:
        kinds = ["sandbox", "sandbox", "judge", "served worker", "container" if self.services.docker else "sandbox"]
        while not self.over.is_set():
            self.calling.wait(0.2)
            time.sleep(self.random.uniform(0.0, 0.4))
            with self.killing:
                if self.calling.is_set():
                    kind = self.random.choice(kinds) if self.random.random() < 0.97 else "service"
                    self.killed[kind] += self.kill(kind)

    def kill(self, kind: str) -> bool:
        """Kill one of a kind; False where there is none at this moment."""
        services = self.services
        if kind in ("judge", "service"):
            service = services.judge if kind == "judge" else services.rewards
            service.kill()
            service.start()
            return True
        if kind == "container":
            found = containers()
            return (
                bool(found)
                and not subprocess.run(
                    ["docker", "kill", self.random.choice(found)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                ).returncode
            )
        below = set(descendants()) - {services.judge.process.pid, services.rewards.process.pid}
        served = set()
        for pid in below:
            with contextlib.suppress(OSError):
                if b"grpo_rewards_adapters.server.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    served.add(pid)
        victims = sorted(served if kind == "served worker" else below - served)
        with contextlib.suppress(ProcessLookupError):
            if victims:
                os.kill(self.random.choice(victims), signal.SIGKILL)
                return True
        return False


class Recorded:
    """A reward function of the trainer that hands on what the completions stand for, and writes down what comes back."""

    def __init__(self, inner: Any, name: str, run: Run) -> None:
        self.inner, self.__name__, self.run = inner, name, run

    def __call__(self, **call: Any) -> list[float | None]:
        return self.run.scored(self, call)


class Run(TrainerCallback):
    """One training run: with chaos in all calls but the last, or with the rows of `masks` left out, call by call."""

    def __init__(self, services: Services, seed: int, steps: int, form: str, masks: list[list[bool]] | None) -> None:
        self.services, self.seed, self.steps, self.masks = services, seed, steps, masks
        built = composite(services)
        parts = [built] if form == "fused" else built.parts()
        self.weights = [part.weight for part in built.components]
        self.functions = [Recorded(part, part.__name__, self) for part in parts]
        self.chaos = Chaos(services, seed * 1000 + int(os.environ.get("RANK", "0"))) if masks is None else None
        self.texts: Any = None
        self.calls: list[dict[str, list[float | None]]] = []
        self.advantages: list[list[float]] = []

    def scored(self, function: Recorded, call: dict[str, Any]) -> list[float | None]:
        if function is self.functions[0]:
            self.services.ready()
            kinds = call["kind"]
            self.texts = [written(i, k, self.seed) for i, k in zip(call["completion_ids"], kinds, strict=True)]
            self.calls.append({})
        if self.chaos is not None and len(self.calls) < self.steps:
            self.chaos.calling.set()
        try:
            values = function.inner(**{**call, "completions": self.texts})
        finally:
            if self.chaos is not None:
                with self.chaos.killing:
                    self.chaos.calling.clear()
        if self.masks is not None:
            mask = self.masks[len(self.calls) - 1]
            values = [None if masked else value for value, masked in zip(values, mask, strict=True)]
        self.calls[-1][function.__name__] = values
        return values

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.advantages.append(list(self.trainer._logs["advantages"]))

    def train(self) -> None:
        kinds = ("math", "code", "contained") if self.services.docker else ("math", "code")
        given = {"answer": "4", "tests": TESTS}
        rows = [{"prompt": f"{n}+{n}=", "kind": kinds[n % len(kinds)], **given} for n in range(9)]
        world = int(os.environ.get("WORLD_SIZE", "1"))
        with tempfile.TemporaryDirectory() as folder:
            self.trainer = tiny.make_trainer(
                self.functions, folder, rows=rows, max_steps=self.steps, seed=self.seed, num_generations=8, logging_steps=1,
                per_device_train_batch_size=16 // world, given={"callbacks": [self]},
                reward_weights=[1.0] if len(self.functions) == 1 else self.weights,
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

    def counted(self) -> bool:
        """Whether the trainer's log says of every call what share of the rows of all ranks was left out."""
        ours = gather_object([[sum(mask) / len(mask) for mask in self.left_out()]])
        logged = [log["grpo_rewards/left_out_rate"] for log in self.trainer.state.log_history if "reward" in log]
        return len(logged) == self.steps and all(
            abs(sum(shares) / len(shares) - rate) < 1e-6 for *shares, rate in zip(*ours, logged, strict=True)
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--form", choices=("fused", "expanded"), default="fused")
    parser.add_argument("--docker", action="store_true")
    asked = parser.parse_args()
    killed: Counter[str] = Counter()
    wrong: dict[str, list[int]] = {"differ": [], "miscounted": [], "not recovered": []}
    seeds = rows = lost = partly = 0
    with tempfile.TemporaryDirectory() as folder:
        services = Services(Path(folder), asked.docker)
        # whether something was lost is asked of all ranks, since each has to decide the same
        while seeds < asked.seeds or (seeds < 10 * asked.seeds and not any(gather_object([lost]))):
            seed = asked.first + seeds
            seeds += 1
            faulthandler.dump_traceback_later(300, exit=True)
            wild = Run(services, seed, asked.steps, asked.form, None)
            wild.train()
            masks = wild.left_out()
            calm = Run(services, seed, asked.steps, asked.form, masks)
            calm.train()
            killed.update(wild.chaos.killed if wild.chaos else {})
            rows += sum(map(len, masks))
            lost += sum(map(sum, masks))
            partly += sum(0 < sum(mask) < len(mask) for mask in masks)
            differs = repr((wild.calls, wild.advantages)) != repr((calm.calls, calm.advantages))
            found = {"differ": differs, "miscounted": not wild.counted(), "not recovered": any(masks[-1])}
            for problem, there in found.items():
                wrong[problem] += [seed] * there
            print(
                json.dumps({"seed": seed, "rows": sum(map(len, masks)), "lost": sum(map(sum, masks)), **found}),
                flush=True,
            )
            if differs:
                print(json.dumps({"seed": seed, "wild": wild.calls, "calm": calm.calls}), file=sys.stderr)
        services.kill()
    learns = any(any(step) for step in wild.advantages)
    totals = {"seeds": seeds, "rows": rows, "lost": lost, "calls partly lost": partly, "killed": killed}
    print(json.dumps({**totals, "learns": learns, **wrong}))
    sys.exit(any(wrong.values()))


if __name__ == "__main__":
    main()
