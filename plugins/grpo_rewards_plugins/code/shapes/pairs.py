"""Tests of a whole program: texts in and texts out, in the shapes that data sets write them.

A shape is read only where all of it is understood: keys that are read, keys that change no verdict, and everything else
is refused by its name. Tests that call a function look the same but for a key or two, and a right program fails them here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.written import from_json_with_texts

Pair = tuple[str, str]
"""Standard input and the standard output that is expected of it."""

Tests = Mapping[str, object] | Sequence[Mapping[str, object]]
"""The tests of a row: ``{"inputs": [...], "outputs": [...]}``, or a mapping each."""

INPUTS = {"input": "stdin", "stdin": "stdin", "inputs": "stdin"}
OUTPUTS = {"output": "stdout", "expected_output": "stdout", "stdout": "stdout", "outputs": "stdout"}
_CALLED = ("fn_name", "func_name", "class_name")
_KINDS = ("testtype", "type", "test_case_type", "test_type")
STDIO = ("stdin", "stdin_stdout", "stdio", "standard_input")
_CALLS = ("functional", "function_call", "call_based", "fn_name")
_CHANGE_NOTHING = frozenset(
    [
        "comment", "description", "explanation", "hidden", "id", "idx", "index", "is_example", "is_hidden", "is_public",
        "is_sample", "is_synthesized", "note", "number", "public", "test_case_id", "test_id", "test_name", "visible",
    ]
)  # fmt: skip
_ASSIGNED = re.compile(r"[A-Za-z_]\w* = \S")
_CUT_AFTER = 250  # characters; the site that cuts its tests does so after about 400

_SAID_CUT = re.compile(
    r"(?:\.\.\.|…) ?[\[(<]?(?:\d+ more|(?:output |input )?(?:truncated|omitted))\b[^\n]{0,40}\s*\Z", re.I
)


def read_pairs(tests: Tests, *, judged: bool = False) -> tuple[Pair, ...]:
    """Read a list of ``{input, output}``, or ``{inputs: [...], outputs: [...]}``; `judged`: a checker looks at outputs.

    Raises:
        SuiteProblem: they call a function, hold a key that is not known, contradict each other, or expect nothing.
    """
    pairs = tuple(_pair(case) for case in cases_of(tests))
    if not pairs:
        raise SuiteProblem("the list of tests is empty", kind="vacuous")
    expected: dict[str, tuple[int, list[str]]] = {}
    for number, (given, wanted) in enumerate(pairs, 1):
        first, tokens = expected.setdefault(given, (number, wanted.split()))
        # by tokens, as they are judged: other blanks at the ends are no contradiction, and a checker may take both
        if tokens != wanted.split() and not judged:
            raise SuiteProblem(
                f"tests {first} and {number} have the same input and different outputs", kind="contradictory"
            )
        for text in (given, wanted):
            # a short text may end in three dots of its own
            if len(text) >= _CUT_AFTER and text.rstrip().endswith("..."):
                raise SuiteProblem(f"test {number} is cut short: it ends in '...' after {len(text)} characters")
            if (said := _SAID_CUT.search(text)) is not None:
                raise SuiteProblem(f"test {number} is cut short: it ends in {said[0].strip()!r}")
    # a program that prints nothing would pass
    if not judged and not any(wanted.strip() for _, wanted in pairs):
        raise SuiteProblem("no test expects any output", kind="vacuous")
    if all(_ASSIGNED.match(given) for given, _ in pairs):
        raise SuiteProblem(f"the inputs are written for people, as in {pairs[0][0][:60]!r}, not as programs read them")
    return pairs


def is_call(case: Mapping[str, object]) -> bool:
    """Whether a test, or the mapping of all, says of itself that it is a call."""
    inner = from_json(case.get("metadata"))
    return (
        any(not is_blank(case.get(name)) for name in _CALLED)
        or any(case.get(name) in _CALLS for name in _KINDS)
        or (isinstance(inner, Mapping) and is_call(inner))
    )


def cases_of(tests: Tests) -> Sequence[Mapping[str, object]]:
    """Return tests one by one: a list, or ``{"inputs": [...], "outputs": [...]}``, as APPS and TACO have it."""
    if not isinstance(tests, Mapping):
        return tests
    shared = {key: value for key, value in tests.items() if key not in INPUTS and key not in OUTPUTS}
    return [{"input": one, "output": other, **shared} for one, other in zip(*lists_of(tests), strict=True)]


def lists_of(tests: Mapping[str, object]) -> tuple[Sequence[object], Sequence[object]]:
    """Return the inputs and the outputs of ``{"inputs": [...], "outputs": [...]}``, or of one test alone.

    Raises:
        SuiteProblem: they are no lists of one length.
    """
    if tests.keys().isdisjoint((*INPUTS, *OUTPUTS)):
        keys = ", ".join(repr(str(key)[:60]) for key in list(tests)[:6])
        raise SuiteProblem(f"the tests hold no inputs and outputs, but the keys {keys or '(none)'}")
    given, wanted = only(tests, INPUTS), only(tests, OUTPUTS)
    if isinstance(given, str) and isinstance(wanted, str):
        if "inputs" not in tests and "outputs" not in tests:
            return [given], [wanted]
        given, wanted = from_json_with_texts(given), from_json_with_texts(wanted)
    if not isinstance(given, list | tuple) or not isinstance(wanted, list | tuple) or len(given) != len(wanted):
        raise SuiteProblem("tests must have as many inputs as outputs, in lists")
    return given, wanted


def _pair(case: Mapping[str, object]) -> Pair:
    refuse_others(case)
    return _text(only(case, INPUTS), "stdin"), _text(only(case, OUTPUTS), "stdout")


def only(case: Mapping[str, object], names: Mapping[str, str]) -> object:
    """The value of whichever of the names is there; of several, they must agree."""
    found = [plain(case[name]) for name in names if name in case]
    if any(value != found[0] for value in found):
        raise SuiteProblem(f"a test has different values under {' and '.join(name for name in names if name in case)}")
    return found[0] if found else None


def refuse_others(case: Mapping[str, object], *, calls: bool = False) -> None:
    """Refuse a test that holds a key which is not known, or is not what the others are; `calls`: it is to be a call.

    Raises:
        SuiteProblem: names the key.
    """
    for key, value in case.items():
        if key in INPUTS or key in OUTPUTS or key in _CHANGE_NOTHING or is_blank(value):
            continue
        if key in _KINDS and isinstance(value, str):
            if value in (_CALLS if calls else STDIO):
                continue
            raise SuiteProblem(
                f"tests of {key} {value[:60]!r} are not read here; known are {', '.join(STDIO + _CALLS)}"
            )
        if key == "metadata" and isinstance(inner := from_json(value), Mapping):
            refuse_others(inner, calls=calls)
            continue
        if calls and key in _CALLED:
            continue
        raise SuiteProblem(
            f"the tests hold a key that is not known, so it is not known what they ask: {str(key)[:60]!r}"
        )


def _text(value: object, stream: str) -> str:
    """A text; a number, as a program reads and writes it; a list of lines; or ``{"stdin": text}``, a mapping of file names with no other file."""
    if isinstance(value, Mapping):
        others = [name for name in value if name != stream and not is_blank(value[name])]
        if others or stream not in value:
            raise SuiteProblem(
                f"a test reads or writes a file ({str((others or [*value, '?'])[0])[:60]!r}), not {stream}"
            )
        value = value[stream]
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        # APPS has lists of lines in some rows, with and without their line breaks
        return "\n".join(line.removesuffix("\n") for line in value)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return f"{Decimal(repr(value)):f}"  # without an exponent, which no program prints of itself
    if not isinstance(value, str):
        side = "input" if stream == "stdin" else "output"
        raise SuiteProblem(
            f"the {side} of a test is no text but {value!r:.60}: write what a program reads and prints "
            "(calls of a function need its name, as fn_name)"
        )
    return value
