"""Every built-in reward says why, at full marks too."""

from __future__ import annotations

import ast
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import grpo_rewards_plugins
import pytest

from grpo_rewards import Outcome, Reward, get_reward
from grpo_rewards.types import Batch


class Right(NamedTuple):
    """A completion that gets the most, with its row and the reward's settings."""

    completion: str
    columns: dict[str, Any] = {}  # noqa: RUF012 - never changed
    settings: dict[str, Any] = {}  # noqa: RUF012


RIGHT: dict[str, Right] = {
    "math": Right("so \\boxed{4}", {"answer": "4"}),
    "exact": Right("<answer>4</answer>", {"answer": "4"}),
    "code": Right("```python\ndef f(x):\n    return x\n```", {"tests": ["assert f(1) == 1", "assert f(2) == 2"]}),
    "countdown": Right("<answer>3 + 7</answer>", {"numbers": [3, 7], "target": 10}),
    "multiple_choice": Right("The answer is (B)", {"answer": "B"}),
    "xml_format": Right("<reasoning>\na\n</reasoning>\n<answer>\nb\n</answer>"),
    "length": Right("some text", settings={"target": 9, "band": 2}),
    "integer": Right("<answer>4</answer>"),
    "repetition": Right("one two three four five six"),
    "regex": Right("yes", settings={"allow": ["yes"]}),
    "language": Right("A plain sentence."),
    "diversity": Right("words of its own"),
    "json_schema": Right('{"a": 1}', settings={"schema": {"type": "object"}}),
    "json_fields": Right('{"a": 4}', {"answer": {"a": 4}}),
    "qa": Right("<answer>Paris</answer>", {"answers": ["Paris"]}),
    "instructions": Right("word", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}),
    "tool_calls": Right(
        "[f(x=1)]",
        {
            "ground_truth": [{"f": {"x": [1]}}],
            "functions": [{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}],
        },
    ),
    "sql": Right("```sql\nSELECT 1\n```", {"query": "SELECT 1", "db_id": "one"}),
}
OTHERS = {"judge", "model", "pairwise", "ranking", "reasoning_gym", "rubric"}
"""They ask a service, a model or a package that is not here; their own tests have the reason at full marks."""


def names() -> list[str]:
    return sorted(value.name for value in vars(grpo_rewards_plugins).values() if isinstance(value, Reward))


def best(name: str, right: Right, folder: Path) -> Outcome:
    settings = dict(right.settings)
    if name == "sql":
        (folder / "one").mkdir()
        sqlite3.connect(folder / "one" / "one.sqlite").close()
        settings["databases"] = str(folder)
    batch = Batch(
        [right.completion, "other"], prompts=["p", "p"], columns={k: [v, v] for k, v in right.columns.items()}
    )
    return get_reward(name).with_(**settings).outcomes(batch)[0]


@pytest.mark.parametrize("name", names())
def test_full_marks_have_a_reason(name: str, tmp_path: Path) -> None:
    if name in OTHERS:
        assert name not in RIGHT
        return
    found = best(name, RIGHT[name], tmp_path)
    high = (
        1.0 if name == "tool_calls" else (get_reward(name).range or (0.0, 0.0))[1]
    )  # its range is that of another rule
    assert (found.status, found.value) == ("scored", high), found
    assert found.reason.strip()
    assert found.reason.isprintable()


VARIANTS: list[tuple[str, Right]] = [
    ("xml_format", Right("<a>\nx\n</a>", settings={"tags": ["a"], "mode": "strict"})),
    ("xml_format", Right("<a>\nx\n</a>", settings={"tags": ["a"], "mode": "count", "per_tag": 0.5})),
    ("language", Right("Привет", settings={"script": "cyrillic"})),
    ("language", Right("42")),
    ("repetition", Right("one")),
    ("regex", Right("a", settings={"deny": ["b"]})),
    ("diversity", Right("words", settings={"mode": "texts"})),
    ("diversity", Right("words", settings={"mode": "answers"})),
    ("json_schema", Right("[]")),
    ("length", Right("some text", {"answer": "some text"}, {"mode": "cosine"})),
    ("qa", Right("<answer>Paris</answer>", {"answers": ["Paris", "Lutetia"]}, {"metric": "f1"})),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right"), VARIANTS, ids=[f"{n}-{i}" for i, (n, _) in enumerate(VARIANTS)])
def test_so_do_those_of_other_modes(name: str, right: Right, tmp_path: Path) -> None:
    found = best(name, right, tmp_path)
    assert found.status == "scored"
    assert found.reason.strip()


def test_no_reward_of_ours_gives_a_bare_number() -> None:
    """A reward that returns a number says no reason; each of ours returns an Outcome."""
    folder = Path(grpo_rewards_plugins.__file__).parent
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in names() and node.returns:
                assert "float" not in ast.unparse(node.returns), f"{file.name}: {node.name}"
