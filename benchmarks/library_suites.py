"""What becomes of tests that libraries ship, judged against the library's own module: right programs, in styles that nobody here chose.

    python benchmarks/library_suites.py [--libraries inflection==0.5.1 ...] [--classes] [--out rows.jsonl]

Takes modules that import nothing of their own library, and test files that import one such module of it. Each test that passes in
plain Python is a row of its own: the file without its other tests. Counts the verdicts; where a right program is 0, its reason names
what the border does otherwise, or it is silent: those are listed. `--classes` says of each module's classes that they are under test.
Downloads source distributions with pip, and runs them: nothing is isolated in the plain run.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

from grpo_rewards_sandbox import Job, Verdict, open_sandbox

LIBRARIES = (
    "boltons==26.2.0 braceexpand==0.1.7 first==2.0.2 HeapDict==1.0.1 inflection==0.5.1 jsonpointer==3.12 ordered-set==4.1.0"
    " parse==1.22.4 roman==5.2 schema==0.7.8 simpleeval==1.0.8 texttable==1.7.2 xmltodict==1.0.4"
)
# how reasons begin that name what the border does otherwise
NAMED = ("the candidate", "the tests", "the program", "a check of the tests", "ran ", "waited ")
HINT = "(not so in plain Python"


@dataclass(frozen=True, slots=True)
class Row:
    """One test of a library, and the module that it tests."""

    name: str
    candidate: str
    tests: str

    def passes(self) -> bool:
        """Say whether it does in plain Python, without the tests that stood before it."""
        with tempfile.TemporaryDirectory() as folder:
            return bool(passing(Path(folder), self.candidate, self.tests))


def unpacked(library: str, folder: Path) -> Path:
    """Download a source distribution; return the folder that it holds."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*command, library], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (found,) = (path for path in folder.iterdir() if path.is_dir())
    return found


def alone(root: Path) -> dict[str, str]:
    """The modules that import nothing of their own library, by their dotted names."""
    sources = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[1:] if parts[0] in ("src", "lib") else parts
        if "tests" not in parts and "test" not in parts and parts[-1] not in ("setup", "conftest"):
            sources[".".join(parts).removesuffix(".__init__")] = path.read_text("utf-8", "replace")
    roots = {name.partition(".")[0] for name in sources}
    return {name: text for name, text in sources.items() if not any(of in roots for of in imported(text))}


