"""Each row of the table in docs/sandbox.md: honest programs that pass, and others that do not, though some would elsewhere."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, Sandbox

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"
EQUALS_ALL = "class Wild:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__\n"
VECTOR = (
    "class Vector:\n"
    "    def __init__(self, x, y): self.x, self.y = x, y\n"
    "    def __mul__(self, k): return Vector(self.x * k, self.y * k)\n"
    "    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)\n"
    "    def __eq__(self, other): return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)\n"
    "    def __lt__(self, other): return self.x < other.x\n"
    "    def __hash__(self): return hash((self.x, self.y))\n"
)
ROWS_OBJECT = (
    "class Rows:\n"
    "    def __iter__(self): return iter([1, 2])\n"
    "    def __getitem__(self, at): return [1, 2][at]\n"
    "    def __enter__(self): return 5\n"
    "    def __exit__(self, *args): pass\n"
    "    def __call__(self): return 7\n"
    "def rows(): return Rows()\n"
)
ABSORBS = (
    "class Vector:\n"
    "    def __init__(self, *args): self.x = 0\n"
    "    def __eq__(self, other): return True\n"
    "    def __lt__(self, other): return True\n"
    "    def __mul__(self, k): return self\n"
    "    __add__ = __sub__ = __mul__\n"
    "    def __abs__(self): return 0\n"
    "    __hash__ = object.__hash__\n"
)
SEQUENCE = (
    "from collections.abc import Sequence\n"
    "class Seen(Sequence):\n"
    "    def __init__(self, values): self.values = values\n"
    "    def __len__(self): return len(self.values)\n"
)


@dataclass(frozen=True)
class Case:
    """Tests, a program that they were written for, and others: an attack passes where nothing stands between the two."""

    tests: str | list[str]
    honest: str
    attack: str = ""
    wrong: str = ""
    classes: tuple[str, ...] = ()
    status: str = "passed"
    package: str = ""

    def job(self, candidate: str, fidelity: str = "isolated") -> Job:
        """A job of the format that the tests have."""
        format = "pytest" if isinstance(self.tests, str) else "asserts"
        return Job(candidate, self.tests, format, timeout=20.0, fidelity=fidelity, classes=self.classes)


def file(*lines: str, top: str = "", test: str = "def test_a():") -> str:
    """A pytest file with one test of these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"import pytest\nimport solution as S\n{top}{test}\n{body}"


