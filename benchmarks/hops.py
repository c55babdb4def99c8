"""How many module borders of ours a call crosses: `score` of one math row, and a trainer's call of a composite.

    python benchmarks/hops.py

Prints one JSON object. A crossing is a call, or a generator's next step, from one of our modules into another. Each is done once
before, so that imports and what is made once are not counted.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from grpo_rewards import Composite, reward
from grpo_rewards._scoring import score_file


def crossings(run: Callable[[], object]) -> int:
    """Return how often `run` goes from one of our modules to another, in any thread."""
    run()
    found = 0

    def look(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal found
        if event == "call" and (caller := frame.f_back) is not None:
            names = [one.f_globals.get("__name__", "") for one in (frame, caller)]
            found += names[0] != names[1] and all(name.startswith("grpo_rewards") for name in names)

    threading.setprofile(look)
    sys.setprofile(look)
    run()
    sys.setprofile(None)
    threading.setprofile(None)
    return found


@reward
def brief(completion: str) -> float:
    return float(len(completion) < 10)


def main() -> None:
    composite, math = Composite(brief=brief), Composite(math=1.0)
    call: dict[str, Any] = {"prompts": ["p"] * 2, "completions": [[{"role": "assistant", "content": c}] for c in "ab"]}
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.jsonl")
        rows.write_text('{"prompt": "1+1?", "completion": "The answer is \\\\boxed{2}.", "answer": "2"}\n')
        found = {"score": crossings(lambda: score_file(rows, math)), "call": crossings(lambda: composite(**call))}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
