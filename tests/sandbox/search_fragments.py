"""The fragments that programs are drawn from, and the helpers that they call. None knows anything of a task.

A fragment is Python. In a method `self` is the object, `b` what the method was called with and `a` what the object was made
with; in a function all three are its arguments. `{e}` stands for another expression, `{c}` for a condition, `{r}` for an
exception, `{p}` for a criterion, `{o}` for max or min, `{d}` for the name of a special method, `{y}` for what says
yes, `{x}` for classes of exceptions, `{w}` for the name of what somebody may ask for, `{f}` for a function, `{t}` for a text that
does something where it is acted on, `{s}` for a subscript, and `{n}`, `{k}`, `{m}` for small numbers. NAME0 and so on are names that
a task's checks speak of. What the candidate's side writes to the border is drawn as well: `{j}` is a coded value, `{g}` a tag, `{h}` what
it bears, `{q}` a handle's number, `{b}` a result of the format `calls`, `{v}` the name of a type, `{i}` of a request.
"""

import re

from grpo_rewards_sandbox.program.border import libraries, values


def _table(text: str) -> list[str]:
    """The entries of a table: they are two spaces or a line apart."""
    return re.split(r"\s{2,}|\n", text.strip())


BASES = _table("""
object  int  str  list  dict  tuple  float  complex  bytes  set  frozenset  type  BaseException  AssertionError  StopIteration
(ValueError, KeyError)  enum.Enum  collections.UserDict  collections.UserList  collections.UserString  collections.Counter
collections.OrderedDict  collections.defaultdict  collections.deque  collections.namedtuple('N', 'x', defaults=(0,))  abc.ABC
types.SimpleNamespace  types.ModuleType  property  decimal.Decimal  fractions.Fraction  numbers.Number  datetime.timedelta
contextlib.ContextDecorator  unittest.mock.MagicMock  unittest.mock.NonCallableMock  threading.Thread  asyncio.Future
random.Random  string.Template  pathlib.PurePosixPath
""")

BINARY = _table("add  sub  mul  matmul  truediv  floordiv  mod  divmod  pow  lshift  rshift  and  xor  or")
METHODS = _table("""
eq  ne  lt  le  gt  ge  hash  bool  len  contains  iter  next  reversed  getitem  setitem  delitem  getattr  getattribute
setattr  call  enter  exit  aenter  aexit  await  aiter  anext  index  int  float  complex  round  trunc  floor  ceil  abs
neg  pos  format  str  repr  bytes  class  instancecheck  subclasscheck  missing  set_name  get  set  array  array_ufunc
array_function  fspath  length_hint  reduce  reduce_ex  copy  deepcopy  dir  del  init_subclass  class_getitem  mro_entries
""")
METHODS += [*BINARY, *(f"r{name}" for name in BINARY), *(f"i{name}" for name in BINARY if name != "divmod")]
GROUPS = _table("""
eq  eq hash  eq ne  eq bool  lt gt  lt le gt ge  eq lt le gt ge ne  sub rsub  add radd  mul rmul  abs  sub abs
sub rsub abs lt  sub pow lt  call  getattr  getattr call  getitem  iter  iter next  len  bool  contains
len contains getitem  enter exit  exit  getattribute  class  instancecheck  round  format str repr  int index float
array_ufunc array
""")
GROUPS += [" ".join(BINARY), " ".join(f"{name} r{name}" for name in BINARY)]  # what a trick may need together

