"""GDPO on several ranks, one group across two of them: prints each form's advantages of all ranks as JSON, on rank 0.

Usage: ``gdpo_ranks.py TABLE`` with RANK and WORLD_SIZE. ``trl`` is the trainer alone, with plain functions and its own
``normalize_then_sum``; it knows nothing of rows that are left out, so it is there for tables without any.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

import test_gdpo
import tiny
from grpo_rewards_adapters.trl import trl_kwargs
from trl import GRPOConfig


def main(name: str) -> None:
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    table = test_gdpo.TABLES[name]
    each = len(table["large"]) // world
    mine = {component: values[rank * each : (rank + 1) * each] for component, values in table.items()}

    def plain(component: str) -> Any:
        def given(completions: list[str], **_: Any) -> list[Any]:
            return mine[component][: len(completions)]

        given.__name__ = component
        return given

    forms = ["fused", "expanded"]
    if not any(value is test_gdpo.DOWN for values in table.values() for value in values):
        forms.append("trl")
    found: dict[str, list[float]] = {}
    for form in forms:
        more: dict[str, Any] = {"reward_funcs": [plain(component) for component in mine]}

        def config(form: str = form, more: dict[str, Any] = more, **arguments: Any) -> Any:
            if form == "trl":
                weights = [test_gdpo.WEIGHTS[component] for component in mine]
                return GRPOConfig(**arguments, reward_weights=weights, multi_objective_aggregation="normalize_then_sum")
            made = trl_kwargs(test_gdpo.composite(mine), args=GRPOConfig(**arguments), form=form)  # type: ignore[arg-type]
            more.update(callbacks=made["callbacks"], reward_funcs=made["reward_funcs"])
            return made["args"]

        with tempfile.TemporaryDirectory() as folder:
            trainer = tiny.make_trainer(
                None, folder, config=config, given=more, max_steps=1, num_generations=test_gdpo.GROUP,
                per_device_train_batch_size=each,
            )  # fmt: skip
            trainer.train()
        found[form] = list(trainer._logs["advantages"])
    if rank == 0:
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
