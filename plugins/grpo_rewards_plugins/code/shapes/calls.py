"""Tests that call a function or a method of ``class Solution`` with values.

Read are arguments as a list, by name in a mapping, or as text with one JSON value per line, as LiveCodeBench and PRIME have
them. Where arguments are lists and every result of the row is a list of one, results are wrapped, as APPS wraps them, unless
the row's signature says that lists of one are what is returned.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.pairs import INPUTS, OUTPUTS, STDIO, Tests, is_call, lists_of, only, refuse_others
from grpo_rewards_plugins.code.shapes.written import Parts, written
from grpo_rewards_plugins.code.suite import Calls
from grpo_rewards_plugins.code.values.text import parts

Arguments = list[object] | dict[str, object]
"""The arguments of a call, by place or by name."""

_TEXTS = ("starter_code", "prompt", "code_prompt", "query", "question", "question_content", "problem", "prompts")
_IN_PLACE = re.compile(r"(?i)do not return anything(?:,? modify `?(\w+)`? in[- ]place)?")
_NODES = re.compile(r"\b(ListNode|TreeNode)\b")
_TOLD = re.compile(r"\b(?:ListNode|TreeNode)\b|(?i:linked list|binary (?:search )?tree)")
# in C; NaN raises there, so that only values which cannot be written are walked through for the reason
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_DIGITS = 4000  # an integer that is longer cannot be written in decimals everywhere
_NOT_FINITE = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.S)  # in marshal, as some other values too
_LARGEST, _LONG = 10**_DIGITS, re.compile(rf"\d{{{_DIGITS + 1}}}")


def called_name(tests: Tests, columns: Mapping[str, object]) -> str:
    """Return the function that the tests call by their own words or the row's; empty where they call none.

    Raises:
        SuiteProblem: they call something, and it is not known what, or several names are given.
    """
    metadata = from_json(columns.get("metadata"))
    names = {_name(columns.get("fn_name")), _name(columns.get("func_name"))}
    names.add(_name(metadata.get("func_name")) if isinstance(metadata, Mapping) else "")
    cases = [tests] if isinstance(tests, Mapping) else tests
    called = [case for case in cases if is_call(case)]
    for case in called:
        inner = from_json(case.get("metadata"))
        names |= {_name(case.get(key)) for key in ("fn_name", "func_name")}
        names.add(_name(inner.get("func_name")) if isinstance(inner, Mapping) else "")
    names.discard("")
    if called and not names:
        raise SuiteProblem("the tests call a function and do not say which")
    if 0 < len(called) < len(cases) or (names and columns.get("test_case_type") in STDIO):
        raise SuiteProblem("some of the row says that the tests call a function, and some that they do not")
    if len(names) > 1:
        raise SuiteProblem(f"the tests name several functions: {', '.join(sorted(names)[:3])}")
    return next(iter(names), "")


def _name(value: object) -> str:
    if is_blank(value):
        return ""
    if not isinstance(value, str) or not value.isidentifier():
        raise SuiteProblem(f"the tests call {str(value)[:60]!r}, which is no name of a function")
    if value.startswith("__"):  # APPS' design problems: what the made object is asked is not in the row
        raise SuiteProblem(
            f"the tests call {value!r}, a method that Python calls itself, so they are not of a function"
        )
    return value


def read_calls(name: str, tests: Tests, columns: Mapping[str, object]) -> Calls:
    """Return the tests of `name` as calls.

    Raises:
        SuiteProblem: arguments or results are no JSON, contradict each other, or need more than a call.
    """
    if isinstance(tests, Mapping):
        given, wanted = lists_of(tests)
        if given:
            refuse_others(tests, calls=True)
    else:
        for case in tests:
            refuse_others(case, calls=True)
        given, wanted = [only(case, INPUTS) for case in tests], [only(case, OUTPUTS) for case in tests]
    if not given:
        raise SuiteProblem("the list of tests is empty", kind="vacuous")
    signature = _Signature.of(name, columns)
    given, wanted = ([*map(plain, some)] if type(some) is not Parts else some for some in (given, wanted))
    if all(isinstance(one, str) for one in given):
        arguments = [[_value(line) for line in one.splitlines() if line.strip()] for one in given]
        return _calls(arguments, list(map(_line, wanted)), signature, are_json=True)
    types = set(map(type, given))
    if not any(all(issubclass(one, kind) for one in types) for kind in (dict, (list, tuple))):
        kinds = ", ".join(sorted(one.__name__ for one in types))
        raise SuiteProblem(f"the arguments of a call are a list, or text with a JSON value per line, not {kinds}")
    results = _all_written(wanted, wrapped=_are_wrapped(wanted, signature))
    return _calls(given, results, signature, are_json=type(given) is Parts)


def calls_of(name: str, pairs: Sequence[tuple[Arguments, object]], columns: Mapping[str, object]) -> Calls:
    """Return calls with arguments (a list, or a mapping by name) and results, none twice.

    Raises:
        SuiteProblem: two contradict each other, a value is no JSON, or the row does not say how its nodes are written.
    """
    given, wanted = [one for one, _ in pairs], [_written(other) for _, other in pairs]
    return _calls(given, wanted, _Signature.of(name, columns))


def _calls(given: Sequence[Arguments], results: list[str], signature: _Signature, *, are_json: bool = False) -> Calls:
    """Return calls with arguments and with results as `_written` writes them; `are_json`: no argument has to be made JSON."""
    given = given if are_json else [json.loads(_written(one)) for one in given]
    calls = _packed(given)
    # equal calls are equal bytes; duplicates would count twice in a fraction
    known = dict(zip(calls, results, strict=True))
    if len(known) < len(calls):
        for call, arguments, wanted in zip(calls, given, results, strict=True):
            if wanted != known[call]:
                raise SuiteProblem(
                    f"two tests have the same arguments and different results: {_encode(arguments)[:60]} gives {wanted[:30]}",
                    kind="contradictory",
                )
    signature.check(given, nothing=all(wanted == "null" for wanted in results))
    return Calls(tuple(known.items()), signature.shapes, signature.returned(given))


def _packed(given: Sequence[Arguments]) -> list[bytes]:
    """Calls as the sandbox takes them, with the arguments of each, out of JSON, in a list or by name."""
    from grpo_rewards_sandbox import pack_calls

    try:
        calls = pack_calls(given)
    except ValueError:
        raise SuiteProblem("a test holds a value that is nested too deeply") from None
    if _NOT_FINITE.search(b"".join(calls)):
        for call, one in zip(calls, given, strict=True):
            if _NOT_FINITE.search(call):
                _refuse_values(one)
    return calls


def parameters_of(name: str, columns: Mapping[str, object]) -> list[str]:
    """Return the parameters of a function in their order, empty where the row's texts do not say."""
    return [parameter for parameter, _ in _Signature.of(name, columns).parameters]


