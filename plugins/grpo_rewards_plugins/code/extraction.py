"""From a completion to the program that is run: the block that counts, completed by the prompt where it is a body only.

Everything is decided line by line, without parsing: a completion may be megabytes of brackets.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Set
from functools import lru_cache

from grpo_rewards_plugins.answers import tagged, without_end
from grpo_rewards_plugins.blocks import Block, ended_within
from grpo_rewards_plugins.code.shapes.joined import defines
from grpo_rewards_plugins.syntax import parsed

_DEFINED = re.compile(r"^(?:(?:async[ \t]{1,8})?def|class)[ \t]{1,8}(\w+)|^(\w+)[ \t]*(?::[^=\n]{1,200})?=(?!=)", re.M)
_PYTHON = ("python", "py", "python3", "python2", "py3", "pypy", "pypy3", "pycon", "ipython")
PROGRAMMING = {
    "bash": "bash", "c": "c", "c++": "cpp", "c++11": "cpp", "c++14": "cpp", "c++17": "cpp", "c++20": "cpp", "c++23": "cpp",
    "cc": "cpp", "cpp": "cpp", "cpp11": "cpp", "cpp14": "cpp", "cpp17": "cpp", "cpp20": "cpp", "cpp23": "cpp", "cxx": "cpp", "go": "go", "golang": "go", "go_test.go": "go", "java": "java", "javascript": "javascript",
    "js": "javascript", "node": "javascript", "nodejs": "javascript", "php": "php", "rb": "ruby", "rs": "rust",
    "ruby": "ruby", "rust": "rust", "sh": "bash", "shell": "bash", "ts": "typescript", "typescript": "typescript",
}  # fmt: skip
"""Names of languages and tags of fences, with the sandbox's own name."""
_OTHER_LANGUAGES = frozenset(PROGRAMMING) | frozenset(
    [
        "ada", "asm", "assembly", "awk", "basic", "c#", "c11", "c17", "c99", "clj", "clojure", "cobol", "coffeescript", "crystal",
        "cs", "csharp", "d", "dart", "delphi", "elisp", "elixir", "elm", "erl", "erlang", "ex", "f#", "f90", "fortran", "fsharp",
        "groovy", "haskell", "haxe", "hs", "jl", "julia", "kotlin", "kt", "lisp", "lua", "mathematica", "matlab", "ml", "nasm", "nim",
        "objc", "objective-c", "objectivec", "ocaml", "octave", "pas", "pascal", "perl", "pl", "powershell", "prolog",
        "ps1", "r", "racket", "raku", "rkt", "scala", "scheme", "sml", "sql", "swift", "tcl", "vb", "vb.net", "vba", "vbnet",
        "verilog", "vhdl", "wolfram", "zig", "zsh",
    ]
)  # fmt: skip
"""Tags of fences that hold a program, but none in Python."""
_MARKED = re.compile(r"(?ms)^[ \t]*\[(?:BEGIN|PYTHON)\][ \t]*\n(.*?)(?:^[ \t]*\[(?:DONE|/PYTHON)\][ \t]*$|\Z)")
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^\n`]*)$")
_IN_TEXT = 3  # spaces before a fence that Markdown allows; what stands further in may be part of a program's text
_MAX_PARSED = 100_000  # characters
_THINK = "</think>"
_THOUGHTS = 16  # of these that are looked at: a program may hold several
_TAGS = 3  # that are looked at, from the last one: text about the answer may name the tag too
_LIKE_CODE = re.compile(r"[;{}=]|\b(?:puts|echo)\b")
_LEADING_TABS = re.compile(r"^\t+", re.M)
_FUTURE = re.compile(r"^from __future__ import .*\n?", re.M)


def defined_names(source: str) -> frozenset[str]:
    """Return the names that unindented lines of `source` define."""
    return frozenset(match[1] or match[2] for match in _DEFINED.finditer(source))


def find_program(
    text: str, *, wanted: Set[str] = frozenset(), tag: str = "answer", language: str = "python", block: str = "last"
) -> tuple[str, bool]:
    """Return the program in a completion, and whether it stood in a fenced block.

    Only what follows ``</think>`` counts, and where there is a ``<tag>``, only its last content, unless that is no program and
    there are blocks elsewhere ("see above"). Of several blocks the
    last one that defines a `wanted` name is taken, else the last one; blocks in the `language` before those without a
    language, and those before others; a block in another programming language is no program, and where there is nothing else
    the program is empty. With `block` ``first`` it is the first of them, with ``joined`` all of them, one after the other.
    A text without blocks is taken as it is; so is the text before the first fence where only that
    defines a `wanted` name, or nothing follows: some models write the closing fence alone. Where there is none, ``[BEGIN]`` and
    ``[DONE]``, or ``[PYTHON]`` and ``[/PYTHON]``, in lines of their own, are the marks of a block.
    """
    text = _answered(without_end(text), tag, wanted, language)
    # two searches spare cutting a long text without fences into its lines
    blocks = program_blocks(text) if "```" in text or "~~~" in text else []
    if not blocks:
        marked = _MARKED.findall(text)
        return (marked[-1] if marked else text), False
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
    tags = _PYTHON if language == "python" else tags_of(language)
    named = [block for block in blocks if block.language in tags]
    plain = [block for block in blocks if not block.language]
    others = [block for block in blocks if block.language not in _OTHER_LANGUAGES]
    if language != "python":
        # a tag that is no language's (output, solution) may be Python's by default, but stands for no other language
        others = []
    found = named or plain or others
    return (_chosen(found, wanted, block, language) if found else ""), True


