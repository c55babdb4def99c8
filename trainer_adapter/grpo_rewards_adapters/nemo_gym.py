"""NeMo Gym: the request and response of a resources server's ``/verify``, with its own flag for what measured nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grpo_rewards import Composite
from grpo_rewards.errors import InputError
from grpo_rewards_adapters.single import composite_for, refuse_group_rewards, score_rows, stand_in

__all__ = ["messages_of", "verify"]

_KINDS = {"unavailable": "provider_unavailable", "error": "verifier_error"}
_ENVELOPE = ("responses_create_params", "response")


def verify(body: Mapping[str, Any], *, config: Composite | str | None = None, missing: float = 0.0) -> dict[str, Any]:
    """Answer a ``/verify`` request: the body again with ``reward`` and ``reward_components`` (every component, always).

    Where there is no reward, `missing` stands in, ``mask_sample`` is true, and ``failure_kind`` (of NeMo Gym's own
    vocabulary) and ``failure_reason`` say why. ``component_applies`` tells a component that is 0 from one without value.
    Every key of the body besides the envelope is a column that rewards see; ``prompt`` is the request's input.

    Raises:
        InputError: the body has not the shape of a verify request.
    """
    composite = composite_for(config)
    refuse_group_rewards(composite, trainer="NeMo Gym")
    for key in _ENVELOPE:
        if not isinstance(body.get(key), Mapping):
            raise InputError(f"a verify request needs an object {key!r}; found {', '.join(sorted(body)) or 'nothing'}")
    row = {key: value for key, value in body.items() if key not in _ENVELOPE}
    row["completion"] = messages_of(body["response"])
    row["prompt"] = body["responses_create_params"].get("input")
    (scored,) = score_rows(composite, [row])
    values = scored.values
    return {
        **body,
        "reward": stand_in(scored, missing),
        "reward_components": {name: 0.0 if value is None else value for name, value in values.items()},
        "component_applies": {name: value is not None for name, value in values.items()},
        "mask_sample": not scored.valid,
        "failure_kind": _KINDS.get(scored.failure),
        "failure_reason": scored.reason or None,
    }


def messages_of(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the output of an OpenAI response as chat messages; reasoning items are no part of what was said.

    Raises:
        InputError: ``output`` is no list of items.
    """
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise InputError("response.output must be a list of items such as {'type': 'message', 'content': [...]}")
    messages: list[dict[str, Any]] = []
    for item in output:
        match item.get("type", "message"):
            case "message":
                messages.append({"role": item.get("role", "assistant"), "content": item.get("content")})
            case "function_call":
                call = {"name": item.get("name"), "arguments": item.get("arguments")}
                messages.append({"role": "assistant", "content": None,
                                 "tool_calls": [{"id": item.get("call_id"), "type": "function", "function": call}]})  # fmt: skip
            case "function_call_output":
                messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
    return messages
