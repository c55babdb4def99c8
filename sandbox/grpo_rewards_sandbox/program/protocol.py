"""The messages between host, supervisor, fork servers and the process that judges checks, as types; frames of `wire` carry them.

What goes between tests and candidate is in `border.messages`, what goes between supervisor and cells in `languages.cells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

Role = Literal["candidate", "tests", "checks"]
Doing = Literal["candidate", "program", "cell", "checker", "tests", "shared"]


class Parent(NamedTuple):
    """A process that lasts: a fork server, by what its children do and which libraries it imported for them, or the one that judges checks."""

    role: Role
    libraries: frozenset[str] = frozenset()


class SupervisorConfig(TypedDict):
    """What a supervisor is told once, by the host that starts it."""

    allow: list[str]  # modes of isolation
    users: NotRequired[list[int]]  # of tests and candidates, where the host chooses them
    processors: NotRequired[float]  # how many this machine grants
    python_path: list[str]
    pytest_path: list[str]
    site_packages: NotRequired[list[str]]
    packages: NotRequired[list[str] | None]  # names that can be imported from there; None: all
    program_path: str
    store: str  # where work folders lie, "" for a folder of this machine's for temporary files
    sweep: list[str]
    warm: bool
    testlib: NotRequired[str]


class CheckerMessage(TypedDict):
    """A program that decides whether an output is right."""

    source: str
    language: str
    protocol: str


class CaseMessage(TypedDict):
    """One test of a whole program: its standard input, what it has to write, and seconds of its own."""

    input: str
    output: str
    timeout: NotRequired[float | None]


class JobMessage(TypedDict):
    """One job, as the host sends it: the fields of `Job`."""

    candidate: str
    tests: Any  # what each format takes: a text, texts, cases, or batches of calls and results
    format: str
    entry_point: str
    setup: str
    timeout: float
    fidelity: str
    module: str
    compare: str
    classes: list[str]
    parameters: list[str]
    returns: str
    limits: dict[str, int]
    language: str
    checker: CheckerMessage | None
    input_file: str
    output_file: str
    test_timeout: float


class Start(TypedDict):
    """To a fork server: fork a child that does this. Its answer names the child's process, as `Forked`."""

    do: Doing
    name: str  # of its work folder
    shared: str | None  # the folder that tests and candidate both see
    limits: dict[str, int]
    program: NotRequired[str]  # the text of a whole program
    word: NotRequired[str]  # by which each line of the verdict is signed
    job: NotRequired[JobMessage]  # to the tests' parent only: the candidates' sees neither tests nor expected values


class Reap(TypedDict):
    """To a fork server: end this child and clean up after it. The answer is an `End`."""

    do: Literal["reap"]
    pid: int
    name: str
    user: int


class Load(TypedDict):
    """To a fork server: fork another one, which imports these libraries and serves the socket that comes along. The answer is a `Forked`."""

    do: Literal["load"]
    libraries: list[str]


class Forked(TypedDict):
    """A child that was started."""

    pid: int


class End(TypedDict):
    """How a child ended: its status as of wait(2), and the seconds that it ran."""

    status: int
    cpu: float


class CheckMessage(TypedDict):
    """To the process that judges checks: a job, and the processor to begin on."""

    job: JobMessage
    word: str  # by which each line of the verdict is signed
    processor: int | None


@dataclass(frozen=True, slots=True)
class Started:
    """A running child, as the supervisor knows it; `user`: who it runs as, 0 for who the supervisor is."""

    pid: int
    name: str
    user: int
    parent: Parent
