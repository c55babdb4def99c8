"""From a program's text to what is run: compiled once, and kept by its content where no candidate can write."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass

from ..clock import JobClock
from ..isolation.limits import stack_of
from . import sources, table
from .cells import Cell, CellSlot, JobEnded, Output, RunCommand, sealed

SECONDS = 30.0  # of the compiler's own time
_LIMITS = {
    "memory": 1 << 30, "processes": 128, "open_files": 512, "file_bytes": 64 << 20, "output_bytes": 1 << 20,
    "cpu_seconds": int(SECONDS) + 1,
}  # fmt: skip
_KEPT_BYTES, _KEPT = 64 << 20, 128
_FIRST_LINES, _MAX_SAID = 8, 800
_RESERVED = 2 << 30  # bytes that a runtime may map and not use


@dataclass(frozen=True, slots=True)
class Program:
    """What is put into a cell and run there. `file` holds it, and nobody can write to that; -1 where `problem` says why not."""

    language: str
    name: str
    file: int
    size: int
    main: str = ""
    problem: str = ""

    def put(self, cell: Cell) -> None:
        """Write it into a cell."""
        if self.file >= 0:
            cell.put(self.name, self.file, 0o555)

    def command(self, limits: dict[str, int], seconds: float, python: str, *arguments: str) -> RunCommand:
        """Return how it is run with these arguments, within its language's limits; `python`: its text, where it is that."""
        if self.language == "python":
            memory = limits["memory"]
            bound = {"STACK": stack_of(memory), "AS": memory, "CPU": min(limits["cpu_seconds"], int(seconds) + 1)}
            return RunCommand([self.name, *arguments], {}, bound, memory, python)
        words = (*table.LANGUAGES[self.language].run, *arguments)
        return _command(self.language, words, self.name, self.main, limits, seconds)


class Compiler:
    """Compiles, and keeps the newest programs, of a bounded size in all."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Program] = OrderedDict()

    def program(
        self,
        slot: CellSlot,
        language: str,
        text: str,
        *,
        headers: dict[str, str],
        trusted: bool,
        tests: str,
        clock: JobClock,
    ) -> Program:
        """Return the program of a text. `tests`: the part of it that says how it is run; `headers`: files beside it.

        Raises:
            JobEnded: compiling exceeded a limit.
        """
        names = "\0".join(sorted(headers))
        # one that judges never comes from a cell in which a candidate's text was compiled
        key = hashlib.sha256(
            f"{language}\0{trusted}\0{names}\0{tests}\0{text}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = self._make(slot, language, text, headers, tests, trusted, clock)
        self._kept[key] = made
        # the one just made stays, however large it is: it is run next
        while len(self._kept) > _KEPT or (
            len(self._kept) > 1 and sum(one.size for one in self._kept.values()) > _KEPT_BYTES
        ):
            _, old = self._kept.popitem(last=False)
            if old.file >= 0:
                os.close(old.file)
        return made

    def _make(
        self,
        slot: CellSlot,
        language: str,
        text: str,
        headers: dict[str, str],
        tests: str,
        trusted: bool,
        clock: JobClock,
    ) -> Program:
        if language == "python":
            return Program(language, "main.py", -1, 0)
        if language == "php" and "<?" not in text:
            text = f"<?php\n{text}"  # else it would be printed
        entry = table.LANGUAGES[language]
        source, main = entry.files(tests if language == "go" else text)  # a program's own tests are not run
        data = text.encode("utf-8", "surrogatepass")
        if not entry.compile:
            return Program(language, source, sealed(data), len(data), main)
        words = entry.compile_tests if sources.has_tests(language, tests) else entry.compile
        how = _command(language, words, source, main, _LIMITS, SECONDS, compiling=True)
        with Cell(slot, _LIMITS, clock, trusted=trusted) as cell:
            for name, header in headers.items():
                cell.put(name, header.encode())
            cell.put(source, data)
            try:
                output = cell.run(how, b"", _LIMITS["output_bytes"])
            except JobEnded as end:
                end.report.reason = f"compiling it: {end.report.reason}"
                raise
            product = cell.take(entry.product) if output.status == 0 else None
        if product is None:
            return Program(language, source, -1, 0, problem=f"it does not compile: {_said(output)}")
        name = f"{entry.product[:-7]}main.jar" if entry.product == "classes" else entry.product
        return Program(language, name, sealed(product), len(product), main)


def _said(output: Output) -> str:
    lines = (output.data + output.said).decode("utf-8", "replace").strip().splitlines()
    found = "\n".join(lines[:_FIRST_LINES])[:_MAX_SAID]
    return found or (f"exit status {output.status}" if output.status else "the compiler made nothing")


def _command(
    language: str,
    words: tuple[str, ...],
    source: str,
    main: str,
    limits: dict[str, int],
    seconds: float,
    *,
    compiling: bool = False,
) -> RunCommand:
    """Return how these words are started, with the limits of this language's runtime, or of its compiler."""
    entry = table.LANGUAGES[language]
    memory = limits["memory"]
    stack = stack_of(memory)
    reserves = entry.reserves or compiling
    values = {
        # less than the kernel's limit: node's native frames need some of the stack too, and would overrun it
        "source": source, "main": main, "memory": str(memory >> 20), "stack": str(min(65500, (stack >> 10) * 9 // 10)),
        "folder": "{folder}",
    }  # fmt: skip
    bound = {"STACK": stack, "CPU": min(limits["cpu_seconds"], int(seconds) + 1)}
    # AS counts what is reserved and never touched too, gigabytes for Go, Java and node; DATA what can be written to
    bound["DATA" if reserves else "AS"] = memory + (_RESERVED if reserves else entry.stacks)
    return RunCommand(
        [word.format(**values) if "{" in word and word != table.TRANSPILE else word for word in words],
        {"PATH": table.PATH, **{name: value.format(**values) for name, value in entry.environment}},
        bound, memory + (entry.reserves or 0), input_file=entry.input_file,
    )  # fmt: skip
