"""Reading JSON strictly and checking it against a schema, within bounds of size, depth and time."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from grpo_rewards.errors import printable
from grpo_rewards_plugins.answers import without_end
from grpo_rewards_plugins.blocks import marked_text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_DATA = ("const", "default", "enum", "examples")  # keywords that hold data, not schemas
_LONGEST_INTEGER = 300  # digits, so that every number also fits a float
_OUTER = re.compile(
    r"<(?=/?think>|[|｜]|/s>|eos>|pad>|end_of_)"
)  # begins what a chat's template writes around an answer
_INNER = "\ue000"  # stands for that "<" within a document: a character that no text has
_MOST_CUTS = 16

# of the context, since a validator is kept and shared by all threads
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


class DocumentProblem(ValueError):
    """A text is no JSON, or cannot be checked."""


# ------------------------------------------------------------------------------------------------ reading


def find_document(completion: str, place: str, tag: str, *, max_chars: int, max_depth: int) -> object:
    """Return the JSON document of a completion, in the place that `marked_text` finds.

    Where that is none, what looks like the end of reasoning or of a turn may be a text's own: then the document is one in which
    all such marks stand that come after an earlier ``</think>``, or that there are.

    Raises:
        DocumentProblem: there is none; see `read_document`.
    """
    source = marked_text(completion, place, tag)
    try:
        if source is None:
            raise DocumentProblem(f"no JSON found ({place})")
        return read_document(source, max_chars=max_chars, max_depth=max_depth)
    except DocumentProblem as problem:
        for inner in _spanning(completion, place, tag):
            try:
                return read_document(inner, max_chars=max_chars, max_depth=max_depth)
            except DocumentProblem:
                continue
        raise problem


def _spanning(completion: str, place: str, tag: str) -> Iterator[str]:
    """The texts in that place in which all marks of a chat stand that come behind an earlier end of the reasoning."""
    text = without_end(completion)
    if _INNER in text or _OUTER.search(text) is None:
        return
    ends = [end.end() for end in re.finditer("</think>", text)]
    for start in [*ends[-2:-_MOST_CUTS:-1], 0]:
        rest, count = _OUTER.subn(_INNER, text[start:])
        source = marked_text(rest, place, tag)
        if source is not None and source.count(_INNER) == count:
            yield source.replace(_INNER, "<")


def read_document(text: str, *, max_chars: int, max_depth: int) -> object:
    """Return the JSON document that `text` is, white space around it and a mark of byte order aside.

    Raises:
        DocumentProblem: it is none, repeats a key, holds NaN or infinity, or passes a bound.
    """
    text = text.strip().removeprefix("\ufeff").lstrip()
    if not text:
        raise DocumentProblem("the document is empty")
    if len(text) > max_chars:
        raise DocumentProblem(f"the document has {len(text)} characters, more than {max_chars}")
    try:
        document = json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except json.JSONDecodeError as problem:
        raise DocumentProblem(f"not JSON: {problem.msg} (line {problem.lineno}, column {problem.colno})") from None
    except RecursionError:
        raise DocumentProblem(f"the document is nested more than {max_depth} levels deep") from None
    if _deeper_than(document, max_depth):
        raise DocumentProblem(f"the document is nested more than {max_depth} levels deep")
    return document


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these pairs, for readers of JSON; raises `DocumentProblem` where a key stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DocumentProblem(f"the key {twice[:60]!r} stands twice in one object")
    return found


def _constant(word: str) -> object:
    raise DocumentProblem(f"{word} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise DocumentProblem(f"the number {digits[:40]} is too large")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise DocumentProblem(f"an integer has {len(digits)} digits, more than {_LONGEST_INTEGER}")
    return int(digits)


def _deeper_than(document: object, levels: int) -> bool:
    """Whether arrays and objects are nested more than `levels` deep, found without recursion."""
    layer = [document]
    for _ in range(levels + 1):
        layer = [part for whole in layer for part in _parts(whole)]
        if not layer:
            return False
    return True


def _parts(whole: object) -> list[object]:
    return list(whole.values()) if isinstance(whole, dict) else whole if isinstance(whole, list) else []


# ------------------------------------------------------------------------------------------------ checking


def check_schema(schema: Mapping[str, object]) -> None:
    """Refuse a schema that is none, or that refers to something outside itself; raises ValueError."""
    from jsonschema.exceptions import SchemaError

    try:
        validator = _validator(_written(schema))
    except SchemaError as problem:
        place = "/".join(str(part) for part in problem.absolute_path)
        raise ValueError(f"schema is not a JSON schema{f' (at {place})' if place else ''}: {problem.message}") from None
    _check_parts(schema)
    # a reference is followed only where a document leads: these find lost ones at the top before the first row
    samples: tuple[object, ...] = (None, {}, [])
    try:
        for sample in samples:
            _first(validator, sample, math.inf)
    except DocumentProblem as problem:
        raise ValueError(f"schema: {problem}") from None


def _check_parts(schema: Mapping[str, object]) -> None:
    """Refuse references that lead out, and patterns that cannot be searched."""
    from regex import error as BadPattern

    pending: list[object] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        if not isinstance(part, dict):
            continue
        reference, below = part.get("$ref"), part.get("patternProperties")
        if isinstance(reference, str) and not reference.startswith("#"):
            raise ValueError(f"schema refers to {reference!r}; references must lead within the schema (#/...)")
        # jsonschema would search these patterns with `re`, which nothing can stop
        if isinstance(below, dict) and below and "unevaluatedProperties" in part:
            raise ValueError("schema: unevaluatedProperties beside patternProperties is not supported")
        for pattern in (part.get("pattern"), *(below if isinstance(below, dict) else ())):
            if isinstance(pattern, str):
                try:
                    _compiled(pattern)
                except BadPattern as problem:
                    raise ValueError(f"schema: {pattern!r} is not a regular expression: {problem}") from None
        pending += [value for key, value in part.items() if key not in _DATA]


def first_violation(document: object, schema: Mapping[str, object], *, timeout: float) -> str | None:
    """Return where and how `document` breaks `schema`, or None where it keeps it.

    Raises:
        TimeoutError: checking took longer than `timeout` seconds.
        DocumentProblem: the check itself failed, since the schema refers to itself without end, say.
    """
    return _first(_validator(_written(schema)), document, time.monotonic() + timeout) if schema else None


def _first(validator: Validator, document: Any, deadline: float) -> str | None:
    from referencing.exceptions import Unresolvable

    token = _deadline.set(deadline)
    try:
        problem = next(validator.iter_errors(document), None)
    except Unresolvable as lost:
        raise DocumentProblem(f"a reference leads nowhere: {lost}"[:200]) from None
    except BaseException as error:
        # where Python's stack ends inside of rpds, which is Rust, that panics: no Exception, of a class without a home
        if not isinstance(error, RecursionError) and type(error).__name__ != "PanicException":
            raise
        raise DocumentProblem("checking goes too deep; does the schema refer to itself without end?") from None
    finally:
        _deadline.reset(token)
    if problem is None:
        return None
    place = "$" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else f"[{part!r}]"
        for part in problem.absolute_path
    )
    message = problem.message if len(problem.message) <= 160 else f"{problem.message[:80]} ... {problem.message[-60:]}"
    return printable(f"{place[:80]}: {message}")


def _written(schema: Mapping[str, object]) -> str:
    try:
        return json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as problem:
        raise ValueError(f"schema must be plain JSON: {problem}") from None


# by its JSON, since a mapping has no hash
@lru_cache(maxsize=64)
def _validator(written: str) -> Validator:
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry

    schema = json.loads(written)
    base = validator_for(schema, default=Draft202012Validator)
    base.check_schema(schema)
    # instead of jsonschema's own: those search with `re`, which cannot be stopped, compare each item with each, and divide floats
    known = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
        "$ref": _timed(base.VALIDATORS["$ref"]),
    }
    if (dynamic := base.VALIDATORS.get("$dynamicRef")) is not None:
        known["$dynamicRef"] = _timed(dynamic)
    # an empty registry: jsonschema's own would fetch a reference from the network
    made: Validator = extend(base, known)(schema, registry=Registry())  # type: ignore[no-untyped-call]
    return made


def _left() -> float:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _timed(check: Callable[..., Iterator[object]]) -> object:
    """The same check within the deadline: what takes exponential time goes through references."""

    def checked(validator: Validator, value: object, instance: object, schema: object) -> Iterator[object]:
        _left()
        yield from check(validator, value, instance, schema) or ()

    return checked


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    import regex

    return regex.compile(pattern)


def _found(pattern: str, text: str) -> bool:
    left = _left()
    return _compiled(pattern).search(text, timeout=None if left == math.inf else left) is not None


def _pattern(_validator: Validator, pattern: str, instance: object, _schema: object) -> Iterator[object]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Validator, patterns: Mapping[str, object], instance: object, _schema: object
) -> Iterator[object]:
    if isinstance(instance, dict):
        for pattern, below in patterns.items():
            for key, value in instance.items():
                if _found(pattern, key):
                    yield from validator.descend(value, below, path=key, schema_path=pattern)  # type: ignore[attr-defined]


def _additional_properties(validator: Validator, below: object, instance: object, schema: Any) -> Iterator[object]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in named or any(_found(pattern, key) for pattern in patterns):
            continue
        if below is False:
            yield ValidationError(f"the property {key[:60]!r} is not allowed")
        else:
            yield from validator.descend(value, below, path=key)  # type: ignore[attr-defined]


def _unique_items(_validator: Validator, wanted: bool, instance: object, _schema: object) -> Iterator[object]:
    """Compare items by what they are written as: linear, where comparing each with each is not."""
    from jsonschema.exceptions import ValidationError

    if wanted and isinstance(instance, list):
        seen: set[str] = set()
        for item in instance:
            written = json.dumps(_plain(item), sort_keys=True)
            if written in seen:
                yield ValidationError(f"the item {written[:60]} stands twice")
                return
            seen.add(written)


def _multiple_of(_validator: Validator, unit: float, instance: object, _schema: object) -> Iterator[object]:
    """Divide what is written: 19.99 is a multiple of 0.01, which no float of either is."""
    from jsonschema.exceptions import ValidationError

    if (
        isinstance(instance, int | float)
        and not isinstance(instance, bool)
        and Fraction(str(instance)) % Fraction(str(unit))
    ):
        yield ValidationError(f"{instance!r} is not a multiple of {unit}")


def _plain(item: object) -> object:
    """The item with every whole float as an integer: JSON schema holds 1 and 1.0 equal."""
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, list):
        return [_plain(part) for part in item]
    if isinstance(item, dict):
        return {key: _plain(part) for key, part in item.items()}
    return item
