"""What tests set, seed and replace in their own process, and work in, the candidate has in its own."""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import sys
import tempfile
import types
from typing import Any

from ..border.trusted import TrustedPeer
from ..border.uses import TEST_MODULES


def follow_seed(peer: TrustedPeer, tests: str) -> None:
    """What the tests seed the candidate has seeded too: `random`, and numpy where their text has it."""
    _follow_seed(peer, "random", random)
    if "numpy" in tests and "random.seed" in tests:
        with contextlib.suppress(ImportError):
            _follow_seed(peer, "numpy", importlib.import_module("numpy").random)


def _follow_seed(peer: TrustedPeer, name: str, module: Any) -> None:
    real = module.seed

    def seed(*args: object, **named: object) -> None:
        real(*args, **named)
        for given in [*args, *named.values()][:1]:
            if type(given) in (int, str, float, bytes):
                peer.request("seed", name, given)

    module.seed = seed


def follow_monkeypatch(peer: TrustedPeer) -> None:
    """What a test replaces in the standard library is replaced for the candidate too, and put back."""
    from _pytest.monkeypatch import MonkeyPatch

    real, undo = MonkeyPatch.setattr, MonkeyPatch.undo

    def setattr_(self: Any, target: object, *args: Any, **kwargs: Any) -> None:
        # the real one also takes a target as text: what it noted says which module was changed
        count = len(self._setattr)
        real(self, target, *args, **kwargs)
        for changed, name, _ in self._setattr[count:]:
            _patch_there(peer, changed, name, 1)

    def undo_(self: MonkeyPatch) -> None:
        # read before: undoing empties the list
        changed = [(target, name) for target, name, _ in self._setattr]
        undo(self)
        for target, name in changed:
            _patch_there(peer, target, name, -1)

    MonkeyPatch.setattr, MonkeyPatch.undo = setattr_, undo_  # type: ignore[method-assign]


def follow_mock(peer: TrustedPeer) -> None:
    """The same for `unittest.mock.patch`."""
    from unittest import mock

    patcher: Any = mock._patch
    enter, leave = patcher.__enter__, patcher.__exit__

    def enter_(self: Any) -> object:
        result = enter(self)
        _patch_there(peer, self.target, self.attribute, 1)
        return result

    def leave_(self: Any, *error: object) -> object:
        # read before: leaving deletes them
        target, name = self.target, self.attribute
        result = leave(self, *error)
        _patch_there(peer, target, name, -1)
        return result

    patcher.__enter__, patcher.__exit__ = enter_, leave_


def _patch_there(peer: TrustedPeer, target: object, name: str, more: int) -> None:
    """Replace what a test replaced here: attributes of modules that both sides have, but the streams."""
    if type(target) is not types.ModuleType or not hasattr(target, name):
        return
    module = target.__name__
    if sys.modules.get(module) is not target or module in TEST_MODULES or f"{module}.{name}" in _OWN:
        return
    # patches of one name nest: only the last that ends puts it back
    times = _replaced[module, name] = _replaced.get((module, name), 0) + more
    peer.request("patch", module, name, times <= 0, getattr(target, name) if times > 0 else None)


_replaced: dict[tuple[str, str], int] = {}
# each process has its own of these, and `border.surroundings` brings them together where that is to be
_OWN = frozenset("builtins.input sys.stdin sys.stdout sys.stderr sys.argv sys.path sys.modules os.environ".split())


def work_in(peer: TrustedPeer, shared: str) -> None:
    """Let tests and candidate work in the folder that both see, as they do where both are one process."""
    peer.surroundings.folders = (shared,)
    os.environ["TMPDIR"] = shared
    os.chdir(shared)
    peer.surroundings.agree()
    # what a test makes there is for both: another user has to read it
    os.umask(0)
    tempfile._os = _ForBoth()  # type: ignore[attr-defined]


class _ForBoth:
    """`os`, as `tempfile` uses it, without its private modes."""

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    @staticmethod
    def open(path: str, flags: int, mode: int = 0o777) -> int:
        # tempfile makes files of mode 0600, which the candidate's user could not open
        return os.open(path, flags, mode | 0o666)

    @staticmethod
    def mkdir(path: str, mode: int = 0o777) -> None:
        os.mkdir(path, 0o777)
