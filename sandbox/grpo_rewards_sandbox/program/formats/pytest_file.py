"""A pytest file that imports the candidate as a module, on the trusted side of the border."""

from __future__ import annotations

import linecache
import socket

from ..protocol import JobMessage
from . import candidate_side, guard, names, review, visible
from .checks import READ_BEFORE, judged
from .classes import classes_under_test
from .plain_file import begun, publish
from .pytest_session import Outcomes, PreparedSession, judge
from .report import JobReport, Progress


def read(job: JobMessage) -> None:
    """Read the tests' text, in the process that forks those who run it: each sample of a row has the same, and inherits this."""
    tests, name = job["tests"], job["module"]
    if len(tests) <= READ_BEFORE:
        asked = names.imported(tests, name)
        review.unjudgeable(tests, name, asked)
        classes_under_test(tests, name, asked, ())
        visible.star_imports(tests, name)
        visible.bound(tests, name)
        review.reading(tests)
        names.expected(tests)


def run(
    job: JobMessage, sock: socket.socket, session: PreparedSession, folder: str, shared: str | None, progress: Progress
) -> JobReport:
    """Judge one job of format pytest."""
    peer = begun(job, sock, quiet=False)
    if isinstance(peer, JobReport):
        return peer
    report = JobReport()
    tests = job["tests"]
    wanted = names.expected(tests)
    if shared is not None:
        candidate_side.work_in(peer, shared)
    with judged(report, peer):
        publish(peer, job)
        candidate_side.follow_seed(peer, tests)
        candidate_side.follow_monkeypatch(peer)
        if "mock" in tests:
            candidate_side.follow_mock(peer)
        path = f"{folder}/test_solution.py"
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:
            handle.write(tests)
        linecache.cache[path] = (
            len(tests),
            None,
            tests.splitlines(keepends=True),
            path,
        )  # read from here when one fails
        # after all that this process opens for itself
        guard.install(peer, tests, path, shared)
        outcomes = Outcomes(progress)
        items = session.run(path, outcomes, shared or folder)
        judge(report, outcomes, items, wanted)
    report.tests_total = max(report.tests_total, len(wanted.tests))
    return report
