"""Families whose tests are inputs and outputs: of whole programs, or of a function where the row names one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import leetcode
from grpo_rewards_plugins.code.row import DataRow, opened
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_plugins.code.shapes.packed import is_packed, unpacked
from grpo_rewards_plugins.code.shapes.pairs import cases_of
from grpo_rewards_plugins.code.shapes.parts import in_parts
from grpo_rewards_plugins.code.suite import Suite


def own(row: DataRow) -> Suite | None:
    """This package's own columns, which DeepCoder has too: `tests`, in any of the shapes that all data sets share.

    Read are lists of ``{input, output}`` (also ``stdin``, ``expected_output``, ``outputs``), ``{inputs: [...], outputs: [...]}``, lists of
    statements, text that defines ``check(candidate)``, and test files for pytest; all of them as JSON too. Tests with the name of a
    function (``fn_name``, ``func_name``; in the tests, in their ``metadata``, or in the row's column ``metadata``) are calls, as in
    DeepCoder's configurations ``lcbv5``, ``taco`` and ``primeintellect``. Functional tests without a name are refused; so are lists of
    unequal length, which other readers fill up. A column `subtasks`, ``[{points, tests}]`` with the places or names of tests, says what the
    score ``weighted`` pays for: a subtask counts as its worst test.
    """
    return row.tests(row.get("tests"))


def apps(row: DataRow) -> Suite | None:
    """APPS and TACO: the column `input_output`, JSON of ``{inputs, outputs, fn_name?}``.

    With ``fn_name`` the tests are calls: arguments as a list per test, the result in a list of one where that holds for every
    test of the row. Without it they are programs' inputs and outputs, as text or as lists of lines. A row whose cell is empty
    has nothing to test with. `time_limit` is the limit of one test. Display text that no program can read ("N = 5", as in rows
    from GeeksforGeeks) is refused. LeetCodeDataset has a column of this name too: see ``leetcode``.
    """
    cell = row.data("input_output")
    if isinstance(cell, list) and leetcode.is_examples(cell):
        return leetcode.examples(row, cell)
    if isinstance(cell, str):
        raise SuiteProblem(f"the column input_output is no JSON: {cell[:60]!r}")
    return row.tests(cell)


def prime(row: DataRow) -> Suite | None:
    """PRIME and Eurus-2, verl's rows, code-r1, SkyRL, Skywork: tests in ``reward_model.ground_truth`` or ``reward_spec.ground_truth``.

    The text there is JSON: ``{inputs, outputs, fn_name?}`` (arguments as one text with a JSON value per line, or as lists as in
    APPS), ``{assert_case: [...]}``, ``{functional: text}``, ``{pytest: text}``, ``{test_code, entry_point, import_prefix?}`` with a check
    function, whose programs run after the imports, or a list of LiveCodeBench's tests. Rows of other tasks (`ability` is not code, or the ground truth is an answer) do not apply.
    """
    for name in ("reward_model", "reward_spec"):
        cell = row.data(name)
        truth = cell.get("ground_truth") if isinstance(cell, Mapping) else None
        if not is_blank(truth):
            return _of_truth(row, truth)
    raise SuiteProblem("the columns reward_model and reward_spec hold no ground_truth")


def _of_truth(row: DataRow, truth: object) -> Suite:
    tests = opened(truth)
    ability = row.get("ability")
    if isinstance(ability, str) and ability.lower() not in ("code", "coding", "programming"):
        raise SuiteProblem(f"the row is of another task (column 'ability': {ability[:60]!r})")
    if isinstance(tests, str) and not is_packed(tests):
        raise SuiteProblem(f"the ground truth is no JSON of tests: {tests[:60]!r}")
    if isinstance(tests, Mapping) and set(_CHECKED) <= tests.keys() <= {*_CHECKED, _IMPORTS}:
        code, entry, imports = (tests.get(name) or "" for name in (*_CHECKED, _IMPORTS))
        return replace(row.having(entry_point=entry, code_prompt=imports).tests(code), beginning=str(imports))
    return row.tests(tests)


_CHECKED, _IMPORTS = ("test_code", "entry_point"), "import_prefix"
_LIMITS = ("time_limit", "memory_limit")


def synthetic(row: DataRow) -> Suite | None:
    """SYNTHETIC-1 and -2, verifiable-coding-problems: `verification_info` with ``{language, test_cases}``.

    The cell is a mapping, JSON, or Python's own notation. A test is ``{type: stdin_stdout | function_call, fn_name, input, output}``;
    ``language`` is what programs are asked in, `time_limit` and `memory_limit` may stand there too. Rows of code output prediction have ``ground_truth`` in place of tests: the answer,
    JSON of ``{"output": ...}``, is compared with it and nothing is run.
    """
    info = row.data("verification_info")
    if not isinstance(info, Mapping):
        raise SuiteProblem(f"the column verification_info is no mapping: {str(info)[:60]!r}")
    truth = info.get("ground_truth")
    if not is_blank(truth) and is_blank(info.get("test_cases")):
        return literal.suite(str(truth))
    known = row.without("metadata")
    if any(not is_blank(info.get(name)) for name in _LIMITS):
        known = known.having(**{name: info[name] for name in _LIMITS if not is_blank(info.get(name))})
        info = {name: value for name, value in info.items() if name not in _LIMITS}
    return known.tests(info)


def livecodebench(row: DataRow) -> Suite | None:
    """LiveCodeBench v1 to v6: `public_test_cases` and `private_test_cases`, together all tests of the row.

    Both are JSON lists of ``{input, output, testtype: stdin | functional}``, or base64 of zlib of pickle: read without running any
    of it, up to 256 MiB. Functional tests call ``metadata.func_name`` with one JSON value per line. For ``weighted`` scores the
    public tests are one part, the private ones another.
    """
    public, private = (_listed(row, name) for name in ("public_test_cases", "private_test_cases"))
    # without its columns: a row that has further tests than those that are read would be refused
    suite = row.without("private_test_cases", "public_test_cases").tests([*public, *private])
    return in_parts(suite, len(public))


def _listed(row: DataRow, name: str) -> list[object]:
    cell = row.data(name)
    if cell is None:
        return []
    cell = unpacked(cell) if isinstance(cell, str) and is_packed(cell) else cell
    if not isinstance(cell, list):
        raise SuiteProblem(f"the column {name} holds no list of tests: {str(cell)[:60]!r}")
    return cell


_KINDS_OF_TESTS = ("public_tests", "private_tests", "generated_tests")


def code_contests(row: DataRow) -> Suite | None:
    """CodeContests: `public_tests`, `private_tests` and `generated_tests`, together all tests of the row.

    Each is a mapping of lists ``{input: [...], output: [...]}`` or a list of ``{input, output}``. `time_limit` (``{seconds, nanos}``)
    is the limit of one test, `input_file` and `output_file` name the files of tasks that have no standard input and output. The set has no checkers: a task
    with several right answers has one of them here. For ``weighted`` scores the public tests are one part, the others another.
    """
    if not any(isinstance(row.data(name), list | Mapping) for name in _KINDS_OF_TESTS):
        return None  # open-r1/codeforces has a number in generated_tests
    public, *others = (_cases(row, name) for name in _KINDS_OF_TESTS)
    suite = row.tests([*public, *(case for cases in others for case in cases)])
    return in_parts(suite, len(public))


def _cases(row: DataRow, name: str) -> list[object]:
    cell = row.data(name)
    if not isinstance(cell, list | Mapping) or (
        isinstance(cell, Mapping) and all(is_blank(part) for part in cell.values())
    ):
        return []
    return list(cases_of(cell))


def codeforces(row: DataRow) -> Suite | None:
    """Codeforces of open-r1: `official_tests`, a list of ``{input, output}``.

    `generated_checker` decides where it is there (called with the files of input, right answer and output, it prints 1 or 0).
    `official_tests_complete` false (the site cuts long tests), an `interaction_format`, and `executable` false are refused;
    ``input_mode: file`` means ``input.txt`` and ``output.txt``. `time_limit` is in seconds for one test, `language` what programs are
    asked in. The further tests of the set's parquet files (`generated_tests` says how many) are not in the row.
    """
    if row.columns.get("executable") is False:
        raise SuiteProblem("the task cannot be run (column 'executable')")
    return row.tests(row.data("official_tests"))


def nemo_gym(row: DataRow) -> Suite | None:
    """NeMo Gym: ``verifier_metadata.unit_tests``, a mapping of ``{inputs, outputs, fn_name?}``.

    With ``fn_name`` the tests are calls with one JSON value per line.
    """
    cell = row.data("verifier_metadata")
    tests = cell.get("unit_tests") if isinstance(cell, Mapping) else None
    if is_blank(tests):
        raise SuiteProblem("the column verifier_metadata holds no unit_tests")
    return row.tests(tests)


def ioi(row: DataRow) -> Suite | None:
    """IOI (open-r1/ioi): one subtask a row, `test_names` with `test_cases` (``[input, output]`` by name, or in their order).

    All tests of the subtask have to pass, so that its worst test decides; where a row has all `subtasks` of a task with their points, the
    score ``weighted`` pays those that passed whole. Programs are C++ where the row does not say. Rows with `grader_files` are refused: the program is
    a part of those files there, and reads and writes nothing itself. So are rows without tests, which the set keeps in files of their own.
    """
    files = row.data("grader_files")
    if isinstance(files, list) and any(not is_blank(_content(one)) for one in files):
        raise SuiteProblem("the program is a part of the task's own files (column 'grader_files'), which are not run")
    names, cases = row.data("test_names"), row.data("test_cases")
    if cases is None:
        raise SuiteProblem(
            "the tests stand in files of their own: join them by name into the column test_cases", kind="absent"
        )
    if isinstance(cases, list) and isinstance(names, list) and len(names) == len(cases):
        cases = dict(zip(names, cases, strict=True))
    if not isinstance(cases, Mapping) or not isinstance(names, list) or not all(name in cases for name in names):
        raise SuiteProblem("the column test_cases has no input and output for each of test_names")
    tests = [_pair(str(name), cases[name]) for name in names]
    known = row if row.get("language") else row.having(language="cpp")
    return known.without("test_names", "test_cases").tests(tests)


def _content(file: object) -> object:
    """What a file holds: ``[name, content]``, or a mapping."""
    if isinstance(file, Mapping):
        return file.get("content")
    return file[1] if isinstance(file, list | tuple) and len(file) == 2 else file


def _pair(name: str, pair: object) -> dict[str, object]:
    if isinstance(pair, Mapping):
        return {"test_name": name, **pair}
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise SuiteProblem(f"the test {name[:60]!r} is no pair of input and output")
    return {"test_name": name, "input": pair[0], "output": pair[1]}


def test_cases(row: DataRow) -> Suite | None:
    """AceCode, HardTests, CodeContests+ and CodeContests-O: the columns `test_cases` or `corner_cases`.

    A list of assert statements is AceCode's: what is tested has the name that they call. A list of ``{input, output}`` is that of
    the others, judged by ``output_judging_function`` (a column, or in ``test_cases_kit``; it says True or False of input, output and
    answer) or by a `checker` in C++ with testlib where the row has one.
    """
    cell = row.data("test_cases")
    return row.tests(row.data("corner_cases") if cell is None else cell)


def rstar(row: DataRow) -> Suite | None:
    """rStar-Coder: `inputs` and `outputs`, lists as JSON, with `test_case_type`, `func_name` and `class_name`.

    With a function's name the tests are calls with one JSON value per line.
    """
    return row.without("inputs", "outputs").tests({"inputs": row.data("inputs"), "outputs": row.data("outputs")})


def open_instruct(row: DataRow) -> Suite | None:
    """open-instruct and rLLM: `ground_truth`, with `dataset` ``code`` or ``code_stdio``, or with `data_source`.

    A list, its JSON, or the packed form of it: assert statements, or tests ``{input, output}`` as in LiveCodeBench. Rows of other
    tasks have an answer there, and do not apply.
    """
    tests = row.data("ground_truth")
    if isinstance(tests, str) and not is_packed(tests):
        raise SuiteProblem(f"the ground truth is no list of tests: {tests[:60]!r}")
    if (
        isinstance(tests, list)
        and len(tests) == 1
        and isinstance(tests[0], str)
        and not tests[0].lstrip().startswith("assert")
    ):
        # some files have the JSON of all tests as the only text of a list
        tests = opened(tests[0])
    return row.tests(tests)
