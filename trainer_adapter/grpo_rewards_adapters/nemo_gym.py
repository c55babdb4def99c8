"""NeMo Gym: the request and response of a resources server's ``/verify``, with its own mark for what measured nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from grpo_rewards import Composite
from grpo_rewards.errors import InputError
from grpo_rewards_adapters.single import chosen, load_composite, score_rows, stand_in

__all__ = ["messages_of", "verify"]

_ENVELOPE = ("responses_create_params", "response")


def verify(
    body: Mapping[str, object] | BaseModel, *, config: Composite | str | None = None, missing: float | None = None
) -> dict[str, object]:
    """Answer a ``/verify`` request: the body again with ``reward`` and ``reward_components`` (every component, always).

    Where there is no reward, NeMo Gym's own mark for a verifier that failed is set: a server's `body` (a pydantic object)
    raises its ``JudgeError``, which every ``/verify`` endpoint turns into ``_ng_failure_class: judge_failed``; a plain
    mapping is answered with that key. Such a rollout goes to ``<output>_failures.jsonl``, counts in no metric and is
    tried again on resume. `missing`, a number, stands in instead where it is given. ``component_applies`` tells a
    component that is 0 from one without value. Every key of the body besides the envelope is a column that rewards see;
    ``prompt`` is the request's input.

    Raises:
        InputError: the body has not the shape of a verify request.
        ConfigError: a component compares whole groups.
        nemo_gym.judge.JudgeError: there is no reward, in a server.
    """
    composite = load_composite(config, trainer="NeMo Gym")
    given: Mapping[str, object] = body if isinstance(body, Mapping) else body.model_dump()
    asked, response = (_object(given, key) for key in _ENVELOPE)
    row = {key: value for key, value in given.items() if key not in _ENVELOPE}
    row["completion"] = messages_of(response)
    row["prompt"] = asked.get("input")
    (scored,) = score_rows(composite, [row])
    values = scored.values
    answer = {
        **given,
        # NeMo Gym's response has numbers only; its mark of a failure keeps this 0 out of every metric
        "reward": 0.0 if scored.reward is None else scored.reward,
        "reward_components": {name: 0.0 if value is None else value for name, value in values.items()},
        "component_applies": {name: value is not None for name, value in values.items()},
    }
    if scored.valid:
        return answer
    reason = f"{scored.failure}: {scored.reason}"
    if missing is not None:
        return {**answer, "reward": stand_in(scored, chosen(missing, trainer="NeMo Gym", setting="missing=NUMBER"))}
    if body is given:
        return {**answer, "_ng_failure_class": "judge_failed", "_ng_failure_judge_error": reason}
    # only a server has it, and only a server comes here
    from nemo_gym.judge import JudgeError

    raise JudgeError(reason)


def _object(given: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = given.get(key)
    if not isinstance(found, Mapping):
        raise InputError(f"a verify request needs an object {key!r}; found {', '.join(sorted(given)) or 'nothing'}")
    return found


def messages_of(response: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the output of an OpenAI response as chat messages; reasoning items are no part of what was said.

    Raises:
        InputError: ``output`` is no list of items.
    """
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise InputError("response.output must be a list of items such as {'type': 'message', 'content': [...]}")
    messages: list[dict[str, object]] = []
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
