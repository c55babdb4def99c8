"""A pytest file that imports the candidate as a module, on the trusted side of the border."""

from __future__ import annotations

import linecache
import socket
from collections.abc import Callable

from ..border.messages import Closed, Protocol
from ..border.proxies import names_on_request
from ..protocol import JobMessage
from . import candidate_side, guard, handlers, names, review, visible
from .checks import finish
from .classes import classes_under_test
from .plain_file import begun, publish
from .pytest_session import Outcomes, PreparedSession, judge
from .report import JobReport, Progress, describe

_READ_BEFORE = 1 << 16  # characters: a longer text takes of its job's time, not of its worker's
# what else is asked of the text alone, by who prepares the border and by who judges
_READINGS: tuple[Callable[[str], object], ...] = (
    names.expected, names.used, names.words, names.attributes, names.identities, names.dropping, names.handling,
    names.makes_nan, names_on_request, candidate_side.evaluated, review.still_to_check, review.checking, review.hearing,
    handlers.of_objects,
)  # fmt: skip


def read(job: JobMessage) -> None:
    """Read the tests' text, in the process that forks those who run it: each sample of a row has the same, and inherits this."""
    tests, name = job["tests"], job["module"]
    if len(tests) <= _READ_BEFORE:
        asked = names.imported(tests, name)
        review.unjudgeable(tests, name, asked)
        classes_under_test(tests, name, asked, ())
        visible.star_imports(tests, name)
        visible.bound(tests, name)
        for reading in _READINGS:
            reading(tests)


def run(
    job: JobMessage, sock: socket.socket, session: PreparedSession, folder: str, shared: str | None, progress: Progress
) -> JobReport:
    """Judge one job of format pytest."""
    peer = begun(job, sock, quiet=False)
    if isinstance(peer, JobReport):
        return peer
    report = JobReport()
    tests, name = job["tests"], job["module"]
    wanted = names.expected(tests)
    if shared is not None:
        candidate_side.work_in(peer, shared)
    try:
        peer.follow_environment()
        publish(peer, job)
        candidate_side.follow_seed(peer, tests)
        candidate_side.follow_monkeypatch(peer)
        if "mock" in tests:
            candidate_side.follow_mock(peer)
        candidate_side.serve_sources(job["candidate"], name)
        candidate_side.reload(peer, job["candidate"])
        candidate_side.keep_candidates_text_out(peer, tests)
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
    except (Closed, Protocol):
        report.fail(peer.broken)
    except BaseException as error:  # noqa: BLE001  the candidate's module did not load, or pytest gave up
        report.fail(describe(error))
    report.tests_total = max(report.tests_total, len(wanted.tests))
    finish(report, peer)
    return report
