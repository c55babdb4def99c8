"""Programs that are judged by their exit status: the one text, and the sign that its tests ran to their end.

An exit status says only that the process ended so, which ``exit(0)`` brings about as well. Where the language lets a text be
added behind the tests, that text writes a word which is drawn anew for each job, and the program passes only with it. The
word is in the environment of the one process that runs candidate and tests: a candidate that looks for it finds it. So this
tells an early exit, and not a forgery by someone who knows this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

VARIABLE = "GRPO_END"
_AT_END = {
    "python": f'\nimport os as _os, sys as _sys\n_sys.stdout.flush(); _os.write(1, ("\\n" + _os.environ["{VARIABLE}"] + "\\n").encode())\n',
    "javascript": f'\n;require("fs").writeSync(1, "\\n" + process.env.{VARIABLE} + "\\n");\n',
    "typescript": f'\n;(globalThis as any).require?.call; (eval("require"))("fs").writeSync(1, "\\n" + (eval("process") as any).env.{VARIABLE} + "\\n");\n',
    "ruby": f'\nSTDOUT.flush; STDOUT.syswrite("\\n" + ENV["{VARIABLE}"] + "\\n")\n',
    "php": f'\nfwrite(STDOUT, "\\n" . getenv("{VARIABLE}") . "\\n");\n',
    "bash": f'\nprintf "\\n%s\\n" "${VARIABLE}"\n',
}  # fmt: skip
_PASSED = {"go": re.compile(rb"(?m)^PASS$"), "rust": re.compile(rb"(?m)^test result: ok\. [1-9]\d* passed; 0 failed")}


@dataclass(frozen=True, slots=True)
class Ending:
    """What is added behind the tests, and whether an output shows that it was reached."""

    text: str
    reached: Callable[[bytes, str], bool]


def joined(language: str, setup: str, candidate: str, tests: str) -> str:
    """Return the one text that is compiled and run."""
    # node's own only prints, and goes on
    between = "\nconsole.assert = (c, ...m) => { if (!c) throw new Error(m.join(' ') || 'Assertion failed'); };\n"
    parts = [setup, candidate, between + tests if language == "javascript" else tests]
    return "\n".join(part for part in parts if part)


def ending(language: str, tests: str) -> Ending:
    """Return how a program of this language shows that its tests ran to their end."""
    from .sources import has_tests

    if has_tests(language, tests):
        return Ending("", lambda output, secret: _PASSED[language].search(output) is not None)
    text = _AT_END.get(language, "")
    # behind a closing tag it would be printed, not run
    if language == "php" and "?>" in tests:
        text = ""
    if not text:
        return Ending("", lambda output, secret: True)
    return Ending(text, lambda output, secret: secret.encode() in output)
