"""The readers: one module for each family of data sets, from a row's own columns to its `Suite`.

A reader is a function that takes a `Row` and returns a `Suite`; returns None where the row is of another family after all;
and raises `SuiteProblem` where it is of this family and cannot be judged. `FAMILIES` has them in the order in which they are
asked: those whose columns no other family has come first. A plugin adds its own with the hook ``register_code_readers``,
which are asked before these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module

from grpo_rewards.hooks import registered
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["FAMILIES", "Family", "families", "read_row"]

Reader = Callable[[DataRow], Suite | None]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of data sets: its name, the columns of which a row has all to be one of them, and its reader."""

    name: str
    columns: tuple[str, ...]
    reader: Reader

    def has(self, row: DataRow) -> bool:
        """Whether a row has the columns of this family; ``a|b`` stands for either."""
        return all(any(row.get(one) is not None for one in names.split("|")) for names in self.columns)


# in this order: `humaneval` takes any row with a `test`, so the families that ask for more beside it stand before it
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "multipl_e": ("tests", "prompt", "stop_tokens|doctests"),
    "humaneval_x": ("test", "declaration"),
    "own": ("tests",),
    "apps": ("input_output",),
    "prime": ("reward_model|reward_spec",),
    "synthetic": ("verification_info",),
    "livecodebench": ("public_test_cases|private_test_cases",),
    "code_contests": ("public_tests|private_tests|generated_tests",),
    "codeforces": ("official_tests",),
    "nemo_gym": ("verifier_metadata",),
    "evalplus": ("base_input", "canonical_solution", "entry_point"),
    "ds1000": ("code_context",),
    "mbpp_plus": ("test_list", "test"),
    "mbpp": ("test_list",),
    "ioi": ("test_names",),
    "test_cases": ("test_cases|corner_cases",),
    "sandboxfusion": ("test", "labels|content|id"),
    "classeval": ("test", "class_name"),
    "kodcode": ("test", "test_info"),
    "leetcode": ("test", "entry_point", "query|prompt"),
    "humaneval": ("test",),
    "rstar": ("inputs", "outputs"),
    "cruxeval": ("code", "output"),
    "open_instruct": ("ground_truth",),
}


def _reader(name: str) -> Reader:
    reader: Reader = import_module(f"{__name__}.{name}").read
    return reader


FAMILIES = tuple(Family(name, columns, _reader(name)) for name, columns in _COLUMNS.items())


def families() -> tuple[Family, ...]:
    """Return all families: those of plugins, asked anew each time since one may be registered late, then this package's."""
    found = registered("register_code_readers")
    added = tuple(Family(name, tuple(columns), reader) for name, (columns, reader) in found.items())
    return added + FAMILIES


def read_row(row: DataRow) -> Suite:
    """Read a row's tests by the first family that knows it.

    Raises:
        SuiteProblem: none does, or the one that does says that the row cannot be judged.
    """
    for family in families():
        if family.has(row):
            suite = family.reader(row)
            if suite is not None:
                return suite if suite.family else replace(suite, family=family.name)
    raise SuiteProblem(
        "there are no tests in the columns tests, test or test_list, nor in those of a data set that is known "
        "(docs: code data formats)",
        kind="absent",
    )
