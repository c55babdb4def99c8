"""Judges a whole program: compiles it, runs it once for each test, and compares or has a checker decide."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from ..clock import JobClock
from ..comparison import same_output
from ..formats.program_run import EXIT_MODULE, LIMIT_OF_EXIT
from ..formats.report import JobReport, install, refused
from ..protocol import CaseMessage, JobMessage
from . import checkers, endings, sources, table, values
from .cells import Cell, CellSlot, JobEnded, Output
from .compiling import SECONDS, Compiler, Program

_MAX_KEPT = 64 << 20  # bytes of output that are held for a checker
_LAST_LINE = 300
_TRACE = re.compile(r"\s|#\d|Stack trace:|goroutine \d|main\.\w+\(|note: run with|Node\.js v")
_NEARLY = 0.85  # of the memory: a program that held so much and died had no more, and need not say so


@dataclass(slots=True, eq=False)
class Judge:
    """Judges jobs of whole programs, one at a time; keeps what was compiled."""

    slot: CellSlot
    compiler: Compiler
    clock: Callable[[float], JobClock]
    testlib: str
    understood: checkers.Understood = field(default_factory=checkers.Understood)
    _cell: Cell | None = None  # the candidate's, ended when its verdict is known: what fills a machine dies slowly

    def judge(self, job: JobMessage, late: Callable[[JobReport], None]) -> tuple[JobReport, str]:
        """Return the report, and who but the supervisor ended one of its processes, if any did."""
        lacking = table.missing(job["language"]) or checkers.lacking(job["checker"])
        if lacking:
            return refused(lacking), ""
        report, killed = JobReport(tests_total=len(job["tests"]) if job["format"] == "stdio" else 1), ""
        try:
            how = {"program": self._program, "values": self._values}
            how.get(job["format"], self._tests)(job, report)
            report.passed = report.tests_total > 0 and report.tests_passed == report.tests_total
            report.status = "passed" if report.passed else "failed"
        except JobEnded as end:
            report.status, report.limit, killed = end.report.status, end.report.limit, end.killed
            report.fail(end.report.reason)
        finally:
            self._close(lambda: None if killed else late(report))
        return report, killed

    def _open(self, limits: dict[str, int], seconds: float) -> Cell:
        self._cell = Cell(self.slot, limits, self.clock(seconds))
        return self._cell

    def _close(self, late: Callable[[], None] = lambda: None) -> None:
        cell, self._cell = self._cell, None
        if cell is not None:
            cell.close(late)

    def compile(
        self, language: str, text: str, *, trusted: bool = False, tests: str = "", headers: dict[str, str] | None = None
    ) -> Program:
        """Return a program, compiled in time of its own; raise `JobEnded` where it does not compile, or exceeds a limit."""
        program = self.compiler.program(
            self.slot, language, text, headers=headers or {}, trusted=trusted, tests=tests, clock=self.clock(SECONDS)
        )
        if program.problem:
            raise JobEnded(program.problem)
        return program

    def _program(self, job: JobMessage, report: JobReport) -> None:
        secret = secrets.token_hex(16)
        language = job["language"]
        text = endings.joined(language, job["setup"], job["candidate"], job["tests"])
        ending = endings.ending(language, job["tests"])
        program = self.compile(language, text + ending.text, tests=job["tests"])
        cell = self._open(job["limits"], job["timeout"])
        program.put(cell)
        chosen = sources.choosing_tests(language, job["tests"])
        how = program.command(job["limits"], job["timeout"], text + ending.text, *chosen)
        if ending.text:
            how.environment[endings.VARIABLE] = secret
        output = cell.run(how, b"", job["limits"]["output_bytes"])
        if problem := self.problem(job, output):
            raise problem
        if not ending.reached(output.data, secret):
            raise JobEnded("it ended before the end of the tests")
        report.tests_passed = 1

    def _values(self, job: JobMessage, report: JobReport) -> None:
        wanted = values.expected(self, job["language"], job["tests"])
        report.tests_total = len(wanted)
        program = self.compile(job["language"], job["candidate"])
        cell = self._open(job["limits"], job["timeout"])
        values.decide(self, job, cell, program, wanted, report)

    def _tests(self, job: JobMessage, report: JobReport) -> None:
        program = self.compile(job["language"], job["candidate"])
        held: list[tuple[int, bytes]] = []
        cell = self._open(job["limits"], job["timeout"])
        for index, case in enumerate(job["tests"]):
            if index:
                cell.clear()
            program.put(cell)
            output = self._case(job, program, cell, case)
            if isinstance(output, str):
                report.fail(f"case {index + 1}: {output}")
            elif job["checker"]:
                held.append((index, output))
                if sum(len(data) for _, data in held) > _MAX_KEPT:
                    raise JobEnded(f"more than {_MAX_KEPT} bytes of output", "limit", limit="output")
            elif same_output(output, case["output"], job["compare"]):
                report.tests_passed += 1
            else:
                report.fail(f"case {index + 1}: expected {case['output'][:100]!r}, got {output[:100]!r}")
        if job["checker"] and held:
            self._close()  # nothing of the candidate is there when the checker runs
            checkers.decide(self, job, held, report)

    def _case(self, job: JobMessage, program: Program, cell: Cell, case: CaseMessage) -> bytes | str:
        """Run a program once; return its output, or what is wrong with how it ended."""
        seconds = float(case.get("timeout") or job["test_timeout"] or job["timeout"])
        # the clock of the whole job goes on
        if seconds < job["timeout"]:
            cell.clock.allow(seconds)
        text = case["input"].encode("utf-8", "surrogatepass")
        if job["input_file"]:
            cell.put(job["input_file"], text)
            text = b""
        if job["output_file"]:
            cell.put(job["output_file"], b"")
        how = program.command(job["limits"], seconds, job["candidate"])
        # what is expected always has room, and as much again
        bound = max(job["limits"]["output_bytes"], 2 * len(case["output"]))
        output = cell.run(how, text, bound)
        if problem := self.problem(job, output):
            if problem.report.status != "failed":
                raise problem
            return problem.report.reason
        if not job["output_file"]:
            return output.data
        written = cell.take(job["output_file"], bound)
        return written if written is not None else f"it left no file {job['output_file']}"

    def problem(self, job: JobMessage, output: Output) -> JobEnded | None:
        """Say what is wrong with how a program ended, if anything is."""
        if output.status == 0:
            return None
        language = job["language"]
        limit = ""
        if language == "python":
            if output.status == EXIT_MODULE:
                return JobEnded(f"the program imports a module that is not there ({install('NAME')})")
            limit = LIMIT_OF_EXIT.get(output.status, "")
        elif (
            table.LANGUAGES[language].ran_out_of_memory(output.said) or output.peak > job["limits"]["memory"] * _NEARLY
        ):
            limit = "memory"
        if limit:
            return JobEnded(f"the {limit} limit", "limit", limit=limit)
        return JobEnded(ended_badly(output.status, output.said))


def ended_badly(status: int, said: bytes) -> str:
    """Say how a program ended, with the last line on its standard error."""
    how = f"it ended with exit status {status}" if status > 0 else f"it was ended by signal {-status}"
    return f"{how}: {_last_line(said)}".rstrip(": ")


def _last_line(said: bytes) -> str:
    """The last line that says what happened: traces are indented, and some runtimes say more of themselves."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    lines = [line for line in lines if line and not _TRACE.match(line)] or lines
    return lines[-1][:_LAST_LINE] if lines else ""
