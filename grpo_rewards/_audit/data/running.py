"""Running an audit of data: rows in chunks, their probes in rounds, then the checks."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._audit.cases import GOLD_COLUMNS
from grpo_rewards._audit.data.checks import CHECKS
from grpo_rewards._audit.data.probes import Probes, probes_for, probing
from grpo_rewards._audit.data.prompts import digest, prompt_of, question_of, task_of, twins
from grpo_rewards._audit.data.report import DataReport
from grpo_rewards._audit.data.trial import Trial
from grpo_rewards._composition.component import Component
from grpo_rewards._contract import Batch, Outcome
from grpo_rewards._registry import registry
from grpo_rewards._scoring import Progress
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.rows import Row
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

_CHUNK = 64
_REMEMBERED_TWINS = 4  # rows of one prompt that a further one is held against
_BROKEN_SHOWN = 20
_GOLDS = ("answerKey", "expected_answer", "correct_option", "target")  # beside those that `audit CONFIG` knows
_FINAL = re.compile(r"\\boxed\b|####|<answer>")
_SHORT = 40  # characters of a text that may be an answer by itself

Tried = tuple[Trial, str, list[Outcome]]
"""A completion to score on a trial's row, and where its outcome goes."""


def audit_data(
    path: Path,
    composite: Composite | None = None,
    *,
    limit: int | None = None,
    progress: Progress = lambda _rows, _position, _size: None,
) -> DataReport:
    """Try on every row of a file what its rewards say is to be tried, and return what the checks find.

    The file is read twice, in constant memory but for sixteen bytes for a row. Rows that differ only in a completion are one task.

    Args:
        path: JSONL, CSV (each also .gz, .zst) or parquet.
        composite: whose components judge the rows that they apply to; without it each row is judged by the
            installed reward with probes for it that reads the most of its columns.
        limit: stop after this many tasks.
        progress: called after each chunk with the rows done, and how far of how much the file has been read.

    Raises:
        InputError: the file cannot be read, holds no rows, or nothing in it could be tried.
    """
    started = time.perf_counter()
    source = open_source(path)
    run = _Run(DataReport(source.name), composite, twins(path))
    for chunk in _chunks(source.rows(), run.report, limit):
        run.chunk(chunk)
        progress(run.report.rows, source.position, source.size)
    report = run.report
    if not report.rows:
        raise InputError("holds no rows", source=source.name)
    if not report.tried and not report.unavailable:
        raise InputError(f"nothing in it could be tried: {run.why_nothing()}", source=source.name)
    report.seconds = time.perf_counter() - started
    return report


def _chunks(
    rows: Iterable[Row], report: DataReport, limit: int | None
) -> Iterator[list[tuple[int, dict[str, object]]]]:
    """Tasks with the numbers of their first rows; malformed rows are findings at once."""
    found: list[tuple[int, dict[str, object]]] = []
    before = b""
    for row in rows:
        report.rows += 1
        if row.data is None:
            report.add(row.number, "row", "", row.problem)
            continue
        task = task_of(row.data)
        if (mark := digest(task)) == before:
            continue
        before = mark
        if report.tasks == limit:
            report.rows -= 1  # read, but of a task beyond the limit
            break
        report.tasks += 1
        found.append((row.number, task))
        if len(found) == _CHUNK:
            yield found
            found = []
    if found:
        yield found


