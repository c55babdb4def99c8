"""The supervisor: forks a pair of processes for each job, waits for the verdict, and leaves nothing of the job behind."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import checker, warm, wire
from .formats import names
from .formats.program_run import EXIT_MODULE, LIMIT_OF_EXIT, same_output
from .formats.report import Report, install, not_set_up, read_report
from .isolation import confine, limits, plan, root
from .isolation.syscalls import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from .placement import Placement

_MAX_REPORT, _CHECKER_JOBS = 1 << 20, 500
_PROGRESS = re.compile(rb"([0-9]{1,9}) ([0-9]{1,9})")
_LOOK = 0.2  # seconds between two looks at the memory of a candidate's processes
_PATIENCE = 0.2  # seconds that a verdict waits for the end of its job's processes, which goes on behind it


class Supervisor:
    """One slot: a warm parent for tests, one for candidates, one job at a time."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.plan = plan.probe(allow=tuple(config["allow"]), users=config.get("users"))
        if self.plan.user_namespace:
            plan.enter_user_namespace(self.plan.users)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        paths = (*config["python_path"], *config["pytest_path"])
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
        self.parents: dict[str, socket.socket] = {}
        self._pids: dict[str, int] = {}
        self._placement = Placement()
        self._config, self._checker_since = config, 0
        if config["warm"]:
            # once for all that is forked here: a process that judges checks is made anew after each job that hangs, and
            # beside a hostile job on another worker its imports took seconds
            warm.import_common()
        # before the first job is read: what forks candidates must never have seen a test
        self._spawn("candidate")
        if config["warm"]:
            self._spawn("tests")
        for role in self.parents:
            self._wait_for(role)

    def _spawn(self, role: str) -> None:
        """Fork a warm parent, or the process that judges checks."""
        config = self._config
        extra = (*config["python_path"], *(config["pytest_path"] if role == "tests" else ()))
        cell = confine.Confinement(self.plan, self.store, extra, tuple(config["sweep"]), self.exchange)
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                for number in (signal.SIGTERM, signal.SIGALRM):
                    signal.signal(number, signal.SIG_DFL)
                confine.close_descriptors({theirs.fileno()})
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 0)
                os.dup2(null, 1)
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                (checker if role == "checks" else warm).serve(theirs, role, cell, config)
            except BaseException as error:  # noqa: BLE001  a parent never returns into the supervisor
                confine.complain(error)
            os._exit(1)
        theirs.close()
        self.parents[role], self._pids[role] = mine, pid

    def _wait_for(self, role: str) -> None:
        """Wait until a warm parent is warm: a job's time begins when it can run."""
        wire.receive(self.parents[role])

    def close(self) -> None:
        """End every process below this one, wait until they are gone, and remove what lies on disk."""
        me = os.getpid()
        for sock in self.parents.values():
            sock.close()
        users = () if self.plan.namespaces else self.plan.users
        with contextlib.suppress(ChildProcessError):
            while True:
                # a subreaper: what a dead parent left is a child of this process by now, or in a moment. The kernel may
                # leave out of this list a child that is just ending: nothing but the wait says that none is left
                for child in limits.children(me):
                    os.kill(child, signal.SIGKILL)
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    for user in filter(None, users):
                        with contextlib.suppress(OSError):  # no process to be had for it, yet
                            confine.kill_all_of(user)
                    time.sleep(0.001)
        if not self.plan.namespaces:
            shutil.rmtree(self.store, ignore_errors=True)

    def _start(
        self, role: str, do: str, job: dict[str, Any], shared: str | None, fds: tuple[int, ...]
    ) -> dict[str, Any]:
        user = self.plan.users[0 if do == "tests" else 1]
        name = f"{do}-{self.count}"
        if role == "tests" and role not in self.parents:
            self._spawn(role)
            self._wait_for(role)
        wire.send(self.parents[role], {"do": do, "job": job, "shared": shared, "name": name}, fds)
        for descriptor in fds:
            os.close(descriptor)
        answer, _ = wire.receive(self.parents[role])
        return {"do": "reap", "pid": answer["pid"], "name": name, "user": user, "role": role}

    def _end(self, *running: dict[str, Any], late: Callable[[], None], until: float = 0.0) -> list[dict[str, Any]]:
        """End and clean up after children, those of both parents at the same time.

        What uses up everything also takes long to die. `late` is called, once, where that is not done some time after
        now, and after `until`.
        """
        for started in running:
            wire.send(self.parents[started["role"]], started)
        until = max(until, time.monotonic()) + _PATIENCE
        answers = []
        for started in running:
            parent = self.parents[started["role"]]
            if until and not select.select([parent], [], [], max(0.0, until - time.monotonic()))[0]:
                late()
                until = 0.0
            answers.append(wire.receive(parent)[0])
        return answers

    def run(self, job: dict[str, Any], late: Callable[[Report], None]) -> Report:
        """Judge one job and clean up after it. Where the cleaning takes long, `late` gets the verdict before its end."""
        self.count += 1
        self._next_look = time.monotonic() + _LOOK
        self._bury()
        self._placement.gather(pid for role, pid in self._pids.items() if role != "checks")
        try:
            return self._judge(job, late)
        finally:
            self._placement.leave()

    def _judge(self, job: dict[str, Any], late: Callable[[Report], None]) -> Report:
        if job["format"] == "stdio":
            return self._stdio(job, late)
        shared = None
        if job["fidelity"] != "shared" and names.shares_files(str(job["tests"])):
            shared = f"share-{self.count}"
            os.mkdir(f"{self.exchange}/{shared}")
            os.chmod(f"{self.exchange}/{shared}", 0o2770)
            if self.plan.users[0]:
                os.chown(f"{self.exchange}/{shared}", *self.plan.users)
        reader, writer = os.pipe()
        ready, set_up = os.pipe()
        running = []
        report = not_set_up()
        try:
            reused = checker.may_judge(job)
            if job["fidelity"] == "shared":
                running.append(self._start("tests", "shared", job, None, (writer, set_up)))
            else:
                ours, theirs = socket.socketpair()
                bare = {"limits": job["limits"]}  # the candidate's parent sees neither tests nor expected values
                running.append(self._start("candidate", "candidate", bare, shared, (theirs.detach(), os.dup(set_up))))
                if reused:
                    os.close(set_up)
                    self._ask_checker(job, (ours.detach(), writer))
                else:
                    running.append(self._start("tests", "tests", job, shared, (ours.detach(), writer, set_up)))
            deadline = time.monotonic() + job["timeout"]
            found, complete = self._verdict(reader, deadline, running, job["limits"]["memory"])
            if all_set_up(ready, len(running)):
                report = found
            if reused and not complete:
                self._end_checker()
        finally:
            os.close(reader)
            self._end(*running, late=lambda: late(report))
            user = self.plan.users[0]
            if user and not self.plan.namespaces and any(one["user"] == user for one in running):
                # cleaning up after a process of tests killed all of its user, also the one that judges checks: it may
                # not have died yet
                self._end_checker()
            if shared is not None:
                self._remove_shared(f"{self.exchange}/{shared}")
        return report

    def _remove_shared(self, folder: str) -> None:
        if self.plan.users[0] and not self.plan.namespaces:
            # here may be no capability to delete what is another user's: each deletes its own
            users = self.plan.users
            confine.empty_as((users[1], users[0], users[1], users[0]), [folder])
            os.rmdir(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)

    def _bury(self) -> None:
        """Reap what candidates left to this process, a subreaper; a warm parent that ended is noticed when asked."""
        try:
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                if pid == self._pids.get("checks"):
                    self._forget_checker()
        except ChildProcessError:
            return

    def _ask_checker(self, job: dict[str, Any], descriptors: tuple[int, ...]) -> None:
        if self.count - self._checker_since >= _CHECKER_JOBS:
            self._end_checker()
        if "checks" not in self._pids:
            self._spawn("checks")
            self._checker_since = self.count
            self._wait_for("checks")
        wire.send(self.parents["checks"], {"job": job, "processor": self._placement.together}, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def _end_checker(self) -> None:
        if "checks" in self._pids:
            os.kill(self._pids["checks"], signal.SIGKILL)
            os.waitpid(self._pids["checks"], 0)
            self._forget_checker()

    def _forget_checker(self) -> None:
        del self._pids["checks"]
        self.parents.pop("checks").close()

    def _excess(self, running: list[dict[str, Any]], memory: int, deadline: float) -> tuple[str, str]:
        """The limit that a candidate's processes or files exceed together, and a sentence; two empty texts for none.

        The candidate is the first of `running`.
        Looks by the clock, however often it is asked: a candidate that keeps writing is looked at too.
        """
        now = time.monotonic()
        if now < self._next_look:
            return "", ""
        self._next_look = now + _LOOK
        started, checker = running[0], self._pids.get("checks")
        judging = [(checker, self.plan.users[0])] if checker else []
        self._placement.spread([*judging, *((one["pid"], one["user"]) for one in running)])
        if limits.tree_memory(started["pid"], memory, min(deadline, now + _LOOK)) > memory:
            return "memory", f"its processes hold more than {memory >> 20} MiB together"
        if self._unbounded and limits.folder_bytes(f"{self.store}/{started['name']}", root.TMP_BYTES) > root.TMP_BYTES:
            return "disk", f"its files hold more than {root.TMP_BYTES >> 20} MiB together"
        return "", ""

    def _verdict(self, reader: int, deadline: float, running: list[dict[str, Any]], memory: int) -> tuple[Report, bool]:
        """Wait for the report, with an eye on what the candidate holds; say whether it came."""
        report, data = Report(), b""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                report.status, report.reason = "timeout", "the time limit passed"
                break
            report.limit, report.reason = self._excess(running, memory, deadline)
            if report.limit:
                report.status = "limit"
                break
            if not select.select([reader], [], [], min(left, _LOOK))[0]:
                continue
            chunk = os.read(reader, 65536)
            data += chunk
            if not chunk or len(data) > _MAX_REPORT:
                report.reason = "the tests ended without a verdict"
                break
        for line in data.splitlines():
            if line.startswith(b"{") and report.status == "failed":
                return read_report(line), True
            if counts := _PROGRESS.fullmatch(line):
                report.tests_passed, report.tests_total = map(int, counts.groups())
        return report, False

    def _stdio(self, job: dict[str, Any], late: Callable[[Report], None]) -> Report:
        report = Report(tests_total=len(job["tests"]))
        deadline = time.monotonic() + job["timeout"]
        for index, case in enumerate(job["tests"]):
            output, problem = self._case(job, case["input"], len(case["output"]), deadline, report, late)
            if not problem and not same_output(output, case["output"], job["compare"]):
                problem = f"case {index + 1}: expected {case['output'][:100]!r}, got {output[:100]!r}"
            if not problem:
                report.tests_passed += 1
            else:
                report.fail(problem)
                if report.status != "failed":
                    break
        report.passed = report.tests_total > 0 and report.tests_passed == report.tests_total
        if report.passed:
            report.status = "passed"
        return report

    def _case(
        self, job: dict[str, Any], text: str, size: int, deadline: float, report: Report, late: Callable[[Report], None]
    ) -> tuple[bytes, str]:
        (child_in, feed), (out, child_out), (done, set_up) = os.pipe(), os.pipe(), os.pipe()
        job_limits = job["limits"]
        small = {"limits": job_limits, "candidate": job["candidate"]}
        started = self._start(
            "candidate", "stdio", small, None, (child_in, child_out, os.open(os.devnull, os.O_WRONLY), set_up)
        )
        os.set_blocking(feed, False)
        pending, output, bound = text.encode("utf-8", "surrogatepass"), b"", max(job_limits["output_bytes"], size * 2)
        problem, feeding = "", True
        try:
            while True:
                if feeding and not pending:
                    os.close(feed)
                    feeding = False
                left = deadline - time.monotonic()
                if left <= 0:
                    report.status, problem = "timeout", "the time limit passed"
                    break
                report.limit, problem = self._excess([started], job_limits["memory"], deadline)
                if problem:
                    report.status = "limit"
                    break
                ready, writable, _ = select.select([out], [feed] if feeding else [], [], min(left, _LOOK))
                if writable:
                    try:
                        pending = pending[os.write(feed, pending) :]
                    except BrokenPipeError:
                        pending = b""
                if ready:
                    chunk = os.read(out, 1 << 16)
                    if not chunk:
                        break
                    output += chunk
                    if len(output) > bound:
                        report.status, report.limit, problem = "limit", "output", f"more than {bound} bytes of output"
                        break
        finally:
            if feeding:
                os.close(feed)
            os.close(out)
            there = all_set_up(done, 1)

            def now() -> None:
                early = replace(report) if problem else replace(report, status="timeout")
                early.fail(problem or "the time limit passed")
                late(early if there else not_set_up())

            ended = self._end(started, late=now, until=0.0 if problem else deadline)
            status = os.waitstatus_to_exitcode(ended[0]["status"])
        if not there:
            lost = not_set_up()
            report.status, report.limit, problem = lost.status, "", lost.reason
        elif not problem and status == EXIT_MODULE:
            problem = f"the program imports a module that is not there ({install('NAME')})"
        elif not problem and status in LIMIT_OF_EXIT:
            report.status, report.limit, problem = "limit", LIMIT_OF_EXIT[status], f"the {LIMIT_OF_EXIT[status]} limit"
        return output, problem


def all_set_up(ready: int, children: int) -> bool:
    """Say whether each child wrote its byte: it does so before any hostile text runs, and cannot afterwards."""
    os.set_blocking(ready, False)
    try:
        return len(os.read(ready, children + 1)) == children
    except BlockingIOError:
        return False
    finally:
        os.close(ready)
