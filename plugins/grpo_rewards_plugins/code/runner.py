"""The sandboxes of this process: opened when first needed, one per setting, closed at exit."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from grpo_rewards.errors import InfrastructureError
from grpo_rewards.forks import PerProcess
from grpo_rewards.hooks import call_hook
from grpo_rewards.slots import slots
from grpo_rewards.types import SettingValues

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Job, Sandbox, Verdict

_SHORT = 0.5  # seconds
_open = PerProcess[dict[str, "Sandbox"]](dict)  # the parent's belong to the parent
_lock = PerProcess(threading.Lock)
_toolchains = PerProcess[dict[str, str]](dict)


def check_backend(settings: SettingValues) -> None:
    """Refuse a sandbox that there is none of.

    Raises:
        ValueError: the text names those that there are.
    """
    name, options = _backend(settings["sandbox"])
    # nothing to look up: neither the sandbox nor anybody's backends need be imported yet
    if name == "auto" and not options:
        return
    from grpo_rewards_sandbox import SandboxUnavailable, check_options, register_backends

    call_hook("register_sandboxes", read=register_backends)  # one whose name is taken is reported, and the rest go on
    with suppress(SandboxUnavailable):  # what is not here today is no matter of the configuration
        check_options(name, options)


def _backend(sandbox: str | Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the name of a sandbox and its options: ``docker``, or ``{backend: docker, hosts: [...]}``.

    Raises:
        ValueError: a mapping has no ``backend``.
    """
    if isinstance(sandbox, str):
        return sandbox, {}
    options = dict(sandbox)
    name = options.pop("backend", None)
    if not isinstance(name, str):
        raise ValueError("sandbox needs the key backend: {backend: docker, hosts: [tcp://a:2375, ssh://b]}")
    return name, options


def run_jobs(
    jobs: Sequence[Job],
    *,
    backend: str | Mapping[str, object],
    workers: int | None,
    packages: str | list[str] = "environment",
) -> Iterator[tuple[int, Verdict]]:
    """Run jobs in this process's sandbox; yield each one's place and verdict as it comes.

    Where jobs have to wait for each other, each is given a short time first, and what it does not suffice for is run again,
    last, with all of its own: so a few programs that hang do not keep the others from their verdicts.

    Raises:
        InfrastructureError: no sandbox could be opened, or it was closed meanwhile.
    """
    from grpo_rewards_sandbox import SandboxError

    name, options = _backend(backend)
    slow = []
    try:
        sandbox = _sandbox(name, workers, options, packages)
        many = len(jobs) > sandbox.workers
        first = [replace(job, timeout=min(job.timeout, _SHORT)) for job in jobs] if many else jobs
        # closed where the caller stops early too: jobs that have not begun are taken back
        with closing(sandbox.stream(first)) as verdicts:
            for place, verdict in verdicts:
                if verdict.status == "timeout" and first[place].timeout < jobs[place].timeout:
                    slow.append(place)
                else:
                    yield place, verdict
        with closing(sandbox.stream([jobs[place] for place in slow])) as verdicts:
            for index, verdict in verdicts:
                yield slow[index], verdict
    except (SandboxError, OSError) as problem:
        raise InfrastructureError(
            f"no sandbox ({name}): {problem}; see what is missing with: grpo-rewards sandbox check"
        ) from problem


def not_installed(language: str, checked: bool, backend: str | Mapping[str, object], workers: int | None) -> str:
    """Say what the sandbox's machine lacks for programs of a language, or for checkers in C++; empty where that is nothing.

    Raises:
        InfrastructureError: no sandbox could be opened, or it gave no answer.
    """
    from grpo_rewards_sandbox import Checker, Job

    known = repr((language, checked, backend))
    found = _toolchains().get(known)
    if found is None:
        job = Job("", [], "stdio", language=language, checker=Checker("") if checked else None)
        _, verdict = next(run_jobs([job], backend=backend, workers=workers))
        if verdict.status == "unavailable":
            raise InfrastructureError(verdict.reason)
        found = _toolchains()[known] = verdict.reason if verdict.status == "refused" else ""
    return found


def _sandbox(name: str, workers: int | None, options: Mapping[str, object], packages: str | list[str]) -> Sandbox:
    from grpo_rewards_sandbox import open_sandbox

    own = dict(options)
    if packages != "environment":  # not every backend chooses among packages
        own["packages"] = packages if isinstance(packages, str) else tuple(packages)
    if workers is None and "hosts" not in own:  # other machines have slots of their own
        workers = slots()
    # options may hold lists, which have no hash
    key = repr((name, workers, sorted(own.items())))
    with _lock():
        # opened under the lock, or two threads would each start a sandbox and one be left behind unclosed
        sandbox = _open().get(key)
        if sandbox is None:
            sandbox = _open()[key] = open_sandbox(name, workers=workers, **own)
        return sandbox


@atexit.register
def close_sandboxes() -> None:
    """Close every sandbox that the reward `code` opened; the next job opens a new one."""
    with _lock():
        sandboxes = list(_open().values())
        _open().clear()
    # outside of the lock: another thread may open a new one meanwhile
    for sandbox in sandboxes:
        sandbox.close()
