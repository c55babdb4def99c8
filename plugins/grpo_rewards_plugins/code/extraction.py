"""From a completion to the program that is run: the block that counts, completed by the prompt where it is a body only.

Everything is decided line by line, without parsing: a completion may be megabytes of brackets.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Set

from grpo_rewards_plugins.answers import tagged
from grpo_rewards_plugins.blocks import Block, fenced_blocks

__all__ = ["complete", "defined_names", "find_program", "preamble"]

_DEFINED = re.compile(r"^(?:(?:async[ \t]{1,8})?def|class)[ \t]{1,8}(\w+)|^(\w+)[ \t]*(?::[^=\n]{1,200})?=(?!=)", re.M)
_PYTHON = ("python", "py", "python3", "python2", "py3")
_FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)", re.M)
_LEADING_TABS = re.compile(r"^\t+", re.M)
_FUTURE = re.compile(r"^from __future__ import .*\n?", re.M)


def defined_names(source: str) -> frozenset[str]:
    """Return the names that unindented lines of `source` define."""
    return frozenset(match[1] or match[2] for match in _DEFINED.finditer(source))


def find_program(text: str, *, wanted: Set[str] = frozenset(), tag: str = "answer") -> tuple[str, bool]:
    """Return the program in a completion, and whether it stood in a fenced block.

    Only what follows ``</think>`` counts, and where there is a ``<tag>``, only its last content. Of several blocks the
    last one that defines a `wanted` name is taken, else the last one; blocks in Python before those without a
    language, and those before others. A text without blocks is taken as it is; so is the text before the first fence
    where only that defines a `wanted` name, or nothing follows: some models write the closing fence alone.
    """
    text = text.rpartition("</think>")[2]
    if (hit := tagged(text, tag)) is not None:
        text = hit[1].removeprefix("\n")
    blocks = fenced_blocks(text) if "```" in text or "~~~" in text else []
    if not blocks:
        return text, False
    fence = _FENCE_LINE.search(text)
    before = text[: fence.start()] if fence is not None else ""
    if before.strip() and (
        not any(block.text.strip() for block in blocks)
        or (
            not wanted.isdisjoint(defined_names(before))
            and all(wanted.isdisjoint(defined_names(block.text)) for block in blocks)
        )
    ):
        return before, False
    named = [block for block in blocks if block.language in _PYTHON]
    plain = [block for block in blocks if not block.language]
    return _last_that_defines(named or plain or blocks, wanted).text, True


def _last_that_defines(blocks: list[Block], wanted: Set[str]) -> Block:
    if wanted and len(blocks) > 1:
        for block in reversed(blocks):
            if not wanted.isdisjoint(defined_names(block.text)):
                return block
    return blocks[-1]


def complete(program: str, prompt: str, entry_point: str) -> str:
    """Return `program` as it can run alone, given the `prompt` that ends in the beginning of function `entry_point`.

    A program that defines the function is used as it is, after what stands before the function in the prompt (imports
    and further functions, which the model was shown). Anything else is taken for the function's body and continues the
    prompt up to its first unindented line, as Chen et al. 2021 stop there (arXiv 2107.03374). A body whose indentation
    was lost, whole or in its first line, gets it back.
    """
    head = _last_definition(prompt, entry_point)
    if head is None:
        return program
    if entry_point in defined_names(program):
        return _after(prompt[:head], program)
    beginning = prompt if prompt.endswith("\n") else prompt + "\n"
    if "\n\t" not in beginning:
        program = _LEADING_TABS.sub(lambda tabs: "    " * len(tabs[0]), program)  # Python refuses a mixture
    return beginning + _up_to_next_unindented(_as_body(program))


def preamble(prompt: str, entry_point: str) -> str:
    """Return what stands in the prompt before the function that it begins: imports and helpers, the data set's own."""
    head = _last_definition(prompt, entry_point)
    return "" if head is None else prompt[:head]


def _last_definition(prompt: str, entry_point: str) -> int | None:
    place = None
    for match in re.finditer(
        rf"^(?:async[ \t]{{1,8}})?(?:def|class)[ \t]{{1,8}}{re.escape(entry_point)}\b", prompt, re.M
    ):
        place = match.start()
    return place


def _after(preamble: str, program: str) -> str:
    """Put `preamble` before `program`, but imports from ``__future__`` first of all."""
    if not preamble.strip():
        return program
    futures = "".join(
        line if line.endswith("\n") else line + "\n" for line in _FUTURE.findall(preamble + "\n" + program)
    )
    return f"{futures}{_FUTURE.sub('', preamble).rstrip()}\n\n\n{_FUTURE.sub('', program)}"


def _as_body(program: str) -> str:
    lines = program.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None or lines[first][0] in " \t":
        return program
    below = [_indent(line) for line in lines[first + 1 :] if line.strip()]
    if below and min(below) >= 4 and (not lines[first].rstrip().endswith(":") or below[0] > 4):
        lines[first] = "    " + lines[first]
        return "\n".join(lines)
    return textwrap.indent(program, "    ")


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _up_to_next_unindented(body: str) -> str:
    kept = []
    for line in body.split("\n"):
        if line.strip() and line[0] not in " \t)]}":
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + "\n"
