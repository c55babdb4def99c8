"""A root file system that holds the interpreter and nothing of the host, and a few private mounts for every job."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import tempfile
from collections.abc import Iterable

from .plan import NAMESPACES
from .syscalls import (
    CLONE_NEWNS,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_NOSYMFOLLOW,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    detach,
    mount,
    pivot_root,
    unshare,
)

SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/php",
    "/etc/mono",
)
JAVA = "/etc/java-*-openjdk"  # where Debian keeps what its JDK links to
DEVICES = ("null", "zero", "urandom", "random", "full")
SPOTS = ("/mnt", "/media", "/srv", "/opt", "/run", "/home", "/tmp")
JOB, EXCHANGE = "/job", "/exchange"
_HIDDEN = "/hidden"  # where the root has once more what lies below /tmp, which each job mounts anew
SAFE = MS_NOSUID | MS_NODEV
TMP_BYTES, SHM_BYTES, STORE_BYTES, INODES = 64 << 20, 16 << 20, 256 << 20, 4096
_KEPT_FLAGS = 8 | 1024 | 2048 | 4096  # noexec, noatime, nodiratime, relatime: a user namespace may not clear them


def readable(paths: Iterable[str]) -> list[str]:
    """Return what an interpreter needs, each path once, parents before children."""
    found: list[str] = []
    for path in sorted({*SYSTEM, *glob.glob(JAVA), sys.base_prefix, sys.base_exec_prefix, *paths}):
        inside = any(path.startswith(parent + "/") for parent in found if not os.path.islink(parent))
        if os.path.lexists(path) and not inside:
            found.append(path)
    return found


def private_store(paths: Iterable[str]) -> str:
    """Enter a mount namespace and return a folder in memory that only this process and its children see."""
    unshare(CLONE_NEWNS)
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    needed = [*readable(paths), os.path.abspath(__file__), sys.executable, *sys.path]
    for spot in SPOTS:
        hides = any(path == spot or path.startswith(spot + "/") for path in needed)
        if os.path.isdir(spot) and not hides:
            mount("none", spot, "tmpfs", SAFE, f"size={STORE_BYTES},nr_inodes={4 * INODES},mode=711")
            return spot
    raise OSError(f"none of {', '.join(SPOTS)} is free to hold the sandbox's private folder")


def enter(store: str, exchange: str, paths: Iterable[str], users: Iterable[int], *, keep_proc: bool) -> None:
    """Move this process into fresh mount, network, IPC and UTS namespaces and a read-only root that holds `paths`.

    `exchange` is the folder whose subfolders a test and its candidate may share. `keep_proc`: leave this machine's /proc
    under those that jobs mount; the owner of a user namespace may mount one only where it sees one already.
    """
    wanted = readable(paths)
    unshare(NAMESPACES)
    new = tempfile.mkdtemp(prefix="root-", dir=store)
    mount("none", new, "tmpfs", SAFE, "size=4m,mode=755")
    for path in wanted:
        _bind(path, new)
    for number, path in enumerate(below_tmp(wanted)):
        _bind(path, new, f"{_HIDDEN}/{number}")
    for name in ("/proc", "/dev/shm", "/tmp", "/old", "/etc", JOB, EXCHANGE):
        os.makedirs(new + name, exist_ok=True)
    # programs that ask for the name of their user get one
    with open(new + "/etc/passwd", "w") as handle:
        handle.write("".join(f"job{user}:x:{user}:{user}::{JOB}:/bin/false\n" for user in users))
    for name in DEVICES:
        _bind_file("/dev/" + name, new + "/dev/" + name)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{new}/dev/{name}")
    mount(exchange, new + EXCHANGE, None, MS_BIND)
    if keep_proc:
        mount("/proc", new + "/proc", None, MS_BIND | MS_REC)
    os.chdir(new)
    pivot_root(".", "old")
    detach("/old")
    os.chdir("/")
    os.rmdir("/old")
    mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | SAFE)


def below_tmp(paths: Iterable[str]) -> list[str]:
    """Those of the paths that a /tmp of a job's own hides: an environment that was made there."""
    return [path for path in paths if path.startswith("/tmp/") and os.path.isdir(path) and not os.path.islink(path)]


def _bind(path: str, new: str, place: str = "") -> None:
    """Show a path of this machine below `new`, at the same place or at another."""
    target = new + (place or path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
        mount(path, target, None, MS_BIND | MS_REC)
    else:
        _bind_file(path, target)
    # a bind mount takes flags only when it is mounted once more; statvfs and mount have another bit for relatime
    kept = os.statvfs(target).f_flag & _KEPT_FLAGS
    flags = (
        kept & 8 | (1 << 10 if kept & 1024 else 0) | (1 << 11 if kept & 2048 else 0) | (1 << 21 if kept & 4096 else 0)
    )
    mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | SAFE | flags)


def _bind_file(source: str, target: str) -> None:
    with open(target, "w"):
        pass
    mount(source, target, None, MS_BIND)


def mount_job(
    user: int, shared: str | None, installed: Iterable[str] = (), *, proc: bool = True, links: bool = True
) -> None:
    """Give this process private mounts: /tmp, /job, /dev/shm and, of its own pid namespace, /proc.

    `installed`: what has to be seen below that /tmp, as `below_tmp` had it when the root was made. `links`: this process may
    follow links in the folder that both sides share.
    """
    unshare(CLONE_NEWNS)
    mount("none", "/tmp", "tmpfs", SAFE, f"size={TMP_BYTES},nr_inodes={INODES},mode=1777")
    mount("none", JOB, "tmpfs", SAFE, f"size={TMP_BYTES},nr_inodes={INODES},mode=755,uid={user},gid={user}")
    mount("none", "/dev/shm", "tmpfs", SAFE | MS_NOEXEC, f"size={SHM_BYTES},nr_inodes=512,mode=1777")
    if proc:
        mount("none", "/proc", "proc", SAFE | MS_NOEXEC)
    for number, path in enumerate(installed):
        os.makedirs(path)
        mount(f"{_HIDDEN}/{number}", path, None, MS_BIND)
    if shared is not None:
        # the one folder that tests and candidate both see, at the same path for both
        target = f"/tmp/{shared}"
        os.mkdir(target)
        mount(f"{EXCHANGE}/{shared}", target, None, MS_BIND)
        if not links:
            with contextlib.suppress(
                OSError
            ):  # a kernel before 5.10, where nothing but the look at a path forbids links
                mount(None, target, None, MS_BIND | MS_REMOUNT | MS_NOSYMFOLLOW | SAFE)
    # over the folders of other jobs
    mount("none", EXCHANGE, "tmpfs", SAFE, "size=4k,mode=0")
    os.chdir(JOB)
