"""What this machine can do to keep a candidate apart, found out by trying."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypedDict

from . import landlock, seccomp
from .syscalls import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    MACHINE,
    MS_NODEV,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    mount,
    switch,
    unshare,
)

NAMESPACES = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS
FIRST_USER, LAST_USER = 20000, 59998
COUNT = (LAST_USER - FIRST_USER) // 4


class NotIsolated(Exception):
    """This machine cannot keep a candidate apart; the message says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How candidates are kept apart here.

    `user_namespace`: the other namespaces belong to one of the supervisor's own, for want of CAP_SYS_ADMIN. `mode`: "namespaces" (a root, process tree, network and IPC of their own), "user" (another user, Landlock),
    "landlock" (the same user, Landlock, no processes) or "container" (another user, inside a container of the sandbox
    whose kernel has no Landlock). `users`: those of tests and candidates, 0 = not switched.
    """

    mode: str
    user_namespace: bool
    landlock_abi: int
    users: tuple[int, int]

    @property
    def namespaces(self) -> bool:
        """Candidates get namespaces of their own."""
        return self.mode == "namespaces"

    def as_json(self) -> dict[str, object]:
        """Plain data for reports."""
        return asdict(self)


class Survey(TypedDict):
    """What stands in the way of each layer: "" means that it works."""

    machine: str
    root: bool
    seccomp: bool
    landlock_abi: int
    namespaces: str
    user_namespaces: str
    other_user: str
    other_user_reads: str


def try_in_child(action: Callable[[], object], *, meanwhile: Callable[[], object] = lambda: None) -> str:
    """Run `action` in a forked child and `meanwhile` here; return "" or the error that the child met."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        message = ""
        try:
            action()
        except Exception as error:  # noqa: BLE001  a probe: whatever goes wrong is the answer
            message = f"{type(error).__name__}: {error}"[:500]
        os.write(writer, message.encode())
        os._exit(0)
    os.close(writer)
    parts = b""
    try:
        meanwhile()
        while chunk := os.read(reader, 4096):
            parts += chunk
    finally:
        os.close(reader)
        os.waitpid(pid, 0)
    return parts.decode()


def _try_namespaces(users: tuple[int, int] | None) -> None:
    """Do what a job will need; `users`: those of a user namespace, None without one."""
    if users is not None:
        enter_user_namespace(users)
    unshare(NAMESPACES | CLONE_NEWPID)
    mount(None, "/", None, MS_REC | MS_PRIVATE)

    def inside() -> None:
        mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=4k")
        unshare(CLONE_NEWNS)
        # what a container with a masked /proc forbids even where it allows namespaces
        mount("none", "/proc", "proc", 0)

    problem = try_in_child(inside)
    if problem:
        raise OSError(problem)


def enter_user_namespace(users: tuple[int, int]) -> None:
    """Become the owner of new namespaces without CAP_SYS_ADMIN; `users`: those that must exist there, 0 = only this one.

    One's own user can be mapped without a privilege, others with CAP_SETUID and CAP_SETGID and from outside only.
    """
    uid, gid, me = os.getuid(), os.getgid(), os.getpid()
    if not users[0]:
        unshare(CLONE_NEWUSER)
        # in this order: without a privilege a gid_map is taken only once setgroups is denied
        _write_maps("self", {"setgroups": "deny", "uid_map": f"{uid} {uid} 1", "gid_map": f"{gid} {gid} 1"})
        return
    reader, writer = os.pipe()

    def from_outside() -> None:
        os.close(writer)
        if os.read(reader, 1):
            others = f"{FIRST_USER} {FIRST_USER} {LAST_USER - FIRST_USER + 2}"
            _write_maps(me, {"uid_map": f"{uid} {uid} 1\n{others}", "gid_map": f"{gid} {gid} 1\n{others}"})

    def go() -> None:
        os.close(reader)
        try:
            unshare(CLONE_NEWUSER)
            os.write(writer, b".")
        finally:
            os.close(writer)

    problem = try_in_child(from_outside, meanwhile=go)
    if problem:
        raise OSError(f"no users can be mapped into a user namespace: {problem}")


def _write_maps(process: int | str, maps: dict[str, str]) -> None:
    for name, text in maps.items():
        with open(f"/proc/{process}/{name}", "w") as handle:
            handle.write(text)


