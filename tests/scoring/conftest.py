"""What the tests of scoring share: a command that is still running, and the rows of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).with_name("grpo-rewards")


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
def read() -> Callable[[Path], list[dict[str, Any]]]:
    """Read a JSONL file."""
    return lambda path: [json.loads(line) for line in path.read_text().splitlines()]
