"""TRL against the contract that this package was written to, without importing it."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grpo_rewards._doctor.finding import Finding

__all__ = ["examine_trl"]

KNOWN = "1.16"
"""The release whose trainer was read line by line, and whose runs are in the tests."""
OLDEST = (1, 0)
"""The first release that gives reward functions `log_metric` and `log_extra`; the adapter's tests pass with it."""

_CONTRACT = {
    "log_extra": "reasons do not reach the completions table",
    "log_metric": "component means are not logged in the fused form",
    "trainer_state": "schedules and stages cannot follow the steps in the fused form",
    "reward_weights": "weights cannot change in the expanded form",
    "multi_objective_aggregation": "combine.normalize: gdpo is not available",
}


def examine_trl() -> Finding:
    """Say how the installed TRL stands to the known contract."""
    try:
        found = version("trl")
    except PackageNotFoundError:
        return Finding(
            "TRL", "note", "not installed; scoring works, training does not", "pip install 'grpo-rewards[train]'"
        )
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        return Finding(
            "TRL",
            "problem",
            f"{found} is older than {OLDEST[0]}.{OLDEST[1]}: reasons and means are not logged, steps not told",
            f"pip install -U 'trl>={KNOWN}'",
        )
    source = _trainer_source()
    if source is None:
        return Finding("TRL", "problem", f"{found}: its trainer/grpo_trainer.py is not where it was in {KNOWN}",
                       f"train with trl {KNOWN}, or check a small run before a long one")  # fmt: skip
    missing = [f"{name} ({effect})" for name, effect in _CONTRACT.items() if name not in source]
    if missing:
        return Finding("TRL", "problem", f"{found} lacks {'; '.join(missing)}", f"pip install 'trl>={KNOWN}'")
    if not found.startswith(KNOWN + "."):
        return Finding("TRL", "note", f"{found} has every name of the known contract, but was not tested; {KNOWN} was",
                       "check a small run before a long one")  # fmt: skip
    return Finding("TRL", "ok", f"{found}, the release that the adapter was tested with")


def _trainer_source() -> str | None:
    spec = importlib.util.find_spec("trl")  # finds the package without running it
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        file = Path(folder) / "trainer" / "grpo_trainer.py"
        if file.is_file():
            return file.read_text(encoding="utf-8", errors="replace")
    return None
