"""What the tests of scoring share: the command line as a process of its own, and files to score."""

from __future__ import annotations

import json
import os
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
    """Run ``grpo-rewards`` with arguments, in the test's own folder."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, **options)

    return run


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start ``grpo-rewards`` with arguments as the head of a process group of its own."""

    def run(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(COMMAND), *map(str, arguments)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ),
        )  # fmt: skip

    return run


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSONL."""

    def write(rows: Iterable[Mapping[str, Any]], name: str = "rows.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def read() -> Callable[[Path], list[dict[str, Any]]]:
    """Read a JSONL file."""
    return lambda path: [json.loads(line) for line in path.read_text().splitlines()]
