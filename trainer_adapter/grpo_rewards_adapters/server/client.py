"""The reward `remote`: rows are scored by a `grpo-rewards serve` elsewhere; what keeps it from answering is no grade."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, NotRequired, TypedDict

from grpo_rewards import Outcome, reward
from grpo_rewards.errors import ConfigError
from grpo_rewards.http import NoAnswer, post
from grpo_rewards.rows import dump_json
from grpo_rewards.types import Batch, SettingValues

_LONGEST_PAUSE = 30.0
# what a service may take of a trainer's memory
_LARGEST_ANSWER = 256 << 20
# the trainer's own, which are no data and no JSON
_TRAINER = ("trainer_state", "log_extra", "log_metric", "environments")


class Scores(TypedDict):
    """The service's answer about rows: totals and components by position, why rows were left out, which of them broke."""

    rewards: list[float | None]
    components: NotRequired[dict[str, list[float | None]]]
    left_out: NotRequired[dict[str, str]]
    broken: NotRequired[list[int]]


def ask(
    url: str, rows: Sequence[Mapping[str, object]], *, token: str = "", timeout: float = 120.0, attempts: int = 5
) -> Scores:
    """Have rows scored by the service at `url`: ``rewards``, ``components``, ``left_out`` and ``broken``.

    Connections that fail and answers such as 429 and 503 are tried again, after the service's Retry-After or a pause that
    doubles, with jitter.

    Raises:
        NoAnswer: it does not take the token; no answer after `attempts`, or one that says that the request is wrong (a column).
    """
    body = dump_json({"rows": list(rows)})
    # from the system: requests that were sent away together, of one process or of several, do not come back together
    chance = random.SystemRandom()
    problem = ""
    for attempt in range(attempts):
        pause = 0.25 * 2**attempt
        try:
            found: Scores = json.loads(
                post(f"{url.rstrip('/')}/score", body, token=token, timeout=timeout, most=_LARGEST_ANSWER)
            )
            if not isinstance(found, dict) or len(found["rewards"]) != len(rows):
                raise NoAnswer(f"{url} did not answer with one reward per row")
            return found
        except NoAnswer as error:
            problem = f"{url} {error}{_error_text(error.body)}"
            if error.refused or error.pause is None:
                raise NoAnswer(problem, refused=error.refused) from None
            pause = max(pause, error.pause)
        except (ValueError, LookupError, TypeError) as error:
            problem = f"the answer of {url} cannot be read: {error}"
        if attempt + 1 < attempts:
            time.sleep(min(pause, _LONGEST_PAUSE) * (0.75 + 0.5 * chance.random()))
    raise NoAnswer(f"{problem} ({attempts} attempts)")


def _error_text(body: bytes) -> str:
    """What the service said instead, as the end of a sentence."""
    if not body:
        return ""
    try:
        return f": {str(json.loads(body)['error'])[:300]}"
    except (ValueError, LookupError, TypeError):
        return f": {body[:100].decode(errors='replace')}"


def _check(settings: SettingValues) -> None:
    if not str(settings["url"]).startswith(("http://", "https://")):
        raise ValueError("url must begin with http:// or https://")
    for name in ("timeout", "attempts", "chunk", "concurrency"):
        if not settings[name] > 0:
            raise ValueError(f"{name} must be above 0")


@reward.batch(name="remote", check_settings=_check)
def remote(
    completions: list[object],
    prompts: list[object] | None = None,
    *,
    url: str,
    token_env: str = "GRPO_REWARDS_TOKEN",
    timeout: float = 120.0,
    attempts: int = 5,
    chunk: int = 64,
    concurrency: int = 8,
    **columns: Any,
) -> Iterator[tuple[int, Outcome]]:
    """The reward that a `grpo-rewards serve` gives, over HTTP.

    All columns are sent. A group's rows travel together, in requests of at least `chunk` rows (fewer at the end), up to
    `concurrency` at once. Rows that cannot be scored, there or for want of an answer, are ``unavailable``, or ``error``
    where a plugin broke there. A token that is refused (401, 403) is an error of the configuration and stops the run.

    Args:
        url: where it listens: ``http://host:8000``.
        token_env: the environment variable that holds the token; none is sent when it is unset.
        timeout: seconds per attempt.
        attempts: how often a request is made that fails, or is answered 429, 500, 502, 503 or 504.
        chunk: rows per request.
        concurrency: requests at once.
    """
    names = [name for name in columns if name not in _TRAINER]
    rows = [
        {
            "completion": completion,
            **({"prompt": prompts[row]} if prompts is not None else {}),
            **{name: columns[name][row] for name in names},
        }
        for row, completion in enumerate(completions)
    ]
    parts: list[list[int]] = [[]]
    for group in Batch.from_rows(rows).groups if rows else []:
        if len(parts[-1]) >= chunk:
            parts.append([])
        parts[-1] += group
    token = os.environ.get(token_env, "")

    def score(part: list[int]) -> list[Outcome]:
        try:
            found = ask(url, [rows[row] for row in part], token=token, timeout=timeout, attempts=attempts)
            return [_outcome(found, position) for position in range(len(part))]
        except NoAnswer as problem:
            if problem.refused:
                given = "is not the service's" if token else "is not set"
                raise ConfigError(f"{problem}; the token in ${token_env} {given}") from None
            return [Outcome(None, "unavailable", f"remote: {problem}")] * len(part)

    pool = ThreadPoolExecutor(min(concurrency, len(parts)), "grpo-rewards-remote")
    try:
        asked = {pool.submit(score, part): part for part in parts}
        for future in as_completed(asked):
            yield from zip(asked[future], future.result(), strict=True)
    finally:
        # nobody waits here any more: a request under way ends by its own timeout
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(found: Scores, position: int) -> Outcome:
    value = found["rewards"][position]
    if value is not None:
        parts = {name: values[position] for name, values in found.get("components", {}).items()}
        return Outcome(float(value), "scored", "", {"components": parts})
    reason = str(found.get("left_out", {}).get(str(position), ""))
    if not reason:
        return Outcome(None, "not_applicable", "no component of the service applies")
    return Outcome(None, "error" if position in found.get("broken", ()) else "unavailable", f"remote: {reason}")
