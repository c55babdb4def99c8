"""How many rows of the suites we have need each part of the border's object side; a table in Markdown on stdout.

    python benchmarks/border_needs.py --humaneval HumanEval.jsonl.gz --mbpp sanitized-mbpp.json [--rows FILE.jsonl] [--unused]

`--rows` takes rows of any public format as `code` reads them, ``{"family", "columns", "completion", "expected": 1}`` a line; those
whose tests are Python text are counted, ClassEval's and BigCodeBench's apart from the others.

Right solutions only are run, each beside its tests in two processes of this machine with no sandbox around them: do not give
it text that you do not trust. A row needs a part where one of its functions is called in the tests' process. `--unused` lists
the functions of the border, on the tests' side, that no row called.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from grpo_rewards_plugins.code.extraction import complete, find_program
from grpo_rewards_plugins.code.judging import job_of
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import read_row
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_sandbox import Job
from grpo_rewards_sandbox.program import border
from grpo_rewards_sandbox.program.border import candidate
from grpo_rewards_sandbox.program.border.messages import Ends, pipes
from grpo_rewards_sandbox.program.formats import checks, pytest_file, pytest_session

CORPUS = Path(__file__).parents[1] / "tests" / "sandbox" / "corpus" / "honest"
PARTS: dict[str, tuple[str, ...]] = {
    "containers that both sides hold": ("codec:Codec.encode_container", "codec:Codec._decode_container"),
    "values of libraries": ("libraries:decode", "libraries:encode"),
    "functions of the candidate": ("proxy_functions:ProxyFunction.__call__",),
    "classes of the candidate": ("proxies:ProxyClass.__call__", "proxies:ProxyClass.__getattr__"),
    "methods of its objects": ("uses:BoundMethod.__call__",),
    "attributes of its objects": ("proxies:Proxy.__getattr__", "proxies:assign"),
    "classes derived from builtins": ("proxies:ProxyValue", "uses:_as_builtin", "proxy_classes:ProxyMaker.bare"),
    "comparing objects": ("uses:_compare",),
    "calculating with objects": ("uses:_combine",),
    "looking into objects": ("uses:_contains",),
    "converting objects": ("uses:_convert",),
    "text of objects": ("uses:_text",),
    "contexts": ("uses:_leaving",),
    "isinstance and issubclass asked over there": ("proxies:_related",),
    "generators": ("proxy_functions:generator",),
    "awaiting": ("awaiting:outcome", "proxy_functions:asynchronous_generator"),
    "exceptions of the candidate's own classes": ("proxy_exceptions:ExceptionMaker._own_exception",),
    "exceptions of builtin classes": ("proxy_exceptions:ExceptionMaker._builtin_exception",),
    "callbacks of the tests": ("answers:Answers._perform",),
    "objects of the tests in its hands": ("trusted:TrustedPeer.encode_object",),
    "signatures and annotations": ("trusted:TrustedPeer.signature", "proxy_functions:annotation"),
    "dataclasses": ("signatures:dataclass_fields",),
}  # fmt: skip


_SUITES = {"classeval": "ClassEval", "bigcodebench": "BigCodeBench"}  # families of `--rows` with a column of their own


def rows(asked: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """The suites, row by row, with a right solution each."""
    with gzip.open(asked.humaneval, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            program = row["prompt"] + row["canonical_solution"]
            yield "HumanEval", Job(program, row["test"], "humaneval", entry_point=row["entry_point"], timeout=20.0)
    for row in json.loads(Path(asked.mbpp).read_text()):
        yield "MBPP", Job(row["code"], row["test_list"], "asserts", setup="\n".join(row["test_imports"]), timeout=20.0)
    for file in asked.rows or ():
        with open(file, encoding="utf-8") as lines:
            yield from read_rows(map(json.loads, lines))
    for path in sorted(CORPUS.glob("*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            if row["expected"] == "pass":
                more = {name: row[name] for name in ("entry_point", "setup")}
                classes = tuple(row["classes"] or ())
                yield (
                    "honest",
                    Job(row["candidate"], row["tests"], row["format"], classes=classes, timeout=20.0, **more),
                )


def read_rows(found: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Job]]:
    """The rows of public formats whose tests are Python text, with their right programs."""
    for each in found:
        if each["expected"] != 1:
            continue
        try:
            row = DataRow.of({**each["columns"], "prompts": each["columns"].get("prompt")}, "auto")
            suite = read_row(row)
        except SuiteProblem:
            continue
        if suite.format in ("pytest", "asserts", "humaneval"):
            program, _ = find_program(each["completion"], wanted=suite.names)
            program = complete(program, row.prompt, suite.entry_point)
            yield (
                _SUITES.get(each["family"].removeprefix("real_"), "public formats"),
                job_of(suite, program, timeout=20.0, fidelity="isolated"),
            )


def called(job: Job, session: Any) -> tuple[str, set[str]]:
    """Run a row; return its status and the functions of the border that were called in the tests' process."""
    with tempfile.TemporaryDirectory() as folder:  # programs write files where they stand
        return _called(job, session, folder)


