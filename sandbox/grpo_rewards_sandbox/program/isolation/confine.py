"""From a fork server to one confined process per job, and back to nothing."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from . import landlock, limits, root, seccomp
from .plan import Plan, cleaner
from .syscalls import (
    CLONE_NEWPID,
    CLONE_PARENT,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_capabilities,
    fork,
    prctl,
    setns,
    switch,
    unshare,
)

MAX_DESCRIPTOR = 1024
CHILD_FAILED, OWN_PROCESSES = 70, 8
# what still runs may start others and write on while it is being ended
_ATTEMPTS = 20
_LAST = 19  # the lowest priority


@dataclass(slots=True)
class Confinement:
    """What a fork server needs to start confined children.

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
    _filters: dict[tuple[int | None, bool], seccomp.Filter] = field(default_factory=dict)
    _readable: list[str] = field(default_factory=list)
    _below_tmp: list[str] = field(default_factory=list)

    def enter(self) -> None:
        """Prepare this fork server: once, before its first child."""
        if self.plan.namespaces:
            self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            users = {*self.plan.users, os.getuid()}
            self._below_tmp = root.below_tmp(root.readable(self.paths))
            root.enter(self.folder, self.exchange, self.paths, users, keep_proc=self.plan.user_namespace)
            if self.plan.landlock_abi:
                self._second_layer = landlock.second_layer(self.plan.landlock_abi)
        else:
            # whatever a job leaves becomes a child of this process: when it has none, nothing is left
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            self._readable = root.readable(self.paths)
        # laid out before the fork; in mode landlock it names the child's own pid, which is not known yet
        if self.plan.mode != "landlock":
            self._filter(None)

    def _filter(self, alone_as: int | None, *, links: bool = True) -> seccomp.Filter:
        found = self._filters.get((alone_as, links))
        if found is None:
            scoped = self.plan.namespaces or self.plan.landlock_abi >= landlock.ABI_SCOPES
            found = seccomp.build(unix_sockets=scoped, alone_as=alone_as, links=links)
            self._filters[alone_as, links] = found
        return found

    def fork(self, body: Callable[[], None]) -> int:
        """Start a child, the first of its own pid namespace where there is one, that runs `body` and never returns."""
        if self._back_from_last_child():
            unshare(CLONE_NEWPID)
        return self._forked(CLONE_NEWPID if self.plan.user_namespace else 0, body)

    def _back_from_last_child(self) -> bool:
        """Have children in its own pid namespace again; not right after a fork, when each page that this touches is copied."""
        # who owns no more than a user namespace may not go back into the pid namespace above it: a bare clone, there
        if not self.plan.namespaces or self.plan.user_namespace:
            return False
        setns(self._own_pid_namespace)
        return True

    def _forked(self, flags: int, body: Callable[[], None]) -> int:
        pid = fork(flags)
        if pid == 0:
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                body()
            except BaseException as error:  # noqa: BLE001  nothing may unwind into the fork server's loop
                complain(error)
            os._exit(CHILD_FAILED)
        return pid

    def fork_beside(self, body: Callable[[], None]) -> int:
        """Start another fork server like this one, a child of this one's parent, that runs `body` and never returns."""
        self._back_from_last_child()
        return self._forked(CLONE_PARENT, body)

    def work_folder(self, name: str) -> str:
        """Where one side of a job works."""
        return root.JOB if self.plan.namespaces else f"{self.folder}/{name}"

    def shared_folder(self, shared: str | None) -> str | None:
        """Where this side sees the folder that both sides share."""
        if shared is None:
            return None
        return f"/tmp/{shared}" if self.plan.namespaces else f"{self.exchange}/{shared}"

    def settle(self, name: str, user: int, shared: str | None, *, trusted: bool, forked: bool = True) -> str:
        """In a child: take the work folder `name` for `user`; return its path.

        `trusted`: it follows no link in the shared folder, which the other side may put there between a look at a path and
        its use. `forked`: by `fork` above.
        """
        if self.plan.namespaces:
            # only the first process of a pid namespace may mount its /proc where that is a user namespace's
            proc = forked or not self.plan.user_namespace
            root.mount_job(user or os.getuid(), shared, self._below_tmp, proc=proc, links=not trusted)
            return root.JOB
        folder = self.work_folder(name)
        os.mkdir(folder, 0o700)
        os.chdir(folder)  # before it is another user's: there may be no capability to enter it afterwards
        if user:
            os.chown(folder, user, user)
        os.environ["TMPDIR"] = "/tmp" if self.sweep else folder
        return folder

    def confine(
        self,
        job_limits: Mapping[str, int],
        folder: str,
        shared: str | None,
        *,
        user: int | None = None,
        whole: bool = False,
    ) -> None:
        """In a child: give up everything a candidate has no business with. Nothing is granted after this.

        `user`: who it becomes, the candidates' where none is named. `whole`: it only starts programs, and sets limits of
        memory and time for each.
        """
        plan, user = self.plan, self.plan.users[1] if user is None else user
        os.setsid()
        if self.sweep:
            # a machine of the sandbox's own: here a candidate takes time from none but who has to end it
            os.setpriority(os.PRIO_PROCESS, 0, _LAST)
        be_killed_first()
        # in a user namespace with one user, its processes are counted together with the few of the sandbox
        spared = 0 if user else OWN_PROCESSES
        limits.apply(job_limits, processes=plan.mode != "landlock", spared=spared + whole, starts=whole)
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
                os.close(self._second_layer)
        elif plan.landlock_abi:
            writable = [folder, *self.sweep]
            devices = [f"/dev/{name}" for name in root.DEVICES]
            # of all processes its own alone
            reads = [*self._readable, f"/proc/{os.getpid()}"]
            common = [shared] if shared else []
            rules = landlock.ruleset(plan.landlock_abi, read=reads, write=writable, devices=devices, common=common)
            landlock.restrict(rules)
            os.close(rules)
        # where neither a mount nor Landlock forbids it, nothing else keeps links out of what both sides see
        links = plan.namespaces or bool(plan.landlock_abi) or shared is None
        # last: it refuses the calls by which Landlock is set up
        seccomp.apply(self._filter(os.getpid() if plan.mode == "landlock" else None, links=links))

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

    def own_descriptors(self) -> tuple[int, ...]:
        """Those that `confine` needs in a child."""
        return (self._second_layer,) if self._second_layer >= 0 else ()

    def clean(self, name: str, user: int) -> None:
        """After a job: no process and no file of it stays. Namespaces have seen to it where there are any."""
        if self.plan.namespaces:
            return
        folder = self.work_folder(name)
        if user:
            ended = end_all_of(user)
            # most jobs leave nothing: only then a child is forked to remove it
            if ended or any(_holds_something_of(user, path) for path in self.sweep):
                empty_as([user], [folder, *self.sweep])
            try:
                os.rmdir(folder)
            except OSError:  # not empty; most jobs leave nothing
                empty_as([user], [folder])
                os.rmdir(folder)
        else:
            remove(folder)


