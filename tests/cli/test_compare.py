"""``grpo-rewards compare``, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

ROWS = [
    {
        "prompt": f"p{n // 4}",
        "completion": f"<answer>\n{n % 4}\n</answer>" if n % 3 else str(n % 4),
        "answer": str(n // 4 % 4),
    }
    for n in range(80)
]
CONFIG = "rewards:\n  correct: {{use: exact, weight: {weight}}}\n  format: {{use: xml_format, weight: 0.5, params: {{tags: [answer]}}}}\n"


@pytest.fixture
def configs(tmp_path: Path, jsonl: Callable[..., Path]) -> Any:
    jsonl(ROWS)
    (tmp_path / "a.yaml").write_text(CONFIG.format(weight=2))
    (tmp_path / "b.yaml").write_text(CONFIG.format(weight=1))
    return tmp_path


def test_two_configurations_on_the_same_rows(cli: Callable[..., CompletedProcess[str]], configs: Path) -> None:
    run = cli("compare", "a.yaml", "b.yaml", "rows.jsonl", "--json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    right = sum(row["completion"].strip("<answer>/\n") == row["answer"] for row in ROWS)
    assert found["rows"] == 80
    assert found["rows_changed"] == right > 0
    assert found["components"]["correct"]["main_cause"] == right
    assert found["components"]["format"]["rows_changed"] == 0
    assert found["reward"]["difference"] == pytest.approx(-right / 80)
    assert found["reward"]["p_value"] < 0.01
    changed = [entry for entry in found["changed"] if entry["reward_changed"]]
    assert all(entry["change"] == pytest.approx(-1.0) and entry["by"] == ["correct"] for entry in changed)


@pytest.mark.slow
def test_scored_files_say_the_same_as_their_configurations(
    cli: Callable[..., CompletedProcess[str]], configs: Path
) -> None:
    for name in ("a", "b"):
        assert cli("score", "rows.jsonl", "-c", f"{name}.yaml", "-o", f"{name}.jsonl").returncode == 0
    files = json.loads(cli("compare", "a.jsonl", "b.jsonl", "--json").stdout)
    configured = json.loads(cli("compare", "a.yaml", "b.yaml", "rows.jsonl", "--json").stdout)
    assert files["changed"] == configured["changed"]
    for name in ("reward", "advantages", "components"):
        assert files[name] == configured[name]


def test_in_words_and_as_an_exit_code(cli: Callable[..., CompletedProcess[str]], configs: Path) -> None:
    run = cli("compare", "a.yaml", "b.yaml", "rows.jsonl", "--exit-code", "--top", 1)
    assert run.returncode == 1
    assert "Kendall" in run.stdout
    assert "advantages:" in run.stdout
    assert "correct -1: A 1 × 2 × gate 1" in run.stdout
    same = cli("compare", "a.yaml", "a.yaml", "rows.jsonl", "--exit-code")
    assert same.returncode == 0
    assert "the reward of 0 changed" in same.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.yaml", "b.yaml"), "need the rows"),
        (("a.yaml", "rows.jsonl"), "not one of each"),
        (("rows.jsonl", "rows.jsonl"), "no scores"),
        (("a.yaml", "b.yaml", "none.jsonl"), "no such file"),
    ],
)
def test_what_does_not_fit_is_said(
    cli: Callable[..., CompletedProcess[str]], configs: Path, arguments: Any, message: str
) -> None:
    run = cli("compare", *arguments)
    assert run.returncode == 2
    assert message in " ".join(run.stderr.replace("│", " ").split())
    assert "Traceback" not in run.stderr


def test_two_tables_of_a_trainer(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = [f"answer {n}" for n in range(8)]
    for name, weight in (("a", 1.0), ("b", 0.5)):
        values = [weight * (n % 3) for n in range(8)]
        columns = {"step": [1] * 8, "prompt": [f"p{n // 4}" for n in range(8)], "completion": texts, "correct": values,
                   "style": [0.5] * 8, "advantage": [0.0] * 8}  # fmt: skip
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    run = cli("compare", "a.parquet", "b.parquet", "--json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["rows"], found["groups"]) == (8, 2)
    assert found["rows_changed"] == sum(n % 3 != 0 for n in range(8))
    assert found["components"]["correct"]["main_cause"] == found["rows_changed"]
    assert found["reward"]["kendall"] == 1.0
    assert found["advantages"]["groups_with_another_best"] == 0
