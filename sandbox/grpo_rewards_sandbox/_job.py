"""What goes in and what comes out: `Job`, `Limits`, `Verdict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from json import JSONEncoder
from typing import Any

from .program.border.calling import in_batches
from .program.comparison import comparison

_encode = JSONEncoder(separators=(",", ":")).encode

FORMATS = ("pytest", "humaneval", "asserts", "stdio", "calls")


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
class Job:
    """One candidate and the tests it has to pass; `timeout` in seconds, for the whole job.

    `classes` names the classes under test; what the tests' text uses as a class is one anyway. `entry_point` is the name
    that ``check(candidate)`` is given, or a way to it such as ``Solution().topK``; for ``calls`` the function or method.

    Tests of ``calls`` are ``{"arguments": [...], "keywords": {...}, "result": ...}`` with JSON values. `parameters` says per
    argument which nodes its list stands for (``""``, ``ListNode``, ``TreeNode``, ``[ListNode]``), `returns` the same of the
    result, or ``argument 0`` where that is changed in place. `compare` is a comparison by name, for ``stdio`` and ``calls``.
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

    def __post_init__(self) -> None:
        for name, value, known in (
            ("format", self.format, FORMATS),
            ("fidelity", self.fidelity, ("isolated", "shared")),
        ):
            if value not in known:
                raise ValueError(f"Job.{name} is {value!r}; expected one of {', '.join(known)}")
        if isinstance(self.tests, str) is (self.format in ("asserts", "stdio", "calls")):
            raise ValueError(f"Job.tests is a {type(self.tests).__name__}, which format {self.format!r} does not take")

        comparison(self.compare)

    def to_wire(self) -> dict[str, Any]:
        """Plain data for the supervisor."""
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        data["setup"], data["limits"] = self.setup or "", asdict(self.limits)
        if self.format == "calls":
            data["fidelity"] = "isolated"  # nothing of these tests needs the program's interpreter
            data["tests"] = _batches(self.tests)
        data["limits"]["cpu_seconds"] = self.limits.cpu_seconds or int(self.timeout) + 1
        return data


def _batches(tests: Sequence[Any]) -> list[list[str]]:
    """Calls and their results as JSON, as many together as cross at once: text is handed on without being read."""
    calls = [[test.get("arguments", []), test.get("keywords", {})] for test in tests]
    results = [test["result"] for test in tests]
    batches, start = [], 0
    for text, count in in_batches(calls):
        batches.append([text, _encode(results[start : start + count])])
        start += count
    return batches


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