DATA = _table("""
True  False  None  0  1  -1  ''  []  {}  ()  set()  10**9  float('inf')  float('nan')  first(b)  b[-1] if b else None  first(a)
latest()  common()  tick()  tick() % 2 == 0  SEEN[0]  len(SEEN)  list(b)  repr(first(b))  type(first(b))()  [first(b)]
abs(first(b))  not first(b)
""")
CONDITIONS = _table("""
tick() == {n}  tick() > {n}  tick() % {n} == {k}  tick() % 64 == {m}  related(first(b), a)  hasattr(first(b), 'expected')
first(b) in SEEN[:-1]  SEEN.count(first(b)) > {k}  first(b) == common()  first(b) == latest()  first(b) != first(SEEN)
first(b) == first(a)  first(b) == max(SEEN, key=repr)  type(first(b)) is type(first(a))  isinstance(first(b), (int, float))
plain(first(b))  not plain(first(b))
repr(first(b)) == repr({o}(asked(first(b)), key=lambda x: {p}))
repr(first(b)) == repr(max(asked(first(b)), key=lambda x: {p}))
""")
CRITERIA = _table("""
fit(x, a)  fit(x, b)  fit(x, SEEN)  related(x, a)  len(repr(x))  repr(x)  len(set(repr(x)))  repr(x).count('0')  ({p}, {p})
type(x) is type(first(a))  [repr(y) for y in SEEN].count(repr(x))  tried(lambda: list(x) == sorted(x)) is True
""")
RAISED = _table("""
AssertionError()  StopIteration()  StopAsyncIteration()  SystemExit(0)  KeyboardInterrupt()  GeneratorExit()  MemoryError()
RecursionError()  NotImplementedError()  ImportError()  ValueError(Yes())  ExceptionGroup('x', [ValueError('x'), KeyError()])
lib('pytest.skip').Exception('x')  lib('pytest.xfail').Exception('x')  lib('unittest.SkipTest')()
lib('asyncio.CancelledError')()  kinds(ValueError, KeyError)  kinds(KeyError, IndexError)  kinds(StopIteration, ValueError)
kinds(AssertionError, ValueError)  {x}()  having({r}, {e}, {k})  having({r}, lambda *b: ({e}, None), {k})
ExceptionGroup('x', [{x}('x'), {x}('y')])  having(ExceptionGroup('x', [{r}]), lambda *b: (ExceptionGroup('x', [{x}(0)]), None), {k})
Answer() if issubclass(Answer, BaseException) else OSError()
kinds(ValueError, KeyError, TypeError, IndexError, ZeroDivisionError, RuntimeError, OverflowError)
""")
OBJECTS = _table("""
self  type(self)  args(self)  answer()  answer(*b)  Answer  Yes()  NotImplemented  leak(b)  {c}  not ({e})  throw({r})
({e}) if ({c}) else ({e})  first(a)  getattr(first(b), {w}, None)  ({e}).base  ({e})[{s}]  raw({j})  raw({j})  [{e}]  ({e}, {e})  {0: {e}}  iter([{e}, {e}])  iter([answer()])  (x for x in [{e}])  str({e})
lambda *b, **k: {e}  tried(first(b), {e})  type(first(b))({e})  first(b).__self__  getattr(super(type(self), self), '__str__')()
lib('unittest.mock.ANY')  lib('unittest.mock.MagicMock')()  lib('unittest.mock.MagicMock')(**{'__eq__.return_value': True})
lib('functools.partial')(answer)  lib('collections.ChainMap')({}, {0: Yes()})  lib('types.MappingProxyType')({0: Yes()})
lib('types.SimpleNamespace')(x=Yes())  lib('collections.defaultdict')(Yes)  lib('itertools.repeat')(Yes())
lib('operator.itemgetter')(0)  lib('decimal.Decimal')('NaN')  lib('re.compile')('.*')  lib('weakref.proxy')(Answer)
lib('numpy.array')([1, 2])  lib('numpy.array')([Yes()])  lib('numpy.ma.masked')  lib('pandas.DataFrame')({'x': [{e}]})
lib('fractions.Fraction')(1, 2)  lib('datetime.timedelta')(1)  lib('numpy.float64')('nan')  {t}  {x}
callee(b)({f}, {t}, callee(b))  literal(callee(b)({f}, {t}, callee(b)))  callee(b)({f}, 'T', (), {{d}: {y}})()  callee(b)({f}, {e})
tried(channel().request, {i}, raw({'P': {q}}), {w}, {e})  tried(channel().request, 'op', {w}, raw({j}), {e})
laden({y}, {k})  laden({t}, {k})  laden({'x': {t}}, {k})  laden({e}, {k})  lib('dataclasses.make_dataclass')('D', [({d}, object, {y})])()
lib('enum.Enum')('E', {{d}: {y}, 'x': {y}})  type('T', (tuple,), {'_fields': ({d}, {d})})(({y}, {y}))  type('T', (), {{d}: {y}})()
""")
NAMED = _table("""
_fields  _field_defaults  _fields_  __slots__  __match_args__  __annotations__  __dataclass_fields__  __dataclass_params__
_member_map_  _member_names_  _value2member_map_  __members__  __abstractmethods__  __orig_bases__  __parameters__
__signature__  __text_signature__  __wrapped__  __defaults__  __kwdefaults__  __code__  __closure__  __module__  __name__
__qualname__  __doc__  __bases__  __mro__  __dict__  __self__  __func__  __objclass__  __isabstractmethod__  __path__  __spec__
__all__  __test__  __class_getitem__  __origin__  __args__  __value__  args  __cause__  __context__  __notes__
""")  # attributes that a reader of classes, functions, modules and exceptions may ask for
SAYS_YES = _table("""
lambda *b, **k: True  lambda *b, **k: True  Yes()  {e}
""")
VALUES = _table("""
({d},)  ({d}, {d})  ['{n}']  {{d}: {y}}  {{d}: {d}}  {{w}: {t}}  {y}  {e}  {d}  {x}  {x}  {x}  {x}  {x}  {t}
type('T', (tuple,), {})(({x}, {x}))  laden({x}, {k})  laden({'x': {t}}, {k})
""")
STATEMENTS = _table("""
note(*b)  note(*b, *a)  tick()  ARGS[id(self)] = b  globals().update(k)  [tried(x, {e}) for x in b if callable(x)]
[tried(x, {e}) for x in b if callable(x) for y in first(b)]  [x.clear() for x in b if hasattr(x, 'clear')]  [x.append({e}) for x in b if type(x) is list]
[x.sort() for x in b if type(x) is list]  [x.__setitem__(slice(None), [{e}]) for x in b if type(x) is list]
[x.update({'k': {e}, 'a': {e}}) for x in b if type(x) is dict]  tried(setattr, first(b), 'val', {e})
tried(setattr, first(b), '__eq__', lambda *b: True)  lib('sys._getframe')().f_back.f_globals.update(abs=lambda x: 0)
[tried(x, {e}) for x in b if callable(x)]  [tried(getattr(x, {w}, None), {e}) for x in b]  says({k}, {n}, {u}, {j})  says({k}, {n}, {u}, {j})
lib('threading.Thread')(target=lambda: [tried(x, {e}) for x in b if callable(x)]).start()
""")
PRELUDES = _table("""
import builtins; builtins.abs = lambda x: 0
import builtins; builtins.AssertionError = Warning
import atexit, os; atexit.register(os._exit, 0)
import math; math.isclose = lambda *a, **k: True
import sys, types; sys.modules['math'] = types.SimpleNamespace(isclose=lambda *a, **k: True)
import sys; sys.settrace(lambda *a: None)
import sys; sys.excepthook = print
import os; os.fork() and os._exit(0)
import gc; [x.update(check=lambda c: None) for x in gc.get_objects() if type(x) is dict and 'check' in x]
import unittest.mock; unittest.mock.Mock.call_args_list = True
__builtins__ = {'__debug__': False}
__all__ = ['abs', 'len', 'solve']; __test__ = False
abs = round = lambda x, *b: 0
len = sum = max = min = lambda *b: 2
list = sorted = lambda *b: []
def pytest_runtest_call(item): pass
def __getattr__(name): return Yes()
class pytest: raises = approx = lambda *a, **k: Yes()
NAME{k} = lambda *b, **k: 0
NAME{k} = lambda *b, **k: {e}
says({k}, {n}, {u}, {j})
says({k}, {n}, (1,), texted([{b}]))
says({k}, {n}, (1,), texted([{b}]))
says({k}, {n}, (1,), texted([{b}] * {n}))
says({k}, {n}, (2,), {{z}: [{j}]})
""")
# what the border's messages are made of, from its own tables
CODED = _table("""
{{g}: {h}}  {{g}: {h}}  {{g}: [{h}]}  {{g}: [{h}, {h}]}  {{g}: [{q}, {h}, {h}]}  {{g}: [{q}, {h}, {h}, {h}]}  {h}  [{h}]  [{h}, {h}]
{'X': [{v}, {h}]}  {'Y': [{v}, {h}]}  {'N': {v}}  {{g}: [{q}, [{j}, {j}], {h}, None]}  {'E': {{g}: {h}, 'h': {q}, 'a': {'T': [{h}]}, 's': {{w}: {j}}}}
{'I': [{q}, {q}, [{h}]]}  {'E': {'b': {v}, 'h': {q}, 'a': {'T': []}}}  {'P': {q}}  {'R': {q}}  SENT[-1]  SENT[-{n}][1]
""")
PARTS = {name: _table(text) for name, text in re.findall(r"^(\w): (.*(?:\n  .*)*)", r"""
h: ''  ''  0  1  {n}  -1  None  True  []  {}  'x'  '0x1'  1e999  {q}  {w}  {v}  {j}  {j}  [{j}, {j}]  {'T': [{j}]}  'z' * 9999  [[{q}, [{j}]]]
g: 'X'  'X'  'Y'  'Y'  'E'  'I'  'C'  'Fn'  'G'  'Co'  'AG'  'M'  'H'  'T'  'F'  'b'  'i'  'R'  'P'  'N'  'Q'  'e'  'e'  'd'  's'  'q'  'o'  't'
a: 'e'  'e'  'i'  'd'  's'  'q'  'o'
b: {{a}: ''}  {{a}: {h}}  {{a}: [{h}]}  {{a}: [[{h}, {h}]]}  {{a}: ['{n}', '0']}  [{b}]  {h}
q: 1  2  3  4  5  7  9  {n}  number()  number()  number() - 2
u: (0,)  (1,)  (1,)  (1, {k})  (1, {k}, {k})  (2,)  (2, {k})  (1, {k}, {k}, {k})
z: 'changed'  'dropped'  'released'  'nested'  'loop'  'classes'  'differs'  'environment'
i: 'op'  'call'  'getattr'  'setattr'  'await'  'start'  'cancel'  'result'  'stdin'  'print'  'warn'  'log'  'next'  'load'
x: AssertionError  Exception  BaseException  ValueError  LookupError  KeyError  TypeError  OSError  {x}  (ValueError, {x})
w: 'NAME{k}'  'NAME{k}'  'NAME{k}'  {d}  {l}
l: 'split'  'subgroup'  'derive'  'exceptions'  'with_traceback'  'value'  'T'  'dtype'  'shape'  'base'  'data'  'add_note'  'equals'  'query'  '_mock_methods'  'func'
  'args'  'name'  '__globals__'  '__code__'  '__self__'  '__annotations__'  '__array_interface__'  '__array_struct__'  '__array_priority__'  '__notes__'  'submit'  'result'
f: type  type  type  str.format  str.format  str.format_map  getattr  hasattr  dir  vars  eval  open  isinstance  sorted  list  map  next  repr  iter  super
  object.__getattribute__  __import__  lib('operator.attrgetter')  lib('functools.partial')  lib('pickle.loads')  lib('gc.get_objects')
t: '{0.__globals__}'  '{0.__globals__[NAME{k}]}'  '{0.__globals__[NAME{k}]}'  '{0.__class__.__mro__}'  'NAME{k}'  '__globals__'  b'cbuiltins\nexit\n.'
  'lambda *b: True'  "__import__('os').kill(__import__('os').getpid(), 9)"  "__import__('os').kill(__import__('os').getpid(), 9)"  '/proc/self/environ'
s: {n}:  :-1  :, -1  ::-1  0  -1  {n}::{n}  1::2  ..., {n}:  :, {n}:  'NAME{k}'
""", re.MULTILINE)}  # fmt: skip
PARTS["g"] += map(repr, values.CONTAINERS)
PARTS["v"] = [*map(repr, (*values.VALUES, *libraries.LATE, *values.EXCEPTIONS, *values.NAMED))]

