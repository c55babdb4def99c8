"""One client for all judges: an OpenAI-compatible endpoint, its pace, its budget, and the verdicts that it has given.

Whatever keeps a judge from answering (network, quota, budget, an answer that is no verdict) is a `NoAnswer`, never a grade; a key
that the endpoint refuses is an error, since no waiting mends it. What speaks HTTP is imported with the first call.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from grpo_rewards.errors import ConfigError
from grpo_rewards.forks import PerProcess
from grpo_rewards.http import NoAnswer, post
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.blocks import last_block
from grpo_rewards_plugins.bounds import finite
from grpo_rewards_plugins.documents import unique_keys

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_Verdict = TypeVar("_Verdict")
# what reading JSON of any shape may raise
_NO_VERDICT = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_SHOWN_AGAIN = 2_000  # characters of an answer that was no verdict, when it is asked to be put right
_REPAIR = "That is not the JSON object that was asked for. Answer again with that object and nothing else."
_LONGEST_PAUSE = 30.0
_LARGEST_ANSWER = 1 << 20
_MOST_TOKENS = 1e9  # that a call can have taken
_CACHED = 20_000
_MOST_WORKERS = 1024  # what `workers` of a component may be; threads are begun as they are needed
_BYTES_PER_TOKEN = 4.0  # a guess for the request, put right by the ``usage`` of the answer


@dataclass(frozen=True, slots=True)
class _Limits:
    """How fast, and how often at most, an endpoint is asked."""

    requests_per_minute: float
    tokens_per_minute: float
    budget: int


@dataclass
class _Endpoint:
    """What all calls to one endpoint share: the pace, the calls spent, and verdicts already given."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    next_request: float = 0.0
    next_token: float = 0.0
    spent: int = 0
    cache: OrderedDict[str, Any] = field(default_factory=OrderedDict)
    under_way: dict[str, Future[Any]] = field(default_factory=dict)

    def take_turn(self, tokens: float, limits: _Limits) -> float | None:
        """Return the seconds to wait before a call of about so many tokens, or None when the budget is spent."""
        with self.lock:
            if self.spent >= limits.budget:
                return None
            # when the turn is taken, not when the answer is there: those that wait side by side must not overspend
            self.spent += 1
            now = time.monotonic()
            start = max(now, self.next_request, self.next_token)
            self.next_request = start + 60.0 / limits.requests_per_minute
            self.next_token = start + 60.0 * tokens / limits.tokens_per_minute
            return start - now

    def correct(self, tokens: float, limits: _Limits) -> None:
        """Count `tokens` more than were expected, or fewer where it is negative."""
        with self.lock:
            self.next_token += 60.0 * tokens / limits.tokens_per_minute

    def remember(self, key: str, verdict: object) -> None:
        with self.lock:
            self.cache[key] = verdict
            while len(self.cache) > _CACHED:
                self.cache.popitem(last=False)


def _new_threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_MOST_WORKERS, "grpo-rewards-judge")


_threads = PerProcess(_new_threads)
_endpoints = PerProcess[dict[tuple[str, str], _Endpoint]](dict)


@dataclass(frozen=True, slots=True)
class Client:
    """Whom to ask and how; the settings that every judge has."""

    model: str
    url: str
    key_env: str
    timeout: float
    attempts: int
    requests_per_minute: float
    tokens_per_minute: float | None
    budget: int

    @property
    def limits(self) -> _Limits:
        tokens = math.inf if self.tokens_per_minute is None else self.tokens_per_minute
        return _Limits(self.requests_per_minute, tokens, self.budget)


def check_client(settings: SettingValues) -> None:
    """Refuse settings of a client that cannot be meant; raises ValueError."""
    finite(settings)
    if not str(settings["url"]).startswith(("http://", "https://")):
        raise ValueError("url must begin with http:// or https://")
    for name in ("timeout", "requests_per_minute", "attempts", "tokens_per_minute"):
        if settings[name] is not None and not settings[name] > 0:
            raise ValueError(f"{name} must be above 0")
    if settings["budget"] < 0:
        raise ValueError("budget must be 0 or more")


