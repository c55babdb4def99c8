"""The registry of checks, and how a row's arguments become a check that is ready to run."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from grpo_rewards.packages import require
from grpo_rewards_plugins.cells import RowProblem

Checker = Callable[..., bool]
Reader = Callable[[object], object]

SOURCES = {
    "ifeval": "google-research instruction_following_eval, as in lm-eval 0.4.13",
    "ifbench": "allenai/IFBench db69a6f",
    "ifrlvr": "allenai/open-instruct e6c3044",
    "rlvr_ifeval": "allenai/open-instruct e6c3044, if_functions.py",
}
"""The version of each source whose values the checks give."""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of instruction: the function that checks it, its arguments, the package that it needs, and whether it sees blank texts."""

    id: str
    source: str
    original: Checker
    arguments: Mapping[str, Reader]
    needs: str = ""
    ignored: frozenset[str] = frozenset()
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A check with a row's arguments; `run` takes a text that is not blank, or any where `blank`."""

    id: str
    source: str
    run: Callable[[str], bool] = field(compare=False)
    mended: bool = False
    blank: bool = False


CHECKS: dict[str, Check] = {}
"""Every check by its id; the ids of the three sources do not collide but where they mean the same check."""
_MENDED: dict[str, Checker] = {}


def check(
    id: str, source: str, *, needs: str = "", ignored: tuple[str, ...] = (), blank: bool = False, **arguments: Reader
) -> Callable[[Checker], Checker]:
    """Register a function of the text and `arguments` under an id."""

    def register(function: Checker) -> Checker:
        CHECKS[id] = Check(id, source, function, arguments, needs, frozenset(ignored), blank)
        return function

    return register


def mended(id: str) -> Callable[[Checker], Checker]:
    """Register what takes the place of a check where the row asks for mended ones."""

    def register(function: Checker) -> Checker:
        _MENDED[id] = function
        return function

    return register


def bind(id: object, given: Mapping[str, object] | None, *, mend: bool) -> Bound:
    """Return the check of an id with its arguments read.

    Raises:
        RowProblem: the id is unknown, or an argument is missing, unknown or out of its range, where the originals raise or
            draw a value at random.
        ConfigError: a package that the check needs is not there.
    """
    known = CHECKS.get(id) if isinstance(id, str) else None
    if known is None:
        raise RowProblem(f"unknown instruction {id!r:.80}{_nearest(id)}")
    if known.needs:
        require(*known.needs.split(), extra="instructions", by=f"instruction {known.id!r}")
    arguments: dict[str, object] = {}
    for name, value in (given or {}).items():
        if value is None or name in known.ignored:  # data in columns give every check every key
            continue
        read = known.arguments.get(name)
        if read is None:
            raise RowProblem(
                f"instruction {id!r} has no argument {name!r} (it has {', '.join(known.arguments) or 'none'})"
            )
        try:
            arguments[name] = read(value)
        except ValueError as problem:
            raise RowProblem(f"instruction {id!r}: {name} must be {problem}, not {value!r:.80}") from None
    if len(arguments) < len(known.arguments):
        missing = next(name for name in known.arguments if name not in arguments)
        raise RowProblem(f"instruction {id!r} needs the argument {missing!r}")
    instead = _MENDED.get(known.id) if mend else None
    function = instead or known.original
    run = partial(function, **arguments) if arguments else function
    return Bound(known.id, known.source, run, mend, known.blank)


def _nearest(id: object) -> str:
    near = difflib.get_close_matches(id, CHECKS, 1) if isinstance(id, str) else []
    return f"; did you mean {near[0]!r}" if near else ""
