"""What tests set, seed and replace in their own process, and work in, the candidate has in its own."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from ..border.proxies import Proxy, ProxyClass
from ..border.proxy_functions import ProxyModule
from ..border.surroundings import SEEDS, open_temporary_files
from ..border.trusted import TrustedPeer
from ..border.uses import TEST_MODULES
from ..standstill import Turns
from . import names


def follow_seed(peer: TrustedPeer, tests: str) -> None:
    """What the tests seed the candidate has seeded too: `random`, and libraries where their text has them."""
    for module, function in SEEDS.items():
        if module == "random" or (module in tests and function.rpartition(".")[2] in tests):
            with contextlib.suppress(ImportError):
                _follow_seed(peer, module, function)


def _follow_seed(peer: TrustedPeer, module: str, function: str) -> None:
    *path, name = function.split(".")
    place = functools.reduce(getattr, path, importlib.import_module(module))
    real = getattr(place, name)

    def seed(*args: object, **named: object) -> object:
        result: object = real(*args, **named)
        for given in [*args, *named.values()][:1]:
            if type(given) in (int, str, float, bytes):
                peer.tell("seed", module, given)
        return result

    setattr(place, name, seed)


def follow_monkeypatch(peer: TrustedPeer) -> None:
    """What a test replaces in the standard library is replaced for the candidate too, and put back."""
    from _pytest.monkeypatch import MonkeyPatch

    def noted(patch: Any) -> list[tuple[object, str]]:
        return [(target, name) for target, name, _ in patch._setattr]

    _follow(peer, MonkeyPatch, "setattr", "undo", noted)


def follow_mock(peer: TrustedPeer) -> None:
    """The same for `unittest.mock.patch`."""
    from unittest import mock

    def noted(patch: Any) -> list[tuple[object, str]]:
        target = getattr(patch, "target", None)  # set on entering, and deleted on leaving
        return [] if target is None else [(target, patch.attribute)]

    _follow(peer, mock._patch, "__enter__", "__exit__", noted)


def follow_assigned(peer: TrustedPeer, tests: str) -> None:
    """The same for what the tests set themselves: ``requests.post = Mock()``."""
    first: dict[tuple[str, str], object] = {}

    class Followed(types.ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            before = first.setdefault((self.__name__, name), vars(self).get(name))
            super().__setattr__(name, value)
            _patch_there(peer, self, name, -sys.maxsize if value is before else 1)

    for module, *place, name in names.assigned(tests):
        with contextlib.suppress(ImportError):
            held = _within(importlib.import_module(module), place)
            if type(held) is types.ModuleType:
                held.__class__ = Followed
            elif isinstance(held, type) and not isinstance(held, ProxyClass):
                peer.differs(
                    f"what the tests assign to {held.__name__}.{name} is not there for the candidate, as what `mock.patch` replaces is"
                )


def import_submodules(tests: str) -> None:
    """Have what the program's own imports would bring where both are one process: ``import matplotlib``, ``matplotlib.axes.Axes``."""
    for name in names.submodules(tests):
        package, _, part = name.rpartition(".")
        with contextlib.suppress(ImportError):
            held = importlib.import_module(package)
            if hasattr(held, "__path__") and not hasattr(held, part):
                importlib.import_module(name)


def _follow(
    peer: TrustedPeer, patcher: Any, replace: str, undo: str, noted: Callable[[Any], list[tuple[object, str]]]
) -> None:
    """`noted`: what a patcher has replaced by now. It also takes a target as text: only what it notes says which module that is."""
    replacing, undoing = getattr(patcher, replace), getattr(patcher, undo)

    def replace_(self: Any, *args: Any, **kwargs: Any) -> object:
        before = len(noted(self))
        result = replacing(self, *args, **kwargs)
        for target, name in noted(self)[before:]:
            _patch_there(peer, target, name, 1)
        return result

    def undo_(self: Any, *args: Any) -> object:
        changed = noted(self)  # undoing forgets it
        result = undoing(self, *args)
        for target, name in changed:
            _patch_there(peer, target, name, -1)
        return result

    setattr(patcher, replace, replace_)
    setattr(patcher, undo, undo_)


def _patch_there(peer: TrustedPeer, target: object, name: str, more: int) -> None:
    """Replace what a test replaced here: attributes of modules that both sides have, but the streams, and of their classes."""
    place: tuple[str, ...] = ()
    if isinstance(target, (ProxyModule, ProxyClass)):
        return  # the candidate's own
    if isinstance(target, types.ModuleType):
        module = target.__name__
    elif isinstance(target, type):
        module, place = target.__module__, tuple(target.__qualname__.split("."))
    else:
        return
    if _within(sys.modules.get(module), place) is not target or module in TEST_MODULES or f"{module}.{name}" in _OWN:
        return
    # patches of one name nest: only the last that ends puts it back
    times = _replaced[module, place, name] = max(_replaced.get((module, place, name), 0) + more, 0)
    peer.tell("patch", module, place, name, not times, getattr(target, name) if times else None)


def _within(module: object, place: Iterable[str]) -> object:
    return functools.reduce(lambda held, part: getattr(held, part, None), place, module)


_replaced: dict[tuple[str, tuple[str, ...], str], int] = {}
# each process has its own of these, and `border.surroundings` brings them together where that is to be
_OWN = frozenset("builtins.input sys.stdin sys.stdout sys.stderr sys.argv sys.path sys.modules os.environ".split())


# libraries that write files without Python's `open`, and their functions
_WRITE_UNSEEN = frozenset(
    "parquet to_parquet feather to_feather orc to_orc to_hdf pyarrow duckdb h5py torch cv2 polars netCDF4 xarray safetensors memmap mmap attach ATTACH vacuum VACUUM".split()
)


def name_loggers() -> None:
    """A logger of the candidate's that `assertLogs` is given is the one of that name here, to which comes what it logs."""
    from unittest import TestCase

    def by_name(real: Callable[..., object]) -> Callable[..., object]:
        def method(case: object, logger: Any = None, level: object = None) -> object:
            return real(case, logger.name if isinstance(logger, Proxy) else logger, level)

        return method

    for name in ("assertLogs", "assertNoLogs"):
        setattr(TestCase, name, by_name(getattr(TestCase, name)))


def work_in(peer: TrustedPeer, turns: Turns) -> None:
    """Let tests and candidate work in the folder that both see, as they do where both are one process."""
    turns.always = not peer.text.words.isdisjoint(_WRITE_UNSEEN)
    peer.surroundings.folders = (turns.folder,)
    os.environ["TMPDIR"] = turns.folder
    os.chdir(turns.folder)
    # what a test makes there is for both: another user has to read it
    os.umask(0)
    open_temporary_files()
