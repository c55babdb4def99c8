"""A short search for programs that pass without solving; `GRPO_SEARCH_SECONDS` makes it longer."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = float(os.environ.get("GRPO_SEARCH_SECONDS", "20"))


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command; skip, and say why, where it finds no sandbox."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 3:
        pytest.skip(f"NO SEARCH RAN: {done.stderr}")
    return done


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 280)
def test_no_program_passes_without_solving() -> None:
    done = run("search.py", "--minutes", str(SECONDS / 60))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_no_attack_passes_tests_that_are_written_another_way() -> None:
    done = run("search_rewritings.py", "--rows", "250")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_search_finds_what_is_opened_again() -> None:
    done = run("search_holes.py", "--minutes", "3", "context that swallows")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_hole_is_a_line_of_the_border(tmp_path: Path) -> None:
    holes = runpy.run_path(str(Path(__file__).with_name("search_holes.py")))
    for number, name in enumerate(holes["HOLES"]):
        holes["with_hole"](name, tmp_path / str(number))
