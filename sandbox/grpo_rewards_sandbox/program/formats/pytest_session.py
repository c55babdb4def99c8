"""A pytest session prepared before the fork: what costs is importing and configuring, not running a file."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import linecache
import os
import site
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .names import ExpectedTests
from .report import JobReport, Progress

if TYPE_CHECKING:
    from _pytest.nodes import Item
    from _pytest.python import Function
    from _pytest.reports import CollectReport, TestReport

# these write files, dump stacks or only warn, and most are called for each test
_OFF = "cacheprovider doctest pastebin stepwise faulthandler setuponly setupplan warnings threadexception unraisableexception"
_WARM = (
    "_pytest.python_api _pytest.raises _pytest.assertion.rewrite _pytest.assertion.util _pytest.unittest unittest"
    " unittest.mock decimal fractions numbers pprint difflib ast inspect"
)


class Outcomes:
    """Counts what happens to every test."""

    def __init__(self, progress: Progress, path: str = "", tests: str = "") -> None:
        self.path, self.lines = path, tests.splitlines()
        self.passed: list[str] = []
        self.failures: list[str] = []
        self.not_passed: list[str] = []
        self.collection_problems: list[str] = []
        self.total = 0
        self._progress = progress

    def pytest_runtest_logreport(self, report: TestReport) -> None:
        if report.failed:
            self.failures.append(self._message(report))
        elif report.skipped or hasattr(report, "wasxfail"):
            self.not_passed.append(report.nodeid)
        elif report.when == "call":
            self.passed.append(report.nodeid)
            self._progress(len(self.passed), self.total)

    def pytest_pyfunc_call(self, pyfuncitem: Function) -> bool | None:
        """Run a test that is a coroutine function: without a plugin pytest would not, and some versions let it pass."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        asyncio.run(pyfuncitem.obj(**arguments))
        return True

    def pytest_collectreport(self, report: CollectReport) -> None:
        if report.failed:
            self.collection_problems.append(self._message(report))
        elif report.skipped:
            self.collection_problems.append(f"the file skips itself: {self._message(report)}")

    def _message(self, report: TestReport | CollectReport) -> str:
        crash = getattr(report.longrepr, "reprcrash", None)
        missing = getattr(report.longrepr, "errorstring", None)  # of a fixture that is not found
        text = crash.message if crash is not None else str(missing or report.longrepr)
        lines = [line for line in str(text).strip().splitlines() if line.strip()]
        first = lines[0 if crash is not None or missing else -1] if lines else "failed"
        source = ""
        if crash is not None and first in ("AssertionError", ""):
            own = self.lines[crash.lineno - 1 : crash.lineno] if crash.path == self.path else []
            source = (own[0] if own else linecache.getline(crash.path, crash.lineno)).strip()
        return f"{_name(report)}: {first}{' in ' + source if source else ''}"[:1000]


def _name(report: TestReport | CollectReport | Item) -> str:
    return str(report.nodeid).rpartition("test_solution.py::")[2] or "collection"


