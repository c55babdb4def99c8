"""HumanEval's `check(candidate)` and lists of asserts, on the trusted side of the border."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ..border.libraries import one_nan
from ..border.messages import Closed, Ends, Protocol
from ..border.operations import SPECIAL
from ..border.sharing import SharingPeer
from ..border.trusted import TrustedPeer
from ..protocol import JobMessage
from ..standstill import Turns
from . import candidate_side, guard, names, review, skips, visible
from .classes import classes_under_test, entry_name, plain_classes
from .reading import reading
from .report import JobReport, Progress, describe, refused

_MARK = "__border_passed__"
_TASKS = frozenset(("create_task", "ensure_future"))
_WAITS = frozenset(("sleep", "wait", "join"))
_OF_PYPLOT = frozenset(("gca", "gcf", "get_fignums", "fignum_exists"))
# a failed `is` between two values, of which none is a constant that crosses as itself
_OF_IDENTITY = re.compile(r"AssertionError(?: in assert|:) .*? is (?:not )?(?!not\b|None\b|True\b|False\b)")
# a failed check of what a class' special method says of itself
_OF_METHODS = re.compile(rf"\w\.(?:{'|'.join(('__init__', '__call__', *SPECIAL))})(?![\w(])")
_SHOWN = 300  # characters of a failing statement
READ_BEFORE = 1 << 16  # characters: a longer text takes of its job's time, not of its worker's


@functools.lru_cache(maxsize=64)
def _instrumented(tests: str) -> tuple[list[types.CodeType], int]:
    """Compile a text that defines `check`, counting the asserts of its body; return it with their number."""
    tree = ast.parse(tests, "tests.py")
    total = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            body: list[ast.stmt] = []
            for statement in node.body:
                body.append(statement)
                if isinstance(statement, ast.Assert):
                    call = ast.Call(ast.Name(_MARK, ast.Load()), [], [])
                    body.append(ast.copy_location(ast.Expr(call), statement))
                    total += 1
            node.body = body
    # one where all asserts stand in loops: the call of check itself is the test
    return [compile(ast.fix_missing_locations(tree), "tests.py", "exec", dont_inherit=True)], max(total, 1)


@functools.lru_cache(maxsize=256)
def compiled(source: str, name: str) -> types.CodeType:
    return compile(source, name, "exec", dont_inherit=True)


def begun(job: JobMessage, ends: Ends, *, quiet: bool, turns: Turns | None = None) -> TrustedPeer | JobReport:
    """Return the border for tests, or what is said of those that cannot be judged."""
    text, whole = texts(job)
    asked, tested = asked_of(job)
    if why := review.unjudgeable(text, job["module"], asked) or skips.left_out(text, job["module"]):
        return refused(why)
    peer = (
        TrustedPeer(ends, under_test=tested, module_name=job["module"], quiet=quiet)
        if turns is None
        else SharingPeer(ends, turns, under_test=tested, module_name=job["module"])
    )
    peer.text = reading(whole)
    peer.surroundings.watch(peer.text.words)
    peer.has_handlers = "signal" in peer.text.words
    if names.makes_nan(whole):
        peer.differs("a NaN comes back as the one of `math`, not as the one that the tests made")
    if "nan" in peer.text.words and not peer.text.words.isdisjoint(("np", "numpy")):
        one_nan()
    return peer


def texts(job: JobMessage) -> tuple[str, str]:
    """The tests' text, with the setup where the tests are a list; and with it in any case."""
    tests = job["tests"]
    whole = "\n".join([job["setup"], *([tests] if isinstance(tests, str) else tests)])
    return (tests if isinstance(tests, str) else whole), (tests if job["format"] == "pytest" else whole)


def asked_of(job: JobMessage) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the candidate in tests, and which of them are classes."""
    text, _ = texts(job)
    if job["format"] == "pytest":
        theirs = visible.of_candidate(text, job["module"])
        return theirs, classes_under_test(text, job["module"], theirs, job["classes"])
    entry = entry_name(job["entry_point"])
    theirs = visible.unbound(text, entry)
    tested = classes_under_test(text, job["module"], theirs, job["classes"])
    return theirs, tested | {entry} if "candidate" in tested else tested


def read(job: JobMessage) -> None:
    """Read the tests' text, in the process that forks those who run them: each sample of a row has the same, and inherits this."""
    text, whole = texts(job)
    if len(whole) <= READ_BEFORE:
        review.unjudgeable(text, job["module"], asked_of(job)[0])
        reading(whole)
        visible.missing(text, entry_name(job["entry_point"]))


