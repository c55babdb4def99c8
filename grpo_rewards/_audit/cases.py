"""What is cheated on: a row's columns with what is known of its right and wrong answers."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from grpo_rewards._contract.text import content_text
from grpo_rewards.errors import ConfigError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite
    from grpo_rewards._composition.component import Component

GOLD_COLUMNS = (
    "answer", "solution", "gold", "ground_truth", "label", "reference", "expected", "final_answer", "correct_answer",
)  # fmt: skip
_TESTS = ("tests", "test", "test_list")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_IMPORTED = re.compile(r"\bfrom\s+solution\s+import\s+([\w, ]+)")
# what tests call and no candidate is asked to write
_NO_FUNCTION = frozenset((*dir(builtins), *keyword.kwlist, "approx", "check", "isclose", "raises", "test"))


@dataclass(frozen=True, slots=True)
class Case:
    """A row to cheat on.

    `columns` are the data's columns (with ``prompt``, without ``completion``). `golds` are its right answers as texts,
    as far as the columns tell them; a cheat may scatter them, since a model learns to scatter likely answers. `wrong`
    are plausible wrong ones. `functions` are the names that its tests call, empty where there are no tests; `stdio`
    says that its tests run a program on standard input. `formats` are the tag sequences that the configuration speaks
    of, `documents` JSON texts that it may ask for. `chat` says that completions are lists of messages.
    """

    name: str
    columns: Mapping[str, object]
    golds: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ("43",)
    functions: tuple[str, ...] = ()
    stdio: bool = False
    formats: tuple[tuple[str, ...], ...] = ()
    documents: tuple[str, ...] = ()
    chat: bool = False

    @property
    def prompt_text(self) -> str:
        """The prompt's last message, as text."""
        prompt = self.columns.get("prompt")
        if not isinstance(prompt, list):
            return prompt if isinstance(prompt, str) else ""
        asked = [message for message in prompt if isinstance(message, Mapping) and message.get("role") != "system"]
        return content_text(asked[-1].get("content")) if asked else ""

    @property
    def is_program(self) -> bool:
        """Whether the row wants a program."""
        return bool(self.functions) or self.stdio


# ------------------------------------------------------------------------------------------------ built-in rows

_ASK = "Answer the question. Think first, then give the final answer.\n\n"
_PROMPTS = {
    "42": "A box holds 6 rows of 7 apples. How many apples are in it?",
    "B": "Which is a prime number? A) 9 B) 7 C) 15 D) 21",
}
_CODE = {
    "tests": "from solution import add\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(-1, 1) == 0\n\n"
    "def test_more():\n    assert add(10, 20) == 30\n",
    "prompt": "Write a Python function add(a, b) that returns the sum of two numbers.",
}
_PACKS: dict[str, dict[str, dict[str, object]]] = {  # by the setting `rule`, for rewards that have one
    "instructions": {
        "": {
            "instruction_id_list": ["length_constraints:number_words", "keywords:existence", "punctuation:no_comma"],
            "kwargs": [{"num_words": 40, "relation": "at least"}, {"keywords": ["orchard", "ladder"]}, None],
        }
    },
    "tool_calls": {
        "bfcl": {
            "ground_truth": [{"multiply": {"a": [6], "b": [7]}}],
            "functions": [
                {"name": "multiply", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}
            ],
        },
        "toolrl": {
            "ground_truth": "<think> A product. </think>\n<tool_call>\n"
            '{"name": "multiply", "parameters": {"a": 6, "b": 7}}\n</tool_call>'
        },
        "exact": {"answers": [{"name": "multiply", "arguments": {"a": 6, "b": 7}}]},
    },
}
_KNOWN: dict[str, object] = {
    "numbers": [3, 7, 8],
    "target": 32,
    "choices": ["9", "7", "15", "21"],
    "completion_ids": None,
}
_PLAIN = ("answer", "solution", "gold", "ground_truth", "label", "reference", "expected")


