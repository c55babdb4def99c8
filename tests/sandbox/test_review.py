"""What the review of tests' text lets through: usual tests that look things up, format and patch by texts of their own."""

from __future__ import annotations

import pytest
from grpo_rewards_sandbox import Job, unjudgeable

# each is what a data set of programs with tests may hold; none of them acts on text of the candidate
USUAL = {
    "param_ops": """
import operator
import pytest
from solution import calc
@pytest.mark.parametrize("op,a,b", [("add", 1, 2), ("mul", 3, 4), ("sub", 9, 5)])
def test_ops(op, a, b):
    assert calc(op, a, b) == getattr(operator, op)(a, b)
""",
    "percent": """
from solution import greet
def test_a():
    for n in ["Ann", "Bob"]:
        assert greet(n) == "Hello, %s!" % n
        assert greet(n) == "Hello, {}!".format(n), "got %r for %s" % (greet(n), n)
""",
    "mod_numbers": """
from solution import power, primes
import random
def test_a():
    for _ in range(20):
        b, e, m = random.randint(1, 50), random.randint(1, 20), random.randint(2, 99)
        assert power(b, e, m) == b ** e % m
    ps = primes(100)
    for p in ps:
        for d in range(2, p):
            assert p % d != 0
    assert sum(ps) % 10 == 0
""",
    "mod_params": """
from solution import is_even
import pytest
@pytest.mark.parametrize("n", range(-5, 6))
def test_a(n):
    assert is_even(n) == (n % 2 == 0)
def expected(n, k):
    return [x for x in range(n) if x % k == 0]
def test_b():
    from solution import multiples
    assert multiples(10, 3) == expected(10, 3)
""",
    "design": """
from solution import Stack
def run(ops, args):
    s = Stack()
    out = []
    for op, a in zip(ops, args):
        out.append(getattr(s, op)(*a))
    return out
def test_a():
    assert run(["push", "push", "pop"], [[1], [2], []]) == [None, None, 2]
""",
    "design_json": """
import json, solution
CASES = json.loads('[{"ops": ["Stack", "push"], "args": [[], [1]], "want": [null, null]}]')
def test_a():
    for case in CASES:
        obj = getattr(solution, case["ops"][0])(*case["args"][0])
        for op, args, want in zip(case["ops"][1:], case["args"][1:], case["want"][1:]):
            assert getattr(obj, op)(*args) == want
""",
    "design_dicts": """
import solution
CASES = [{"method": "push", "args": [1], "want": None}, {"method": "pop", "args": [], "want": 1}]
def test_a():
    s = solution.Stack()
    for case in CASES:
        got = getattr(s, case["method"])(*case["args"])
        assert got == case["want"]
""",
    "hasattr": """
import solution
import pytest
@pytest.fixture
def shape():
    return solution.Circle(2)
def test_has(shape):
    for name in ("area", "perimeter"):
        assert hasattr(shape, name)
        assert callable(getattr(shape, name))
@pytest.mark.parametrize("attr", ["area", "perimeter"])
def test_b(shape, attr):
    assert hasattr(shape, attr), f"missing {attr}"
""",
    "caplog": """
import logging
from solution import work
def test_a(caplog):
    with caplog.at_level(logging.INFO):
        work(3)
    assert "done %d" % 3 in caplog.text
    assert [r.getMessage() for r in caplog.records] == ["start", "done 3"]
    logging.getLogger("t").info("result %s", work(3))
""",
    "monkeypatch": """
import time
import solution
def test_a(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 100.0)
    monkeypatch.setattr("time.sleep", lambda s: None)
    monkeypatch.setenv("MODE", "x")
    monkeypatch.setattr(solution, "fetch", lambda url: "ok")
    assert solution.load("u") == "ok"
""",
    "mock": """
from unittest.mock import patch, MagicMock, call
import unittest
from solution import notify
class T(unittest.TestCase):
    @patch("smtplib.SMTP")
    def test_a(self, smtp):
        notify("a", "b")
        smtp.return_value.send_message.assert_called_once()
    @patch("builtins.print")
    def test_b(self, p):
        notify("a", "b")
        p.assert_has_calls([call("a"), call("b")])
    def test_c(self):
        with patch("builtins.open", new_callable=MagicMock) as m:
            notify("x", "y")
        m.assert_called_with("x")
    def test_d(self):
        db = MagicMock()
        notify(db, "x")
        db.execute.assert_called_once_with("SELECT 1")
        assert db.execute.call_count == 1
""",
    "sqlite": """
import sqlite3
import pytest
from solution import add_user, get_user
@pytest.fixture
def db():
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
    conn.executemany("INSERT INTO users (name) VALUES (?)", [("a",), ("b",)])
    yield conn
    conn.close()
TABLES = ["users"]
def test_a(db):
    assert get_user(db, 1) == "a"
    for t in TABLES:
        assert db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] == 2
    cur = db.cursor()
    cur.execute("SELECT name FROM users WHERE id = ?", (2,))
    assert cur.fetchall() == [("b",)]
""",
    "subtest": """
import unittest
from solution import f
class T(unittest.TestCase):
    CASES = [(1, 2), (2, 3)]
    def test_a(self):
        for a, want in self.CASES:
            with self.subTest(a=a):
                self.assertEqual(f(a), want, msg="f(%d)" % a)
                self.assertEqual(f(a), want, msg="f({}) is {}".format(a, f(a)))
""",
    "vars": """
from solution import Point
def test_a():
    p = Point(1, 2)
    assert vars(p) == {"x": 1, "y": 2}
    assert p.__dict__ == {"x": 1, "y": 2}
    assert "x" in vars(p) and p.__dict__["x"] == 1
    assert set(vars(p)) == {"x", "y"}
    d = p.__dict__
    assert d["y"] == 2
""",
    "import_module": """
import importlib, inspect
import solution
def test_a():
    m = importlib.import_module("solution")
    assert hasattr(m, "solve")
    assert list(inspect.signature(solution.solve).parameters) == ["a", "b"]
    names = [n for n, f in inspect.getmembers(solution, inspect.isfunction)]
    assert "solve" in names
    assert inspect.isfunction(solution.solve)
""",
    "attrs_tuple": """
from solution import Car
ATTRS = {"wheels": 4, "color": "red"}
def test_a():
    c = Car()
    for name, value in ATTRS.items():
        assert getattr(c, name) == value, f"{name} should be {value}"
    for i, name in enumerate(sorted(ATTRS)):
        setattr(c, name, i)
        assert getattr(c, name) == i
""",
    "dispatch": """
import math
from solution import compute
FUNCS = ["sin", "cos", "sqrt"]
def check(name, x):
    assert abs(compute(name, x) - getattr(math, name)(x)) < 1e-9
def test_a():
    for name in FUNCS:
        check(name, 2.0)
    check("exp", x=1)
""",
    "template_own": """
from string import Template
from solution import render
T1 = Template("Hi $name")
def test_a():
    assert render("Hi $name", name="Al") == T1.substitute(name="Al")
    assert render("x", name="y") == "x".format(name="y")
""",
    "fmt_of_result": """
from solution import mean
def test_a():
    got = mean([1, 2])
    assert f"{got:.2f}" == "1.50"
    assert "{:.2f}".format(got) == "1.50"
    assert "%.2f" % got == "1.50"
    assert format(got, ".2f") == "1.50"
    fmt = "{:.1f}"
    assert fmt.format(mean([2])) == "2.0"
    assert list(map("{:02d}".format, [1, 2])) == ["01", "02"]
""",
    "globals_check": """
import solution
def test_a():
    assert "solve" in dir(solution)
    fn = getattr(solution, "solve", None)
    assert fn is not None
    for name in ["solve", "helper"]:
        f = getattr(solution, name)
        assert f(1) == 1
""",
    "sys_modules": """
import sys
from unittest import mock
def test_a():
    with mock.patch.dict(sys.modules, {"requests": mock.MagicMock()}):
        from solution import fetch
        assert fetch("u") is not None
    with mock.patch.dict("os.environ", {"A": "1"}):
        assert fetch("v") is not None
""",
    "enum_names": """
from solution import Color
import pytest
@pytest.mark.parametrize("name,value", [("RED", 1), ("BLUE", 2)])
def test_a(name, value):
    assert Color[name].value == value
    assert getattr(Color, name).value == value
    assert [c.name for c in Color] == ["RED", "BLUE"]
""",
    "timeit": """
import timeit
from solution import fast
def test_a():
    t = timeit.timeit("fast(1000)", globals=globals(), number=3)
    assert t < 5
""",
    "setup_method": """
import unittest
from solution import Bank
class TestBank(unittest.TestCase):
    def setUp(self):
        self.bank = Bank("x")
    def check(self, method, *args):
        return getattr(self.bank, method)(*args)
    def test_a(self):
        self.check("deposit", 5)
        self.assertEqual(self.check("balance"), 5)
        self.assertEqual(self.bank.execute("withdraw 5"), 0)
        self.assertTrue(hasattr(self.bank, "name"))
""",
    "query": """
from solution import SegTree
import random
def test_a():
    xs = [random.randint(0, 9) for _ in range(50)]
    t = SegTree(xs)
    for _ in range(20):
        l = random.randrange(50); r = random.randrange(l, 50)
        assert t.query(l, r) == sum(xs[l:r + 1])
    assert t.update(3, 4) is None
""",
    "wrap_class": """
from solution import process
class Spy:
    def __init__(self, inner): self.inner, self.calls = inner, []
    def __getattr__(self, name):
        self.calls.append(name)
        return getattr(self.inner, name)
def test_a():
    spy = Spy([3, 1])
    assert process(spy) == 2
""",
    "lambda_ops": """
from solution import apply
OPS = {"+": lambda a, b: a + b, "%": lambda a, b: a % b}
def test_a():
    for sym, f in OPS.items():
        assert apply(sym, 7, 3) == f(7, 3)
def ref(a, b, m):
    return (a * b) % m
def test_b():
    for a in range(3):
        for b in range(4):
            assert apply("*", a, b) == ref(a, b, 7)
""",
    "gcd": """
from solution import gcd
def ref(a, b):
    while b:
        a, b = b, a % b
    return a
def test_a():
    for a in range(1, 30):
        for b in range(1, 30):
            assert gcd(a, b) == ref(a, b)
""",
    "lcg": """
from solution import lcg
def test_a():
    x, out = 7, []
    for _ in range(5):
        x = (x * 1103515245 + 12345) % 2**31
        out.append(x % 100)
    assert lcg(7, 5) == out
""",
    "brute": """
import random
from solution import count
def brute(nums, k):
    return sum(1 for i in range(len(nums)) for j in range(i) if (nums[i] + nums[j]) % k == 0)
def test_a():
    rng = random.Random(1)
    for _ in range(10):
        nums = [rng.randint(1, 60) for _ in range(12)]
        k = rng.choice([3, 5, 60])
        assert count(nums, k) == brute(nums, k)
""",
    "brute_param": """
import pytest
from solution import count, rotate
def brute(nums, k):
    k = k % len(nums)
    return nums[-k:] + nums[:-k]
@pytest.mark.parametrize("nums,k", [([1,2,3],1),([1,2],5)])
def test_a(nums, k):
    assert rotate(list(nums), k) == brute(nums, k)
    n, m = count(nums, k)
    assert n % m == 0
    assert all(v % k == 0 for v in count(nums, k))
""",
    "np": """
import numpy as np
from solution import norm
def test_a():
    a = np.arange(6).reshape(2, 3)
    assert np.allclose(norm(a), a / a.max())
    assert (norm(a) % 1 == 0).all() or True
    for dt in ("int32", "float64"):
        assert norm(a.astype(getattr(np, dt))).dtype == getattr(np, dt)
""",
    "class_consts": """
import pytest
import solution
class TestApi:
    METHODS = ["area", "name"]
    def test_api(self):
        s = solution.Square(2)
        for m in self.METHODS:
            assert hasattr(s, m)
    @pytest.mark.parametrize("m", METHODS)
    def test_b(self, m):
        assert callable(getattr(solution.Square, m))
""",
    "namedtuple": """
from collections import namedtuple
from solution import area
Case = namedtuple("Case", "shape args want")
CASES = [Case("circle", (1,), 3.14), Case("square", (2,), 4)]
def test_a():
    import solution
    for c in CASES:
        assert abs(getattr(solution, c.shape)(*c.args) - c.want) < .01
""",
    "exec_src": """
import inspect, ast
import solution
def test_a():
    src = inspect.getsource(solution.solve)
    tree = ast.parse(src)
    assert not any(isinstance(n, ast.Import) for n in ast.walk(tree))
def test_b():
    ns = {}
    exec("def f(x): return x + 1", ns)
    assert solution.solve(1) == ns["f"](1)
""",
    "datetime_fmt": """
from datetime import datetime
from solution import parse
def test_a():
    for s in ("2024-01-02", "2023-05-06"):
        assert parse(s) == datetime.strptime(s, "%Y-%m-%d")
        assert parse(s).strftime("%Y") == s[:4]
""",
    "operator_methods": """
import operator
from solution import rank
def test_a():
    rows = [{"n": 2}, {"n": 1}]
    assert rank(rows) == sorted(rows, key=operator.itemgetter("n"))
    class P:
        def __init__(self, n): self.n = n
    ps = [P(2), P(1)]
    assert [p.n for p in rank(ps)] == [p.n for p in sorted(ps, key=operator.attrgetter("n"))]
    assert max(map(operator.methodcaller("get", "n"), rows)) == 2
""",
    "img_format": """
from solution import load
def test_a():
    img = load("x")
    assert img.format == "PNG"
    assert img.mode == "RGB"
""",
}

