"""The reward `code`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.errors import InfrastructureError
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.cells import Cells, collector_paused
from grpo_rewards_plugins.code.extraction import (
    PROGRAMMING,
    complete,
    defined_names,
    find_program,
    other_language,
    with_prelude,
)
from grpo_rewards_plugins.code.judging import job_of, jobs_of
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import read_row
from grpo_rewards_plugins.code.row import DataRow, asked_of
from grpo_rewards_plugins.code.runner import check_backend, not_installed, run_jobs
from grpo_rewards_plugins.code.scores import ProgramVerdicts, outcome_of
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_plugins.code.shapes.columns import REFERENCES, run_languages
from grpo_rewards_plugins.code.shapes.context import PLACE, in_context
from grpo_rewards_plugins.code.shapes.joined import before_tests
from grpo_rewards_plugins.code.shapes.program import lacking
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.code.values.programs import apart, joined
from grpo_rewards_plugins.code.values.programs import program as whole_program
from grpo_rewards_plugins.syntax import parsed

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Verdict

Which = Literal["last", "first", "joined"]
_SHOWN = 600  # characters of why a reference fails: the failing statement comes first
_LARGE, _LARGEST = 50_000, 4_000_000  # characters of a row that takes long to read, and of one that may be remembered


def _check(settings: SettingValues) -> None:
    tag_name(settings)
    between(settings, "timeout", 0.1, 3600)
    between(settings, "workers", 1, 1024)
    between(settings, "max_chars", 1, 10_000_000)
    check_backend(settings)


def _check_row(
    *,
    format: str = "auto",
    timeout: float = 8.0,
    sandbox: str | dict[str, object] = "auto",
    workers: int | None = None,
    packages: str | list[str] = "environment",
    fidelity: str = "isolated",
    **columns: object,
) -> str | None:
    try:
        suite, prompt = _read(columns, format, fidelity)
    except SuiteProblem as problem:
        return str(problem)
    # what another language's program has to be compiled and run with, and a checker
    whole = suite.format in ("stdio", "program", "values") and suite.language not in ("", "python")
    checked = suite.checker is not None and suite.checker.language == "cpp"
    if whole or checked:
        with suppress(InfrastructureError):  # the row's text is in order; only this last question needs a sandbox
            return not_installed(suite.language or "python", checked, sandbox, workers) or None
    reference = next((cell for name in REFERENCES if isinstance(cell := columns.get(name), str) and cell.strip()), "")
    runs = suite.format in ("pytest", "humaneval", "asserts", "calls", "stdio") and suite.language in ("", "python")
    if fidelity == "shared" or not runs or not reference:
        return None
    program = find_program(reference, wanted=suite.names)[0]
    if suite.format not in ("stdio", "calls"):
        program = _continued(program, suite, prompt)

    def judged(fidelity: str) -> Verdict:
        jobs = [job_of(suite, program, timeout=timeout, fidelity=fidelity)]
        return next(run_jobs(jobs, backend=sandbox, workers=workers, packages=packages))[1]

    try:  # what the text cannot decide a run does: a right program that is not found to be by what crosses the border
        isolated = judged("isolated")
        if isolated.passed:
            return None
        # beside a program that reads standard input there are no tests that could share its process
        shared = isolated if suite.format == "stdio" else judged("shared")
    except InfrastructureError:
        return None
    if not shared.passed:  # where it is no program for these tests at all (prose), it says nothing of them
        calls = suite.format in ("stdio", "calls") and any(
            isinstance(part, ast.Call | ast.FunctionDef) for part in _parts(program)
        )
        tested = calls or not suite.names.isdisjoint(defined_names(program))
        either = "" if suite.format == "stdio" else ", in one process either"
        failed = f"its reference solution does not pass its tests{either}: {shared.reason[:_SHOWN]}"
        return failed if tested else None
    # else more names would change nothing: those of the reference's own classes are known
    named = "name the classes under test in the column classes, or " if "`classes" in isolated.reason else ""
    return (
        f"its reference solution passes in one process and not isolated: {isolated.reason[:_SHOWN]}. "
        f"What to do: {named}choose fidelity: shared, at its price"
    )


def _parts(program: str) -> Iterator[ast.AST]:
    """The nodes of its tree; none of what is no Python, or of a word alone."""
    return ast.walk(parsed(program) or ast.Module([], []))


def _kind_of_row(*, format: str = "auto", fidelity: str = "isolated", **columns: object) -> str | None:
    try:
        suite, _ = _read(columns, format, fidelity)
    except SuiteProblem:
        return None
    return f"{suite.family} ({suite.format})"


@reward.batch(
    range=(0.0, 1.0),
    check_settings=_check,
    check_row=_check_row,
    kind_of_row=_kind_of_row,
    columns={"row_format": "format"},  # the data's column has the name of the setting
    apart=True,
)
def code(
    completions: list[str],
    prompts: list[object] | None = None,
    tests: list[object] | None = None,
    test: list[object] | None = None,
    test_list: list[object] | None = None,
    row_format: list[object] | None = None,
    entry_point: list[object] | None = None,
    code_prompt: list[object] | None = None,
    setup: list[object] | None = None,
    test_setup_code: list[object] | None = None,
    test_imports: list[object] | None = None,
    import_statement: list[object] | None = None,
    classes: list[object] | None = None,
    class_name: list[object] | None = None,
    canonical_solution: list[object] | None = None,
    solution: list[object] | None = None,
    solution_code: list[object] | None = None,
    reference: list[object] | None = None,
    reference_code: list[object] | None = None,
    code: list[object] | None = None,
    language: list[object] | None = None,
    labels: list[object] | None = None,
    time_limit: list[object] | None = None,
    checker: list[object] | None = None,
    generated_checker: list[object] | None = None,
    output_judging_function: list[object] | None = None,
    fn_name: list[object] | None = None,
    func_name: list[object] | None = None,
    test_case_type: list[object] | None = None,
    metadata: list[object] | None = None,
    starter_code: list[object] | None = None,
    interaction_format: list[object] | None = None,
    input_mode: list[object] | None = None,
    input_file: list[object] | None = None,
    output_file: list[object] | None = None,
    official_tests_complete: list[object] | None = None,
    private_test_cases: list[object] | None = None,
    *,
    format: Literal["auto", "pytest", "humaneval", "asserts", "stdio", "calls"] = "auto",
    score: Literal["binary", "fraction", "weighted"] = "binary",
    timeout: float = 8.0,
    sandbox: str | dict[str, object] = "auto",
    workers: int | None = None,
    packages: Literal["environment", "none"] | list[str] = "environment",
    fidelity: Literal["isolated", "shared"] = "isolated",
    block: Literal["last", "first", "joined"] = "last",
    tag: str = "answer",
    max_chars: int = 100_000,
    **public: list[object],
) -> Iterator[tuple[int, Outcome]]:
    """The program in the completion passes its tests, which are run in a sandbox.

    1 when every test passes, else 0, or a part of it by `score`. Rows of the public data sets are read by their own columns,
    whatever these are called: see [the formats of code data](code-formats.md); ``details.data`` of an outcome names the family.
    The program is the last fenced Python block
    that defines what the tests name (else the last block, else the whole text) after ``</think>`` and within
    ``<answer>`` where those are there and hold a program. Where the prompt begins the function, a bare body continues it, and a whole
    function is used as it is, after the prompt's imports. Equal programs of a batch are run once.

    Failing tests score with the first failing test in the reason; a program that runs too long is a ``timeout``, one that passes a
    limit of the sandbox is ``rejected``, both at 0. Where there is no sandbox the row is ``unavailable``, never 0.
    A completion with blocks in other languages alone holds no program, which is 0: Python is what is asked. Only where tests
    are of standard input and output, and neither the row nor its prompt names Python, is the language the model's to choose,
    among those that are installed.

    Tests that cannot be judged whatever the program is do not apply, and ``grpo-rewards validate`` names them (and rows whose
    reference solution does not pass, isolated or at all): they do not
    compile, contain no test, contradict each other, use names that nobody binds, take nothing from the program, or are in a
    format that is not wholly understood (interactive tasks, languages that are not run or not installed, keys that are not known).

    Inputs and outputs with the name of a function (``fn_name``, ``func_name``, in the tests or beside them) are calls of it,
    or of a method of ``class Solution``, a new object for each test: arguments as a list, or as text with a JSON value per line. Lists
    stand for ``ListNode`` and ``TreeNode`` where the signature says so, and what a function changes in place is its result. Tuples count as lists
    there, and floats are compared within 1e-6; the outputs of programs that read standard input are compared token by token,
    floats within 1e-6 where one with a point is expected.

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
        canonical_solution: a reference solution; the names of its classes are looked at, and `validate` runs it.
        solution: the same.
        solution_code: the same (ClassEval's column).
        reference: the same.
        reference_code: the same (DS-1000's column).
        code: the same.
        language: the language that programs are asked in (also ``programming_language``, ``lang``); rows of one that is not run do not apply.
        labels: ``{programming_language: ...}``: the same.
        time_limit: the row's limit for one test, in seconds or with its unit; all tests together get no more than as many
            times that.
        checker: a program in C++ with testlib that decides about outputs.
        generated_checker: the same in Python: called with the files of input, right answer and output, it prints 1 or 0.
        output_judging_function: the same: a function of input, output and right answer.
        fn_name: the function that inputs and outputs are calls of.
        func_name: the same.
        test_case_type: how inputs and outputs are meant; those that are neither calls nor standard input and output do not apply.
        metadata: ``{func_name: ...}``: as `func_name`.
        starter_code: what programs begin with; with a function or class, inputs and outputs are calls.
        interaction_format: set for interactive tasks, which do not apply.
        input_mode: ``stdio``, or ``file`` for ``input.txt`` and ``output.txt``.
        input_file: the file that programs read in place of standard input.
        output_file: the same for what they write.
        official_tests_complete: false where tests are cut; such rows do not apply.
        private_test_cases: LiveCodeBench's further tests; rows that have other ones in `tests` do not apply.
        format: ``pytest``: a test file that imports from ``solution``. ``humaneval``: text that defines
            ``check(candidate)``; a trailing ``check(candidate)`` and ``from solution import f as candidate`` may be
            there, and also make a file of format ``pytest`` without any ``test_`` function run as it was meant.
            ``asserts``: statements, each assert a test. ``stdio``: a list of ``{input, output}``, or
            ``{inputs: [...], outputs: [...]}``; the program reads standard input. ``calls``: the same with the name of a function. ``auto``: the row's column, else what the tests look like.
        score: ``binary`` (the guides' choice); ``fraction``: the share of tests that passed, which is easier to
            climb and easier to exploit (where one answer is expected by more than a quarter of the tests, the share beyond those, so that a
            constant earns nothing); ``weighted``: the points of the parts that passed whole, of all points (public and
            private tests with as many points as tests; a subtask counts as its worst test).
        timeout: seconds for all tests of one program (the HumanEval guide: 8); a program that is started anew for each test gets a
            quarter of a second more for each.
        sandbox: where programs run: ``local``, ``docker``, an installed backend, a mapping of one with its options
            (``{backend: docker, hosts: [tcp://a:2375, ssh://b]}``), or ``auto``: this machine, isolated as well
            as it can, else Docker.
        workers: how many run at once (ours: the processors, divided by the processes that share them).
        packages: what programs and tests may import where they run on this machine: ``environment``, all that is installed
            beside this package, read-only; ``none``; or names, which bring what they need. Docker has what its image has.
        fidelity: ``isolated``: tests and program in different processes, so that the program can neither see nor
            forge the verdict. ``shared``: one process, for tests that reach into the program's interpreter, and for those of
            MultiPL-E and HumanEval-X that cannot be told apart from the program; never for training, since a program can forge its verdict.
        block: which of several blocks in the language counts: the ``last`` or the ``first`` that defines what the tests name, or all of them,
            ``joined`` in their order (code-r1).
        tag: a tag that holds the program, where there is one.
        max_chars: a longer program is rejected (ours).
    """
    # before any other local is bound: these are the signature's columns and settings, each named once
    given = {name: values for name, values in locals().items() if name not in ("completions", "public")}
    columns = {name: values for name, values in {**public, **given}.items() if isinstance(values, list)}
    programs: dict[tuple[Suite, str, str], list[int]] = {}

    def runs(language: str) -> bool:
        if language not in run_languages():
            return False
        with suppress(InfrastructureError):  # the jobs will say so
            return not not_installed(language, False, sandbox, workers)
        return True

    before: tuple[Mapping[str, object], tuple[Suite, str] | SuiteProblem] | None = None
    for row, text in enumerate(completions):
        cells = {name: values[row] for name, values in columns.items()}
        if before is None or not _same(before[0], cells):  # the rows of a group have one suite
            before = cells, _read_or_problem(cells, format, fidelity)
        if isinstance(before[1], SuiteProblem):
            yield row, Outcome(None, "not_applicable", f"the row's tests cannot be judged: {before[1]}")
            continue
        suite, prompt = before[1]
        if suite.format == "literal":
            right = literal.answers(text, str(suite.tests), tag=tag)
            details = {"tests_passed": int(right), "tests_total": 1, "data": suite.family}
            reason = "the answer is the output" if right else "the answer is not the output"
            yield row, Outcome(float(right), "scored", reason, details)
            continue
        text = text.replace("\r\n", "\n")  # a shell takes the other mark for a part of its words
        spoken, program = _program_of(text, suite, prompt, cells, tag=tag, block=block, runs=runs)
        if not program.strip():
            yield row, _without_program(text, suite, cells, tag=tag)
        elif len(program) > max_chars:
            problem = f"the program has {len(program)} characters, more than {max_chars}"
            yield row, Outcome(0.0, "rejected", problem)
        else:
            # the language counts too: one text may be a program of two, and is fenced as either
            programs.setdefault((suite, program, spoken), []).append(row)
    if not programs:
        return
    under_way = []
    jobs = []
    for (suite, program, spoken), rows in programs.items():
        made = jobs_of(suite, program, spoken, score=score, timeout=timeout, fidelity=fidelity)
        under_way.append(ProgramVerdicts(suite, rows, len(made)))
        jobs += [(len(under_way) - 1, part, job) for part, job in enumerate(made)]
    judged = run_jobs([job for _, _, job in jobs], backend=sandbox, workers=workers, packages=packages)
    for place, verdict in judged:
        program_verdicts = under_way[jobs[place][0]]
        if program_verdicts.take(jobs[place][1], verdict):
            outcome = outcome_of(program_verdicts, score)
            for row in program_verdicts.rows:
                yield row, outcome


def _program_of(
    text: str,
    suite: Suite,
    prompt: str,
    cells: Mapping[str, object],
    *,
    tag: str,
    block: Which,
    runs: Callable[[str], bool],
) -> tuple[str, str]:
    """The language and the program of a completion, as it is to be run; the program is empty where there is none."""
    whole = suite.format in ("stdio", "program", "values")
    language = suite.language or ("python" if not whole or _asks_for_python(cells) else _spoken(text, tag, runs))
    program, _ = find_program(text, wanted=suite.names, tag=tag, language=language, block=block)
    if suite.format in ("program", "values") and program.strip():
        before = before_tests(suite.beginning, program, str(suite.tests), language, suite.stops)
        # only tests that were told apart from the program have a program of what is expected
        put_together = whole_program if suite.expected else joined
        return language, put_together(before, str(suite.tests), language)
    if language != "python" or not program.strip():
        return language, program
    if suite.format == "calls":
        return language, with_prelude(program, suite.beginning)
    return language, program if suite.format == "stdio" else _continued(program, suite, prompt)


def _continued(program: str, suite: Suite, prompt: str) -> str:
    """The program with what stands before it, or around it."""
    # first: the entry point of such a suite is the context's own function, which no program defines
    if PLACE in suite.beginning:
        return in_context(suite, program)
    if suite.entry_point:
        return complete(program, suite.beginning or prompt, suite.entry_point)
    if suite.beginning:
        return with_prelude(program, suite.beginning)
    return with_prelude(program) if suite.counts_on_imports(program) else program


def _spoken(text: str, tag: str, runs: Callable[[str], bool]) -> str:
    """The language of a whole program that the row leaves to the model: that of its last block, if no block is Python."""
    named = PROGRAMMING.get(other_language(text, tag=tag), "python")
    if named == "python" or find_program(text, tag=tag)[0].strip() or not runs(named):
        return "python"
    return named


def _without_program(text: str, suite: Suite, cells: Mapping[str, object], *, tag: str) -> Outcome:
    other = other_language(text, tag=tag)
    if other and suite.format == "stdio" and not suite.language and not _asks_for_python(cells):
        # no word on the row: else a program would leave its group by the tag of its fence
        return Outcome(0.0, "scored", f"the row names no language, and {other!r} is none that is run here")
    asked = {"": "Python", "python": "Python", "cpp": "C++"}.get(suite.language, suite.language)
    found = f", only one in {other!r}" if other else ""
    return Outcome(0.0, "scored", f"there is no {asked} program in the completion{found}")


def _same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    try:
        return one == other
    except ValueError:  # arrays
        return False


def _asks_for_python(cells: Mapping[str, object]) -> bool:
    """The row says that programs are written in Python: by its column, or anywhere in what was asked."""
    said = (asked_of(cells.get("prompts")), cells.get("language"), cells.get("labels"), cells.get("starter_code"))
    return any("python" in str(part).lower() for part in said if part is not None)


def _read_or_problem(cells: Mapping[str, object], format: str, fidelity: str) -> tuple[Suite, str] | SuiteProblem:
    """As `_read`; large rows are remembered, since some trainers ask for each completion of a row on its own."""
    size = sum(len(cell) for cell in cells.values() if isinstance(cell, str))
    known = Cells.of(cells) if _LARGE < size < _LARGEST else None
    return _read_now(cells, format, fidelity) if known is None else _read_known(known, format, fidelity)


@lru_cache(maxsize=8)
def _read_known(known: Cells, format: str, fidelity: str) -> tuple[Suite, str] | SuiteProblem:
    return _read_now(known.cells, format, fidelity)


def _read_now(cells: Mapping[str, object], format: str, fidelity: str) -> tuple[Suite, str] | SuiteProblem:
    try:
        # cells of tests are read with their texts, without the pause that `from_json` makes
        with collector_paused(max((len(cell) for cell in cells.values() if isinstance(cell, str)), default=0)):
            return _read(cells, format, fidelity)
    except SuiteProblem as problem:
        return problem


def _read(cells: Mapping[str, object], format: str, fidelity: str) -> tuple[Suite, str]:
    """Return a row's suite, and the code that its prompt begins.

    Raises:
        SuiteProblem: the row cannot be judged; the text says why.
    """
    row = DataRow.of(cells, format)
    suite = read_row(row)
    if suite.format == "program" and fidelity != "shared":
        suite = apart(suite)
    if reason := _unjudgeable(suite, fidelity):
        raise SuiteProblem(reason)
    return suite, row.prompt


@lru_cache(maxsize=1024)
def _unjudgeable(suite: Suite, fidelity: str) -> str:
    """The sandbox's word on tests that it cannot judge, whatever the program is."""
    from grpo_rewards_sandbox import unjudgeable

    if suite.format in ("literal", "stdio", "calls", "values"):
        return ""
    if suite.format == "program":
        return lacking(suite)
    return unjudgeable(job_of(suite, "", timeout=1.0, fidelity=fidelity))
