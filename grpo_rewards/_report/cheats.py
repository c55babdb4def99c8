"""An audit, as ``grpo-rewards audit --json`` prints it, for a section of the page: cheats, or findings in data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grpo_rewards._report.fitness import KIND, Fitness, fitness
from grpo_rewards._report.rows import number
from grpo_rewards.errors import InputError

__all__ = ["Cheat", "Cheats", "read_audit"]

_SHOWN = 2_000
_EXPECTED = "expected what `grpo-rewards audit --json` prints"


@dataclass(frozen=True, slots=True)
class Cheat:
    """The best that one cheat got on one case, beside the best honest wrong answer there and a right one, if known."""

    attack: str
    what: str
    case: str
    reward: float | None
    honest: float | None
    right: float | None
    pays: bool
    completion: str
    parts: tuple[tuple[str, float | None, str], ...]


@dataclass(frozen=True, slots=True)
class Cheats:
    """What an audit tried: those that pay first. `remarks` say what could not be tried or broke."""

    tried: tuple[Cheat, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def paying(self) -> int:
        """The number of cheats that earn more than an honest wrong answer."""
        return sum(cheat.pays for cheat in self.tried)


def read_audit(path: Path) -> Cheats | Fitness:
    """Read an audit of a composition, or of data.

    Raises:
        InputError: the file cannot be read, or is not an audit's JSON.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    # a file of brackets alone nests deeper than Python recurses
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{_EXPECTED}: {error}", source=str(path)) from None
    if isinstance(found, dict) and found.get("kind") == KIND:
        try:
            return fitness(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{_EXPECTED}; this says {error!r} of data", source=str(path)) from None
    entries = found.get("attacks") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(_EXPECTED, source=str(path))
    # sorting is stable: within those that pay the order is the audit's
    tried = sorted((_cheat(entry) for entry in entries), key=lambda cheat: not cheat.pays)
    remarks = [f"{kind}: {text}" for kind in ("broken", "untried") for text in _texts(found.get(kind))]
    return Cheats(tuple(tried), tuple(remarks + _texts(found.get("notes"))))


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}: {text}" for key, text in value.items()]
    return [str(text) for text in value] if isinstance(value, list) else []


def _cheat(entry: Mapping[str, object]) -> Cheat:
    parts = entry.get("components")
    return Cheat(
        attack=str(entry.get("attack") or ""),
        what=str(entry.get("what") or ""),
        case=str(entry.get("case") or ""),
        reward=number(entry.get("reward")),
        honest=number(entry.get("honest_wrong")),
        right=number(entry.get("right")),
        pays=bool(entry.get("pays")),
        completion=str(entry.get("completion") or "")[:_SHOWN],
        parts=tuple(
            (str(name), number(part.get("contribution")), str(part.get("reason") or ""))
            for name, part in (parts if isinstance(parts, dict) else {}).items()
            if isinstance(part, dict)
        ),
    )
