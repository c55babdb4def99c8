"""From a suite and a program to the sandbox's jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grpo_rewards_plugins.code.suite import Suite

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Job

_EACH_RUN = 0.25
"""Seconds that a program which is started anew for each test gets more for each of them."""
_QUICK = ("c", "cpp", "rust", "go")
"""Languages to which a row's limits apply as they are."""
_SLOWER = 3
"""How many times as long programs of other languages may run: the sites that set such limits give them longer ones too."""
_LEAST_MEMORY, _MOST_MEMORY = 64 << 20, 4 << 30
"""Bytes between which a row's memory limit is kept; other languages have the sandbox's own at least."""


def jobs_of(suite: Suite, program: str, language: str, *, score: str, timeout: float, fidelity: str) -> list[Job]:
    """Return the jobs of one program: one, or one for each group of tests where parts are scored."""
    if score != "weighted" or not suite.parts:
        return [job_of(suite, program, timeout=timeout, fidelity=fidelity, language=language)]
    return [
        job_of(suite, program, timeout=timeout, fidelity=fidelity, language=language, places=places)
        for places in suite.groups
    ]


def job_of(
    suite: Suite,
    program: str,
    *,
    timeout: float,
    fidelity: str,
    language: str = "python",
    places: tuple[int, ...] | None = None,
) -> Job:
    """Return the job of all tests, or of those at some places."""
    from grpo_rewards_sandbox import Job

    tests = suite.for_job(places)
    longest = max(timeout, suite.patience)
    given, own = _own_limits(suite, language)
    # calls share one process, so their limits add up; a program that is started for each test has its own each time
    seconds = min(longest, own * len(tests)) if own and suite.format == "calls" else longest
    if suite.calls is not None:
        given |= {"parameters": suite.calls.parameters, "returns": suite.calls.returns}
    elif suite.format in ("stdio", "program", "values"):
        given |= _whole_program(suite, language)
    if suite.format == "stdio":
        seconds += _EACH_RUN * len(tests)
        given |= {"test_timeout": own} if own else {}
    return Job(
        program,
        suite.expected or tests,
        suite.format,
        entry_point=suite.entry_point,
        setup=suite.setup,
        timeout=seconds,
        fidelity=fidelity,
        compare=suite.compare if suite.format in ("stdio", "calls", "values") else "exact",
        classes=suite.classes,
        **given,
    )


def _own_limits(suite: Suite, language: str) -> tuple[dict[str, Any], float]:
    """The row's limits of one test, as its language is given them; they are made for compiled programs."""
    from grpo_rewards_sandbox import Limits

    limits, quick = Limits(), language in _QUICK
    if suite.memory is not None:
        memory = min(max(suite.memory, _LEAST_MEMORY if quick else limits.memory), _MOST_MEMORY)
        limits = Limits(memory=memory)
    seconds = (suite.seconds or 0.0) * (1 if quick else _SLOWER)
    return {"limits": limits}, seconds


def _whole_program(suite: Suite, language: str) -> dict[str, object]:
    given: dict[str, object] = {} if language in ("", "python") else {"language": language}
    if suite.checker is not None:
        from grpo_rewards_sandbox import Checker

        checker = suite.checker
        given["checker"] = Checker(checker.source, checker.language, checker.protocol)
    if suite.input_file or suite.output_file:
        given.update(input_file=suite.input_file, output_file=suite.output_file)
    return given