def be_killed_first() -> None:
    """Where memory runs out, the kernel ends a candidate before anything else."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, b"1000")
        os.close(descriptor)
    except OSError:
        return


def kill_all_of(user: int) -> None:
    """Kill every process of a user, all at once: one by one, they would start others meanwhile."""
    as_user(user, lambda: _kill_and_empty(()))


def end_all_of(user: int) -> bool:
    """Wait until this process, a subreaper, has no child left, and end all that run as `user`; say if there were any."""
    found = False
    with contextlib.suppress(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                kill_all_of(user)
                os.waitpid(-1, 0)
            found = True
    return found


def _holds_something_of(user: int, folder: str) -> bool:
    with os.scandir(folder) as entries:
        return any(entry.stat(follow_symlinks=False).st_uid == user for entry in entries)


def empty_as(users: Iterable[int], folders: Iterable[str]) -> None:
    """As each of these users: end its processes and empty the folders of what it may delete; needs no capability.

    Raises:
        OSError: something of theirs stays.
    """
    found = list(folders)
    for _ in range(_ATTEMPTS):
        done = [as_user(user, lambda: _kill_and_empty(found)) for user in users]
        if done[-1]:
            return
    raise OSError(f"what a job left in {', '.join(found)} cannot be removed")


def as_user(user: int, action: Callable[[], bool]) -> bool:
    """Do this with another user's rights, in a child; return what it returned.

    Only its effective user is that one: a process may be signalled by who is its real or saved user, and what is still
    running would end the one who comes to end it.
    """
    pid = os.fork()
    if pid == 0:
        done = False
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(cleaner(user), user, cleaner(user))
            done = action()
        except BaseException as error:  # noqa: BLE001  nothing may unwind into the fork server's loop
            complain(error)
        finally:
            os._exit(0 if done else 1)
    return os.waitpid(pid, 0)[1] == 0


def _kill_and_empty(folders: Iterable[str]) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    left = [folder for folder in folders if not _empty(folder)]
    return not left


def _empty(folder: str, alive: Callable[[], None] = lambda: None) -> bool:
    """Delete what this user may, however deep it lies; say whether nothing of it is left that this user owns, or root may remove."""
    me, before = os.geteuid(), -1
    while True:
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            os.chmod(folder, 0o700)
            continue
        for entry in entries:
            alive()
            with contextlib.suppress(OSError):
                _delete(folder, entry)
        with os.scandir(folder) as left:
            owned = [entry.name for entry in left if me == 0 or entry.stat(follow_symlinks=False).st_uid == me]
        if not owned:
            return True
        names = hash(frozenset(owned))
        # the same as in the round before: this user may remove no more
        if names == before:
            return False
        before = names


def remove(folder: str, alive: Callable[[], None] = lambda: None) -> None:
    """Remove a folder of anybody's, for who may do so; `alive` is called now and then, since it may hold a lot."""
    with contextlib.suppress(OSError):  # whoever worked there may have removed it
        _empty(folder, alive)
        os.rmdir(folder)


def _delete(folder: str, entry: os.DirEntry[str]) -> None:
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.path)
        return
    _open_up(entry.path)
    for part in list(os.scandir(entry.path)):
        with contextlib.suppress(OSError):
            if part.is_dir(follow_symlinks=False):
                # lifted, not descended into: no path gets too long and no recursion too deep
                _open_up(part.path)
                os.rename(part.path, f"{folder}/{os.urandom(16).hex()}")
            else:
                os.unlink(part.path)
    os.rmdir(entry.path)


def _open_up(folder: str) -> None:
    with contextlib.suppress(PermissionError):
        os.chmod(folder, 0o777)


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
    # without these a library starts a thread for each core, and threads count as processes
    threads = {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}
    os.environ.clear()
    os.environ.update(
        threads, PATH="/usr/local/bin:/usr/bin:/bin", HOME=folder, LANG="C.UTF-8", TMPDIR=temporary, PWD=folder
    )
    # a container has no name for the user
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", USER="job", LOGNAME="job")


def complain(error: BaseException) -> None:
    """Say on the supervisor's log what broke in a child."""
    with contextlib.suppress(OSError):
        os.write(2, f"sandbox child: {type(error).__name__}: {error}\n".encode(errors="replace")[:2000])
