"""What the tests of the command line share: it runs as a process of its own, in the test's folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).with_name("grpo-rewards")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run ``grpo-rewards`` with arguments; `env` adds to the environment."""
    import os

    def run(*arguments: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "200", **(env or {})}
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment)

    return run


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSONL."""

    def write(rows: Iterable[Mapping[str, Any]], name: str = "rows.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
