"""What every section of the configuration is made of."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Iterator, Sequence
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


def problems_of(error: ValidationError, model: type[BaseModel], *, hint: Callable[[Sequence[str]], str]) -> str:
    """Say in words what pydantic has found wrong in a file that `model` describes, each with its place in it.

    `hint` says what else an unknown key may have meant.
    """
    return "; ".join(dict.fromkeys(_explained(problem, model, hint) for problem in error.errors()))


def keys_at(model: type[BaseModel], place: Sequence[str]) -> list[str]:
    """Return the keys that are allowed at a place of a file that `model` describes."""
    named = False  # whether the next part is a name or a number that the file gives
    for part in place:
        field = None if named else model.model_fields.get(part)
        named = field is not None and typing.get_origin(field.annotation) in (dict, list)
        if field is not None:
            model = next(_models_in(field.annotation), model)
    return list(model.model_fields)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in typing.get_args(annotation):
        yield from _models_in(one)


def _explained(problem: ErrorDetails, model: type[BaseModel], hint: Callable[[Sequence[str]], str]) -> str:
    loc = problem["loc"]
    parts = [str(part) for before, part in zip((None, *loc), loc, strict=False) if (before, part) not in _MARKS]
    where = ".".join(parts)
    if problem["type"] == "extra_forbidden":
        known = keys_at(model, parts[:-1])
        takes = f" (known: {', '.join(known)})" if known else ""
        return f"{where}: unknown key{hint(parts) or nearest(parts[-1], known)}{takes}"
    if problem["type"] == "missing":
        return f"{where}: this key is required"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":  # validators that look deeper give the place themselves
        return message if not where or message.startswith(where) else f"{where}: {message}"
    return f"{where}: {message}, not {problem['input']!r:.80}"
