"""Mathematical answers: found, read and compared.

`parse` and `verify` take arguments and return values as Math-Verify's do, so that a project changes over by changing an import;
`grade` says more about one pair, `extract` about one completion, and the reward `math` is all of it for a trainer. What is imported
from here is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .extraction import extract
    from .grading import Grade, Reading, grade
    from .reward import math
    from .verification import parse, verify

__all__ = ["Grade", "Reading", "extract", "grade", "math", "parse", "verify"]

_HOMES = {"extract": "extraction", "math": "reward", "parse": "verification", "verify": "verification"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r} (it has {', '.join(__all__)})")
    return getattr(import_module(f".{_HOMES.get(name, 'grading')}", __name__), name)
