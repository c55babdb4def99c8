"""The cheats of `audit` that judges fall for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .screening import MASTER_KEYS

__all__ = ["master_keys"]


def master_keys(case: Any) -> Iterator[str]:
    """says nothing but an opener that judges pay for, or puts it around a wrong answer"""
    yield from MASTER_KEYS
    for key in MASTER_KEYS:
        yield f"{key}\n{case.wrong[0]}"
        yield f"{case.wrong[0]}\n{key}"