class PreparedSession:
    """One prepared session, for one file."""

    def __init__(self) -> None:
        # imported here: the process that judges asserts only never pays for pytest
        from _pytest import runner
        from _pytest.config import _prepareconfig
        from _pytest.main import Session as PytestSession

        site.setquit()
        site.sethelper()
        # installed plugins would run beside the tests, other ones on each machine
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        sys.dont_write_bytecode = True
        # the name of a case says what it expects, and tests may hand their environment over
        cast(Any, runner)._update_current_test_var = lambda item, when: None
        # no conftest or configuration file is read: the candidate might have written it
        options = "-q -s --noconftest -c /dev/null --rootdir /".split()
        # asserts are not rewritten, which costs a compilation: `_message` shows the statement instead
        options += ["--assert=plain", *(part for name in _OFF.split() for part in ("-p", f"no:{name}"))]
        self._config = _prepareconfig([*options, "/none_such_test.py"])
        self._config._do_configure()
        if self._config.pluginmanager.hasplugin("terminalreporter"):
            self._config.pluginmanager.unregister(name="terminalreporter")
        # a fork closes the descriptor of its log file, /dev/null, and what `capfd` opens would get the number and the log
        self._config.pluginmanager.getplugin("logging-plugin").log_file_handler.close()
        # registering is slow: what listens is there before the fork, and writes to the outcomes of the job
        self._listener = Outcomes(lambda passed, total: None)
        self._config.pluginmanager.register(self._listener)
        self._session = PytestSession.from_config(self._config)
        self._failed = PytestSession.Failed
        self._config.hook.pytest_sessionstart(session=self._session)
        for module in _WARM.split():
            try:
                importlib.import_module(module)
            except ImportError:
                continue  # this pytest keeps it elsewhere

    def gives(self, fixture: str) -> bool:
        """Pytest itself has this fixture."""
        find: Any = self._session._fixturemanager.getfixturedefs
        by_id = "nodeid" in inspect.signature(find).parameters  # in pytest 8.0
        return fixture == "request" or bool(find(fixture, self._session.nodeid if by_id else self._session))

    def run(self, path: str, outcomes: Outcomes, temporary: str) -> list[Item]:
        """Collect and run one file; return the collected items."""
        # only this folder is looked at: those above it are slow to list, or may not be
        self._config.pluginmanager._confcutdir = Path(path).parent
        self._listener.__dict__ = outcomes.__dict__
        self._temporary_folders(temporary)
        try:
            items = self._collected(Path(path))
            outcomes.total = len(items)
            if not outcomes.collection_problems:
                self._config.hook.pytest_runtestloop(session=self._session)
        except self._failed as error:
            outcomes.collection_problems.append(str(error))
            items = list(self._session.items)
        return items

    def _collected(self, path: Path) -> list[Item]:
        """Collect one file, whose place is known: to look for it through all folders above takes as long as to read it."""
        hook, session = self._config.hook, self._session
        module = hook.pytest_pycollect_makemodule(module_path=path, parent=session)
        items = session.items = list(session.genitems(module))
        hook.pytest_collection_modifyitems(session=session, config=self._config, items=items)
        hook.pytest_collection_finish(session=session)
        session.testscollected = len(items)
        return items

    def _temporary_folders(self, where: str) -> None:
        """tmp_path of mode 0700 would hide it from the candidate, who is another user, and its name tell it of the test."""
        factory = vars(self._config)["_tmp_path_factory"]
        base = Path(where) / "pytest"
        count = 0

        def mktemp(basename: str, numbered: bool = True) -> Path:
            nonlocal count
            if not base.exists():
                os.mkdir(base)
                # setgid: what either user makes in it stays in the folder's group
                os.chmod(base, 0o2777)
            count += 1
            # no name of a test, which says of each case what is expected; one that the tests give stays
            path = base / (f"test{count}" if numbered else basename)
            os.mkdir(path)
            os.chmod(path, 0o2777)
            return path

        object.__setattr__(factory, "_basetemp", base)
        object.__setattr__(factory, "mktemp", mktemp)


def judge(report: JobReport, outcomes: Outcomes, items: list[Item], wanted: ExpectedTests) -> None:
    """Turn what happened into a verdict: every test that the file wants has passed, and nothing else counts."""
    report.tests_total = max(len(items), len(wanted.tests))
    report.tests_passed = len(outcomes.passed)
    for problem in (*outcomes.collection_problems, *outcomes.failures):
        report.fail(problem)
    missing = sorted(wanted.tests - {_defined_as(item) for item in items})
    if missing:
        report.fail(f"{missing[0]} was not collected")
    for item in items:
        left_out = _defined_as(item) in wanted.left_out
        if (item.nodeid in outcomes.not_passed or item.nodeid not in outcomes.passed) and not left_out:
            report.fail(
                f"{_name(item)} was skipped, or failed as it was expected to: that is no test passed (`skipif` of what "
                "the environment decides leaves one out)"
            )
    if not outcomes.passed:
        report.fail("no test passed")
    report.passed = not report.reason
    if report.passed:
        report.tests_total = report.tests_passed


def _defined_as(item: Item) -> str:
    name = getattr(item, "originalname", None) or item.name
    cls = getattr(item, "cls", None)
    return f"{cls.__name__}::{name}" if cls is not None else str(name)
