"""How right, how fast and how robust `math` is, beside Math-Verify's defaults and TRL's `accuracy_reward`, in one run.

    python benchmarks/math_equivalence.py [--data FOLDER] [--grader ours ...] [--file scale_dev ...] [--rows N] [--pairs FILE ...]
        [--tables] [--peers PYTHON]

FOLDER holds `math/{equivalence,scale,hostile}_dev.jsonl` (rows with gold, completion, expected) and
`gsm8k/model_solutions.jsonl` of openai/grade-school-math. Without it the pairs are made up (math_pairs.py). With --pairs only
those files are graded: JSON lines with gold, completion and expected, for solutions of one's own. With --tables those of
tests/math are, one by one and together. PYTHON is the interpreter of an environment that has Math-Verify and TRL, where this one
has not.

Prints one JSON object: per file and grader the share right, false accepts, precision, recall (TPR), FPR and Youden's J, pairs per
second, latency percentiles, hangs and peak memory; and ours as a ratio to the best peer. Each grader runs in a process of its own, which is killed and
started again behind a pair that does not return. GSM8K is graded in each of three endings. Graders that are not installed
are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

GRACE = 5.0  # seconds beyond a pair's own limit before its process is killed
LIMIT = 30.0
FORMS = {"plain": "A: {}", "boxed": "The answer is \\boxed{{{}}}.", "hash": "#### {}"}
TABLES = Path(__file__).parents[1] / "tests" / "math" / "tables"
Grade = Callable[[str, str], bool]


def ours() -> Grade:
    """The reward of this package, called one pair at a time."""
    from grpo_rewards_plugins.math.reward import math

    settings = dict(math.settings)
    bound = math.with_(**settings)
    return lambda gold, completion: bound.one(completion, answer=gold).value == 1.0


def math_verify() -> Grade:
    """Math-Verify with its defaults; a gold without delimiters is read between dollar signs, or else as it is."""
    from math_verify import parse, verify

    def grade(gold: str, completion: str) -> bool:
        dressed = gold if "$" in gold or "boxed" in gold else f"${gold}$"
        return bool(verify(parse(dressed) or parse(gold), parse(completion)))

    return grade


def trl() -> Grade:
    """TRL's accuracy_reward; a gold without delimiters gets dollar signs, as its documentation has them."""
    from trl.rewards import accuracy_reward

    def grade(gold: str, completion: str) -> bool:
        solution = gold if "$" in gold or "boxed" in gold else f"${gold}$"
        return accuracy_reward([[{"role": "assistant", "content": completion}]], [solution])[0] == 1.0

    return grade


GRADERS = {"ours": (ours, "grpo_rewards_plugins"), "math_verify": (math_verify, "math_verify"), "trl": (trl, "trl")}


def text(value: Any) -> str:
    """A text, or one given as pieces with how often each is repeated."""
    return value if isinstance(value, str) else "".join(piece * times for piece, times in value)


def labelled(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of pairs whose label is not in doubt."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        {
            "gold": text(row["gold"]),
            "completion": text(row["completion"]),
            "expected": row["expected"],
            "limit": row.get("max_seconds"),
        }
        for row in rows
        if not row.get("debatable") and row["expected"] != "any"
    ]


def tables() -> Iterator[tuple[str, list[dict[str, Any]], bool]]:
    """The rows of each table that were written before the engine saw them, and all of them together."""
    together: list[dict[str, Any]] = []
    for path in sorted(TABLES.glob("*.txt")):
        pairs = []
        blind = False
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# ") and " | " not in line:
                blind = line.startswith("# hold-out")
            elif blind and not line.startswith("#"):
                label, gold, answer = line.split(" | ", 2)
                whole = path.stem.startswith("completions_")  # of the others only what stands in the box
                completion = answer.replace("\\n", "\n") if whole else f"So the answer is $\\boxed{{{answer}}}$."
                plain = gold.replace("\\$", "\0").replace("$", "").replace("\0", "\\$")  # the peers read one formula
                pairs.append({"gold": plain, "completion": completion, "expected": label == "T", "limit": None})
        together += pairs
        yield path.stem, pairs, False
    yield "together", together, False


