"""What a tier is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TierSettings:
    """Runs with the same `name` and the same size of actors share them.

    `actors` is the most there may be (None: as many as fit on the nodes), `num_cpus` and `resources` what each takes of
    its node, `gpu_nodes` whether nodes with a GPU are taken too. An actor that nobody asks for `idle` seconds ends. Where
    there is no actor, rows wait for one for `grace` seconds.
    """

    name: str = "rewards"
    actors: int | None = None
    num_cpus: float = 1.0
    resources: Mapping[str, float] = field(default_factory=dict)
    gpu_nodes: bool = False
    idle: float = 600.0
    grace: float = 30.0
