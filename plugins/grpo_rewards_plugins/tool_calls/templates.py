"""Calls as the chat templates of models write them: Hermes and Qwen, Qwen3-Coder, Llama 3, Mistral."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from grpo_rewards_plugins.blocks import between_tags
from grpo_rewards_plugins.documents import DocumentProblem, unique_keys
from grpo_rewards_plugins.tool_calls.literals import Ambiguous, Calls, Unreadable, python_calls

LONGEST = 1_000_000
"""Characters of calls that are read."""
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)
_BETWEEN = re.compile(r"[\s;]*")  # Llama divides calls by semicolons
_NAMED_BEFORE = re.compile(r"([\w.\-/]{1,200})(?:\[CALL_ID\][\w\-]{1,200})?(?:\[ARGS\]|(?=\{))")


class NoJson(Unreadable):
    """A text is no JSON, which is passed over between other calls."""


Functions = Sequence[Mapping[str, object]]
"""The functions that a row describes."""


def calls_in_template(text: str, functions: Functions) -> Calls | None:
    """Return the calls behind the first mark that a template has for them; None where the text has none.

    `functions` say what is text, where a template writes a text and a number alike.

    Raises:
        Unreadable: there is a mark, and what follows cannot be read, which is `Ambiguous`, or is too long.
    """
    # most texts without a mark have none of these, which spares them eleven searches
    if "<" not in text and "[TOOL_CALLS]" not in text and "✿" not in text:
        return None
    at, mark = min(((at, mark) for mark in (*_READERS, *_UNREAD) if (at := text.find(mark)) >= 0), default=(-1, ""))
    if at < 0:
        return None
    if len(text) > LONGEST:
        raise Unreadable(f"{len(text)} characters are too many for calls")
    try:
        calls = _READERS[mark](text[at:], functions) if mark in _READERS else []
    except Ambiguous:
        raise
    except Unreadable:
        calls = []
    if not calls:
        raise Ambiguous(f"a call begins ({mark}), and none can be read")
    return calls


def call_of(call: object, once: bool = True) -> dict[object, object]:
    """A call as chat APIs and models write it: an object or ``{"function": object}``, its `arguments` (`parameters`) maybe as JSON."""
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping):
        raise Unreadable("a tool call is no object")
    arguments = inner.get("arguments", inner.get("parameters"))
    return named(
        {**inner, "arguments": read_json(arguments or "{}", once) if isinstance(arguments, str) else arguments}
    )


def named(call: object) -> dict[object, object]:
    """``{name, arguments}`` as ``{name: arguments}``."""
    if not isinstance(call, dict) or "name" not in call or not isinstance(call.get("arguments"), dict):
        raise Unreadable("a call has no name or no arguments")
    try:
        return {call["name"]: call["arguments"]}
    except TypeError:
        raise Unreadable("a call's name is no text") from None


def read_json(text: str, once: bool = True) -> object:
    """What a text holds as JSON; with `once` no key may stand twice in an object.

    Raises:
        NoJson: it is none.
        Ambiguous: a key stands twice.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"{len(text)} characters are too many for calls")
    with _decoding():
        return json.loads(text, object_pairs_hook=unique_keys if once else None)


@contextmanager
def _decoding() -> Iterator[None]:
    try:
        yield
    except DocumentProblem as problem:
        raise Ambiguous(str(problem)) from None
    except (ValueError, RecursionError):
        raise NoJson("not JSON") from None


def documents(text: str) -> list[object]:
    """The JSON documents of a text, one behind the other or in a list.

    Raises:
        NoJson: there are none, or something else stands between them.
        Ambiguous: a key stands twice in an object.
    """
    found: list[object] = []
    at = len(_BETWEEN.match(text)[0])  # type: ignore[index]  # it matches nothing at least
    while at < len(text):
        with _decoding():
            document, at = _DECODER.raw_decode(text, at)
        found += document if isinstance(document, list) else [document]
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
    return found


def _hermes(text: str, functions: Functions) -> Calls:
    """JSON in tags; what is no JSON is skipped, as in BFCL's handler of Qwen."""
    found: Calls = []
    for inside in between_tags(text, "<tool_call>", "</tool_call>"):
        if inside.lstrip().startswith("<function="):
            found += _functions(inside, functions)
            continue
        with suppress(NoJson):
            found.append(call_of(read_json(inside)))
    return found


def _functions(text: str, functions: Functions) -> Calls:
    """``<function=NAME>`` with JSON (Llama 3.1), or with ``<parameter=NAME>`` for each argument (Qwen3-Coder)."""
    found: Calls = []
    for inside in between_tags(text, "<function=", "</function>"):
        name, _, given = inside.partition(">")
        if "<parameter=" not in given:
            found.append(named({"name": name, "arguments": read_json(given.strip() or "{}")}))
            continue
        arguments, texts = {}, _texts(functions, name)
        for part in between_tags(given, "<parameter=", "</parameter>"):
            key, _, value = part.partition(">")
            if key in arguments:
                raise Ambiguous(f"the key {key[:60]!r} stands twice in one object")
            value = value.removeprefix("\n").removesuffix("\n")
            arguments[key] = value if key in texts else _unquoted(value)
        found.append({name: arguments})
    return found


def _texts(functions: Functions, name: str) -> frozenset[str]:
    """The parameters of a function that are described as text."""
    found: list[str] = []
    for function in functions:
        parameters = function.get("parameters")
        if function.get("name") == name and isinstance(parameters, Mapping):
            described = parameters.get("properties", parameters)  # xLAM has them there at once
            types = {key: part.get("type") for key, part in described.items() if isinstance(part, Mapping)}
            found += [key for key, kind in types.items() if kind in ("string", "str")]
    return frozenset(found)


def _unquoted(value: str) -> object:
    """An argument that is no text by its description: what it is as JSON, else the text all the same."""
    with suppress(NoJson):
        return read_json(value.lower() if value in ("True", "False") else value)
    return value


def _llama(text: str, _functions: Functions) -> Calls:
    """JSON behind the mark, or Python."""
    behind = text.removeprefix("<|python_tag|>").strip()
    return [*map(call_of, documents(behind))] if behind[:1] == "{" else python_calls(behind, once=True)


def _mistral(text: str, _functions: Functions) -> Calls:
    """A list of JSON, or a name with its arguments behind each mark."""
    return [call for part in text.split("[TOOL_CALLS]")[1:] for call in _of_part(part.strip())]


def _of_part(part: str) -> Iterator[dict[object, object]]:
    if (head := _NAMED_BEFORE.match(part)) is not None:
        yield named({"name": head[1], "arguments": read_json(part[head.end() :])})
    else:
        yield from map(call_of, documents(part))


_READERS: Mapping[str, Callable[[str, Functions], Calls]] = {
    "<tool_call>": _hermes,
    "<function=": _functions,
    "<|python_tag|>": _llama,
    "[TOOL_CALLS]": _mistral,
}
# of DeepSeek, Kimi, Granite and Phi, InternLM, gpt-oss: a call in one of these is a call all the same
_UNREAD = (
    "<｜tool▁call", "<|tool_call", "<|action_start|>", "<functioncall>", " to=functions.", "✿FUNCTION✿", "<tool_calls>",
)  # fmt: skip
