"""Make the runs and the pictures of docs/gallery.md: scored, compared, trained and audited for real, seen by a real Chromium.

    python benchmarks/gallery.py [--out docs/images/gallery] [--work FOLDER] [--only NAME ...]

Needs the extra `train`, and `chromium`. `--work` keeps the runs and the pages; what is there already is not made again.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
sys.path[:0] = [str(ROOT / "tests" / "report"), str(EXAMPLES)]


class Picture(NamedTuple):
    """What a picture shows: a page, what its address chooses, what is scrolled to (and within the row), the size, the colours."""

    page: str
    chosen: str = ""
    at: str = ""
    within: str = ""
    width: int = 1200
    height: int = 800
    dark: bool = False


PICTURES = {
    "overview": Picture("scored.html"),
    "row": Picture("scored.html", "#component=tests&status=scored&row=@tests", "#browser", "#detail .code"),
    "group": Picture("scored.html", "#group=@group&view=group&base=@base", "#group .card", dark=True),
    "runs": Picture("runs.html"),
    "training": Picture("training.html", at="#figure-training"),
    "audit": Picture("data.html", at="#fitness-title"),
    "cheats": Picture("cheats.html", at="#cheats-title", dark=True),
    "narrow": Picture("scored.html", width=390, height=840),
}


def command(work: Path, *arguments: object, fine: tuple[int, ...] = (0,)) -> str:
    """Run grpo-rewards in a folder; return what it prints."""
    line = [sys.executable, "-m", "grpo_rewards", *map(str, arguments)]
    done = subprocess.run(line, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode not in fine:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def scored(work: Path) -> None:
    """The README's first command."""
    rows = work / "rows.jsonl"
    rows.write_text((EXAMPLES / "reasoning.jsonl").read_text() + (EXAMPLES / "code.jsonl").read_text())
    command(work, "score", rows.name, "-c", EXAMPLES / "rewards.yaml", "-o", "scored.jsonl", "--force")
    command(work, "report", "scored.jsonl", "-o", "scored.html")


def runs(work: Path) -> None:
    """The same completions under two compositions."""
    from grpo_rewards import Composite
    from grpo_rewards.rewards import length, math, xml_format

    tagged, brief = xml_format.with_(tags=["reasoning", "answer"], mode="count"), length.with_(target=200, band=200)
    rows = work / "sums.jsonl"
    lines = (EXAMPLES / "reasoning.jsonl").read_text().splitlines(keepends=True)
    rows.write_text("".join(line for line in lines if json.loads(line)["task"] == "arithmetic"))
    for name, weight in (("before", 1.0), ("after", 4.0)):
        composite = Composite(correct=(math, weight), format=(tagged, 1.0), brief=(brief, 0.2))
        (work / f"{name}.yaml").write_text(composite.to_yaml())
        command(work, "score", rows.name, "-c", f"{name}.yaml", "-o", f"{name}.jsonl", "--force")
    command(work, "report", "before.jsonl", "after.jsonl", "-o", "runs.html")


def training(work: Path) -> None:
    """120 steps of GRPO on the model of examples/train_tiny.py."""
    import torch
    import train_tiny
    from datasets import Dataset
    from grpo_rewards_adapters.trl import attach
    from transformers import PrinterCallback, set_seed
    from trl import GRPOConfig, GRPOTrainer

    from grpo_rewards import load

    torch.set_num_threads(1)
    set_seed(0)
    tokenizer = train_tiny.make_tokenizer()
    model = train_tiny.make_model(tokenizer)
    train_tiny.fine_tune(model, tokenizer, train_tiny.PAIRS, steps=600, seed=0)
    composite = load(train_tiny.REWARDS)
    sums = [{"prompt": train_tiny.question(a, b), "answer": str(a + b)} for a, b in train_tiny.PAIRS]
    trainer = GRPOTrainer(
        model,
        reward_funcs=composite,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(sums),
        args=GRPOConfig(
            output_dir=str(work / "run"), max_steps=120, learning_rate=2e-4, lr_scheduler_type="constant",
            per_device_train_batch_size=64, num_generations=8, max_completion_length=train_tiny.TOKENS,
            scale_rewards="none", use_cpu=True, bf16=False, report_to=[], logging_steps=1, save_strategy="no",
            disable_tqdm=True, log_completions=True, seed=0,
        ),
    )  # fmt: skip
    attach(trainer, composite)
    trainer.remove_callback(PrinterCallback)
    with contextlib.redirect_stdout(io.StringIO()):  # TRL prints each step's completions
        trainer.train()
    trainer.save_state()
    command(work, "report", "run", "-o", "training.html")


