"""The reward `code`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from grpo_rewards import Outcome, completion_text, reward
from grpo_rewards_plugins.blocks import fenced_blocks
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.code.extraction import complete, defined_names, find_program
from grpo_rewards_plugins.code.runner import Unavailable, run_jobs
from grpo_rewards_plugins.code.suites import FORMATS, Format, Suite, SuiteProblem, read_suite

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Verdict

__all__ = ["code"]


def _check(settings: Mapping[str, Any]) -> None:
    tag_name(settings)
    between(settings, "timeout", 0.1, 3600)
    between(settings, "workers", 1, 1024)
    between(settings, "max_chars", 1, 10_000_000)


def _check_row(
    tests: Any = None,
    test: Any = None,
    test_list: Any = None,
    row_format: Any = None,
    entry_point: Any = None,
    code_prompt: Any = None,
    setup: Any = None,
    test_setup_code: Any = None,
    test_imports: Any = None,
    **_columns: Any,
) -> str | None:
    given = _first(tests, test, test_list)
    if given is None:
        return "there are no tests: give the column tests, test or test_list"
    prompt = code_prompt if isinstance(code_prompt, str) else ""
    prepared = _joined(setup, test_setup_code, test_imports)
    try:
        read_suite(given, format=_known(row_format), entry_point=entry_point, setup=prepared, prompt=prompt)
    except SuiteProblem as problem:
        return str(problem)
    return None


@reward.batch(name="code", range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def _code(
    completions: list[str],
    prompts: list[Any] | None = None,
    tests: list[Any] | None = None,
    test: list[Any] | None = None,
    test_list: list[Any] | None = None,
    row_format: list[Any] | None = None,
    entry_point: list[Any] | None = None,
    code_prompt: list[Any] | None = None,
    setup: list[Any] | None = None,
    test_setup_code: list[Any] | None = None,
    test_imports: list[Any] | None = None,
    *,
    format: Literal["auto", "pytest", "humaneval", "asserts", "stdio"] = "auto",
    score: Literal["binary", "fraction"] = "binary",
    timeout: float = 8.0,
    sandbox: Literal["auto", "local", "docker"] = "auto",
    workers: int | None = None,
    fidelity: Literal["isolated", "shared"] = "isolated",
    tag: str = "answer",
    max_chars: int = 100_000,
) -> list[Outcome]:
    """The program in the completion passes its tests, which are run in a sandbox.

    1 when every test passes, else 0, or the share of tests that passed. The program is the last fenced Python block
    that defines what the tests name (else the last block, else the whole text) after ``</think>`` and within
    ``<answer>`` where those are there. Where the prompt begins the function, a bare body continues it, and a whole
    function is used as it is, after the prompt's imports. Equal programs of a batch are run once.

    Failing tests score with the test's message; a program that runs too long is a ``timeout``, one that passes a
    limit of the sandbox is ``rejected``, both at 0. Where there is no sandbox the row is ``unavailable``, never 0.
    Tests that cannot be run whatever the program is (they do not compile, they contain no test) do not apply, and
    ``grpo-rewards validate`` names them.

    Args:
        prompts: a text prompt that begins the function `entry_point`, where the column `code_prompt` is not there.
        tests: the row's tests, in one of the four formats; lists may be written as JSON.
        test: the same (HumanEval's column).
        test_list: the same (MBPP's column).
        row_format: the row's format, read from the data's column ``format``, where the setting is ``auto``.
        entry_point: the function that the tests are about.
        code_prompt: the beginning of the function, with the imports and functions before it (HumanEval's ``prompt``).
        setup: statements that run before the tests: text, or a list.
        test_setup_code: the same (MBPP's column).
        test_imports: the same (the column of sanitized MBPP).
        format: ``pytest``: a test file that imports from ``solution``. ``humaneval``: text that defines
            ``check(candidate)``; a trailing ``check(candidate)`` and ``from solution import f as candidate`` may be
            there, and also make a file of format ``pytest`` without any ``test_`` function run as it was meant.
            ``asserts``: statements, each assert a test. ``stdio``: a list of ``{input, output}``; the program reads
            standard input. ``auto``: the row's column, else what the tests look like.
        score: ``binary`` (the guides' choice), or ``fraction``: the share of tests that passed, which is easier to
            climb and easier to exploit.
        timeout: seconds for all tests of one program (the HumanEval guide: 8).
        sandbox: where programs run; ``auto``: this machine, isolated as well as it can, else Docker.
        workers: how many run at once (ours: one per processor, at most 8).
        fidelity: ``isolated``: tests and program in different processes, so that the program can neither see nor
            forge the verdict. ``shared``: one process, for tests that reach into the program's interpreter.
        tag: a tag that holds the program, where there is one.
        max_chars: a longer program is rejected (ours).
    """
    from grpo_rewards_sandbox import Job

    outcomes: list[Outcome | None] = [None] * len(completions)
    programs: dict[tuple[Suite, str], list[int]] = {}
    for row, text in enumerate(completions):
        given = _first(*(column[row] for column in (tests, test, test_list) if column is not None))
        if given is None:
            outcomes[row] = Outcome(None, "not_applicable", "no tests in the columns tests, test or test_list")
            continue
        known = format if format != "auto" else _known(_cell(row_format, row))
        entry = _cell(entry_point, row)
        beginning = _cell(code_prompt, row)
        prompt = beginning if isinstance(beginning, str) else _beginning(_cell(prompts, row), entry)
        prepared = _joined(_cell(setup, row), _cell(test_setup_code, row), _cell(test_imports, row))
        try:
            suite = read_suite(given, format=known, entry_point=entry, setup=prepared, prompt=prompt)
        except SuiteProblem as problem:
            outcomes[row] = Outcome(None, "not_applicable", f"the row's tests cannot be run: {problem}")
            continue
        program, _ = find_program(text, wanted=suite.names, tag=tag)
        if suite.format != "stdio" and suite.entry_point:
            program = complete(program, prompt, suite.entry_point) if program.strip() else ""
        if not program.strip():
            outcomes[row] = Outcome(0.0, "scored", "there is no program in the completion")
        elif len(program) > max_chars:
            outcomes[row] = Outcome(
                0.0, "rejected", f"the program has {len(program)} characters, more than {max_chars}"
            )
        else:
            programs.setdefault((suite, program), []).append(row)
    jobs = [
        Job(
            program,
            suite.for_job(),
            suite.format,
            entry_point=suite.entry_point,
            setup=suite.setup,
            timeout=timeout,
            fidelity=fidelity,
        )
        for suite, program in programs
    ]
    try:
        judged = [
            _outcome(verdict, score) for verdict in (run_jobs(jobs, backend=sandbox, workers=workers) if jobs else ())
        ]
    except Unavailable as problem:
        judged = [Outcome(None, "unavailable", str(problem))] * len(jobs)
    for outcome, rows in zip(judged, programs.values(), strict=True):
        for row in rows:
            outcomes[row] = outcome
    return [outcome or Outcome(None, "unavailable", "the sandbox gave no verdict") for outcome in outcomes]


code = _code.with_columns(row_format="format")  # the data's column has the name of the setting


def _outcome(verdict: Verdict, score: str) -> Outcome:
    """What a verdict of the sandbox means for training."""
    passed, total = verdict.tests_passed, verdict.tests_total
    details = {"tests_passed": passed, "tests_total": total, "verdict": verdict.status}
    match verdict.status:
        case "passed":
            return Outcome(1.0, "scored", "", details, verdict.seconds)
        case "failed" | "error":
            value = min(passed / total, 1.0) if score == "fraction" and total else 0.0
            told = f"{passed} of {total} tests passed: {verdict.reason}" if total > 1 else verdict.reason
            return Outcome(value, "scored", _line(told), details, verdict.seconds)
        case "timeout":
            return Outcome(0.0, "timeout", _line(verdict.reason), details, verdict.seconds)
        case "limit":
            return Outcome(
                0.0, "rejected", _line(f"limit ({verdict.limit}): {verdict.reason}"), details, verdict.seconds
            )
    return Outcome(None, "unavailable", _line(verdict.reason), details, verdict.seconds)


def _line(text: str) -> str:
    """The sandbox's words as one printable line: they quote the candidate."""
    text = " ".join(text[:400].split())
    return (
        text
        if text.isprintable()
        else "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text)
    )


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _cell(column: Sequence[Any] | None, row: int) -> Any:
    return None if column is None else column[row]


def _known(value: Any) -> Format | None:
    return value if value in FORMATS else None


def _joined(*setups: Any) -> str:
    lines: list[str] = []
    for setup in setups:
        if hasattr(setup, "tolist"):
            setup = setup.tolist()
        lines += (
            [setup]
            if isinstance(setup, str)
            else [str(line) for line in setup]
            if isinstance(setup, list | tuple)
            else []
        )
    return "\n".join(line for line in lines if line.strip())


def _beginning(prompt: Any, entry_point: Any) -> str:
    """The code that a prompt begins: a text prompt, or the last user message or its last block, if it defines `entry_point`."""
    if prompt is None or not isinstance(entry_point, str):
        return ""
    if isinstance(prompt, str):
        text = prompt
    else:
        asked = [message for message in prompt if isinstance(message, Mapping) and message.get("role") == "user"]
        text = completion_text([{**asked[-1], "role": "assistant"}]) if asked else ""
    for source in (*(block.text for block in reversed(fenced_blocks(text))), text):
        if entry_point in defined_names(source):
            return source
    return ""