class _Run:
    """An audit under way."""

    def __init__(self, report: DataReport, composite: Composite | None, twins: frozenset[bytes]) -> None:
        self.report = report
        self._components = _guessed() if composite is None else composite.components
        self._first = composite is None
        self._twins = twins
        self._known: defaultdict[tuple[bytes, str], list[tuple[Trial, str]]] = defaultdict(list)

    def why_nothing(self) -> str:
        """What the components are, and what to do."""
        names = ", ".join(component.name for component in self._components) or "none"
        return (
            f"it was looked at for {names}, and no row has tests or a reference that these read; name the reward and its "
            f"columns: grpo-rewards audit FILE --only math --column answer=COLUMN"
        )

    def chunk(self, rows: Sequence[tuple[int, dict[str, object]]]) -> None:
        """Try everything on some rows, and look at what came of it."""
        trials = [trial for number, task in rows for trial in self._trials(number, task)]
        runs = [trial for trial in trials if not trial.probes.faults]
        self._score([(t, t.probes.references[0], t.tried) for t in runs if t.probes.references])
        # where the reference hangs the tests may do so for anything, once for each stub, and the row is marked already
        self._score([(t, text, t.stubs) for t in runs if not t.hangs for text in t.probes.stubs])
        # further references only where the first fails, as one of them has to pass
        failing = [t for t in runs if t.reference is None]
        self._score([(t, text, t.tried) for t in failing for text in t.probes.references[1:]])
        for turn in range(1, max((t.probes.repeats for t in runs), default=0)):
            again = [t for t in runs if t.probes.references and t.probes.repeats > turn and t.can_repeat]
            self._score([(t, t.probes.references[0], t.again) for t in again])
        passing = [t for t in runs if t.reference is not None]
        self._with_settings(
            passing, lambda t: t.probes.mutant_settings, lambda t: [(t, text, t.mutants) for text in t.probes.mutants]
        )
        self._with_settings(
            [t for t in passing if t.seems_slow and t.probes.half_settings],
            lambda t: t.probes.half_settings,
            lambda t: [(t, t.probes.references[0], t.hurried)],
        )
        self._against(passing)
        for trial in trials:
            self._judge(trial)

    def _trials(self, number: int, task: dict[str, object]) -> Iterator[Trial]:
        prompt, found, missing = prompt_of(task), False, None
        for component in (
            sorted(self._components, key=lambda one: -_read(one, task)) if self._first else self._components
        ):
            if not component.applies_to(task) or (self._first and not _is_answered(component, task)):
                continue
            lacking = [
                name for name in component.reward.required_columns if name != "prompt" and task.get(name) is None
            ]
            if lacking:
                if not self._first or lacking[0] in task:
                    text = f"the column {lacking[0]!r}, which {component.name!r} needs, is missing or empty"
                    missing = Trial(number, component, task, prompt, Probes(faults={"gold": text}))
                continue
            probes = self._probes(component, task, number)
            if probes is None:
                continue
            found = True
            self.report.tried[component.name] += 1
            yield Trial(number, component, task, prompt, probes)
            if self._first:
                return
        if missing is not None and not found:
            yield missing
        elif not found:
            self.report.add(number, "row", "", "there are no tests and no reference in it that a reward reads")

    def _probes(self, component: Component, task: Mapping[str, object], number: int) -> Probes | None:
        try:
            return probes_for(component.reward, task)
        except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
            self._break(f"row {number}: the probes of {component.name!r} raised {type(error).__name__}: {error}")
            return None

    def _break(self, text: str) -> None:
        if len(self.report.broken) < _BROKEN_SHOWN:
            self.report.broken.append(text)

    def _with_settings(
        self,
        trials: Sequence[Trial],
        settings_of: Callable[[Trial], Mapping[str, object]],
        wanted_of: Callable[[Trial], Iterable[Tried]],
    ) -> None:
        """Score completions under settings of the row's own; rows with the same settings together."""
        by_settings: defaultdict[str, list[Trial]] = defaultdict(list)
        for trial in trials:
            by_settings[repr(settings_of(trial))].append(trial)  # by text, since settings may be lists
        for alike in by_settings.values():
            self._score([one for trial in alike for one in wanted_of(trial)], settings_of(alike[0]))

    def _against(self, trials: Iterable[Trial]) -> None:
        """Score references on the other rows of the same prompt."""
        for trial in trials:
            key = (digest(question_of(trial.prompt)), trial.component.name)
            if key[0] not in self._twins:
                continue
            reference = trial.reference
            assert reference is not None
            for other, theirs in self._known[key]:
                ours, back = list[Outcome](), list[Outcome]()
                self._score([(other, reference, ours), (trial, theirs, back)])
                # in both directions: the stricter of the two rows shows the contradiction
                worst = min((*ours, *back), key=trial.share)
                trial.against.append((other.number, worst))
                if worst.value is not None and not trial.passes(worst):
                    reason = f"row {trial.number} has the same prompt and another answer: {worst.reason[:120]}"
                    self.report.add(other.number, "contradictory", trial.component.name, reason)
            if len(self._known[key]) < _REMEMBERED_TWINS:
                self._known[key].append((trial, reference))

    def _score(self, wanted: Sequence[Tried], settings: Mapping[str, object] | None = None) -> None:
        """Score completions, one batch for each component."""
        by_component: defaultdict[int, list[Tried]] = defaultdict(list)
        for one in wanted:  # one reward may read two columns, under the same name
            by_component[id(one[0].component)].append(one)
        for alike in by_component.values():
            component = alike[0][0].component
            reward = component.reward.with_(**settings) if settings else component.reward
            batch = Batch.from_rows([{**trial.data, "completion": text} for trial, text, _ in alike])
            self.report.completions += len(alike)
            for (trial, _, into), outcome in zip(alike, reward.outcomes(batch), strict=True):
                into.append(outcome)
                if outcome.status == "unavailable":
                    self.report.unavailable.setdefault(trial.number, outcome.reason)
                elif outcome.status == "error":
                    self._break(f"row {trial.number}: {component.name!r} broke: {outcome.reason}")

    def _judge(self, trial: Trial) -> None:
        self.report.judged(trial.strength)
        unknown = trial.number in self.report.unavailable
        for name, check in CHECKS.items():
            if unknown and name not in ("leak", "row"):  # these two look at the text alone
                continue
            for reason in check(trial):
                self.report.add(trial.number, name, trial.component.name, reason)


def _read(component: Component, task: Mapping[str, object]) -> int:
    """How many of a row's columns, beside the prompt, a component reads."""
    reward = component.reward
    names = (reward.columns.get(one.name, one.name) for one in reward.shape.data)
    return sum(name != "prompt" and task.get(name) is not None for name in names)


def _is_answered(component: Component, task: Mapping[str, object]) -> bool:
    """Whether a column that was guessed to hold an answer does: words and programs stand in columns of such names too."""
    column = component.reward.columns.get("answer", "answer")
    text = task.get(column)
    if column == "answer" or not isinstance(text, str):
        return True
    return _FINAL.search(text) is not None or (len(text) <= _SHORT and "\n" not in text)


def _guessed() -> tuple[Component, ...]:
    """The installed rewards that have probes, in the order in which plugins name them; behind them those of one
    ``answer`` that read it from another column that is usual for it."""
    known = registry().rewards
    usual = [(name, known[name]) for name in probing() if name in known]
    elsewhere = [
        (name, reward.with_columns(answer=column))
        for column in (*GOLD_COLUMNS, *_GOLDS)
        for name, reward in usual
        if "answer" in reward.required_columns and column not in [parameter.name for parameter in reward.shape.data]
    ]
    return tuple(Component(name, reward, 1.0, None, None, None) for name, reward in (*usual, *elsewhere))