def _all_written(values: Sequence[Any], *, wrapped: bool = False) -> list[str]:
    """Each value as `_written` writes it; `wrapped`: each is a list of one, and what is in it is meant."""
    if not isinstance(values, Parts):
        return [_written(value[0] if wrapped else value) for value in values]
    found = values.written()
    for place, text in enumerate(found):
        if not text or (len(text) > _DIGITS and _LONG.search(text)):
            # a short text cannot hold a long integer, and need not be searched
            found[place] = _written(values[place][0] if wrapped else values[place])
        elif wrapped:
            found[place] = text[1:-1]  # the brackets of the list of one
    return found


def _are_wrapped(results: Sequence[Any], signature: _Signature) -> bool:
    """Whether results are in the list of one that APPS puts each of them in."""
    if not all(issubclass(kind, list) for kind in set(map(type, results))) or set(map(len, results)) != {1}:
        return False
    return not signature.gives_lists or all(isinstance(one[0], list) for one in results)


def _line(text: Any) -> str:
    """JSON as `_written` writes it."""
    value = _value(text)
    return (written(text.strip()) if len(text) <= _DIGITS else "") or _written(value)


def _value(text: Any) -> object:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise SuiteProblem(f"an argument or result of a call is no JSON: {str(text)[:60]!r}") from None


