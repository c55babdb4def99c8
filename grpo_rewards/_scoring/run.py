"""Scoring a file from end to end: read, check, score, write, and sum up."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import groupby
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from grpo_rewards._composition import Composite, Statistics
from grpo_rewards._contract.shapes import SCORES, RowScores, scores_in
from grpo_rewards._scoring.chunks import Chunk, Pace, Sample, checked, make_chunks
from grpo_rewards._scoring.executors import EXECUTORS
from grpo_rewards._scoring.journal import (
    Journal,
    Reached,
    SideFile,
    fingerprint_diff,
    meta_path,
    partial_path,
)
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.joining import joined
from grpo_rewards._scoring.reading.lines import LineSource
from grpo_rewards._scoring.reading.marked import LeavingOut, checked_marks
from grpo_rewards._scoring.reading.rows import Row, Source, check_output, without_scores
from grpo_rewards._scoring.scored import ScoredChunk
from grpo_rewards.cycles import relaxed_gc
from grpo_rewards.errors import ConfigError, InputError, ResumeError, nearest

_log = logging.getLogger(__name__)

Progress = Callable[[int, int, int | None], None]
"""Called after each chunk with the rows done, and how far (bytes or rows) of how much the file has been read."""

_SAMPLED = 1 << 16


@dataclass
class Counts:
    """What has been counted of a file so far, which an unfinished output keeps.

    `unavailable` counts rows left out for want of infrastructure, `broken` those on which a plugin broke, `refused` those whose tests
    or reference a component cannot judge by (it does not apply there); `problems` holds the first few of each kind of trouble in words.
    """

    statistics: Statistics = field(default_factory=Statistics)
    rows: int = 0
    malformed: int = 0
    unavailable: int = 0
    broken: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Run(Counts):
    """What came of scoring a file.

    `resumed` says how many rows an earlier run had done, `left_out` how many were passed over for their marks; `scoring` is how many of its
    `seconds` the composite took, in all processes.
    """

    provenance: Mapping[str, object] = field(default_factory=dict)
    resumed: int = 0
    left_out: int = 0
    seconds: float = 0.0
    scoring: float = 0.0
    side_file: Path | None = None

    @cached_property
    def summary(self) -> dict[str, object]:
        """The figures of a run that is over, as plain data."""
        return {
            "rows": self.rows,
            "malformed": self.malformed,
            "unavailable": self.unavailable,
            "broken": self.broken,
            "refused": self.refused,
            "resumed": self.resumed,
            "left_out_by_audit": self.left_out,
            "seconds": round(self.seconds, 3),
            **self.statistics.summary(),
            "problems": self.problems,
            "side_file": str(self.side_file) if self.side_file is not None and self.malformed else None,
            "provenance": dict(self.provenance),
        }


def score_file(
    path: str | Path,
    composite: Composite,
    *,
    out: Path | None = None,
    write: Callable[[bytes], object] | None = None,
    resume: bool = False,
    force: bool = False,
    workers: int = 1,
    executor: str = "local",
    leave_out: Collection[str] = (),
    join: Path | None = None,
    on: str = "prompt",
    progress: Progress | None = None,
    warn: Callable[[str], None] = _log.warning,
) -> Run:
    """Score the rows of a file, in constant memory.

    Args:
        path: JSONL, CSV (each also .gz, .zst) or parquet, by its suffix; ``-`` reads JSONL from standard input.
        composite: what to score with.
        out: where the scored rows go, atomically, as JSONL; resumable while unfinished.
        write: takes scored lines instead of a file.
        resume: go on with an unfinished `out`; in a finished one, score again what had been left out.
        force: start again over what is there.
        workers: below two, score in this process; otherwise in as many.
        executor: where to score.
        leave_out: marks of ``grpo-rewards audit`` in the column ``audit``: rows that have one of them are not scored.
        join: a file whose rows have the columns that these lack, such as the data set of a training run.
        on: the column that says which row of `join` belongs to which.
        progress: called after each chunk.
        warn: takes a warning.

    Raises:
        InputError: the file cannot be read.
        ColumnError: a column is missing; found before the first row is scored.
        ConfigError: there is no such executor or mark; or a component found out when it was called that it is configured
            wrongly (a token that its service refuses).
        ResumeError: there is an unfinished output, or it belongs to something else.
    """
    if executor not in EXECUTORS:
        known = ", ".join(EXECUTORS)
        raise ConfigError(f"there is no executor {executor!r}{nearest(executor, EXECUTORS)} (known: {known})")
    source: Source = open_source(path)
    if join is not None:
        source = joined(source, join, on)
    started = time.perf_counter()
    run = Run(provenance=composite.provenance)
    fingerprint = {"input": _identity(path, source), **composite.provenance}
    if join is not None:
        fingerprint["join"] = {"file": str(join), "on": on}
    if leave_out:
        source = LeavingOut(source, checked_marks(leave_out))
        fingerprint["leave_out"] = sorted(leave_out)
    journal: Journal | None = None
    side: SideFile | None = None
    finished = False
    if out is not None:
        check_output(out, path)
        if out.exists() and not (resume or force):
            raise ResumeError(
                f"{out} is there already. Overwrite it: --force. Score again only the rows that it left out: --resume"
            )
        if finished := resume and out.exists() and not partial_path(out).exists():
            _check_finished(out, fingerprint, run)
            # with its suffix at the end, which says how it is compressed
            target = out.with_name(out.name + ".retry" + ("" if out.suffix == ".jsonl" else out.suffix))
            source = LineSource(out)
        else:
            target = out
        journal = Journal(target, fingerprint, resume=resume and not finished, force=force or finished)
    try:
        with relaxed_gc():
            if finished:  # the old output stays until the new one is whole
                pace, read = Pace(), _recorded_groups(source)
            else:
                state: Reached = journal.state if journal is not None else {}
                beside = Path(Path(source.name).name) if out is None else out
                run.side_file = beside.with_name(beside.name + ".malformed.jsonl")
                side = SideFile(run.side_file, source.name, keep=state.get("malformed_bytes", 0))
                if (counts := state.get("counts")) is not None:
                    vars(run).update(vars(TypeAdapter(Counts).validate_python(counts)))
                    run.resumed = run.rows
                pace = Pace.of(workers, composite.calls_at_once)
                read = make_chunks(source, pace, after=state.get("row", 0), warn=warn)
            with closing(read):  # a run that ends early leaves the generator within its file
                chunks = read if finished else checked(read, composite, source, path)
                scored = EXECUTORS[executor](composite, chunks, workers)
                _take_in(run, source, scored, pace, side, journal, write, progress, warn)
        run.seconds = time.perf_counter() - started
        if workers > 1 and executor == "local" and not finished and run.scoring < run.seconds / 2:
            warn(
                f"scoring was {run.scoring:.1f} s of the {run.seconds:.1f} s that this took: rows as cheap as these are quicker "
                f"with --workers 1"
            )
        run.left_out = source.left_out if isinstance(source, LeavingOut) else 0
        _check_counts(run, source, warn)
        if journal is not None:
            journal.finish({"fingerprint": fingerprint, "summary": run.summary})
            if out is not None and finished:
                os.replace(journal.out, out)
                os.replace(meta_path(journal.out), meta_path(out))
    finally:
        if journal is not None:
            journal.close()
    return run


def _take_in(
    run: Run,
    source: Source,
    scored_chunks: Iterator[tuple[Chunk, ScoredChunk]],
    pace: Pace,
    side: SideFile | None,
    journal: Journal | None,
    write: Callable[[bytes], object] | None,
    progress: Progress | None,
    warn: Callable[[str], None],
) -> None:
    """Write and count chunks as they are scored."""
    missing: set[tuple[str, str]] = set()
    for chunk, scored in scored_chunks:
        if isinstance(chunk, _RecordedGroup):
            scored.refused, scored.refusals = 0, ()  # the first run has counted them
            if not chunk.samples:
                scored = _recorded(chunk)
                run.resumed += len(scored.lines)
        for gap in scored.gaps:
            if gap not in missing:
                missing.add(gap)
                warn(
                    f"{source.name}: near row {chunk.last} no row has the column {gap[1]!r} that {gap[0]!r} needs; it does not apply there"
                )
        if scored.configuration:  # a token that a service refuses, say: every other row would say the same
            raise ConfigError(scored.configuration)
        _count(run, source.name, chunk, scored)
        if chunk.malformed and side is not None:  # before the state that counts its bytes
            side.add(chunk.malformed)
        lines = b"".join(scored.lines)
        if journal is not None:
            counts = Counts(**{one.name: getattr(run, one.name) for one in fields(Counts)})
            journal.commit(lines, {"row": chunk.last, "malformed_bytes": side.bytes if side else 0, "counts": counts})
        elif write is not None:
            write(lines)
        pace.took(len(chunk.samples), scored.seconds)
        run.scoring += scored.seconds
        if progress is not None:
            progress(run.rows, chunk.position, source.size)


def _check_counts(run: Run, source: Source, warn: Callable[[str], None]) -> None:
    if not run.rows and not run.malformed:
        raise InputError(
            f"all {run.left_out:,} rows are left out by their marks" if run.left_out else "holds no rows",
            source=source.name,
        )
    for name, tally in run.statistics.components.items():
        if run.rows and tally.statuses["not_applicable"] == run.rows:
            problem = f"component {name!r} applies to none of the {run.rows:,} rows: 'grpo-rewards validate' says why"
            run.problems.append(problem)
            warn(problem)


# ------------------------------------------------------------------------------------------------ figures


def _count(run: Run, name: str, chunk: Chunk, scored: ScoredChunk) -> None:
    run.statistics.merge(scored.statistics)
    run.rows += len(scored.lines)
    run.malformed += len(chunk.malformed)
    run.broken += scored.broken
    run.unavailable += scored.left_out - scored.broken
    run.problems += [f"{name}:{row.number}: {row.problem}" for row in chunk.malformed]
    run.problems += scored.failures
    run.refused += scored.refused
    run.problems += [f"{name}:{text}" for text in scored.refusals]
    del run.problems[10:]


# ------------------------------------------------------------------------------------------------ files


def _identity(path: str | Path, source: Source) -> dict[str, object]:
    """What tells one input from another without reading all of it: size, and a hash of samples of its bytes."""
    if str(path) == "-":
        return {"name": "-"}
    file = Path(path)
    size = file.stat().st_size
    digest = hashlib.blake2b(digest_size=8)  # no secret: twice as fast as sha256 where the processor does not help
    with file.open("rb") as stream:
        # the three are one in a small file
        for offset in dict.fromkeys((0, max(0, size // 2 - _SAMPLED // 2), max(0, size - _SAMPLED))):
            stream.seek(offset)
            digest.update(stream.read(_SAMPLED))
    return {"kind": source.kind, "size": size, "sample": digest.hexdigest()}


# ------------------------------------------------------------------------------------------------ trying again


@dataclass(slots=True)
class _RecordedGroup(Chunk):
    """A group of a finished output, whose rows are samples again where one of them was left out; else they are kept."""

    rows: list[Row] = field(default_factory=list)


def _check_finished(out: Path, fingerprint: Mapping[str, object], run: Run) -> None:
    """See that a finished output is of this run, of which the rows that were left out are scored again."""
    try:
        meta = orjson.loads(meta_path(out).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        raise ResumeError(f"{meta_path(out)}, which says what {out} was made from, is missing; use --force") from None
    if changed := fingerprint_diff(meta["fingerprint"], fingerprint):
        raise ResumeError(f"{out} belongs to another run: {changed}. Overwrite it with --force, or give another -o")
    run.malformed, run.refused = meta["summary"]["malformed"], meta["summary"].get("refused", 0)


def _recorded_groups(source: Source) -> Generator[Chunk, None, None]:
    for _, members in groupby(source.rows(), key=lambda row: _scores_of(row)["group"]):
        group = _RecordedGroup(rows=list(members), position=source.position)
        group.last = group.rows[-1].number
        group.size = sum(len(row.raw) for row in group.rows)
        if any("left_out" in _scores_of(row) for row in group.rows):
            for row in group.rows:
                found, raw = _scores_of(row), without_scores(row.raw.rstrip(), row.data or {})
                group.samples.append(Sample(found["row"], found.get("index"), found["group"], raw, cells=False))
        yield group


def _recorded(group: _RecordedGroup) -> ScoredChunk:
    """A group that is kept, as if it had been scored now."""
    kept = ScoredChunk([row.raw.rstrip(b"\r\n") + b"\n" for row in group.rows], Statistics())
    kept.statistics.add_recorded([_scores_of(row) for row in group.rows])
    return kept


def _scores_of(row: Row) -> RowScores:
    if row.data is None or SCORES not in row.data:
        raise ResumeError(
            f"row {row.number} of the output holds no scores: {row.problem or 'it was changed'}; use --force"
        )
    return scores_in(row.data)
