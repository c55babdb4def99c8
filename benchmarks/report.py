"""How long `report` takes, how much memory, and how fast its page opens, filters and scrolls.

    python benchmarks/report.py [--rows 100000] [--browser /usr/bin/chromium] [--keep FOLDER]

Prints one JSON object. The rows are made up: groups of eight, four components, texts of the length of short
mathematical reasoning. The browser's figures are left out where there is none.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WORDS = [
    "the",
    "first",
    "number",
    "is",
    "twice",
    "then",
    "we",
    "add",
    "both",
    "sides",
    "so",
    "that",
    "each",
    "box",
    "holds",
    "more",
    "apples",
    "per",
    "day",
    "and",
    "subtract",
    "remaining",
    "total",
    "cost",
    "divided",
    "by",
    "hours",
    "gives",
    "therefore",
    "check",
    "again",
    "half",
    "of",
    "them",
]


def made_up(rows: int, path: Path, *, seed: int = 7) -> None:
    """Write `rows` scored rows in groups of eight."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for row in range(rows):
            if row % 8 == 0:
                prompt = f"Problem {row // 8}: " + " ".join(chance.choices(WORDS, k=45)) + "?"
                hard = chance.random()
            steps = chance.randint(4, 16)
            text = "\n".join(
                " ".join(chance.choices(WORDS, k=12)) + f" {chance.randint(1, 99)} + {chance.randint(1, 99)}"
                for _ in range(steps)
            )
            right = float(chance.random() > hard)
            tags = chance.choice((0.0, 0.5, 1.0, 1.0))
            brief = round(max(0.0, 1 - abs(len(text) - 600) / 900), 4)
            answer = str(chance.randint(1, 400))
            values = {
                "correct": (right, 2.0, 1.0, f"{answer} is {'equal' if right else 'not equal'} to the reference"),
                "format": (tags, 0.5, 1.0, "both tags" if tags == 1 else "a tag is missing"),
                "brief": (brief, 0.2, right, f"{len(text)} characters"),
                "style": (round(chance.gauss(0.5, 0.15), 4), 0.0, 1.0, ""),
            }
            parts = {
                name: {"value": v, "weight": w, "gate": g, "contribution": v * w * g, "status": "scored", "reason": why,
                       **({"details": {"extracted": answer}} if name == "correct" else {})}
                for name, (v, w, g, why) in values.items()
            }  # fmt: skip
            reward = sum(part["contribution"] for part in parts.values())
            scored = {"row": row + 1, "reward": reward, "components": parts}
            completion = f"<reasoning>{text}</reasoning><answer>{answer}</answer>"
            data = {"prompt": prompt, "completion": completion, "solution": answer, "grpo_rewards": scored}
            file.write(json.dumps(data) + "\n")


FILTERS = {
    "component and range": "component=correct&in=reward%3A1%3A",
    "sort by reward": "sort=reward&down=1",
    "search": "q=apples%20per",
    "search, more hits": "q=remaining",
    "search in a group's signal": "q=therefore&signal=with",
}

# from following a link to the page having chosen and drawn its rows
FILTER = """(async () => {
  const state = document.getElementById('state'), start = performance.now();
  const done = new Promise((resolve) => new MutationObserver(() => {
    if (!state.textContent.startsWith('Searching')) resolve(); }).observe(state, {childList: true}));
  location.hash = 'WHERE';
  await done;
  return +(performance.now() - start).toFixed(1);
})()"""

# the same, to the first rows that a search shows
FIRST = """(async () => {
  const grid = document.getElementById('grid'), start = performance.now();
  const done = new Promise((resolve) => new MutationObserver(() => resolve()).observe(
    grid, {attributes: true, attributeFilter: ['aria-rowcount']}));
  location.hash = 'WHERE';
  await done;
  return +(performance.now() - start).toFixed(1);
})()"""

CHILD = """
import json, resource, sys, time
from grpo_rewards._report import write_report
start = time.perf_counter()
written = write_report(sys.argv[1], sys.argv[2])
print(json.dumps({"seconds": round(time.perf_counter() - start, 2), "rows": written.rows, "bytes": written.size,
                  "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}))
"""


def thread_seconds(browser: Any) -> float:
    """The processor time of the page's main thread since it was opened; unlike wall time it says the same under load."""
    metrics = {entry["name"]: entry["value"] for entry in browser.call("Performance.getMetrics")["metrics"]}
    return round(metrics["TaskDuration"], 3)


def filtered(browser: Any, where: str) -> dict[str, Any]:
    """Follow a link to some rows; return how long it took and what the page says of them."""
    before = thread_seconds(browser)
    milliseconds = browser.run(FILTER.replace("WHERE", where), seconds=120)
    spent = round(1000 * (thread_seconds(browser) - before))
    rows = browser.run("document.getElementById('state').textContent")
    return {"wall_ms": milliseconds, "processor_ms": spent, "rows": rows}


def opening(browser: Any, page: Path) -> dict[str, Any]:
    """Open the page; return how long it took until its rows could be seen."""
    start = time.perf_counter()
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.until("document.documentElement?.dataset.ready === 'yes'", seconds=300)
    return {
        "open_seconds": round(time.perf_counter() - start, 2),
        "open_processor_seconds": thread_seconds(browser),
    }


def main() -> None:
    """Measure once and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        source, page = folder / "scored.jsonl", folder / "report.html"
        made_up(arguments.rows, source)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(source), str(page)], check=True, capture_output=True, text=True
        )
        result = {"input_bytes": source.stat().st_size, "report": json.loads(done.stdout)}
        if Path(arguments.browser).exists():
            sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "report"))
            from browser import Browser

            with Browser(arguments.browser) as browser:
                browser.call("Performance.enable", timeDomain="threadTicks")
                opened = opening(browser, page)
                browser.until("performance.getEntriesByName('warm').length > 0", seconds=120)
                result["page"] = {
                    **opened,
                    "texts_unpacked_after_seconds": browser.run(
                        "+(performance.getEntriesByName('warm')[0].startTime / 1000).toFixed(2)"
                    ),
                    "filter": {name: filtered(browser, where) for name, where in FILTERS.items()},
                    "wheel": browser.scroll_figures("100"),
                    "jumps": browser.scroll_figures(),
                }
            with Browser(arguments.browser) as browser:  # the dearest filter, before the page has unpacked its texts
                browser.call("Performance.enable", timeDomain="threadTicks")
                opened = opening(browser, page)
                where = FILTERS["search"]
                first = browser.run(FIRST.replace("WHERE", where), seconds=120)
                browser.until("!document.getElementById('state').textContent.startsWith('Searching')", seconds=120)
                result["page"]["search in the moment of opening"] = {
                    "first_rows_wall_ms": first,
                    "processor_ms": round(1000 * (thread_seconds(browser) - opened["open_processor_seconds"])),
                    "rows": browser.run("document.getElementById('state').textContent"),
                }
            with Browser(arguments.browser) as browser:
                browser.call("Performance.enable", timeDomain="threadTicks")
                opening(browser, page)
                result["page"]["the same, until all are found"] = filtered(browser, where)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