def data(work: Path) -> None:
    """An audit of the preset's MBPP rows, some of them made worse, beside answers that were scored."""
    chance = random.Random(0)
    rows = [json.loads(line) for line in (EXAMPLES / "code.jsonl").read_text().splitlines()]
    first = list({json.dumps(row["prompt"]): row for row in rows}.values())
    for row in chance.sample(first, 4):
        row["canonical_solution"] = "    return 'wrong'\n"
    file = work / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in first))
    (work / "data.json").write_text(command(work, "audit", file.name, "--json", fine=(0, 1)))
    command(work, "report", "scored.jsonl", "--audit", "data.json", "-o", "data.html")


NAIVE = '''from grpo_rewards import reward


@reward(range=(0.0, 1.0))
def mentions(completion: str, answer: str) -> float:
    """The answer stands somewhere in the completion."""
    return float(answer in completion)
'''


def cheats(work: Path) -> None:
    """The cheats that were tried on a reward that asks only whether the answer stands somewhere."""
    (work / "naive.py").write_text(NAIVE)
    (work / "naive.yaml").write_text(
        "rewards:\n  mentions: ./naive.py:mentions\n  format: {use: xml_format, weight: 0.5, params: {mode: count}}\n"
    )
    command(work, "score", "sums.jsonl", "-c", "naive.yaml", "-o", "naive.jsonl", "--force")
    (work / "cheats.json").write_text(command(work, "audit", "naive.yaml", "sums.jsonl", "--json", fine=(0, 1)))
    command(work, "report", "naive.jsonl", "--audit", "cheats.json", "-o", "cheats.html")


PAGES: dict[str, Callable[[Path], None]] = {
    "scored.html": scored, "runs.html": runs, "training.html": training, "data.html": data, "cheats.html": cheats,
}  # fmt: skip


def place(work: Path, name: str) -> str:
    """As the page's address names it: the first row with a passed test, the group with most rewards, or that group's first row."""
    groups: dict[Any, list[tuple[str, float]]] = {}
    for line in (work / "scored.jsonl").read_text().splitlines():
        found = json.loads(line)["grpo_rewards"]
        row = str(found["row"]) + (f".{found['index']}" if "index" in found else "")
        if name == "tests" and (found["components"].get("tests") or {}).get("value") == 1.0:
            return row
        groups.setdefault(found["group"], []).append((row, found["reward"] or 0.0))
    number, members = max(enumerate(groups.values(), 1), key=lambda one: len({reward for _, reward in one[1]}))
    return str(number) if name == "group" else members[0][0]


def shoot(work: Path, out: Path, only: list[str]) -> None:
    from browser import Browser  # type: ignore[import-not-found]

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("there is no chromium to take the pictures with")
    out.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        if only and name not in only:
            continue
        chosen = picture.chosen
        for key in ("tests", "group", "base"):
            if f"@{key}" in chosen:
                chosen = chosen.replace(f"@{key}", place(work, key))
        with Browser(program, width=picture.width, height=picture.height) as browser:
            scheme = {"name": "prefers-color-scheme", "value": "dark" if picture.dark else "light"}
            browser.call("Emulation.setEmulatedMedia", features=[scheme])
            browser.call("Page.navigate", url=(work / picture.page).as_uri() + chosen)
            browser.until("document.documentElement?.dataset.ready === 'yes'", seconds=60)
            if picture.at:
                browser.run(f"document.querySelector({json.dumps(picture.at)}).scrollIntoView()")
                opened = "section[aria-labelledby] .cheats details"
                browser.run(f"document.querySelector({json.dumps(opened)})?.setAttribute('open', '')")
            if picture.within:
                browser.until(f"document.querySelector({json.dumps(picture.within)})")
                browser.run(
                    f"document.getElementById('detail').scrollTop = document.querySelector({json.dumps(picture.within)}).offsetTop - 120"
                )
            browser.run("new Promise(done => setTimeout(done, 800))")
            if complaints := browser.complaints():
                raise SystemExit(f"{name}: {complaints}")
            taken = browser.call("Page.captureScreenshot", format="webp", quality=80)
            (out / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))
            print(f"{name}: {(out / f'{name}.webp').stat().st_size:,} bytes", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "gallery")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--only", nargs="*", default=[], choices=list(PICTURES))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = (given.work or Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        needed = {PICTURES[name].page for name in given.only or PICTURES} | {"scored.html", "runs.html"}
        for page, make in PAGES.items():
            if page in needed and not (work / page).exists():
                make(work)
        shoot(work, given.out, given.only)


if __name__ == "__main__":
    main()
