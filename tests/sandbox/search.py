"""Search for programs that pass tests without solving the task, through the public interface only.

    python tests/sandbox/search.py --minutes 60 --seed 1 --backend local --out findings.jsonl

One population per task and shape of program (so that a shape which needs several tricks together is not crowded out
by one that is lucky at once); part of the programs are new, the others change or cross the best of their task. A program
that passes is tried on all tasks and made smaller. It is a finding where no data-only program passes the task in plain
Python, or where the verdict speaks of something else than the candidate. Exit 1 where there is one, 2 where an honest
solution does not pass, 3 where no sandbox can be had.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import search_grammar as grammar
from grpo_rewards_sandbox import Sandbox, SandboxUnavailable, Verdict, open_sandbox
from search_grammar import Program
from search_tasks import Task, best_of_plain_data, load_tasks, luck

ABOUT_THE_CANDIDATE = ("passed", "failed", "error", "timeout", "limit")
BATCH, OTHERS, NEW = 32, 1, 0.3  # programs a round; further tasks each is tried on; the share of new ones
KEPT = 8  # of the programs whose verdict said something new, for each task

Niche = tuple[Task, str]  # a task in one format


def written(program: Program, task: Task) -> str:
    """The program as a solution of the task."""
    return program.source(task.name, task.also, task.names)


@dataclass(frozen=True, slots=True)
class Finding:
    """A program that passed, or took its row out, without solving; `source` is its smallest form."""

    task: str
    format: str
    status: str
    reason: str
    source: str


@dataclass
class Search:
    """A search that goes on until it is told to stop; the same seed tries the same programs, timeouts aside."""

    sandbox: Sandbox
    rng: random.Random
    niches: list[Niche]
    fidelity: str = "isolated"
    best: dict[tuple[Task, str], tuple[float, Program]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)  # what verdicts said, without what is the task's own
    telling: dict[Task, list[Program]] = field(default_factory=dict)  # those whose reason nobody had heard yet
    findings: dict[Niche, Finding] = field(default_factory=dict)
    beyond_luck: set[tuple[Niche, Program]] = field(default_factory=set)
    lucky: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    programs: int = 0
    seconds: dict[Niche, float] = field(default_factory=dict)  # what a verdict takes, of the honest solution

    def judge(self, pairs: Iterable[tuple[Niche, Program]]) -> list[Verdict]:
        """The verdict on each program for the task beside it."""
        jobs = [
            replace(task.job(written(program, task), form, self.fidelity), timeout=self._patience((task, form)))
            for (task, form), program in pairs
        ]
        verdicts = self.sandbox.run(jobs)
        self.statuses.update(verdict.status for verdict in verdicts)
        return verdicts

    def _patience(self, niche: Niche) -> float:
        """Seconds that a program may take: many never end, and would take most of the time."""
        return max(0.4, 5 * self.seconds[niche])

    def refused(self) -> list[str]:
        """The tasks whose honest solution does not pass, with the reason."""
        jobs = [task.job(task.honest, form, self.fidelity) for task, form in self.niches]
        verdicts = self.sandbox.run(jobs)
        self.seconds = {niche: verdict.seconds for niche, verdict in zip(self.niches, verdicts, strict=True)}
        return [
            f"{task.name} ({form}): {v.status} {v.reason}"
            for (task, form), v in zip(self.niches, verdicts, strict=True)
            if not v.passed
        ]

    def round(self) -> None:
        """Try a batch of programs, each on a task of its own and some more; what passes, on every task."""
        pairs = []
        for niche in self._drawn(BATCH):
            program = self._offspring(niche)
            pairs += [(other, program) for other in (niche, *self._drawn(OTHERS))]
        self.programs += BATCH
        passed = self._learn(pairs)
        self._learn([(niche, program) for program in passed for niche in self.niches])

    def _learn(self, pairs: list[tuple[Niche, Program]]) -> list[Program]:
        """Judge; keep the best of each task and shape, and what was found. Return the programs that found something new."""
        new = []
        for (niche, program), verdict in zip(pairs, self.judge(pairs), strict=True):
            score = verdict.tests_passed / max(verdict.tests_total, 1)
            if score >= self.best.get((niche[0], program.shape), (0.01,))[0]:
                self.best[niche[0], program.shape] = score, program
            said = _said(niche[0], verdict)
            self.reasons[said] += 1
            if self.reasons[said] == 1:
                self.telling.setdefault(niche[0], []).append(program)
            if not self._counts(niche, program, verdict):
                continue
            self.beyond_luck.add((niche, program))
            if niche not in self.findings:
                smallest = self._smallest(niche, program, verdict.status)
                source = written(smallest, niche[0])
                self.findings[niche] = Finding(niche[0].name, niche[1], verdict.status, verdict.reason, source)
                new.append(smallest)
        return new

    def _counts(self, niche: Niche, program: Program, verdict: Verdict) -> bool:
        """Whether the verdict is beyond luck, or not about the candidate, and that again when asked again."""
        if verdict.status != "passed":
            if verdict.status in ABOUT_THE_CANDIDATE:
                return False
            return self.judge([(niche, program)])[0].status == verdict.status
        if luck(niche[0]):
            self.lucky.add(niche[0].name)
            return False
        return True

    def _smallest(self, niche: Niche, program: Program, status: str) -> Program:
        """The program, without each part that it does not need."""
        while True:
            tries = list(grammar.smaller(program))
            verdicts = self.judge((niche, one) for one in tries)
            still = [one for one, verdict in zip(tries, verdicts, strict=True) if verdict.status == status]
            if not still:
                return program
            program = min(still, key=lambda one: len(one.source("solve")))

    def _drawn(self, count: int) -> list[Niche]:
        """Random tasks; those that a program nearly passes more often, dear ones and those that one passed seldom."""
        near = {task: score for (task, _), (score, _) in sorted(self.best.items(), key=lambda item: item[1][0])}
        weights = [
            (0.1 if (task, form) in self.findings else 0.3 + near.get(task, 0)) / max(self.seconds[task, form], 0.01)
            for task, form in self.niches
        ]
        return self.rng.choices(self.niches, weights, k=count)

    def _offspring(self, niche: Niche) -> Program:
        if self.rng.random() < NEW:
            return grammar.program(self.rng)
        task, tests = niche[0], len(niche[0].checks)
        parents = [self.best[task, shape] for shape in dict.fromkeys(grammar.SHAPES) if (task, shape) in self.best]
        parents += [(one.passed / tests, grammar.plain(one.expression, one.how)) for one in best_of_plain_data(task)]
        parents += [(0.0, program) for program in self.telling.get(task, [])[-KEPT:]]
        (_, parent), (_, other) = self.rng.choices(parents, [0.05 + score for score, _ in parents], k=2)
        if self.rng.random() < 0.3:
            parent = grammar.crossed(parent, other, self.rng)
        return grammar.mutated(parent, self.rng)


def _said(task: Task, verdict: Verdict) -> str:
    """What a verdict says, without names, values and numbers, which differ from task to task."""
    last = verdict.reason.strip().rpartition("\n")[2]
    own = "|".join(map(re.escape, (task.name, *task.also, *task.names)))
    text = re.sub(
        rf"'[^']*'|\"[^\"]*\"|\w*\d\w*|[\[({{].*[\])}}]|with abstract.*|\b({own}|Answer)\b",
        "_",
        last.rpartition(": ")[2],
    )
    return f"{verdict.status} {text[:60]}"


def report(search: Search, seconds: float) -> str:
    """What was tried and what was found, as text."""
    jobs, tasks = search.statuses.total(), {task.name for task, _ in search.niches}
    found = sorted({finding.task for finding in search.findings.values()})
    lines = [
        *(
            f"=== {one.task} ({one.format}): {one.status} {one.reason}\n{one.source}"
            for one in search.findings.values()
        ),
        f"{search.programs} programs ({search.programs / seconds:.1f} a second), {jobs} verdicts ({jobs / seconds:.0f} a second):",
        ", ".join(f"{count} {status}" for status, count in search.statuses.most_common()),
        f"passed by plain data too, so left aside: {', '.join(sorted(search.lucky)) or 'none'}",
        f"beyond luck: {len(search.beyond_luck)} pairs of task and program, {len(found)} of {len(tasks)} tasks: {', '.join(found)}",
    ]
    return "\n".join(lines)


def main() -> int:
    """The command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long to search (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    parser.add_argument("--backend", default="local", help="local (the default) or docker")
    parser.add_argument(
        "--fidelity", default="isolated", help="isolated (the default); shared shows that the search finds"
    )
    parser.add_argument("--tasks", default="", help="names of tasks, with commas between them: only these (all)")
    parser.add_argument("--first", action="store_true", help="stop at the first finding")
    parser.add_argument("--out", type=Path, help="a file for the findings, one JSON object a line")
    options = parser.parse_args()
    try:
        sandbox = open_sandbox(options.backend, workers=2)
    except SandboxUnavailable as error:
        print(error, file=sys.stderr)
        return 3
    with sandbox:
        tasks = [task for task in load_tasks() if task.name in (options.tasks or task.name).split(",")]
        niches = [(task, form) for task in tasks for form in task.formats]
        search = Search(sandbox, random.Random(options.seed), niches, options.fidelity)
        if refused := search.refused():
            print("a search says nothing where honest solutions do not pass:", *refused, sep="\n", file=sys.stderr)
            return 2
        start = told = now = time.monotonic()
        while now < start + 60 * options.minutes and not (options.first and search.findings):
            search.round()
            now = time.monotonic()
            if now > told + 60:
                told = now
                print(f"{now - start:.0f} s: {search.programs} programs, {len(search.findings)} findings", flush=True)
    if options.out:
        options.out.write_text("".join(json.dumps(asdict(finding)) + "\n" for finding in search.findings.values()))
    print(report(search, now - start))
    return int(bool(search.findings))


if __name__ == "__main__":
    sys.exit(main())
