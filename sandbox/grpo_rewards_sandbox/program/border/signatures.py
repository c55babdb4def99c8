"""Signatures of functions as they cross: names and kinds of parameters, and which have a default."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def parameters(function: Any, default: Callable[[object], object]) -> object:
    """Return what stands for the parameters, None where a function does not say. `default`: what stands for a default."""
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    return [[part.name, int(part.kind), part.default is not part.empty, default(part.default)] for part in found]


def signature(described: Any, notes: dict[str, object]) -> inspect.Signature | None:
    """The reverse, with these annotations; None where nothing of the kind was described."""
    try:
        return inspect.Signature(
            [
                inspect.Parameter(
                    part,
                    inspect._ParameterKind(kind),
                    default=default if has_default else inspect.Parameter.empty,
                    annotation=notes.get(part, inspect.Parameter.empty),
                )
                for part, kind, has_default, default in described
            ],
            return_annotation=notes.get("return", inspect.Signature.empty),
        )
    except (ValueError, TypeError):
        return None
