"""Scored rows to report on, and the browser to look at the pages with."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest


def part(value: float | None, weight: float = 1.0, gate: float = 1.0, **more: Any) -> dict[str, Any]:
    contribution = None if value is None else value * weight * gate
    status = "not_applicable" if value is None else "scored"
    return {"value": value, "weight": weight, "gate": gate, "contribution": contribution, "status": status,
            "reason": "", **more}  # fmt: skip


def scored(row: int, reward: float | None, components: dict[str, Any], **columns: Any) -> dict[str, Any]:
    data = {"prompt": "What?", "completion": f"text {row}", **columns}
    data["grpo_rewards"] = {"row": row, "reward": reward, "components": components}
    return data


@pytest.fixture(scope="session")
def make_part() -> Callable[..., dict[str, Any]]:
    return part


@pytest.fixture(scope="session")
def make_row() -> Callable[..., dict[str, Any]]:
    return scored


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[[Sequence[dict[str, Any]]], Path]:
    def write(rows: Sequence[dict[str, Any]]) -> Path:
        path = tmp_path / "scored.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("NO BROWSER: the pages were not tested for script injection; install chromium")
    spec = importlib.util.spec_from_file_location("report_browser", Path(__file__).with_name("browser.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.Browser(program) as opened:
        yield opened