def grade_school(folder: Path, ending: str) -> list[dict[str, Any]]:
    """GSM8K's model solutions with the answer in another ending."""
    out = []
    for line in (folder / "model_solutions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold = row["ground_truth"].rpartition("A: ")[2].strip()
        for solution in row.values():
            if isinstance(solution, dict):
                work, mark, answer = solution["solution"].rpartition("A: ")
                completion = work + FORMS[ending].format(answer.strip()) if mark else solution["solution"]
                out.append({"gold": gold, "completion": completion, "expected": solution["is_correct"], "limit": None})
    return out


def serve(grader: str, *, thread: bool) -> None:
    """Child process: answer one pair a line; the last line of input is empty and is answered with the memory used."""
    import resource
    import threading

    grade = GRADERS[grader][0]()
    try:
        grade("2", "so \\boxed{\\sqrt{4}}")
        grade("\\frac{\\pi}{3}", "so $\\boxed{x+1}$")  # imports are not what is measured
    except Exception:  # a peer may raise anything
        pass
    out = sys.stdout
    sys.stdout = sys.stderr

    def loop() -> None:
        out.write('"ready"\n')
        out.flush()
        for line in sys.stdin:
            if line == "\n":
                break
            pair = json.loads(line)
            begun = time.perf_counter()
            try:
                found: Any = grade(pair["gold"], pair["completion"])
            except Exception as error:  # a peer may raise anything
                found = type(error).__name__
            out.write(json.dumps([found, time.perf_counter() - begun]) + "\n")
            out.flush()
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        out.write(json.dumps({"megabytes": round(own / 1024)}) + "\n")
        out.flush()

    if thread:
        worker = threading.Thread(target=loop)
        worker.start()
        worker.join()
    else:
        loop()


class Child:
    """A grader in a process of its own."""

    def __init__(self, grader: str, *, thread: bool, peers: str = sys.executable) -> None:
        python = sys.executable if grader == "ours" else peers
        command = [python, __file__, "--serve", grader, *(["--thread"] if thread else [])]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.read(120.0)

    def read(self, seconds: float) -> Any:
        """One reply; None where it does not come in time or the process is gone."""
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, pair: dict[str, Any] | None, seconds: float) -> Any:
        """Send a pair (None: the end) and wait for the reply."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write((json.dumps(pair) if pair is not None else "").encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self.read(seconds)

    def kill(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def measure(grader: str, pairs: list[dict[str, Any]], *, thread: bool, peers: str) -> dict[str, Any]:
    """Grade all pairs with one grader."""
    child = Child(grader, thread=thread, peers=peers)
    right = true_accepts = false_accepts = hangs = late = raised = 0
    seconds: list[float] = []
    memory = 0
    for pair in pairs:
        limit = (pair["limit"] or LIMIT) + GRACE
        reply = child.ask({"gold": pair["gold"], "completion": pair["completion"]}, limit)
        if reply is None:
            hangs += 1
            seconds.append(limit)
            child.kill()
            child = Child(grader, thread=thread, peers=peers)
            continue
        found, took = reply
        seconds.append(took)
        raised += isinstance(found, str)
        in_time = pair["limit"] is None or took <= pair["limit"]
        late += not in_time
        right += (found is True) == pair["expected"] and in_time
        true_accepts += found is True and pair["expected"] and in_time
        false_accepts += found is True and not pair["expected"]
    end = child.ask(None, 10.0)
    if isinstance(end, dict):
        memory = end["megabytes"]
    child.kill()
    ordered = sorted(seconds)
    return {
        "pairs": len(pairs),
        "right": right,
        "share_right": round(right / len(pairs), 4),
        "false_accepts": false_accepts,
        **rates(true_accepts, false_accepts, sum(pair["expected"] for pair in pairs), len(pairs)),
        "raised": raised,
        "hangs": hangs,
        "late": late,
        "pairs_per_second": round(len(pairs) / sum(seconds), 1),
        "p50_ms": round(1000 * ordered[len(ordered) // 2], 3),
        "p99_ms": round(1000 * ordered[int(len(ordered) * 0.99)], 3),
        "max_ms": round(1000 * ordered[-1], 1),
        "megabytes": memory,
    }


def rates(true_accepts: int, false_accepts: int, positives: int, pairs: int) -> dict[str, float | None]:
    """Precision, recall (the true positive rate), the false positive rate, and Youden's J = TPR - FPR; None where undefined."""
    accepts, negatives = true_accepts + false_accepts, pairs - positives
    recall = true_accepts / positives if positives else None
    wrong = false_accepts / negatives if negatives else None
    return {
        "precision": round(true_accepts / accepts, 4) if accepts else None,
        "recall_tpr": None if recall is None else round(recall, 4),
        "fpr": None if wrong is None else round(wrong, 4),
        "youden_j": None if recall is None or wrong is None else round(recall - wrong, 4),
    }


