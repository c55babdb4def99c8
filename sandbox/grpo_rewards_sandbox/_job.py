"""What goes in and what comes out: `Job`, `Limits`, `Verdict`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ._calls import batches
from .program.comparison import comparison

FORMATS = ("pytest", "humaneval", "asserts", "stdio", "calls", "program", "values")
LANGUAGES = ("python", "c", "cpp", "java", "javascript", "typescript", "go", "rust", "ruby", "php", "bash")
"""What a job may be written in."""
PROTOCOLS = {"testlib": "cpp", "codeforces": "python", "function": "python"}
_WHOLE = ("stdio", "program", "values")  # formats whose candidate is a whole program, so of any language
# no path: the file lies in the program's own folder
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one candidate: bytes, counts, seconds."""

    memory: int = 1 << 30
    processes: int = 64
    open_files: int = 256
    file_bytes: int = 64 << 20
    output_bytes: int = 8 << 20
    cpu_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Checker:
    """A program that decides whether an output is right. It runs confined, apart from the candidate.

    `protocol`: ``testlib`` (C++; called with the files of input, output and answer; exit status 0 right, 1, 2 and 8 wrong),
    ``codeforces`` (Python; called with the files of input, answer and output; prints 1 or 0), or ``function`` (Python; defines
    ``output_judging_function(input, output, answer) -> bool``). An output that a checker says anything else of is
    wrong; a checker that breaks on the answer in the test too gives no verdict.
    """

    source: str
    language: str = "cpp"
    protocol: str = "testlib"

    def __post_init__(self) -> None:
        _one_of("Checker.protocol", self.protocol, PROTOCOLS)
        _one_of("Checker.language", self.language, (PROTOCOLS[self.protocol],))


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate and the tests it has to pass; `timeout` in seconds, for the whole job.

    `classes` names the classes under test; what the tests' text uses as a class is one anyway. `entry_point` is the name
    that ``check(candidate)`` is given, or a way to it such as ``Solution().topK``; for ``calls`` the function or method, or the same way.

    Tests of ``calls`` are ``{"arguments": [...], "keywords": {...}, "result": ...}`` with JSON values, or each a pair:
    one of `pack_calls`, and the result as JSON (written without blanks it is compared soonest). `parameters` says per
    argument which nodes its list stands for (``""``, ``ListNode``, ``TreeNode``, ``[ListNode]``), `returns` the same of the
    result, or ``argument 0 nums`` (place, and name where it has one) where that is changed in place. `compare` is a
    comparison by name, for ``stdio`` and ``calls``.

    `language` is that of the candidate. Only ``stdio``, ``values`` and ``program`` take another one than Python. ``values``:
    candidate and `tests` are two programs of this language (not Python), each writes one JSON value a line to the file
    ``values.txt``, and the candidate's are compared with the tests', which it never meets. In the format
    ``program`` the text of `setup`, candidate and `tests` is one program, and passes by its exit status.
    ``stdio`` takes tests ``{"input": text, "output": text}``, each with its own ``"timeout"`` in seconds where it has one;
    `test_timeout` is that of all others, 0 for none. Where `input_file` or `output_file` is set, the program reads or
    writes a file of this name in its folder. A `checker` decides in the place of `compare`.
    """

    candidate: str
    tests: str | list[Any]
    format: str
    entry_point: str = ""
    setup: str = ""
    timeout: float = 8.0
    fidelity: str = "isolated"
    module: str = "solution"
    compare: str = "exact"
    classes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    returns: str = ""
    limits: Limits = field(default_factory=Limits)
    language: str = "python"
    checker: Checker | None = None
    input_file: str = ""
    output_file: str = ""
    test_timeout: float = 0.0

    def __post_init__(self) -> None:
        _one_of("Job.format", self.format, FORMATS)
        _one_of("Job.fidelity", self.fidelity, ("isolated", "shared"))
        _one_of("Job.language", self.language, LANGUAGES)
        if self.language != "python" and self.format not in _WHOLE:
            raise ValueError(f"Job.language is {self.language!r}, and format {self.format!r} is Python's")
        for name in ("candidate", "entry_point", "module"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(
                    f"Job.{name} is a {type(getattr(self, name)).__name__} and has to be text, empty where there is none"
                )
        if not isinstance(self.classes, tuple | list):  # a text would be the names of its letters
            raise ValueError(
                f"Job.classes is a {type(self.classes).__name__} and has to be a tuple of names, empty where there is none"
            )
        for name in ("checker", "input_file", "output_file", "test_timeout"):
            if getattr(self, name) and self.format != "stdio":
                raise ValueError(f"Job.{name} is set, which format {self.format!r} does not take")
        if self.format == "values" and self.language == "python":
            raise ValueError("format 'values' is for other languages than Python: use 'calls'")
        for name in filter(None, (self.input_file, self.output_file)):
            if not _FILE_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no plain name of a file such as input.txt")
        listed = self.format in ("asserts", "stdio", "calls")
        if isinstance(self.tests, str) is listed:
            wanted = "a list, with an entry for each test" if listed else "text"
            raise ValueError(
                f"Job.tests is a {type(self.tests).__name__}, and for format {self.format!r} has to be {wanted}"
            )

        comparison(self.compare)

    def to_wire(self) -> dict[str, object]:
        """Plain data for the supervisor."""
        # not asdict, which would copy all tests
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        data["setup"], data["limits"] = self.setup or "", asdict(self.limits)
        data["checker"] = asdict(self.checker) if self.checker else None
        if self.format == "calls":
            data["fidelity"] = "isolated"  # nothing of these tests needs the program's interpreter
            data["tests"] = list(batches(self.tests))
        # above the job's own limit: the kernel's is for what the supervisor's clock misses
        data["limits"]["cpu_seconds"] = self.limits.cpu_seconds or int(self.timeout) + 1
        return data


@dataclass(frozen=True, slots=True)
class Verdict:
    """`status`: passed, failed, error, timeout, limit (then `limit` names it), refused or unavailable.

    ``refused`` speaks of the tests: they cannot be judged under isolation, whatever the candidate is.
    """

    status: str
    tests_passed: int = 0
    tests_total: int = 0
    reason: str = ""
    seconds: float = 0.0
    limit: str = ""

    @property
    def passed(self) -> bool:
        """Every test passed."""
        return self.status == "passed"


def _one_of(what: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ValueError(f"{what} is {value!r}; expected one of {', '.join(known)}")
