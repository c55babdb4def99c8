"""docs/math.md: each row of its table says what the ladder does, and its map names the modules that there are."""

import re
from pathlib import Path

import pytest
from grpo_rewards_plugins.math.extraction import extract
from grpo_rewards_plugins.math.grading import grade

_TEXT = (Path(__file__).resolve().parents[2] / "docs" / "math.md").read_text(encoding="utf-8")
_ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")] for line in _TEXT.splitlines() if line.startswith("| `")
]

_PLUGINS = Path(__file__).resolve().parents[2] / "plugins" / "grpo_rewards_plugins"


def test_the_map_names_every_module_and_no_other() -> None:
    said = _TEXT.partition("## Where a rule lives")[2].partition("\n## ")[0]
    named = set(re.findall(r"[a-z_]+\.py", said))
    files = {path for room in ("answers", "math") for path in (_PLUGINS / room).rglob("*.py")}
    modules = {path.name for path in files if path.name != "__init__.py" and path.parent.name != "symbolic"}
    assert "`math/symbolic/`" in said
    assert named == modules


def test_the_table_is_there() -> None:
    assert len(_ROWS) > 40
    assert all(len(row) == 4 and row[2] in ("yes", "no") for row in _ROWS)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_each_case_of_the_document_holds(row: list[str]) -> None:
    gold, answer, equal = row[0].strip("`"), row[1].strip("`"), row[2]
    verdict = grade(gold, extract(f"So the answer is \\boxed{{{answer}}}.").text or "")
    assert verdict.equal is (equal == "yes"), verdict
