"""Giving up what a worker process has no business with: writing, sockets, other processes and, where asked, other files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

__all__ = ["nothing", "read_only"]


def read_only() -> None:
    """Confine this process for good, as far as the kernel can: it can read files."""
    _give_up(lambda: ["/"])


def nothing() -> None:
    """Confine this process for good, as far as the kernel can: it can read its interpreter's files."""
    from .program.isolation import root

    _give_up(lambda: root.readable([sys.prefix, *(path for path in sys.path if path)]))


def _give_up(readable: Callable[[], Sequence[str]]) -> None:
    """Give up all but reading these files.

    By Landlock and a seccomp filter, as the sandbox does where it has no namespaces. That is less than a sandbox: it is for
    workers whose function evaluates nothing of a completion.
    """
    if sys.platform != "linux":
        return
    from .program.isolation import landlock, seccomp
    from .program.isolation.syscalls import (
        PR_SET_DUMPABLE,
        PR_SET_NO_NEW_PRIVS,
        PR_SET_PDEATHSIG,
        prctl,
    )

    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_PDEATHSIG, 9)
    prctl(PR_SET_DUMPABLE, 0)
    if abi := landlock.version():
        rules = landlock.ruleset(abi, read=readable(), write=(), devices=("/dev/null",), execute=False)
        landlock.restrict(rules)
        os.close(rules)
    if seccomp.supported():
        seccomp.apply(seccomp.build(unix_sockets=False, alone_as=os.getpid()))
