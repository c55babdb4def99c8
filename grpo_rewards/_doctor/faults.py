"""`DataFaults`: what is wrong with rows for a composition, in the same words for files, for training and for the doctor."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from grpo_rewards._audit.cases import GOLD_COLUMNS
from grpo_rewards._audit.data.probes import probes_for
from grpo_rewards._audit.data.prompts import digest, prompt_of
from grpo_rewards._contract import Batch
from grpo_rewards._doctor.weights import Applied, idle_weights

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite
    from grpo_rewards._composition.component import Component

_COMPARED = 50  # pairs of rows with one prompt and two references that are looked at
_REMEMBERED = 100_000  # prompts
_ALIKE = 0.75  # how much a misspelt name has of the right one, 0 to 1
_KNOWN = (
    "prompt",
    "completion",
    "completions",
    "completion_ids",
    "messages",
    "response",
    "group_id",
    "step",
    "advantage",
    "audit",
)


class DataFaults:
    """Looks at rows one after the other, and says what is wrong with each, then with all together.

    It keeps one row for each of the first 100,000 prompts with a reference.
    """

    def __init__(self, composite: Composite) -> None:
        self._composite = composite
        self._applied = Applied(composite)
        self._prompts: Counter[str] = Counter()
        self._columns: Counter[str] = Counter()
        self.kinds: dict[str, Counter[str]] = {}
        """How many rows each component read as which kind, where it tells; ``refused`` are those that it could not read."""
        self._first: dict[tuple[str, bytes], tuple[str, str, Mapping[str, object]]] = {}
        self._compared = 0

    def see(self, data: Mapping[str, object], where: str, *, absent: frozenset[str] = frozenset()) -> Iterator[str]:
        """Yield what is wrong with a row that stands at `where`; of the columns `absent` it has been said for the file."""
        self._applied.see(data)
        self._columns.update(name for name, value in data.items() if value is not None)
        prompt = data.get("prompt")
        if prompt is not None:
            self._prompts["text" if isinstance(prompt, str) else "chat"] += 1
        if (
            isinstance(prompt, list)
            and prompt
            and isinstance(prompt[-1], Mapping)
            and prompt[-1].get("role") == "assistant"
        ):
            yield f"{where}: the prompt ends with the assistant's turn, so the answer is in it; end it with the user's"
        for component in self._composite.components:
            if not component.applies_to(data):
                continue
            missing = [name for name in component.reward.required_columns if data.get(name) is None]
            for name in missing:
                if name not in absent:
                    yield f"{where}: column {name!r}, which component {component.name!r} needs, is missing or empty"
            if missing:
                continue
            problem = component.reward.row_problem(data)
            self._count(component, data, problem)
            if problem:
                yield f"{where}: {component.name}: {problem}"
            else:
                yield from self._contradictions(component, data, where)

    def _count(self, component: Component, data: Mapping[str, object], problem: str | None) -> None:
        if component.reward.kind_of_row is not None:
            kind = component.reward.row_kind(data) or ("refused" if problem else "unknown")
            self.kinds.setdefault(component.name, Counter())[kind] += 1

    def over_all(self) -> Iterator[str]:
        """Yield what is wrong with all rows that were seen."""
        yield from idle_weights(self._composite)
        yield from self._applied.findings()
        if len(self._prompts) > 1:
            yield f"{self._prompts['text']} prompts are text and {self._prompts['chat']} are chat; use one form"
        yield from self._misspelt()

    def _contradictions(self, component: Component, data: Mapping[str, object], where: str) -> Iterator[str]:
        """Rows of one prompt whose references exclude each other: what the one says is right is wrong by the other."""
        reward = component.reward
        read = {reward.columns.get(p.name, p.name) for p in reward.shape.data} & {
            *GOLD_COLUMNS,
            *reward.columns.values(),
        }
        golds = {name: data[name] for name in sorted(read) if isinstance(data.get(name), str | int | float)}
        prompt = " ".join(prompt_of(data).split())
        if not golds or not prompt:
            return
        given = ", ".join(f"{name} {str(value)[:40]!r}" for name, value in golds.items())
        key = component.name, digest(prompt)
        if key not in self._first and len(self._first) >= _REMEMBERED:  # known prompts are still compared
            return
        before, known, other = self._first.setdefault(key, (where, repr(golds), data))
        if known == repr(golds) or self._compared >= _COMPARED or reward.style == "group" or reward.is_async:
            return
        self._compared += 1
        probes = probes_for(reward, data)
        if probes is None or not probes.references:
            return
        # by the reward itself and not by text: 1/2 and 0.5 are no contradiction
        there = {name: value for name, value in other.items() if name != "completion"}
        outcomes = reward.outcomes(Batch.from_rows([{**there, "completion": text} for text in probes.references]))
        best = max((one.value for one in outcomes if one.value is not None), default=None)
        if best is not None and best < (reward.range or (0.0, 1.0))[1]:
            yield (
                f"{where}: {component.name}: the same prompt has another reference at {before} ({given} is wrong there); "
                f"keep one of the rows"
            )

    def _misspelt(self) -> Iterator[str]:
        """Columns that nobody reads, and whose names are nearly those of columns that are not there."""
        read: dict[str, str] = {}
        for component in self._composite.components:
            reward = component.reward
            read.update({reward.columns.get(p.column, p.column): component.name for p in reward.shape.data if p.column})
            if component.when is not None:
                read.setdefault(component.when.column, component.name)
        absent = [name for name in read if not self._columns[name]]
        for column in sorted(self._columns):
            if column in read or column in _KNOWN:
                continue
            if near := difflib.get_close_matches(column, absent, n=1, cutoff=_ALIKE):
                yield (
                    f"column {column!r} is read by nobody and looks like {near[0]!r}, which component {read[near[0]]!r} reads and "
                    f"no row has; rename it, or say so: rewards.{read[near[0]]}.columns: {{{near[0]}: {column}}}"
                )