def imported(text: str) -> list[str]:
    """The roots of what a text imports; of what it imports from beside it a name that is anybody's."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except SyntaxError:
        return [""]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [(node.module or "") if not node.level else "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [name.partition(".")[0] for name in names]


def against_one(text: str, modules: dict[str, str]) -> tuple[str, ast.Module] | None:
    """The module that a test file imports of its library, and the file with `solution` in its place; None for another number."""
    found: set[str] = set()

    class Rename(ast.NodeTransformer):
        def visit_Import(self, node: ast.Import) -> ast.Import:
            for alias in node.names:
                if alias.name in modules and (alias.asname or "." not in alias.name):
                    found.add(alias.name)
                    alias.name, alias.asname = "solution", alias.asname or alias.name
            return node

        def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | ast.Import:
            whole = f"{node.module}.{node.names[0].name}"
            if whole in modules and len(node.names) == 1:  # `from boltons import iterutils`
                found.add(whole)
                return ast.Import([ast.alias("solution", node.names[0].asname or node.names[0].name)])
            if node.module in modules and not node.level:
                found.add(node.module)
                node.module = "solution"
            return node

    tree = ast.fix_missing_locations(Rename().visit(ast.parse(text)))
    return (found.pop(), tree) if len(found) == 1 else None


def passing(folder: Path, candidate: str, tests: str) -> list[str]:
    """Run a file of tests in plain Python; return which pass, each as `function` or `Class.function`, with all its cases."""
    (folder / "solution.py").write_text(candidate)
    (folder / "test_it.py").write_text(tests)
    (folder / "out.xml").unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", "out.xml", "test_it.py"]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=30)
        cases = [*ET.parse(folder / "out.xml").getroot().iter("testcase")]
    except (subprocess.TimeoutExpired, FileNotFoundError, ET.ParseError):
        return []
    well: dict[str, bool] = {}
    for case in cases:
        place = [*str(case.get("classname")).split(".")[1:], str(case.get("name")).partition("[")[0]]
        name = ".".join(place)
        well[name] = well.get(name, True) and case.find("*") is None
    return [name for name, passed in well.items() if passed]


def without_others(tree: ast.Module, wanted: str) -> str:
    """The file with one test alone."""
    of_class, _, name = wanted.rpartition(".")
    tree = deepcopy(tree)
    bodies = {"": tree.body, **{part.name: part.body for part in tree.body if isinstance(part, ast.ClassDef)}}
    for inside, body in bodies.items():
        tests = (part for part in body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)))
        others = [part for part in tests if part.name.startswith("test") and (inside, part.name) != (of_class, name)]
        body[:] = [part for part in body if part not in others] or [ast.Pass()]
    words = {part: set(re.findall(r"\w+", ast.unparse(part))) for part in tree.body}
    kept: list[ast.stmt] = []
    while len(kept) != len(words):  # without what nothing else speaks of, what that alone spoke of
        kept = [*words]
        for part in kept:
            name_of = part.name if isinstance(part, (ast.FunctionDef, ast.ClassDef)) else ""
            spoken = any(name_of in found for other, found in words.items() if other is not part)
            if name_of and name_of not in (of_class, name) and not spoken and "autouse" not in words[part]:
                del words[part]
    spoken_of = set[str]().union(*(words[part] for part in kept if not isinstance(part, (ast.Import, ast.ImportFrom))))
    for part in kept:  # an import alone may have a file refused
        if isinstance(part, (ast.Import, ast.ImportFrom)) and getattr(part, "module", "") != "__future__":
            bound = ((alias, (alias.asname or alias.name).partition(".")[0]) for alias in part.names)
            part.names = [alias for alias, name_of in bound if name_of == "*" or name_of in spoken_of]
    return ast.unparse(ast.Module([part for part in kept if getattr(part, "names", True)], []))


def rows(library: str) -> Iterator[Row]:
    """The tests of a library that pass in plain Python."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        root = unpacked(library, folder)
        modules = alone(root)
        for path in sorted(root.rglob("*test*.py")):
            try:
                found = against_one(path.read_text("utf-8", "replace"), modules)
            except SyntaxError:
                continue
            if found is None or path.stem == "conftest":
                continue
            module, tree = found
            for test in passing(folder, modules[module], ast.unparse(tree)):
                yield Row(f"{library}/{path.stem}::{test}", modules[module], without_others(tree, test))


def classes(row: Row) -> tuple[str, ...]:
    """The classes that a module has at its top."""
    return tuple(node.name for node in ast.parse(row.candidate).body if isinstance(node, ast.ClassDef))


def kind(verdict: Verdict) -> str:
    """What a verdict says of a right program."""
    if verdict.status in ("passed", "refused", "unavailable"):
        return verdict.status
    return "0, named" if HINT in verdict.reason or verdict.reason.startswith(NAMED) else "0, silent"


def main() -> int:
    """The command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--libraries", nargs="+", default=LIBRARIES.split(), help="as pip names them (those of this file)"
    )
    parser.add_argument("--classes", action="store_true", help="the row says which names are classes")
    parser.add_argument("--out", type=Path, help="a file for each row with its verdict")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    silent: list[str] = []
    written: list[str] = []
    with open_sandbox("local") as sandbox:
        for library in options.libraries:
            found = [*rows(library)]
            jobs = [
                Job(row.candidate, row.tests, "pytest", classes=classes(row) if options.classes else (), timeout=30.0)
                for row in found
            ]
            judged = [*zip(found, sandbox.run(jobs), strict=True)]
            # one that needs the tests before it is no row
            judged = [(row, verdict) for row, verdict in judged if not kind(verdict).startswith("0") or row.passes()]
            kinds = Counter(kind(verdict) for _, verdict in judged)
            counts.update(kinds)
            print(f"{library}: {len(judged)} tests, {dict(kinds)}", flush=True)
            for row, verdict in judged:
                if kind(verdict) == "0, silent":
                    silent.append(f"{row.name}: {verdict.reason[:200]}")
                written.append(json.dumps({**asdict(row), "status": verdict.status, "reason": verdict.reason}))
    if options.out:
        options.out.write_text("".join(f"{line}\n" for line in written))
    print(f"\n{sum(counts.values())} tests: {dict(counts)}", *silent, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
