"""The candidate stands still while the tests work on files that both can write to: its processes are stopped, until it is its turn.

Its turn comes when the tests ask it for something, and while they wait; what it writes while they wait they do not read, since
it may have seen there what that is compared with. What stops it is the supervisor, at the tests' word, which
comes by the pipe of the verdict and is answered there. That a process can be woken in many ways (a timer, a child that
ends) does not matter: one that ran in between has been let run once more often, by which the job fails.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import stat
import time
from _thread import get_ident
from collections.abc import Iterable
from threading import RLock

from . import proc
from .clock import LOOK
from .formats.report import VerdictPipe, signature

# what the tests say: it is their turn; it stays so even where they wait; it is not any more; they wait; have they waited; and,
# by a thread that waits for it, whose it is
TAKE, HOLD, GIVE, WAIT, WAITED, ASK = b"take", b"hold", b"give", b"wait", b"waited", b"ask"
ANSWERED = b"answered"  # one of them had asked before another took the turn, and has its answer
_BROKEN = (
    "a process of the candidate ran while it had to stand still, since the tests wrote to the folder that both share"
)
# seconds between two looks at processes that are being stopped, and for how long without anything else
_BRIEFLY, _AT_ONCE = 5e-5, 0.02
_CLOCK_OF_FILES = 5  # CLOCK_REALTIME_COARSE
_GLANCE = 0.003  # seconds between two looks at tests that may be waiting
_WAITING = 4  # looks in a row
# seconds after which a thread that the kernel lets nobody stop counts as stopped: it may wait for one that is
_UNINTERRUPTED = 1.0
_NAMES = (re.compile(r"[\w./+-]*\.[A-Za-z]\w*"), re.compile(r"'([^']{1,300})'"))  # in a text, and whole ones
_GONE = " (deleted)"  # what the kernel adds to the name of a file that has none any more
_STOPPED, _UNSTOPPABLE, _ASLEEP = frozenset((b"t", b"T", b"Z", b"X")), b"D", b"S"

Threads = dict[str, tuple[int, bytes, bytes]]  # by their path: the process, the state, and how often it was let run


class Standstill:
    """The supervisor's side. `candidates`: the process below which all of the candidate's are; `tests`: the one that tests run in."""

    def __init__(self, descriptor: int, word: bytes, candidates: int, tests: int) -> None:
        self._descriptor, self._word, self._candidates, self._tests = descriptor, word, candidates, tests
        self._answers, self._waiting = 0, 0
        self._since: float | None = None  # when it was told to stop them
        self._before: Threads = {}
        self._stopped: Threads | None = None
        self._held = False  # the tests keep their turn while they wait
        # when they first waited since they wrote there, if they asked for nothing: by the clock of what the kernel notes of files
        self._waited = 0
        self.broken = ""  # that one ran all the same

    def hear(self, line: bytes) -> None:
        """Do what the tests say with this line."""
        if line != ASK:
            self._waiting = 0
        if line == TAKE and self._stopped is None:
            self._since, self._before = time.monotonic(), {}
        elif line in (TAKE, HOLD, WAITED, ASK):
            self._held |= line == HOLD
            self._answer()
        elif line == GIVE:
            self._let_go()
            self._held, self._waited = False, 0
        elif line == ANSWERED:
            self._waited = 0
        elif line == WAIT:
            self._wait()

    def look(self) -> float:
        """Go on stopping the candidate's processes, or see whether the tests wait for it; return the seconds until the next look."""
        if self._since is not None:
            until = time.monotonic() + _AT_ONCE
            while not self._stop(time.monotonic() - self._since) and time.monotonic() < until:
                time.sleep(_BRIEFLY)
        elif self._stopped is not None:
            states = {state for _, state, _ in _threads([self._tests]).values()}
            self._waiting = self._waiting + 1 if states == {_ASLEEP} else 0
            if self._waiting >= _WAITING and not self._held:
                self._wait()
        return 0.0 if self._since is not None else LOOK if self._stopped is None else _GLANCE

    def _stop(self, seconds: float) -> bool:
        """Stop what runs; say whether nothing did between this look and the one before."""
        found = self._theirs()
        stopped = _STOPPED | {_UNSTOPPABLE} if seconds > _UNINTERRUPTED else _STOPPED
        for pid in {pid for pid, state, _ in found.values() if state and state not in stopped}:
            _send(pid, signal.SIGSTOP)
        before, self._before = self._before, found
        if found != before or any(state not in stopped for _, state, _ in found.values()):
            return False
        self._since, self._stopped, self._waiting = None, found, 0
        self._answer()
        return True

    def _wait(self) -> None:
        self._waited = self._waited or time.clock_gettime_ns(_CLOCK_OF_FILES)
        self._let_go()

    def _let_go(self) -> None:
        """Let the candidate's processes run, and see whether one did."""
        if self._stopped is not None:
            found, stopped, self._stopped = self._theirs(), self._stopped, None
            self.broken = self.broken or (_BROKEN if found != stopped else "")
            for pid in {pid for pid, _, _ in found.values()}:
                _send(pid, signal.SIGCONT)

    def _theirs(self) -> Threads:
        return _threads(pid for pid in proc.tree(self._candidates) if pid != self._candidates)

    def _answer(self) -> None:
        self._answers += 1
        line = b"%d %d %d" % (self._answers, self._stopped is None, self._waited)
        os.write(self._descriptor, signature(self._word, line) + line + b"\n")


