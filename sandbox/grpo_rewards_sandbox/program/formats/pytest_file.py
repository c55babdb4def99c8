"""A pytest file that imports the candidate as a module, on the trusted side of the border."""

from __future__ import annotations

import contextlib
import linecache
import os

from ..border.messages import Ends
from ..protocol import JobMessage
from ..standstill import Turns
from . import candidate_side, guard, names, skips
from .checks import begun, judged
from .plain_file import publish
from .pytest_session import Outcomes, PreparedSession, judge
from .report import JobReport, Progress, refused


def _without_deadlines() -> None:
    """The job's time is bounded as a whole: what one example takes by the clock depends on what else runs on the machine."""
    with contextlib.suppress(ImportError):
        from hypothesis import HealthCheck, settings

        settings.register_profile("border", deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("border")


def run(
    job: JobMessage, ends: Ends, session: PreparedSession, folder: str, turns: Turns | None, progress: Progress
) -> JobReport:
    """Judge one job of format pytest."""
    tests = job["tests"]
    if why := skips.missing_fixture(tests, job["module"], session.gives):
        return refused(why)
    peer = begun(job, ends, quiet=False, turns=turns)
    if isinstance(peer, JobReport):
        return peer
    report = JobReport()
    wanted = names.expected(tests, job["module"])
    if turns is not None:
        candidate_side.work_in(peer, turns)
        # in the common folder the candidate could say which characters hypothesis draws from
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{folder}/__pycache__"
    if "hypothesis" in tests:
        _without_deadlines()
    with judged(report, peer):
        publish(peer, job)
        candidate_side.follow_seed(peer, tests)
        candidate_side.import_submodules(tests)
        candidate_side.follow_assigned(peer, tests)
        candidate_side.follow_monkeypatch(peer)
        if "mock" in tests:
            candidate_side.follow_mock(peer)
        if "Logs" in tests:
            candidate_side.name_loggers()
        path = f"{folder}/test_solution.py"
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:
            handle.write(tests)
        # no line of them is shown to what writes a stack: a logger or a task in the candidate's hands does so
        linecache.cache[path] = (len(tests), None, [], path)
        # after all that this process opens for itself
        guard.install(peer, tests, path)
        outcomes = Outcomes(progress, path, tests)
        items = session.run(path, outcomes, turns.folder if turns else folder)
        judge(report, outcomes, items, wanted)
    report.tests_total = max(report.tests_total, len(wanted.tests))
    return report
