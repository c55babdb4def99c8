"""A pytest file of plain functions: no fixture, mark, parameter, class or hook, so that pytest would do no more than call each.

Such files, which most data sets hold, need no session and leave nothing behind: one lasting process judges them, as it does
checks. Anything else goes to `pytest_file`, which says the same of these, and takes several times as long.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..border.messages import Ends
from ..border.proxies import module_namespace
from ..border.proxy_exceptions import UNSEEN
from ..border.trusted import TrustedPeer
from ..protocol import JobMessage
from . import names, visible
from .checks import begun, compiled, judged, run_each, statement
from .classes import plain_classes
from .report import JobReport, Progress, describe


def publish(peer: TrustedPeer, job: JobMessage) -> None:
    """Load the candidate and make it importable; a star import brings the names that the tests use and nothing else."""
    tests, name = job["tests"], job["module"]
    shown, unseen, classes = plain_classes(job["setup"])
    peer.under_test |= classes
    peer.unseen = names.words(unseen)
    if not visible.bound(unseen, name).isdisjoint(names.used(tests) - visible.bound(tests, name)):
        peer.differs(UNSEEN)
    module, (defined, exported, doc) = peer.load(job["candidate"], name, shown)
    held = module_namespace(module)
    held["__doc__"] = doc if type(doc) is str else None
    if "*" in names.taken(tests, name):
        own = exported if type(exported) is list else [n for n in defined if type(n) is str and not n.startswith("_")]
        used = names.used(tests)
        # `globals()[name]` looks for what stands in a string
        asked = (names.words(tests) if "globals" in used else used) - visible.bound(tests, name)
        kept, taken = visible.taken(peer, module, own, tests, asked, job["candidate"], modules=False)
        held.update(kept, __all__=[*kept, *taken], _border_read=taken)
    held["__file__"] = f"{name}.py"
    held["__spec__"] = importlib.machinery.ModuleSpec(name, None)
    sys.modules[name] = module


def run(job: JobMessage, ends: Ends, progress: Progress) -> JobReport:
    """Judge one job of format pytest whose tests are plain."""
    peer = begun(job, ends, quiet=True)
    if isinstance(peer, JobReport):
        return peer
    report = JobReport()

    def say(error: BaseException) -> str:
        return f"collection: {describe(error)}" if report.tests_total else describe(error)

    with judged(report, peer, say), _importable(job["module"]):
        publish(peer, job)
        _call_each(job["tests"], job["module"], report, progress)
    report.tests_total = max(report.tests_total, len(names.expected(job["tests"], job["module"]).tests))
    return report


@contextlib.contextmanager
def _importable(name: str) -> Iterator[None]:
    """For the time of one job the candidate's module has this name."""
    before = sys.modules.get(name)
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before


def _call_each(tests: str, module: str, report: JobReport, progress: Progress) -> None:
    """Call each test, whatever became of the others, as pytest does."""
    wanted = names.expected(tests, module).tests
    report.tests_total = len(wanted)
    namespace: dict[str, Any] = {"__name__": "test_solution"}
    exec(compiled(tests, "tests.py"), namespace)  # noqa: S102
    # a star import may bring a function of the candidate's whose name begins with test
    functions = [(name, value) for name, value in namespace.items() if type(value) is types.FunctionType]
    own = {name: value for name, value in functions if value.__code__.co_filename == "tests.py"}
    found = {name: value for name, value in own.items() if name.startswith("test")}
    report.tests_total = len(found)
    run_each(found.items(), report, progress, lambda error: _first_line(error, tests))
    # a test whose name was given to something else further down is lost
    if missing := sorted(wanted - found.keys()):
        report.fail(f"{missing[0]} was not collected")
    if not report.tests_passed:
        report.fail("no test passed")
    report.passed = not report.reason


def _first_line(error: BaseException, tests: str) -> str:
    text = describe(error).strip().partition("\n")[0]
    at = statement(tests, error) if text == "AssertionError" else ""
    return f"{text} in {at}" if at else text
