"""Real trainers of a tiny model."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def make_trainer(tmp_path: Path) -> Callable[..., Any]:
    """Makes a `GRPOTrainer` of the tiny model for a few steps on the CPU; see `tiny.make_trainer`."""
    return partial(_module("tiny").make_trainer, output=str(tmp_path / "run"))
