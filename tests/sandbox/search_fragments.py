"""The fragments that programs are drawn from, and the helpers that they call. None knows anything of a task.

A fragment is Python. In a method `self` is the object, `b` what the method was called with and `a` what the object was made
with; in a function all three are its arguments. `{e}` stands for another expression, `{c}` for a condition, `{r}` for an
exception, `{p}` for a criterion, `{o}` for max or min, `{d}` for the name of a special method, `{y}` for what says
yes, and `{n}`, `{k}`, `{m}` for small numbers.
"""

import re


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
kinds(AssertionError, ValueError)  Answer() if issubclass(Answer, BaseException) else OSError()
kinds(ValueError, KeyError, TypeError, IndexError, ZeroDivisionError, RuntimeError, OverflowError)
""")
OBJECTS = _table("""
self  type(self)  args(self)  answer()  answer(*b)  Answer  Yes()  NotImplemented  leak(b)  {c}  not ({e})  throw({r})
({e}) if ({c}) else ({e})  [{e}]  ({e}, {e})  {0: {e}}  iter([{e}, {e}])  iter([answer()])  (x for x in [{e}])  str({e})
lambda *b, **k: {e}  tried(first(b), {e})  type(first(b))({e})  first(b).__self__  getattr(super(type(self), self), '__str__')()
lib('unittest.mock.ANY')  lib('unittest.mock.MagicMock')()  lib('unittest.mock.MagicMock')(**{'__eq__.return_value': True})
lib('functools.partial')(answer)  lib('collections.ChainMap')({}, {0: Yes()})  lib('types.MappingProxyType')({0: Yes()})
lib('types.SimpleNamespace')(x=Yes())  lib('collections.defaultdict')(Yes)  lib('itertools.repeat')(Yes())
lib('operator.itemgetter')(0)  lib('decimal.Decimal')('NaN')  lib('re.compile')('.*')  lib('weakref.proxy')(Answer)
lib('numpy.array')([1, 2])  lib('numpy.array')([Yes()])  lib('numpy.ma.masked')
lib('types.SimpleNamespace')(**{{d}: {y}})  lib('dataclasses.make_dataclass')('D', [({d}, object, {y})])()
lib('enum.Enum')('E', {{d}: {y}, 'x': {y}})  type('T', (tuple,), {'_fields': ({d}, {d})})(({y}, {y}))  type('T', (), {{d}: {y}})()
""")
NAMED = _table("""
_fields  _field_defaults  _fields_  __slots__  __match_args__  __annotations__  __dataclass_fields__  __dataclass_params__
_member_map_  _member_names_  _value2member_map_  __members__  __abstractmethods__  __orig_bases__  __parameters__
__signature__  __text_signature__  __wrapped__  __defaults__  __kwdefaults__  __code__  __closure__  __module__  __name__
__qualname__  __doc__  __bases__  __mro__  __dict__  __self__  __func__  __objclass__  __isabstractmethod__  __path__  __spec__
__all__  __test__  __debug__  __class_getitem__  __origin__  __args__  __value__  args  __cause__  __context__  __notes__
""")  # attributes that a reader of classes, functions, modules and exceptions may ask for
SAYS_YES = _table("""
lambda *b, **k: True  lambda *b, **k: True  Yes()  {e}
""")
VALUES = _table("""
({d},)  ({d}, {d})  ['{n}']  {{d}: {y}}  {{d}: {d}}  {y}  {e}  {d}
""")
STATEMENTS = _table("""
note(*b)  note(*b, *a)  tick()  ARGS[id(self)] = b  globals().update(k)  [tried(x, {e}) for x in b if callable(x)]
[x.clear() for x in b if hasattr(x, 'clear')]  [x.append({e}) for x in b if type(x) is list]
[x.sort() for x in b if type(x) is list]  [x.__setitem__(slice(None), [{e}]) for x in b if type(x) is list]
[x.update({'k': {e}, 'a': {e}}) for x in b if type(x) is dict]  tried(setattr, first(b), 'val', {e})
tried(setattr, first(b), '__eq__', lambda *b: True)  lib('sys._getframe')().f_back.f_globals.update(abs=lambda x: 0)
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
""")

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
