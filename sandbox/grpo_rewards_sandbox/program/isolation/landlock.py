"""Landlock: which files a process may touch, without privileges (Linux 5.13; abstract sockets and signals from 6.12)."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from .syscalls import check, libc

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK, _MAKE_LINK = 1 << 6, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_FIRST_ABI = (1 << 13) - 1
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_SOCKET, _SCOPE_SIGNAL = 1, 2
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
ABI_SCOPES = 6


def version() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    found = libc.syscall(_CREATE, None, 0, _VERSION)
    return max(0, int(found))


def handled(abi: int) -> int:
    """Every file right that this ABI knows."""
    rights = _FIRST_ABI
    if abi >= 2:
        rights |= _REFER
    if abi >= 3:
        rights |= _TRUNCATE
    if abi >= 5:
        rights |= _IOCTL_DEVICE
    return rights


def _create(abi: int, rights: int, scopes: int) -> int:
    # as much as this ABI knows: an older kernel refuses fields that are new to it
    attributes = struct.pack("<Q", rights)
    if abi >= 4:
        attributes += struct.pack("<Q", _BIND_TCP | _CONNECT_TCP)
    if abi >= ABI_SCOPES:
        attributes += struct.pack("<Q", scopes)
    return check(libc.syscall(_CREATE, attributes, len(attributes), 0), "landlock_create_ruleset")


def second_layer(abi: int) -> int:
    """Return a ruleset for a process that has a root of its own: no device nodes, no TCP. The caller owns the fd."""
    refer = handled(abi) & _REFER
    ruleset_fd = _create(abi, _MAKE_CHAR | _MAKE_BLOCK | refer, 0)
    if refer:
        # what every ruleset denies that does not grant it: to move a file to another folder
        _allow(ruleset_fd, "/", refer)
    return ruleset_fd


def _allow(ruleset_fd: int, path: str, rights: int) -> None:
    """Grant `rights` on what lies at or below `path`."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that is not there needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            # the kernel refuses a rule on a file that has rights of folders
            rights &= _ON_FILES
        rule = struct.pack("<Qi", rights, descriptor)
        check(libc.syscall(_ADD, ruleset_fd, _PATH_BENEATH, rule, 0), f"landlock rule for {path}")
    finally:
        os.close(descriptor)


def ruleset(
    abi: int,
    *,
    read: Iterable[str],
    write: Iterable[str],
    devices: Iterable[str] = (),
    common: Iterable[str] = (),
    execute: bool = True,
) -> int:
    """Return a ruleset that allows only these paths, and no signal or abstract socket outside. The caller owns the fd.

    `common`: folders to write to in which no link may be made: who trusts what lies there would follow it. `execute`:
    whether what lies in `read` may also be run.
    """
    rights = handled(abi)
    ruleset_fd = _create(abi, rights, _SCOPE_ABSTRACT_SOCKET | _SCOPE_SIGNAL)
    everything = rights & ~(_MAKE_CHAR | _MAKE_BLOCK)
    unlinked = everything & ~_MAKE_LINK
    reading = READ if execute else READ & ~EXECUTE
    for allowed, paths in ((reading, read), (everything, write), (unlinked, common), (READ_FILE | WRITE_FILE, devices)):
        for path in paths:
            _allow(ruleset_fd, path, allowed & rights)
    return ruleset_fd


def restrict(ruleset_fd: int) -> None:
    """Bind this process to the ruleset; needs no_new_privs."""
    check(libc.syscall(_RESTRICT, ctypes.c_int(ruleset_fd), 0), "landlock_restrict_self")
