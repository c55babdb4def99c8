"""`SuiteProblem`: why a row's tests are not run."""

from __future__ import annotations

import ast
from typing import Literal

from grpo_rewards_plugins.syntax import UNREADABLE, parse


class SuiteProblem(Exception):
    """A row's tests cannot be judged, whatever the candidate is: a fault of the data, or a format that is not read.

    `kind` says under which check ``audit DATA`` counts it; ``absent``: the row has no tests at all.
    """

    def __init__(self, text: str, *, kind: Literal["format", "contradictory", "vacuous", "absent"] = "format") -> None:
        super().__init__(text)
        self.kind = kind


def compiled(text: str, otherwise: str) -> ast.Module:
    """Return the syntax tree of a part of a row.

    Raises:
        SuiteProblem: it has none; the text says `otherwise`, and why.
    """
    try:
        return parse(text)
    except UNREADABLE as problem:
        raise SuiteProblem(f"{otherwise}: {problem}"[:200]) from None
