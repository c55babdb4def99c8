"""Honest solutions with honest tests, one for each way in which tests use what they import; all pass under full isolation."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox

STYLES = {
    "exceptions of the standard library": (
        "import json, decimal, dataclasses, statistics, asyncio\n@dataclasses.dataclass(frozen=True)\nclass P:\n    x: int\n"
        "def f(k):\n    if k == 'json': json.loads('{')\n    if k == 'decimal': decimal.Decimal('x')\n"
        "    if k == 'mean': statistics.mean([])\n    raise asyncio.CancelledError\n",
        "import json, decimal, dataclasses, statistics, asyncio\n"
        "for k, e in dict(json=json.JSONDecodeError, decimal=decimal.InvalidOperation, mean=statistics.StatisticsError,\n"
        "                 x=asyncio.CancelledError).items():\n    with pytest.raises(e):\n        S.f(k)\n"
        "with pytest.raises(json.JSONDecodeError) as i:\n    S.f('json')\nassert i.value.pos == 1\n"
        "with pytest.raises(dataclasses.FrozenInstanceError):\n    S.P(1).x = 2",
    ),
    "exceptions as values": (
        "def attempt(f):\n    try: return f()\n    except ValueError as e: return e\ndef same(e): return e\n"
        "def chain():\n    try: 1 / 0\n    except ZeroDivisionError: raise KeyError('k')\n",
        "class Mine(ValueError):\n    def __init__(self): self.code = 5\n"
        "def own(): raise Mine\n"
        "assert isinstance(S.attempt(lambda: int('x')), ValueError) and isinstance(S.attempt(own), Mine)\n"
        "e = KeyError(1)\nassert S.same(e) is e\n"
        "with pytest.raises(KeyError) as i:\n    S.chain()\nassert isinstance(i.value.__context__, ZeroDivisionError)",
    ),
    "enumerations and abstract classes": (
        "import enum, abc, typing\nclass L(enum.IntEnum):\n    A = 1\nclass F(enum.Flag):\n    X = 1\n    Y = 2\n"
        "class Shape(abc.ABC):\n    @abc.abstractmethod\n    def area(s): ...\n"
        "@typing.runtime_checkable\nclass Sized(typing.Protocol):\n    def size(s): ...\nclass Box:\n    def size(s): return 1\n",
        "import enum, abc, inspect\nassert S.L(1) is S.L.A and isinstance(S.L.A, int) and issubclass(S.L, enum.Enum)\n"
        "assert S.F.X in (S.F.X | S.F.Y) and isinstance(S.F.X, enum.Enum)\n"
        "assert issubclass(S.Shape, abc.ABC) and inspect.isabstract(S.Shape) and S.Shape.__abstractmethods__ == {'area'}\n"
        "assert isinstance(S.Box(), S.Sized) and not isinstance(3, S.Sized)",
    ),
    "asynchronous": (
        "import asyncio\nclass Pool:\n    async def __aenter__(s): return s\n    async def __aexit__(s, *a): return a[0] is KeyError\n"
        "    def __aiter__(s): s.n = 0; return s\n    async def __anext__(s):\n        s.n += 1\n"
        "        if s.n > 2: raise StopAsyncIteration\n        return s.n\n"
        "async def each(f, xs): return [await f(x) for x in xs]\n",
        "import asyncio\nasync def double(x):\n    await asyncio.sleep(0)\n    return 2 * x\nasync def main():\n"
        "    async with S.Pool() as p:\n        assert [x async for x in p] == [1, 2]\n        raise KeyError\n"
        "    return await S.each(double, [1, 2])\nassert asyncio.run(main()) == [2, 4]",
    ),
    "objects that nobody holds": (
        "import weakref\nalive = weakref.WeakSet()\nclass Node: pass\ndef make():\n    n = Node()\n    alive.add(n)\n    return n\n"
        "def count(): return len(alive)\ndef same(n): return n\n",
        "n = S.make()\nkept = S.same(n)\nassert S.count() == 1 and kept is n\ndel n\nassert S.count() == 1\ndel kept\nassert S.count() == 0\n"
        "fs = [S.make() for _ in range(3)]\nfs.pop()\nassert S.count() == 2 and all(S.same(f) is f for f in fs)",
    ),
    "classes derived from numbers of the standard library": (
        "import decimal, fractions\nclass D(decimal.Decimal):\n    def half(self): return D(self / 2)\n"
        "class F(fractions.Fraction):\n    def inverse(self): return F(self.denominator, self.numerator)\n",
        "assert S.D('3').half() == 1.5 and isinstance(S.D('3').half(), S.D)\nassert S.F(1, 2).inverse().numerator == 2",
    ),
    "ancestors": (
        "class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\nclass L(list): pass\nclass E(A, ValueError): pass\n",
        "import inspect\nassert S.D.__mro__ == (S.D, S.B, S.C, S.A, object) == inspect.getmro(S.D) and S.D.mro() == list(S.D.__mro__)\n"
        "assert [c.__name__ for c in type(S.D()).__mro__] == ['D', 'B', 'C', 'A', 'object']\n"
        "assert S.A.__bases__ == (object,) and S.D.__bases__ == (S.B, S.C)\n"
        "assert S.L.__mro__[0] is S.L and S.E.__mro__[:2] == (S.E, S.A) and ValueError in S.E.__mro__",
    ),
    "an object's own dictionary": (
        "class M:\n    def __init__(self): self.n, self.items = 1, []\n"
        "    def grow(self):\n        self.n += 1\n        self.items.append(self.n)\n",
        "m = S.M()\nheld = vars(m)\nm.grow()\nassert held == {'n': 2, 'items': [2]} and m.__dict__ is held\n"
        "held['n'] = 8\nm.__dict__.update(items=[9])\nm.grow()\nassert (m.n, m.items) == (9, [9, 9])\ndel held['n']\nassert not hasattr(m, 'n')",
    ),
    "values of the standard library": (
        "import array, ipaddress, re, types\ndef f(k): return {'a': array.array('i', [1]), 'ip': ipaddress.ip_address('10.0.0.1'),\n"
        "    'ns': types.SimpleNamespace(a=1), 're': re.compile('a+', re.I), 'keys': {'a': 1}.keys(), 'mv': memoryview(b'ab'),\n"
        "    'alias': list[int], 'map': types.MappingProxyType({1: 2})}[k]\ndef grow(a): a.append(3)\n",
        "import array, ipaddress, types\nassert S.f('a') == array.array('i', [1]) and S.f('ip') == ipaddress.ip_address('10.0.0.1')\n"
        "assert S.f('ns') == types.SimpleNamespace(a=1) and S.f('re').match('AA') and S.f('keys') == {'a'}\n"
        "assert S.f('mv') == b'ab' and S.f('alias') == list[int] and S.f('map')[1] == 2\n"
        "a = array.array('d', [1.0])\nS.grow(a)\nassert list(a) == [1.0, 3.0]",
    ),
    "containers of their own": (
        "import collections.abc\nclass D(dict):\n    def __missing__(s, k): return k * 2\nclass R(collections.abc.Mapping):\n"
        "    def __getitem__(s, k): return {'a': 1}[k]\n    def __iter__(s): return iter('a')\n    def __len__(s): return 1\n"
        "def d(): return D(a=1)\n",
        "import collections.abc\nd = S.d()\nassert isinstance(d, dict) and d == {'a': 1} and d['zz'] == 'zzzz'\n"
        "r = S.R()\nassert isinstance(r, collections.abc.Mapping) and r == {'a': 1} and {**r} == {'a': 1} and r.get('z', 5) == 5",
    ),
    "operators of a class under test": (
        "class M:\n    def __init__(s, a): s.a = a\n    def v(s, o): return o.a if isinstance(o, M) else o\n"
        "    def __eq__(s, o): return isinstance(o, M) and s.a == o.a\n    def __hash__(s): return hash(s.a)\n"
        "    def __lt__(s, o): return s.a < s.v(o)\n    def __sub__(s, o): return M(s.a - s.v(o))\n"
        "    def __add__(s, o): return M(s.a + s.v(o))\n    __radd__ = __add__\n    def __abs__(s): return abs(s.a)\n"
        "class Range:\n    def __contains__(s, x): return 0 <= x <= 100\n    def width(s): return 101\n",
        "from solution import M, Range\nm = M(5)\nassert m.a == 5 and m == M(5) and m != M(6) and not m == 'x' and m != 5\n"
        "assert m + 3 == M(8) and (3 + m).a == 8 and m - M(2) == M(3) and sum([M(1), M(2)]) == M(3) and abs(M(-5)) == 5\n"
        "assert sorted([M(3), M(1)])[0].a == 1 and len({M(1), M(1)}) == 1\n"
        "assert 5 in Range() and 101 not in Range() and Range().width() == 101",
    ),
    "the module itself": (
        "'''Doc.'''\n__all__ = ['f']\nimport random\nn = 0\ndef f(x: float, *, y: int = 2) -> float: return x\n"
        "def inc():\n    global n\n    n += 1\n    return n\nclass K:\n    def m(s): return 1\ndef argv():\n    import sys\n    return sys.argv\n",
        "import inspect, typing, sys\nassert S.__doc__ == 'Doc.' and S.__all__ == ['f']\n"
        "assert typing.get_type_hints(S.f) == {'x': float, 'y': int, 'return': float}\n"
        "assert inspect.signature(S.f).parameters['y'].annotation is int\n"
        "assert S.inc() == 1\n"
        "monkeypatch.setattr(S.K, 'm', lambda self: 42)\nassert S.K().m() == 42\n"
        "monkeypatch.setattr('sys.argv', ['p', 'a'])\nassert S.argv() == ['p', 'a']",
    ),
    "temporary files": (
        "def read(p):\n    with open(p) as f: return f.read()\n",
        "import tempfile, os\nwith tempfile.NamedTemporaryFile('w', delete=False) as f:\n    f.write('x')\n"
        "assert S.read(f.name) == 'x'\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/y', 'w').write('q')\n"
        "    assert S.read(d + '/y') == 'q'\n(tmp_path / 'z').write_text('z')\nassert S.read(tmp_path / 'z') == 'z'",
    ),
    "iterators that end": (
        "class C:\n    def __init__(s): s.n = 0\n    def __iter__(s): return s\n    def __next__(s):\n        s.n += 1\n"
        "        if s.n > 2: raise StopIteration\n        return s.n\n",
        "c = S.C()\nassert list(c) == [1, 2] and next(c, None) is None\nwith pytest.raises(StopIteration):\n    next(c)",
    ),
    "context managers that swallow": (
        "import contextlib\n@contextlib.contextmanager\ndef ignore(e):\n    try: yield\n    except e: pass\n",
        "with S.ignore(KeyError):\n    {}[1]",
    ),
    "what tests replace in the standard library": (
        "import time, random, json\ndef nap(): time.sleep(99); return time.time()\ndef roll(): return random.randint(1, 6)\n"
        "def read(p):\n    with open(p) as f: return f.read()\ndef dump(): return json.dumps([1])\n",
        "from unittest.mock import mock_open, patch\nimport time\nmonkeypatch.setattr(time, 'sleep', lambda s: None)\n"
        "with patch('time.time', return_value=5.0) as m:\n    assert S.nap() == 5.0\n    m.assert_called_once_with()\n"
        "with patch('random.randint', return_value=4), patch('builtins.open', mock_open(read_data='x')):\n"
        "    assert S.roll() == 4 and S.read('none') == 'x'\nwith patch('json.dumps', return_value='J'):\n    assert S.dump() == 'J'\n"
        "assert S.nap() > 5 and S.dump() == '[1]'",
    ),
    "what tests replace in the candidate": (
        "class B:\n    def inherited(s): return 1\nclass K(B):\n    x = 3\n    @staticmethod\n    def s(a): return a\n"
        "    def m(self): return self.s(2) + self.inherited()\ndef f(): return 1\ndef g(): return f()\n",
        "k = S.K()\nwith monkeypatch.context() as m:\n    m.setattr(S.K, 's', staticmethod(lambda a: 50))\n    m.setattr(S.K, 'inherited', lambda self: 5)\n"
        "    m.setattr(S.K, 'x', 9)\n    m.setattr(S, 'f', lambda: 2)\n    m.setattr(S, 'new', 4, raising=False)\n"
        "    assert k.m() == 55 and S.K.x == k.x == 9 and S.g() == 2 and S.new == 4\n"
        "assert k.m() == 3 and S.K.x == 3 and S.g() == 1 and S.K.s(4) == 4 and not hasattr(S, 'new')",
    ),
    "objects of the tests": (
        "import copy, functools\ndef deep(x): return copy.deepcopy(x)\ndef refuse(f):\n    try: f()\n"
        "    except ConnectionError: return 'no'\ndef wrap(f):\n    @functools.wraps(f)\n    def g(): return f()\n    return g\n"
        "async def total(xs):\n    async with xs as ys: return sum([y async for y in ys])\nclass P:\n    def __init__(s, x): s.x = x\n"
        "    def __eq__(s, o): return s.x == o.x\n    def __hash__(s): return s.x\ndef held(): return {'a': {P(1)}, P(2): [P(3)]}\n",
        "import asyncio\nclass T:\n    v = 0\n    async def __aenter__(self): return self\n    async def __aexit__(self, *a): pass\n"
        "    def __aiter__(self): return self\n    async def __anext__(self):\n        self.v += 1\n        if self.v > 3: raise StopAsyncIteration\n"
        "        return self.v\nt = T()\nassert S.deep(t) is not t and S.deep(t).v == 0 and asyncio.run(S.total(t)) == 6\n"
        "def down():\n    'doc'\n    raise ConnectionRefusedError(1, 'x')\nassert S.refuse(down) == 'no'\n"
        "assert S.wrap(down).__name__ == 'down' and S.wrap(down).__doc__ == 'doc'\nassert isinstance(S.P(1), S.P) and S.held() == {'a': {S.P(1)}, S.P(2): [S.P(3)]}",
    ),
    "classes of the tests": (
        "import dataclasses\ndef opposite(c): return type(c)(3 - c.value)\ndef parse(cls, t): return cls[t.upper()]\n"
        "def names(cls): return [m.name for m in cls]\ndef same(a, b): return type(a) is type(b) and isinstance(a, type(b))\n"
        "def fields(o): return dataclasses.asdict(o)\ndef moved(p): return p._replace(x=5)\n"
        "def register(cls):\n    cls.known = True\n    return cls\nclass K:\n    def __init__(s, c): s.c = c\n",
        "import enum, dataclasses\nfrom collections import namedtuple\nclass C(enum.Enum):\n    RED = 1\n    BLUE = 2\n"
        "@dataclasses.dataclass\nclass D:\n    a: int\n    b: list\nassert S.K(C.RED).c is C.RED and S.opposite(C.RED) is C.BLUE\n"
        "assert S.parse(C, 'red') is C.RED and S.names(C) == ['RED', 'BLUE'] and S.same(C.RED, C.BLUE) and not S.same(C.RED, D(1, []))\n"
        "with pytest.raises(KeyError):\n    S.parse(C, 'green')\nassert S.fields(D(1, [2])) == {'a': 1, 'b': [2]}\n"
        "P = namedtuple('P', 'x y')\nassert S.moved(P(1, 2)) == P(5, 2) and S.register(D).known",
    ),
    "what classes and modules are made of": (
        "import dataclasses, enum, functools\nclass K:\n    x: int\n    @property\n    def p(s): 'Doc.'\n"
        "    @staticmethod\n    def s(): pass\n    def __init__(s, v, w=2): pass\nclass Pt:\n    __match_args__ = ('x', 'y')\n"
        "    def __init__(s, x, y): s.x, s.y = x, y\n@dataclasses.dataclass\nclass D:\n    a: int\n    b: str = 'z'\n"
        "class E(enum.Enum):\n    A = 1\ndef deco(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n"
        "@deco\ndef f(x): return x\nclass M(type): pass\nclass X(metaclass=M): pass\n",
        "import dataclasses, inspect\nassert isinstance(S.K.p, property) and S.K.p.__doc__ == 'Doc.' and isinstance(vars(S.K)['s'], staticmethod)\n"
        "assert 'p' in S.K.__dict__ and 'K' in dir(S) and vars(S)['K'] is S.K and S.K.__annotations__ == {'x': int}\n"
        "assert list(inspect.signature(S.K).parameters) == ['v', 'w'] and inspect.isfunction(S.f) and S.f.__wrapped__(3) == 3\n"
        "match S.Pt(1, 2):\n    case S.Pt(1, y): assert y == 2\n    case _: assert False\n"
        "assert [(f.name, f.type, f.default) for f in dataclasses.fields(S.D)][1] == ('b', str, 'z') and isinstance(S.X, S.M)\n"
        "assert hasattr(S.E, '__len__') and not hasattr(S.K, '__len__') and [n for n, _ in inspect.getmembers(S, inspect.isclass)][0] == 'D'",
    ),
    "warnings and logs with classes of their own": (
        "import logging, warnings\nclass Old(UserWarning): pass\ndef f():\n    warnings.warn('gone', Old)\n    try: 1 / 0\n"
        "    except ZeroDivisionError: logging.exception('bad')\n",
        "import logging\nseen = []\nclass H(logging.Handler):\n    def emit(self, r): seen.append(r)\nlogging.getLogger().addHandler(H())\n"
        "with pytest.warns(S.Old, match='gone'):\n    S.f()\nassert seen[0].exc_info[0] is ZeroDivisionError",
    ),
    "what functions are made of": (
        "def f(a, b=1, *, c=2): return a\ndef g(): yield 1\nclass D:\n    def __dir__(s): return ['x']\n",
        "import inspect\nassert str(inspect.signature(S.f)) == '(a, b=1, *, c=2)' and inspect.getfullargspec(S.f).defaults == (1,)\n"
        "assert inspect.isgeneratorfunction(S.g) and not inspect.isgeneratorfunction(S.f) and dir(S.D()) == ['x'] and 'mro' not in dir(S.D)",
    ),
}  # fmt: skip


def job(candidate: str, body: str, fidelity: str = "isolated") -> Job:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    tests = f"import pytest\nimport solution as S\ndef test_a(tmp_path, monkeypatch):\n{indented}"
    return Job(candidate, tests, "pytest", timeout=20.0, fidelity=fidelity)


def test_every_style_passes(sandbox: Sandbox) -> None:
    found = dict(zip(STYLES, sandbox.run([job(*style) for style in STYLES.values()]), strict=True))
    assert {name: verdict.reason for name, verdict in found.items() if not verdict.passed} == {}


INSIDE = {
    "the environment that it changes": ("import os\ndef f(): os.environ['MODE'] = 'on'\n", "import os\nS.f()\nassert os.environ['MODE'] == 'on'"),
    "its source": ("def f():\n    return 1\n", "import inspect\nassert 'return 1' in inspect.getsource(S.f)"),
    "text of its that is evaluated": ("def f(): return '1 + 1'\n", "assert eval(S.f()) == 2"),
    "pickled objects": ("class P:\n    pass\n", "import pickle\nassert isinstance(pickle.loads(pickle.dumps(S.P())), S.P)"),
    "derived classes": ("class B:\n    def run(s): return s.go()\n", "class D(S.B):\n    def go(self): return 3\nassert D().run() == 3"),
    "doctests": ("def f():\n    '''\n    >>> 1 + 1\n    2\n    '''\n", "import doctest\nassert doctest.testmod(S).failed == 0\n"
     "doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(S.f.__doc__, {}, 'f', None, 0))"),
}  # fmt: skip


@pytest.mark.parametrize("style", INSIDE)
def test_a_style_that_cannot_cross_says_which_fidelity_it_needs(sandbox: Sandbox, style: str) -> None:
    isolated, shared = sandbox.run([job(*INSIDE[style]), job(*INSIDE[style], fidelity="shared")])
    assert isolated.status == "refused"
    assert "fidelity" in isolated.reason
    assert shared.passed, shared.reason


@pytest.mark.parametrize(
    ("tests", "format"),
    [(["assert f() == 1"], "asserts"), ("from solution import f\ndef test_a():\n    assert f() == 1\n", "pytest"), ([{"input": "", "output": "1"}], "stdio")],
)  # fmt: skip
def test_a_package_that_is_not_there_is_named_with_what_to_do(sandbox: Sandbox, tests: Any, format: str) -> None:
    verdict = sandbox.run([Job("import nowhere_to_be_found\ndef f(): return 1\n", tests, format)])[0]
    assert verdict.status == "failed"
    assert "sandbox build --package" in verdict.reason


@pytest.mark.parametrize(("name", "said"), [("guess", True), ("gess", False)])
def test_a_function_that_only_the_setup_has_is_said_to_be_out_of_sight(sandbox: Sandbox, name: str, said: bool) -> None:
    (verdict,) = sandbox.run(
        [Job(f"def find(n): return {name}(n)", ["assert find(6) == 6"], "asserts", setup="def guess(n): return n\n")]
    )
    assert f"NameError: name '{name}' is not defined" in verdict.reason
    assert ("the program sees nothing of the tests" in verdict.reason) == said


OWN_TEXT = {
    "constants": "assert eval('3 + 4') == 7 and f(eval('len')([1])) == 'x**2'\nnames = {}\nexec('a = 5', names)\nassert names['a'] == 5",
    "generators": "import collections, dataclasses\nP = collections.namedtuple('P', 'x y')\nassert P(f(1), 2).x == 'x**2'\n"
    "D = dataclasses.make_dataclass('D', ['x'])\nassert D(1) == D(1)",
    "timing": "import timeit\nassert timeit.timeit(lambda: f(1), number=2) < 9 and timeit.repeat('x = 1', number=1)",
    "hints": "import typing\ndef g(a: 'dict[str, int]') -> 'str': ...\nassert typing.get_type_hints(g)['return'] is str\n"
    "assert f(1) and typing.get_type_hints(typing.NamedTuple('N', [('x', 'int')])) == {'x': int}\nimport email.message, inspect\n"
    "assert inspect.signature(len) and inspect.get_annotations(email.message.Message.get, eval_str=True) == {}",
    "trees": "import ast\nassert ast.parse(f(1)) and ast.literal_eval(f(0)) == [1]",
    "pandas": "import pandas as pd\nframe = pd.DataFrame({'a': [1, 4], 'b': [f(1), f(1)]})\nk = 3\n"
    "assert frame.query(f'a > {k}').a.tolist() == frame.query('a > 3').a.tolist() == [4]",
    "pickles": "import pickle, datetime, collections\nvalue = [datetime.date(2020, 1, 1), collections.Counter('a'), range(3), {1}, b'x', 1j]\n"
    "assert all(pickle.loads(pickle.dumps(value, p)) == value for p in range(6)) and f(1)",
    "mocks": "from unittest import mock\nwith mock.patch('os.getcwd', autospec=True):\n    assert f(1)",
}


def need(sandbox: Sandbox, package: str) -> None:
    if sandbox.backend == "docker" or importlib.util.find_spec(package) is None:
        pytest.skip(f"there is no {package}")


@pytest.mark.parametrize("name", OWN_TEXT)
def test_what_is_made_of_the_tests_own_text_is_judged(sandbox: Sandbox, name: str) -> None:
    if name == "pandas":
        need(sandbox, name)
    tests = "from solution import f\ndef test_f():\n" + textwrap.indent(OWN_TEXT[name], "    ")
    verdict = sandbox.run([Job("def f(x): return 'x**2' if x else '[1]'\n", tests, "pytest")])[0]
    assert verdict.passed, verdict


WRITE_CODE = {
    "pandas": "import pandas as pd\nk = f(1)\nassert len(pd.DataFrame({'a': ['x**2']}).query('a == @k')) == 1",
    "sympy": "import sympy\nassert sympy.sympify('x**2') == sympy.Symbol('x') ** 2 and f(1)",
    "jinja2": "import jinja2\nassert jinja2.Template('{{ x }}!').render(x=f(1)) == 'x**2!'",
}


@pytest.mark.parametrize("name", WRITE_CODE)
def test_a_library_that_writes_code_from_what_it_is_given_is_named(sandbox: Sandbox, name: str) -> None:
    need(sandbox, name)
    tests = "from solution import f\ndef test_f():\n" + textwrap.indent(WRITE_CODE[name], "    ")
    verdict = sandbox.run([Job("def f(x): return 'x**2'\n", tests, "pytest")])[0]
    assert (verdict.status, verdict.reason.startswith(f"{name} would evaluate")) == ("failed", True)
    assert "fidelity: shared" in verdict.reason


WRITE_NAMES_ALONE = {
    "hypothesis": "from hypothesis import given, strategies as st\n@given(n=st.integers(0, 5))\ndef test_f(n): assert f(n) == n\n",
    "networkx": "import networkx as nx\ndef test_f(): assert f(3) == nx.shortest_path_length(nx.path_graph(4), 0, 3)\n",
}


@pytest.mark.parametrize("name", WRITE_NAMES_ALONE)
def test_a_library_that_writes_functions_of_names_alone_may(sandbox: Sandbox, name: str) -> None:
    need(sandbox, name)
    tests = f"from solution import f\n{WRITE_NAMES_ALONE[name]}"
    right, wrong = sandbox.run([Job(f"def f(x): return {given}\n", tests, "pytest") for given in ("x", "x + 1")])
    assert (right.status, wrong.status) == ("passed", "failed")


def test_no_deadline_goes_by_the_clock(sandbox: Sandbox) -> None:
    need(sandbox, "hypothesis")
    tests = f"from solution import f\n{WRITE_NAMES_ALONE['hypothesis']}"
    slow = "import time\ndef f(x):\n    time.sleep(0.3)\n    return x\n"
    assert [verdict.status for verdict in sandbox.run([Job(slow, tests, "pytest")])] == ["passed"]


def test_no_annotation_that_is_the_candidates_text_is_evaluated(sandbox: Sandbox) -> None:
    text = "__import__('sys').modules['test_solution'].__dict__.__setitem__('WANT', None) or int"
    tests = (
        "import typing\nfrom solution import f\nWANT = 4711\ndef test_f():\n    def g(): ...\n    g.__annotations__['x'] = f(1)\n"
        "    typing.get_type_hints(g)\n    assert f(0) == WANT\n"
    )
    found = sandbox.run([Job(f"def f(x): return {text!r} if x else None\n", tests, "pytest")])[0]
    assert (found.status, "typing would evaluate" in found.reason) == ("failed", True)


def test_a_constant_that_the_tests_evaluate_is_not_the_candidates(sandbox: Sandbox) -> None:
    lying = "import builtins\ndef fake(source, names):\n    names['__builtins__'] = None\nbuiltins.eval = fake\ndef f(): pass\n"
    tests = "from solution import f\ndef test_f():\n    assert f() == eval('93000 + 417')\n"
    assert [verdict.status for verdict in sandbox.run([Job(lying, tests, "pytest")])] == ["failed"]


def test_programs_end_themselves_as_interpreters_let_them(sandbox: Sandbox) -> None:
    assert sandbox.run([Job("print(input())\nexit()\n", [{"input": "4", "output": "4"}], "stdio")])[0].passed


UNFINISHED = [
    "import getpass\nprint('hi' if getpass.getuser() else '')",
    "out = open('out.txt', 'w')\nprint('hi', file=out)\nprint(open('out.txt').read() + 'hi')",
    "import os\nout = os.fdopen(os.dup(1), 'w')\nout.write('hi')",
    "out = open('/dev/stdout', 'w')\nprint('hi', file=out)\ndef keep(): return out",
    "import sys\nprint('hi')\nsys.stdout.close()",
    "import sys\nwith sys.stdout as out:\n    out.write('hi')",
    "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer)\nprint('hi')",
    "class End:\n    def __del__(self):\n        print('hi')\nend = End()",
    "def lines():\n    try:\n        yield\n    finally:\n        print('hi')\nmade = lines()\nnext(made)",
]


@pytest.mark.parametrize("program", UNFINISHED)
def test_what_a_program_left_open_is_written_when_it_ends(sandbox: Sandbox, program: str) -> None:
    found = sandbox.run([Job(program, [{"input": "", "output": "hi"}], "stdio")])[0]
    assert found.passed, found


def test_no_depth_of_folders_takes_a_row_out(sandbox: Sandbox) -> None:
    program = "import os\ndef f(p):\n    os.chdir(p)\n    for _ in range(1500):\n        os.mkdir('d')\n        os.chdir('d')\n    return 1\n"
    tests = "from solution import f\ndef test_f(tmp_path):\n    assert f(str(tmp_path)) == 2\n"
    assert sandbox.run([Job(program, tests, "pytest")])[0].status == "failed"


POOL = "import multiprocessing as mp\ndef square(x): return x * x\ndef f(n):\n    with mp.get_context('HOW').Pool(2) as p:\n        return p.map(square, range(n))\n"
OF_ITS_OWN = {
    "its file": "def f(n):\n    with open(__file__) as own: return list(range(n)) if own.readline().startswith('def f') else []\n",
    "its source": "import inspect\ndef f(n): return list(range(n))[:len(inspect.getsource(f))]\n",
    "processes that begin anew": POOL.replace("HOW", "spawn").replace("x * x", "x"),
    "a server of processes": POOL.replace("HOW", "forkserver").replace("x * x", "x"),
    "a stack as large as all memory": "import sys, threading\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(2 ** 30)\n"
    "def f(n):\n    found = []\n    def deep(k): return [] if k == 0 else deep(k - 1)\n"
    "    t = threading.Thread(target=lambda: found.extend(deep(20000) or range(n)))\n    t.start()\n    t.join()\n    return found\n",
}


@pytest.mark.parametrize("what", OF_ITS_OWN)
def test_a_program_has_what_a_script_has(sandbox: Sandbox, what: str) -> None:
    text = OF_ITS_OWN[what]
    of_f: list[tuple[str, Any]] = [
        ("asserts", ["assert f(3) == [0, 1, 2]"]),
        ("humaneval", "def check(candidate):\n    assert candidate(3) == [0, 1, 2]\n"),
        ("pytest", "from solution import f\ndef test_f():\n    assert f(3) == [0, 1, 2]\n"),
        ("calls", [{"arguments": [3], "result": [0, 1, 2]}]),
    ]
    jobs = [Job(text, tests, form, entry_point="" if form == "pytest" else "f") for form, tests in of_f]
    script = text + "if __name__ == '__main__':\n    print(*f(int(input())))\n"
    for verdict in sandbox.run([*jobs, Job(script, [{"input": "3", "output": "0 1 2"}], "stdio")]):
        assert verdict.passed, verdict


PIPED = """import asyncio, sys
async def main():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print(sum([int(line) async for line in reader]))
asyncio.run(main())
"""


def test_asyncio_reads_the_standard_input(sandbox: Sandbox) -> None:
    given = "1\n" * 50_000  # more than a pipe holds
    assert sandbox.run([Job(PIPED, [{"input": given, "output": "50000"}], "stdio")])[0].passed


# later versions count calls through C and stop at ten thousand, whatever the stack is
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a stack is no bound there")
def test_a_stack_is_as_deep_as_on_the_sites(local: Sandbox) -> None:
    deep = "import functools, sys\nsys.setrecursionlimit(10 ** 7)\n@functools.cache\ndef f(n):\n    return n and f(n - 1) + 1\n"
    jobs = [Job(deep, [{"arguments": [90000], "result": 90000}], "calls", entry_point="f")]
    jobs.append(Job(deep + "print(f(90000))", [{"input": "", "output": "90000"}], "stdio"))
    assert all(verdict.passed for verdict in local.run(jobs))


def test_a_reason_can_be_printed_and_commands_no_terminal(sandbox: Sandbox) -> None:
    """The message of an error is the candidate's: half a surrogate pair ends a trainer that prints it."""
    program = 'def solve():\n    raise ValueError("\\ud800\\x1b[2J")\n'
    for_asserts = Job(program, ["assert solve()"], "asserts", entry_point="solve")
    for_pytest = Job(program, "from solution import solve\ndef test_it():\n    assert solve()\n", "pytest")
    assert all(
        verdict.reason.endswith(r"ValueError: \ud800\x1b[2J") for verdict in sandbox.run([for_asserts, for_pytest])
    )


