"""The contract of a sandbox backend as one pytest class: subclass it in a package's tests, and every rule is tested.

from grpo_rewards_sandbox.testing import BackendContract

class TestMine(BackendContract):
    backend = "mine"
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from . import Backend, Checker, Job, Limits, Sandbox, SandboxUnavailable, Verdict, open_sandbox, pack_calls

__all__ = ["ESCAPES", "FORGERIES", "BackendContract"]

# the wrong one is right for 2: only the second case tells them apart
_RIGHT, _WRONG = "def double(x):\n    return 2 * x\n", "def double(x):\n    return x + 2\n"
_CASES = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]
# takes small letters for capital ones, as the comparison without a checker does not
_CHECKER = "import sys\n_, answer, output = (open(path).read().lower().split() for path in sys.argv[1:])\nprint(int(answer == output))\n"
_TESTS: dict[str, str | list[object]] = {
    "asserts": ["assert double(2) == 4", "assert double(5) == 10"],
    "humaneval": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n",
    "pytest": "from solution import double\n\ndef test_a():\n    assert double(2) == 4\n\ndef test_b():\n    assert double(5) == 10\n",
    "calls": [{"arguments": [2], "result": 4}, {"arguments": [5], "result": 10}],
}
FORGERIES: Mapping[str, str] = {
    "exits": "import os\ndef double(x):\n    os._exit(0)\n",
    "exits while it is loaded": "import sys\nsys.exit(0)\n",
    "equals everything": (
        "class Any(int):\n    __eq__ = lambda self, other: True\n    __ne__ = lambda self, other: False\n    __hash__ = int.__hash__\n"
        "def double(x):\n    return Any()\n"
    ),
    "patches builtins": "import builtins\nbuiltins.AssertionError = SystemExit\ndef double(x):\n    return None\n",
    "skips": "import unittest\ndef double(x):\n    raise unittest.SkipTest('x')\n",
    "writes every descriptor": (
        "import os\ndef double(x):\n    for fd in range(64):\n        try:\n            os.write(fd, b'{\"passed\": true}\\n')\n"
        "        except OSError:\n            pass\n"
    ),
    "reads the tests": (
        "import sys\ndef double(x):\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):\n"
        "            if type(value) is list and len(value) == 2 and '10' in str(value):\n                return {2: 4, 5: 10}[x]\n"
        "        frame = frame.f_back\n    return None\n"
    ),
}
"""Programs that want ``passed`` without solving the task."""
ESCAPES: Mapping[str, str] = {
    "reads a host's secret": "open('/etc/shadow').read()",
    "opens a connection": "__import__('socket').create_connection(('127.0.0.1', 9), 1)",
    "reads the environment": "__import__('os').environ['GRPO_REWARDS_CONTRACT']",
    "writes beside the system": "open('/usr/lib/contract', 'w')",
}
"""Expressions that must raise where a candidate runs."""


class BackendContract:
    """What every backend must keep; set `backend`, and pytest does the rest.

    `backend` is a name that `open_sandbox` takes, and `options` are its options. The backend must run Python programs with
    every format of tests. A subclass may add tests, or set one that does not fit to None with a comment that says why.
    """

    backend: ClassVar[str]
    options: ClassVar[Mapping[str, object]] = {}

    @pytest.fixture(scope="class")
    @classmethod
    def sandbox(cls) -> Iterator[Sandbox]:
        """A sandbox of the backend with two workers; skips loudly where it cannot be had."""
        # the fixture monkeypatch is for one test, this sandbox for a class
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GRPO_REWARDS_CONTRACT", "a secret of this process")
            try:
                opened = open_sandbox(cls.backend, workers=2, **cls.options)
            except SandboxUnavailable as error:
                pytest.skip(f"NO TESTS OF THE {cls.backend.upper()} SANDBOX RAN: {error}")
            with opened:
                yield opened

    def _job(self, program: str, format: str = "asserts", **more: Any) -> Job:
        return Job(program, _TESTS[format], format, entry_point="double", **more)

    def test_it_is_a_backend_that_says_what_it_keeps_apart(self, sandbox: Sandbox) -> None:
        assert isinstance(sandbox._backend, Backend)
        assert sandbox.backend == sandbox._backend.name
        assert sandbox.description.strip()
        assert "\n" not in sandbox.description

    @pytest.mark.parametrize("format", _TESTS)
    def test_a_right_program_passes_and_a_wrong_one_fails(self, sandbox: Sandbox, format: str) -> None:
        right, wrong = sandbox.run([self._job(_RIGHT, format), self._job(_WRONG, format)])
        assert (right.status, right.tests_passed, right.tests_total) == ("passed", right.tests_total, right.tests_total)
        assert wrong.status == "failed"
        assert wrong.reason

    def test_calls_that_were_packed_are_judged_alike(self, sandbox: Sandbox) -> None:
        tests = list(zip(pack_calls([[2], [5]]), ("4", "10"), strict=True))
        verdicts = sandbox.run([Job(program, tests, "calls", entry_point="double") for program in (_RIGHT, _WRONG)])
        assert [(said.status, said.tests_passed) for said in verdicts] == [("passed", 2), ("failed", 1)]

    def test_a_program_reads_and_writes(self, sandbox: Sandbox) -> None:
        programs = ("print(int(input()) * 2)", "input()\nprint(4)", "1 / 0")
        verdicts = sandbox.run([Job(program, _CASES, "stdio") for program in programs])
        assert [(said.status, said.tests_passed) for said in verdicts] == [("passed", 2), ("failed", 1), ("failed", 0)]

    def test_a_checker_decides_where_there_is_one(self, sandbox: Sandbox) -> None:
        cases = [{"input": "2\n", "output": "Four 4\n"}]
        checker = Checker(_CHECKER, "python", "codeforces")
        programs = ("print('FOUR 4')", "print('five 4')")
        verdicts = sandbox.run([Job(program, cases, "stdio", checker=checker) for program in programs])
        assert [said.status for said in verdicts] == ["passed", "failed"]

    def test_verdicts_come_in_the_order_of_jobs(self, sandbox: Sandbox) -> None:
        verdicts = sandbox.run([self._job(program) for program in (_RIGHT, _WRONG) * 4])
        assert [said.status for said in verdicts] == ["passed", "failed"] * 4

    @pytest.mark.parametrize("format", ["asserts", "pytest"])
    @pytest.mark.parametrize("name", FORGERIES)
    def test_no_verdict_is_forged(self, sandbox: Sandbox, name: str, format: str) -> None:
        (said,) = sandbox.run([self._job(FORGERIES[name], format, timeout=5.0)])
        assert said.status in ("failed", "error", "limit", "timeout"), said

    @pytest.mark.parametrize("name", ESCAPES)
    def test_nothing_outside_is_reached(self, sandbox: Sandbox, name: str) -> None:
        program = f"def double(x):\n    try:\n        {ESCAPES[name]}\n    except Exception:\n        return 2 * x\n"
        (said,) = sandbox.run([self._job(program)])
        assert said.passed, said

    def test_a_job_leaves_nothing_for_the_next(self, sandbox: Sandbox) -> None:
        leaves = (
            "import builtins, tempfile\nbuiltins.left = 1\nopen(tempfile.gettempdir() + '/left', 'w').close()\n"
            + _RIGHT
        )
        finds = (
            "import builtins, os, tempfile\nassert not hasattr(builtins, 'left')\n"
            "assert not os.path.exists(tempfile.gettempdir() + '/left')\n" + _RIGHT
        )
        said = sandbox.run([self._job(program) for program in [leaves] * 4 + [finds] * 4])
        assert [verdict.status for verdict in said] == ["passed"] * 8

    @pytest.mark.parametrize(
        "body", ["while True:\n        pass", "__import__('time').sleep(60)"], ids=["runs", "sleeps"]
    )
    def test_what_does_not_end_is_a_timeout(self, sandbox: Sandbox, body: str) -> None:
        (said,) = sandbox.run([self._job(f"def double(x):\n    {body}\n", timeout=1.0)])
        assert said.status == "timeout"

    def test_what_takes_too_much_is_the_candidates_own_failure(self, sandbox: Sandbox) -> None:
        greedy = "def double(x):\n    held = [bytearray(1 << 24) for _ in range(1 << 10)]\n    return 2 * x\n"
        (said,) = sandbox.run([self._job(greedy, limits=Limits(memory=256 << 20))])
        assert said.status in ("limit", "failed"), said

    def test_tests_that_cannot_be_judged_are_refused(self, sandbox: Sandbox) -> None:
        runs = "import subprocess\nfrom solution import double\n\ndef test_a():\n    subprocess.run(double('id'), shell=True)\n"
        (said,) = sandbox.run([Job(_RIGHT, runs, "pytest")])
        assert said.status == "refused", said

    def test_closing_ends_what_runs(self) -> None:
        opened = open_sandbox(self.backend, workers=1, **self.options)
        verdicts: list[Verdict] = []
        started = threading.Event()

        def judge() -> None:
            started.set()
            verdicts.extend(opened.run([self._job("__import__('time').sleep(300)\n", timeout=200.0)] * 2))

        thread = threading.Thread(target=judge)
        thread.start()
        started.wait()
        opened.close()
        thread.join(60)
        assert not thread.is_alive()
        # closed before the jobs were taken up, it raises in that thread
        assert all(said.status == "unavailable" for said in verdicts)
        with pytest.raises(SandboxUnavailable):
            opened.run([self._job(_RIGHT)])

    def test_an_option_that_there_is_not_is_refused_by_name(self) -> None:
        with pytest.raises(ValueError, match="no_such_option"):
            open_sandbox(self.backend, workers=1, **{**self.options, "no_such_option": 1})
