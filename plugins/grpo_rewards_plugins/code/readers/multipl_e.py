"""MultiPL-E: `prompt`, `tests` and `stop_tokens`; the program is prompt, completion and tests in one text of `language`.

A completion that continues the prompt is cut at the first stop token; a whole function, class or file takes the place of what the prompt
begins. Exit status 0 passes, and program and tests are one process, so that a program can forge its verdict: such rows are judged with
`fidelity: shared` only, never for training. Rows that need a library which the language does not bring are refused.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import Row
from grpo_rewards_plugins.code.shapes import program
from grpo_rewards_plugins.code.shapes.columns import named_language
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: Row) -> Suite | None:
    """Read the columns of a program in one text."""
    language = named_language(row.get("language"))
    tests = row.get("tests")
    if language in ("", "python") or not isinstance(tests, str):
        return None
    return program.suite(row, language, tests)
