"""Weights that change with the step: schedules of one component, and stages of the whole run."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from grpo_rewards._contract.section import Number, Section

Step = Annotated[int, Field(ge=0)]


class ScheduleConfig(Section):
    """A weight that moves from `start` to `end`, or in steps, as the optimizer steps go by."""

    schedule: Literal["linear", "cosine", "step"] = Field(description="How the weight moves.")
    start: Number = Field(description="The weight up to the step `begin`.")
    end: Number | None = Field(default=None, description="The weight from the step `until` on (linear, cosine).")
    begin: Step = Field(default=0, description="The step at which it begins to move (linear, cosine).")
    until: Step | None = Field(default=None, description="The step at which it has arrived (linear, cosine).")
    at: dict[Step, Number] = Field(default_factory=dict, description="step: the weight from each of these steps on.")

    @model_validator(mode="after")
    def _fits(self) -> ScheduleConfig:
        if self.schedule == "step":
            if not self.at:
                raise ValueError("a step schedule needs at: {step: weight, ...}")
            if self.end is not None or self.until is not None:
                raise ValueError("a step schedule takes start and at, not end and until")
        elif self.end is None or self.until is None:
            raise ValueError(f"a {self.schedule} schedule needs end (a weight) and until (a step)")
        elif self.at:
            raise ValueError(f"a {self.schedule} schedule takes end and until, not at")
        elif self.until <= self.begin:
            raise ValueError(f"until ({self.until}) must come after begin ({self.begin})")
        return self

    def value(self, step: int | None) -> float:
        """Return the weight at an optimizer step; None: the one that it ends with.

        With p = (step - begin) / (until - begin) within [0, 1]: ``linear`` is start + p (end - start), ``cosine`` is
        end + (start - end) (1 + cos πp) / 2 (the half wave of SGDR, arXiv 1608.03983, eq. 5).
        """
        if step is None:
            return self.at[max(self.at)] if self.end is None else self.end
        if self.end is None or self.until is None:  # a step schedule: the others have both
            return next((self.at[key] for key in sorted(self.at, reverse=True) if key <= step), self.start)
        if step <= self.begin:
            return self.start
        if step >= self.until:
            return self.end
        share = (step - self.begin) / (self.until - self.begin)
        if self.schedule == "cosine":
            return self.end + (self.start - self.end) * (1.0 + math.cos(math.pi * share)) / 2.0
        return self.start + share * (self.end - self.start)


class StageConfig(Section):
    """A part of the run in which some components have another weight."""

    until: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="The first step that is no longer in it; the last stage has none."
    )
    weights: dict[str, Number] = Field(
        default_factory=dict, description="Component: its weight in this stage; all others keep their own."
    )