async def consult(
    client: Client, system: str, asked: Mapping[str, object], read: Callable[[dict[str, object]], _Verdict]
) -> _Verdict:
    """Ask a question once per process, and again where that may help; return what `read` makes of the answer.

    `read` raises ValueError where the answer's JSON object is no verdict; the judge is then shown its answer and asked again.

    Raises:
        ConfigError: the endpoint refuses the key.
        NoAnswer: there is no verdict; the text says why.
    """
    import asyncio
    import hashlib
    import json
    from concurrent.futures import Future

    user = json.dumps({name: value for name, value in asked.items() if value is not None}, default=str)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = _body(client, messages)
    # one step, so that two threads cannot begin with an endpoint each
    endpoint = _endpoints().setdefault((client.url, client.key_env), _Endpoint())
    # of the question alone, before a repair adds to it
    key = hashlib.sha256(body).hexdigest()
    mine: Future[_Verdict] = Future()
    # one step again: who asks the same meanwhile, in a thread of its own too, waits for this answer
    if (theirs := endpoint.under_way.setdefault(key, mine)) is not mine:
        found: _Verdict = await asyncio.shield(asyncio.wrap_future(theirs))
        return found
    try:
        known: _Verdict | None = endpoint.cache.get(key)
        verdict = await _asked(client, endpoint, messages, body, read) if known is None else known
        endpoint.remember(key, verdict)
        mine.set_result(verdict)
        return verdict
    except BaseException as error:
        # what is given up at a deadline of its own is no error of those who wait
        mine.set_exception(error if isinstance(error, Exception) else NoAnswer("the same question was given up"))
        raise
    finally:
        del endpoint.under_way[key]


async def _asked(
    client: Client,
    endpoint: _Endpoint,
    messages: list[dict[str, str]],
    body: bytes,
    read: Callable[[dict[str, object]], _Verdict],
) -> _Verdict:
    """Ask until there is a verdict, as often as the client may."""
    import asyncio

    problem = NoAnswer("no attempt was made")
    for attempt in range(client.attempts):
        wait = endpoint.take_turn(guess := len(body) / _BYTES_PER_TOKEN, client.limits)
        if wait is None:
            raise NoAnswer(f"the budget of {client.budget} calls is spent ({problem})")
        await asyncio.sleep(wait)
        url = f"{client.url.rstrip('/')}/chat/completions"
        loop = asyncio.get_running_loop()
        # the loop's own executor has 32 threads at most, and `workers` may be more
        found, tokens = await loop.run_in_executor(_threads(), _ask, url, body, client.key_env, client.timeout)
        if tokens is not None:
            endpoint.correct(tokens - guess, client.limits)
        if isinstance(found, bytes):
            try:
                return read(_document(found))
            except _NO_VERDICT:
                problem = NoAnswer("the judge's answer is no verdict of the form that was asked for")
                # with its last answer alone, so that questions do not grow from try to try
                body = _body(client, [*messages, *_put_right(found)])
        else:
            problem = found
        if problem.refused:
            raise ConfigError(
                f"{problem} at {client.url}: it refuses the key; set ${client.key_env} to one that it takes"
            )
        if problem.pause is None:
            break
        # no pause where nothing follows it
        if attempt + 1 < client.attempts:
            await asyncio.sleep(min(max(problem.pause, 0.25 * 2**attempt), _LONGEST_PAUSE))
    raise problem


def _body(client: Client, messages: list[dict[str, str]]) -> bytes:
    import json

    asked = {"model": client.model, "temperature": 0, "response_format": {"type": "json_object"}, "messages": messages}
    return json.dumps(asked).encode()


def _content(answer: bytes) -> str:
    import json

    content = json.loads(answer)["choices"][0]["message"]["content"]
    if not isinstance(content, str):
        raise TypeError("the answer has no text")
    return content


def _document(answer: bytes) -> dict[str, object]:
    import json

    content = _content(answer)
    block = last_block(content)
    # servers that know no response_format let models think before their JSON, and fence it
    for text in (content, content.partition("</think>")[2], "" if block is None else block.text):
        with suppress(ValueError):
            found = json.loads(text, object_pairs_hook=unique_keys)
            break
    else:
        raise ValueError("the answer is no JSON")
    if not isinstance(found, dict):
        raise TypeError("the answer is no JSON object")
    return found


def _put_right(answer: bytes) -> list[dict[str, str]]:
    """What is said to a judge whose answer was no verdict; nothing where it had no text at all."""
    try:
        said = _content(answer)[:_SHOWN_AGAIN]
    except _NO_VERDICT:
        return []
    return [{"role": "assistant", "content": said}, {"role": "user", "content": _REPAIR}]


def _ask(url: str, body: bytes, key_env: str, timeout: float) -> tuple[bytes | NoAnswer, float | None]:
    """Ask once: the answer or what went wrong, and the tokens that it took, where the answer says so."""
    try:
        answer = post(url, body, token=os.environ.get(key_env, ""), timeout=timeout, most=_LARGEST_ANSWER)
    except NoAnswer as problem:
        return NoAnswer(f"the judge's endpoint {problem}", pause=problem.pause, refused=problem.refused), None
    return answer, _tokens(answer)


def _tokens(answer: bytes) -> float | None:
    import json

    try:
        total = json.loads(answer)["usage"]["total_tokens"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return float(total) if type(total) in (int, float) and 0 <= total <= _MOST_TOKENS else None