def run(job: JobMessage, ends: Ends, progress: Progress, *, quiet: bool, turns: Turns | None = None) -> JobReport:
    """Judge one job of format humaneval or asserts."""
    report = JobReport()
    text, whole = texts(job)
    entry = entry_name(job["entry_point"])
    asked = set(names.used(text)) | ({entry} if entry else set())
    peer = begun(job, ends, quiet=quiet, turns=turns)
    if isinstance(peer, JobReport):
        return peer
    if why := visible.missing(text, entry) or visible.imports_candidate(text, job["module"]):
        return refused(why)
    if turns is not None:
        candidate_side.work_in(peer, turns)
    # an audit hook stays for good: none in the lasting process, whose tests can do nothing that it forbids
    if not quiet:
        candidate_side.follow_seed(peer, text)
        candidate_side.import_submodules(whole)
        candidate_side.follow_assigned(peer, whole)
        if "mock" in text:
            candidate_side.follow_mock(peer)
        guard.install(peer, text, "")
    with judged(report, peer, lambda error: ": ".join(filter(None, (statement(whole, error), describe(error))))):
        try:
            codes, report.tests_total = _compiled_tests(job)
        except (SyntaxError, ValueError) as error:
            report.status = "error"
            report.fail(f"the tests do not compile: {error}")
        else:
            namespace = _namespace(job, peer, asked)
            (_check if job["format"] == "humaneval" else _asserts)(job, codes, namespace, report, progress)
    return report


def _compiled_tests(job: JobMessage) -> tuple[list[types.CodeType], int]:
    """The tests' code, and how many tests there are."""
    tests = [job["tests"]] if isinstance(job["tests"], str) else job["tests"]
    apart = _on_lines_of_their_own(job["setup"], tests)
    if job["format"] == "humaneval":
        return _instrumented(*apart)
    compiled(job["setup"], "setup.py")
    return [compiled(test, "tests.py") for test in apart], len(tests)


@contextlib.contextmanager
def judged(report: JobReport, peer: TrustedPeer, say: Callable[[BaseException], str] = describe) -> Iterator[None]:
    """What is raised within is the verdict; nothing passes whose candidate is gone then, or broke the protocol."""
    try:
        yield
    except (Closed, Protocol):
        report.fail(peer.broken)
    except BaseException as error:  # noqa: BLE001  whatever the candidate or the test raised
        report.fail(say(error))
    finish(report, peer)


def run_each(
    tests: Iterable[tuple[str, Callable[[], object]]],
    report: JobReport,
    progress: Progress,
    say: Callable[[BaseException], str],
) -> None:
    """Run each test, whatever became of the others."""
    for name, test in tests:
        try:
            test()
        except (Closed, Protocol):
            raise
        except BaseException as error:  # noqa: BLE001  whatever the candidate or the test raised is the verdict
            report.fail(f"{name}: {say(error)}")
        else:
            report.tests_passed += 1
            progress(report.tests_passed, report.tests_total)


