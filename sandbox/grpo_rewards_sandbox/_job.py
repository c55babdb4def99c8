"""What goes in and what comes out: `Job`, `Limits`, `Verdict`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

FORMATS = ("pytest", "humaneval", "asserts", "stdio")


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
    that ``check(candidate)`` is given, or a way to it such as ``Solution().topK``.
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
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, value, known in (
            ("format", self.format, FORMATS),
            ("fidelity", self.fidelity, ("isolated", "shared")),
            ("compare", self.compare, ("exact", "tokens")),
        ):
            if value not in known:
                raise ValueError(f"Job.{name} is {value!r}; expected one of {', '.join(known)}")
        if isinstance(self.tests, str) is (self.format in ("asserts", "stdio")):
            raise ValueError(f"Job.tests is a {type(self.tests).__name__}, which format {self.format!r} does not take")

    def to_wire(self) -> dict[str, Any]:
        """Plain data for the supervisor."""
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        data["setup"], data["limits"] = self.setup or "", asdict(self.limits)
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
