"""Programs that want the reward of `code` without solving the task, on the columns of public data sets.

`code_attacks/*.jsonl` hold them, with an honest twin for each shape of row; `code_attacks/README.md` says how they were made.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import load

FOLDER = Path(__file__).parent / "code_attacks"
CONFIG = """
version: 1
rewards: {tests: {use: code, params: {timeout: 5, workers: 2}}}
errors: {max_infra_rate: 1.0}
"""
# What a family needs on this machine, beside Python.
TOOLS = {
    "cpp": "g++",
    "java": "javac",
    "javascript": "node",
    "rust": "rustc",
    "go": "go",
    "ruby": "ruby",
    "php": "php",
    "bash": "bash",
}
SLOW = {*TOOLS, "checkers", "exhaustion"}
# Attacks that are paid today, with the reason: each must go from here when it is mended.
PAID: dict[str, str] = {}
# Honest twins whose rows may be refused: each goes from here when its format is read.
NOT_YET = {
    "bash/bash-multipl-honest",
    "bash/bash-stdio-honest",
    "calls/apps-collatz_steps-honest",
    "calls/apps-runs-honest",
    "calls/taco-mean_gap-honest",
    "calls/taco-shift-honest",
    "calls/prime-collatz_steps-honest",
    "calls/prime-runs-honest",
    "calls/lcb-collatz_steps-honest",
    "calls/lcb-runs-honest",
    "checkers/testlib-honest",
    "checkers/python-honest",
    "checkers/hardtests-honest",
    "cpp/cpp-multipl-honest",
    "cpp/cpp-humanevalx-honest",
    "cpp/cpp-stdio-honest",
    "cpp/c-stdio-honest",
    "cruxeval/honest",
    "exhaustion/exhaustion-honest",
    "exhaustion/exhaustion-call-honest",
    "extraction/extraction-honest",
    "extraction/prompt-claims-honest",
    "files/acecode-honest",
    "go/go-multipl-honest",
    "go/go-humanevalx-honest",
    "go/go-stdio-honest",
    "java/java-multipl-honest",
    "java/java-humanevalx-honest",
    "java/java-stdio-honest",
    "javascript/js-multipl-honest",
    "javascript/ts-multipl-honest",
    "javascript/js-humanevalx-honest",
    "javascript/js-stdio-honest",
    "packed/packed-honest",
    "php/php-multipl-honest",
    "ruby/ruby-multipl-honest",
    "rust/rust-multipl-honest",
    "rust/rust-humanevalx-honest",
    "rust/rust-stdio-honest",
    "stdio/apps-honest",
    "stdio/lcb-honest",
    "stdio/contests-honest",
    "stdio/openr1-honest",
}


def rows(family: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{family}.jsonl").read_text(encoding="utf-8").splitlines()]


def families() -> list[Any]:
    """Each file, with the marks of what it costs and needs."""
    cases = []
    for name in sorted(path.stem for path in FOLDER.glob("*.jsonl")):
        marks = [pytest.mark.slow] if name in SLOW else []
        if name in TOOLS and not shutil.which(TOOLS[name]):
            reason = f"no {TOOLS[name]} on this machine: {len(rows(name))} rows of {name} are not run"
            marks.append(pytest.mark.skip(reason=reason))
        cases.append(pytest.param(name, marks=marks, id=name))
    return cases


def scored(family: str, folder: Path) -> dict[str, dict[str, Any]]:
    """What `code` says of each row of `family`, by the row's id."""
    config = folder / "rewards.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    attacks = rows(family)
    table = load(config).score([{**row["columns"], "completion": row["completion"]} for row in attacks])
    return {row["id"]: table.row(index)["components"]["tests"] for index, row in enumerate(attacks)}


@pytest.mark.parametrize("family", families())
def test_no_attack_is_paid_and_honest_twins_are(family: str, tmp_path: Path) -> None:
    outcomes = scored(family, tmp_path)
    wanted = {row["id"]: row["expected"] for row in rows(family)}
    paid = {name for name, part in outcomes.items() if not wanted[name] and part["value"]}
    assert paid == {name for name in PAID if name in wanted}, {name: outcomes[name] for name in paid}
    unpaid = {name: part for name, part in outcomes.items() if wanted[name] and part["value"] != 1.0}
    assert unpaid.keys() <= NOT_YET, unpaid
    assert all(part["status"] == "not_applicable" for part in unpaid.values()), unpaid


def test_the_corpus_is_whole() -> None:
    everything = [row for path in FOLDER.glob("*.jsonl") for row in rows(path.stem)]
    assert max(Counter(row["id"] for row in everything).values()) == 1
    assert sum(row["expected"] == 0 for row in everything) >= 300
    for path in FOLDER.glob("*.jsonl"):
        assert any(row["expected"] for row in rows(path.stem)), f"{path.name} has no honest twin"