def sample_cases(composite: Composite) -> list[Case]:
    """Return built-in rows on which each component applies.

    Raises:
        ConfigError: a component needs a column for which there is no built-in value; then a file must be given.
    """
    cases: dict[str, Case] = {}
    # those that need rows of their own first: all others are tried on these
    for component in sorted(composite.components, key=_wants_a_row, reverse=True):
        if cases and not _wants_a_row(component):
            continue  # it applies to those that are there
        for name, columns in _rows_for(component, composite):
            case = _case(f"{component.name} ({name})", columns, composite, chat=True)
            # by name: values have no order
            cases.setdefault(repr(sorted(columns.items(), key=lambda item: item[0])), case)
    return list(cases.values())


def _rows_for(component: Component, composite: Composite) -> Iterator[tuple[str, dict[str, object]]]:
    """Rows on which `component` applies, with what the other components that apply there need."""
    for name, kind in _kinds(component):
        columns: dict[str, object] = {}
        if (when := component.when) is not None:
            if when.present is False:
                continue
            value = when.any_of[0] if when.any_of else when.equals if when.present is None else "1"
            columns[when.column] = value
        for other in (component, *composite.components):
            condition = other.when
            if other is not component and condition is not None and not condition.holds(columns.get(condition.column)):
                continue
            _fill(other, kind if other is component else None, columns)
        columns.setdefault("prompt", _ASK + _PROMPTS.get(str(columns.get("answer")), _PROMPTS["42"]))
        if isinstance(columns["prompt"], str):
            columns["prompt"] = [{"role": "user", "content": columns["prompt"]}]
        yield name, columns


def _wants_a_row(component: Component) -> bool:
    """Whether rows for other components cannot show what it does."""
    reads = {parameter.name for parameter in component.reward.shape.data}
    return component.when is not None or bool(component.reward.required_columns) or bool(reads & set(_TESTS))


def _kinds(component: Component) -> list[tuple[str, dict[str, object]]]:
    reward = component.reward
    wanted = {p.name for p in reward.shape.data}
    if wanted & set(_TESTS):
        asserts = {"tests": ["assert add(2, 3) == 5", "assert add(-1, 1) == 0", "assert add(10, 20) == 30"]}
        stdio = {"tests": [{"input": "2 3\n", "output": "5\n"}, {"input": "10 20\n", "output": "30\n"}],
                 "prompt": "Write a Python program that reads two numbers from one line and prints their sum."}  # fmt: skip
        human = {"tests": "def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(10, 20) == 30\n",
                 "entry_point": "add"}  # fmt: skip
        found: dict[str, dict[str, object]] = {
            "pytest": {**_CODE},
            "asserts": {**_CODE, **asserts},
            "humaneval": {**_CODE, **human},
            "stdio": {**stdio},
        }
        fixed = reward.settings.get("format", "auto")
        return [(name, kind) for name, kind in found.items() if fixed in ("auto", name)]
    if reward.name == "multiple_choice":
        return [("choice", {"answer": "B"})]
    if reward.name in _PACKS:
        return [("row", _PACKS[reward.name][str(reward.defaults.get("rule", ""))])]
    if "answer" in reward.required_columns or wanted & set(_PLAIN):
        numbers = (
            {"whole number": "42", "fraction": "3/4"} if reward.name in ("math", "exact") else {"whole number": "42"}
        )
        return [(name, dict.fromkeys(_PLAIN, text)) for name, text in numbers.items()]
    return [("row", {})]


