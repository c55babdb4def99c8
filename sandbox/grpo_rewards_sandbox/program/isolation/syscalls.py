"""The few Linux calls that Python does not offer, through ctypes."""

from __future__ import annotations

import ctypes
import os
import random
import signal

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_NOSYMFOLLOW, MS_BIND, MS_REC, MS_PRIVATE = 256, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
CAPSET = {"x86_64": 126, "aarch64": 91}
_CLONE = {"x86_64": 56, "aarch64": 220}
MACHINE = os.uname().machine
_CAPABILITY_VERSION_3 = 0x20080522
LAST_CAPABILITY = 40

libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
libc.syscall.restype = ctypes.c_long
# the interpreter's lock is held through these, as it is in `os.fork`
_held = ctypes.PyDLL(None, use_errno=True)
_held.syscall.restype = ctypes.c_long
_draw_anew = random.seed  # the tests' side puts another there
_fork = getattr(_held, "_Fork", None)  # glibc 2.34, musl 1.2.2


def check(result: int, what: str) -> int:
    """Return the result of a call, or raise OSError with the call's name."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for new ones."""
    check(libc.unshare(flags), "unshare")


def fork(flags: int = 0) -> int:
    """Fork this process, which has one thread, into the new namespaces of these flags, or beside it; 0 in the child.

    `os.fork` also renews every lock that another thread might have held. Here is none, and the pages that this touches
    are copied for every child: a third of what a fork costs.
    """
    if flags or _fork is None:
        pid = int(_held.syscall(_CLONE[MACHINE], flags | signal.SIGCHLD, 0, 0, 0, 0))
    else:
        pid = int(_fork())
    if pid == 0:
        _draw_anew()  # no two children draw alike
    return check(pid, "fork")


def let_libraries_prepare_forks() -> None:
    """From now on let `fork` call what libraries registered for it: pyarrow, which pandas imports, starts a thread."""
    global _fork
    _fork = _held.fork


def switch(user: int) -> None:
    """Become another user for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def setns(descriptor: int) -> None:
    """Enter the namespace behind a descriptor."""
    check(libc.setns(descriptor, 0), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2); paths are those of this process's mount namespace."""
    result = libc.mount(
        source.encode() if source else None,
        target.encode(),
        kind.encode() if kind else None,
        flags,
        data.encode() if data else None,
    )
    check(result, f"mount {target}")


def detach(target: str) -> None:
    """Unmount lazily."""
    check(libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2)."""
    check(libc.syscall(PIVOT_ROOT[MACHINE], new.encode(), old.encode()), "pivot_root")


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument."""
    check(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up every capability, also those that an exec could bring back."""
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    check(libc.syscall(CAPSET[MACHINE], header, nothing), "capset")
