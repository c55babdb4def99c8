"""The assertions of a test's text, each replaced by a statement that writes what it computes, or what it expects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.values.equations import Equation, equation, mentions
from grpo_rewards_plugins.code.values.text import closing, masked, parts, statement_end


@dataclass(frozen=True, slots=True)
class Split:
    """The tests' text for the program and for what is expected."""

    got: str
    wanted: str


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    equation: Equation | None
    before: str = ""  # what stands around the value, where that is no statement
    after: str = ""


_SHOW = {
    "cpp": "grpo_values::show({})", "java": "GrpoValues.show({})", "javascript": "grpo_show({})", "typescript": "grpo_show({})",
    "rust": "grpo_show(&({}))", "go": "grpoShow({})", "ruby": "GrpoValues.show(({}))", "php": "grpo_show({})", "bash": "grpo_show {}",
}  # fmt: skip
# what gives the program's function the name `candidate` is no use of it
_ALIAS = {
    "cpp": r"\bauto\s+candidate\s*=\s*[\w:]+\s*;", "javascript": r"\b(?:let|const|var)\s+candidate\s*=\s*\w+\s*;",
    "typescript": r"\b(?:let|const|var)\s+candidate\s*=\s*\w+\s*;", "rust": r"\blet\s+candidate\s*=\s*\w+\s*;",
    "go": r"\bcandidate\s*:=\s*\w+", "ruby": r"\bcandidate\s*=\s*method\(:\w+\)",
    "php": r"function\s+candidate\s*\(\.\.\.\$args\)\s*\{[^}]*\}", "bash": r"candidate\(\)\s*\{[^}]*\}",
}  # fmt: skip
_COMMENT = {"ruby": r"(?m)^[ \t]*#[^\n]*", "bash": r"(?m)^[ \t]*#(?!!)[^\n]*"}
_LEFT = re.compile(r"\b(?:static_)?assert\w*!?\s*\(|\b[aA]ssert\.\w+\s*\(|\bassert_\w+|\bthrow\b|\bpanic!|\bexpect\(")
_HELPER = re.compile(
    r"\bbool\s+(\w+)\s*\(\s*(?:const\s+)?([\w:<>,\s*]+?)\s*&?\s*\w+\s*,\s*(?:const\s+)?([\w:<>,\s*]+?)\s*&?\s*\w+\s*\)\s*\{"
)


def split(tests: str, language: str, name: str) -> Split:
    """Split every assertion of a text about the function `name`.

    Raises:
        SuiteProblem: one is not understood, or what it expects stands elsewhere too, where the program could read it.
    """
    tests = _without_comments(tests, language)
    names = (name, "candidate")
    kinds, tests = _helpers(tests, language)
    found = sorted(_FINDERS[language](tests, names, kinds), key=lambda one: one.start)
    if not found:
        raise SuiteProblem(
            "the tests hold no assertion that is understood, so they cannot be judged apart from the program"
        )
    got, wanted, rest, place = [], [], [], 0
    for one in found:
        if one.equation is None:
            problem = " ".join(tests[one.start : one.end].split())[:80]
            raise SuiteProblem(
                f"an assertion says more than that a call gives a value, so it cannot be judged apart from the program: {problem}"
            )
        between = tests[place : one.start]
        rest.append(between)
        got += [between, _written(one, one.equation.got, language)]
        wanted += [between, _with_distance(one, _written(one, _wanted(one.equation, language), language), language)]
        place = one.end
    rest.append(tests[place:])
    _refuse_what_is_left("\n".join(rest), [one.equation for one in found if one.equation], names, language)
    end = tests[place:]
    apart = ("".join(got) + end, "".join(wanted) + end)
    if language == "go":  # where nothing is called, the name is not used
        apart = (apart[0], re.sub(r"\bcandidate\s*:=", "_ =", apart[1]))
    return Split(_ended(apart[0], language), _ended(apart[1], language))


