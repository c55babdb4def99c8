"""A short search for programs that pass without solving; `GRPO_SEARCH_SECONDS` makes it longer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("GRPO_SEARCH_SECONDS", "20"))


def search(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the command; skip, and say why, where it finds no sandbox."""
    command = [sys.executable, str(Path(__file__).with_name("search.py")), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 3:
        pytest.skip(f"NO SEARCH RAN: {done.stderr}")
    return done


@pytest.mark.timeout(SECONDS + 280)
def test_no_program_passes_without_solving() -> None:
    done = search("--minutes", str(SECONDS / 60))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_search_finds_where_objects_of_a_candidate_are_believed(tmp_path: Path) -> None:
    findings = tmp_path / "findings.jsonl"
    done = search("--fidelity", "shared", "--first", "--minutes", "2", "--out", str(findings))
    assert done.returncode == 1, done.stdout + done.stderr
    assert '"status": "passed"' in findings.read_text()
