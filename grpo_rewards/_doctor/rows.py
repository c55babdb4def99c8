"""A file of completions against a composition: what would go wrong in training, before anything is spent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from grpo_rewards._composition import Composite
from grpo_rewards._doctor.weights import Applied, idle_weights
from grpo_rewards._scoring.chunks import Pace, make_chunks
from grpo_rewards._scoring.columns import available_columns
from grpo_rewards._scoring.reading import open_source

__all__ = ["examine_rows"]

_SHOWN = 20


class _Findings:
    """What is wrong, counted, the first of it in words."""

    def __init__(self) -> None:
        self.total = 0
        self.shown: list[str] = []

    def add(self, text: str) -> None:
        self.total += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(text)

    def put_first(self, text: str) -> None:
        """Add what is about the configuration: it is shown whatever the rows hold."""
        self.total += 1
        self.shown.insert(0, text)
        del self.shown[_SHOWN:]


def examine_rows(file: Path, composite: Composite | None) -> dict[str, Any]:
    """Return figures of the rows, and ``findings``: the first of ``total_findings`` in words, each with file and line.

    Looked at: malformed lines, columns that a component needs, what its own check of a row says (golds that cannot be
    read), chat or text, sizes of groups, conditions that no row meets and weights that cannot matter.

    Raises:
        InputError: the file cannot be read.
        ColumnError: no row has the column that a ``when`` looks at.
    """
    findings = _Findings()
    source = open_source(file)
    rows = groups = 0
    sizes: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    applied = Applied(composite) if composite is not None else None
    for chunk in make_chunks(source, Pace(start=256), warn=findings.add):
        for row in chunk.malformed:
            findings.add(f"{source.name}:{row.number}: {row.problem}")
        if composite is not None and not rows and chunk.samples:
            composite.check_when(available_columns(chunk.batch(), composite, source, file))
        members = Counter(sample.group for sample in chunk.samples)
        sizes.update(members.values())
        groups += len(members)
        for sample in chunk.samples:
            rows += 1
            kinds["text" if isinstance(sample.data["completion"], str) else "chat"] += 1
            columns.update(name for name, value in sample.data.items() if value is not None)
            if composite is not None and applied is not None:
                applied.see(sample.data)
                _check_row(composite, sample.data, f"{source.name}:{sample.row}", findings)
    if composite is not None and applied is not None:
        for text in (*idle_weights(composite), *applied.findings()):
            findings.put_first(text)
    if len(kinds) > 1:
        findings.add(f"{source.name}: {kinds['text']} completions are text and {kinds['chat']} are chat; use one form")
    if len(sizes) > 1:
        spread = ", ".join(f"{count} of {size}" for size, count in sorted(sizes.items())[:5])
        findings.add(f"{source.name}: groups differ in size ({spread}); GRPO compares groups of one size")
    if not rows:
        findings.add(f"{source.name}: holds no rows")
    return {
        "rows": rows,
        "groups": groups,
        "completions": ", ".join(kinds),
        "columns": {name: count for name, count in sorted(columns.items()) if name not in ("completion", "prompt")},
        "total_findings": findings.total,
        "findings": findings.shown,
    }


def _check_row(composite: Composite, data: dict[str, Any], where: str, findings: _Findings) -> None:
    for component in composite.components:
        if not component.applies_to(data):
            continue
        missing = [name for name in component.reward.required_columns if data.get(name) is None]
        for name in missing:
            findings.add(f"{where}: column {name!r}, which component {component.name!r} needs, is missing or empty")
        if not missing and (problem := component.reward.row_problem(data)):
            findings.add(f"{where}: {component.name}: {problem}")