def _with_distance(one: _Found, written: str, language: str) -> str:
    """A statement that writes what is expected, after one that writes how far from it a result may be, if it may."""
    if one.equation is None or not one.equation.tolerance:
        return written
    from grpo_rewards_sandbox import DISTANCE

    distance = _SHOW[language].format(f'"{DISTANCE}{one.equation.tolerance!r}"')
    return f"{{ {distance}; {written} }}"


def _written(one: _Found, value: str, language: str) -> str:
    if one.before:
        return one.before.format(value) + one.after
    kind = one.equation.kind if one.equation else ""
    call = f"grpo_values::typed<{kind}>({value})" if kind else _SHOW[language].format(value)
    return call + (";" if language not in ("bash", "go", "ruby") else "") + one.after


def _wanted(sides: Equation, language: str) -> str:
    if language == "rust" and (
        '"' not in sides.wanted or re.search(r"String::from|to_string|to_owned|into\(", sides.wanted)
    ):
        return f"grpo_same(|| {sides.got}, {sides.wanted})"  # None and vec![] have no type of their own
    return sides.wanted


def _refuse_what_is_left(rest: str, equations: list[Equation], names: tuple[str, ...], language: str) -> None:
    """Refuse tests that speak of the program elsewhere, or in which the program could find what is expected."""
    if language in _ALIAS:
        rest = re.sub(_ALIAS[language], " ", rest)
    mask = masked(rest, language)
    if mentions(rest, names, language):
        raise SuiteProblem(
            "the tests use the program outside of their assertions, so they cannot be judged apart from it"
        )
    # better no verdict than one without the test that was overlooked
    if left := _LEFT.search(re.sub(r"\brequire\('node:assert'\)", "", mask)):
        raise SuiteProblem(
            f"the tests hold an assertion that is not understood: {rest[left.start() : left.start() + 60]!r}"
        )
    for one in equations:
        for word in set(re.findall(r"\b[A-Za-z_]\w*\b", masked(one.wanted, language))):
            if re.search(rf"(?<![\w.]){word}\s*(?::?=(?!=)|\([^()]*\)\s*(?:->[^{{]*)?\{{)", mask):
                raise SuiteProblem(
                    f"what the tests expect is computed by {word!r}, which they define where the program is"
                )