def _fill(component: Component, kind: Mapping[str, object] | None, columns: dict[str, object]) -> None:
    """Add to `columns` what `component` reads, of `kind` first."""
    reward = component.reward
    known = {**dict.fromkeys(_PLAIN, "42"), **_KNOWN, **(kind or {})}
    for parameter in reward.shape.data:
        if parameter.column is None or parameter.source == "completion_ids":
            continue
        actual = reward.columns.get(parameter.name, parameter.name)
        required = actual in reward.required_columns
        if actual in columns:
            continue
        if kind is not None and parameter.name in kind:
            columns[actual] = kind[parameter.name]
        elif required and parameter.name == "prompt":
            columns["prompt"] = _ASK + _PROMPTS["42"]
        elif required and parameter.name in known:
            columns[actual] = known[parameter.name]
        elif required:
            raise ConfigError(
                f"there is no built-in row with the column {actual!r}; give rows of yours: grpo-rewards audit CONFIG FILE",
                path=f"rewards.{component.name}",
            )
    if kind is not None and "prompt" in kind:
        columns.setdefault("prompt", kind["prompt"])


# ------------------------------------------------------------------------------------------------ rows of a file


def cases_of_file(composite: Composite, path: str | Path, *, limit: int) -> list[Case]:
    """Return the first row of each of the first `limit` groups of a file, every ``when`` among them if the file has it.

    Raises:
        InputError: the file cannot be read, or holds no rows.
        ColumnError: a column that a component needs is missing.
    """
    from grpo_rewards._scoring.chunks import Pace, checked, make_chunks
    from grpo_rewards._scoring.reading import open_source
    from grpo_rewards.errors import InputError

    source = open_source(path)
    wanted = {component.name for component in composite.components}
    found: list[Case] = []
    groups: set[int] = set()
    seen = 0
    for chunk in checked(make_chunks(source, Pace(start=256)), composite, source, path):
        if not chunk.samples:
            continue
        for sample in chunk.samples:
            if sample.group in groups:
                continue
            groups.add(sample.group)
            applies = {component.name for component in composite.components if component.applies_to(sample.data)}
            if len(found) >= limit and not (wanted & applies):
                continue
            wanted -= applies
            columns = {k: v for k, v in sample.data.items() if k not in ("completion", "completion_ids", "advantage")}
            place = f"{source.name}:{sample.row}"
            found.append(_case(place, columns, composite, chat=not isinstance(sample.data["completion"], str)))
        seen += len(chunk.samples)
        # far enough to look for rows that a rare condition meets
        if len(found) >= limit and (not wanted or seen > 20_000):
            break
    if not found:
        raise InputError("holds no rows", source=source.name)
    return found


# ------------------------------------------------------------------------------------------------ answers


def _case(name: str, columns: dict[str, object], composite: Composite, *, chat: bool) -> Case:
    golds, program, stdio = [], [], False
    wrong: list[str] = []
    for component in composite.components:
        if not component.applies_to(columns):
            continue
        reward = component.reward
        named = {p.name: columns.get(reward.columns.get(p.name, p.name)) for p in reward.shape.data if p.column}
        tests = next((named[key] for key in _TESTS if named.get(key) is not None), None)
        if tests is not None:
            program += _functions(tests, named.get("entry_point"))
            stdio = stdio or (isinstance(tests, list) and any(isinstance(test, Mapping) for test in tests))
            continue
        numbers = named.get("numbers")
        if isinstance(numbers, list) and numbers and named.get("target") is not None:
            golds.append(str(named["target"]))
            wrong += _expressions(numbers, named["target"])
            continue
        for key, value in named.items():
            if key in GOLD_COLUMNS or (key == "target" and not isinstance(value, list)):
                golds += gold_texts(value)
    golds = list(dict.fromkeys(golds))
    for gold in golds:
        wrong += wrong_answers(gold) if not wrong else []
    return Case(
        name=name,
        columns=columns,
        golds=tuple(golds),
        wrong=tuple(dict.fromkeys(wrong or ["43", "17"])),
        functions=tuple(dict.fromkeys(program)),
        stdio=stdio,
        formats=_formats(composite),
        documents=_documents(composite),
        chat=chat,
    )


def gold_texts(value: object) -> list[str]:
    """Return the answers in a column's value as texts: what follows ``####``, the first of a list, numbers as written."""
    if isinstance(value, bool) or value is None:
        return [] if value is None else [str(value)]
    if isinstance(value, int | float):
        return [str(value)]
    if isinstance(value, str) and value.strip():
        return [value.rpartition("####")[2].strip() or value.strip()]
    if isinstance(value, list) and value and isinstance(value[0], str | int | float):
        return [str(value[0])]
    return []


