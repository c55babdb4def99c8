"""The supervisor: forks a pair of processes for each job, waits for the verdict, and leaves nothing of the job behind."""

from __future__ import annotations

import contextlib
import math
import os
import re
import select
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import compress
from typing import Protocol

from . import checker, landlock_programs, packages, proc
from .border.messages import pipes
from .children import all_set_up
from .clock import KILLED, LOOK, JobClock, ending, ran_out, used_up
from .formats import names
from .formats.report import MAX_REASON, JobReport, not_set_up, read_report, signed
from .isolation import confine, limits, plan, root
from .isolation.syscalls import PR_SET_CHILD_SUBREAPER, prctl
from .languages.compiling import Compiler
from .languages.judging import Judge
from .parents import CANDIDATE, CHECKS, Parents
from .placement import Placement
from .protocol import (
    Doing,
    End,
    JobMessage,
    Parent,
    Reap,
    Role,
    Start,
    Started,
    SupervisorConfig,
)
from .standstill import Standstill

_MAX_REPORT, _CHECKER_JOBS = 1 << 20, 500
_PROGRESS = re.compile(rb"([0-9]{1,9}) ([0-9]{1,9})")
_PATIENCE = 0.2  # seconds that a verdict waits for the end of its job's processes, which goes on behind it
_PATIENCE_FOR_CAUSE = 5.0  # the same where a process ended by itself: how it did may say that the verdict is none
_RUNS, _PAUSE = 3, 0.2  # how often a job whose processes are killed is run, and seconds before the next time
_LAST_READS = 3  # how often what is there is read when the time is over: what was written before counts


class Recipient(Protocol):
    """Who waits for a job's verdict."""

    given: bool

    def give(self, report: JobReport) -> None:
        """Say the verdict now, before the job's processes are gone."""

    def alive(self) -> None:
        """Say that the job goes on; to be called often."""


