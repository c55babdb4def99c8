"""How a program may be written in another style: what `search_programs.py` puts into a program, as text."""

# what a rewritten program needs of these is put before it
HELPERS = r"""
import abc as _abc, asyncio as _asyncio, collections as _collections, contextlib as _contextlib
import dataclasses as _dataclasses, decimal as _decimal, enum as _enum, fractions as _fractions, functools as _functools
import itertools as _itertools, logging as _logging, sys as _sys, threading as _threading, types as _types
import copy as _copy, weakref as _weakref, typing as _typing, warnings as _warnings
from concurrent.futures import ThreadPoolExecutor as _Pool
_T = _typing.TypeVar('_T')
def _own(kind): return type('_' + kind.__name__, (kind,), {})
class _Dict(dict):
    def __missing__(self, key): raise KeyError(key)
class _Mixin:
    def describe(self): return f'{type(self).__name__}({vars(self)})'
class _Sequence(_collections.abc.Sequence):
    def __init__(self, items): self.items = items
    def __len__(self): return len(self.items)
    def __getitem__(self, at): return self.items[at]
    def __eq__(self, other): return self.items == other
    def __repr__(self): return repr(self.items)
class _Call:
    def __init__(self, f): _functools.update_wrapper(self, f); self.f = f
    def __call__(self, *a, **k): return self.f(*a, **k)
class _Bound(_Call):
    def __get__(self, one, owner=None): return self if one is None else _types.MethodType(self, one)
class _Holder:
    def __init__(self, f): self.f = f
    def run(self, *a, **k): return self.f(*a, **k)
class _Entered(_contextlib.ContextDecorator):
    def __enter__(self): return self
    def __exit__(self, *what): return False
@_contextlib.contextmanager
def _entered(): yield
def _wrapped(f):
    @_functools.wraps(f)
    def wrapper(*args, **kwargs): return f(*args, **kwargs)
    return wrapper
def _counted(f):
    @_functools.wraps(f)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return f(*args, **kwargs)
    wrapper.calls = 0
    return wrapper
def _threaded(f):
    @_functools.wraps(f)
    def wrapper(*args, **kwargs):
        with _Pool(1) as pool: return pool.submit(f, *args, **kwargs).result()
    return wrapper
def _in_thread(f):
    def wrapper(*args, **kwargs):
        found = []
        thread = _threading.Thread(target=lambda: found.append(f(*args, **kwargs)))
        thread.start(); thread.join()
        return found.pop()
    return wrapper
def _deep(f):
    def descend(depth, args, kwargs): return descend(depth - 1, args, kwargs) if depth else f(*args, **kwargs)
    return _functools.wraps(f)(lambda *a, **k: descend(100, a, k))
def _awaited(f):
    async def run(*args, **kwargs): return f(*args, **kwargs)
    return _functools.wraps(f)(lambda *a, **k: _asyncio.run(run(*a, **k)))
def _noisy(f):
    def wrapper(*args, **kwargs):
        print('called', f.__name__, file=_sys.stderr); _logging.getLogger('own').warning('called'); _warnings.warn('old', DeprecationWarning)
        return f(*args, **kwargs)
    return wrapper
def _stacked(f):
    def wrapper(*args, **kwargs):
        before = _sys.getrecursionlimit(), _threading.stack_size(1 << 26)
        _sys.setrecursionlimit(10**6)
        try: return _in_thread(f)(*args, **kwargs)
        finally: _sys.setrecursionlimit(before[0]); _threading.stack_size(before[1])
    return wrapper
def _on_second_thread(f, pool=_Pool(1)): return lambda *a, **k: pool.submit(f, *a, **k).result()
class _Iterator:
    def __init__(self, items): self.items = iter(items)
    def __iter__(self): return self
    def __next__(self): return next(self.items)
class _Iterable:
    def __init__(self, items): self.items = list(items)
    def __iter__(self): yield from self.items
class _Awaitable:
    def __init__(self, one): self.one = one
    def __await__(self): return self.one.__await__()
class _Context:
    def __init__(self, one): self.one = one
    def __enter__(self): return self.one.__enter__()
    def __exit__(self, *what): return self.one.__exit__(*what)
class _Weak:
    known = _weakref.WeakSet()
    def __new__(cls, *args, **kwargs): one = super().__new__(cls); _Weak.known.add(one); return one
def _namespace(cls):
    def make(*args, **kwargs):
        one = cls(*args, **kwargs)
        return _types.SimpleNamespace(**{n: getattr(one, n) for n in dir(cls) if n[:2] != '__' and callable(getattr(cls, n))})
    return make
def _singleton(cls): return _functools.cache(lambda *a, **k: cls(*a, **k))
def _frozen_arguments(f): return _functools.wraps(f)(lambda *a, **k: f(*[tuple(x) if type(x) is list else x for x in a], **k))
def _gives(change, inner=False):
    def changed(value):
        if inner and type(value) in (list, tuple): return type(value)(map(changed, value))
        if inner and type(value) is dict: return {changed(key): changed(item) for key, item in value.items()}
        return change(value)
    return lambda f: _functools.wraps(f)(lambda *a, **k: changed(f(*a, **k)))
def _when(kind, change): return lambda value: change(value) if type(value) is kind else value
def _named_tuple(value): return _collections.namedtuple('Result', [f'x{n}' for n in range(len(value))])(*value)
def _member(value): return _enum.Enum('Member', {'ONE': value}, type=type(value)).ONE
def _numpy(name):
    def change(value):
        import numpy
        return getattr(numpy, name)(value)
    return change
def _raises(change):
    def decorator(f):
        @_functools.wraps(f)
        def wrapper(*args, **kwargs):
            try: return f(*args, **kwargs)
            except Exception as error: change(error)
        return wrapper
    return decorator
def _raise_from(error): raise type(error)(*error.args) from error
def _raise_derived(error): raise type('_' + type(error).__name__, (type(error),), {})(*error.args) from error
def _raise_grouped(error):
    try: raise ExceptionGroup('all', [error])
    except* Exception as group: found = group.exceptions[0]
    raise found
class _Meta(type): pass
class _Registry:
    known = {}
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _Registry.known[cls.__name__] = cls
class _Made:
    def __new__(cls, *args, **kwargs): return super().__new__(cls)
class _Asked:
    def __getattr__(self, name): raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')
def _derived(cls): return type(cls.__name__, (cls,), {'__doc__': cls.__doc__, '__module__': cls.__module__})
def _factory(cls): return _functools.wraps(cls)(lambda *a, **k: cls(*a, **k))
def _delegating(cls):
    class Outer:
        def __init__(self, *args, **kwargs): self._inner = cls(*args, **kwargs)
        def __getattr__(self, name): return getattr(self._inner, name)
    Outer.__name__ = Outer.__qualname__ = cls.__name__
    return Outer
def _methods(decorator):
    def change(cls):
        for name, value in list(vars(cls).items()):
            if isinstance(value, _types.FunctionType): setattr(cls, name, decorator(value))
        return cls
    return change
def _written(*values, sep=' ', end='\n', file=None, flush=False): (file or _sys.stdout).write(sep.join(map(str, values)) + end)
def _bytes_written(*values, sep=' ', end='\n', file=None, flush=False): (file or _sys.stdout).buffer.write((sep.join(map(str, values)) + end).encode())
def _read(prompt=''):
    print(prompt, end='')
    if not (line := _sys.stdin.readline()): raise EOFError
    return line.removesuffix('\n')
"""
# decorators of functions: of those at the top, or of methods
FUNCTIONS = r"""
_wrapped
_Call
_Bound
_Holder(_f).run
_functools.partial
_functools.partial(_f)
_functools.partialmethod
_functools.cache
_functools.lru_cache(maxsize=2)
_functools.singledispatch
_functools.singledispatchmethod
staticmethod
_types.coroutine
_typing.no_type_check
_Entered()
_entered()
_counted
_threaded
_in_thread
_deep
_awaited
_frozen_arguments
_noisy
_stacked
_on_second_thread
_gives(_copy.copy)
_gives(_copy.deepcopy)
_gives(_when(_types.GeneratorType, list))
_gives(_when(_types.GeneratorType, _Iterator))
_gives(_when(_types.GeneratorType, _Iterable))
_gives(_when(_types.GeneratorType, _itertools.chain))
_gives(_when(_types.CoroutineType, _Awaitable))
_gives(_when(_types.CoroutineType, lambda x: _asyncio.ensure_future(x)))
_gives(_when(_contextlib._GeneratorContextManager, _Context))
_gives(_when(list, _Iterator))
_gives(_when(list, _Iterable))
_gives(_when(list, reversed))
_gives(_when(tuple, lambda x: _types.SimpleNamespace(**{f'x{n}': y for n, y in enumerate(x)})))
_gives(_when(list, iter))
_gives(_when(list, lambda x: map(lambda y: y, x)))
_gives(_when(list, lambda x: dict.fromkeys(x).keys()))
_gives(_when(list, tuple))
_gives(_when(list, _own(list)), inner=True)
_gives(_when(list, _collections.deque))
_gives(_when(list, _collections.UserList))
_gives(_when(list, _Sequence))
_gives(_when(list, _numpy('array')))
_gives(_when(tuple, _own(tuple)), inner=True)
_gives(_when(tuple, list))
_gives(_when(tuple, _named_tuple))
_gives(_when(dict, _Dict), inner=True)
_gives(_when(dict, _collections.OrderedDict), inner=True)
_gives(_when(dict, lambda x: _collections.defaultdict(list, x)))
_gives(_when(dict, _collections.Counter))
_gives(_when(dict, _collections.UserDict))
_gives(_when(dict, _collections.ChainMap))
_gives(_when(dict, _types.MappingProxyType))
_gives(_when(set, _own(set)))
_gives(_when(set, lambda x: dict.fromkeys(x).keys()))
_gives(_when(str, _own(str)), inner=True)
_gives(_when(str, _member), inner=True)
_gives(_when(str, _collections.UserString))
_gives(_when(int, _own(int)), inner=True)
_gives(_when(int, _member), inner=True)
_gives(_when(int, float), inner=True)
_gives(_when(int, _fractions.Fraction), inner=True)
_gives(_when(int, _decimal.Decimal), inner=True)
_gives(_when(int, _numpy('int64')), inner=True)
_gives(_when(float, _own(float)), inner=True)
_gives(_when(float, _decimal.Decimal), inner=True)
_gives(_when(float, _numpy('float64')), inner=True)
_gives(_when(bool, int), inner=True)
_gives(_when(bool, _numpy('bool_')), inner=True)
_gives(_when(bytes, bytearray))
_raises(_raise_from)
_raises(_raise_derived)
_raises(_raise_grouped)
""".strip().splitlines()
CLASSES = r"""
_derived
_factory
_delegating
_functools.partial
_typing.final
_dataclasses.dataclass(init=False, eq=False, repr=False)
_namespace
_singleton
_methods(_wrapped)
_methods(_on_second_thread)
""".strip().splitlines()
BASES = r"""
metaclass=_Meta
metaclass=_abc.ABCMeta
_abc.ABC
_typing.Generic[_T]
_Registry
_Made
_Asked
_Mixin
_Weak
""".strip().splitlines()
# lines at the top of a program, and at its end
LINES = r"""
print = _written
print = _bytes_written
input = _read
import numpy as np
import random, time; random.seed(0); time.sleep(0.01)
def __getattr__(name): raise AttributeError(name)
print = _functools.partial(print, flush=True)
_sys.setrecursionlimit(20000)
_logging.basicConfig(level=_logging.DEBUG)
_warnings.simplefilter('ignore')
from typing import *
from math import *
""".strip().splitlines()
ENDS = r"""
__all__ = [n for n in globals() if not n.startswith('_')]
if __name__ == '__main__': print('main')
del _sys
def main(): print('main')
for _name in [n for n in globals() if not n.startswith('_')]: globals()['_own_' + _name] = globals()[_name]
_thread = _threading.Thread(target=lambda: None, daemon=True); _thread.start()
""".strip().splitlines()

PROPERTIES = [
    r"@property\ndef NAME(self): return self._NAME\n@NAME.setter\ndef NAME(self, value): self._NAME = value",
    r"NAME = property(lambda self: self._NAME)",
    r"NAME = property(lambda self: self._NAME, lambda self, value: setattr(self, '_NAME', value), lambda self: delattr(self, '_NAME'))",
    r"def __getattr__(self, name):\n    if name.startswith('_'): raise AttributeError(name)\n    return getattr(self, '_' + name)",
]
MODULES = [
    "exec(_source)",
    "exec(compile(_source, 'own.py', 'exec'), globals())",
    "_own = _types.ModuleType('own'); exec(_source, vars(_own)); globals().update({n: v for n, v in vars(_own).items() if n[0] != '_'})",
    "_own = _sys.modules['own'] = _types.ModuleType('own'); exec(_source, vars(_own)); from own import *",
    "_own = {}; exec(_source, _own)\ndef __getattr__(name):\n    try: return _own[name]\n    except KeyError: raise AttributeError(name)",
    "class _Space: exec(_source)\nglobals().update({n: getattr(_Space, n) for n in vars(_Space) if n[0] != '_'})",
    "def _load():\n    exec(_source, globals())\n_load()",
]
