"""The reward `code`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from grpo_rewards import Outcome, completion_text, reward
from grpo_rewards_plugins.blocks import fenced_blocks
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.code.cells import is_blank, plain
from grpo_rewards_plugins.code.columns import REFERENCES
from grpo_rewards_plugins.code.extraction import (
    complete,
    defined_names,
    find_program,
    first_name,
    is_code,
    other_language,
    with_prelude,
)
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.runner import Unavailable, check_backend, run_jobs
from grpo_rewards_plugins.code.suites import FORMATS, Suite, read_suite

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Job, Verdict

__all__ = ["code"]


def _check(settings: Mapping[str, Any]) -> None:
    tag_name(settings)
    between(settings, "timeout", 0.1, 3600)
    between(settings, "workers", 1, 1024)
    between(settings, "max_chars", 1, 10_000_000)
    check_backend(settings)


def _check_row(
    *,
    format: str = "auto",
    timeout: float = 8.0,
    sandbox: str = "auto",
    workers: int | None = None,
    packages: str | list[str] = "environment",
    fidelity: str = "isolated",
    **columns: Any,
) -> str | None:
    try:
        suite, prompt = _read(columns, format, fidelity)
    except SuiteProblem as problem:
        return str(problem)
    reference = next((cell for name in REFERENCES if isinstance(cell := columns.get(name), str) and cell.strip()), "")
    if fidelity == "shared" or suite.format == "stdio" or not reference:
        return None
    program, _ = find_program(reference, wanted=suite.names)
    if suite.entry_point and not suite.owner:
        program = complete(program, prompt, suite.entry_point)

    def judged(fidelity: str) -> Verdict:
        jobs = [_job(suite, program, timeout, fidelity)]
        return next(run_jobs(jobs, backend=sandbox, workers=workers, packages=packages))[1]

    try:  # what the text cannot decide a run does: a right program that is not found to be by what crosses the border
        isolated = judged("isolated")
        if isolated.passed or not judged("shared").passed:
            return None
    except Unavailable:
        return None
    return (
        f"its reference solution passes in one process and not isolated: {_line(isolated.reason)}. What to do: name the classes "
        "under test in the column classes, or choose fidelity: shared, at its price"
    )


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
    import_statement: list[Any] | None = None,
    classes: list[Any] | None = None,
    class_name: list[Any] | None = None,
    canonical_solution: list[Any] | None = None,
    solution: list[Any] | None = None,
    reference: list[Any] | None = None,
    code: list[Any] | None = None,
    language: list[Any] | None = None,
    labels: list[Any] | None = None,
    time_limit: list[Any] | None = None,
    checker: list[Any] | None = None,
    generated_checker: list[Any] | None = None,
    output_judging_function: list[Any] | None = None,
    fn_name: list[Any] | None = None,
    func_name: list[Any] | None = None,
    test_case_type: list[Any] | None = None,
    metadata: list[Any] | None = None,
    starter_code: list[Any] | None = None,
    interaction_format: list[Any] | None = None,
    input_mode: list[Any] | None = None,
    input_file: list[Any] | None = None,
    output_file: list[Any] | None = None,
    official_tests_complete: list[Any] | None = None,
    private_test_cases: list[Any] | None = None,
    *,
    format: Literal["auto", "pytest", "humaneval", "asserts", "stdio"] = "auto",
    score: Literal["binary", "fraction"] = "binary",
    timeout: float = 8.0,
    sandbox: str = "auto",
    workers: int | None = None,
    packages: Literal["environment", "none"] | list[str] = "environment",
    fidelity: Literal["isolated", "shared"] = "isolated",
    tag: str = "answer",
    max_chars: int = 100_000,
) -> Iterator[tuple[int, Outcome]]:
    """The program in the completion passes its tests, which are run in a sandbox.

    1 when every test passes, else 0, or the share of tests that passed. The program is the last fenced Python block
    that defines what the tests name (else the last block, else the whole text) after ``</think>`` and within
    ``<answer>`` where those are there. Where the prompt begins the function, a bare body continues it, and a whole
    function is used as it is, after the prompt's imports. Equal programs of a batch are run once.

    Failing tests score with the test's message; a program that runs too long is a ``timeout``, one that passes a
    limit of the sandbox is ``rejected``, both at 0. Where there is no sandbox the row is ``unavailable``, never 0.
    A completion with blocks in other languages alone holds no program, which is 0: Python is what is asked. Only where tests
    are of standard input and output, and neither the row nor its prompt names Python, is the language the model's to choose;
    then such a row does not apply.

    Tests that cannot be judged whatever the program is do not apply, and ``grpo-rewards validate`` names them (and rows whose
    reference solution passes in one process and not isolated): they do not
    compile, contain no test, contradict each other, use names that nobody binds, take nothing from the program, or are in a
    format that is not wholly understood (checkers, files, interactive tasks, packed tests, lists of nodes, other languages,
    keys that are not known).

    Inputs and outputs with the name of a function (``fn_name``, ``func_name``, in the tests or beside them) are calls of it,
    or of a method of ``class Solution``: arguments as a list, or as text with a JSON value per line. Tuples count as lists
    there, and floats are compared within 1e-6; the outputs of programs that read standard input are compared token by token.

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
        import_statement: the same (ClassEval's column).
        classes: names of the classes under test, where the texts below do not show them.
        class_name: the same, for one (ClassEval's column); the class whose method is called (rStar-Coder's).
        canonical_solution: a reference solution; only the names of its classes are looked at.
        solution: the same.
        reference: the same.
        code: the same.
        language: the language that programs are asked in; rows of another than Python do not apply.
        labels: ``{programming_language: ...}``: the same.
        time_limit: the row's limit for one test, in seconds or with its unit; all tests together get no more than as many
            times that.
        checker: a program that decides about outputs; such rows do not apply.
        generated_checker: the same.
        output_judging_function: the same.
        fn_name: the function that inputs and outputs are calls of.
        func_name: the same.
        test_case_type: how inputs and outputs are meant; those that are neither calls nor standard input and output do not apply.
        metadata: ``{func_name: ...}``: as `func_name`.
        starter_code: what programs begin with; with a function or class, inputs and outputs are calls.
        interaction_format: set for interactive tasks, which do not apply.
        input_mode: ``stdio``, or files, which do not apply.
        input_file: the file that programs read in place of standard input; such rows do not apply.
        output_file: the same for what they write.
        official_tests_complete: false where tests are cut; such rows do not apply.
        private_test_cases: further tests (LiveCodeBench's column); rows that have some beside `tests` do not apply.
        format: ``pytest``: a test file that imports from ``solution``. ``humaneval``: text that defines
            ``check(candidate)``; a trailing ``check(candidate)`` and ``from solution import f as candidate`` may be
            there, and also make a file of format ``pytest`` without any ``test_`` function run as it was meant.
            ``asserts``: statements, each assert a test. ``stdio``: a list of ``{input, output}``, or
            ``{inputs: [...], outputs: [...]}``; the program reads standard input. ``auto``: the row's column, else what the tests look like.
        score: ``binary`` (the guides' choice), or ``fraction``: the share of tests that passed, which is easier to
            climb and easier to exploit.
        timeout: seconds for all tests of one program (the HumanEval guide: 8).
        sandbox: where programs run: ``local``, ``docker``, an installed backend, or ``auto``: this machine, isolated as well
            as it can, else Docker.
        workers: how many run at once (ours: the processors, divided by the processes that share them).
        packages: what programs and tests may import where they run on this machine: ``environment``, all that is installed
            beside this package, read-only; ``none``; or names, which bring what they need. Docker has what its image has.
        fidelity: ``isolated``: tests and program in different processes, so that the program can neither see nor
            forge the verdict. ``shared``: one process, for tests that reach into the program's interpreter.
        tag: a tag that holds the program, where there is one.
        max_chars: a longer program is rejected (ours).
    """
    columns = {name: values for name, values in locals().items() if isinstance(values, list) and name != "completions"}
    programs: dict[tuple[Suite, str], list[int]] = {}
    before: tuple[Mapping[str, Any], tuple[Suite, str] | SuiteProblem] | None = None
    for row, text in enumerate(completions):
        cells = {name: values[row] for name, values in columns.items()}
        if before is None or not _same(before[0], cells):  # the rows of a group have one suite
            before = cells, _read_or_problem(cells, format, fidelity)
        if isinstance(before[1], SuiteProblem):
            yield row, Outcome(None, "not_applicable", f"the row's tests cannot be judged: {before[1]}")
            continue
        suite, prompt = before[1]
        program, _ = find_program(text, wanted=suite.names, tag=tag)
        if suite.owner or not suite.entry_point:
            program = with_prelude(program) if suite.counts_on_imports(program) else program
        elif suite.format != "stdio":
            program = complete(program, prompt, suite.entry_point) if program.strip() else ""
        if not program.strip():
            other = other_language(text, tag=tag)
            if other and suite.format == "stdio" and not _asks_for_python(cells):
                yield (
                    row,
                    Outcome(None, "not_applicable", f"the row names no language, and the program is in {other!r}"),
                )
                continue
            found = f", only one in {other!r}" if other else ""
            yield row, Outcome(0.0, "scored", f"there is no Python program in the completion{found}")
        elif len(program) > max_chars:
            problem = f"the program has {len(program)} characters, more than {max_chars}"
            yield row, Outcome(0.0, "rejected", problem)
        else:
            programs.setdefault((suite, program), []).append(row)
    if not programs:
        return
    jobs = [_job(suite, program, timeout, fidelity) for suite, program in programs]
    waiting = dict(enumerate(programs.values()))
    try:
        for place, verdict in run_jobs(jobs, backend=sandbox, workers=workers, packages=packages):
            outcome = _outcome(verdict, score)
            for row in waiting.pop(place):
                yield row, outcome
    except Unavailable as problem:
        for rows in waiting.values():
            for row in rows:
                yield row, Outcome(None, "unavailable", str(problem))


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
        case "refused":
            return Outcome(
                None, "not_applicable", _line(f"the row's tests cannot be judged: {verdict.reason}"), details
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


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    try:
        return one == other
    except ValueError:  # arrays
        return False


def _asks_for_python(cells: Mapping[str, Any]) -> bool:
    """The row says that programs are written in Python: by its column, or anywhere in what was asked."""
    said = (_asked(cells.get("prompts")), cells.get("language"), cells.get("labels"), cells.get("starter_code"))
    return any("python" in str(part).lower() for part in said if part is not None)


def _read_or_problem(cells: Mapping[str, Any], format: str, fidelity: str) -> tuple[Suite, str] | SuiteProblem:
    try:
        return _read(cells, format, fidelity)
    except SuiteProblem as problem:
        return problem


def _read(cells: Mapping[str, Any], format: str, fidelity: str) -> tuple[Suite, str]:
    """Return a row's suite, and the code that its prompt begins.

    Raises:
        SuiteProblem: the row cannot be judged; the text says why.
    """
    tests = next((cells[name] for name in ("tests", "test", "test_list") if cells.get(name) is not None), None)
    if tests is None:
        raise SuiteProblem("there are no tests in the columns tests, test or test_list")
    known = format if format != "auto" else cells.get("row_format")
    if is_blank(known):
        known = None
    elif known not in FORMATS:
        raise SuiteProblem(f"the format {str(known)[:60]!r} is none of {', '.join(FORMATS)}")
    entry = cells.get("entry_point")
    asked = _asked(cells.get("prompts"))
    beginning = cells.get("code_prompt")
    prompt = beginning if isinstance(beginning, str) else _beginning(asked, entry)
    suite = read_suite(
        tests,
        format=known,
        entry_point=entry,
        setup=_joined(*(cells.get(name) for name in ("setup", "test_setup_code", "test_imports", "import_statement"))),
        prompt=prompt,
        columns={**cells, "prompt": asked},
    )
    if reason := _unjudgeable(suite, fidelity):
        raise SuiteProblem(reason)
    return suite, prompt


@lru_cache(maxsize=1024)
def _unjudgeable(suite: Suite, fidelity: str) -> str:
    """The sandbox's word on tests that it cannot judge, whatever the program is."""
    from grpo_rewards_sandbox import unjudgeable

    return unjudgeable(_job(suite, "", 1.0, fidelity))


def _job(suite: Suite, program: str, timeout: float, fidelity: str) -> Job:
    from grpo_rewards_sandbox import Job

    return Job(
        program,
        suite.for_job(program),
        suite.format,
        entry_point=suite.entry_point,
        setup=suite.setup,
        timeout=timeout if suite.seconds is None else min(timeout, suite.seconds),
        fidelity=fidelity,
        compare="tokens" if suite.format == "stdio" else "exact",
        classes=suite.classes,
    )


def _joined(*setups: Any) -> str:
    lines: list[str] = []
    for setup in map(plain, setups):
        lines += [setup] if isinstance(setup, str) else map(str, setup) if isinstance(setup, list | tuple) else []
    return "\n".join(line for line in lines if line.strip())


def _asked(prompt: Any) -> str:
    """What was asked: a text prompt, or the last user message."""
    prompt = plain(prompt)
    if isinstance(prompt, str) or prompt is None:
        return prompt or ""
    asked = [message for message in prompt if isinstance(message, Mapping) and message.get("role") == "user"]
    return completion_text([{**asked[-1], "role": "assistant"}]) if asked else ""


def _beginning(asked: str, entry_point: Any) -> str:
    """The code that a prompt begins: its last block, or all of it, if that defines `entry_point` or is nothing but code."""
    if not isinstance(entry_point, str):
        return ""
    for source in (*(block.text for block in reversed(fenced_blocks(asked))), asked):
        if first_name(entry_point) in defined_names(source):
            return source
    return asked if is_code(asked) else ""
