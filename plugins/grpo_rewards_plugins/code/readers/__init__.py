"""The readers: a function for each family of data sets, from a row's own columns to its `Suite`.

A reader is a function that takes a `Row` and returns a `Suite`; returns None where the row is of another family after all;
and raises `SuiteProblem` where it is of this family and cannot be judged. `FAMILIES` has them in the order in which they are
asked: those whose columns no other family has come first. A plugin adds its own with the hook ``register_code_readers``,
which are asked before these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grpo_rewards.hooks import registered
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import ds1000, evalplus, languages, leetcode, pairs, python, sandboxfusion
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
FAMILIES = (
    Family("multipl_e", ("tests", "prompt", "stop_tokens|doctests"), languages.multipl_e),
    Family("humaneval_x", ("test", "declaration"), languages.humaneval_x),
    Family("own", ("tests",), pairs.own),
    Family("apps", ("input_output",), pairs.apps),
    Family("prime", ("reward_model|reward_spec",), pairs.prime),
    Family("synthetic", ("verification_info",), pairs.synthetic),
    Family("livecodebench", ("public_test_cases|private_test_cases",), pairs.livecodebench),
    Family("code_contests", ("public_tests|private_tests|generated_tests",), pairs.code_contests),
    Family("codeforces", ("official_tests",), pairs.codeforces),
    Family("nemo_gym", ("verifier_metadata",), pairs.nemo_gym),
    Family("evalplus", ("base_input", "canonical_solution", "entry_point"), evalplus.read),
    Family("ds1000", ("code_context",), ds1000.read),
    Family("mbpp_plus", ("test_list", "test"), python.mbpp_plus),
    Family("mbpp", ("test_list",), python.mbpp),
    Family("ioi", ("test_names",), pairs.ioi),
    Family("test_cases", ("test_cases|corner_cases",), pairs.test_cases),
    Family("sandboxfusion", ("test", "labels|content|id"), sandboxfusion.read),
    Family("classeval", ("test", "class_name"), python.classeval),
    Family("kodcode", ("test", "test_info"), python.kodcode),
    Family("leetcode", ("test", "entry_point", "query|prompt"), leetcode.read),
    Family("humaneval", ("test",), python.humaneval),
    Family("rstar", ("inputs", "outputs"), pairs.rstar),
    Family("cruxeval", ("code", "output"), python.cruxeval),
    Family("open_instruct", ("ground_truth",), pairs.open_instruct),
)


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
