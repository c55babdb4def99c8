"""Questions to workers: pools that all rewards of a process share, and many questions in few messages.

What is left when a worker ends is asked one by one, so that each answers for itself alone.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Literal, TypeAlias, TypeVar

from grpo_rewards import Outcome
from grpo_rewards.forks import PerProcess
from grpo_rewards.slots import slots
from grpo_rewards.workers import Pool, Task, WorkerLost, WorkerTimeout

_RIGHTS = {"all": "", "read": "grpo_rewards_sandbox.rights:read_only", "none": "grpo_rewards_sandbox.rights:nothing"}

_shared = PerProcess[dict[tuple[str, int, str], Pool]](dict)
_guard = PerProcess(threading.Lock)


def task_of(function: str, *, megabytes: int = 480, rights: Literal["all", "read", "none"] = "all") -> Task:
    """What workers are for that answer by `function`, a ``module:name``, with plain JSON.

    `rights` are what the process that answers keeps: ``all``; ``read``, where it can neither write a file, nor open a socket, nor
    start a process; or ``none``, where it can read what the interpreter needs and nothing else (Linux; elsewhere the limits
    of memory alone).
    """
    return Task(function, "json", forks=True, megabytes=megabytes, confine=_RIGHTS[rights], quiet=True)


def shared_pool(function: str, *, megabytes: int = 480, rights: Literal["all", "read", "none"] = "all") -> Pool:
    """The pool of this process for a function, its memory and rights, with a worker per slot; a forked child gets its own."""
    key = function, megabytes, rights
    with _guard():
        found = _shared().get(key)
        if found is None:
            found = _shared()[key] = Pool(task_of(function, megabytes=megabytes, rights=rights), slots())
            atexit.register(found.close)
        return found


_Question = TypeVar("_Question")
_Answered: TypeAlias = "list[tuple[int, Outcome]]"
_FEWEST, _MOST = 128, 512  # questions of a message: each message costs about as much as ten small questions


def ask_all(
    questions: Sequence[_Question],
    send: Callable[[list[_Question]], list[Outcome]],
    ended: Callable[[_Question], Outcome],
) -> Iterator[tuple[int, Outcome]]:
    """Yield each question's place and outcome, in the order in which they come.

    `send` asks a worker some questions, and returns outcomes for the first of them, one at least; `ended` says what becomes of
    one that ended the worker when it was asked alone.
    """
    numbered, workers = list(enumerate(questions)), slots()
    size = max(_FEWEST, min(_MOST, -(-len(numbered) // workers)))
    chunks = [numbered[at : at + size] for at in range(0, len(numbered), size)]
    if len(chunks) > 1 and workers > 1:
        yield from _by_threads(chunks, workers, send, ended)
        return
    for items in chunks:
        alone = 0
        while items:
            answers, items, alone = _asked(items, alone, send, ended)
            yield from answers


def _by_threads(
    chunks: list[list[tuple[int, _Question]]],
    workers: int,
    send: Callable[[list[_Question]], list[Outcome]],
    ended: Callable[[_Question], Outcome],
) -> Iterator[tuple[int, Outcome]]:
    done: SimpleQueue[Future[tuple[_Answered, list[tuple[int, _Question]], int]]] = SimpleQueue()
    under_way = 0

    def submit(items: list[tuple[int, _Question]], alone: int) -> None:
        nonlocal under_way
        under_way += 1
        threads.submit(_asked, items, alone, send, ended).add_done_callback(done.put)

    with ThreadPoolExecutor(workers, "grpo-rewards-workers") as threads:
        try:
            for chunk in chunks:
                submit(chunk, 0)
            while under_way:
                answers, rest, alone = done.get().result()
                under_way -= 1
                yield from answers
                # slow questions came back unanswered: a worker that has nothing to do takes half of them
                half = len(rest) // 2 if under_way < workers - 1 else 0
                if half:
                    submit(rest[:half], min(alone, half))
                if rest:
                    submit(rest[half:], max(0, alone - half))
        finally:  # the caller may have had enough at a deadline
            threads.shutdown(wait=False, cancel_futures=True)


def _asked(
    items: list[tuple[int, _Question]],
    alone: int,
    send: Callable[[list[_Question]], list[Outcome]],
    ended: Callable[[_Question], Outcome],
) -> tuple[_Answered, list[tuple[int, _Question]], int]:
    """Ask once; return the answers, what is left, and how many of that are to be asked one by one."""
    asked = items[:1] if alone else items
    try:
        outcomes = send([question for _, question in asked])
    except (WorkerTimeout, OSError) as problem:
        outcomes = [Outcome(None, "unavailable", f"no worker could say: {problem}")]
    except WorkerLost:
        if len(asked) > 1:
            return [], items, len(asked)
        outcomes = [ended(asked[0][1])]
    answers = [(number, outcome) for (number, _), outcome in zip(asked, outcomes, strict=False)]
    return answers, items[len(outcomes) :], max(0, alone - len(outcomes))
