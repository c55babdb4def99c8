"""Runs ``grpo-rewards`` again and again: each call is a process of its own, forked from this one, which has done nothing but import.

What an interpreter and the imports cost is so paid once for all tests of the command line. Requests are lines of JSON on standard
input, each answered with the process's number when it has begun and with its exit code when it has ended.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

import grpo_rewards_plugins  # noqa: F401

import grpo_rewards._audit.auditing
import grpo_rewards._audit.data.running
import grpo_rewards._cli.app
import grpo_rewards._compare
import grpo_rewards._doctor
import grpo_rewards._report
import grpo_rewards._scoring
from grpo_rewards._cli import audit, catalogue, compare, explain, report, score, validate  # noqa: F401

COMMAND = Path(sys.executable).with_name("grpo-rewards")


def main() -> None:
    """Serve until standard input ends."""
    sys.path[0] = str(COMMAND.parent)  # as for the command itself
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in requests:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            become(request, requests, answers)
            grpo_rewards._cli.app.main()  # leaves by SystemExit, so that what runs at an exit runs
            return
        answer(answers, child)
        answer(answers, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def answer(answers: TextIO, number: int) -> None:
    """Write a line."""
    answers.write(f"{number}\n")
    answers.flush()


def become(request: dict[str, Any], requests: TextIO, answers: TextIO) -> None:
    """Make this process look as if a shell had just started the command."""
    for kept in (requests, answers):
        os.close(kept.fileno())
    for number, (file, flags) in enumerate(
        ((os.devnull, os.O_RDONLY), (request["stdout"], os.O_WRONLY), (request["stderr"], os.O_WRONLY))
    ):
        opened = os.open(file, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [str(COMMAND), *request["arguments"]]


if __name__ == "__main__":
    main()
