"""Holding arguments against the schema of the function that is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grpo_rewards_plugins.documents import check_schema, first_violation

_TYPES: dict[str, str | None] = {"dict": "object", "float": "number", "tuple": "array", "any": None}
"""BFCL's names of types as JSON schema has them; any type is no type."""


def schema_problem(
    functions: Sequence[Mapping[str, object]], calls: Sequence[Mapping[object, object]], timeout: float
) -> str:
    """Return what a function's own schema refuses in the calls, or nothing."""
    known = {function["name"]: function.get("parameters") for function in functions}
    for call in calls:
        for name, arguments in call.items():
            if name not in known:
                return f"there is no function {name!r:.60}"
            schema = _as_json_schema(known[name] or {})
            try:
                check_schema(schema)
                problem = first_violation(_as_json(arguments), schema, timeout=timeout)
            except TimeoutError:
                problem = f"checking the schema took longer than {timeout:g} s"
            except ValueError as bad:
                problem = f"the schema cannot be checked: {bad}"
            if problem:
                return f"{name}: {problem}"
    return ""


def _as_json_schema(schema: object) -> Any:
    """The schema with JSON's names of types; columns of enum and default stay as they are."""
    if isinstance(schema, list):
        return [_as_json_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {}
    for key, part in schema.items():
        if key == "type" and isinstance(part, str):
            named = _TYPES.get(part, part)
            if named is not None:
                found[key] = named
        else:
            found[key] = part if key in ("enum", "default", "const") else _as_json_schema(part)
    return found


def _as_json(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_as_json(part) for part in value]
    return {str(key): _as_json(part) for key, part in value.items()} if isinstance(value, Mapping) else value
