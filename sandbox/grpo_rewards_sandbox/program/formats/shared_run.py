"""`fidelity: shared`: tests and candidate in one confined process, for test styles that cannot cross the border.

It protects the machine, not the verdict: a candidate that knows this program can write "passed", so it is for where
forging does not matter. Simple forgeries fail: the tests that must pass are counted before the candidate is loaded, and
a process that ends early has no verdict.
"""

from __future__ import annotations

import contextlib
import site
import sys
import types

from ..protocol import JobMessage
from . import names
from .checks import compiled, entry_object
from .pytest_session import Outcomes, PreparedSession, judge
from .report import JobReport, describe


def run(job: JobMessage, session: PreparedSession | None, folder: str) -> JobReport:
    """Judge one job in this process."""
    report = JobReport()
    # taken before the candidate runs, which may replace what the modules hold
    report_class, fail, describe_error, judge_all = JobReport, JobReport.fail, describe, judge
    name, tests = job["module"], job["tests"]
    expected = names.expected(tests) if isinstance(tests, str) else None
    outcomes = Outcomes(lambda passed, total: None)
    site.setquit()
    site.sethelper()
    try:
        module = types.ModuleType(name)
        module.__file__ = f"{folder}/{name}.py"
        with open(module.__file__, "w", encoding="utf-8", errors="surrogatepass") as handle:
            handle.write(job["candidate"])
        sys.modules[name] = module
        ready = False
        # programs count on its classes; what needs names of theirs runs behind them
        with contextlib.suppress(NameError):
            exec(compiled(job["setup"], "setup.py"), module.__dict__)  # noqa: S102
            ready = True
        source = job["candidate"].encode("utf-8", "surrogatepass")
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
        if job["format"] == "pytest":
            assert session is not None
            assert expected is not None
            path = f"{folder}/test_solution.py"
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:
                handle.write(tests)
            items = session.run(path, outcomes, folder)
            judge_all(report, outcomes, items, expected)
        else:
            namespace = dict(vars(module), __name__="tests")
            if not ready:
                exec(compiled(job["setup"], "setup.py"), namespace)  # noqa: S102
            if job["format"] == "humaneval":
                candidate = entry_object(job["entry_point"], namespace)
                exec(compiled(tests, "tests.py"), namespace)  # noqa: S102
                report.tests_total = 1
                namespace["check"](candidate)
                report.tests_passed = 1
            else:
                report.tests_total = len(tests)
                for test in tests:
                    exec(compiled(test, "tests.py"), namespace)  # noqa: S102
                    report.tests_passed += 1
            report.passed = report.tests_total > 0
    except BaseException as error:  # noqa: BLE001  whatever it is, it is the verdict
        report.passed = False
        if type(report) is report_class:
            fail(report, describe_error(error))
    report.status = "passed" if report.passed and not report.reason else "failed"
    return report
