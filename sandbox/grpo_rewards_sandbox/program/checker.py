"""A trusted process that judges one check, or plain test file, after another: only tests' text and plain data ever live in it.

A fork per job is what it saves. Only tests that can leave nothing behind come here (`names.keeps_no_state`); after a
timeout or a broken job it is ended, and every few hundred jobs it is renewed.
"""

from __future__ import annotations

import importlib
import os
import random
import socket

from . import packages, placement, wire
from .formats import names
from .isolation import confine
from .protocol import JobMessage, Role, SupervisorConfig

_MODULES = "collections cmath copy datetime decimal fractions heapq itertools math re asyncio logging warnings uuid"
_MEMORY, _CPU_SECONDS = 2 << 30, 24 * 3600


def may_judge(job: JobMessage) -> bool:
    """This job's tests may share a process with those of other jobs, one after the other."""
    if job["fidelity"] == "shared":
        return False
    if job["format"] == "pytest":
        return names.plain_file(job["tests"], job["module"])
    if job["format"] not in ("humaneval", "asserts"):
        return bool(job["format"] == "calls")  # plain data, of which nothing is run here
    tests = job["tests"] if isinstance(job["tests"], str) else "\n".join(job["tests"])
    text = f"{job['setup']}\n{tests}"
    return names.keeps_no_state(text) and not names.shares_files(text)


def serve(sock: socket.socket, role: Role, cell: confine.Confinement, config: SupervisorConfig) -> None:
    """Judge what the supervisor sends until it is gone."""
    packages.reach(config)
    for name in _MODULES.split() if config["warm"] else ():
        importlib.import_module(name)
    from .border.messages import Ends
    from .border.proxies import Border
    from .formats import calls, checks, plain_file
    from .formats.report import VerdictPipe

    cell.enter()
    confine.close_descriptors({sock.fileno(), *cell.own_descriptors()})
    cell.settle(f"{role}-{os.getpid()}", cell.plan.users[0], None, trusted=True, forked=False)
    cell.settle_trusted(_MEMORY, _CPU_SECONDS)
    for message, descriptors in wire.requests(sock, role):
        job = message["job"]
        if message["processor"] is not None:
            placement.put(0, {message["processor"]})
        random.seed()  # what one job's tests drew says nothing of what the next one's draw
        reader, writer, descriptor = descriptors
        border, verdict = Ends(reader, writer), VerdictPipe(descriptor, message["word"])
        if job["format"] == "calls":
            report = calls.run(job, border, verdict.progress)
        elif job["format"] == "pytest":
            report = plain_file.run(job, border, verdict.progress)
        else:
            report = checks.run(job, border, verdict.progress, quiet=True)
        verdict.end(report)
        os.close(descriptor)
        border.close()
        if hasattr(Border, "peer"):  # tests that are refused by their text have none
            del Border.peer
        del report, job, message
