"""Every name that a node's kind is held against is a kind: mypy sees a single comparison, but not one with several names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import grpo_rewards_plugins.math
from grpo_rewards_plugins.math.reading.tree import Kind

FOLDER = Path(grpo_rewards_plugins.math.__file__).parent
TOKENS = frozenset(("num", "id", "func", "const", "cmd", "text", "unit", "rel", "op", "sep", "env", "word", "end"))


def held_against(tree: ast.AST) -> set[str]:
    """The texts in comparisons that have a ``kind`` on one side."""
    out: set[str] = set()
    for here in ast.walk(tree):
        if isinstance(here, ast.Compare):
            sides = [here.left, *here.comparators]
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                out.update(
                    part.value
                    for side in sides
                    for part in (side.elts if isinstance(side, ast.Tuple) else [side])
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
    return out


def test_every_kind_that_is_asked_for_exists() -> None:
    asked = {
        name for path in FOLDER.rglob("*.py") for name in held_against(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(asked) > 20
    assert asked - set(get_args(Kind)) - TOKENS == set()