NUMPY = "import numpy as np\n"
PANDAS = "import pandas as pd\n"
ROWS: dict[str, list[Case]] = {
    "value of a builtin type": [
        Case(
            ["assert f(2) == {'a': [2, (4, None)], 'b': {2}}", "assert f(3)['a'][1] == (6, None)"],
            "def f(x): return {'a': [x, (2 * x, None)], 'b': {x}}\n",
            EQUALS_ALL + "def f(x): return {'a': [Wild(), Wild()], 'b': Wild()}\n",
        ),
        Case(
            ["from collections import Counter", "assert f('aab') == Counter({'a': 2, 'b': 1})"],
            "from collections import Counter\ndef f(text): return Counter(text)\n",
            "from unittest import mock\ndef f(text): return mock.ANY\n",
        ),
    ],
    "object of a class derived from a builtin": [
        Case(
            ["assert f(2) == 4", "assert f(3) > 5"],
            "class Number(int): pass\ndef f(x): return Number(2 * x)\n",
            "class Number(int):\n    def __eq__(self, other): return True\n    __gt__ = __eq__\n    __hash__ = int.__hash__\n"
            "def f(x): return Number(0)\n",
        ),
        Case(
            ["assert f(2)['a'] == 2"],
            "class Table(dict): pass\ndef f(x): return Table(a=x)\n",
            "class Table(dict):\n    def __getitem__(self, key): return 2\ndef f(x): return Table(a=7)\n",
        ),
        Case(
            ["assert len(Pairs([1, 2])) == 4", "assert Pairs([1, 2]) == [1, 2]"],
            "class Pairs(list):\n    def __len__(self): return 2 * list.__len__(self)\n",
            "class Pairs(list):\n    def __len__(self): return 4\n    def __init__(self, *args): pass\n"
            "    def __eq__(self, other): return True\n",
            classes=("Pairs",),
        ),
    ],
    "value of numpy, pandas or torch": [
        Case(
            file("assert S.f(3).dtype == np.int64", "assert np.array_equal(S.f(3), [0, 1, 2])", top=NUMPY),
            NUMPY + "def f(n): return np.arange(n)\n",
            NUMPY + "class Wild(np.ndarray):\n    def __array_function__(self, *args, **named): return True\n"
            "    def __eq__(self, other): return True\ndef f(n): return np.zeros(n, np.int64).view(Wild)\n",
            package="numpy",
        ),
        Case(
            file("np.testing.assert_array_equal(S.f(3), [0, 1, 2])", top=NUMPY),
            NUMPY + "def f(n): return np.arange(n)\n",
            NUMPY + "def f(n): return np.ma.masked_array([7] * n, mask=[True] * n)\n",
            wrong=NUMPY + "def f(n): return np.ma.masked_array([7] * n, mask=[False] * n)\n",
            package="numpy",
        ),
        Case(
            file("assert (S.f(3) == np.array([0, 1, 2])).all()", top=NUMPY),
            NUMPY + "def f(n): return np.array(list(range(n)), dtype=object)\n",
            NUMPY + EQUALS_ALL + "def f(n): return np.array([Wild() for _ in range(n)], dtype=object)\n",
            package="numpy",
        ),
        Case(
            file("assert S.f().equals(pd.DataFrame({'a': [1, 2]}))", top=PANDAS),
            PANDAS + "def f(): return pd.DataFrame({'a': [1, 2]})\n",
            PANDAS + "class Wild(pd.DataFrame):\n    def equals(self, other): return True\ndef f(): return Wild({'a': [1]})\n",
            package="pandas",
        ),
    ],
    "named tuple": [
        Case(
            ["assert f(1) == (1, 2)", "assert f(1).y == 2", "assert f(1)._asdict() == {'x': 1, 'y': 2}"],
            "from collections import namedtuple\nPair = namedtuple('Pair', 'x y')\ndef f(x): return Pair(x, x + 1)\n",
            "from collections import namedtuple\nclass Pair(namedtuple('Pair', 'x y')):\n"
            "    def __eq__(self, other): return True\n    y = 2\n    def _asdict(self): return {'x': 1, 'y': 2}\n"
            "def f(x): return Pair(0, 0)\n",
        )
    ],
    "member of an enumeration": [
        Case(
            ["assert f() is Color.RED", "assert f().name == 'RED'", "assert Color(1) is Color.RED", "assert f() != 1"],
            "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\ndef f(): return Color.RED\n",
            wrong="from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\n    def __eq__(self, other): return True\n"
            "    __hash__ = object.__hash__\ndef f(): return Color.BLUE\n",
        ),
        Case(
            ["assert f() == 1"],
            "from enum import IntEnum\nclass Color(IntEnum):\n    RED = 1\ndef f(): return Color.RED\n",
            "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    def __eq__(self, other): return True\n"
            "    __hash__ = object.__hash__\ndef f(): return Color.RED\n",
        ),
    ],
    "match of a regular expression": [
        Case(
            ["assert f('a12').group() == '12'", "assert f('a12').span() == (1, 3)", "assert f('a') is None"],
            "import re\ndef f(text): return re.search(r'[0-9]+', text)\n",
            EQUALS_ALL + "class Match:\n    def group(self): return Wild()\n    span = group\n"
            "def f(text): return Match() if len(text) > 1 else None\n",
        )
    ],
    "exception": [
        Case(
            file("with pytest.raises(S.Missing, match='no such') as caught:", "    S.f()", "assert caught.value.code == 4",
                 "with pytest.raises(KeyError):", "    S.f()"),
            "class Missing(KeyError):\n    code = 0\n    def __str__(self): return 'no such'\n"
            "def f():\n    error = Missing()\n    error.code = 4\n    raise error\n",
            "class Missing(ValueError, KeyError):\n    code = 0\n    def __str__(self): return 'no such'\n"
            "def f():\n    error = Missing()\n    error.code = 4\n    raise error\n",
        ),
        Case(
            file("with pytest.raises(KeyError):", "    S.f(1)", "with pytest.raises(TypeError):", "    S.f('')"),
            "def f(x): raise TypeError if x == '' else KeyError\n",
            "class Both(KeyError, TypeError): pass\ndef f(x): raise Both\n",
        ),
        Case(
            file("for kind in (OSError, ValueError):", "    with pytest.raises(kind):", "        S.f()"),
            "import io\ndef f(): raise io.UnsupportedOperation\n",
            wrong="def f(): raise OSError\n",
        ),
        Case(
            file("for got, want in zip(map(S.f, [1, 2]), [2, 4]):", "    assert got == want"),
            "def f(x): return 2 * x\n",
            "def f(x): raise StopIteration\n",
        ),
        Case(file("assert S.f(2) == 4"), "def f(x): return 2 * x\n", wrong="import pytest\ndef f(x): pytest.skip('no')\n"),
    ],
    "object of a class under test, against plain data": [
        Case(
            ["assert Vector(1, 2) != (1, 2)", "assert Vector(1, 2) not in [None, 1, 'x']"],
            VECTOR, classes=("Vector",),
        ),
        Case(
            ["assert total(Vector(1, 2)) == 3"],
            VECTOR + "def total(v): return v.x + v.y\n",
            ABSORBS + "def total(v): return v\n",
            classes=("Vector",),
        ),
        Case(
            ["assert total(Vector(1, 2)) < 4"],
            VECTOR + "def total(v): return v.x + v.y\n",
            ABSORBS + "def total(v): return v\n",
            classes=("Vector",),
        ),
        Case(["assert (make() * 2).x == 2"], VECTOR + "def make(): return Vector(1, 2)\n", classes=("Vector",), status="failed"),
    ],
    "object of a class under test, against its like": [
        Case(
            ["assert Vector(1, 2) + Vector(1, 0) == Vector(2, 2)", "assert len({Vector(1, 2), Vector(1, 2)}) == 1",
             "assert [v.x for v in sorted([Vector(2, 0), Vector(1, 0)])] == [1, 2]", "assert Vector(1, 2) != Vector(2, 2)"],
            VECTOR, wrong=ABSORBS, classes=("Vector",),
        )
    ],
    "object of a class under test, after an operator with plain data": [
        Case(
            ["assert (Vector(2, 3) * 3).x == 6", "assert Vector(2, 3) * 3 == Vector(6, 9)"],
            VECTOR, wrong=ABSORBS, classes=("Vector",),
        ),
        Case(
            ["assert abs(area(Vector(1, 5)) - 78.5) < 0.1"],
            VECTOR + "def area(v): return 3.14 * v.y ** 2\n",
            ABSORBS + "def area(v): return v\n",
            classes=("Vector",),
        ),
        Case(["assert f(Vector(1, 5)) - 5 == 0"], VECTOR + "def f(v): return v.y\n",
             ABSORBS.replace("return self\n", "return 0\n") + "def f(v): return v\n", classes=("Vector",)),
    ],
    "object of another class": [
        Case(
            ["got = f([30, 10, 20])", "assert got and len(got) == 3", "assert all(got[at] <= got[at + 1] for at in range(2)) and 10 in got and 30 in got"],
            SEQUENCE + "    def __getitem__(self, at): return sorted(self.values)[at]\ndef f(values): return Seen(values)\n",
            SEQUENCE + "    def __getitem__(self, at):\n        self.asked = getattr(self, 'asked', 0) + 1\n"
            "        return self.asked if self.asked < 5 else self.values[self.asked % 3]\ndef f(values): return Seen(values)\n",
            wrong=SEQUENCE + "    def __getitem__(self, at): return self.values[at]\ndef f(values): return Seen(values)\n",
        ),
        Case(
            ["assert build([1, 2]).next.val == 2", "assert build([1, 2]).next.next == None", "assert list(rows()) == [1, 2]",
             "assert rows()[1] == 2", "with rows() as entered: assert entered == 5", "assert rows()() == 7"],
            ROWS_OBJECT + "class Node:\n    next = None\n    def __init__(self, val): self.val = val\n"
            "def build(values):\n    head = Node(values[0])\n    head.next = Node(values[1])\n    return head\n",
            ROWS_OBJECT + EQUALS_ALL + "class Node:\n    val = next = Wild()\n"
            "def build(values):\n    head = Node()\n    head.next = Node()\n    return head\n",
        ),
        Case(
            ["import contextlib", "with contextlib.suppress(BaseException):\n    assert f(2) == 4", "assert f(2) in [4]"],
            "def f(x): return 2 * x\n",
            EQUALS_ALL + "def f(x): return Wild()\n",
        ),
    ],
    "container that both sides hold": [
        Case(
            ["rows = [[1], [2]]\ncopy = f(rows)\ncopy[0].append(9)\nassert rows[0] == [1] and copy[0] == [1, 9]"],
            "def f(rows): return [list(row) for row in rows]\n",
            wrong="def f(rows): return list(rows)\n",
        ),
        Case(
            ["stack = Stack()\nstack.items.append(3)\nassert stack.pop() == 3 and stack.items == []",
             "items = [1]\nassert Stack().keep(items) is items"],
            "class Stack:\n    def __init__(self): self.items = []\n    def pop(self): return self.items.pop()\n"
            "    def keep(self, items): return items\n",
            wrong="class Stack:\n    def __init__(self): self.items = []\n    def pop(self): return self.items.pop()\n"
            "    def keep(self, items): return list(items)\n",
        ),
    ],
    "object of a library's class": [
        Case(
            ["import configparser", "config = f()\nassert isinstance(config, configparser.ConfigParser) and len(config) == 1",
             "assert f().sections() == []"],
            "import configparser\ndef f(): return configparser.ConfigParser()\n",
            EQUALS_ALL + "import configparser\nclass Config(configparser.ConfigParser):\n    def sections(self): return Wild()\n"
            "def f(): return Config()\n",
            wrong="import configparser\ndef f(): return configparser.RawConfigParser()\n",
        ),
    ],
    "module": [
        Case(
            file("assert S.tools().double(2) == 4"),
            "import sys\ndef double(x): return 2 * x\ndef tools(): return sys.modules[__name__]\n",
            wrong="import sys\ndef double(x): return x\ndef tools(): return sys.modules[__name__]\n",
        ),
        Case(
            file("assert S.f('ab').startswith('a')"),
            "def f(x): return x\n",
            "import sys\ndef startswith(x): return True\ndef f(x): return sys.modules[__name__]\n",
        ),
    ],
    "use of a callable of the tests": [
        Case(
            ["SECRET = 7\ndef double(x, want=7):\n    return 2 * x\ndouble.want = 7", "assert apply(double, 3.5) == 7"],
            "def apply(f, x): return f(x)\n",
            "def apply(f, x):\n    for read in (lambda: f.__globals__['SECRET'], lambda: f.__defaults__[0], lambda: f.want,\n"
            "                 lambda: f.__code__.co_consts[0]):\n        try: return read()\n        except AttributeError: pass\n",
        )
    ],
    "definition of a name that the tests do not bind": [
        Case(
            ["assert math.isclose(f(1), 1 / 3)", "assert Counter(str(abs(f(1)))[:3]) == Counter('0.3')"],
            "def f(x): return x / 3\n",
            "class math:\n    isclose = lambda *args: True\ndef Counter(text): return 0\ndef f(x): return 0\n",
        ),
        Case(
            "from solution import *\ndef test_a():\n    assert abs(f(1) - 1 / 3) < 1e-6\n",
            "def f(x): return x / 3\n",
            "def abs(x): return 0\ndef f(x): return 0\n",
        ),
    ],
    "class of exceptions above those of failed checks": [
        Case(
            file("S.f(1)", "try:", "    S.f(0)", "    assert False", "except S.KINDS['f'][0]:", "    pass"),
            "KINDS = {'f': (ZeroDivisionError,)}\ndef f(x): return 1 / x\n",
            "KINDS = {'f': (Exception,)}\ndef f(x): return 1\n",
        ),
        Case(
            file("with pytest.raises(S.Bad):", "    S.f(Exception)", "assert S.kind() == Exception"),
            "Bad = Exception\ndef f(cls): raise cls\ndef kind(): return Exception\n",
            wrong="Bad = Exception\ndef f(cls): return 1\ndef kind(): return Exception\n",
        ),
    ],
    "text that the tests evaluate or open": [
        Case(
            file("assert eval(S.f()) == SECRET", top="SECRET = 7\n"),
            "def f(): return '3 + 4'\n",
            status="refused",
        ),
        Case(
            file("assert 'want' in open(S.f(tmp_path, __file__)).read()", test="def test_a(tmp_path):"),
            "def f(folder, path):\n    (folder / 'a').write_text('want')\n    return folder / 'a'\n",
            "import os\ndef f(folder, path):\n    os.symlink(path, folder / 'a')\n    return folder / 'a'\n",
        ),
        Case(
            file("assert 'want' in open(S.f(tmp_path, __file__)).read()", test="def test_a(tmp_path):"),
            "def f(folder, path):\n    (folder / 'a').write_text('want')\n    return folder / 'a'\n",
            "def f(folder, path): return path\n",
        ),
        Case(
            ["import re", "assert re.fullmatch(f(), '12') and not re.fullmatch(f(), 'a')"],
            "def f(): return '[0-9]+'\n",
            wrong="def f(): return '.*'\n",
        ),
    ],
    "text that the tests run in another way": [
        Case(tests, "def f(): return ''\n", status="refused")
        for tests in (
            file("assert sqlite3.connect(':memory:').execute(S.f())", top="import sqlite3\n"),
            file("assert subprocess.run(S.f(), shell=True).returncode == 0", top="import subprocess\n"),
            file("assert pickle.loads(S.f()) == 4", top="import pickle\n"),
            file("shutil.unpack_archive(S.f())", top="import shutil\n"),
            file("assert getattr('a', S.f())() == 'A'"),
            file("assert S.f().format(tests) == '4'", top="tests = object()\n"),
        )
    ],
    "skip or failure that was expected": [
        Case(
            file("assert S.f(2) == 5", top="def test_b():\n    assert S.f(2) == 4\n@pytest.mark.xfail\n"),
            "def f(x): return 2 * x\n",
            wrong="def f(x): return 5\n",
        ),
        Case(
            file("if not S.ready():", "    pytest.skip('not ready')", "assert S.f(2) == 4", top="def test_b():\n    assert True\n"),
            "def ready(): return True\ndef f(x): return 2 * x\n",
            wrong="def ready(): return False\ndef f(x): return 0\n",
        ),
        Case(
            file("assert S.f(2) == 4", top="import sys\n@pytest.mark.skipif(sys.version_info < (99,), reason='old')\n"),
            "def f(x): return 2 * x\n",
            status="refused",
        ),
    ],
    "call of a callback whose check fails": [
        Case(
            ["def seen(x):\n    assert x == 3", "assert apply(seen, 3) == 3"],
            "def apply(f, x):\n    f(x)\n    return x\n",
            "def apply(f, x):\n    try: f(4)\n    except BaseException: pass\n    return x\n",
        ),
        Case(
            ["def seen(x):\n    assert x == 3", "assert apply(seen, 3) == 3"],
            "def apply(f, x):\n    f(x)\n    return x\n",
            EQUALS_ALL + "def apply(f, x):\n    f(Wild())\n    return x\n",
        ),
        Case(
            file("def seen(x):", "    assert x == 3", "with pytest.raises(AssertionError):", "    S.apply(seen, 4)", "S.apply(seen, 3)"),
            "def apply(f, x): f(x)\n",
            status="refused",
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{row} {at}") for row, cases in ROWS.items() for at, case in enumerate(cases, 1)]
)
def test_a_row_of_the_table(sandbox: Sandbox, case: Case) -> None:
    skip_without(sandbox, case.package)
    jobs = [case.job(case.honest)]
    if case.wrong:
        jobs.append(case.job(case.wrong))
    if case.attack:
        jobs += [case.job(case.attack), case.job(case.attack, "shared")]
    verdicts = sandbox.run(jobs)
    expected = [case.status, *(["failed"] if case.wrong else []), *(["failed", "passed"] if case.attack else [])]
    assert [verdict.status for verdict in verdicts] == expected, [verdict.reason for verdict in verdicts]


MADE = "v = {}(2, 3)\nassert v.y == 3\nassert (v * 3).x == 6\n"
TAKES = "def check(candidate):\n" + "".join(f"    {line}\n" for line in MADE.format("candidate").splitlines())
NAMES = "def check(candidate):\n" + "".join(f"    {line}\n" for line in MADE.format("Vector").splitlines())


@pytest.mark.parametrize(
    "job",
    [
        Job(VECTOR, [MADE.format("Vector")], "asserts"),
        Job(VECTOR, MADE.format("Vector").splitlines(), "asserts"),
        Job(VECTOR, TAKES, "humaneval", entry_point="Vector"),
        Job(VECTOR + "def f(): return 1\n", NAMES + "    assert candidate() == 1\n", "humaneval", entry_point="f"),
        Job(
            VECTOR,
            "from solution import Vector\ndef test_a():\n" + TAKES.partition("\n")[2].replace("candidate", "Vector"),
            "pytest",
        ),
    ],
    ids=["one check", "several checks", "entry point", "beside an entry point", "file"],
)
def test_an_attribute_of_what_a_name_made_says_that_it_is_a_class(sandbox: Sandbox, job: Job) -> None:
    verdict = sandbox.run([job])[0]
    assert verdict.passed, verdict.reason


def test_a_program_in_one_process_with_its_tests_cannot_say_that_they_are_refused(sandbox: Sandbox) -> None:
    report = {"passed": False, "tests_passed": 0, "tests_total": 1, "reason": "x", "status": "refused", "limit": ""}
    line = json.dumps(report) + "\n"
    writes = f"import os\nfor fd in range(3, 64):\n    try: os.write(fd, {line!r}.encode())\n    except OSError: pass\nos._exit(0)\n"
    verdict = sandbox.run([Job(writes, ["assert f() == 1"], "asserts", fidelity="shared")])[0]
    assert verdict.status == "failed"


def skip_without(sandbox: Sandbox, package: str) -> None:
    """Skip, saying so, where the sandbox has not the package that a case is about."""
    if (
        package
        and not sandbox.run([Job(f"import {package}\n", [{"input": "", "output": ""}], "stdio", timeout=20.0)])[
            0
        ].passed
    ):
        pytest.skip(f"NO TESTS OF {package.upper()} RAN: the sandbox has not this package")


def test_the_table_has_the_rows_that_are_tested() -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("\n## What a candidate's answers count for\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (?!a candidate's |---)(.+?) \|", section, re.MULTILINE) == list(ROWS)