def _without_comments(tests: str, language: str) -> str:
    """Comments may say what is expected."""
    if language in _COMMENT:
        return re.sub(_COMMENT[language], "", tests)
    # in Rust a single quote may begin a lifetime, and a text may go over lines
    literal = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`" if language != "rust" else r"\"(?:\\.|[^\"\\])*\""
    return re.sub(rf"({literal})|//[^\n]*|/\*.*?\*/", lambda found: found[1] or " ", tests, flags=re.S)


def _helpers(tests: str, language: str) -> tuple[dict[str, str], str]:
    """Functions that compare two values of a type (HumanEval-X: ``issame``), and the text without them."""
    kinds: dict[str, str] = {}
    if language != "cpp":
        return kinds, tests
    while found := _HELPER.search(tests):
        end = closing(masked(tests, language), found.end() - 1)
        if found[2] != found[3] or end < 0:
            break
        kinds[found[1]] = found[2]
        tests = tests[: found.start()] + tests[end + 1 :]
    return kinds, tests


def _ended(tests: str, language: str) -> str:
    """The tests as part of a program that runs them without a runner of tests."""
    if language == "rust" and "#[test]" in tests:
        tests = re.sub(r"#\[cfg\(test\)\]", "", tests).replace("#[test]", "")
        module = re.search(r"\bmod\s+(\w+)\s*\{", tests)
        calls = [
            f"{module[1] + '::' if module else ''}{called}();"
            for called in re.findall(r"\bfn\s+(\w+)\s*\(\s*\)", tests)
        ]
        # main stands outside of the module and must see them
        tests = re.sub(r"\bfn\s+(?=\w+\s*\(\s*\))", "pub fn ", tests.replace("pub fn", "fn"))
        return f"{tests}\nfn main() {{ {' '.join(calls)} }}\n"
    if language == "ruby":
        tests = re.sub(r"(?m)^\s*require\b[^\n]*test/unit[^\n]*", "", tests)
        owners = re.findall(r"(?m)^\s*class\s+(\w+)", tests)
        tests = re.sub(r"<\s*Test::Unit::TestCase", "", tests)
        return tests + "".join(
            f"\n{owners[0]}.new.{called}" for called in re.findall(r"\bdef\s+(test\w*)", tests) if owners
        )
    if language == "go":
        started = "; ".join(f"{called}(nil)" for called in re.findall(r"\bfunc\s+(Test\w+)\s*\(", tests))
        return f"{tests}\nfunc main() {{ {started} }}\n"
    return tests


# ------------------------------------------------------------------------------------------------ the languages


def _calls(tests: str, language: str, pattern: str) -> Iterator[tuple[re.Match[str], int, str]]:
    """Calls that a pattern finds, which ends in their bracket: where each ends, and what stands in it."""
    mask = masked(tests, language)
    for found in re.finditer(pattern, mask):
        end = closing(mask, found.end() - 1)
        if end < 0:
            raise SuiteProblem("the tests' brackets are not understood")
        yield found, end, tests[found.end() : end]


def _cpp(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    for found, end, inside in _calls(tests, "cpp", r"(?<![\w.])assert\s*\("):
        yield _Found(found.start(), statement_end(tests, end + 1), equation(inside, names, "cpp", kinds))


def _java(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    for found, end, inside in _calls(tests, "java", r"(?<![\w.])assert\s*\("):
        yield _Found(found.start(), statement_end(tests, end + 1), equation(inside, names, "java", kinds))
    # HumanEval-X: all conditions in one list, of which none may be false
    for found, end, inside in _calls(tests, "java", r"\bList<Boolean>\s+\w+\s*=\s*(?:Arrays\.asList|List\.of)\s*\("):
        mask = masked(tests, "java")
        checked = re.compile(r"\s*;\s*if\s*\(\s*\w+\.contains\(false\)\s*\)\s*\{[^{}]*\}").match(mask, end + 1)
        if checked is None:
            raise SuiteProblem("the tests' list of conditions is not understood")
        conditions = parts(inside, masked(inside, "java"), ",")
        place = found.end()
        for number, condition in enumerate(conditions):
            start = found.start() if number == 0 else place
            last = number == len(conditions) - 1
            place = checked.end() if last else place + len(condition) + 1
            yield _Found(start, place, equation(condition, names, "java", kinds), after="\n")


def _script(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    equal = r"\bassert\.(?:deep(?:Strict)?Equal|strictEqual|equal)\s*\("
    for found, end, inside in _calls(tests, "javascript", equal):
        sides = parts(inside, masked(inside, "javascript"), ",")
        known = (
            equation(f"{sides[0]} === ({','.join(sides[1:])})", names, "javascript", kinds) if len(sides) > 1 else None
        )
        yield _Found(found.start(), statement_end(tests, end + 1), known)
    for found, end, inside in _calls(tests, "javascript", r"(?<![\w.])(?:console\.)?assert\s*\("):
        condition = parts(inside, masked(inside, "javascript"), ",")[0]
        yield _Found(found.start(), statement_end(tests, end + 1), equation(condition, names, "javascript", kinds))


def _rust(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    for found, end, inside in _calls(tests, "rust", r"\bassert(?:_eq)?!\s*\("):
        sides = parts(inside, masked(inside, "rust"), ",")
        if found[0].startswith("assert_eq"):
            known = (
                equation(f"({sides[0]}) == ({','.join(sides[1:])})", names, "rust", kinds) if len(sides) > 1 else None
            )
        else:
            known = equation(sides[0], names, "rust", kinds)
        yield _Found(found.start(), statement_end(tests, end + 1), known)


_GO_LOOP = re.compile(r"for\s+\w+,\s*tc\s*:=\s*range\s+tests\s*\{")
_TESTIFY = r"\bassert\.(Equal|Nil|True|False|InDelta)\s*\("


def _go(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    for found, end, inside in _calls(tests, "go", r"\{(?=\s*actual\s*:)"):
        table = re.fullmatch(r"\s*actual\s*:(.*),\s*expected\s*:(.*?),?\s*", inside, re.S)
        known = equation(f"({table[1]}) == ({table[2]})", names, "go", kinds) if table else None
        yield _Found(found.start(), end + 1, known, "({})")
    for found, end, inside in _calls(tests, "go", _TESTIFY):
        sides = parts(inside, masked(inside, "go"), ",")
        implied = {"Nil": "nil", "True": "true", "False": "false"}.get(found[1])
        pair = [sides[0], implied] if implied else sides[:2]
        known = equation(f"({pair[0]}) == ({pair[1]})", names, "go", kinds) if len(pair) == 2 else None
        if known and found[1] == "InDelta":
            bound = re.fullmatch(r"\s*[\d.]+(?:e-?\d+)?\s*", sides[2]) if len(sides) == 3 else None
            known = Equation(known.got, known.wanted, "", float(bound[0])) if bound else None
        yield _Found(found.start(), end + 1, known)


def go_tests(tests: str) -> str:
    """Go's tests without their runner: MultiPL-E's table becomes a list of values, HumanEval-X's library is not needed."""
    if loop := _GO_LOOP.search(tests):
        end = closing(masked(tests, "go"), loop.end() - 1)
        table = re.search(r"type\s+test\s+struct\s*\{", tests)
        table_end = closing(masked(tests, "go"), table.end() - 1) if table else -1
        if end < 0 or table is None or table_end < 0:
            raise SuiteProblem("the tests' table is not understood")
        tests = tests[: loop.start()] + "for _, tc := range tests { grpoShow(tc) }" + tests[end + 1 :]
        tests = tests.replace(tests[table.start() : table_end + 1], "").replace("[]test{", "[]interface{}{", 1)
    return re.sub(r"\bassert\s*:=\s*assert\.New\(t\)", "", tests)


def _ruby(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    for found, end, inside in _calls(tests, "ruby", r"\bassert_equal\s*\("):
        sides = parts(inside, masked(inside, "ruby"), ",")
        known = equation(f"({sides[-1]}) == ({','.join(sides[:-1])})", names, "ruby", kinds) if len(sides) > 1 else None
        yield _Found(found.start(), end + 1, known)


def _php(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    mask = masked(tests, "php")
    for found, end, inside in _calls(tests, "php", r"\bif\s*\("):
        # MultiPL-E: if (candidate(...) !== value) { throw new Exception("Test failed!"); }
        thrown = re.compile(r"\s*\{\s*throw\s+new\s+[^{}]*\}").match(mask, end + 1)
        sides = parts(inside, masked(inside, "php"), "!==")
        known = equation(f"({sides[0]}) == ({sides[1]})", names, "php", kinds) if len(sides) == 2 and thrown else None
        yield _Found(found.start(), thrown.end() if thrown else end + 1, known)


def _bash(tests: str, names: tuple[str, ...], kinds: dict[str, str]) -> Iterator[_Found]:
    # MultiPL-E: [[ $(candidate "...") = "..." ]]
    for found in re.finditer(r"(?ms)^[ \t]*\[\[ (\$\(candidate .*?\)) = (\".*?\"|'.*?'|\S+) \]\]$", tests):
        yield _Found(found.start(), found.end(), Equation(f'"{found[1]}"', found[2]))


_FINDERS = {
    "cpp": _cpp, "java": _java, "javascript": _script, "typescript": _script, "rust": _rust,
    "go": lambda tests, names, kinds: _go(tests, names, kinds), "ruby": _ruby, "php": _php, "bash": _bash,
}  # fmt: skip
