"""The cheats of `audit` that judges fall for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .screening import MASTER_KEYS

if TYPE_CHECKING:
    from grpo_rewards.types import Case


def master_keys(case: Case) -> Iterator[str]:
    """says nothing but an opener that judges pay for, or puts it around a wrong answer"""
    yield from MASTER_KEYS
    for key in MASTER_KEYS:
        yield f"{key}\n{case.wrong[0]}"
        yield f"{case.wrong[0]}\n{key}"
