"""What runs in a worker: its function is imported, then it, or a fork of it, answers until the caller hangs up."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import select
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from grpo_rewards.workers.process import HEADER

_SECONDS_OF_LIFE = 3_600  # processor time of a limited worker, so that one that lost its caller ends
_MOST_FORKS = 100_000


def main(function: str, wire: str, *, argument: bool, forks: bool, megabytes: int | None, confine: str) -> None:
    """Answer the questions that come over standard input, a socket; see `Task` for what the arguments say."""
    global _caller
    _caller = caller = _Caller()
    if megabytes is not None:
        _limit(megabytes)
    answer = _imported(function)  # before any fork, so that each has it
    with contextlib.suppress(ConnectionError):  # the caller has hung up
        if argument:
            try:
                answer = answer(caller.receive()[1])
            except Exception as error:  # noqa: BLE001 - raised again in the caller
                caller.send(b"!", 0, _raised(error))
                return
        if not forks or not hasattr(os, "fork"):
            _serve(caller, answer, wire, confine)
            return
        for _ in range(_MOST_FORKS):
            child = os.fork()
            if child == 0:
                try:
                    _serve(caller, answer, wire, confine)
                finally:
                    os._exit(0)  # only a signal is a reason for another fork
            if os.waitpid(child, 0)[1] == 0:
                return


def answer_and_leave(reply: bytes) -> None:
    """Answer the current question in place of its own thread, which hangs, and end this process."""
    assert _caller is not None
    _caller.send(b"x", _caller.asked, reply)
    os._exit(0)  # an orderly exit would wait for what hangs


class _Caller:
    """The connection to the caller. It is no file that a program could read or write which this process starts."""

    def __init__(self) -> None:
        self._line = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self.asked = 0  # the number of the question under way

    def receive(self) -> tuple[int, bytearray]:
        """Return the next question's number and body.

        Raises:
            ConnectionError: the caller has hung up, or what it says is no question.
        """
        kind, number, length = HEADER.unpack(self._read(HEADER.size))
        if kind != b"?":
            raise ConnectionError
        return number, self._read(length)

    def send(self, kind: bytes, number: int, body: bytes) -> None:
        view = memoryview(HEADER.pack(kind, number, len(body)) + body)
        while view:
            view = view[os.write(self._line, view) :]

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = os.readv(self._line, [view])  # not recv: a confined process may not call it
            if not count:
                raise ConnectionError
            view = view[count:]
        return data

    def end_with_it(self) -> None:
        """Wait until the caller has hung up, and end even in the middle of an answer."""
        poll = select.poll()
        poll.register(self._line, 0)  # no event but a hang-up
        poll.poll()
        while not self.asked:  # the main thread leaves by itself, and closes what it has open
            time.sleep(0.1)
        os._exit(0)


_caller: _Caller | None = None


def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _limit(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for kind, amount in ((resource.RLIMIT_AS, megabytes << 20), (resource.RLIMIT_CPU, _SECONDS_OF_LIFE)):
        hard = resource.getrlimit(kind)[1]
        limit = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(kind, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _serve(caller: _Caller, answer: Callable[[Any], Any], wire: str, confine: str) -> None:
    if confine:
        _imported(confine)()  # before any thread: a filter binds the thread that sets it, and those that it starts
    if hasattr(select, "poll"):
        threading.Thread(target=caller.end_with_it, daemon=True).start()
    caller.send(b"+", 0, b"%d" % os.getpid())
    while True:
        number, body = caller.receive()
        caller.asked = number
        if wire == "json":
            kind, reply = b"=", json.dumps(answer(json.loads(body))).encode()
        else:
            try:
                answered = answer(pickle.loads(body) if wire == "pickle" else body)  # noqa: S301 - from our own caller
                kind, reply = b"=", pickle.dumps(answered) if wire == "pickle" else answered
            except Exception as error:  # noqa: BLE001 - raised again in the caller
                kind, reply = b"!", _raised(error)
        caller.send(kind, number, reply)
        caller.asked = 0


def _raised(error: Exception) -> bytes:
    error.add_note("".join(traceback.format_exception(error)).rstrip())
    try:
        found = pickle.dumps(error)
        pickle.loads(found)  # noqa: S301 - what cannot be made again here cannot there
    except Exception:  # noqa: BLE001 - an exception of somebody's that does not pickle
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return found