def program_blocks(text: str) -> list[Block]:
    """Return the fenced blocks in order, as models write them: fences may be indented as far as they like, as in a list.

    A block of which fence and lines are indented alike loses that indentation. Within a block at the margin a fence that is further
    in may belong to the program (a docstring): it closes the block only where nothing else does before the next block.
    """
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    inside: list[str] = []
    maybe = 0  # how many lines of the block stand before a fence that may close it
    for line in text.split("\n"):
        stripped = line.rstrip()
        # the expression is tried on lines alone that three characters make likely: a completion may have a million
        fence = _FENCE.match(stripped) if stripped.lstrip()[:3] in ("```", "~~~") else None
        if fence is not None and opened is not None and maybe and fence["info"] and len(fence["indent"]) <= _IN_TEXT:
            blocks.append(_block(opened, inside[:maybe]))
            opened = None
        if opened is None:
            if fence is not None:
                opened, inside, maybe = fence, [], 0
        elif fence is None or fence["info"] or not fence["marks"].startswith(opened["marks"]):
            inside.append(line)
        elif len(fence["indent"]) <= max(_IN_TEXT, len(opened["indent"])):
            blocks.append(_block(opened, inside))
            opened = None
        else:
            maybe = len(inside)
            inside.append(line)
    if opened is not None:
        blocks.append(_block(opened, inside[:maybe] or ended_within(inside, opened["marks"]) or inside))
    return blocks


def _block(opened: re.Match[str], lines: list[str]) -> Block:
    before = opened["indent"]
    if before and all(line.startswith(before) for line in lines if line.strip()):
        lines = [line.removeprefix(before) for line in lines]
    text = "\n".join(lines)
    # Markdown allows attributes behind the language
    return Block(text, opened["info"].strip().partition(" ")[0].lower())


def _chosen(blocks: list[Block], wanted: Set[str], which: str, language: str) -> str:
    if which == "joined":
        return "\n\n".join(block.text for block in blocks)
    return _last_that_defines(blocks[::-1] if which == "first" else blocks, wanted, language).text


def tags_of(language: str) -> frozenset[str]:
    """Return the tags of fences that hold programs of a language other than Python."""
    return frozenset(tag for tag, name in PROGRAMMING.items() if name == language)


def other_language(text: str, *, tag: str = "answer") -> str:
    """Return the language of the last block of a completion in which no program was found, empty where there is none."""
    blocks = [block for block in program_blocks(_answered(text, tag)) if block.text.strip()]
    return blocks[-1].language if blocks and blocks[-1].language in _OTHER_LANGUAGES else ""


def _answered(text: str, tag: str, wanted: Set[str] = frozenset(), language: str = "python") -> str:
    """What follows the reasoning, and of that the last content of the tag where that is, or holds, a program."""
    text = before = text[_reasoning(text) :]
    for _ in range(_TAGS):
        hit = tagged(before, tag)
        if hit is None:
            break
        content, before = hit[1].removeprefix("\n"), before[: hit[0]]
        if not _FENCE_LINE.search(before):
            return content
        if not _FENCE_LINE.search(content):
            if _is_program(content, program_blocks(before), wanted, language):
                return content
        # within a block the tag is a part of the program's text, unless a new block is opened in it
        elif not _ends_in_block(before) or any(block.language for block in program_blocks(content)):
            return content
    return text


