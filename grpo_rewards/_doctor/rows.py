"""A file of completions against a composition: what would go wrong in training, before anything is spent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from grpo_rewards._composition import Composite
from grpo_rewards._contract import Batch
from grpo_rewards._doctor.faults import DataFaults
from grpo_rewards._scoring.chunks import Pace, available_columns, batch_of, make_chunks
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.rows import Source
from grpo_rewards.errors import ColumnError

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

    ``read_as`` counts as what kind of data components read the rows, of those components that tell.

    Looked at: malformed lines, columns that a component needs and those that look misspelt, what its own check of a row says
    (golds that cannot be read), references that contradict each other, prompts that end with an answer, chat or text, sizes of
    groups and groups of one, conditions that no row meets and weights that cannot matter.

    Raises:
        InputError: the file cannot be read.
        ColumnError: no row has a column that the configuration names.
    """
    findings = _Findings()
    source = open_source(file)
    rows = groups = 0
    sizes: Counter[int] = Counter()
    alone: list[int] = []
    kinds: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    faults = DataFaults(composite) if composite is not None else None
    absent: frozenset[str] = frozenset()
    for chunk in make_chunks(source, Pace(start=256), warn=findings.add):
        for row in chunk.malformed:
            findings.add(f"{source.name}:{row.number}: {row.problem}")
        # once: the first rows stand for the columns, as in scoring
        if composite is not None and not rows and chunk.samples:
            absent = _absent(composite, batch_of(chunk.samples), source, file, findings)
        members = Counter(sample.group for sample in chunk.samples)
        sizes.update(members.values())
        groups += len(members)
        for sample in chunk.samples:
            rows += 1
            kinds["text" if isinstance(sample.data["completion"], str) else "chat"] += 1
            columns.update(name for name, value in sample.data.items() if value is not None)
            if members[sample.group] == 1 and len(alone) < _SHOWN:
                alone.append(sample.row)
            if faults is not None:
                for text in faults.see(sample.data, f"{source.name}:{sample.row}", absent=absent):
                    findings.add(text)
    if faults is not None:
        for text in faults.over_all():
            findings.put_first(text)
    if len(kinds) > 1:
        findings.add(f"{source.name}: {kinds['text']} completions are text and {kinds['chat']} are chat; use one form")
    if len(sizes) > 1:
        spread = ", ".join(f"{count} of {size}" for size, count in sorted(sizes.items())[:5])
        findings.add(f"{source.name}: groups differ in size ({spread}); GRPO compares groups of one size")
        if sizes[1]:
            where = ", ".join(map(str, alone)) + (", ..." if sizes[1] > len(alone) else "")
            findings.add(
                f"{source.name}:{where}: a group of one member has no advantage, so nothing is learned from it; give its prompt "
                f"as many completions as the others have, or leave it out"
            )
    if not rows:
        findings.add(f"{source.name}: holds no rows")
    read_as = {name: dict(sorted(kinds.items())) for name, kinds in faults.kinds.items()} if faults is not None else {}
    return {
        "rows": rows,
        "groups": groups,
        "completions": ", ".join(kinds),
        "columns": {name: count for name, count in sorted(columns.items()) if name not in ("completion", "prompt")},
        **({"read_as": read_as} if read_as else {}),
        "total_findings": findings.total,
        "findings": findings.shown,
    }


def _absent(composite: Composite, batch: Batch, source: Source, file: Path, findings: _Findings) -> frozenset[str]:
    """The columns that the file lacks, said once in the words in which scoring and training refuse it.

    Raises:
        ColumnError: no row has a column that the configuration names.
    """
    available = available_columns(batch, composite, source, file)
    composite.check_named(available, batch=batch)
    try:
        composite.check_columns(available, batch=batch)
    except ColumnError as error:
        findings.add(f"{source.name}: {error}")
        return frozenset(set(composite.required_columns).difference(available))
    return frozenset()
