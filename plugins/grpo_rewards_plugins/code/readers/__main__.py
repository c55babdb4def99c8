"""Writes the documentation's page on the formats of code data, from the readers' own words."""

from __future__ import annotations

import inspect
import re
import sys

from grpo_rewards_plugins.code.readers import FAMILIES, Family

__all__ = ["page"]

_HEAD = """\
# The formats of code data

`use: code` reads the rows of public data sets by their own columns, unchanged. Which family a row is of, its columns say; the
first family below that knows a row reads it. `details.data` of each outcome has the family's name, and `grpo-rewards validate`
names the rows that cannot be judged with the reason. A plugin adds a family with the hook `register_code_readers`:

```python
from grpo_rewards import hookimpl


def read(row):
    \"\"\"Read a row of ours: `row.get(column)`, `row.data(column)` (out of JSON), `row.tests(tests)`.\"\"\"
    return row.tests({"inputs": row.data("given"), "outputs": row.data("wanted"), "fn_name": row.get("function")})


@hookimpl
def register_code_readers():
    return {"ours": (("given", "wanted"), read)}
```

A reader returns `None` for a row that is not its own after all, and raises `SuiteProblem` (`grpo_rewards_plugins.code`) for one
that cannot be judged. What `row.tests` understands is what all families share: pairs of texts, calls, check functions, statements,
test files, packed tests. It refuses by name what it does not know.

This page is written by `python -m grpo_rewards_plugins.code.readers > docs/code-formats.md`.
"""


def page() -> str:
    """Return the page: a section for each family, from the docstring of its module."""
    return _HEAD + "".join(map(_section, FAMILIES))


def _section(family: Family) -> str:
    name, columns = family.name, family.columns
    text = inspect.getdoc(sys.modules[family.reader.__module__]) or ""
    known = " and ".join(" or ".join(f"`{one}`" for one in names.split("|")) for names in columns)
    paragraphs = [" ".join(part.split()) for part in re.sub(r"``(.+?)``", r"`\1`", text).split("\n\n")]
    return f"\n## {name}\n\nKnown by {known}.\n\n" + "\n\n".join(paragraphs) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
