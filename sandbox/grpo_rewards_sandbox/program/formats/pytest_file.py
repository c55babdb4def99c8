"""A pytest file that imports the candidate as a module, on the trusted side of the border."""

from __future__ import annotations

import contextlib
import importlib.machinery
import linecache
import os
import socket
import sys
from typing import Any

from ..border.messages import Closed, Protocol
from ..border.proxies import module_namespace
from ..border.trusted import TrustedPeer
from . import guard, names, over_there, review, visible
from .checks import finish, prepare
from .pytest_session import Outcomes, Session, judge
from .report import Progress, Report, describe, refused


def run(
    job: dict[str, Any], sock: socket.socket, session: Session, folder: str, shared: str | None, progress: Progress
) -> Report:
    """Judge one job of format pytest."""
    report = Report()
    tests, name = job["tests"], job["module"]
    wanted = names.expected(tests)
    asked = names.imported(tests, name)
    if why := review.unjudgeable(tests, name, asked) or review.left_out(tests, name):
        return refused(why)
    under_test = review.classes_under_test(tests, name, asked, job["classes"])
    peer = TrustedPeer(sock, under_test=under_test, module_name=name)
    prepare(peer, tests)
    if shared is not None:
        over_there.open_temporary_files()
        peer.folders = (shared,)
        os.environ["TMPDIR"] = shared
        peer.follow_from_here()
    try:
        peer.follow_environment()
        module = peer.request("load", job["candidate"], name)
        _publish(peer, module, job)
        over_there.follow_seed(peer)
        over_there.follow_monkeypatch(peer)
        if "mock" in tests:
            over_there.follow_mock(peer)
        over_there.serve_sources(job["candidate"], name)
        over_there.reload(peer, job["candidate"])
        over_there.keep_candidates_text_out(peer, job["candidate"], tests)
        path = f"{folder}/test_solution.py"
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as handle:
            handle.write(tests)
        linecache.cache[path] = (
            len(tests),
            None,
            tests.splitlines(keepends=True),
            path,
        )  # read from here when one fails
        guard.install(peer.refuse, path, shared)
        outcomes = Outcomes(progress)
        items = session.run(path, outcomes, shared or folder)
        judge(report, outcomes, items, wanted)
    except (Closed, Protocol):
        report.fail(peer.broken)
    except BaseException as error:  # noqa: BLE001  the candidate's module did not load, or pytest gave up
        report.fail(describe(error))
    report.tests_total = max(report.tests_total, len(wanted.tests))
    finish(report, peer)
    return report


def _publish(peer: TrustedPeer, module: Any, job: dict[str, Any]) -> None:
    """Make the proxied module importable; a star import brings the names that the tests use and nothing else."""
    tests, name = job["tests"], job["module"]
    held = module_namespace(module)
    if "__doc__" in tests:
        *_, doc = peer.request("names", module)
        held["__doc__"] = doc if type(doc) is str else None
    if visible.star_imports(tests, name):
        shown = held["__all__"] = []
        defined, exported, _ = peer.request("names", module)
        own = exported if type(exported) is list else [n for n in defined if type(n) is str and not n.startswith("_")]
        for part in visible.chosen(own, names.used(tests) - visible.bound(tests, name)):
            with contextlib.suppress(LookupError):
                value = getattr(module, part)
                kept = visible.trusted_value(part, value)
                shown.append(part)
                if kept is not value:
                    held[part] = kept
    held["__file__"] = f"{name}.py"
    held["__spec__"] = importlib.machinery.ModuleSpec(name, None)
    sys.modules[name] = module
