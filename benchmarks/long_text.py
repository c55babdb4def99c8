"""What rewards cost on completions of 32k tokens, and what the two that read every word cost at an earlier commit.

    python benchmarks/long_text.py --data ../shared/data [--tokens 32768] [--rounds 25] [--before 9464fb8]

Prints one JSON object: milliseconds of processor time for one completion, the median of the rounds, in which all take turns; four
characters count as a token. The texts are GSM8K solutions one after another, as they are (some characters beyond ASCII), in
ASCII alone, and Chinese characters drawn at random. `five` is a composite of five rewards. The commit before is read from git.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reasoning import ROOT, gsm8k_rows

from grpo_rewards import Composite, get_reward

BAR_TIMES, BAR_MILLISECONDS = 5.0, 3.0
READERS = ("repetition", "language")
FIVE: dict[str, Any] = {
    "repetition": "repetition",
    "language": "language",
    "format": {"use": "xml_format", "params": {"tags": ["think", "answer"], "mode": "count"}},
    "overlong": {"use": "length", "params": {"mode": "soft_overlong", "max_length": 40960}},
    "correct": "math",
}


def texts(data: Path, tokens: int) -> dict[str, str]:
    """The texts by name."""
    size, parts = 4 * tokens, list[str]()
    for row in gsm8k_rows(data):
        parts.append(row["completion"][0]["content"])
        if len(parts) % 100 == 0 and sum(map(len, parts)) >= size:
            break
    mixed = "\n\n".join(parts)[:size]
    draw = random.Random(1)
    chinese = "".join(
        "，" if draw.random() < 0.1 else chr(0x4E00 + int(draw.paretovariate(1)) % 3000) for _ in range(tokens)
    )
    return {"mixed": mixed, "ascii": mixed.encode("ascii", "replace").decode(), "chinese": chinese}


def at(commit: str) -> dict[str, Any]:
    """The two rewards as they were."""
    found: dict[str, Any] = {}
    folder = "plugins/grpo_rewards_plugins"
    with tempfile.TemporaryDirectory() as scratch:
        now = sys.modules["grpo_rewards_plugins.words"]
        for name in ("words", *READERS):
            source = subprocess.check_output(["git", "-C", ROOT, "show", f"{commit}:{folder}/{name}.py"])
            path = Path(scratch, f"{name}_before.py")
            path.write_bytes(source)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            if name == "words":
                sys.modules["grpo_rewards_plugins.words"] = module
            else:
                found[name] = getattr(module, name)
        sys.modules["grpo_rewards_plugins.words"] = now
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--before", default="9464fb8")
    options = parser.parse_args()
    rewards = {name: get_reward(name) for name in READERS}
    found: dict[str, Any] = {"tokens": options.tokens, "before": options.before}
    composite = Composite({"rewards": FIVE})
    found["met"] = True
    before, draw = at(options.before), random.Random(2)
    for kind, text in texts(options.data, options.tokens).items():
        row = {
            "completion": f"<think>\n{text}\n</think>\n<answer>\n1\n</answer>",
            "answer": "1",
            "completion_ids": [0] * options.tokens,
        }
        ways: dict[str, Callable[[], Any]] = {"five": lambda row=row: composite.score([row])}  # type: ignore[misc]
        for name in READERS:
            now, then = rewards[name], before[name]
            if now.one(text).value != then.one(text).value:
                raise SystemExit(f"{kind}: {name} is not what it was")
            ways[name] = lambda reward=now, text=text: reward.one(text)  # type: ignore[misc]
            ways[f"{name} before"] = lambda reward=then, text=text: reward.one(text)  # type: ignore[misc]
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(options.rounds):
            for name, way in draw.sample(list(ways.items()), len(ways)):  # what ran before leaves its traces in caches
                began = time.process_time_ns()
                way()
                times[name].append((time.process_time_ns() - began) / 1e6)
        median = {name: statistics.median(taken) for name, taken in times.items()}
        ratios = {f"{name} before / now": median[f"{name} before"] / median[name] for name in READERS}
        found[kind] = {name: round(value, 3) for name, value in {**median, **ratios}.items()}
        found["met"] &= min(ratios.values()) >= BAR_TIMES and median["five"] <= BAR_MILLISECONDS
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
