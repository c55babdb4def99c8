"""Warm parents: one forks candidates and never sees a test, one forks the processes that run tests."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
from typing import Any

from . import wire
from .isolation import confine, limits

_COMMON = "bisect collections copy datetime decimal fractions functools hashlib heapq inspect itertools json logging math operator random re statistics string typing pathlib dataclasses enum abc contextlib warnings asyncio"
_TRUSTED_MEMORY = 2 << 30


def serve(sock: socket.socket, role: str, cell: confine.Confinement, config: dict[str, Any]) -> None:
    """Fork one child per request until the supervisor is gone."""
    for name in _COMMON.split() if config["warm"] else ():
        importlib.import_module(name)
    from .border import candidate
    from .formats import program_run

    session = None
    if role == "tests":
        sys.path[:] = [*sys.path, *config["pytest_path"]]
        from .formats import checks, pytest_file, pytest_session, shared_run

        os.chdir("/")
        session = pytest_session.Session() if config["pytest_path"] else None
    sys.path[:] = [*sys.path, *config["python_path"]]
    cell.enter()
    if role == "candidate":
        sys.path[:] = [entry for entry in sys.path if entry != config["program_path"]]
    gc.collect()
    gc.freeze()
    wire.send(sock, {"ready": role})
    while True:
        try:
            message, descriptors = wire.receive(sock)
        except wire.Disconnected:
            os._exit(0)
        if message["do"] == "reap":
            pid = message["pid"]
            if not message.get("gently"):
                os.kill(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
            cell.clean(message["name"], message["user"])
            wire.send(sock, {"status": status, "cpu": usage.ru_utime + usage.ru_stime})
            continue

        def body(message: dict[str, Any] = message, descriptors: list[int] = descriptors) -> None:
            confine.close_descriptors(_kept(cell, descriptors))
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            job, shared = message["job"], message["shared"]
            *descriptors, set_up = descriptors
            if message["do"] in ("candidate", "stdio", "shared"):
                folder = cell.settle(message["name"], cell.plan.users[1], shared)
                confine.clean_environment(folder)
                if shared:
                    os.umask(0)
                if message["do"] == "stdio":
                    for number, descriptor in enumerate(descriptors):
                        os.dup2(descriptor, number)
                    descriptors = []
                else:
                    os.dup2(0, 1)
                    os.dup2(0, 2)
                confine.close_descriptors(_kept(cell, [*descriptors, set_up]))
                cell.confine(limits.JobLimits.from_wire(job["limits"]), folder, cell.shared_folder(shared))
                os.write(set_up, b".")
                confine.close_descriptors(set(descriptors))
                if message["do"] == "candidate":
                    candidate.serve(socket.socket(fileno=descriptors[0]))
                    os._exit(0)
                if message["do"] == "stdio":
                    os._exit(program_run.run(job["candidate"]))
                os.write(descriptors[0], shared_run.run(job, session, folder).line())
                os._exit(0)
            folder = cell.settle(message["name"], cell.plan.users[0], shared)
            os.dup2(0, 1)
            os.dup2(0, 2)
            os.environ["TMPDIR"] = folder
            cell.settle_trusted(_TRUSTED_MEMORY, int(job["timeout"]) + 2)
            os.write(set_up, b".")
            os.close(set_up)
            from .formats.report import progress_to

            border, progress = socket.socket(fileno=descriptors[0]), progress_to(descriptors[1])
            if job["format"] == "pytest":
                assert session is not None
                report = pytest_file.run(job, border, session, folder, cell.shared_folder(shared), progress)
            else:
                report = checks.run(job, border, progress, quiet=False)
            os.write(descriptors[1], report.line())
            os._exit(0)

        pid = cell.fork(body)
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(sock, {"pid": pid})


def _kept(cell: confine.Confinement, descriptors: list[int]) -> set[int]:
    return {*descriptors, *([cell._second_layer] if cell._second_layer >= 0 else [])}
