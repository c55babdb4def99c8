"""Run `examples/train_tiny.py` with five seeds and keep the curves: one JSON file and one SVG picture.

    python benchmarks/training_curves.py --json docs/training-curves.json --picture docs/images/training-curves.svg

Each seed runs in a process of its own, one after another: about two minutes each on one core. `--draw` draws the
picture again from the JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parent.parent / "examples" / "train_tiny.py"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 54, 130, 30, 44
COLOURS = ("#1b6ca8", "#c1442e", "#3a7d44", "#8a5aa8", "#b07d10")


def run(seed: int, steps: int, constant_steps: int) -> dict[str, Any]:
    """Train one seed and return what the script writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        command = [sys.executable, str(SCRIPT), "--seed", str(seed), "--steps", str(steps), "--threads", "1"]
        command += ["--constant-steps", str(constant_steps), "--out", str(out)]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        found: dict[str, Any] = json.loads(out.read_text())
    return found


def smoothed(values: list[float], window: int = 5) -> list[float]:
    """The mean over the latest `window` values."""
    return [sum(values[max(0, i - window + 1) : i + 1]) / min(i + 1, window) for i in range(len(values))]


def picture(runs: list[dict[str, Any]]) -> str:
    """The curves of all runs as SVG, each point the mean of the latest five generation batches."""
    steps = max(len(run["composite"]["curve"]) for run in runs)

    def place(step: int, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * step / max(1, steps - 1)
        return f"{x:.1f},{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value:.1f}"

    def line(values: list[float], colour: str, more: str = "") -> str:
        points = " ".join(place(step, value) for step, value in enumerate(smoothed(values)))
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5" {more}/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" fill="#222222">Reward of a generation batch (128 completions), five seeds</text>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        (left, y), right = place(0, tick).split(","), place(steps - 1, tick).split(",")[0]
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end" fill="#555555">{tick:g}</text>')
    for step in range(0, steps + 1, 50):
        x = place(min(step, steps - 1), 0.0).split(",")[0]
        parts.append(f'<text x="{x}" y="{HEIGHT - 24}" text-anchor="middle" fill="#555555">{step}</text>')
    parts.append(
        f'<text x="{(WIDTH - RIGHT + LEFT) / 2}" y="{HEIGHT - 6}" text-anchor="middle" fill="#555555">step</text>'
    )
    for number, found in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(line(found["composite"]["curve"], colour))
        x, y = WIDTH - RIGHT + 12, TOP + 16 + 18 * number
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">seed {found["seed"]}</text>')
        if "constant" in found:
            parts.append(line(found["constant"]["curve"], "#999999", 'stroke-dasharray="3 3"'))
    if any("constant" in found for found in runs):
        y = TOP + 16 + 18 * len(runs)
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y}" fill="#777777">constant reward</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Run the seeds, or draw what was run."""
    parser = argparse.ArgumentParser(description="Five seeds of the tiny GRPO run.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--constant-steps", type=int, default=40)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--draw", action="store_true", help="only draw what the JSON holds")
    asked = parser.parse_args()
    runs: list[dict[str, Any]] = []
    if asked.draw:
        runs = json.loads(asked.json.read_text())["runs"]
    else:
        for seed in asked.seeds:
            runs.append(run(seed, asked.steps, asked.constant_steps))
            lines = ",\n".join(json.dumps(found) for found in runs)
            asked.json.write_text(f'{{"runs": [\n{lines}\n]}}\n')
            shown = {key: value for key, value in runs[-1].items() if not isinstance(value, dict)}
            print(json.dumps({**shown, "held_out_after": runs[-1]["composite"]["held_out_after"]}), file=sys.stderr)
    if asked.picture is not None:
        asked.picture.write_text(picture(runs))


if __name__ == "__main__":
    main()
