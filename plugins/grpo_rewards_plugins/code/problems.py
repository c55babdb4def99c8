"""`SuiteProblem`: why a row's tests are not run."""

from __future__ import annotations

from typing import Literal

__all__ = ["SuiteProblem"]


class SuiteProblem(Exception):
    """A row's tests cannot be judged, whatever the candidate is: a fault of the data, or a format that is not read.

    `kind` says under which check ``audit DATA`` counts it; ``absent``: the row has no tests at all.
    """

    def __init__(self, text: str, *, kind: Literal["format", "contradictory", "vacuous", "absent"] = "format") -> None:
        super().__init__(text)
        self.kind = kind
