"""MultiPL-E: `prompt`, `tests` and `stop_tokens`; the program is prompt, completion and tests in one text of `language`.

The completion is cut at the first stop token where it is a body; a whole function in a block is put in the place of the prompt's. Exit status 0 passes: a
program that ends itself with it passes too, which this format cannot tell.
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
