"""The real rows in examples/, read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def example_rows() -> Callable[[str], list[dict[str, Any]]]:
    """Reads a file of examples/ by its name."""
    return _rows


@pytest.fixture(scope="session")
def reasoning() -> list[dict[str, Any]]:
    """512 completions of arithmetic and countdown prompts, in groups of 8."""
    return _rows("reasoning.jsonl")


@pytest.fixture(scope="session")
def arithmetic(reasoning: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of the arithmetic prompts."""
    return [row for row in reasoning if row["task"] == "arithmetic"]


@pytest.fixture(scope="session")
def programs() -> list[dict[str, Any]]:
    """160 completions of HumanEval's prompts, in groups of 8."""
    return _rows("code.jsonl")


@pytest.fixture(scope="session")
def extraction() -> list[dict[str, Any]]:
    """64 completions of sentences to be turned into JSON, in groups of 8."""
    return _rows("presets/extraction.jsonl")
