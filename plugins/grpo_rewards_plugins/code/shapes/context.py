"""Programs that are statements within a context of their row's, which sets their input and takes their result (DS-1000)."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize

from grpo_rewards_plugins.code.suite import Suite

PLACE, ENTRY = "[insert]", "run_in_context"
_STOP = re.compile(r"</code>|^[ \t]*(?:# ?SOLUTION END|END SOLUTION)", re.M)
"""What ends a program that continues the set's prompts, as its own runner has it."""
# a new namespace for each input, as in the set's own test_execution
_FUNCTION = """\
def {entry}(test_input):
    found = {{"test_input": test_input}}
    exec(compile({text!r}, "solution", "exec"), found)
    return found["result"]
"""


def in_context(suite: Suite, program: str) -> str:
    """Return a function of the input, which runs the program in its context and returns the result."""
    program = _STOP.split(program, maxsplit=1)[0]
    if problem := _unwanted_word(suite, program):
        return f"def {ENTRY}(test_input):\n    raise ValueError({problem!r})\n"
    before = suite.beginning.partition(PLACE)[0].rstrip(" \t")
    # in some contexts the place is the body of a function
    inside = before.rstrip("\n").endswith(":") and before.endswith("\n")
    if inside and program.strip() and not program.lstrip("\n").startswith((" ", "\t")):
        program = textwrap.indent(program, "    ")
    return _FUNCTION.format(entry=ENTRY, text=suite.beginning.replace(PLACE, program))


def _unwanted_word(suite: Suite, program: str) -> str:
    """Say which word a program has that it must not have, or has not; empty where its words are as they are wanted."""
    if not suite.words:
        return ""
    try:
        found = {token.string for token in tokenize.generate_tokens(io.StringIO(program).readline)}
    except (tokenize.TokenError, SyntaxError):
        return "the program's words cannot be told: it is no Python"
    for word, wanted in suite.words:
        if (word in found) is not wanted:
            return (
                f"the task asks for {word!r} in the program" if wanted else f"the task forbids {word!r} in the program"
            )
    return ""
