"""Running the cheats: what each earned, beside an honest wrong answer and a right one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict, cast

from grpo_rewards._audit.attacks import ATTACKS, Attack, honest, right
from grpo_rewards._audit.cases import Case
from grpo_rewards._contract import Batch
from grpo_rewards._registry import registered
from grpo_rewards.errors import InputError
from grpo_rewards.workers import Pool, Task, WorkerLost, pickled, unpickled

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite, ScoreTable

_MARGIN = 1e-6  # rounding of weighted sums is no profit
_LIMIT = 120.0  # seconds for all the cheats on one row
_COMPANY = 3  # honest completions beside a cheat where a reward compares the completions of a group
_HONEST, _RIGHT = "honest wrong answer", "right answer"


class PaidPart(TypedDict):
    """What a component paid for a cheat, and how much more than for an honest wrong answer."""

    contribution: float | None
    more_than_honest: float
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Earned:
    """The best that one cheat got on one case, beside the best honest wrong answer and the best right one there.

    `parts` maps each component to its contribution, how much more that is than the honest wrong answer's, and the
    reason. `right` is None where the row does not tell its right answer. `tried` counts completions.
    """

    attack: str
    what: str
    case: str
    reward: float
    honest: float
    right: float | None
    completion: str
    parts: Mapping[str, PaidPart]
    tried: int

    @property
    def wins(self) -> bool:
        """Whether the cheat beats the honest wrong answer."""
        return self.reward > self.honest + _MARGIN


@dataclass(slots=True)
class AuditReport:
    """What came of an audit: `earned` per cheat and case, what could not be tried, and remarks on the configuration."""

    earned: list[Earned] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cases: int = 0
    completions: int = 0

    @property
    def wins(self) -> list[Earned]:
        """The cheats that beat an honest wrong answer, the greatest margin first."""
        return sorted((one for one in self.earned if one.wins), key=lambda one: one.honest - one.reward)

    def worst(self) -> list[Earned]:
        """For each cheat the case where it came nearest to (or furthest above) the honest wrong answer."""
        best: dict[str, Earned] = {}
        for one in self.earned:
            held = best.get(one.attack)
            if held is None or one.reward - one.honest > held.reward - held.honest:
                best[one.attack] = one
        return list(best.values())


def audit(composite: Composite, cases: Iterable[Case]) -> AuditReport:
    """Try every cheat, those of plugins too, on every case. Deterministic, and offline but for what rewards call."""
    report = AuditReport()

    def failed(plugin: str, error: Exception) -> None:
        report.broken.append(f"the hook register_attacks of plugin {plugin} raised {error!r}")

    # a plugin's cheat takes no name of ours: the cheat would no longer be tried, and nothing would be found
    attacks: dict[str, Attack] = registered("register_attacks", own=ATTACKS, failed=failed)
    argument, _ = pickled(composite)
    # in a process of its own, in an empty folder: a cheat that runs may end what scores it, or write files
    with TemporaryDirectory(prefix="grpo-rewards-audit-", ignore_cleanup_errors=True) as folder:
        task = Task(f"{__name__}:scorer_of", argument=argument, folder=folder, quiet=True)
        with closing(Pool(task, 1)) as scorer:
            for case in cases:
                report.cases += 1
                _one_case(composite, scorer, case, attacks, report)
    return report


def scorer_of(composite: bytes) -> Callable[[Batch], ScoreTable]:
    """Return what the process that scores does with a batch."""
    return cast("Composite", unpickled(composite)).score


def _one_case(
    composite: Composite, scorer: Pool, case: Case, attacks: Mapping[str, Attack], report: AuditReport
) -> None:
    wanted: dict[str, list[str]] = {_HONEST: list(honest(case)), _RIGHT: list(right(case))}
    for name, attack in attacks.items():
        try:
            wanted[name] = [str(text) for text in attack(case)]
        except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
            report.broken.append(f"the attack {name!r} raised {type(error).__name__}: {error}")
    # as in training: in a group of its own there is nothing that a cheat could be compared with
    company = wanted[_HONEST][:_COMPANY] if any(c.reward.style == "group" for c in composite.components) else []
    table, texts, rewards = _scored(scorer, case, wanted, company, report)
    report.completions += len(texts)
    places = {text: row * (1 + len(company)) for row, text in enumerate(texts)}
    _remark_failures(case, places, table, report)

    baseline = _best(wanted[_HONEST], rewards)
    if baseline is None:
        report.untried.append(f"{case.name}: {_why(table, [places[text] for text in wanted[_HONEST]])}")
        return
    correct = _best(wanted[_RIGHT], rewards)
    if correct is not None and rewards[correct] <= rewards[baseline] + _MARGIN:  # type: ignore[operator]
        report.notes.append(f"{case.name}: a right answer earns no more than a wrong one ({rewards[correct]:.4g})")
    for name, attack in attacks.items():
        best = _best(wanted.get(name, ()), rewards)
        if best is None:
            continue
        report.earned.append(
            Earned(
                attack=name,
                what=(attack.__doc__ or "").strip().splitlines()[0] if attack.__doc__ else "",
                case=case.name,
                reward=float(rewards[best] or 0.0),
                honest=float(rewards[baseline] or 0.0),
                right=None if correct is None else rewards[correct],
                completion=best,
                parts=_parts(table, places[best], places[baseline]),
                tried=len(wanted[name]),
            )
        )


def _scored(
    scorer: Pool, case: Case, wanted: dict[str, list[str]], company: Sequence[str], report: AuditReport
) -> tuple[ScoreTable, list[str], dict[str, float | None]]:
    """Score every text; a cheat that ends the process is a finding, and is left out."""

    def attempt(names: Iterable[str], limit: float = _LIMIT) -> tuple[ScoreTable, list[str]]:
        texts = list(dict.fromkeys(text for name in names for text in wanted[name]))  # cheats may write the same text
        return scorer.ask(_batch(case, texts, company), seconds=limit), texts

    try:
        table, texts = attempt(wanted)
    except WorkerLost:
        for name in list(wanted):
            try:
                attempt([name], _LIMIT / 4)  # alone, to find whose completion it is that ends the process
            except WorkerLost as ended:
                if name in (_HONEST, _RIGHT):
                    raise InputError(f"{case.name}: an honest answer cannot be scored: {ended}") from None
                report.broken.append(
                    f"{case.name}: the cheat {name!r} takes the process that scores along: {ended}; run what a "
                    f"completion says in a sandbox (the reward code does)"
                )
                del wanted[name]
        table, texts = attempt(wanted)
    rewards = table.rewards()[:: 1 + len(company)]  # of the cheats alone, each the first of its group
    return table, texts, dict(zip(texts, rewards, strict=True))


def _batch(case: Case, texts: Sequence[str], company: Sequence[str]) -> Batch:
    """Each text in a group of its own, with honest completions beside it where rewards compare a group."""
    written = [one for text in texts for one in (text, *company)]
    completions: list[object] = [[{"role": "assistant", "content": text}] if case.chat else text for text in written]
    columns = {name: [value] * len(written) for name, value in case.columns.items() if name != "prompt"}
    prompts = [case.columns["prompt"]] * len(written) if "prompt" in case.columns else None
    return Batch(completions, prompts, None, columns, grouping=[n // (1 + len(company)) for n in range(len(written))])


def _best(texts: Iterable[str], rewards: Mapping[str, float | None]) -> str | None:
    """The best paid of `texts`, the first of equals; None where none has a reward."""
    paid = [text for text in texts if rewards.get(text) is not None]
    return max(paid, key=lambda text: rewards[text] or 0.0, default=None) if paid else None


def _parts(table: ScoreTable, row: int, baseline: int) -> dict[str, PaidPart]:
    mine, theirs = table.row(row)["components"], table.row(baseline)["components"]
    return {
        name: {
            "contribution": part["contribution"],
            "more_than_honest": (part["contribution"] or 0.0) - (theirs[name]["contribution"] or 0.0),
            "status": part["status"],
            "reason": part["reason"],
        }
        for name, part in mine.items()
    }


def _why(table: ScoreTable, rows: Sequence[int]) -> str:
    reasons = [table.left_out[row] for row in rows if row in table.left_out]
    return reasons[0] if reasons else "no component with a weight applies to this row"


def _remark_failures(case: Case, places: Mapping[str, int], table: ScoreTable, report: AuditReport) -> None:
    said: set[str] = set()
    texts = {row: text for text, row in places.items()}
    for name, outcomes in table.components.items():
        for row, outcome in enumerate(outcomes):
            if row not in texts:  # one of the company
                continue
            if outcome.status == "error" and name not in said:
                said.add(name)
                report.broken.append(f"{case.name}: component {name!r} breaks on {texts[row][:60]!r}: {outcome.reason}")
            elif outcome.status == "unavailable" and "left_out" not in outcome.details and f"{name}?" not in said:
                said.add(f"{name}?")
                report.untried.append(f"{case.name}: component {name!r} is unavailable: {outcome.reason}")
