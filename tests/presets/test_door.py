"""``preset/NAME``: in Python, on the command line, in a configuration, and from another distribution."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from grpo_rewards import Composite, load
from grpo_rewards._cli.app import application
from grpo_rewards._composition import default_composite
from grpo_rewards._presets import find_preset, list_presets
from grpo_rewards.errors import ConfigError

ROWS = [{"completion": "<answer>4</answer>", "gold": "4"}, {"completion": "5", "gold": "4"}]


def run(*arguments: str) -> str:
    done = CliRunner().invoke(application(), arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_components_take_the_place_of_the_preset() -> None:
    composite = Composite(
        {
            "rewards": {
                "gsm8k": {"use": "preset/gsm8k-xml", "weight": 0.5, "columns": {"answer": "gold"}},
                "right": {"use": "preset/course-answer", "columns": {"answer": "gold"}},
            },
            "stages": [{"until": 5, "weights": {"gsm8k_tags": 3.0}}, {}],
        }
    )
    assert [c.name for c in composite.components] == [
        "gsm8k_correct", "gsm8k_integer", "gsm8k_strict", "gsm8k_soft", "gsm8k_tags", "right",
    ]  # fmt: skip
    assert composite.required_columns == ("gold",)
    assert composite.session.weights_at(9)["gsm8k_correct"] == 1.0
    assert composite.session.weights_at(0)["gsm8k_tags"] == 3.0
    whole = load("preset/gsm8k-xml").score([{**row, "answer": row["gold"]} for row in ROWS]).rewards()
    alone = composite.only([c.name for c in composite.components if c.name != "right"]).score(ROWS).rewards()
    assert [2 * value for value in alone if value is not None] == pytest.approx(whole)
    assert pickle.loads(pickle.dumps(composite)).score(ROWS).rewards() == composite.score(ROWS).rewards()  # noqa: S301


def test_gates_inside_a_preset_follow_its_names() -> None:
    composite = Composite({"rewards": {"nano": {"use": "preset/countdown-nano-aha"}}})
    gates = {c.name: c.gate.component for c in composite.components if c.gate is not None}
    assert gates == {"nano_expression": "nano_format"}


def test_what_is_said_of_a_preset_holds_for_its_components() -> None:
    composite = Composite(
        {
            "rewards": {
                "right": {"use": "preset/course-answer"},
                "short": {
                    "use": "preset/dapo",
                    "weight": {"schedule": "linear", "start": 0.0, "end": 2.0, "until": 10},
                    "when": {"column": "task", "equals": "math"},
                    "gate": {"component": "right", "at_least": 1.0},
                    "params": {"overlong": {"max_length": 512, "cache": 128}},
                },
            }
        }
    )
    overlong = composite.config.rewards["short_overlong"]
    assert overlong.params == {"mode": "soft_overlong", "max_length": 512, "cache": 128}
    assert overlong.when is not None
    assert overlong.gate is not None
    assert composite.session.weights_at(5)["short_correct"] == pytest.approx(2.0)
    assert composite.session.weights_at(5)["short_overlong"] == pytest.approx(1.0)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"g": {"use": "preset/gsm8k-xmll"}}, "rewards.g: there is no preset 'gsm8k-xmll'; did you mean 'gsm8k-xml'"),
    ({"g": {"use": "preset/gsm8k-xml", "clip": [0, 1]}}, "rewards.g.clip"),
    ({"g": {"use": "preset/gsm8k-xml", "params": {"mode": "soft"}}}, "has no component 'mode'"),
    ({"g": {"use": "preset/gsm8k-xml", "params": {"soft": 3}}}, "rewards.g.params.soft: expected a mapping"),
    ({"g": {"use": "preset/gsm8k-xml", "params": {"soft": {"tagz": []}}}}, "no setting 'tagz'; did you mean 'tags'"),
    ({"g": {"use": "preset/gsm8k-xml", "columns": {"gold": "answer"}}}, "reads no column 'gold' (it reads answer)"),
    ({"g": "preset/gsm8k-xml", "g_soft": "integer"}, "there is another component 'g_soft'"),
    (
        {"i": "integer", "g": {"use": "preset/gsm8k-lm-book", "gate": {"component": "i", "at_least": 1}}},
        "has its own gate",
    ),
]


@pytest.mark.parametrize(("rewards", "text"), WRONG, ids=[text[:30] for _, text in WRONG])
def test_a_mistake_names_its_place(rewards: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Composite({"rewards": rewards})
    assert text in str(caught.value)


def test_a_configuration_starts_from_a_preset(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "use: preset/multi-objective\n"
        "rewards:\n"
        "  correct: {use: exact, weight: 3.0, columns: {answer: gold}}\n"
        "  tags: {params: {max_penalty: 0.1}}\n"
        "  repetition: {use: repetition}\n"
        "adapt: {high: 0.9}\n"
    )
    composite = load(tmp_path / "mine.yaml")
    assert [c.name for c in composite.components] == ["correct", "format", "tags", "brief", "style", "repetition"]
    assert composite.weights["correct"] == 3.0
    assert composite.config.rewards["correct"].use == "exact"
    assert composite.config.rewards["tags"].params["max_penalty"] == 0.1
    assert composite.config.rewards["tags"].params["per_tag"] == 0.25
    assert composite.config.adapt is not None
    assert composite.config.adapt.settings == {"low": 0.3, "high": 0.9, "up": 1.2, "down": 0.9}
    copy = pickle.loads(pickle.dumps(composite))  # noqa: S301
    assert copy.config == composite.config
    jsonschema.validate({"use": "preset/gsm8k-xml"}, json.loads(run("schema")))
    whole = Composite({"use": "preset/gsm8k-xml"})
    assert whole.config == load("preset/gsm8k-xml").config
    for wrong, text in (({"use": "preset/gsm"}, "use: there is no preset 'gsm'"), ({"use": "math"}, "preset/NAME")):
        with pytest.raises(ConfigError, match=text):
            Composite(wrong)


def test_the_command_line_takes_presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({**row, "answer": "4"}) + "\n" for row in ROWS))
    names = [f"preset/{preset.name}" for preset in list_presets()]
    listed = run("list", "--presets").splitlines()
    assert [line.split()[0] for line in listed] == names
    entries = json.loads(run("list", "--presets", "--json"))
    assert [entry["name"] for entry in entries] == names
    assert all(entry["summary"].endswith(".") and Path(entry["path"]).is_file() for entry in entries)
    score = ["score", "rows.jsonl", "--json"]
    figures = json.loads(run(*score, "-c", "preset/gsm8k-lm-book"))
    assert figures["reward"]["mean"] == pytest.approx(1.2)
    assert json.loads(run(*score, "--only", "preset/gsm8k-lm-book"))["reward"] == figures["reward"]
    monkeypatch.setenv("GRPO_REWARDS_CONFIG", "preset/gsm8k-lm-book")
    assert json.loads(run(*score))["reward"] == figures["reward"]
    assert default_composite().source == "preset/gsm8k-lm-book"
    assert "2.4" in run("explain", "rows.jsonl#1")
    assert run("explain", "preset/r1").strip() in find_preset("preset/r1").text.strip()
    assert json.loads(run("explain", "preset/r1", "--json"))["required_columns"] == ["answer"]
    assert "accuracy" in run("validate", "preset/r1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gsm8k-xml", "countdown-nano-aha", "multi-objective"])
def test_no_cheat_pays(name: str) -> None:
    run("audit", f"preset/{name}")


def test_a_file_of_that_name_is_still_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "preset").mkdir()
    (tmp_path / "preset" / "r1.yaml").write_text("rewards: {mine: integer}\n")
    monkeypatch.chdir(tmp_path)
    assert [c.name for c in load("preset/r1.yaml").components] == ["mine"]
    assert [c.name for c in load("./preset/r1.yaml").components] == ["mine"]


PLUGIN = """
from pathlib import Path
from grpo_rewards import hookimpl, reward

