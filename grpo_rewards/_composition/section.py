"""What every section of the configuration is made of."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

__all__ = ["Bounds", "Number", "Section"]


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"the lower bound comes first: [{bounds[1]:g}, {bounds[0]:g}]")
    return bounds


Number = Annotated[float, AfterValidator(_finite)]
Bounds = Annotated[tuple[Number, Number], AfterValidator(_ordered)]


class Section(BaseModel):
    """A mapping in the configuration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
