"""Every error that grpo-rewards raises on purpose.

The tree::

    GrpoRewardsError                the user can act on it: the command line prints it without a traceback
    ├── ConfigError                 a composition (YAML or mapping) is wrong
    ├── SettingsError               a setting of a reward is unknown, missing or of the wrong type
    ├── UnknownRewardError          a name, path or module reference leads to no reward
    ├── ColumnError                 the data lacks a column that a reward needs
    ├── InputError                  an input file cannot be read as rows
    ├── ResumeError                 a saved run does not belong to what is asked for now
    ├── PluginError                 a reward raised, or returned what its contract forbids
    └── InfrastructureError         a sandbox or service is down, or too many rows could not be scored

Each says what is wrong, where, what was expected and what to do, and carries the object it is about.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = [
    "ColumnError",
    "ConfigError",
    "GrpoRewardsError",
    "InfrastructureError",
    "InputError",
    "PluginError",
    "ResumeError",
    "SettingsError",
    "UnknownRewardError",
    "how_to_install",
    "nearest",
    "printable",
]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known word closest to `word`, or an empty string."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def printable(text: str) -> str:
    """Return text of others as a terminal shows it and does not obey it: what cannot be printed, line ends too, becomes U+FFFD."""
    return (
        text
        if text.isprintable()
        else "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    )


def how_to_install(extra: str) -> str:
    """Return the command that installs what the extra `extra` of grpo-rewards names, true wherever it is read.

    The package is not on PyPI, so the command names the packages of the extra, as the installed metadata lists them; where
    there is no metadata, it is the one for a checkout.
    """
    import re
    from importlib.metadata import PackageNotFoundError, requires

    # metadata write the requirement of an extra so: docker>=7.1; extra == 'docker'
    marked = re.compile(rf"""(.+?)\s*;.*\bextra\s*==\s*['"]{re.escape(extra)}['"]""")
    try:
        packages = [found[1] for line in requires("grpo-rewards") or () if (found := marked.fullmatch(line))]
    except PackageNotFoundError:
        packages = []
    if not packages:
        return f"pip install '.[{extra}]' in a checkout of grpo-rewards"
    return "pip install " + " ".join(f"'{package}'" for package in packages)


class GrpoRewardsError(Exception):
    """Base of every error that a user can act on. Crosses into other processes whole, but for its ``__cause__``."""

    # an exception pickles as a call with its words, and those with keyword-only arguments refuse that
    def __reduce__(self) -> tuple[object, ...]:
        return (_received, (type(self), self.args), self.__dict__)


def _received(kind: type[GrpoRewardsError], words: tuple[str, ...]) -> GrpoRewardsError:
    """An error as another process raised it; its own words are made already."""
    error = kind.__new__(kind, *words)
    error.args = words
    return error


class ConfigError(GrpoRewardsError):
    """A composition is wrong. `path` is the place in it (``rewards.format.weight``), `source` the file."""

    def __init__(self, message: str, *, path: str = "", source: str = "") -> None:
        where = ": ".join(part for part in (source, path) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.source = source


class SettingsError(GrpoRewardsError):
    """A setting of the reward `reward` is unknown, missing or of the wrong type; `setting` names it."""

    def __init__(self, message: str, *, reward: str, setting: str = "") -> None:
        super().__init__(message)
        self.reward = reward
        self.setting = setting


class UnknownRewardError(GrpoRewardsError):
    """The reference `reference` leads to no reward."""

    def __init__(self, message: str, *, reference: str) -> None:
        super().__init__(message)
        self.reference = reference


_LOGGED = frozenset(("step", "advantage"))  # columns of TRL's completions files, which lack those of the data set


class ColumnError(GrpoRewardsError):
    """The data lacks the columns `missing` that the reward or component `reward` needs.

    `setting` is the key of the component that names the column (``when.column``), empty where the reward itself does.
    """

    def __init__(self, reward: str, missing: Sequence[str], available: Iterable[str], *, setting: str = "") -> None:
        have = sorted(available)
        hint = nearest(missing[0], have)
        names = ", ".join(repr(name) for name in missing)
        needs = f"component {reward!r} looks at" if setting else f"reward {reward!r} needs"
        cure = (
            f"Correct rewards.{reward}.{setting} in the configuration, or add the column (null where it says nothing)"
            if setting
            else f"Add the column, or map it in the configuration: columns: {{{missing[0]}: <your column>}}"
        )
        if "prompt" in have and not _LOGGED.isdisjoint(have):
            cure += "; for what a trainer logged: --join DATA --on prompt takes it from the data set of the run"
        super().__init__(
            f"{needs} the column{'s' if len(missing) > 1 else ''} "
            f"{names}, but the data has {'only ' + ', '.join(have) if have else 'no columns'}{hint or '.'} {cure}"
        )
        self.reward = reward
        self.missing = tuple(missing)
        self.setting = setting


class InputError(GrpoRewardsError):
    """A file cannot be read as rows; `source` is the file and `line` the 1-based line, when known."""

    def __init__(self, message: str, *, source: str = "", line: int | None = None) -> None:
        where = f"{source}:{line}: " if line is not None else f"{source}: " if source else ""
        super().__init__(where + message)
        self.source = source
        self.line = line


class ResumeError(GrpoRewardsError):
    """A saved run does not belong to what is asked for now (other file, other configuration)."""


class PluginError(GrpoRewardsError):
    """A reward raised, or returned what its contract forbids.

    `component` is its name in the composition, `plugin` the reward and where it comes from, `version` that
    distribution's version, `row` the 0-based row in the batch (None when no single row can be named), `completion` the
    text that it was scoring, cut to 2,000 characters. ``__cause__`` is what the plugin raised, in the process that
    called it.
    """

    def __init__(
        self, problem: str, *, component: str, plugin: str, version: str, row: int | None, completion: str = ""
    ) -> None:
        where = f"row {row}" if row is not None else "the whole batch"
        name = (
            f"component {component!r} ({plugin} {version})" if component != plugin else f"reward {plugin!r} {version}"
        )
        super().__init__(
            f"{name} failed on {where}: {problem}. This is a defect of the plugin, not of the completion; "
            f"set errors.plugin: drop_row to go on without such rows"
        )
        self.problem = problem
        self.component = component
        self.plugin = plugin
        self.version = version
        self.row = row
        self.completion = completion[:2000]


class InfrastructureError(GrpoRewardsError):
    """A sandbox, service or cluster is down, or more rows than `errors.max_infra_rate` allows were left out.

    `rate` is the share of those rows, whatever kept them from being scored, where rows were counted.
    """

    def __init__(self, message: str, *, rate: float | None = None) -> None:
        super().__init__(message)
        self.rate = rate
