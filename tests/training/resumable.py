"""One process of a run that adapts its weights: what each reward call saw and gave is written down, call by call.

Usage: ``resumable.py OUT [--kill-at STEP] [--resume]``, with RANK and WORLD_SIZE in the environment for several.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path
from typing import Any

import tiny
import torch
from transformers import TrainerCallback

from grpo_rewards import Composite, reward


@reward(range=(0.0, 1.0))
def digits(completion: str) -> float:
    """The share of characters that are digits."""
    return sum(character.isdigit() for character in completion) / max(1, len(completion))


@reward(range=(0.0, 1.0))
def short(completion: str) -> float:
    """Fewer characters are better."""
    return 1.0 - min(1.0, len(completion) / 6)


@reward.group(range=(0.0, 64.0))
def members(completions: list[str], prompts: list[str]) -> list[float]:
    """How many completions of one prompt are seen together, which no process alone could say; 0.0 if prompts mix."""
    return [float(len(completions)) if len(set(prompts)) == 1 else 0.0 for _ in completions]


def composite() -> Composite:
    """Weights follow success at once, so that every call has others."""
    return Composite(
        {
            "rewards": {
                "digits": {"use": digits, "weight": {"schedule": "linear", "start": 1, "end": 2, "until": 6}},
                "short": short,
                "members": {"use": members, "weight": 0.125},
            },
            "adapt": {"method": "threshold", "components": ["digits", "short"], "warmup": 1, "ema": 0.5, "low": 0.45},
        }
    )


class Recorded:
    """The composite, with a line per call in a file: step, weights from then on, rewards, the group reward's values."""

    __name__ = "composite"

    def __init__(self, inner: Composite, path: Path) -> None:
        self.inner = inner
        self.path = path

    def __call__(self, **call: Any) -> list[float | None]:
        step = call["trainer_state"].global_step
        found = self.inner(**call)
        session = self.inner.session
        assert session.latest is not None
        line = {
            "step": step, "next_weights": session.weights_at(step), "rewards": found,
            "sizes": sorted({size or 0 for size in session.latest.seen.values["members"]}), "completions": call["completions"],
        }  # fmt: skip
        with self.path.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        return found


class Killer(TrainerCallback):
    """Ends the process the hard way at a step."""

    def __init__(self, step: int | None) -> None:
        self.step = step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    # transformers 4.56 has torch put an optimizer's numbers to "cpu:0" where several CPU processes resume, a place that it
    # does not know; on GPUs it does
    torch.serialization.register_package(100, lambda _: None, lambda data, place: data if place[:4] == "cpu:" else None)
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--kill-at", type=int)
    parser.add_argument("--resume", action="store_true")
    asked = parser.parse_args()
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    asked.out.mkdir(parents=True, exist_ok=True)
    recorded = Recorded(composite(), asked.out / f"calls-{rank}.jsonl")
    trainer = tiny.make_trainer(
        recorded, str(asked.out / "run"), max_steps=6, num_generations=8, per_device_train_batch_size=8 // world,
        save_strategy="steps", save_steps=2, log_completions=True, num_completions_to_print=0,
        given={"callbacks": [Killer(asked.kill_at)]},
    )  # fmt: skip
    trainer.train(resume_from_checkpoint=True if asked.resume else None)


if __name__ == "__main__":
    main()
