"""`SuiteProblem`: why a row's tests are not run."""

from __future__ import annotations

__all__ = ["SuiteProblem"]


class SuiteProblem(Exception):
    """A row's tests cannot be judged, whatever the candidate is: a fault of the data, or a format that is not read."""
