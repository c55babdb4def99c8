"""Rewards without the package that they need: one error before anything is scored, and the command that installs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_rewards.errors import how_to_install

_PROGRAM = """
import importlib.util, json, sys
package, path, row = json.loads(sys.argv[1])
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == package else find(name, *more)
from grpo_rewards import load
from grpo_rewards.errors import ConfigError
try:
    load(path)(prompts=["2 + 2"] * 2, completions=["4", "5"], **{name: [cell] * 2 for name, cell in row.items()})
except ConfigError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "extra", "component", "row"),
    [
        ("duckdb", "sql", {"use": "sql", "params": {"databases": "FOLDER"}}, {"db_id": "d", "query": "SELECT 1"}),
        ("psycopg", "sql", {"use": "sql", "params": {"databases": "postgresql://reader@127.0.0.1/"}},
         {"db_id": "d", "query": "SELECT 1"}),
        ("nltk", "instructions", {"use": "instructions"}, {"instruction_id_list": ["keywords:start_end"]}),
        ("syllapy", "instructions", {"use": "instructions"}, {"instruction_id_list": ["words:odd_even_syllables"]}),
        ("emoji", "instructions", {"use": "instructions"}, {"instruction_id_list": ["format:emoji"]}),
        ("reasoning_gym", "reasoning-gym", {"use": "reasoning_gym"}, {"metadata": {"source_dataset": "chain_sum"}}),
        ("transformers", "train", {"use": "model", "params": {"name": "nowhere"}}, {}),
    ],
)  # fmt: skip
def test_a_missing_package_ends_the_run_and_says_what_to_install(
    tmp_path: Path, package: str, extra: str, component: dict[str, object], row: dict[str, object]
) -> None:
    (tmp_path / "d.duckdb").touch()
    config = tmp_path / "rewards.yaml"
    config.write_text(json.dumps({"version": 1, "rewards": {"r": component}}).replace("FOLDER", str(tmp_path)))
    asked = json.dumps([package, str(config), row])
    said = subprocess.run([sys.executable, "-c", _PROGRAM, asked], capture_output=True, text=True, check=True).stdout
    assert "rewards.r: " in said
    assert package in said
    assert f"not installed here: {how_to_install(extra)}" in said
