"""From a warm parent to one confined process per job, and back to nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from . import landlock, limits, root, seccomp
from .plan import Plan
from .syscalls import (
    CLONE_NEWPID,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    clone,
    drop_capabilities,
    prctl,
    setns,
    unshare,
)

MAX_DESCRIPTOR = 1024
CHILD_FAILED = 70


@dataclass(slots=True)
class Confinement:
    """What a warm parent needs to start confined children.

    `paths`: extra files that children may read. `folder`: where the work folders lie, where there are no namespaces.
    `sweep`: shared folders that candidates may write to and that are emptied of their files after every job; only
    where this machine belongs to the sandbox (a container).
    """

    plan: Plan
    folder: str
    paths: tuple[str, ...] = ()
    sweep: tuple[str, ...] = ()
    exchange: str = ""
    _own_pid_namespace: int = -1
    _second_layer: int = -1
    _filters: dict[int | None, bytes] = field(default_factory=dict)

    def enter(self) -> None:
        """Prepare this warm parent: once, before its first child."""
        if self.plan.namespaces:
            self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            root.enter(self.folder, self.exchange, self.paths, {*self.plan.users, os.getuid()})
            if self.plan.landlock_abi:
                self._second_layer = landlock.second_layer(self.plan.landlock_abi)
        if self.plan.mode != "landlock":
            self._filter(None)

    def _filter(self, alone_as: int | None) -> bytes:
        code = self._filters.get(alone_as)
        if code is None:
            scoped = self.plan.namespaces or self.plan.landlock_abi >= landlock.ABI_SCOPES
            code = self._filters[alone_as] = seccomp.build(unix_sockets=scoped, alone_as=alone_as)
        return code

    def fork(self, body: Callable[[], None]) -> int:
        """Start a child, the first of its own pid namespace where there is one, that runs `body` and never returns."""
        # the owner of a user namespace may not go back into the pid namespace above it: there, a bare clone
        back = self.plan.namespaces and not self.plan.user_namespace
        if back:
            unshare(CLONE_NEWPID)
        try:
            pid = clone(CLONE_NEWPID) if self.plan.user_namespace else os.fork()
            if pid == 0:
                try:
                    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                    body()
                except BaseException as error:  # noqa: BLE001  nothing may unwind into the warm parent's loop
                    complain(error)
                os._exit(CHILD_FAILED)
        finally:
            if back:
                setns(self._own_pid_namespace)
        return pid

    def work_folder(self, name: str) -> str:
        """Where one side of a job works."""
        return root.JOB if self.plan.namespaces else f"{self.folder}/{name}"

    def shared_folder(self, shared: str | None) -> str | None:
        """Where this side sees the folder that both sides share."""
        if shared is None:
            return None
        return f"/tmp/{shared}" if self.plan.namespaces else f"{self.exchange}/{shared}"

    def settle(self, name: str, user: int, shared: str | None) -> str:
        """In a child: take the work folder `name` for `user`; return its path."""
        if self.plan.namespaces:
            root.mount_job(user or os.getuid(), shared)
            return root.JOB
        folder = self.work_folder(name)
        os.mkdir(folder, 0o755)
        if user:
            os.chown(folder, user, user)
        os.chdir(folder)
        os.environ["TMPDIR"] = "/tmp" if self.sweep else folder
        return folder

    def confine(self, job_limits: limits.JobLimits, folder: str, shared: str | None) -> None:
        """In a child: give up everything a candidate has no business with. Nothing is granted after this."""
        plan, user = self.plan, self.plan.users[1]
        os.setsid()
        limits.apply(job_limits, processes=plan.mode != "landlock")
        if user:
            switch(user)
        else:
            drop_capabilities()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_DUMPABLE, 0)
        if plan.namespaces:
            if self._second_layer >= 0:
                landlock.restrict(self._second_layer)
        else:
            writable = [folder, *self.sweep, *([shared] if shared else [])]
            devices = [f"/dev/{name}" for name in root.DEVICES]
            reads = [*root.readable(self.paths), f"/proc/{os.getpid()}"]
            rules = landlock.ruleset(plan.landlock_abi, read=reads, write=writable, devices=devices)
            landlock.restrict(rules)
            os.close(rules)
        seccomp.apply(self._filter(os.getpid() if plan.mode == "landlock" else None))

    def settle_trusted(self, memory: int, cpu_seconds: int) -> None:
        """In a child that runs tests: limits against accidents, and a user apart from the candidate's."""
        os.setsid()
        limits.apply_trusted(memory, cpu_seconds)
        if self.plan.users[0]:
            switch(self.plan.users[0])
        elif self.plan.namespaces:
            drop_capabilities()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_DUMPABLE, 0)

    def clean(self, name: str, user: int) -> None:
        """After a job: no process and no file of it stays. Namespaces have seen to it where there are any."""
        if self.plan.namespaces:
            return
        if user:
            _as_user(user, lambda: _kill_and_delete((self.work_folder(name), *self.sweep), user))
        shutil.rmtree(self.work_folder(name), ignore_errors=True)


def switch(user: int) -> None:
    """Become another user for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _as_user(user: int, action: Callable[[], None]) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            switch(user)
            action()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def _kill_and_delete(folders: Iterable[str], user: int) -> None:
    """Running as `user`: end every other process of it, then delete what it owns. Needs no capability."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    for folder in folders:
        _delete_owned(folder, user)


def _delete_owned(folder: str, user: int) -> None:
    try:
        os.chmod(folder, 0o700) if os.lstat(folder).st_uid == user else None
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.stat(follow_symlinks=False).st_uid != user:
                continue
            if entry.is_dir(follow_symlinks=False):
                _delete_owned(entry.path, user)
                os.rmdir(entry.path)
            else:
                os.unlink(entry.path)
        except OSError:
            continue


def close_descriptors(keep: set[int]) -> None:
    """Close every descriptor but 0, 1, 2 and those in `keep`."""
    low = 3
    for descriptor in sorted(keep):
        if descriptor >= low:
            os.closerange(low, descriptor)
            low = descriptor + 1
    os.closerange(low, MAX_DESCRIPTOR)


def clean_environment(folder: str) -> None:
    """Leave a candidate nothing of the host's environment."""
    temporary = os.environ.get("TMPDIR", "/tmp")
    os.environ.clear()
    os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=folder, LANG="C.UTF-8", TMPDIR=temporary, PWD=folder)
    os.environ.update(PYTHONDONTWRITEBYTECODE="1")


def complain(error: BaseException) -> None:
    """Say on the supervisor's log what broke in a child."""
    with contextlib.suppress(OSError):
        os.write(2, f"sandbox child: {type(error).__name__}: {error}\n".encode(errors="replace")[:2000])
