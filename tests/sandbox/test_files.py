"""Files of tests and candidate: both work in one folder, follow no links there, and find an environment's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, Sandbox

READER = "def read(name):\n    with open(name) as file:\n        return file.read()\n"
WRITER = "def write(name, text):\n    with open(name, 'w') as file:\n        file.write(text)\n"
READS = "with open('in.txt', 'w') as file:\n    file.write('abc')\nassert S.read('in.txt') == 'abc'"
WRITES = "import os\nS.write('out.txt', 'abc')\nassert os.path.exists('out.txt') and open('out.txt').read() == 'abc'"
WRONG = "def read(name): return 'ab'\ndef write(name, text): pass\n"


def _jobs(candidate: str, tests: str) -> list[Job]:
    """The same tests as a file of pytest, as a check and as asserts."""
    body = "\n    ".join(tests.splitlines())
    bare = tests.replace("S.", "")
    check = f"def check(candidate):\n    {body.replace('S.read', 'candidate').replace('S.write', 'candidate')}\n"
    return [
        Job(candidate, f"import solution as S\ndef test_it():\n    {body}\n", "pytest"),
        Job(candidate, check, "humaneval", entry_point="read" if "S.read" in tests else "write"),
        Job(candidate, [bare], "asserts"),
    ]


@pytest.mark.parametrize(("candidate", "tests"), [(READER, READS), (WRITER, WRITES)], ids=["read", "written"])
def test_a_file_without_a_folder_is_the_same_for_both(sandbox: Sandbox, candidate: str, tests: str) -> None:
    found = sandbox.run([*_jobs(candidate, tests), *_jobs(WRONG, tests)])
    assert [one.status for one in found] == ["passed"] * 3 + ["failed"] * 3, found


@pytest.mark.parametrize("opens", ["open('/data/x.csv')", "Path('/root/x').read_text()", "open('/etc/passwd', 'rb')"])
def test_a_file_of_another_machine_is_refused(sandbox: Sandbox, opens: str) -> None:
    tests = f"from pathlib import Path\nfrom solution import read\ndef test_it():\n    assert read({opens})\n"
    (found,) = sandbox.run([Job(READER, tests, "pytest")])
    assert found.status == "refused"
    assert opens.split("'")[1] in found.reason


def test_classes_that_are_made_by_calls_work_beside_files(sandbox: Sandbox) -> None:
    tests = (
        "import collections, dataclasses\nfrom solution import read\ndef test_it(tmp_path):\n"
        "    P = collections.namedtuple('P', 'x')\n    D = dataclasses.make_dataclass('D', ['y'])\n"
        "    (tmp_path / 'f').write_text('a')\n    assert (P(read(tmp_path / 'f')).x, D(1).y) == ('a', 1)\n"
    )
    (found,) = sandbox.run([Job(READER, tests, "pytest")])
    assert found.passed, found


def test_tests_follow_no_link_of_the_candidate(sandbox: Sandbox) -> None:
    # a look at a path says nothing of its use a moment later: what a link leads to cannot be reached at all
    candidate = (
        "import os\ndef link(path):\n    try:\n        os.symlink('/dev/null', path)\n    except OSError: pass\n"
    )
    tests = (
        "import os\nfrom solution import link\ndef test_it(tmp_path):\n    path = str(tmp_path / 'x')\n    link(path)\n"
    )
    (found,) = sandbox.run([Job(candidate, tests + "    assert not os.path.exists(path)\n", "pytest")])
    assert found.passed, found


def test_the_candidate_may_move_and_remove_what_the_tests_wrote(sandbox: Sandbox) -> None:
    """Also in a folder that they moved meanwhile, and they may write to what it made."""
    candidate = (
        "import os\ndef write(path):\n    with open(path, 'a') as file:\n        file.write('a')\n"
        "def rename(path):\n    os.rename(path, str(path) + '2')\ndef remove(path):\n    os.remove(path)\n"
    )
    tests = (
        "import os\nfrom solution import remove, rename, write\ndef test_it(tmp_path):\n    one, two = tmp_path / 'one', tmp_path / 'two'\n"
        "    one.mkdir()\n    (one / 'x').write_text('x')\n    (one / 'y').write_text('y')\n    os.rename(one, two)\n    remove(two / 'x')\n"
        "    rename(two / 'y')\n    assert os.listdir(two) == ['y2']\n    write(two / 'made')\n    (two / 'own').write_text('z')\n"
        "    with open(two / 'made', 'a') as file:\n        file.write('b')\n    assert (two / 'made').read_text() == 'ab'\n"
    )
    assert sandbox.run([Job(candidate, tests, "pytest")])[0].passed


def test_a_pool_that_nobody_closes_ends_with_its_program(sandbox: Sandbox) -> None:
    program = (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
        "print(sum(pool.map(int, input().split())))\n"
    )
    (found,) = sandbox.run([Job(program, [{"input": "1 2", "output": "3\n"}], "stdio", timeout=5.0)])
    assert found.passed, found


SCRIPT = """
from grpo_rewards_sandbox import Job, open_sandbox
import numpy
assert numpy.__file__.startswith("/tmp/"), numpy.__file__
candidate = "import numpy\\ndef f(n):\\n    assert numpy.__file__.startswith('/tmp/')\\n    return numpy.arange(n).sum()\\n"
with open_sandbox("local", workers=1) as sandbox:
    for verdict in sandbox.run([Job(candidate, ["assert f(4) == 6"], "asserts"), Job(candidate,
                               "from solution import f\\ndef test_f(tmp_path): assert f(4) == 6\\n", "pytest")]):
        print(verdict.status, verdict.reason)
"""


@pytest.mark.slow
def test_an_environment_below_tmp_is_there_for_jobs() -> None:
    numpy = pytest.importorskip("numpy")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = f"{folder}/bin/python"
        purelib = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        assert purelib.startswith("/tmp/")
        theirs = Path(numpy.__file__).parent
        for part in (theirs, theirs.with_name("numpy.libs")):
            if part.exists():
                shutil.copytree(part, f"{purelib}/{part.name}", ignore=shutil.ignore_patterns("tests", "__pycache__"))
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join([purelib, *(p for p in sys.path if p), sysconfig.get_path("purelib")]),
        }
        done = subprocess.run(
            [python, "-c", SCRIPT], env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=120
        )
    assert done.stdout.split() == ["passed", "passed"], done