def _try_other_user(user: int) -> None:
    switch(user)
    for path in (os.__file__, sys.executable):
        if not os.access(path, os.R_OK):
            raise PermissionError(f"another user may not read {path}")


_locks: list[socket.socket] = []


def reserve_users() -> tuple[int, int]:
    """Return two user ids that no other sandbox on this machine uses while this process lives.

    They come in fours: the third one's is `cleaner`.
    """
    for offset in range(COUNT):
        # from its own number on, so that sandboxes that start together try different ones
        user, other = pair(os.getpid() + offset)
        # an abstract socket is a lock that vanishes with its owner and leaves no file
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0grpo-rewards-sandbox-user-{user}")
        except OSError:
            lock.close()
            continue
        _locks.append(lock)
        return user, other
    raise NotIsolated("every user id between 20000 and 60000 is in use by another sandbox")


def pair(number: int) -> tuple[int, int]:
    """Return the users of tests and candidates of this number, modulo `COUNT`."""
    user = FIRST_USER + number % COUNT * 4
    return user, user + 1


def cleaner(user: int) -> int:
    """Return the user that ends what one of these two left: no process of theirs may send it a signal."""
    return user - user % 4 + 2


def probe(*, allow: tuple[str, ...] = ("namespaces", "user", "landlock"), users: Sequence[int] | None = None) -> Plan:
    """Return the strongest plan that works here; raise `NotIsolated` where none does.

    `users`: those of tests and candidates, where another sandbox's would be seen here by nothing but the kernel's counts.
    """
    report = survey(allow)
    if not report["seccomp"]:
        raise NotIsolated(f"no seccomp filter is known for {MACHINE}: run candidates on an x86_64 or aarch64 machine")
    root = os.geteuid() == 0
    can_switch = root and not report["other_user"]
    both = (0, 0)
    if can_switch:
        both = (users[0], users[1]) if users else reserve_users()
    if "namespaces" in allow and can_switch and not report["namespaces"]:
        return Plan("namespaces", False, report["landlock_abi"], both)
    # root's processes are not counted: where it cannot become another user, no limit would hold them
    if "namespaces" in allow and (can_switch or not root) and not report["user_namespaces"]:
        return Plan("namespaces", True, report["landlock_abi"], both)
    if report["landlock_abi"]:
        if "user" in allow and can_switch and not report["other_user_reads"]:
            return Plan("user", False, report["landlock_abi"], both)
        if "landlock" in allow and not can_switch:
            return Plan("landlock", False, report["landlock_abi"], (0, 0))
    if "container" in allow and can_switch and not report["other_user_reads"]:
        return Plan("container", False, 0, both)
    raise NotIsolated(explain(report, allow))


def survey(allow: tuple[str, ...] = ("namespaces",)) -> Survey:
    """Try every layer."""
    root = os.geteuid() == 0
    asked = "namespaces" in allow
    refused = "not asked for" if not asked else "" if root else "not root"
    other_user = try_in_child(lambda: switch(FIRST_USER)) if root else "not root"
    both = (0, 0) if other_user else pair(0)
    return {
        "machine": MACHINE,
        "root": root,
        "seccomp": seccomp.supported(),
        "landlock_abi": landlock.version(),
        "namespaces": refused or try_in_child(lambda: _try_namespaces(None)),
        "user_namespaces": try_in_child(lambda: _try_namespaces(both)) if asked else "not asked for",
        "other_user": other_user,
        "other_user_reads": try_in_child(lambda: _try_other_user(FIRST_USER)) if root else "not root",
    }


def explain(report: Survey, allow: tuple[str, ...]) -> str:
    """Say why no plan works and what to do about it."""
    return (
        f"this machine cannot isolate untrusted code (asked for: {', '.join(allow)}).\n"
        f"  namespaces as root: {report['namespaces'] or 'works'}\n"
        f"  user namespaces: {report['user_namespaces'] or 'works'}\n"
        f"  another user: {report['other_user'] or report['other_user_reads'] or 'works'}\n"
        f"  Landlock: {'ABI ' + str(report['landlock_abi']) if report['landlock_abi'] else 'not in this kernel'}\n"
        "What to do, any one of: run on a kernel >= 5.13 with Landlock enabled (lsm=landlock,...); or let this user make "
        "user namespaces (in a container: a seccomp profile that allows unshare and mount, and an unmasked /proc); or run "
        "as root and, in a container, give it CAP_SYS_ADMIN and an unconfined seccomp profile."
    )