FIXTURES = {
    "of pytest": "def test_it(tmp_path, capsys, request, tmp_path_factory): assert solve(1) == 2\n",
    "of the file": "@pytest.fixture\ndef one(): return 1\ndef test_it(one): assert solve(one) == 2\n",
    "of the file, by a name": "@pytest.fixture(name='one')\ndef make(): return 1\nclass TestIt:\n    def test_it(self, one): assert solve(one) == 2\n",
    "a parameter": "@pytest.mark.parametrize('a, b', [(1, 2)])\nclass TestIt:\n    def test_it(self, a, b): assert solve(a) == b\n",
    "a parameter of a hook": "def pytest_generate_tests(metafunc): metafunc.parametrize(('a',), [(1,)])\ndef test_it(a): assert solve(a) == 2\n",
    "a mock": "from unittest.mock import patch\n@patch('math.sqrt')\ndef test_it(sqrt): assert solve(1) == 2\n",
    "a default": "def test_it(a=1): assert solve(a) == 2\n",
}


@pytest.mark.parametrize("name", FIXTURES)
def test_what_a_test_may_ask_for(sandbox: Sandbox, name: str) -> None:
    tests = f"import pytest\nfrom solution import solve\n{FIXTURES[name]}"
    assert sandbox.run([Job("def solve(x):\n    return x + 1\n", tests, "pytest")])[0].status == "passed"


@pytest.mark.parametrize("test", ["def test_it(mocker):", "class TestIt:\n    def test_it(self, mocker):"])
def test_a_fixture_that_no_program_can_bring_refuses_the_tests(sandbox: Sandbox, test: str) -> None:
    tests = f"from solution import solve\n{test}\n        assert solve() == 1\n"
    found = sandbox.run([Job("import missing\n", tests, "pytest")])[0]
    assert found.status == "refused"
    assert "test_it asks for the fixture mocker" in found.reason