def _called(job: Job, session: Any, folder: str) -> tuple[str, set[str]]:
    mine, theirs = pipes()
    reader, writer = os.pipe()
    pids = [os.fork()]
    if pids[0] == 0:
        os.chdir(folder)
        mine.close()
        os.close(writer)  # else a candidate that lasts would keep the answer from ending
        peer = candidate.CandidatePeer()
        candidate.prepare(peer)
        peer.serve_on(theirs)
        os._exit(0)
    theirs.close()
    pids.append(os.fork())
    if pids[1] == 0:
        signal.alarm(30)
        try:
            os.chdir(folder)
            _watched(job, mine, session, folder, writer)
        finally:
            os._exit(0)
    os.close(writer)
    mine.close()
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    status, found = json.loads(data) if data else ("ended", [])
    return status, set(found)


def _watched(job: Job, ends: Ends, session: Any, folder: str, writer: int) -> None:
    here, found = os.path.dirname(border.__file__), set()

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(here):
            found.add(f"{Path(frame.f_code.co_filename).stem}:{frame.f_code.co_qualname}")

    def tell(passed: int, total: int) -> None:
        pass

    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    data = job.to_wire()
    sys.setprofile(watch)
    if job.format == "pytest":
        report = pytest_file.run(data, ends, session, folder, None, tell)
    else:
        report = checks.run(data, ends, tell, quiet=True)
    sys.setprofile(None)
    os.write(writer, json.dumps([report.status, sorted(found)]).encode())


def defined() -> set[str]:
    """Every function of the border's modules."""
    found: set[str] = set()
    for path in Path(border.__file__).parent.glob("*.py"):
        waiting: list[Any] = [compile(path.read_text(), str(path), "exec")]
        while waiting:
            code = waiting.pop()
            inner = [part for part in code.co_consts if hasattr(part, "co_qualname")]
            found.update(f"{path.stem}:{part.co_qualname}" for part in inner if not part.co_name.startswith("<"))
            waiting += inner
    return found


def table(needs: dict[str, list[set[str]]]) -> Iterable[str]:
    yield "| part | " + " | ".join(f"{suite} ({len(found)})" for suite, found in needs.items()) + " |"
    yield "|---" * (len(needs) + 1) + "|"
    for part, functions in PARTS.items():
        counts = [sum(bool(row.intersection(functions)) for row in found) for found in needs.values()]
        yield f"| {part} | " + " | ".join(map(str, counts)) + " |"


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--humaneval", required=True)
    parser.add_argument("--mbpp", required=True)
    parser.add_argument("--rows", action="append", metavar="FILE", help="rows of public formats (see above)")
    parser.add_argument("--every", type=int, default=1, help="of so many rows only the first")
    parser.add_argument("--unused", action="store_true", help="list the functions that no row called")
    asked = parser.parse_args()
    session = pytest_session.PreparedSession() if importlib.util.find_spec("pytest") else None
    needs: dict[str, list[set[str]]] = {}
    for suite, job in itertools.islice(rows(asked), 0, None, asked.every):
        status, found = called(job, session)
        needs.setdefault(suite, [])
        if status == "passed":
            needs[suite].append(found)
        else:
            print(f"{suite}: {status}", file=sys.stderr)
    print("\n".join(table(needs)))
    if asked.unused:
        every = set().union(*(row for found in needs.values() for row in found))
        print("\n".join(sorted(defined() - every)))


if __name__ == "__main__":
    main()