class Supervisor:
    """One slot: a fork server for tests, one for candidates, one job at a time."""

    def __init__(self, config: SupervisorConfig) -> None:
        self.plan = plan.probe(allow=tuple(config["allow"]), users=config.get("users"))
        if self.plan.user_namespace:
            plan.enter_user_namespace(self.plan.users)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        paths = (*config["python_path"], *config["pytest_path"], *config.get("site_packages", ()))
        private = self.plan.namespaces
        self.store = (
            root.private_store((*paths, config["program_path"]))
            if private
            else tempfile.mkdtemp(prefix="grpo-", dir=config["store"] or None)
        )
        self._unbounded = not private and not config["store"]  # its files lie on the machine's disk
        self.exchange = self.store + "/exchange"
        os.chmod(self.store, 0o755)  # pytest lists the folders on its way to a file
        os.mkdir(self.exchange, 0o711)
        self.count, self._next_look = 0, 0.0
        self._placement = Placement()
        self._processors: float = min(len(os.sched_getaffinity(0)), config.get("processors", math.inf))
        self._answer: Recipient
        self._checker_since = 0
        self._programs = Judge(self, Compiler(), self._clock, config.get("testlib", ""))
        self.parents = Parents(self.plan, self.store, self.exchange, self._placement, config)

    def close(self) -> None:
        """End every process below this one, wait until they are gone, and remove what lies on disk."""
        me = os.getpid()
        self.parents.close()
        users = () if self.plan.namespaces else self.plan.users
        with contextlib.suppress(ChildProcessError):
            while True:
                # a subreaper: what a dead parent left is a child of this process by now, or in a moment. The kernel may
                # leave out of this list a child that is just ending: nothing but the wait says that none is left
                for child in proc.children(me):
                    os.kill(child, signal.SIGKILL)
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    for user in filter(None, users):
                        with contextlib.suppress(OSError):  # no process to be had for it, yet
                            confine.kill_all_of(user)
                    time.sleep(0.001)
        if not self.plan.namespaces:
            confine.remove(self.store)  # however deep it goes, as `shutil.rmtree` cannot

    def _start(self, parent: Parent, start: Start, descriptors: tuple[int, ...]) -> Started:
        """Have a fork server fork a child; the descriptors go with it, and are closed here."""
        self.parents.start(parent)
        user = self.plan.users[0 if start["do"] in ("tests", "checker") else 1]
        return Started(self.parents.fork(parent, start, descriptors), start["name"], user, parent)

    def _request(self, do: Doing, limits: dict[str, int], shared: str | None = None) -> Start:
        return {"do": do, "name": f"{do}-{self.count}", "shared": shared, "limits": limits}

    def _end(self, *running: Started, late: Callable[[], None], patience: float) -> list[End]:
        """End and clean up after children, those of both parents at the same time; return how each of them ended.

        What uses up everything also takes long to die. `late` is called, once, where it has not after `patience` seconds.
        """
        for one in running:
            reap: Reap = {"do": "reap", "pid": one.pid, "name": one.name, "user": one.user}
            self.parents.send(one.parent, reap)
        until = time.monotonic() + patience
        answers = []
        for one in running:
            while until and not self.parents.answers(one.parent, min(LOOK, max(0.0, until - time.monotonic()))):
                self._answer.alive()
                if time.monotonic() >= until:
                    late()
                    until = 0.0
            answers.append(self.parents.receive(one.parent))
        return answers

    def run(self, job: JobMessage, answer: Recipient) -> JobReport:
        """Judge one job and clean up after it. Where the cleaning takes long, `answer` gets the verdict before its end.

        A death from outside says nothing of the candidate: a job whose processes are killed is run again, a few times. What
        they die of each time is their own doing.
        """
        self._answer = answer
        for run in range(1, _RUNS + 1):
            self.count += 1
            self._next_look = time.monotonic() + LOOK
            self.parents.bury()
            self.parents.gather()
            try:
                report, killed = self._judged(job)
            finally:
                self._placement.leave()
            if not killed or answer.given:
                break
            if run < _RUNS:
                time.sleep(_PAUSE * run)
            else:
                report.reason = f"{killed}, each of {_RUNS} times: {report.reason}"[:MAX_REASON]
        return report

    def _judged(self, job: JobMessage) -> tuple[JobReport, str]:
        if job["format"] not in ("stdio", "program", "values"):
            return self._judge(job)
        if self.plan.mode == "landlock":
            return landlock_programs.judge(self, job, self._clock(job["timeout"]))
        return self._programs.judge(job, self._answer.give)

    def start_cell(self, limits: dict[str, int], *, trusted: bool) -> tuple[Started, socket.socket]:
        """Start the first process of a cell, as the tests' user where `trusted`."""
        ours, theirs = socket.socketpair()
        request = self._request("checker" if trusted else "cell", limits)
        return self._start(CANDIDATE, request, (theirs.detach(),)), ours

    def end_cell(self, started: Started, late: Callable[[], None]) -> None:
        """End all that runs in a cell and remove its files."""
        self._end(started, late=late, patience=_PATIENCE)
        if started.user == self.plan.users[0] and started.user and not self.plan.namespaces:
            self.parents.end(CHECKS)  # cleaning up killed all of its user

    def start_program(self, limits: dict[str, int], program: str, descriptors: tuple[int, ...]) -> Started:
        """Start a program where there are no cells."""
        return self._start(CANDIDATE, {**self._request("program", limits), "program": program}, descriptors)

    def end_program(self, started: Started, report: Callable[[], JobReport], *, seconds: float, itself: bool) -> End:
        """End a program and clean up after it; give its `report` where that takes longer than `seconds`."""
        patience = max(seconds, _PATIENCE_FOR_CAUSE if itself else _PATIENCE)
        (end,) = self._end(started, late=lambda: self._answer.give(report()), patience=patience)
        return end

    def excess(self, started: Started, memory: int, clock: JobClock) -> tuple[str, str]:
        """The limit that what runs in a cell exceeds together, and a sentence; two empty texts for none."""
        return self._excess([started], memory, clock)

    def _clock(self, seconds: float) -> JobClock:
        lasting = (os.getpid(), *self.parents.pids.values())
        together = self._placement.together is not None
        return JobClock(seconds, self._processors, lasting, together=together)

    def _judge(self, job: JobMessage) -> tuple[JobReport, str]:
        """Judge a job of any format but stdio; say, too, which of its processes was killed by another, if one was."""
        shared = None
        reused, together = checker.may_judge(job), job["fidelity"] == "shared"
        if not together and job["format"] != "calls" and names.shares_files(str(job["tests"])):
            shared = f"share-{self.count}"
            os.mkdir(f"{self.exchange}/{shared}")
            os.chmod(f"{self.exchange}/{shared}", 0o2770)
            if self.plan.users[0]:
                os.chown(f"{self.exchange}/{shared}", *self.plan.users)
        roles: list[Role] = ["tests"] if together else ["candidate"] if reused else ["candidate", "tests"]
        libraries = self.parents.load(packages.imported(job), roles, self._answer.alive)
        candidates, tests = Parent("candidate", libraries), Parent("tests", libraries)
        reader, writer = map(socket.socket.detach, socket.socketpair()) if shared else os.pipe()
        ready, set_up = os.pipe()
        word = os.urandom(16).hex()
        running: list[Started] = []
        report, killed, still = not_set_up(), "", None
        try:
            limits = job["limits"]
            if together:
                request: Start = {**self._request("shared", limits), "word": word, "job": job}
                running.append(self._start(tests, request, (writer, set_up)))
            else:
                ours, theirs = pipes()
                request = self._request("candidate", limits, shared)
                running.append(self._start(candidates, request, (*theirs, os.dup(set_up))))
                if reused:
                    os.close(set_up)
                    self._ask_checker(job, word, (*ours, writer))
                else:
                    request = {**self._request("tests", limits, shared), "word": word, "job": job}
                    running.append(self._start(tests, request, (*ours, writer, set_up)))
            if shared:
                still = Standstill(reader, word.encode(), self.parents.pids[candidates], running[1].pid)
            clock = self._clock(job["timeout"])
            found, complete = self._verdict(
                reader, word.encode(), clock, running, limits["memory"], still, hangs_up=reused
            )
            if found.status == "refused" and together:
                found.status = "failed"  # written by the candidate: nobody else says so there
            # tests that are refused by their text alone say so before their candidate's process may be set up
            if found.status == "refused" or all_set_up(ready, len(running)):
                report = found
            if reused and not complete and self.parents.end(CHECKS) in KILLED and report.status == "failed":
                killed = "the process that judges was killed"
        finally:
            os.close(reader)
            # what has ended by now did so by itself, or another ended it
            gone = [report.status in ("failed", "timeout") and ending(one.pid) for one in running]
            patience = _PATIENCE_FOR_CAUSE if any(gone) else _PATIENCE
            ended = self._end(*running, late=lambda: self._answer.give(report), patience=patience)
            user = self.plan.users[0]
            if user and not self.plan.namespaces and any(one.user == user for one in running):
                # cleaning up after a process of tests killed all of its user, also the one that judges checks: it may
                # not have died yet
                self.parents.end(CHECKS)
            if shared is not None:
                self._remove_shared(f"{self.exchange}/{shared}")
        for end in compress(ended, gone):
            status = os.waitstatus_to_exitcode(end["status"])
            if used_up(status, end["cpu"], job["limits"]["cpu_seconds"]):
                report = replace(report, status="timeout", reason=ran_out(end["cpu"]))
            elif status in KILLED:
                killed = f"its process was killed (signal {-status})"
        return report, killed

    def _remove_shared(self, folder: str) -> None:
        if self.plan.users[0] and not self.plan.namespaces:
            # here may be no capability to delete what is another user's: each deletes its own
            users = self.plan.users
            confine.empty_as((users[1], users[0], users[1], users[0]), [folder])
            os.rmdir(folder)
        else:
            confine.remove(folder, self._answer.alive)

    def _ask_checker(self, job: JobMessage, word: str, descriptors: tuple[int, ...]) -> None:
        if self.count - self._checker_since >= _CHECKER_JOBS:
            self.parents.end(CHECKS)
        if self.parents.start(CHECKS):
            self._checker_since = self.count
        self.parents.send(CHECKS, {"job": job, "word": word, "processor": self._placement.together}, descriptors)

    def _excess(self, running: list[Started], memory: int, clock: JobClock) -> tuple[str, str]:
        """The limit that a candidate's processes or files exceed together, and a sentence; two empty texts for none.

        The candidate is the first of `running`.
        Looks by the clock, however often it is asked: a candidate that keeps writing is looked at too.
        """
        now = time.monotonic()
        if now < self._next_look:
            return "", ""
        self._next_look = now + LOOK
        self._answer.alive()
        clock.look()
        started, checker = running[0], self.parents.pids.get(CHECKS)
        judging = [(checker, self.plan.users[0])] if checker else []
        if clock.crowded:
            self._placement.spread([*judging, *((one.pid, one.user) for one in running)])
            clock.together = False
        if limits.tree_memory(started.pid, memory, now + LOOK) > memory:
            return "memory", f"its processes hold more than {memory >> 20} MiB together"
        if self._unbounded and limits.folder_bytes(f"{self.store}/{started.name}", root.TMP_BYTES) > root.TMP_BYTES:
            return "disk", f"its files hold more than {root.TMP_BYTES >> 20} MiB together, or lie where nobody can look"
        return "", ""

    def _verdict(
        self,
        reader: int,
        word: bytes,
        clock: JobClock,
        running: list[Started],
        memory: int,
        still: Standstill | None,
        *,
        hangs_up: bool,
    ) -> tuple[JobReport, bool]:
        """Wait for the report, with an eye on what the candidate holds; say whether it came.

        `hangs_up`: who writes it closes the pipe then, so nobody has to wake for each test that passed before.
        """
        report, data, chances = JobReport(), b"", _LAST_READS
        poll = select.poll()
        poll.register(reader, 0 if hangs_up else select.POLLIN)
        os.set_blocking(reader, False)
        while True:
            left = clock.left()
            chances -= left <= 0
            report.limit, report.reason = self._excess(running, memory, clock)
            if report.limit:
                report.status = "limit"
                break
            pause = LOOK if still is None else still.look()
            if still is not None and still.broken:
                report.reason = still.broken
                break
            poll.poll(min(max(left, 0.0), pause) * 1000)
            try:
                chunk = os.read(reader, 65536)
            except BlockingIOError:
                if left > 0:
                    continue
                chances, chunk = 0, b""
            *lines, data = (data + chunk).split(b"\n")
            # what a candidate left may hold the pipe still
            for line in filter(None, (signed(word, written) for written in lines)):
                if line.startswith(b"{"):
                    return (JobReport(reason=still.broken) if still and still.broken else read_report(line)), True
                if still is not None:
                    still.hear(line)
                if counts := _PROGRESS.fullmatch(line):
                    report.tests_passed, report.tests_total = map(int, counts.groups())
            if not chances:
                report.status, report.reason = "timeout", clock.reason()
                break
            if not chunk or len(data) > _MAX_REPORT:
                report.reason = "the tests ended without a verdict"
                break
        return report, False
