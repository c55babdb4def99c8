"""One end of the border: requests in both directions, each from a thread to the one that stands for it over there.

What a thread asks for is done by one thread of the other side, and what that one asks on the way by the thread that waits. So threads
of both sides wait for each other, in locks and queues of either, as they do in one process. As long as neither side has more than
one thread, each reads what comes for it; from then on a thread that does nothing else reads for all.
"""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
import weakref
from _thread import _count as threads_beside
from _thread import get_ident, start_new_thread
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, RLock, local
from typing import Any, NoReturn

from .codec import Codec
from .messages import RAISED, RESULT, Along, Closed, Ends, Protocol
from .values import SCALARS

# of the other side's threads that this one has a thread for at a time: each takes memory
MAX_THREADS = 100
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
_OF_THREADS = frozenset(("pair", "ended", "threads"))
_AHEAD = 16  # what may have come for a thread before it looks: a signal's handler asks beside it, and may itself be interrupted
_REFUSED = ""  # the kind of a request of which what it brings was refused


# a message whose parts are decoded: its kind, the arguments, result or exception, what went along, and of an answer where it belongs
Arrived = tuple[Any, Any, Along, list[Any] | None]

_served = local()  # `name`: of the other side's thread that this one stands for
_threads: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]


class _Served(threading._DummyThread):
    """What `current_thread` makes of a thread that is none of `threading`'s: its name is that of the one that it stands for."""

    def __init__(self) -> None:
        super().__init__()
        self.name = getattr(_served, "name", self.name)


threading._DummyThread = _Served  # type: ignore[misc]


class Pair:
    """A thread of this side and the one of the other side that it asks and answers, by a number that both know."""

    def __init__(self, number: int, gone: list[int]) -> None:
        self.number = number
        self.name = ""  # of this side's thread, until the other side has heard it
        self.served_by = 0  # which thread of this side stands for the other's
        # where the answers belong that are to come, in their order: a list for each request of the other side that is being served, and
        # one below. In each is more than one where a signal's handler asks, or raises so that nobody waits for an answer any more
        self.asked: list[list[list[Any]]] = [[]]
        self.arrived: SimpleQueue[Arrived | BaseException] = SimpleQueue()
        self._gone = gone

    def __del__(self) -> None:
        self._gone.append(self.number)  # the thread is no more; the other one may go too