def statement(tests: str, error: BaseException) -> str:
    """The innermost statement of the tests that was being run when `error` was raised, on one line."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "tests.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    if line is None:
        return ""
    statements = (node for node in names.parsed(tests) if isinstance(node, ast.stmt))
    around = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
    innermost = max(around, key=lambda node: node.lineno, default=None)
    return "" if innermost is None else ast.unparse(innermost).partition("\n")[0][:_SHOWN]


def finish(report: JobReport, peer: TrustedPeer) -> None:
    if report.passed:
        try:
            if peer.request("ping", 1) != 1:
                report.fail("the candidate's process did not answer after the tests")
        except BaseException:  # noqa: BLE001
            report.fail(peer.broken or "the candidate's process did not answer after the tests")
    if peer.broken:
        report.fail(peer.broken)
    if peer.refused:
        report.refuse(peer.refused)
    if not peer.text.words.isdisjoint(_TASKS):
        gc.collect()  # a task of which nobody asked what became says so as it goes
    if peer.listening and not peer.text.words.isdisjoint(_WAITS):
        peer.differs("what a thread changes in a list or the like the other side sees when it is next called")
    if peer.listening and peer.turns is not None:
        peer.differs("while the tests use files that they wrote its threads stand still, until they call it or sleep")
    if not peer.text.words.isdisjoint(_OF_PYPLOT):
        peer.differs("pyplot has figures of its own in each process: ask the axes that are returned")
    peer.settle(at_end=True)
    if peer.failed is not None:
        report.fail(
            f"a check of the tests failed, or was kept from being made, within the candidate's call: {describe(peer.failed)}"
        )
    if _OF_IDENTITY.search(report.reason) or (report.reason and peer.text.by_identity):
        peer.differs("of numbers, texts and tuples an equal one crosses, not the same")
    if _OF_METHODS.search(report.reason):
        peer.differs("what a special method of the candidate's class says of itself is not shown to the tests")
    if report.reason and "__file__" in peer.text.words and "sys" not in peer.text.words:  # else it is for `sys.path`
        peer.differs("the tests' own file is not there for the candidate, nor to be read")
    if "length_hint(" in report.reason:
        peer.differs("`__length_hint__` of what is the candidate's is not asked")
    if report.reason:
        report.passed = False
        report.explain(peer.differences())
    if report.passed:
        report.status = "passed"
    elif peer.limits_hit:
        report.status, report.limit = "limit", peer.limits_hit[-1]


def _namespace(job: JobMessage, peer: TrustedPeer, asked: set[str]) -> dict[str, object]:
    """Load the candidate and return a namespace with those of its names that the tests mention.

    Class statements of the setup that describe what the candidate is given (``ListNode``) are the candidate's to see.
    """
    shown, setup, classes = plain_classes(job["setup"])
    peer.under_test |= classes
    entry = entry_name(job["entry_point"])
    module, (defined, *_) = peer.load(job["candidate"], job["module"], shown)
    text = job["tests"] if isinstance(job["tests"], str) else "\n".join(job["tests"])
    # a module, for what looks a class's own up by its name: a dataclass whose annotation is a text
    own = sys.modules["tests"] = types.ModuleType("tests")
    namespace: dict[str, object] = vars(own)
    # a candidate's own function of the name `check` must not stand in for the tests'
    asked = (asked | classes) - ({"check"} if job["format"] == "humaneval" else set())
    for taken in visible.taken(peer, module, defined, text, asked, job["candidate"], entry=entry):
        namespace.update(taken)
    if setup.strip():
        exec(compiled(setup, "setup.py"), namespace)  # noqa: S102
    return namespace


def entry_object(entry_point: str, namespace: dict[str, Any]) -> object:
    """What check is given: a name, or a method by way of its class, ``Solution().topK``."""
    first, *rest = entry_point.split(".")
    found = namespace[entry_name(first)]
    if first.rstrip().endswith("()"):
        found = found()
    for part in rest:
        if not part.isidentifier() or part.startswith("_"):
            raise AttributeError(part)
        found = getattr(found, part)
    return found


def _check(
    job: JobMessage, codes: list[types.CodeType], namespace: dict[str, Any], report: JobReport, progress: Progress
) -> None:
    if entry_name(job["entry_point"]) not in namespace:
        report.fail(f"the candidate does not define {entry_name(job['entry_point'])}")
        return
    candidate = entry_object(job["entry_point"], namespace)

    def count() -> None:
        report.tests_passed = min(report.tests_passed + 1, report.tests_total)
        progress(report.tests_passed, report.tests_total)

    namespace[_MARK] = count
    exec(codes[0], namespace)  # noqa: S102
    check = namespace.get("check")
    if type(check) is not types.FunctionType:
        report.status = "error"
        report.fail("the tests define no function check(candidate)")
        return
    check(candidate)
    report.tests_passed = report.tests_total
    report.passed = True


def _on_lines_of_their_own(setup: str, tests: list[str]) -> Iterator[str]:
    """The tests with empty lines above them: no line of one has the number of another's, or of the setup's."""
    above = setup.count("\n") + 1
    for test in tests:
        yield "\n" * above + test
        above += test.count("\n") + 1


def _asserts(
    job: JobMessage, codes: list[types.CodeType], namespace: dict[str, Any], report: JobReport, progress: Progress
) -> None:
    tests = [test.strip()[:_SHOWN] for test in job["tests"]]
    each = ((test, partial(exec, code, namespace)) for test, code in zip(tests, codes, strict=True))
    run_each(each, report, progress, describe)
    report.passed = report.tests_total > 0 and report.tests_passed == report.tests_total
    if not tests:
        report.fail("there are no tests")
