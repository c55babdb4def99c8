"""Holes of the border that were closed, opened again one at a time in a copy: what of them does the search find?

    python tests/sandbox/search_holes.py --minutes 3 --seed 1 [NAME ...]

Each is one line of the border taken back, where that alone opens a hole. Readers found them where the search had found nothing; a search that does not find
most of them says little. Exit 1 where it missed one, 3 where no sandbox can be had.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import grpo_rewards_sandbox


class Hole(NamedTuple):
    """What stands in a module of the program, and what stood there when the hole was open."""

    tasks: str
    module: str
    closed: str
    open: str


_BORDER = (  # tasks that it may show in, the module of border/, what stands there, what stood there
    ("AssertionError by a name", "at_most,Meter,Gauge", "trusted", "return CATCHING[name]", "return super().builtin(name)"),
    ("fields with special names", "digit_sum,gcd_of,count_vowels", "proxy_classes", "for at, part in enumerate(fields) if names_member(part)", "for at, part in enumerate(fields)"),
    ("type by name", "run_by", "values", "memoryview super type hasattr dir", "memoryview super"),
    ("metaclass that contains all", "divisors", "proxies", "if isinstance(other, (Proxy, ProxyClass)):", "if True:"),
    ("context that swallows", "squared", "failed_checks", "at.tb_lineno in self.text.still_to_check", "False"),
    ("error before a check", "visit,report_to", "failed_checks", "place in self.text.checking", "False"),
    ("check swallowed by a call", "visit,for_each", "failed_checks", "if self.is_check(error) or self._keeps_from_check(error):", "if False:"),
)  # fmt: skip
HOLES = {name: Hole(tasks, f"border/{module}.py", closed, opened) for name, tasks, module, closed, opened in _BORDER}
HOLES["problem without words"] = Hole(
    "digit_sum,caesar,evens", "formats/calls.py", "if problem is None:", "if not problem:"
)


def with_hole(name: str, folder: Path) -> dict[str, str]:
    """Copy the package into `folder`, open the hole there, and return the environment that has Python import the copy.

    Raises:
        ValueError: the line is no longer there: the hole is to be described anew.
    """
    hole, package = HOLES[name], Path(grpo_rewards_sandbox.__file__).parent
    copy = folder / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    module = copy / "program" / hole.module
    text = module.read_text()
    if text.count(hole.closed) != 1:
        raise ValueError(f"{hole.module} holds {hole.closed!r} {text.count(hole.closed)} times, not once")
    module.write_text(text.replace(hole.closed, hole.open))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def main() -> int:
    """The command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all unless given: {', '.join(HOLES)}")
    parser.add_argument("--minutes", default="3", help="how long to search for each (3)")
    parser.add_argument("--seed", default="1", help="of the random numbers (1)")
    parser.add_argument(
        "--all", action="store_true", help="search with all tasks, not only with those of a fitting shape"
    )
    options = parser.parse_args()
    search = [sys.executable, str(Path(__file__).with_name("search.py")), "--first"]
    missed = 0
    for name in options.names or HOLES:
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            done = subprocess.run(
                [*search, "--minutes", options.minutes, "--seed", options.seed, *([] if options.all else ["--tasks", HOLES[name].tasks])],
                env=with_hole(name, Path(folder)), capture_output=True, text=True,
            )  # fmt: skip
        if done.returncode == 3:
            print(done.stderr, file=sys.stderr)
            return 3
        missed += done.returncode != 1
        said = {0: "missed", 1: "found"}.get(done.returncode, f"no search: {done.stderr}")
        print(f"##### {name}: {said} after {time.monotonic() - start:.0f} s\n{done.stdout}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