def _written(value: object) -> str:
    """A value as JSON, in which tuples are lists."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError):
        text = ""
    if not text or (len(text) > _DIGITS and _LONG.search(text)):
        _refuse_values(value)
    if not text:
        raise SuiteProblem("a test holds a value that is no JSON")
    return text


def _refuse_values(value: object) -> None:
    """Refuse a value that has no JSON, or none that can be read everywhere.

    Raises:
        SuiteProblem: says which part it is.
    """
    for part in _parts(value):
        if isinstance(part, float) and not math.isfinite(part):
            raise SuiteProblem("a test holds NaN or infinity")
        if isinstance(part, int) and not -_LARGEST < part < _LARGEST:
            raise SuiteProblem(f"a test holds an integer of more than {_DIGITS} digits")
        if part is not None and not isinstance(part, bool | int | float | str | list | tuple | dict):
            raise SuiteProblem(f"a test holds a {type(part).__name__}, which is no JSON")


def _parts(value: object) -> Iterator[object]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part


# ------------------------------------------------------------------------------------------------ what the row says of the function


class _Signature:
    """What a row's texts say of the function: which arguments are nodes, what it returns, what it changes in place."""

    def __init__(self, parameters: list[tuple[str, str]], result: str, texts: str) -> None:
        self.parameters = parameters
        shapes = tuple(map(_shape, (note for _, note in parameters)))
        self.shapes = shapes if any(shapes) else ()  # none where all are plain
        self._texts = texts
        self.gives_lists = bool(re.match(r"(?:Optional\[)?(?:List|list|Tuple|tuple|Set|set)\b", result))
        self.returns = _shape(result)
        self._changed: int | None = None  # the place of the argument that is changed in place
        place = _IN_PLACE.search(texts) if result in ("", "None") else None
        if place is not None or result == "None":
            names = [name for name, _ in parameters]
            named = place[1] if place is not None else None
            self._changed = names.index(named) if named in names else 0

    @classmethod
    def of(cls, name: str, columns: Mapping[str, object]) -> _Signature:
        texts = [text for column in _TEXTS if isinstance(text := columns.get(column), str)]
        head = re.compile(rf"\bdef {re.escape(name)}\(([^()]{{0,1000}})\)\s*(?:->\s*([^:\n]{{1,200}}))?")
        match = next((found for text in texts if (found := head.search(text))), None)
        if match is None:
            return cls([], "", "\n".join(texts))
        given = [part for part in parts(match[1], match[1], ",") if part.split(":")[0].strip() not in ("self", "")]
        parameters = [(part.split(":")[0].strip(), part.partition(":")[2].partition("=")[0].strip()) for part in given]
        return cls(parameters, (match[2] or "").strip().strip("'\""), "\n".join(texts))

    def check(self, given: Sequence[object], *, nothing: bool) -> None:
        """Refuse calls with arguments of which it is not known what they are; `nothing`: each is to return None.

        Raises:
            SuiteProblem: says what the row speaks of.
        """
        nodes = bool(self.shapes) or bool(_NODES.search(self.returns))
        if nodes and any(isinstance(one, dict) for one in given):
            raise SuiteProblem("the task is about nodes, and its arguments are given by name")
        if not self.parameters and (told := _TOLD.search(self._texts)):
            raise SuiteProblem(f"the task is about {told[0]!r}, and which arguments are nodes is not said")
        if self._changed is not None and nothing:
            raise SuiteProblem("the function returns nothing, and the tests do not say what it changes")

    def returned(self, given: Sequence[Arguments]) -> str:
        """What the calls return, as the sandbox takes it; where they change an argument, its place and its name.

        Raises:
            SuiteProblem: a call does not give the argument that the function changes.
        """
        if self._changed is None:
            return self.returns
        place = self._changed
        names = [name for name, _ in self.parameters] or list(
            {name: 0 for one in given if isinstance(one, dict) for name in one}
        )
        # without a signature a single name leaves no choice
        name = names[place] if self.parameters or len(names) == 1 else ""
        if not all(name in one if isinstance(one, dict) else place < len(one) for one in given):
            raise SuiteProblem("the function changes an argument in place, and not every test says which one that is")
        return f"argument {place} {name}".rstrip()


def _shape(note: str) -> str:
    """``ListNode``, ``[ListNode]``, or empty for what is no node."""
    found = _NODES.search(note)
    if found is None:
        return ""
    return f"[{found[1]}]" if re.match(r"(?:Optional\[)?(?:List|list)\[", note.strip("'\"")) else found[1]
