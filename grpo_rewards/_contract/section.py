"""What every section of the configuration is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from grpo_rewards.errors import nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


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

    # deferred: building validators makes pydantic search all installed packages for its plugins, at import
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)


_MARKS = {("weight", "number"), ("weight", "schedule")}  # pydantic's own, no keys of a file


def problems_of(
    error: ValidationError,
    keys_at: Callable[[Sequence[str]], Sequence[str]],
    *,
    hint: Callable[[Sequence[str]], str] = lambda place: "",
) -> str:
    """Say in words what pydantic has found wrong, each with its place in the file.

    `keys_at` gives the keys that are allowed at a place, `hint` what else an unknown key may have meant.
    """
    return "; ".join(dict.fromkeys(_explained(problem, keys_at, hint) for problem in error.errors()))


def _explained(
    problem: ErrorDetails, keys_at: Callable[[Sequence[str]], Sequence[str]], hint: Callable[[Sequence[str]], str]
) -> str:
    loc = problem["loc"]
    parts = [str(part) for before, part in zip((None, *loc), loc, strict=False) if (before, part) not in _MARKS]
    where = ".".join(parts)
    if problem["type"] == "extra_forbidden":
        known = keys_at(parts[:-1])
        takes = f" (known: {', '.join(known)})" if known else ""
        return f"{where}: unknown key{hint(parts) or nearest(parts[-1], known)}{takes}"
    if problem["type"] == "missing":
        return f"{where}: this key is required"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":  # validators that look deeper give the place themselves
        return message if not where or message.startswith(where) else f"{where}: {message}"
    return f"{where}: {message}, not {problem['input']!r:.80}"