# the tests read by names, or fill templates, of which their text does not say that they are their own
UNSAID = {
    "dataclass_fields": """
import dataclasses
from solution import make
@dataclasses.dataclass
class Want:
    a: int = 1
    b: str = "x"
def test_a():
    got = make()
    want = Want()
    for f in dataclasses.fields(want):
        assert getattr(got, f.name) == getattr(want, f.name)
""",
    "logger_args": """
import logging
from solution import get_logger
def test_a(capsys):
    log = get_logger("x")
    log.info("hello %s", "w")
    log.log(logging.INFO, "x %d", 3)
    assert "hello w" in capsys.readouterr().err
def test_b():
    fmt = logging.Formatter("%(levelname)s:%(message)s")
    rec = logging.LogRecord("n", 20, "p", 1, "m", (), None)
    assert fmt.format(rec) == "INFO:m"
""",
    "json_format": """
import logging, json
from solution import JsonFormatter
def test_a():
    rec = logging.LogRecord("n", 20, "p", 1, "m", (), None)
    assert json.loads(JsonFormatter().format(rec))["message"] == "m"
""",
}


@pytest.mark.parametrize("name", USUAL)
def test_usual_tests_are_judged(name: str) -> None:
    assert unjudgeable(Job("", USUAL[name], "pytest")) == ""


@pytest.mark.parametrize("name", UNSAID)
def test_what_is_not_said_is_refused_with_its_line(name: str) -> None:
    why = unjudgeable(Job("", UNSAID[name], "pytest"))
    assert why.startswith("line ")
    assert "fidelity: shared" in why