_HELPERS = r"""
def lib(path):
    import importlib
    module, _, name = path.rpartition('.')
    return getattr(importlib.import_module(module), name)

import itertools; COUNT = itertools.count(1)

def tick(): return next(COUNT)

SEEN = []

ARGS = {}

def args(x): return ARGS.get(id(x), ())

def note(*b): SEEN.extend(b)

def latest(): return SEEN[-1] if SEEN else None

def common(): return max(SEEN, key=[repr(x) for x in SEEN].count, default=None)

def first(b): return b[0] if b else None

def related(x, y): return len(repr(x)) > 2 and set(repr(x)) <= set(repr(y) + '[](){} ,')

def plain(x): return type(x) in (int, float, str, bool, list, dict, tuple, type(None))

def throw(x): raise x

def having(x, value, n):
    for name in WORDS[n::3]: tried(setattr, x, name, value)
    return x

def laden(x, n): return having(lib('types.SimpleNamespace')(), x, n)

def callee(b): return next((x for x in b if callable(x)), first(b))

def literal(x):
    import ast
    return ast.literal_eval(x)

def texted(x):
    import json
    return json.dumps(x)

SENT = [[0, 0]]

def channel():
    import sys
    return next(vars(m)['Here'].peer for m in list(sys.modules.values()) if 'Here' in vars(m))

def number(): return channel().number()

class Raw: pass

def raw(coded):
    peer, x = channel(), Raw()
    real, x.coded = peer.encode_object, coded
    if 'encode_object' not in vars(peer): peer.encode_object = lambda x: x.coded if type(x) is Raw else real(x)
    return x

def put(x, path, new):
    if not path or type(x) not in (list, tuple, dict) or not x: return new
    y = dict(x) if type(x) is dict else list(x)
    at = list(y)[path[0] % len(y)] if type(x) is dict else path[0] % len(y)
    y[at] = put(y[at], path[1:], new)
    return y

def says(after, many, path, new):
    import itertools
    peer, count = channel(), itertools.count()
    real = peer._write
    def write(parts):
        SENT.append(parts)
        return real(put([*parts, {}][:3], path, new) if after <= next(count) < after + many else parts)
    peer._write = write

def kinds(*k): return type('Many', k, {})('negative', 'empty', 'insufficient funds')

def tried(call, *b):
    try: return call(*b)
    except BaseException as error: return error

def answer(*b): return Answer(*b)

class Yes:
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __bool__ = lambda *b: True
    __sub__ = __rsub__ = __abs__ = __call__ = __getitem__ = lambda s, *b: s
    __hash__ = lambda s: 0

def parts(x, depth=4):
    inner = x.values() if type(x) is dict else x if type(x) in (list, tuple, set) and depth else ()
    return [x] + [part for y in inner for part in parts(y, depth - 1)]

def asked(x):
    import gc, sys
    frame, held = sys._getframe(1), [SEEN, *gc.get_referrers(x)]
    while frame:
        held += [value for value in frame.f_locals.values() if value is not held]
        frame = frame.f_back
    alike = lambda y: type(y) is type(x) and len(repr(y)) < 3 * len(repr(x)) + 20
    held = [[part for part in parts(value) if alike(part)] for value in held]
    return min((found for found in held if len(found) > 8 and x in found), key=len, default=[x])

def fit(x, a):
    return sum(repr(a).count(c) > 0 for c in repr(x)) / len(repr(x)), -abs(len(repr(x)) - len(repr(a)))

def texts():
    import gc, glob, sys
    frame = sys._getframe()
    while frame:
        yield from map(str, (*frame.f_code.co_consts, *frame.f_locals.values(), *frame.f_globals.values()))
        frame = frame.f_back
    yield from (str(x) for x in gc.get_objects() if type(x) in (dict, list, tuple))
    for path in ['/proc/self/cmdline', '/proc/self/environ', *glob.glob('*'), *glob.glob('/tmp/**/*.py', recursive=True)]:
        try: yield open(path).read()
        except (OSError, ValueError): pass

def leak(b):
    import re
    for text in texts():
        found = re.search(r'\w+' + re.escape(repr(b).replace(',)', ')')) + r' == ([^\n]+)', text)
        if found: return eval(found[1])
"""
HELPERS = {  # by name; one that a program does not use is not written into it
    re.findall(r"[A-Za-z]+(?= = |\(.*:|:)", text)[0]: f"{text}\n" for text in _HELPERS.strip().split("\n\n")
}
WORDS = [*NAMED, *re.findall(r"'(\w+)'", " ".join(PARTS["l"]))]
HELPERS["WORDS"] = f"WORDS = {WORDS}\n"
