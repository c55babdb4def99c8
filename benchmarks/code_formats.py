"""Rows of public formats with right and wrong programs: how `code` judges them, for each family of rows.

Run: ``python benchmarks/code_formats.py ROWS.jsonl [--show] [--fractions]``. A line of the file is one row: ``family``, ``columns`` as the
data set has them, ``completion``, ``expected`` (1, 0, or "refuse" where no score is right), ``also`` with further outcomes that
are right, ``fraction`` (the share of tests passed), ``debatable`` (not counted). A program that must fail may be refused with
its row; one that must pass may not.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from grpo_rewards import Outcome, get_reward
from grpo_rewards.types import Batch

_BATCH = 64
_KINDS = ("right", "false zero", "false pass", "refused", "scored though to refuse", "no verdict")


def kind_of(outcome: Outcome, expected: Any, also: list[Any]) -> str:
    """Say how an outcome stands to what is expected."""
    unscored = outcome.status in ("not_applicable", "unavailable")
    got = "refuse" if unscored else int(outcome.value == 1.0)
    if outcome.status == "unavailable":
        return "no verdict"
    if got == expected or got in also:
        return "right"
    if expected == "refuse":
        return "scored though to refuse"
    if unscored:
        return "refused"
    return "false zero" if expected == 1 else "false pass"


def main() -> None:
    """Score the file's rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--show", action="store_true", help="print each row that is not right")
    parser.add_argument("--fractions", action="store_true", help="compare `fraction` too (score: fraction)")
    parser.add_argument("--family", help="only the rows of this family")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()]
    rows = [row for row in rows if not row.get("debatable") and given.family in (None, row["family"])]
    code, fractions = (
        get_reward("code").with_(sandbox="local"),
        get_reward("code").with_(sandbox="local", score="fraction"),
    )
    found: dict[str, Counter[str]] = {}
    shares = Counter[bool]()
    for start in range(0, len(rows), _BATCH):
        some = rows[start : start + _BATCH]
        batch = Batch.from_rows([{**row["columns"], "completion": row["completion"]} for row in some])
        for row, outcome in zip(some, code.outcomes(batch), strict=True):
            kind = kind_of(outcome, row["expected"], row.get("also") or [])
            found.setdefault(row["family"], Counter())[kind] += 1
            if kind != "right" and given.show:
                print(row["id"], "|", kind, "|", outcome.status, outcome.value, outcome.reason[:300], flush=True)
        for row, outcome in zip(some, fractions.outcomes(batch) if given.fractions else (), strict=False):
            share = row.get("fraction")
            if share is not None:
                right = outcome.value is not None and abs(outcome.value - share) < 1e-3
                shares[right] += 1
                if not right and given.show:
                    print(row["id"], "| fraction", outcome.value, "for", share, outcome.details)
    print(f"{'family':32}" + "".join(f"{kind:>26}" for kind in _KINDS))
    for family, kinds in sorted(found.items()):
        print(f"{family:32}" + "".join(f"{kinds[kind]:26}" for kind in _KINDS))
    total = sum(found.values(), Counter())
    print(f"{'all ' + str(len(rows)):32}" + "".join(f"{total[kind]:26}" for kind in _KINDS))
    if given.fractions:
        print(f"shares of tests passed as expected: {shares[True]} of {shares.total()}")


if __name__ == "__main__":
    main()