@hookimpl
def register_presets():
    here = Path(__file__).parent
    return {"house-style": here / "house.yaml", "gsm8k-xml": here / "house.yaml"}
"""


def test_another_distribution_brings_presets(tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(PLUGIN)
    (tmp_path / "pieces.py").write_text("def loud(completion: str) -> float:\n    return float(completion.isupper())\n")
    (tmp_path / "house.yaml").write_text("# House style.\nrewards: {loud: {use: './pieces.py:loud', weight: 3}}\n")
    info = tmp_path / "house_style-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-style\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[grpo_rewards]\nhouse = house\n")
    program = (
        "import json; from grpo_rewards import Composite, load; from grpo_rewards._presets import list_presets\n"
        "rows = [{'completion': 'YES'}, {'completion': 'no'}]\n"
        "inside = Composite({'rewards': {'x': 'preset/house-style'}})\n"
        "print(json.dumps([load('preset/house-style').score(rows).rewards(), inside.score(rows).rewards(),\n"
        "    {p.name: p.source for p in list_presets() if p.name in ('house-style', 'gsm8k-xml')}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole, inside, sources = json.loads(done.stdout)
    assert whole == inside == [3.0, 0.0]
    assert sources == {"house-style": "house-style", "gsm8k-xml": "grpo-rewards"}
