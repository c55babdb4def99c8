"""IOI (open-r1/ioi): one subtask a row, `test_names` with `test_cases` (``[input, output]`` by name, or in their order).

All tests of the subtask have to pass, so that its worst test decides; where a row has all `subtasks` of a task with their points, the
score ``weighted`` pays those that passed whole. Programs are C++ where the row does not say. Rows with `grader_files` are refused: the program is
a part of those files there, and reads and writes nothing itself. So are rows without tests, which the set keeps in files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the columns `test_names` and `test_cases`."""
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
    tests = [_case(str(name), cases[name]) for name in names]
    known = row if row.get("language") else row.having(language="cpp")
    return known.without("test_names", "test_cases").tests(tests)


def _content(file: object) -> object:
    """What a file holds: ``[name, content]``, or a mapping."""
    if isinstance(file, Mapping):
        return file.get("content")
    return file[1] if isinstance(file, list | tuple) and len(file) == 2 else file


def _case(name: str, pair: object) -> dict[str, object]:
    if isinstance(pair, Mapping):
        return {"test_name": name, **pair}
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise SuiteProblem(f"the test {name[:60]!r} is no pair of input and output")
    return {"test_name": name, "input": pair[0], "output": pair[1]}
