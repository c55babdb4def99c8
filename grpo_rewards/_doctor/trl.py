"""TRL against the contract that this package was written to: its names in the source, its behaviour by trying."""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grpo_rewards._doctor.finding import Finding
from grpo_rewards.errors import how_to_install

__all__ = ["examine_trl"]

_CONTRACT = {
    "log_extra": "reasons do not reach the completions table",
    "log_metric": "component means are not logged in the fused form",
    "trainer_state": "schedules and stages cannot follow the steps in the fused form",
    "reward_weights": "weights cannot change in the expanded form",
    "multi_objective_aggregation": "combine.normalize: gdpo is not available",
}


def examine_trl() -> Finding:
    """Say how the installed TRL stands to the known contract: one step of training is tried with a tiny model."""
    try:
        found = version("trl")
    except PackageNotFoundError:
        return Finding("TRL", "note", "not installed; scoring works, training does not", how_to_install("train"))
    probe = importlib.import_module("grpo_rewards_adapters.probe")
    upgrade = f"pip install -U 'trl>={probe.FLOOR}'"
    file = _trainer_file()
    if file is None:
        return Finding("TRL", "problem", f"{found} has no trainer/grpo_trainer.py", upgrade)
    # read and not imported: TRL brings torch and transformers, which takes seconds
    source = file.read_text(encoding="utf-8", errors="replace")
    if missing := [f"{name} ({effect})" for name, effect in _CONTRACT.items() if name not in source]:
        return Finding("TRL", "problem", f"{found} lacks {'; '.join(missing)}", upgrade)
    try:
        tried = probe.ask(*probe.GRPO, file)
    except PackageNotFoundError as error:
        return Finding("TRL", "problem", f"{found}: {error.name} is missing", how_to_install("train"))
    if tried.neutral is None:
        return Finding("TRL", "note", f"{found}: one step of training could not be tried: {tried.why}",
                       "check a small run before a long one")  # fmt: skip
    if not tried.neutral:
        return Finding("TRL", "problem", f"{found} takes a row that could not be scored for a reward of 0", upgrade)
    return Finding("TRL", "ok", f"{found}, which leaves rows that could not be scored out of training (one step tried)")


def _trainer_file() -> Path | None:
    spec = importlib.util.find_spec("trl")  # finds the package without running it
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        file = Path(folder) / "trainer" / "grpo_trainer.py"
        if file.is_file():
            return file
    return None
