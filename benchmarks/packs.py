"""The packs beside the graders whose numbers the field reports: equal values on generated rows, and rows per second.

    python benchmarks/packs.py FOLDER [--only agree|speed] [--packs qa_f1_squad sql_bird] [--count 100] [--seed 1] [--rounds 5] [--show 3]

FOLDER holds the originals (pack_originals.py says which); rows are made by pack_rows.py, `--count` of each type. Prints a table as in
docs/packs.md. What raises or hangs in an original has no value to agree with and is counted apart: `none`.

Speed: both sides in turns in one run, on rows whose texts are new to both in every round, processor time of this process and of its
workers; the median of the rounds, after one that is not counted. BIRD's and Spider's rows begin with a warm worker, as reasoning-gym's.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pack_originals as originals
import pack_rows as made
from pack_originals import Grader, Row
from processes import processor_seconds

from grpo_rewards import Reward, get_reward


@dataclass(frozen=True)
class Pack:
    """A grader of the field's beside ours: how its rows are made (count, seed), and the original, loaded when it is asked for."""

    reward: Reward
    rows: Callable[[int, str], Iterator[Row]]
    original: Callable[[], Grader]


def packs(folder: Path, databases: Path) -> dict[str, Pack]:
    """All packs by name."""
    found: dict[str, Pack] = {}

    def add(
        name: str, reward: Reward, rows: Callable[..., Iterator[Row]], original: Callable[..., Grader], *more: object
    ) -> None:
        first = more[:1] if rows in (made.instructions, made.bfcl) else more[1:2]
        found[name] = Pack(
            reward,
            lambda count, seed: rows(*first, count, seed),
            lambda: original(folder, *more) if rows is not made.bfcl else original(folder),
        )

    for source in ("ifeval", "ifbench", "ifrlvr"):
        add(source, get_reward("instructions").with_(think="keep"), made.instructions, originals.instructions, source)
    add("rlvr_ifeval", get_reward("instructions").with_(think="keep"), made.functions, originals.functions)
    for form in ("python", "hermes"):
        add(f"bfcl_{form}", get_reward("tool_calls").with_(format=form), made.bfcl, originals.bfcl, form)
    add("toolrl", get_reward("tool_calls").with_(rule="toolrl"), made.toolrl, originals.toolrl)
    for variant in ("squad", "squad2", "hotpot", "search_r1"):
        for metric in ("em", "subem") if variant == "search_r1" else ("em", "f1"):
            reward = get_reward("qa").with_(metric=metric, variant=variant, place="text")
            add(f"qa_{metric}_{variant}", reward, made.qa, originals.qa, metric, variant)
    for rule in ("bird", "spider"):
        reward = get_reward("sql").with_(rule=rule, databases=str(databases), place="text")
        found[f"sql_{rule}"] = Pack(reward, made.sql, lambda rule=rule: getattr(originals, rule)(folder, databases))
    add("reasoning_gym", get_reward("reasoning_gym"), made.reasoning_gym, originals.reasoning_gym)
    return found


def values(reward: Reward, rows: list[Row]) -> list[float | None]:
    """Ours."""
    columns = {name: [row["columns"][name] for row in rows] for name in rows[0]["columns"]}
    prompts = {"prompts": [row["prompt"] for row in rows]} if "prompt" in rows[0] else {}
    return list(reward(completions=[row["completion"] for row in rows], **prompts, **columns))


def agree(pack: Pack, count: int, seed: str, show: int) -> tuple[int, int, int]:
    """How many rows of a pack agree, are compared, and have no value in the original; prints types that differ."""
    rows = list(pack.rows(count, seed))
    grade = pack.original()
    wanted = [grade(row) for row in rows]
    compared, good, none = Counter[str](), Counter[str](), 0
    shown = Counter[str]()
    for row, one, other in zip(rows, values(pack.reward, rows), wanted, strict=True):
        if other is None:
            none += 1
            continue
        compared[row["type"]] += 1
        if one is not None and math.isclose(one, other, abs_tol=1e-6):
            good[row["type"]] += 1
        elif shown[row["type"]] < show:
            shown[row["type"]] += 1
            print(f"  {row['type']}: {row['completion']!r:.200} {row['columns']!r:.300} original {other} ours {one}")
    return good.total(), compared.total(), none


def speed(pack: Pack, count: int, seed: str, rounds: int) -> tuple[float, float, float]:
    """Rows per second of the original and of ours, and the median of their ratios."""
    grade = pack.original()
    theirs, ours = [], []
    for number in range(rounds + 1):
        rows = list(pack.rows(count, f"{seed} {number}"))
        rows = [row for row in rows if grade(row) is not None]  # what hangs would be the original's worst
        begun = processor_seconds()
        for row in rows:
            grade(row)
        between = processor_seconds()
        values(pack.reward, rows)
        if number:
            theirs.append((between - begun) / len(rows))
            ours.append((processor_seconds() - between) / len(rows))
    ratio = statistics.median(one / other for one, other in zip(theirs, ours, strict=True))
    return 1 / statistics.median(theirs), 1 / statistics.median(ours), ratio


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("agree", "speed"))
    parser.add_argument("--packs", nargs="+")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        made.databases(Path(scratch))
        known = packs(options.folder.resolve(), Path(scratch))
        print(
            "| pack | rows that agree | of | no value in the original | original, rows/s | ours, rows/s | times |\n|---|---|---|---|---|---|---|"
        )
        seconds: dict[str, tuple[float, float]] = {}  # of a row: the original's and ours
        for name in options.packs or known:
            cells = ["", "", "", "", "", ""]
            if options.only != "speed":
                cells[:3] = map(str, agree(known[name], options.count, options.seed, options.show))
            if options.only != "agree":
                before, now, ratio = speed(known[name], options.count, options.seed, options.rounds)
                cells[3:] = [f"{before:,.0f}", f"{now:,.0f}", f"{ratio:.1f}"]
                seconds[name] = 1 / before, 1 / now
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
        if {"sql_bird", "sql_spider"} <= seconds.keys():
            before, now = map(sum, zip(seconds["sql_bird"], seconds["sql_spider"], strict=True))
            print(f"| sql, as many rows of each | | | | {2 / before:,.0f} | {2 / now:,.0f} | {before / now:.1f} |")


if __name__ == "__main__":
    main()
