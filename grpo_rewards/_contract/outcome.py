"""What a reward says about one completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

__all__ = ["LARGEST", "STATUSES", "Outcome", "Status", "restored"]

LARGEST = 1e18
"""The largest size of a reward, also of a sum of them. Trainers compute in float32: beyond 3.4e38 a number is inf there,
which poisons its group or every weight of the model, and a group's deviation takes the sum of its squares."""

Status = Literal["scored", "not_applicable", "rejected", "timeout", "unavailable", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)

_WITHOUT_VALUE = ("not_applicable", "unavailable", "error")
_NO_DETAILS: Mapping[str, object] = MappingProxyType({})  # read-only, as outcomes share it


@dataclass(frozen=True, slots=True, init=False)
class Outcome:
    """One reward's verdict on one completion: a value, how it came about, and why.

    ========================= ============================ ==========================================
    status                    means                        value
    ========================= ============================ ==========================================
    ``scored``                graded                       within the reward's range
    ``not_applicable``        the reward does not apply    None
    ``rejected``              malformed, cannot be graded  given, or the low end of the range
    ``timeout``               the completion ran too long  given, or the low end of the range
    ``unavailable``           sandbox or service is down   None, and the whole row counts for nothing
    ``error``                 the plugin broke             None
    ========================= ============================ ==========================================

    `value` is a finite number in the reward's range, or None. `reason` is one line for a person. `details` is
    plain data for a machine. `seconds` is the wall-clock time that the verdict took, when it is known.
    """

    value: float | None
    status: Status
    reason: str
    details: Mapping[str, object]
    seconds: float | None

    def __init__(
        self,
        value: float | None = None,
        status: Status = "scored",
        reason: str = "",
        details: Mapping[str, object] = _NO_DETAILS,
        seconds: float | None = None,
    ) -> None:
        if status == "scored":
            if value is None:
                status = "not_applicable"
        elif status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}, not {status!r}")
        elif value is not None and status in _WITHOUT_VALUE:
            raise ValueError(f"an Outcome with status {status!r} has no value, but {value!r} was given")
        _set_value(self, value)
        _set_status(self, status)
        _set_reason(self, reason)
        _set_details(self, details)
        _set_seconds(self, seconds)

    def __reduce__(self) -> tuple[object, ...]:
        # a dict, since the read-only view of no details cannot be pickled
        return (Outcome, (self.value, self.status, self.reason, dict(self.details), self.seconds))

    @property
    def failed(self) -> bool:
        """Whether the row could not be graded at all (``unavailable`` or ``error``)."""
        return self.status in ("unavailable", "error")

    def _repr_html_(self) -> str:
        from grpo_rewards._contract.display import html_of_outcome

        return html_of_outcome(self)

    def timed(self, seconds: float) -> Outcome:
        """Return a copy that took `seconds`; quicker than `with_`, since nothing else has to be checked again."""
        return restored(self.value, self.status, self.reason, self.details, seconds)

    def with_(self, **changes: Any) -> Outcome:
        """Return a copy with the given fields replaced."""
        return Outcome(**{name: changes.pop(name, getattr(self, name)) for name in _FIELDS}, **changes)


class _Draft:
    """An outcome that can still be written to. It becomes one by its class, in half the time of setting a frozen one's slots."""

    __slots__ = ("details", "reason", "seconds", "status", "value")

    value: float | None
    status: Status
    reason: str
    details: Mapping[str, object]
    seconds: float | None


def restored(
    value: float | None, status: Status, reason: str, details: Mapping[str, object], seconds: float | None
) -> Outcome:
    """Return an outcome of the fields of one: in a third of the time, since they have been checked."""
    draft = _Draft()
    draft.value = value
    draft.status = status
    draft.reason = reason
    draft.details = details
    draft.seconds = seconds
    draft.__class__ = Outcome  # type: ignore[assignment]
    return draft  # type: ignore[return-value]


_FIELDS = tuple(field.name for field in fields(Outcome))
# The slots' own setters: a frozen dataclass's __init__ takes four times as long, and there is an outcome per row and component.
_set_value, _set_status, _set_reason, _set_details, _set_seconds = (getattr(Outcome, name).__set__ for name in _FIELDS)
