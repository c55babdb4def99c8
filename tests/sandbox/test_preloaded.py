"""Libraries that fork servers import once for the jobs that name them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, open_sandbox
from grpo_rewards_sandbox.backends.local import backend as local

pytest.importorskip("pandas")
SESSION = (
    "import unittest\n{0}from solution import *\nclass T(unittest.TestCase):\n    def test_a(self):\n        {1}\n"
)
THERE = "import sys\ndef there():\n    return 'numpy' in sys.modules\n"
# what its memory holds, but for files
SCAN = """
import ctypes, re
{0}
KEPT = "".join(["PURPLE_", "ELEPHANT_", "abcdefgh"])
def found():
    sought, seen = re.compile(b"PURPLE_" + b"ELEPHANT_([a-z]{{8}})"), set()
    for line in open("/proc/self/maps"):
        place, rights, *_ = line.split()
        if rights.startswith("rw") and "[vvar" not in line and "[vsys" not in line:
            begin, end = (int(part, 16) for part in place.split("-"))
            seen.update(sought.findall(ctypes.string_at(begin, end - begin)))
    return sorted(part.decode() for part in seen)
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox("local", workers=1)
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF LIBRARIES THAT ARE IMPORTED ONCE RAN: {error}")
    with opened:
        yield opened


def job(program: str, check: str, imports: str = "", **more: object) -> Job:
    return Job(program, SESSION.format(imports, check), "pytest", **more)  # type: ignore[arg-type]


def test_a_library_is_there_for_the_jobs_that_name_it_and_for_no_other(worker: Sandbox) -> None:
    named, not_named = "import numpy\n" + THERE, THERE
    jobs = [
        job(named, "self.assertTrue(there())"),
        job(not_named, "self.assertFalse(there())"),
        job(not_named, "self.assertTrue(there())", "import numpy\n"),
        job(not_named, "self.assertTrue(there())", "import numpy\n", fidelity="shared"),
        Job(named, ["assert there()"], "asserts"),
        Job(not_named, ["assert not there()"], "asserts"),
    ]
    assert [one.reason for one in worker.run(jobs)] == [""] * len(jobs)


def test_what_is_imported_for_a_job_does_not_say_what_its_values_are(worker: Sandbox) -> None:
    """Tests that do not name numpy see Python's scalars, whoever imported numpy in their process before."""
    program = "import numpy as np\ndef f(n):\n    return np.bool_(n > 2)\n"
    asserts = Job(program, ["assert f(3) is True"], "asserts")
    brings_numpy = Job(
        "import numpy as np\ndef f(n):\n    return np.zeros(n)\n", ["assert f(3) is not None"], "asserts"
    )
    jobs = [asserts, brings_numpy, asserts, *[job(program, "self.assertIs(f(3), True)")] * 2]
    assert [one.reason for one in worker.run(jobs)] == [""] * len(jobs)


def test_no_two_jobs_draw_alike(worker: Sandbox) -> None:
    program = "import numpy as np\ndef draw():\n    return np.random.random()\n"
    drawing = job(program, "self.fail((draw(), np.random.random()))", "import numpy as np\n")
    drawn = re.findall(r"0\.\d+", " ".join(one.reason for one in worker.run([drawing, drawing])))
    assert len(set(drawn)) == 4


@pytest.mark.parametrize("library", ["", "import numpy"])
def test_no_candidate_has_the_tests_of_an_earlier_job_in_its_memory(worker: Sandbox, library: str) -> None:
    secret = job("one = 1\n", "self.assertEqual('PURPLE_ELEPHANT_ijklmnop' * one, 'PURPLE_ELEPHANT_ijklmnop')")
    scan = job(SCAN.format(library), "self.assertEqual(found(), ['abcdefgh'])")
    # another library than the last, so that its fork server begins after the secret was read
    other = job("import pandas\none = 1\n", "self.assertEqual(one, 1)")
    assert [one.reason for one in worker.run([other, secret, scan])] == ["", "", ""]


def test_libraries_are_given_back_where_no_job_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    sooner = local._LAUNCH.replace("; main()", "; main.__globals__['_IDLE'] = 0.2; main()")
    monkeypatch.setattr(local, "_LAUNCH", sooner)
    using = job("import numpy\n" + THERE, "self.assertTrue(there())")
    with open_sandbox("local", workers=1) as opened:
        supervisor: Any = next(iter(opened._live))
        children = Path(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children")
        before = len(children.read_text().split())
        assert opened.run([using])[0].passed
        until = time.monotonic() + 20
        while len(children.read_text().split()) > before and time.monotonic() < until:
            time.sleep(0.05)
        assert len(children.read_text().split()) == before
        assert opened.run([using])[0].passed


@pytest.mark.parametrize("breaks", ["raise ImportError('half of it is missing')", "import os\nos._exit(3)"])
def test_a_library_that_breaks_where_it_is_imported_is_left_to_the_jobs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, breaks: str
) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(breaks, encoding="utf-8")
    monkeypatch.setattr(local, "site_packages", lambda: [str(tmp_path)])
    tmp_path.chmod(0o755)
    program = "def f(x):\n    return 2 * x\ndef g():\n    import numpy\n"
    with open_sandbox("local", workers=1) as opened:
        verdicts = opened.run([job(program, "self.assertEqual(f(2), 4)")] * 2 + [job(program, "g()")])
    assert [one.status for one in verdicts] == ["passed", "passed", "failed"]