class Turns:
    """The tests' side: whose turn it is in the `folder` that both write to."""

    def __init__(self, folder: str, verdict: VerdictPipe) -> None:
        self.folder, self._real, self._verdict = folder, os.path.realpath(folder), verdict
        self._lock = RLock()
        self._asked = 0
        self._takers: set[int] = set()  # threads that have the turn
        self._theirs: set[int] = set()  # those that do what one of the candidate's asks for
        self._waits = False  # their event loop does
        self._written: dict[str, int] = {}  # files that they made since it is their turn, and how often they read them
        self._named: set[str] = set()  # names of files in what the candidate said
        # the tests write there in ways that nothing tells of: it is their turn whenever they have got what they asked for
        self.always = False

    def take(self, made: str = "", *, theirs: bool = False) -> None:
        """From here on nothing of the candidate runs, until `give` or until all threads of the tests wait.

        Args:
            made: a file that this makes, or what else.
            theirs: this thread does what one of the candidate's asks for.
        """
        if made:
            self._written[made] = 0
        with self._lock:
            self._takers.add(get_ident())
            if theirs:
                self._theirs.add(get_ident())
            self._ask(TAKE)

    def give(self, kind: str | int) -> None:
        """The candidate may run again, for a message of this kind, once no other thread has the turn.

        Where their event loop waits and has the candidate's do what it has to, the tests ask for nothing.
        """
        if not self._takers:
            return
        with self._lock:
            self._waits = kind == "turn" or (self._waits and type(kind) is int)
            if self._waits:
                self._verdict.say(WAIT)
                return
            self._takers.discard(get_ident())
            if not self._takers:
                self._written.clear()
                self.always = self.always or self._writes_on()
                self._verdict.say(GIVE)

    def answered(self) -> None:
        """What a thread of the tests asked for is there: where another has the turn, they did not only wait."""
        if self._takers - self._theirs and not self._waits:
            with self._lock:
                self._verdict.say(ANSWERED)

    def _writes_on(self) -> bool:
        """A file there is open still, for the tests to write to it."""
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # the one by which this was listed
                path = os.readlink(f"/proc/self/fd/{number}")
                ours = path.startswith(self._real) and not path.endswith(_GONE)
                if ours and fcntl.fcntl(int(number), fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR):
                    return True
        return False

    def linked(self, path: str = "") -> str:
        """Say which file has a second name, by which it may be the candidate's too: this one, or any in the folder; "" for none."""
        found = [path] if path else [f"{at}/{name}" for at, _, names in os.walk(self.folder) for name in names]
        for one in found:
            with contextlib.suppress(OSError):
                status = os.lstat(one)
                if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                    return f"the tests write to {one[-200:]!r} or beside it, of which there is a hard link"
        return ""

    def said(self, message: object) -> None:
        """Remember which files the candidate names."""
        text = repr(message)
        self._named.update(os.path.normpath(name) for names in _NAMES for name in names.findall(text))

    def made(self, what: str) -> bool:
        """The tests made this since it is their turn."""
        return what in self._written

    def may_be_named(self, path: str) -> bool:
        """The tests read what they made since it is their turn, by a name that the candidate gave them, as if it were its own.

        Where it gave no whole path, this is so where they read it twice: once by each name.
        """
        if path not in self._written:
            return False
        self._written[path] += 1
        return path in self._named or (
            self._written[path] > 1 and any(path.endswith(f"/{name}") for name in self._named)
        )

    def taken(self) -> bool:
        """It is the tests' turn, unless they waited."""
        return bool(self._takers)

    def hold(self) -> None:
        """Keep the turn where a thread has it: it may be about to wait for a lock of the candidate's on a file that it reads."""
        if self._takers:
            self._ask(HOLD)

    def await_theirs(self) -> None:
        """In a thread that does what one of the candidate's asks for: wait until that one may run."""
        while self._takers - {get_ident()} and not self._ask(ASK)[0]:
            time.sleep(_GLANCE)

    def waited(self, path: str, *, theirs: bool) -> bool:
        """The tests wrote to the folder, and waited since, and asked for nothing, and meanwhile this or a folder above it changed.

        Args:
            path: empty for what nobody knows the place of.
            theirs: this thread does what one of the candidate's asks for.
        """
        taken = self._takers & {get_ident()} if theirs else self._takers
        since = self._ask(WAITED)[1] if taken else 0
        if not since or not path:
            return since > 0
        with contextlib.suppress(OSError):
            while path.startswith(self._real) and os.lstat(path).st_ctime_ns < since:
                path = os.path.dirname(path)
        return path.startswith(self._real)

    def _ask(self, what: bytes) -> tuple[bool, int]:
        """Return whether the candidate runs, and since when the tests have waited, 0 where they have not."""
        with self._lock:
            self._verdict.say(what)
            self._asked += 1
            number, runs, waited = map(int, self._verdict.hear().split() or b"\0\0\0")
            if number != self._asked:
                raise OSError("the supervisor's answer was read by another")
            return bool(runs), waited


def _threads(processes: Iterable[int]) -> Threads:
    """Of what has ended since it was listed the state is empty: it may have started another, which is not listed."""
    found: Threads = {}
    for pid in processes:
        for thread in proc.threads(pid) or [pid]:
            said = proc.read(path := f"/proc/{pid}/task/{thread}/status")
            state, count = (said.partition(part)[2] for part in (b"\nState:\t", b"\nvoluntary_ctxt_switches:"))
            found[path] = pid, state[:1], count
    return found


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
