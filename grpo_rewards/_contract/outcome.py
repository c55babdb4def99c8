"""What a reward says about one completion, and how what a plugin returned or raised for a row becomes that."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, get_args

from grpo_rewards.errors import ConfigError, InfrastructureError, PluginError

if TYPE_CHECKING:
    from grpo_rewards._contract.reward import Reward

LARGEST = 1e18
"""The largest size of a reward, also of a sum of them. Trainers compute in float32: beyond 3.4e38 a number is inf there,
which poisons its group or every weight of the model, and a group's deviation takes the sum of its squares."""

Status = Literal["scored", "not_applicable", "rejected", "timeout", "unavailable", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)

_WITHOUT_VALUE = ("not_applicable", "unavailable", "error")
_NO_DETAILS: Mapping[str, object] = MappingProxyType({})  # read-only, as outcomes share it


if TYPE_CHECKING:

    class _Fields(TypedDict, total=False):
        value: float | None
        status: Status
        reason: str
        details: Mapping[str, object]
        seconds: float | None


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

    def with_(self, **changes: Unpack[_Fields]) -> Outcome:
        """Return a copy with the given fields replaced."""
        own: _Fields = {
            "value": self.value, "status": self.status, "reason": self.reason, "details": self.details,
            "seconds": self.seconds,
        }  # fmt: skip
        own.update(changes)
        return Outcome(**own)


class _Draft:
    """An outcome that can still be written to. Changing its class makes it one, in half the time that setting a frozen one's slots takes."""

    __slots__ = ("details", "reason", "seconds", "status", "value")

    value: float | None
    status: Status
    reason: str
    details: Mapping[str, object]
    seconds: float | None


def restored(
    value: float | None, status: Status, reason: str, details: Mapping[str, object], seconds: float | None
) -> Outcome:
    """Return an outcome of fields that were checked before, in a third of the time."""
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


# ------------------------------------------------------------------------------------------------ what a plugin returned or raised

_SLACK = 1e-9  # rounding that still counts as inside the range
ANY = (-LARGEST, LARGEST)
NOT_APPLICABLE = Outcome(None, "not_applicable")
_SHOWN = 200  # characters of a completion that an error shows


class _Broken(dict[str, object]):
    """The details of an ``error`` outcome, with what the plugin raised: never pickled or written, for it may hold anything."""

    error: BaseException | None = None


class Raised:
    """What a plugin raised instead of returning."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def outcome_of(result: object, reward: Reward, seconds: float) -> Outcome:
    """Turn what a plugin returned for one row into an outcome that keeps the contract."""
    outcome: Outcome | None = None
    low, high = reward.range or ANY
    if type(result) is Outcome:  # what nearly all return
        if type(result.value) is float and low <= result.value <= high:
            return result if result.seconds is not None else result.timed(seconds)
    elif type(result) is float and low <= result <= high:
        return restored(result, "scored", "", NOT_APPLICABLE.details, seconds)
    if isinstance(result, Outcome):
        outcome, result = result, result.value
        if result is None and outcome.status in ("rejected", "timeout"):
            result = reward.low
    if result is None:
        outcome = outcome or NOT_APPLICABLE
        return outcome if outcome.seconds is not None else outcome.timed(seconds)
    if isinstance(result, Raised):
        return failed(result.error)
    try:
        value = result if type(result) is float else _number(result)
    except Exception:  # noqa: BLE001 - the boundary around a plugin's code: __float__ may be the plugin's
        return broken(f"it returned {shown(result)}; a reward returns a float, None or an Outcome")
    if not math.isfinite(value):
        return broken(f"it returned {value}; a reward is a finite number, or None where it does not apply")
    if abs(value) > LARGEST:
        most = f"a trainer computes in float32, where a reward may be {LARGEST:g} at most"
        return broken(f"it returned {value!r}; {most}")
    if not low <= value <= high:
        if not low - _SLACK <= value <= high + _SLACK:
            return broken(
                f"it returned {value!r}, outside its declared range [{low:g}, {high:g}]; "
                f"declare @reward(range=(low, high)) with the bounds that it really has"
            )
        value = min(max(value, low), high)  # within the slack: rounding is taken off
    if outcome is None:
        return Outcome(value, "scored", "", NOT_APPLICABLE.details, seconds)
    if outcome.value != value or outcome.seconds is None:
        known = outcome.seconds
        return Outcome(value, outcome.status, outcome.reason, outcome.details, seconds if known is None else known)
    return outcome


def _number(value: object) -> float:
    if isinstance(value, str | bytes | bytearray) or not hasattr(value, "__float__"):
        raise TypeError
    return float(value)


def failed(error: BaseException, *, whole_batch: bool = False) -> Outcome:
    """What stands for rows about which a plugin raised: that it broke, or that what it needs is down."""
    if isinstance(error, InfrastructureError):
        return Outcome(None, "unavailable", _reason(error))
    return broken(_reason(error), error=error, whole_batch=whole_batch)


def broken(problem: str, *, error: BaseException | None = None, whole_batch: bool = False) -> Outcome:
    details = _Broken({"whole_batch": whole_batch} if whole_batch else {})
    if error is not None:
        details.error = error
        if isinstance(error, ConfigError):  # found out with the first call only: a token, say; no completion's doing
            details["configuration"] = True
        details["traceback"] = "".join(traceback.format_exception(error, limit=-8))[-4000:]  # the innermost: its own
    return Outcome(None, "error", problem, details)


def plugin_error(
    outcome: Outcome, row: int, *, component: str, reward: Reward, completion: str = ""
) -> PluginError | ConfigError:
    """Build the error that an ``error`` outcome of `row` stands for, caused by what the plugin raised."""
    whole_batch = bool(outcome.details.get("whole_batch"))
    if outcome.details.get("configuration"):
        wrong = ConfigError(outcome.reason, path=f"rewards.{component}")
        wrong.__cause__ = getattr(outcome.details, "error", None)
        return wrong
    error = PluginError(
        outcome.reason,
        component=component,
        plugin=reward.name,
        version=reward.version,
        row=None if whole_batch else row,
        completion="" if whole_batch else completion,
    )
    error.__cause__ = getattr(outcome.details, "error", None)
    if trace := outcome.details.get("traceback"):
        error.add_note(f"\nWhere the plugin raised:\n{trace}")
    if error.completion:
        error.add_note(f"\nThe completion: {error.completion[:_SHOWN]!r}")
    return error


def _reason(error: BaseException) -> str:
    """Say what a plugin raised, in at most 500 characters."""
    text = _text_of(str, error)
    return (
        text if isinstance(error, (ConfigError, InfrastructureError)) else f"it raised {type(error).__name__}: {text}"
    )[:500]


def shown(value: object) -> str:
    """Return a value's type and the first 80 characters of how it writes itself."""
    return f"{type(value).__name__} {_text_of(repr, value)[:80]}"


def _text_of(how: Callable[[object], str], value: object) -> str:
    try:
        return how(value)
    except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
        return f"(its {how.__name__} raised {type(error).__name__})"
