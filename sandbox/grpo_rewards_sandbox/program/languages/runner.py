"""The first process of a cell: puts files, starts programs one after the other, and gives files out.

It is confined itself, runs as the user of what it starts, and is trusted with nothing: the standard streams of a program
lead past it to the supervisor, and what it says of an exit is what a program of this user could bring about itself.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import stat
from typing import TypedDict

from .. import wire
from ..formats import program_run
from ..isolation.limits import lower
from . import evaluating as evaluating  # here, since what runs a checker may read no file of ours

NOT_STARTED = 127
MAX_FILE = 64 << 20
_ROOM = 96 << 20  # bytes: this process's own address space, and some
_SHARED = ("/tmp", "/dev/shm")  # where a program may write beside its folder, if it may
_STREAMS, _MAX_DESCRIPTOR = 3, 1024
_OUTSIDE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)  # what Python ignores, and a program does not


class Asked(TypedDict, total=False):
    """What the supervisor asks for: `do`, and what that needs."""

    do: str
    name: str  # of a file in the folder; of a program that is to run, its standard input where that is one
    mode: int
    limits: dict[str, int]
    python: str | None
    words: list[str]
    environment: dict[str, str]


def serve(sock: socket.socket, folder: str) -> None:
    """Do what the supervisor asks for until it is gone."""
    sock.set_inheritable(False)
    wire.send(sock, {"ready": True})
    while True:
        message, descriptors = wire.receive(sock)
        try:
            answer, given = _DO[message["do"]](message, descriptors, folder)
        except OSError as error:
            answer, given = {"problem": f"{type(error).__name__}: {error}"[:500]}, ()
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(sock, answer, given)
        for descriptor in given:
            os.close(descriptor)


def _put(message: Asked, descriptors: list[int], folder: str) -> tuple[dict[str, object], tuple[int, ...]]:
    """Write a file of the folder anew."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(message["name"])
    target = os.open(message["name"], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, message["mode"])
    try:
        size, done = os.fstat(descriptors[0]).st_size, 0
        while done < size and (sent := os.sendfile(target, descriptors[0], done, size - done)):
            done += sent
    finally:
        os.close(target)
    return {}, ()


def _clear(message: Asked, descriptors: list[int], folder: str) -> tuple[dict[str, object], tuple[int, ...]]:
    """End what runs here and remove every file: the next program finds nothing of the last one."""
    _end_others()
    for place in (folder, *_SHARED):
        with contextlib.suppress(OSError):  # a place that it could not write to either
            _empty(place)
    os.chdir(folder)
    return {}, ()


def _empty(place: str) -> None:
    """Remove what this user has in a folder, however deep: neither path nor recursion gets long, and no rename is needed."""
    os.chdir(place)
    me, way = os.geteuid(), list[str]()
    while True:
        with os.scandir(".") as entries:
            mine = [entry for entry in entries if entry.stat(follow_symlinks=False).st_uid == me]
        folders = [entry.name for entry in mine if entry.is_dir(follow_symlinks=False)]
        for entry in mine:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name)
        if folders:
            os.chmod(folders[0], 0o700)
            os.chdir(folders[0])
            way.append(folders[0])
        elif way:
            os.chdir("..")
            os.rmdir(way.pop())
        else:
            return


def _take(message: Asked, descriptors: list[int], folder: str) -> tuple[dict[str, object], tuple[int, ...]]:
    """Give a file of the folder out; a folder of classes as an archive."""
    name = message["name"]
    if os.path.isdir(name) and not os.path.islink(name):
        _pack(name, name + ".jar")
        name += ".jar"
    return {}, (os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC),)


def _pack(folder: str, target: str) -> None:
    import zipfile  # only where classes are packed

    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, _, names in os.walk(folder):
            for name in names:
                archive.write(f"{path}/{name}", os.path.relpath(f"{path}/{name}", folder))


def _run(message: Asked, descriptors: list[int], folder: str) -> tuple[dict[str, object], tuple[int, ...]]:
    """Run a program to its end."""
    if message["name"]:
        given, descriptors[0] = descriptors[0], os.open(message["name"], os.O_RDONLY | os.O_CLOEXEC)
        os.close(given)
    child = _spawn(message, descriptors, folder)
    if child == 0:
        child = os.fork()
        if child == 0:
            _start(message, descriptors, folder)
    while descriptors:  # the supervisor is to see the end of the streams
        os.close(descriptors.pop())
    while True:
        # of the first process of a pid namespace all that a program left is a child too
        pid, status, usage = os.wait4(-1, 0)
        if pid == child:
            break
    return {
        "status": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss << 10,
    }, ()


def _spawn(message: Asked, descriptors: list[int], folder: str) -> int:
    """Start a program without copying this process; return 0 where this process has not the room for its limits."""
    limits = message["limits"]
    if message["python"] is not None or min(limits.get("AS", _ROOM), limits.get("DATA", _ROOM)) < _ROOM:
        return 0
    _limit(limits, lasting=True)
    streams = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(descriptors)]
    ends = [(os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in descriptors]
    environment = {**os.environ, **_environment(message, folder)}
    try:
        return os.posix_spawnp(
            message["words"][0], message["words"], environment, file_actions=[*streams, *ends], setsigdef=_OUTSIDE
        )
    finally:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def _environment(message: Asked, folder: str) -> dict[str, str]:
    return {name: value.replace("{folder}", folder) for name, value in message["environment"].items()}


def _end_others() -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()


def _start(message: Asked, descriptors: list[int], folder: str) -> None:
    try:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.closerange(_STREAMS, _MAX_DESCRIPTOR)
        os.environ.update(_environment(message, folder))
        _limit(message["limits"])
        if message["python"] is not None:
            os._exit(program_run.run(message["python"], message["words"]))
        for number in _OUTSIDE:
            signal.signal(number, signal.SIG_DFL)
        os.execvp(message["words"][0], message["words"])
    except BaseException as error:  # noqa: BLE001  nothing may unwind into the loop above
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace")[:1000])
    os._exit(NOT_STARTED)


def _limit(limits: dict[str, int], *, lasting: bool = False) -> None:
    """Bind this process: bytes of address space or data, of stack, seconds of processor time.

    `lasting`: it starts others after this one, whose time may be another.
    """
    for which, value in limits.items():
        number = getattr(resource, f"RLIMIT_{which}")
        keeps = which == "STACK" or (which == "CPU" and lasting)
        lower(number, value, resource.getrlimit(number)[1] if keeps else value + (which == "CPU"))


_DO = {"put": _put, "take": _take, "clear": _clear, "run": _run}


def regular_size(descriptor: int) -> int:
    """Return the size of a file that a cell gave out; -1 where it is no regular file, or a large one."""
    found = os.fstat(descriptor)
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_size <= MAX_FILE else -1