def _reasoning(text: str) -> int:
    """Return where the reasoning ends: behind the last tag that is not part of a line of a program."""
    end = len(text)
    for _ in range(_THOUGHTS):
        end = text.rfind(_THINK, 0, end)
        if end < 0:
            return 0
        line = text[text.rfind("\n", 0, end) + 1 :].partition("\n")[0].partition(_THINK)
        if not line[0].strip("`~ \t") or not line[2].strip() or not _ends_in_block(text[:end]):
            return end + len(_THINK)
    return 0


def _ends_in_block(text: str) -> bool:
    """Whether a text ends within a fenced block: then a fence after it closes one, and opens none."""
    return len(program_blocks(text + "\n```\n")) == len(program_blocks(text))


def _is_program(content: str, others: list[Block], wanted: Set[str], language: str) -> bool:
    """Whether a text without fences is meant as a program, where there are `others`."""
    if _MARKED.search(content):
        return True
    if wanted:
        if _defines_any(content, wanted, language):
            return True
        if any(_defines_any(block.text, wanted, language) for block in others):
            return False
    if language != "python":
        return _LIKE_CODE.search(content) is not None
    if len(content) > _MAX_PARSED:
        return True
    tree = parsed(textwrap.dedent(content))
    nodes = tree.body if tree is not None else []
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in nodes)


def _defines_any(text: str, wanted: Set[str], language: str) -> bool:
    if language == "python":
        return not wanted.isdisjoint(defined_names(text))
    return any(defines(text, name, language) for name in wanted)


def _last_that_defines(blocks: list[Block], wanted: Set[str], language: str) -> Block:
    if wanted and len(blocks) > 1:
        for block in reversed(blocks):
            if _defines_any(block.text, wanted, language):
                return block
    return blocks[-1]


PRELUDE = """\
import bisect, collections, copy, datetime, functools, heapq, itertools, math, operator, random, re, string, sys
from typing import *
from collections import *
from functools import *
from itertools import *
from heapq import *
from bisect import *
from math import *
from builtins import *
"""
"""What the sites that ask for a class ``Solution`` import before the program; the builtins last, since math has a ``pow``."""


def complete(program: str, prompt: str, entry_point: str) -> str:
    """Return `program` as it can run alone, given the `prompt` that ends in the beginning of function `entry_point`.

    A program that defines the function is used as it is, after what stands before the function in the prompt (imports
    and further functions, which the model was shown). Anything else is taken for the function's body and continues the
    prompt up to its first unindented line, as Chen et al. 2021 stop there (arXiv 2107.03374). A body whose indentation
    was lost, whole or in its first line, gets it back. For an entry point such as ``Solution().twoSum`` a program stands after
    the prompt where that is nothing but code, else after the imports that such programs count on.
    """
    method = not entry_point.isidentifier()
    entry_point = first_name(entry_point)
    head = _last_definition(prompt, entry_point)
    if head is None:
        return _after(preamble(prompt, entry_point) or (PRELUDE if method else ""), program)
    if entry_point in defined_names(program):
        return _after(prompt[:head], program)
    beginning = prompt if prompt.endswith("\n") else prompt + "\n"
    if "\n\t" not in beginning:
        program = _LEADING_TABS.sub(lambda tabs: "    " * len(tabs[0]), program)  # Python refuses a mixture
    return beginning + _up_to_next_unindented(_as_body(program))


def with_prelude(program: str, prelude: str = PRELUDE) -> str:
    """Return `program` after what it counts on; ours are the imports that sites with calls have."""
    return _after(prelude, program)


def preamble(prompt: str, entry_point: str) -> str:
    """Return what stands in the prompt before the function that it begins: imports and helpers, the data set's own.

    A prompt that begins no function but is code, such as LeetCode's imports and node classes, is all of it that.
    """
    head = _last_definition(prompt, first_name(entry_point))
    if head is None:
        return prompt if is_code(prompt) else ""
    return prompt[:head]


def first_name(entry_point: str) -> str:
    """Return the name that a program has to define for an entry point: ``Solution`` for ``Solution().twoSum``."""
    match = re.match(r"\w+", entry_point)
    return match[0] if match else ""


_STATEMENTS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)


@lru_cache(maxsize=256)
def is_code(text: str) -> bool:
    """Whether a text is nothing but imports, definitions and assignments in Python, and not empty."""
    tree = parsed(text)
    body = tree.body if tree is not None else []
    strings = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    return len(body) > len(strings) and all(isinstance(node, _STATEMENTS) for node in body if node not in strings)


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
    # those of both, or the compiler refuses whichever stands behind a statement
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
    # the rest is indented as a body is, so only the first line went on where the prompt's own indentation ended
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
        # a bracket that is closed at the margin ends no body
        if line.strip() and line[0] not in " \t)]}":
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + "\n"
