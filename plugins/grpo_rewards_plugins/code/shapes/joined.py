"""What stands before the tests where prompt, program and tests are one text (MultiPL-E, HumanEval-X).

The prompt ends in the beginning of a function. A completion is what follows, or the whole function, or a class or file with
it. The tests of some languages begin with the brace that closes the function, and Java's class too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:=\s*(?:async\s*)?\(|=\s*function\b|\()")
_NAMED = (
    r"(?:\bfunc|\bfn|\bfunction|\bdef(?:\s+self\.)?)\s+{name}\b|\b{name}\s*=\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)"
)
_EXPRESSION = re.compile(
    r"[^{};]{0,2000}=>\s*(?=[^{\s])"
)  # what follows the bracket of an arrow function without braces
_TYPED = r"(?:^|(?<=[{{}};]))[ \t]*(?![ \t])(?!(?:return|if|else|while|for|switch|case|throw|new|delete|assert|do|goto)\b)[\w:<>,\[\]&*?. \t]+[ \t&*>]{name}[ \t]*\("
_SHELL = r"^[ \t]*(?:function[ \t]+)?{name}[ \t]*\(\)"
_DEFINED = {"c": _TYPED, "cpp": _TYPED, "java": _TYPED, "bash": _SHELL}
_CLASS = re.compile(r"^[ \t]*(?:public[ \t]+|final[ \t]+)*class[ \t]+(\w+)[^{\n]*\{", re.M)
_INNER = re.compile(r"^[ \t]*#!\[[^\n]*\][ \t]*\n", re.M)
_SUBSHELL = re.compile(r"\s*\(")
_FRAME = {
    "c": "void grpo_frame(void) {", "cpp": "void grpo_frame() {", "java": "static void grpoFrame() {",
    "javascript": "function grpo_frame() {", "typescript": "function grpo_frame() {", "rust": "fn grpo_frame() {",
    "go": "func grpoFrame() {", "php": "function grpo_frame() {", "bash": "grpo_frame() { :",
}  # fmt: skip
_ARROWS = ("javascript", "typescript")
_MAIN = {"c": "main", "cpp": "main", "java": "main", "rust": "main", "go": "main"}
# a single quote is a character's where another closes it at once: Rust's lifetimes have one alone
_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|(?<!\\)\"(?:\\.|[^\"\\\n])*\"|'(?:\\.[^'\n]{0,8}|[^'\\\n])'|`[^`]*`|(?P<brace>[{}])",
    re.S,
)
_SHELL_SKIPPED = re.compile(r"(?<!\S)#[^\n]*|(?<!\\)\"(?:\\.|[^\"\\])*\"|'[^']*'|(?P<brace>[{}])", re.S)
_IMPORT = re.compile(r"^[ \t]*import\b[^\n]*;[ \t]*$\n?", re.M)
_GO_HEAD = re.compile(r"^package[^\n]*\n|^import[ \t]*\((.*?)\)|^import[ \t]+([^\n(]+)$", re.M | re.S)


def signature_name(prompt: str) -> str:
    """Return the name of the function that the prompt's last line begins, empty where there is none."""
    last = prompt.rstrip().rpartition("\n")[2]
    found = _CALLED.search(last)
    return found[1] if found else ""


def before_tests(prompt: str, program: str, tests: str, language: str, stops: Sequence[str] = ()) -> str:
    """Return the source that stands before the tests: of the prompt what the program does not repeat, and the program.

    `stops` end a program that continues the prompt, as the data set's own runner ends what a model writes.
    """
    if language == "rust" and (inner := "".join(_INNER.findall(program))):  # these stand before all else
        return inner + before_tests(prompt, _INNER.sub("", program), tests, language, stops)
    name = signature_name(prompt)
    place = _definition(program, name, language) if name else None
    missing = -depth_of(tests, language)
    if place is None:
        return prompt + _body(program, language, stops, cut=missing > 0)
    begun = prompt[: prompt.rstrip().rfind("\n") + 1]
    # the tests close no brace of the prompt's, so a whole function may stand as it is
    if missing <= 0:
        return _with_whole(begun, _without_main(program, language), language)
    return _with_frame(begun, program, place, language)


def _with_whole(begun: str, program: str, language: str) -> str:
    """The program as it is, after what stands in the prompt before the function, or before its class."""
    if language == "php":
        program = re.sub(r"<\?php|\?>", "", program)
    if language == "go":
        begun, program = _go_imports(begun, program)
    opened = _CLASS.search(begun)
    if opened and any(found[1] == opened[1] for found in _CLASS.finditer(program)):
        # the program brings the class itself, and two of one name do not compile
        begun = begun[: opened.start()]
    imports, program = java_imports(program) if language == "java" else ("", program)
    source = f"{imports}{begun}{program}"
    return source + "\n}" * depth_of(source, language)


