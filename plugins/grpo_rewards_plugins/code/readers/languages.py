"""Families whose program is one text with its prompt and its tests, in any language."""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes import program
from grpo_rewards_plugins.code.shapes.columns import named_language
from grpo_rewards_plugins.code.suite import Suite


def multipl_e(row: DataRow) -> Suite | None:
    """MultiPL-E: `prompt`, `tests` and `stop_tokens`; the program is prompt, completion and tests in one text of `language`.

    A completion that continues the prompt is cut at the first stop token; a whole function, class or file takes the place of what the prompt
    begins. The assertions are split: what the program computes is part of its own text, what is expected is a program of its own, and the
    sandbox compares the values that both write, so that exit status, output, macros and operators of the program decide nothing. Tests
    that hold more than calls and their values are refused by name; with `fidelity: shared` all is one process, which a program can forge.
    """
    language = named_language(row.get("language"))
    tests = row.get("tests")
    if language in ("", "python") or not isinstance(tests, str):
        return None
    return program.suite(row, language, tests)


def humaneval_x(row: DataRow) -> Suite | None:
    """HumanEval-X: `task_id` (``CPP/0``), `prompt`, `declaration` and `test`; the program is prompt, completion and test in one text.

    Python's rows are those of HumanEval. The others are judged as those of MultiPL-E: two programs that write values, of which the
    sandbox compares them; what cannot be told apart (loops over the program's own results, helpers that compute what is expected) is
    refused by name.
    """
    language = named_language(str(row.get("task_id") or "").partition("/")[0])
    test = row.get("test")
    if language in ("", "python") or not isinstance(test, str):
        return row.tests(test)
    return program.suite(row, language, test)
