"""How much of its time a job has used: what its processes ran and slept, not what they waited for a processor.

By a wall clock, a machine's load makes verdicts. This one is read from what the kernel says of each thread below the
supervisor, which works for one job at a time: how long it ran, how long it was ready to run and did not (schedstat), and
whether it is ready now; for who waits still, the kernel counts that only when the wait is over. Between two looks

- at most one of them wanted a processor at a time: time passed but for what they waited for one;
- several did: as much passed as what they ran would have taken alone, on as many processors as there are for them. So a
  job that starts many processes gains nothing by their waiting for each other.

What began and ended between two looks is known by the time it ran only; it is taken to have waited as the others did. Where
a job waits more than it runs and a thread ended since the last look, all time was waiting that nobody ran. Where the kernel
keeps no such figures, a thread that is ready at a look has waited when it did not run. Where nothing is to be seen of the
processes, all time counts.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from . import proc

_TIMES, _PLUS = 30, 30.0
_MANY = 500  # threads that one look reads at most: some may fork as fast as it walks
_CLOSE = 0.01  # seconds: the end is not looked for more often
_SPARE = 2  # threads beside those of a candidate that may be ready at once: the tests', and who wakes them
_CROWDED = 0.4  # processors, beside what those that call each other on one processor wait for each other
_MUTUAL = 0.5  # of what they run: who asks is ready still while the other answers
_QUICK = 2e-4  # seconds of a turn; of quicker ones who asks is interrupted by who answers, and ready all that time
_MUTUAL_QUICK = 1.0
_MOSTLY = 0.5  # of the time that was used: what a program that ran did at least
LOOK = 0.2  # seconds between two looks at what a job's processes hold and have used, and between two signs of life of who waits
_EXITING = 4  # the kernel's flag of a process that is ending
KILLED = (-signal.SIGKILL, -signal.SIGTERM)  # exit statuses of what another process ended
_TICKS = os.sysconf("SC_CLK_TCK")


def longest(seconds: float) -> float:
    """Return the seconds of wall time after which a job with this limit ends, however little it could run."""
    return _TIMES * seconds + _PLUS


@dataclass(frozen=True, slots=True)
class _Thread:
    """What a thread did until the time `at`, in seconds: `ran`; `waited` for a processor, as far as the kernel counted it.

    `credited`: the same with the wait that lasts still, `guessed` where nobody knows since when. `ready`: it runs, or waits to.
    `turns`: how often it was let run.
    """

    ran: float
    waited: float
    credited: float
    ready: bool
    at: float
    turns: int = 0
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class _Interval:
    """What there was between two looks, so many seconds.

    On average `ran` processors ran threads, and for `waited` more they waited; `ready` are so at its end. `ended`: a thread did,
    and nobody knows how long it waited before. `together`: they are on one processor.
    """

    seconds: float = 0.0
    ran: float = 0.0
    waited: float = 0.0
    ready: int = 0
    ended: bool = False
    together: bool = False

    def used(self, processors: float, mistaken: float = 0.0) -> float:
        """Seconds of it that the threads used. `mistaken`: what was taken for waiting and was not."""
        waited = max(self.waited - mistaken / self.seconds, 0.0) if mistaken else self.waited
        wanted = self.ran + waited
        if wanted > 1:
            used = self.ran / min(wanted, 1.0 if self.together else processors)
        else:
            used = self.ran if self.ended else 1 - waited
        if wanted and self.ready > processors + _SPARE:
            # those that hand over to others between two looks are not seen to run much, but to be there
            used = max(used, self.ran / wanted * self.ready / processors)
        return min(used, 1.0) * self.seconds


class JobClock:
    """The time of one job, from now on. `together`: its processes are on one processor, for the present."""

    def __init__(self, seconds: float, processors: float, lasting: Iterable[int], *, together: bool) -> None:
        """`processors`: how many the job may use. `lasting`: processes that outlive it, first the two that work for it."""
        self.together, self._processors = together, max(1.0, processors)
        self.used = self.ran = self.waited = 0.0
        self._seconds = self._total = seconds
        self._ran_before = self._used_before = 0.0
        self._begun = self._seen = time.monotonic()
        self._end = self._begun + longest(seconds)
        self._lasting = tuple(lasting)
        self._threads = {pid: _lasting(pid, pid) for pid in self._lasting[:2]}
        self._whole: float | None = None  # what processes ran, and their children that ended, at the last look
        self._last = _Interval()
        self.crowded = False  # they waited for a processor at the last look
        self._turns = 0  # how often they were let run since the look before
        self._unseen = 0.0  # of that, what no thread was seen to run

    def allow(self, seconds: float) -> None:
        """From now on, let so many seconds pass at most, and no more than the job has."""
        self.look()
        self._ran_before, self._used_before = self.ran, self.used
        self._seconds = min(self._total, self.used + seconds)

    def left(self) -> float:
        """Return how many seconds of wall time the job has at least, 0 or less when its time is over."""
        now = time.monotonic()
        left = self._seconds - self.used - (now - self._seen)
        if left <= 0:
            self.look()
            left = self._seconds - self.used
            left = max(left, _CLOSE) if left > 0 else 0.0
        return min(left, self._end - now)

    def look(self) -> None:
        """Read what the processes did since the last look, and add what of that time was theirs."""
        threads, last = self._threads, self._last
        ran, waited, ready, mistaken = self._since()
        before, self._seen = self._seen, time.monotonic()
        passed, ended = self._seen - before, self.waited > self.ran and bool(threads.keys() - self._threads)
        mutual = _MUTUAL_QUICK if self._turns * _QUICK > ran * passed else _MUTUAL
        self.crowded = waited > _CROWDED + mutual * min(ran, 1.0)
        self._last = _Interval(passed, ran, waited, ready, ended, self.together)
        self.used += self._last.used(self._processors)
        self.used += last.used(self._processors, mistaken) - last.used(self._processors)

    def reason(self) -> str:
        """Say what used the time up."""
        if time.monotonic() >= self._end:
            return f"the time limit passed: {self._end - self._begun:g} s went by; it ran {self.ran:.1f} s of them"
        ran, used = self.ran - self._ran_before, self.used - self._used_before
        if ran >= used * _MOSTLY:
            return ran_out(ran)
        return f"the time limit passed: waited {max(used - ran, 0.0):.1f} s"

    def _since(self) -> tuple[float, float, int, float]:
        """How many processors the threads had on average since the last look, and for how many they waited; two more.

        How many are ready now, and the seconds until the last look that were taken for waiting and were not.
        Each thread is held against its own time between two readings: this process may have to wait amid its look, too.
        """
        ran = waited = whole = lasting = watched = mistaken = 0.0
        below, now, ready = [os.getpid()], {}, 0
        self._turns = 0
        for pid in below:
            total, threads = _process(pid)
            whole += total
            old = pid in self._lasting
            if old:
                lasting += total
            for thread in threads:
                below += proc.children(pid, thread)
                before = self._threads.get(thread)
                read = _lasting(pid, thread) if old and before is None else _thread(pid, thread, before, self._seen)
                if read is None:
                    continue
                now[thread] = read
                ready += read.ready
                if before is None:
                    before = read if old else _Thread(0.0, 0.0, 0.0, False, self._seen)
                if (span := read.at - before.at) > 0:
                    more = read.credited - before.credited
                    watched += read.ran - before.ran
                    ran += (read.ran - before.ran) / span
                    waited += max(0.0, more) / span
                    mistaken += max(0.0, -more) if before.guessed else 0.0
                    self.waited += more
                    self._turns += read.turns - before.turns
            if len(now) > _MANY:
                now = {**self._threads, **now}
                break
        self._threads = now
        self.ran += watched
        if self._whole is None:  # what lasts has run for other jobs
            self._whole = lasting
        self._unseen += whole - self._whole - watched
        self._whole = whole
        if self._unseen > 0:
            share = self._unseen / max(time.monotonic() - self._seen, _CLOSE)
            ran += share
            waited += share * max(0.0, self.waited) / self.ran if self.ran else 0.0
            self.ran += self._unseen
            self._unseen = 0.0
        return ran, waited, ready, mistaken


def ran_out(seconds: float) -> str:
    """Say that the processor time ran out."""
    return f"the time limit passed: ran {seconds:.1f} s of processor time"


def used_up(status: int, ran: float, cpu_seconds: int) -> bool:
    """Say whether a process with this exit status, which ran for so many seconds, ended for its limit of processor time."""
    return status == -signal.SIGXCPU or (status == -signal.SIGKILL and ran >= cpu_seconds)


def ending(pid: int) -> bool:
    """Say whether a process ended or is about to: no signal can change its exit status any more."""
    fields = proc.fields(f"/proc/{pid}/stat")
    return bool(fields) and (fields[0] in b"ZX" or bool(int(fields[6]) & _EXITING))


def _process(pid: int) -> tuple[float, list[int]]:
    """Seconds that a process ran, with those of its children that it waited for; and its threads."""
    fields, threads = proc.fields(f"/proc/{pid}/stat"), proc.threads(pid)
    own, ended = sum(map(int, fields[11:13])) / _TICKS, sum(map(int, fields[13:15])) / _TICKS
    with contextlib.suppress(OSError):
        own = time.clock_gettime(~pid << 3 | 2)  # the kernel's number for the clock of another process
    return own + ended, threads


def _lasting(pid: int, thread: int) -> _Thread:
    """Read a thread from which on nothing is known of what it did before; at the start of each job, so no more than that."""
    at = time.monotonic()
    ran, waited, turns = _counted(pid, thread) or (0.0, 0.0, 0)
    return _Thread(ran, waited, waited, False, at, turns)


def _thread(pid: int, thread: int, before: _Thread | None, looked: float) -> _Thread | None:
    """Read a thread; `before`: what it was at the last look, when it was `looked` for, None where it is new."""
    fields = proc.fields(f"/proc/{pid}/task/{thread}/stat")
    counted = _counted(pid, thread)
    at = time.monotonic()
    if not fields:
        return None
    ready = fields[0] == b"R" and pid != os.getpid()  # who looks is not waiting
    if before is None:
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / _TICKS
        before = _Thread(0.0, 0.0, 0.0, False, max(looked, at - age))
    span = at - before.at
    if counted is None:
        ran = sum(map(int, fields[11:13])) / _TICKS
        waited = before.credited + (max(0.0, span - (ran - before.ran)) if ready else 0.0)
        return _Thread(ran, waited, waited, ready, at)
    ran, waited, turns = counted
    credited, waits = waited, ready and (ran, waited) == (before.ran, before.waited)
    if waits:
        credited = before.credited + span  # it has not had its turn
    elif ready:
        credited += max(0.0, span - (ran - before.ran) - max(0.0, waited - before.credited))
    return _Thread(ran, waited, credited, ready, at, turns, guessed=ready and not (waits and before.ready))


def _counted(pid: int, thread: int) -> tuple[float, float, int] | None:
    """Seconds that a thread ran and waited for a processor, and its turns, as the kernel counts; None where it does not."""
    fields = proc.read(f"/proc/{pid}/task/{thread}/schedstat").split()
    return (int(fields[0]) / 1e9, int(fields[1]) / 1e9, int(fields[2])) if fields and fields[2] != b"0" else None
