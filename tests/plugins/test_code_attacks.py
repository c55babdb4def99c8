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
from grpo_rewards.types import PartScores

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
# Honest twins whose rows hold program and tests in one text, which `fidelity: shared` runs so too.
ONE_PROCESS = {
    "bash/bash-multipl-honest",
    "cpp/cpp-multipl-honest",
    "cpp/cpp-humanevalx-honest",
    "go/go-multipl-honest",
    "java/java-multipl-honest",
    "java/java-humanevalx-honest",
    "javascript/js-multipl-honest",
    "javascript/ts-multipl-honest",
    "javascript/js-humanevalx-honest",
    "php/php-multipl-honest",
    "ruby/ruby-multipl-honest",
    "rust/rust-multipl-honest",
    "rust/rust-humanevalx-honest",
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


def scored(family: str, folder: Path) -> dict[str, PartScores]:
    """What `code` says of each row of `family`, by the row's id."""
    config = folder / "rewards.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    attacks = rows(family)
    table = load(config).score([{**row["columns"], "completion": row["completion"]} for row in attacks])
    return {row["id"]: table.row(index)["components"]["tests"] for index, row in enumerate(attacks)}


@pytest.mark.slow
@pytest.mark.parametrize("family", families())
def test_no_attack_is_paid_and_honest_twins_are(family: str, tmp_path: Path) -> None:
    outcomes = scored(family, tmp_path)
    wanted = {row["id"]: row["expected"] for row in rows(family)}
    paid = {name for name, part in outcomes.items() if not wanted[name] and part["value"]}
    assert paid == {name for name in PAID if name in wanted}, {name: outcomes[name] for name in paid}
    unpaid = {name: part for name, part in outcomes.items() if wanted[name] and part["value"] != 1.0}
    assert not unpaid


def test_the_corpus_is_whole() -> None:
    everything = [row for path in FOLDER.glob("*.jsonl") for row in rows(path.stem)]
    assert max(Counter(row["id"] for row in everything).values()) == 1
    assert sum(row["expected"] == 0 for row in everything) >= 370
    for path in FOLDER.glob("*.jsonl"):
        assert any(row["expected"] for row in rows(path.stem)), f"{path.name} has no honest twin"


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(TOOLS))
def test_programs_that_hold_their_tests_run_in_one_process_where_that_is_asked(family: str, tmp_path: Path) -> None:
    if not shutil.which(TOOLS[family]):
        pytest.skip(f"no {TOOLS[family]} on this machine: programs of {family} were not joined with their tests")
    honest = [row for row in rows(family) if row["id"] in ONE_PROCESS]
    config = CONFIG.replace("timeout: 5", "timeout: 10, fidelity: shared")
    (tmp_path / "rewards.yaml").write_text(config, encoding="utf-8")
    for row in honest:
        continued = row["completion"].partition("\n")[2].rpartition("```")[0]
        table = load(tmp_path / "rewards.yaml").score(
            [{**row["columns"], "completion": text} for text in (row["completion"], continued, "nothing")]
        )
        assert table.rewards()[:2] == [1.0, 1.0], (row["id"], [table.row(index) for index in range(2)])
        assert not table.rewards()[2]
