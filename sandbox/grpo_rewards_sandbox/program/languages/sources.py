"""What a program's text says of itself: the name of its file, and what to start."""

from __future__ import annotations

import re

# comments and strings say nothing; an unclosed comment goes to the end, else each opening would be searched from anew
_QUIET = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"""(?:\\.|[^\\])*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.]+)\s*;", re.MULTILINE)
_JAVA = re.compile(
    r"[{}]|\b(?P<public>public\s+)?(?:(?:abstract|final|strictfp|sealed|static)\s+){0,5}(?:class|record|enum|interface)\s+"
    r"(?P<name>\w+)|\bstatic\s+(?:final\s+)?void\s+(?P<main>main)\s*\("
)
_MODULE = re.compile(
    r"^[ \t]*(?:import\s+(?:[\w*{]|['\"])|export\s+(?:default|const|function|class|async|\{))", re.MULTILINE
)
_CPP_20 = re.compile(
    r"#\s*include\s*<(?:barrier|bit|compare|concepts|coroutine|format|latch|numbers|ranges|semaphore|source_location|span|stop_token)>"
    r"|\b(?:ranges|views|numbers)::|\bstd::(?:bit_\w+|popcount|count[lr]_(?:zero|one)|has_single_bit|ssize|erase(?:_if)?|midpoint|lerp|span|jthread)\b"
    r"|<=>|\bco_(?:await|return|yield)\b|\b(?:consteval|constinit)\b|\bconcept\s+\w+\s*=|\brequires\s*[({]|\]\s*<\s*(?:typename|class)\b"
    r"|\.(?:starts_with|ends_with|contains)\("
)
_GO_TESTS = re.compile(r"^func\s+(Test\w*)\s*\(\s*\w+\s+\*testing\.T\s*\)", re.MULTILINE)
_RUST_TESTS = re.compile(r"#\[test\]\s*(?:#\[[^\]\n]*\]\s*)*(?:pub\s+)?fn\s+(\w+)")
_RUST_ROOM = re.compile(r"\bmod\s+(\w+)\s*\{")


def java(text: str) -> tuple[str, str]:
    """Return the file that a public class asks for, and the first class with a method `main`."""
    bare = _QUIET.sub(" ", text)
    found = _PACKAGE.search(bare)
    package = f"{found[1]}." if found else ""
    depth, outer, public, first, main = 0, "", "", "", ""
    for token in _JAVA.finditer(bare):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif token["main"]:
            main = main or outer
        elif depth == 0:
            outer = token["name"]
            first = first or outer
            public = public or (outer if token["public"] else "")
    main = main or public or first or "Main"
    return f"{public or main}.java", package + main


def cpp(text: str) -> tuple[str, str]:
    """Return the source's file and the standard that it is written in: the newer one only where a program uses it."""
    return "main.cpp", "gnu++20" if _CPP_20.search(_QUIET.sub(" ", text)) else "gnu++17"


def javascript(text: str) -> tuple[str, str]:
    """Return the name by which node takes the text for a script or for a module."""
    return (
        ("main.mjs", "")
        if _MODULE.search(_QUIET.sub(lambda part: part[0] if part[0][0] in "'\"" else " ", text))
        else ("main.js", "")
    )


def go(text: str) -> tuple[str, str]:
    """Return the name by which go takes the text for a program or for tests."""
    return ("main_test.go" if _GO_TESTS.search(text) else "main.go"), ""


def has_tests(language: str, text: str) -> bool:
    """Say whether a text is run by the tests' runner of its language, and has no `main` of its own."""
    if language == "go":
        return _GO_TESTS.search(text) is not None
    return language == "rust" and "#[test]" in text


def choosing_tests(language: str, tests: str) -> list[str]:
    """Return the words that have the tests' runner of a language run these tests, and none that the program has beside them."""
    if not has_tests(language, tests):
        return []
    if language == "go":
        return ["-test.run", f"^({'|'.join(_GO_TESTS.findall(tests))})$"]
    rooms = _RUST_ROOM.findall(tests)
    room = f"{rooms[0]}::" if len(rooms) == 1 else ""
    return [f"{room}{name}" for name in _RUST_TESTS.findall(tests)] + ["--exact"] if len(rooms) < 2 else []
