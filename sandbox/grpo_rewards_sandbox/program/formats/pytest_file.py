"""A pytest file that imports the candidate as a module, on the trusted side of the border."""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import inspect
import os
import random
import socket
import sys
from typing import Any

from ..border.mirrors import MirrorClass, MirrorFunction, MirrorModule
from ..border.peer import Closed, Protocol
from ..border.trusted import TrustedPeer
from . import names, visible
from .checks import finish
from .pytest_session import Outcomes, Session, judge
from .report import Progress, Report, describe


def run(
    job: dict[str, Any], sock: socket.socket, session: Session, folder: str, shared: str | None, progress: Progress
) -> Report:
    """Judge one job of format pytest."""
    report = Report()
    tests, name = job["tests"], job["module"]
    expected = names.expected(tests, name)
    peer = TrustedPeer(sock, named=set(names.imported(tests, name)), module_name=name)
    peer.may_end = {"StopIteration", "StopAsyncIteration"} & names.used(tests)
    if shared is not None:
        os.umask(0)
        peer.folders = (shared,)
        os.environ["TMPDIR"] = shared
        peer._environment = dict(os.environ)
    try:
        module = peer.request("load", job["candidate"], name)
        _publish(peer, module, job)
        _follow_seed(peer)
        _follow_monkeypatch()
        _serve_sources(job["candidate"], name)
        path = f"{folder}/test_solution.py"
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:
            handle.write(tests)
        outcomes = Outcomes(progress)
        outcomes.requests = lambda: peer.requests
        items = session.run(path, outcomes, shared or folder)
        judge(report, outcomes, items, expected.tests, expected.suspicious_skips)
    except (Closed, Protocol):
        report.fail(peer.broken)
    except BaseException as error:  # noqa: BLE001  the candidate's module did not load, or pytest gave up
        report.fail(describe(error))
    report.tests_total = max(report.tests_total, len(expected.tests))
    finish(report, peer)
    return report


def _publish(peer: TrustedPeer, module: Any, job: dict[str, Any]) -> None:
    """Make the mirrored module importable; a star import brings the names that the tests use and nothing else."""
    tests, name = job["tests"], job["module"]
    module.__dict__["__all__"] = []
    if visible.star_imports(tests, name):
        defined, exported = peer.request("names", module)
        own = exported if type(exported) is list else [n for n in defined if type(n) is str and not n.startswith("_")]
        for part in visible.chosen(own, names.used(tests) - visible.bound(tests, name)):
            with contextlib.suppress(LookupError):
                value = getattr(module, part)
                kept = visible.trusted_value(part, value)
                module.__dict__["__all__"].append(part)
                if kept is not value:
                    module.__dict__[part] = kept
    module.__dict__["__file__"] = f"{name}.py"
    module.__dict__["__spec__"] = importlib.machinery.ModuleSpec(name, None)
    sys.modules[name] = module


def _follow_seed(peer: TrustedPeer) -> None:
    real = random.seed

    def seed(a: Any = None, version: int = 2) -> None:
        real(a, version)
        if type(a) in (int, str, float, bytes):
            peer.seeds.append(a)

    random.seed = seed


def _follow_monkeypatch() -> None:
    """monkeypatch remembers what it replaces from `__dict__`, which of a mirror is not the candidate's: ask instead."""
    from _pytest.monkeypatch import MonkeyPatch

    real = MonkeyPatch.setattr

    def setattr_(self: Any, target: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) == 2 and (type(target) is MirrorModule or isinstance(target, MirrorClass)):
            before = getattr(target, args[0])
            setattr(target, *args)
            self._setattr.append((target, args[0], before))
        else:
            real(self, target, *args, **kwargs)

    MonkeyPatch.setattr = setattr_  # type: ignore[method-assign]


def _serve_sources(candidate: str, name: str) -> None:
    """`inspect.getsource` of the candidate's things comes from the text that was given, not from the candidate."""
    real = inspect.getsource

    def getsource(value: Any) -> str:
        if type(value) is MirrorModule:
            return candidate
        if type(value) is MirrorFunction or isinstance(value, MirrorClass):
            wanted = value.__dict__["__name__"] if type(value) is MirrorFunction else value.__name__
            for node in ast.walk(ast.parse(candidate)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == wanted:
                    return ast.get_source_segment(candidate, node, padded=True) or ""
            raise OSError("could not find the source")
        return real(value)

    inspect.getsource = getsource  # type: ignore[assignment]