def wrong_answers(gold: str) -> list[str]:
    """Plausible answers that differ from `gold`."""
    text = gold.strip()
    if len(text) == 1 and text.isalpha():
        return [letter for letter in ("C", "A", "D") if letter != text.upper()][:2]
    opposites = {"true": "False", "false": "True", "yes": "No", "no": "Yes"}
    if text.lower() in opposites:
        return [opposites[text.lower()]]
    try:
        number = Fraction(text.replace(",", "").strip("$ "))
    except (ValueError, ZeroDivisionError):
        return ["17", "a different answer"]
    if number.denominator == 1:
        return [str(number + 1), str(number + 7)]
    return [str(float(number + 1)), str(int(number) + 17)]


def _expressions(numbers: Sequence[object], target: object) -> list[str]:
    """Expressions of the numbers that miss the target."""
    texts = [str(number) for number in numbers]
    total = sum(number for number in numbers if isinstance(number, int | float))
    spread = total - 2 * numbers[-1] if isinstance(numbers[-1], int | float) else total
    found = [" + ".join(texts)] if str(total) != str(target) else []
    return found or ([" + ".join(texts[:-1]) + " - " + texts[-1]] if str(spread) != str(target) else [texts[0]])


def _functions(tests: object, entry_point: object) -> list[str]:
    """The names that tests call on the candidate, as far as a glance tells."""
    text = (
        tests
        if isinstance(tests, str)
        else "\n".join(test for test in cast(Iterable[object], tests) if isinstance(test, str))
    )
    found = [entry_point] if isinstance(entry_point, str) and entry_point else []
    for names in _IMPORTED.findall(text):
        found += [name.split(" as ")[0].strip() for name in names.split(",")]
    if not found:
        # a check of HumanEval calls its argument `candidate`: no name of the program's
        found = [
            n for n in _CALLED.findall(text) if n not in _NO_FUNCTION and not n.startswith("test") and n != "candidate"
        ]
    return [name for name in dict.fromkeys(found) if name.isidentifier()][:4]


# ------------------------------------------------------------------------------------------------ formats


def _formats(composite: Composite) -> tuple[tuple[str, ...], ...]:
    """The tag sequences that the components' settings name, with the field's usual ones."""
    found: dict[tuple[str, ...], None] = {}
    for component in composite.components:
        values = component.reward.defaults
        tags = values.get("tags")
        if isinstance(tags, list | tuple) and tags and all(isinstance(tag, str) for tag in tags):
            found[tuple(tags)] = None
        if isinstance(tag := values.get("tag"), str) and tag.isidentifier():
            found[(tag,)] = None
    found.setdefault(("think", "answer"))
    return tuple(found)


def _documents(composite: Composite) -> tuple[str, ...]:
    import json

    schemas = [c.reward.defaults.get("schema") for c in composite.components]
    return tuple(json.dumps(_instance(schema)) for schema in schemas if isinstance(schema, Mapping))


def _instance(schema: object, depth: int = 0) -> object:
    """A document that a simple JSON schema accepts."""
    if not isinstance(schema, Mapping) or depth > 8:  # a schema may be nested without end
        return {}
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return _instance(schema[key][0], depth + 1)
    kind = schema.get("type", "object" if "properties" in schema or "required" in schema else None)
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        return [_instance(schema.get("items"), depth + 1)] * max(1, int(schema.get("minItems", 1)))
    if kind == "object" or kind is None:
        properties = schema.get("properties", {})
        return {
            n: _instance(properties.get(n, {"type": "string"}), depth + 1) for n in schema.get("required", properties)
        }
    if kind == "string":
        return ("text " * 50)[: max(4, int(schema.get("minLength", 4)))]
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    return {"integer": int(low) + 1, "number": float(low) + 1, "boolean": True}.get(kind)
