"""`Row`: the columns of one row, and what all readers ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from grpo_rewards import completion_text
from grpo_rewards_plugins.blocks import fenced_blocks
from grpo_rewards_plugins.cells import is_blank, plain
from grpo_rewards_plugins.code.extraction import defined_names, first_name, is_code
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.reading import read_suite
from grpo_rewards_plugins.code.shapes.written import from_json_with_texts
from grpo_rewards_plugins.code.suite import FORMATS, Suite
from grpo_rewards_plugins.syntax import UNREADABLE, literal

_MOST_TEXT = 50_000_000
"""Characters of a cell that may be read as Python's own notation."""


@dataclass(frozen=True, slots=True)
class DataRow:
    """One row's columns as the data set has them; `asked` is the text of its prompt, `format` what the user says tests are."""

    columns: Mapping[str, object]
    asked: str = ""
    format: str | None = None

    @classmethod
    def of(cls, cells: Mapping[str, object], format: str) -> DataRow:
        """Make a row of a reward's cells, where the prompt is called ``prompts`` and the column ``format`` ``row_format``.

        Raises:
            SuiteProblem: its format is not known.
        """
        known = format if format != "auto" else cells.get("row_format")
        known = None if is_blank(known) else known
        if known is not None and known not in FORMATS:
            raise SuiteProblem(f"the format {str(known)[:60]!r} is none of {', '.join(FORMATS)}")
        asked = asked_of(cells.get("prompts"))
        return cls({**cells, "prompt": asked}, asked, known)

    def get(self, name: str) -> Any:
        """Return a column's value, None where it says nothing."""
        value = plain(self.columns.get(name))
        return None if is_blank(value) else value

    def data(self, name: str) -> Any:
        """Return a column's list or mapping, out of JSON, or of Python's own notation, where it is written as text."""
        return opened(self.get(name))

    @property
    def prompt(self) -> str:
        """The code that the program continues: the column ``code_prompt``, else what of the prompt is code."""
        beginning = self.get("code_prompt")
        return beginning if isinstance(beginning, str) else beginning_of(self.asked, self.get("entry_point"))

    def having(self, **columns: object) -> DataRow:
        """Return the row with some columns of other values."""
        return replace(self, columns={**self.columns, **columns})

    def without(self, *names: str) -> DataRow:
        """Return the row without some columns, which another reading of it has used up."""
        return replace(self, columns={name: cell for name, cell in self.columns.items() if name not in names})

    def tests(self, tests: object, *, format: str | None = None) -> Suite:
        """Read tests in one of the shapes that all data sets share, in the light of the row's other columns.

        Raises:
            SuiteProblem: they are not understood; the text says why.
        """
        return read_suite(
            tests,
            format=self.format or format,
            entry_point=self.get("entry_point"),
            setup=self.setup,
            prompt=self.prompt,
            columns=self.columns,
        )

    @property
    def setup(self) -> str:
        """The statements that run before the tests."""
        lines: list[str] = []
        for name in ("setup", "test_setup_code", "test_imports", "import_statement"):
            cell = plain(self.columns.get(name))
            lines += [cell] if isinstance(cell, str) else map(str, cell) if isinstance(cell, list | tuple) else []
        return "\n".join(line for line in lines if line.strip())


def opened(value: object) -> object:
    """Return what a text holds as JSON, or in Python's own notation, as some files have mappings; anything else as it is."""
    value = from_json_with_texts(value)
    # what JSON was not, and begins as the repr of a list or mapping does: other texts are not worth a parser's time
    if isinstance(value, str) and value.lstrip()[:2] in ("{'", "[{", "['") and len(value) < _MOST_TEXT:
        try:
            return literal(value.strip())
        except UNREADABLE:
            return value
    return value


def asked_of(prompt: object) -> str:
    """What was asked: a text prompt, or the last user message."""
    given = plain(prompt)
    if isinstance(given, str) or given is None:
        return given or ""
    asked = [message for message in given if isinstance(message, Mapping) and message.get("role") == "user"]
    # contents in parts are joined there, for the assistant's messages alone
    return completion_text([{**asked[-1], "role": "assistant"}]) if asked else ""


def beginning_of(asked: str, entry_point: object) -> str:
    """The code that a prompt begins: its last block, or all of it, if that defines `entry_point` or is nothing but code."""
    if not isinstance(entry_point, str):
        return ""
    for source in (*(block.text for block in reversed(fenced_blocks(asked))), asked):
        if first_name(entry_point) in defined_names(source):
            return source
    return asked if is_code(asked) else ""
