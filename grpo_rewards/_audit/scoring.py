"""Scoring cheats in a process of its own, in an empty folder: a cheat that runs may end what scores it, or write files."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, BinaryIO

from grpo_rewards.errors import ConfigError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite, ScoreTable
    from grpo_rewards._contract import Batch

__all__ = ["Scorer", "ScorerEnded"]


class ScorerEnded(Exception):
    """The process that scored was ended by what it scored; the text says how."""


class Scorer:
    """Scores batches in a child process, which is started again when it has ended."""

    def __init__(self, composite: Composite) -> None:
        try:
            self._pickled = pickle.dumps(composite)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigError(f"the rewards cannot be audited: {error}") from None
        self._folder = tempfile.TemporaryDirectory(prefix="grpo-rewards-audit-", ignore_cleanup_errors=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: BinaryIO | None = None

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()
        self._folder.cleanup()

    def score(self, batch: Batch, *, limit: float) -> ScoreTable:
        """Score a batch within `limit` seconds.

        Raises:
            ScorerEnded: the process ended meanwhile, or did not answer in time.
            ConfigError: the rewards cannot be loaded there.
        """
        if self._process is None:
            self._start()
        process, answers = self._process, self._answers
        assert process is not None
        assert process.stdin is not None
        assert answers is not None
        try:
            pickle.dump(batch, process.stdin)
            process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(answers, selectors.EVENT_READ)
                if not selector.select(limit):
                    process.kill()
                    self._stop()
                    raise ScorerEnded(f"it did not finish within {limit:g} s")
            found = pickle.load(answers)  # noqa: S301 - from our own child
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self._stop()
            raise ScorerEnded(f"it ended with status {process.returncode}") from None
        if isinstance(found, BaseException):
            raise found
        return found  # type: ignore[no-any-return]

    def _start(self) -> None:
        # answers go through a pipe of their own, since what is scored may print
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from grpo_rewards._audit.scoring import _serve; _serve({writing})"],
            cwd=self._folder.name, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(writing,),
            # the child starts in an empty folder, where relative entries of sys.path lead nowhere
            env={**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)},
        )  # fmt: skip
        os.close(writing)
        self._answers = os.fdopen(reading, "rb")
        assert self._process.stdin is not None
        self._process.stdin.write(self._pickled)

    def _stop(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # it leaves by itself, closing its sandboxes
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._answers is not None:
            self._answers.close()
        self._process = None


def _serve(descriptor: int) -> None:
    """Be the child: a composite, then batches on standard input; tables on `descriptor`."""
    import logging

    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the parent has said it
    os.set_inheritable(descriptor, False)  # or programs that rewards start could write answers
    # a program that reads its standard input must not get our requests: it finds the null device there
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    composite: Any = None
    with os.fdopen(descriptor, "wb") as answers:
        problem: BaseException | None = None
        try:
            composite = pickle.load(requests)  # noqa: S301 - from our own parent
        except Exception as error:  # noqa: BLE001 - told to the parent with the first batch
            problem = ConfigError(f"the rewards cannot be loaded in a process of their own: {error}")
        while True:
            try:
                batch = pickle.load(requests)  # noqa: S301 - from our own parent
            except EOFError:
                return
            answer: object = problem
            if answer is None:
                try:
                    answer = composite.score(batch)
                except Exception as error:  # noqa: BLE001 - raised again in the parent
                    answer = error
            pickle.dump(answer, answers)
            answers.flush()
