"""From a suite of one text to one of two programs: the candidate's, and that of what is expected."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.joined import before_tests, depth_of, java_imports, signature_name
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.code.values.splitting import go_tests, split
from grpo_rewards_plugins.code.values.text import masked
from grpo_rewards_plugins.code.values.writers import GO_IMPORTS, JAVA_TUPLES, WRITERS

# the program of what is expected has the function's signature, which the compiler may want, and none of its body
_STUBS = {
    "cpp": "throw 0;\n}\n", "java": "throw new RuntimeException();\n}\n", "javascript": "}\n", "typescript": "throw 0;\n}\n",
    "rust": "unimplemented!()\n}\n", "go": "panic(0)\n}\n", "ruby": "end\n", "php": "}\n", "bash": ":\n}\n",
}  # fmt: skip
_RUST_CRATES = re.compile(r"(?m)^\s*(?:use|extern\s+crate)\s+(?:rand|regex|md5|crypto)\b[^;\n]*;[ \t]*\n?")
_RUST_MAIN = re.compile(r"\bfn\s+main\s*\(\s*\)\s*\{\s*\}")
_JAVA_TUPLES = re.compile(r"(?m)^\s*import\s+org\.javatuples\.[\w*]+;[ \t]*\n?")
_GO_TEST = re.compile(r"\((\w+)\s+\*testing\.T\)")
_GO_ONE = re.compile(r"(?m)^[ \t]*import[ \t]+(?!grpo)(?:(\w+)[ \t]+)?\"([^\"]+)\"[ \t]*\n?")
_GO_MANY = re.compile(r"(?ms)^import[ \t]*\((.*?)\)[ \t]*\n?")


# a row's tests are told apart once for all completions of its group
@lru_cache(maxsize=1024)
def apart(suite: Suite) -> Suite:
    """Return the suite in which program and tests are two programs.

    Raises:
        SuiteProblem: the tests hold more than calls and the values that these give; the text says where.
    """
    language, beginning = suite.language, _beginning(suite.beginning, suite.language)
    name = signature_name(beginning)
    if language not in WRITERS or not name:
        raise SuiteProblem(
            f"program and tests are one text in this format, and are not told apart in {language!r}; fidelity: shared runs them together, never for training"
        )
    tests = go_tests(str(suite.tests)) if language == "go" else str(suite.tests)
    found = split(tests, language, name)
    before = before_tests(beginning, _STUBS[language], found.wanted, language)
    before += "\n}" * (depth_of(before, language) + depth_of(found.wanted, language))  # HumanEval-X: Java's class
    expected = program(before, found.wanted, language)
    return replace(suite, format="values", tests=found.got, beginning=beginning, expected=expected, compare="floats")


def program(before: str, tests: str, language: str) -> str:
    """Return a whole program of what stands before the tests, the tests and what writes values."""
    writer = WRITERS[language]
    if language in ("cpp", "javascript", "typescript", "ruby", "bash"):
        return f"{writer}\n{before}\n{tests}"
    if language == "php":
        head, opened, rest = before.partition("<?php")
        return f"{head}<?php{writer}{rest}\n{tests}" if opened else f"<?php{writer}{before}\n{tests}"
    if language == "go":
        # the tests' functions are called by main, without the package testing
        tests = _GO_TEST.sub(r"(\1 interface{})", tests)
        return _go(f"{before}\n{tests}\n{writer}")
    text = f"{before}\n{tests}\n{writer}"
    return f"{_JAVA_TUPLES.sub('', text)}{_tuples(text)}" if language == "java" else text


def joined(before: str, tests: str, language: str) -> str:
    """Return what stands before the tests where both are to be one text, with the library that Java's rows count on."""
    if language != "java":
        return before
    imports, rest = java_imports(_JAVA_TUPLES.sub("", before))
    return f"{imports}{_tuples(before + tests)}{rest}"


def _tuples(text: str) -> str:
    """The classes of javatuples that a text uses and does not define."""
    used = [
        name
        for name in JAVA_TUPLES
        if re.search(rf"\b{name}\b", text) and not re.search(rf"\b(?:class|record|interface)\s+{name}\b", text)
    ]
    return "".join(JAVA_TUPLES[name] for name in used)


def _beginning(prompt: str, language: str) -> str:
    if language == "rust":  # HumanEval-X imports crates everywhere, which few of its tasks need
        return _RUST_MAIN.sub("", _RUST_CRATES.sub("", prompt))
    return prompt


def _go(text: str) -> str:
    """The text as package main, with each import once and none that is not used: the tests' own ones are gone."""
    text = re.sub(r"(?m)^package[^\n]*\n", "", text, count=1)
    found: dict[str, str] = {}
    for block in _GO_MANY.finditer(text):
        for line in block[1].splitlines():
            if match := re.fullmatch(r"\s*(?:([\w.]+)\s+)?\"([^\"]+)\"\s*", line):
                found[match[2]] = match[1] or ""
    found |= {match[2]: match[1] or "" for match in _GO_ONE.finditer(text)}
    text = _GO_ONE.sub("", _GO_MANY.sub("", text))
    # by the code alone: Go compiles no import that only a comment or a text mentions
    mask = masked(text, "go")
    used = [
        f'import {name} "{path}"\n'
        for path, name in found.items()
        if re.search(rf"(?<![\w.]){re.escape(name or path.rpartition('/')[2])}\.", mask)
    ]
    return f"package main\n{GO_IMPORTS}{''.join(used)}\n{text}"
