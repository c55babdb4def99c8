"""The attacks and the honest programs of `corpus/`: written from the rules of the border, before its code."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, unjudgeable

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "corpus"
ATTACKS = sorted(path.stem for path in (CORPUS / "attacks").glob("*.jsonl"))
HONEST = sorted(path.stem for path in (CORPUS / "honest").glob("*.jsonl"))
# zoneinfo needs the system's data of zones
_LIBRARIES = "numpy pandas scipy torch sympy joblib yaml hypothesis pydantic networkx jinja2 dateutil requests click zoneinfo pytz attr"
# what the border does not do, found by running the programs: each with the reason, none of them a verdict that passes
LOST = {
    "honest_aliasing_identity_returned": "a tuple that comes back is an equal one, not the same",
    "honest_operators_vector_null_classes": "`(2 * i) @ i` takes what came of an operator with plain data for data",
    "honest_operators_metaclass_singleton": "the class of a class is asked for",
}


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    """Read a file; leave out the rows of libraries that are not installed here."""
    text = (CORPUS / folder / f"{name}.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [row for row in found if all(map(_installed, _needs(row)))]


def _needs(row: dict[str, Any]) -> list[str]:
    written = f"{row['candidate']}\n{row['tests']}\n{row['setup']}"
    return [name for name in _LIBRARIES.split() if f"import {name}" in written or f"from {name}" in written]


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def job(row: dict[str, Any], which: str, timeout: float) -> Job:
    return Job(
        row[which],
        row["tests"],
        row["format"],
        entry_point=row["entry_point"],
        setup=row["setup"],
        classes=tuple(row["classes"] or ()),
        timeout=timeout,
    )


def fitting(sandbox: Sandbox, found: list[dict[str, Any]], every: int = 1) -> list[dict[str, Any]]:
    """The image that Docker's tests run on holds no library. The program that judges is the same in all: there of `every` few rows one will do."""
    docker = sandbox.backend == "docker"
    if docker:
        found = [row for row in found if not _needs(row)]
    return found[:: 1 if os.environ.get("GRPO_ALL_ROWS", "0" if docker else "1") == "1" else every]


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_passes(sandbox: Sandbox, name: str) -> None:
    found = fitting(sandbox, rows("attacks", name), 3)
    verdicts = sandbox.run([job(row, "candidate", row["timeout"]) for row in found])
    wrong = {
        row["id"]: verdict
        for row, verdict in zip(found, verdicts, strict=True)
        if verdict.status in ("passed", "unavailable")
    }
    assert wrong == {}


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_pass_or_are_refused(sandbox: Sandbox, name: str) -> None:
    found = fitting(sandbox, rows("honest", name))
    found = [row for row in found if row["expected"] == "pass" and row["id"] not in LOST]
    verdicts = sandbox.run([job(row, "candidate", 30.0) for row in found])
    assert {row["id"]: verdict for row, verdict in zip(found, verdicts, strict=True) if not verdict.passed} == {}
    assert [row["id"] for row in found if unjudgeable(job(row, "candidate", 30.0))] == []


@pytest.mark.parametrize("name", HONEST)
def test_plausible_wrong_programs_fail(sandbox: Sandbox, name: str) -> None:
    found = [row for row in fitting(sandbox, rows("honest", name), 3) if row["expected"] == "pass"]
    verdicts = sandbox.run([job(row, "wrong", 10.0) for row in found])
    assert [row["id"] for row, verdict in zip(found, verdicts, strict=True) if verdict.passed] == []


def test_what_cannot_pass_says_what_it_met(sandbox: Sandbox) -> None:
    """A right program that fails has in its reason what is otherwise than in plain Python, or its tests are refused before it runs."""
    found = [row for name in HONEST for row in fitting(sandbox, rows("honest", name)) if "says" in row]
    verdicts = sandbox.run([job(row, which, row["timeout"]) for row in found for which in ("candidate", "wrong")])
    right = dict(zip((row["id"] for row in found), verdicts[::2], strict=True))
    assert {row["id"]: right[row["id"]] for row in found if row["says"] not in right[row["id"]].reason} == {}
    assert [verdict for verdict in verdicts if verdict.status not in ("failed", "refused")] == []


def test_what_is_lost_is_lost_still(sandbox: Sandbox) -> None:
    """A program that the border has learned to judge leaves the list."""
    found = [row for name in HONEST for row in rows("honest", name) if row["id"] in LOST]
    verdicts = sandbox.run([job(row, "candidate", 3.0) for row in found])
    assert {row["id"] for row, verdict in zip(found, verdicts, strict=True) if not verdict.passed} == set(LOST)
