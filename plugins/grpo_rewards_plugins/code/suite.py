"""`Suite`: the tests of one row as they are run, whatever data set they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from grpo_rewards_plugins.code.extraction import defined_names

if TYPE_CHECKING:
    from grpo_rewards_plugins.code.shapes.pairs import Pair

Format = Literal["pytest", "humaneval", "asserts", "stdio", "calls", "program", "values", "literal"]
FORMATS: tuple[str, ...] = get_args(Format)


Subtask = tuple[float, tuple[int, ...]]
"""Points, and the places of the tests that all have to pass for them."""


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Calls with JSON values: of each the arguments packed and the result as JSON, as the sandbox takes them.

    `parameters` says per argument which nodes its list stands for, `returns` the same of the result, or ``argument 0 nums`` where
    that one is changed in place. Compared by identity: a row's calls may be megabytes.
    """

    tests: tuple[tuple[bytes, str], ...]
    parameters: tuple[str, ...] = ()
    returns: str = ""


@dataclass(frozen=True, slots=True)
class Checking:
    """A program that decides about outputs, its language, and how it is called and answers."""

    source: str
    language: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests of one row: text for ``pytest`` and ``humaneval``, statements for ``asserts``, `pairs` for ``stdio``, `calls`.

    `names` are the names that the tests mention; `entry_point` is what they are about, when known: a function, or an
    expression such as ``Solution().twoSum``. `classes` names the classes under test; of calls the first may have the method.
    `seconds` and `memory` (bytes) are the row's own limits of one test, None where it has none; `patience` is what the data
    set's own runner gives all of them at least. `language` is what programs
    are asked in, empty where the row does not say; `parts` are the tests that are scored together, by their places, with their points. ``program``: `tests` follow the program, which continues `beginning` up to the first of
    `stops`, or repeats it; ``values``: so too, and `expected` is the program that writes the values the tests expect; ``literal``: `tests` is a Python literal. Elsewhere a `beginning` is what programs begin with, or the context of statements (DS-1000); `words` are
    those that a program must have, or must not.
    """

    format: Format
    tests: str | tuple[str, ...]
    entry_point: str
    setup: str
    names: frozenset[str]
    pairs: tuple[Pair, ...] = ()
    classes: tuple[str, ...] = ()
    seconds: float | None = None
    calls: Calls | None = None
    language: str = ""
    compare: str = "tokens"
    checker: Checking | None = None
    input_file: str = ""
    output_file: str = ""
    parts: tuple[Subtask, ...] = ()
    family: str = ""
    patience: float = 0.0
    memory: int | None = None
    expected: str = ""
    beginning: str = ""
    stops: tuple[str, ...] = ()
    words: tuple[tuple[str, bool], ...] = ()

    @property
    def size(self) -> int:
        """How many tests there are, where they can be counted before they run, else 0."""
        return len(self.pairs) or (len(self.calls.tests) if self.calls else 0)

    def counts_on_imports(self, program: str) -> bool:
        """Whether a program with a class ``Solution`` that the tests ask for leaves its imports out, as such sites let it."""
        return "Solution" in self.names and "Solution" in defined_names(program)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The tests of all parts, each once: together are those that belong to the same parts."""
        parts_of: dict[int, list[int]] = {}
        for number, (_, tests) in enumerate(self.parts):
            for place in tests:
                parts_of.setdefault(place, []).append(number)
        found: dict[tuple[int, ...], list[int]] = {}
        for place, numbers in sorted(parts_of.items()):
            found.setdefault(tuple(numbers), []).append(place)
        return tuple(map(tuple, found.values()))

    def for_job(self, places: tuple[int, ...] | None = None) -> str | list[object]:
        """The tests as the sandbox takes them, or those at some places."""
        if isinstance(self.tests, str):
            return self.tests
        tests: list[object] = list(self.tests)
        if self.calls is not None:
            tests = list(self.calls.tests)
        elif self.format == "stdio":
            tests = [{"input": given, "output": wanted} for given, wanted in self.pairs]
        return tests if places is None else [tests[place] for place in places]