def defines(program: str, name: str, language: str) -> bool:
    """Whether a program of a language other than Python defines a function of that name."""
    return _definition(program, name, language) is not None


def _with_frame(begun: str, program: str, place: tuple[int, int], language: str) -> str:
    """The program in its own order, and an empty function for the brace that the tests begin with."""
    start, end = place
    before, function, after = program[:start], program[start : end + 1], program[end + 1 :]
    imports = ""
    if language == "java":
        imports, before = java_imports(before)
        if opened := _CLASS.search(before):
            # the prompt has opened the class already: the program's own head and its closing brace go
            before, after = before[opened.end() :], after.rstrip().removesuffix("}")
    if language == "go":
        begun, before = _go_imports(begun, before, function + after)
    before, after = (_without_main(part, language) for part in (before, after))
    return f"{imports}{begun}{before}{function}\n{after}\n{_FRAME[language]}\n"


def _body(program: str, language: str, stops: Sequence[str], *, cut: bool) -> str:
    """What continues the prompt: up to the first stop, and without the brace that closes the function where the tests have it."""
    # a stop at the very beginning would leave nothing of the program
    ends = [place for stop in stops if stop and (place := program.find(stop)) > 0]
    program = program[: min(ends)] if ends else program
    depth = 0
    for brace in _braces(program, language) if cut else ():
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return program[: brace.start()]
    return program


def _definition(program: str, name: str, language: str) -> tuple[int, int] | None:
    """Where the line that defines a function begins and where its last brace stands; the program's end without braces."""
    pattern = _DEFINED.get(language, _NAMED).format(name=re.escape(name))
    braces: list[tuple[int, int]] | None = None
    for found in re.finditer(pattern, program, re.M):
        start = found.start() if language in _DEFINED else program.rfind("\n", 0, found.start()) + 1
        if language == "ruby" or (
            language in _ARROWS and "=" in found[0] and _EXPRESSION.match(program, found.end() - 1)
        ):
            return start, len(program)
        if language == "bash" and _SUBSHELL.match(program, found.end()):
            end = program.find("\n)", found.end())
            return (start, end + 1) if end >= 0 else None
        # once for all hits, and searched by halving: a hostile program may have a hundred thousand of each
        braces = _paired(program, language) if braces is None else braces
        place = bisect_left(braces, (found.end(), -1))
        opened, closed = braces[place] if place < len(braces) else (0, -1)
        # a prototype ends in a semicolon before any brace
        if closed >= 0 and ";" not in program[found.end() : opened]:
            return start, closed
    return None


def _paired(text: str, language: str) -> list[tuple[int, int]]:
    """Each brace with the one that closes it; -1 for those that close, and those that nothing closes."""
    pairs: list[tuple[int, int]] = []
    waiting: list[int] = []
    for brace in _braces(text, language):
        pairs.append((brace.start(), -1))
        if brace[0] == "{":
            waiting.append(len(pairs) - 1)
        elif waiting:
            place = waiting.pop()
            pairs[place] = (pairs[place][0], brace.start())
    return pairs


def _braces(text: str, language: str) -> list[re.Match[str]]:
    """The braces that are no text, character or comment."""
    pattern = _SHELL_SKIPPED if language == "bash" else _SKIPPED
    return [found for found in pattern.finditer(text) if found["brace"]]


def depth_of(text: str, language: str) -> int:
    """How many braces are open at the end; negative: how many are closed that were not opened."""
    return 0 if language == "ruby" else sum(1 if brace[0] == "{" else -1 for brace in _braces(text, language))


def _without_main(program: str, language: str) -> str:
    """The program without its function main, which the tests have."""
    place = _definition(program, _MAIN[language], language) if language in _MAIN else None
    return program[: place[0]] + program[place[1] + 1 :] if place else program


def java_imports(program: str) -> tuple[str, str]:
    """The imports of a program, which must come first, and the rest."""
    return "".join(_IMPORT.findall(program)), re.sub(
        r"^[ \t]*package\b[^\n]*;", "", _IMPORT.sub("", program), flags=re.M
    )


def _go_imports(begun: str, program: str, rest: str = "") -> tuple[str, str]:
    """The prompt's head with the imports of the program that it lacks and the program uses, and the program without its own."""
    wanted = [
        line.strip()
        for found in _GO_HEAD.finditer(program)
        for line in (found[1] or found[2] or "").splitlines()
        if line.strip()
    ]
    program = _GO_HEAD.sub("", program)
    # Go compiles no import that is not used, and what main alone uses goes with it
    used = _without_main(program + rest, "go")
    packages = {line: line.strip('"').rpartition("/")[2] for line in wanted}
    new = [line for line, package in packages.items() if line not in begun and f"{package}." in used]
    head = re.match(r"\s*package[^\n]*\n", begun)
    place = head.end() if head else 0
    return begun[:place] + "".join(f"import {line}\n" for line in new) + begun[place:], program
