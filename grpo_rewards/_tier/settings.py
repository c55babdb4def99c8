"""What a tier is made of: the section ``scale`` of a configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grpo_rewards._contract.section import Section


class ScaleConfig(Section):
    """Where components are evaluated, if not in the trainer's own process."""

    executor: Literal["ray"] = Field(description="Actors on the Ray cluster of this process, or at RAY_ADDRESS.")
    name: str = Field(default="rewards", min_length=1, description="Runs with the same name share their actors.")
    actors: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The most actors; as many as fit on the nodes by default."
    )
    num_cpus: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Processors that each takes of its node.")
    resources: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="Custom resources that each takes of its node; other nodes get none."
    )
    gpu_nodes: bool = Field(default=False, description="Whether actors may run on nodes with a GPU.")
    idle: Annotated[float, Field(gt=0)] = Field(
        default=600.0, description="Seconds without a call after which an actor ends."
    )
    grace: Annotated[float, Field(ge=0)] = Field(
        default=30.0,
        description="Seconds that rows wait for an actor where there is none, before they are unavailable.",
    )