class Peer(Codec):
    """What both sides of the border have in common."""

    # else what the other side's threads ask for is done by the one that waits: none outlives the job, where the process does
    threaded = True
    add_extras: Callable[[Along], None]  # puts what piled up on this side with an outgoing message
    take_extras: Callable[[Along], None]  # takes what came along with a message
    heard: Callable[[Along], None]  # is told of what came with an answer, in the thread that asked
    unsayable: Callable[[BaseException], object]  # stands for what does not cross, for this reason
    raised: Callable[[BaseException], None]  # hears of what an answer of which all is here raises
    # does one thing that the other side asks for, in the thread that it is for
    perform: Callable[[str, list[object], Along], object]

    def __init__(self, ends: Ends) -> None:
        super().__init__(ends)
        # what crosses is encoded and sent, and decoded, by one thread at a time, in the order of the messages;
        # reentrant, since a key that is an object of the other side is asked for its hash on the way
        self._crossing = RLock()
        self._outgoing: collections.deque[bytes] = collections.deque()
        self._sending = Lock()
        self._gone: list[int] = []  # pairs of which the other side has not heard that this side's thread is no more
        self._main = Pair(0, [])
        self._pairs: weakref.WeakValueDictionary[int, Pair] = weakref.WeakValueDictionary()
        self._last_pair = int(not self.trusted)
        self._here = local()
        self._here.pair = self._main
        self.reading: Any = RLock()
        self.listening = False  # a thread reads for all
        self._over: BaseException | None = None

    # ---- asking and answering

    def request(self, what: str, *arguments: object) -> Any:
        """Ask the other side to do something; return its result or raise its exception."""
        with self._crossing:
            answer = self._post(what, [self.encode(argument) for argument in arguments])
        return self._answer(answer)

    def _answer(self, answer: list[Any]) -> object:
        """Return the answer that comes there; do meanwhile what is asked of this thread on the way."""
        if self._outgoing:
            self._flush()
        others = False
        while not answer:
            message = self._next(self.pair())
            if message[3] is None:
                self.serve(message)
            else:
                message[3].append(message[:3])
                others |= message[3] is not answer
        if others and self._waits_below():
            with self._crossing:
                self._post("ping", [None])
            self._flush()
        kind, value, along = answer[0]
        if along:
            self.heard(along)
        if kind == RESULT:
            return value
        self.raised(value)
        raise value

    def _waits_below(self) -> bool:
        """Say whether this is in a signal's handler, which interrupted this thread as it waited for an answer.

        That one has come by now, and it waits on: it has to be woken by one more.
        """
        frame = sys._getframe(1).f_back
        while frame is not None and frame.f_code is not Peer.serve.__code__:
            if frame.f_code is Peer._answer.__code__:
                return True
            frame = frame.f_back
        return False

    def serve_all(self) -> NoReturn:
        """Serve whatever is asked for, until the other side is gone."""
        while True:
            self.serve(self.next_request())

    def next_request(self) -> Arrived:
        """Return the other side's next request for this thread."""
        pair = self.pair()
        while (message := self._next(pair))[3] is not None:
            pass  # an answer for which nobody waits any more
        return message

    def serve(self, message: Arrived) -> None:
        """Do what the other side asks for, and answer."""
        what, value, along, _ = message
        kind, result = RESULT, value
        self.pair().asked.append([])
        try:
            if what == _REFUSED:
                raise value
            result = self.perform(what, value, along)
        except (Closed, Protocol):
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to the side that asked
            kind, result = RAISED, error
        with self._crossing:
            try:
                coded = self.encode(result) if kind == RESULT else self.encode_exception(result)
                self._post(kind, coded)
            except (Closed, Protocol):
                raise
            except BaseException as error:  # noqa: BLE001  whatever an object does as it is looked at
                self._post(RAISED, self.unsayable(error))
        if self._outgoing:
            self._flush()

    # ---- sending

    def _post(self, kind: str | int, coded: object) -> list[Any]:
        """Send a message, with what goes along, or put it behind those that `_flush` sends; return where its answer comes.

        Whoever calls holds `_crossing`.
        """
        along: Along = {}
        # where a thread reads already, the other side has said that it has several, or heard so
        threads = self.threaded and not self.listening and threads_beside() > 0
        if threads:
            along["threads"] = 1
            self.several = True
        if self.several:
            along["seen"] = self.received
        if self.shared:
            changed, dropped = self._changes()
            if changed:
                along["changed"] = changed
            if dropped:
                along["dropped"] = dropped
        if self._released:
            along["released"], self._released = [*self._released], set()
        if self._gone:
            along["ended"] = [self._gone.pop() for _ in range(len(self._gone))]
        pair = self.pair()
        answer: list[Any] = []
        if pair.number:
            along["pair"] = pair.number
        if pair.name:
            along["thread"], pair.name = pair.name, ""
        self.add_extras(along)
        message = self.packed(kind, coded, along)
        self.sent += 1
        if type(kind) is str:
            pair.asked[-1].append(answer)
        else:
            left = pair.asked.pop()
            pair.asked[-1][:0] = left
        if threads:
            self._listen()
        if self.listening:
            self._outgoing.append(message)
        else:
            self.send(message)
        return answer

    def _flush(self) -> None:
        # not while `_crossing` is held: where both sides sent more than fits, neither would read
        while self._outgoing:
            with self._sending:
                if self._outgoing:
                    self.send(self._outgoing.popleft())

    # ---- receiving

    def pair(self) -> Pair:
        """Return the pair that this thread is of."""
        try:
            return self._here.pair  # type: ignore[no-any-return]
        except AttributeError:
            self._last_pair += 2
            pair = self._here.pair = self._pairs[self._last_pair] = Pair(self._last_pair, self._gone)
            if (thread := _threads.get(get_ident())) is not None:
                pair.name = thread.name
            return pair

    def for_their_thread(self) -> bool:
        """What this thread does a thread that the other side has of itself asked for."""
        pair = getattr(self._here, "pair", None)
        return pair is not None and self.is_theirs(pair.number)

    def _next(self, pair: Pair) -> Arrived:
        """Return the next message for a pair, whose thread this is."""
        # who reads may have to ask something on the way, and reads on until it is answered
        while (not self.listening or self.reading._is_owned()) and self.reading.acquire(False):
            try:
                whose, arrived = self._arriving()
            finally:
                self.reading.release()
            if whose is pair:
                return arrived
            self._deliver(whose, arrived)
            if not pair.arrived.empty():
                break
        if self._over is not None and pair.arrived.empty():
            raise self._over
        found = pair.arrived.get()
        if isinstance(found, BaseException):
            try:
                raise found
            finally:
                del found, pair  # its traceback leads here: nothing would tell that the thread is no more
        return found

    def _listen(self) -> None:
        """Have a thread read for all from now on, or from when the one that reads has got what it waits for."""
        self.several = True
        if self.threaded and not self.listening:
            self.listening = True
            # not by `threading`, where tests and candidates count their threads
            start_new_thread(self._listen_on, ())

    def _listen_on(self) -> None:
        try:
            with self.reading:
                while True:
                    self._deliver(*self._arriving())
        except BaseException as error:  # noqa: BLE001  a refusal too: it reaches all who wait
            self._over = error
            for pair in (self._main, *self._pairs.values()):
                pair.arrived.put(error)

    def _deliver(self, pair: Pair, arrived: Arrived) -> None:
        self.demand(pair.arrived.qsize() <= _AHEAD, "a thread that does not wait to be answered")
        if self.threaded or type(arrived[0]) is not str:
            pair.arrived.put(arrived)
            return
        mine, self._here.pair = self._here.pair, pair
        try:
            self.serve(arrived)
        finally:
            self._here.pair = mine

    def _arriving(self) -> tuple[Pair, Arrived]:
        """Read the next message; return it decoded, and the pair that it is for."""
        kind, body, along = self.receive()
        pair = self._main
        if kind == RESULT and not along and type(body) in SCALARS:
            self.received += 1
            return pair, (kind, body, along, self._asked(pair))
        with self._crossing:
            value: object
            try:
                if along and not _OF_THREADS.isdisjoint(along):
                    pair = self._paired(kind, along)
                answers = None if type(kind) is str else self._asked(pair)
                if along:
                    self.take_extras(along)
                # in the order in which they were encoded: what has changed may hold what the message brings
                if type(kind) is str:
                    value = self.arguments(kind, body)
                else:
                    value = self.decode_exception(body) if kind == RAISED else self.decode(body)
                if along:
                    self._apply(along)
            except _MALFORMED as problem:
                raise self.protocol(f"{type(problem).__name__}: {problem}") from None
            except (Closed, Protocol):
                raise
            except BaseException as error:  # noqa: BLE001  a refusal, which belongs to who waits for the message
                kind, value = _REFUSED if type(kind) is str else RAISED, error
            self.received += 1
        return pair, (kind, value, along, answers)

    def _asked(self, pair: Pair) -> list[Any]:
        """Return where the next answer to this pair belongs; it is taken off before that is decoded, which may ask for more."""
        self.demand(bool(pair.asked[-1]), "an answer to nothing")
        return pair.asked[-1].pop(0)

    def _paired(self, kind: object, along: Along) -> Pair:
        """Return the pair that a message is for: a new one where a thread of the other side asks for the first time."""
        self._listen()
        for number in along.get("ended", ()):
            ended = self._pairs.get(number)
            if ended is not None and self.is_theirs(number):
                _threads.pop(ended.served_by, None)  # nobody counts it any more, and another may get its number
                ended.arrived.put(Closed("the thread that it stood for is no more"))
        number = along.get("pair", 0)
        pair = self._pairs.get(number) if number else self._main
        if pair is not None:
            return pair
        known = self.is_theirs(number) and type(kind) is str and len(self._pairs) < MAX_THREADS
        self.demand(known, f"the number of a thread, or more than {MAX_THREADS} of them")
        name = along.get("thread", "")
        self.demand(type(name) is str, "the name of a thread")
        pair = self._pairs[number] = Pair(number, [])
        if self.threaded:
            try:
                pair.served_by = start_new_thread(self._serve_pair, (pair, name))
            except RuntimeError:
                raise self.protocol("more threads than there is memory for") from None
        return pair

    def _serve_pair(self, pair: Pair, name: str) -> None:
        self._here.pair = pair
        if name:
            _served.name = name
        with contextlib.suppress(Closed, Protocol):
            self.serve_all()

    def arguments(self, what: str, coded: Any) -> list[object]:
        """Decode the arguments of a request."""
        return [self.decode(argument) for argument in coded]