def files(data: Path, wanted: list[str]) -> Iterator[tuple[str, list[dict[str, Any]], bool]]:
    """Name, pairs, and whether to grade from a worker thread."""
    for name in ("equivalence_dev", "scale_dev", "hostile_dev"):
        if not wanted or name in wanted:
            yield name, labelled(data / "math" / f"{name}.jsonl"), False
    if not wanted or "hostile_dev" in wanted:
        yield "hostile_dev_from_a_thread", labelled(data / "math" / "hostile_dev.jsonl"), True
    for ending in FORMS:
        if not wanted or f"gsm8k_{ending}" in wanted:
            yield f"gsm8k_{ending}", grade_school(data / "gsm8k", ending), False


def generated(wanted: list[str]) -> Iterator[tuple[str, list[dict[str, Any]], bool]]:
    """The made-up pairs, the hostile ones from a worker thread too."""
    from math_pairs import made_up

    for name, pairs in made_up().items():
        if not wanted or name in wanted:
            yield name, pairs, False
            if "hostile" in name:
                yield f"{name}_from_a_thread", pairs, True


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--grader", action="append", choices=list(GRADERS))
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--pairs", action="append", default=[], type=Path, help="grade this file of pairs instead")
    parser.add_argument("--tables", action="store_true", help="grade the tables of tests/math instead")
    parser.add_argument("--peers", help="interpreter of an environment that has the peers")
    parser.add_argument("--rows", type=int, default=None, help="grade only the first N pairs of each file")
    parser.add_argument("--serve", choices=list(GRADERS), help=argparse.SUPPRESS)
    parser.add_argument("--thread", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, thread=options.thread)
        return
    there_too = ("ours",) if options.peers is None else tuple(GRADERS)
    graders = [
        name for name in options.grader or GRADERS if name in there_too or importlib.util.find_spec(GRADERS[name][1])
    ]
    report: dict[str, Any] = {"python": sys.version.split()[0], "files": {}}
    chosen = [(path.stem, labelled(path), False) for path in options.pairs] or (
        list(tables()) if options.tables else []
    )
    there = (options.data / "math" / "scale_dev.jsonl").exists()
    report["data"] = "pairs" if chosen else str(options.data) if there else "made up"
    for name, pairs, thread in chosen or (files(options.data, options.file) if there else generated(options.file)):
        found = {
            grader: measure(grader, pairs[: options.rows], thread=thread, peers=options.peers or sys.executable)
            for grader in graders
        }
        peers = [found[grader]["pairs_per_second"] for grader in graders if grader != "ours"]
        if "ours" in found and peers:
            found["ours_times_as_fast_as_best_peer"] = round(found["ours"]["pairs_per_second"] / max(peers), 1)
        report["files"][name] = found
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
