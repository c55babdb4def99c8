"""What each command says: list, explain, validate, schema, score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema
import pytest

from grpo_rewards._composition.config import read_yaml

ROOT = Path(__file__).resolve().parents[2]
GROUP = [
    {"prompt": "p", "completion": "<answer>\n1\n</answer>", "answer": "1"},
    {"prompt": "p", "completion": "2", "answer": "1"},
]
CONFIG = """
version: 1
rewards:
  correct: {use: exact, weight: 2.0}
  format: {use: xml_format, weight: 0.5, params: {tags: [answer]}}
  brief: {use: length, weight: 0.2, params: {target: 10, band: 20}, gate: {component: correct, at_least: 1.0}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Any:
    (tmp_path / "rewards.yaml").write_text(CONFIG)
    return tmp_path / "rewards.yaml"


# ------------------------------------------------------------------------------------------------ list


def test_list_names_what_is_installed(cli: Callable[..., CompletedProcess[str]]) -> None:
    run = cli("list")
    assert run.returncode == 0, run.stderr
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("exact ")]
    assert "grpo-rewards" in line
    assert "answer" in line
    entries = {entry["name"]: entry for entry in json.loads(cli("list", "--json").stdout)["rewards"]}
    assert entries["exact"]["required_columns"] == ["answer"]
    assert {"xml_format", "length", "repetition"} <= set(entries)


def _distribution(folder: Path, name: str, module: str, source: str) -> None:
    """Lay out an installed distribution with one plugin."""
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[grpo_rewards]\nmine = {module}\n")
    (folder / f"{module}.py").write_text(source)


@pytest.mark.slow
def test_a_broken_plugin_is_named_and_the_rest_are_listed(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    _distribution(tmp_path / "site", "grpo-rewards-broken", "broken_plugin", "import nothing_of_the_kind\n")
    env = {"PYTHONPATH": str(tmp_path / "site")}
    run = cli("list", env=env)
    assert run.returncode == 1
    assert "grpo-rewards-broken" in run.stderr
    assert "nothing_of_the_kind" in run.stderr
    assert "exact" in run.stdout
    found = json.loads(cli("list", "--json", env=env).stdout)
    assert "nothing_of_the_kind" in found["problems"][0]
    assert cli("--version", env=env).returncode == 0


def test_a_plugin_adds_a_command_and_one_that_fails_does_not_take_the_rest_along(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    good = (
        "import grpo_rewards\n@grpo_rewards.hookimpl\ndef register_commands(app):\n"
        "    @app.command()\n    def hello() -> None:\n        '''Greet. Example: grpo-rewards hello'''\n"
        "        print('hello there')\n"
    )
    bad = (
        "import grpo_rewards\n@grpo_rewards.hookimpl\ndef register_commands(app):\n    raise RuntimeError('no luck')\n"
    )
    _distribution(tmp_path / "site", "a-bad", "bad_commands", bad)
    _distribution(tmp_path / "site", "b-good", "good_commands", good)
    run = cli("hello", env={"PYTHONPATH": str(tmp_path / "site")})
    assert run.returncode == 0, run.stderr
    assert run.stdout == "hello there\n"
    assert "a-bad" in run.stderr
    assert "no luck" in run.stderr


def test_a_plugins_command_takes_no_name_of_ours(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    greedy = (
        "import grpo_rewards\n@grpo_rewards.hookimpl\ndef register_commands(app):\n"
        "    @app.command()\n    def schema() -> None:\n        print('mine')\n"
    )
    _distribution(tmp_path / "site", "greedy", "greedy_commands", greedy)
    run = cli("schema", env={"PYTHONPATH": str(tmp_path / "site")})
    assert run.returncode == 0
    assert "GateConfig" in run.stdout
    assert "'schema' of greedy_commands is missing: the name is taken" in run.stderr


# ------------------------------------------------------------------------------------------------ explain


def test_explain_a_reward(cli: Callable[..., CompletedProcess[str]]) -> None:
    run = cli("explain", "exact")
    assert run.returncode == 0, run.stderr
    assert "answer needed" in run.stdout
    assert "ignore_case: bool = " in run.stdout
    entry = json.loads(cli("explain", "exact", "--json").stdout)
    assert entry["required_columns"] == ["answer"]
    assert entry["settings"]["ignore_case"]["type"] == "bool"


@pytest.mark.slow
def test_every_installed_reward_can_be_explained(cli: Callable[..., CompletedProcess[str]]) -> None:
    names = [entry["name"] for entry in json.loads(cli("list", "--json").stdout)["rewards"]]
    assert names
    for name in names:
        run = cli("explain", name, "--json")
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout)["documentation"]


def test_explain_a_row_adds_up(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path
) -> None:
    jsonl(GROUP)
    (record,) = json.loads(cli("explain", "rows.jsonl#1", "--json").stdout)
    parts = record["components"]
    assert parts["correct"]["contribution"] == 2.0
    for part in parts.values():
        assert part["contribution"] == pytest.approx(part["value"] * part["weight"] * part["gate"])
    assert record["reward"] == pytest.approx(sum(part["contribution"] for part in parts.values()))
    told = cli("explain", "rows.jsonl#1").stdout
    assert told.startswith(f"rows.jsonl#1: reward {record['reward']:.6g}\n")
    assert "1 × 2 × gate 1 = 2" in told
    assert "\n  prompt:\n    p\n  completion:\n    <answer>\n    1\n" in told
    assert f"the file has {len(GROUP)} rows, the last is {len(GROUP)}" in cli("explain", "rows.jsonl#99").stderr

    (wrong,) = json.loads(cli("explain", "rows.jsonl#2", "--json").stdout)
    assert wrong["components"]["brief"]["gate"] == 0.0
    assert "gate 0 = 0" in cli("explain", "rows.jsonl#2").stdout


def test_explain_a_recorded_row_without_its_configuration(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path
) -> None:
    jsonl(GROUP)
    assert cli("score", "rows.jsonl", "-o", "scored.jsonl").returncode == 0
    made_now = json.loads(cli("explain", "rows.jsonl#2", "--json").stdout)
    config.unlink()
    recorded = json.loads(cli("explain", "scored.jsonl#2", "--json").stdout)
    assert recorded == made_now


def test_explain_sees_the_whole_group_of_a_row(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl({"prompt": f"p{n // 3}", "completion": "same" if n < 5 else "other"} for n in range(6))
    first, last = (
        json.loads(cli("explain", f"rows.jsonl#{row}", "--only", "diversity", "--json").stdout)[0] for row in (1, 6)
    )
    assert first["group"] == 1
    assert last["group"] == 4
    assert first["reward"] < last["reward"]


def test_explain_each_completion_of_a_listed_row(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl([{"prompt": "p", "completions": ["1", "2"], "answer": "2"}])
    records = json.loads(cli("explain", "rows.jsonl#1", "--only", "exact", "--json").stdout)
    assert [(record["index"], record["reward"]) for record in records] == [(0, 0.0), (1, 1.0)]


def test_explain_a_malformed_row_says_what_is_wrong(cli: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"completion": "x", "answer": "x"}\n{"completion"\n')
    run = cli("explain", "rows.jsonl#2", "--only", "exact")
    assert run.returncode == 2
    assert "rows.jsonl:2: not JSON" in run.stderr


# ------------------------------------------------------------------------------------------------ validate


def test_validate_a_configuration(cli: Callable[..., CompletedProcess[str]], config: Path) -> None:
    run = cli("validate", "rewards.yaml")
    assert run.returncode == 0, run.stderr
    assert "nothing to mend" in run.stdout
    found = json.loads(cli("validate", "rewards.yaml", "--json").stdout)
    assert list(found["components"]) == ["correct", "format", "brief"]
    assert found["columns"] == ["answer"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight: 2.0", "weigth: 2.0", "rewards.correct.weigth"),
        ("use: exact", "use: exakt", "did you mean 'exact'"),
        ("component: correct", "component: corect", "did you mean 'correct'"),
        ("tags: [answer]", "tagz: [answer]", "did you mean 'tags'"),
        ("version: 1", "version: 9", "version"),
        ("rewards:", "rewards", "rewards.yaml"),
    ],
)
def test_validate_names_what_is_wrong_with_a_configuration(
    cli: Callable[..., CompletedProcess[str]], config: Path, old: str, new: str, message: str
) -> None:
    config.write_text(CONFIG.replace(old, new))
    run = cli("validate", "rewards.yaml")
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_validate_a_file_that_is_fine(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path
) -> None:
    jsonl(GROUP)
    run = cli("validate", "rows.jsonl", "--json")
    assert run.returncode == 0, run.stdout
    found = json.loads(run.stdout)
    assert (found["rows"], found["groups"], found["completions"]) == (2, 1, "text")
    assert found["columns"] == {"answer": 2}


def test_validate_finds_what_there_is_to_mend(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, config: Path
) -> None:
    lines = [
        *map(json.dumps, GROUP),
        "{not json",
        json.dumps({"prompt": "q", "completion": [{"role": "assistant", "content": "1"}], "answer": "1"}),
        json.dumps({"prompt": "r", "completion": "1"}),
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    run = cli("validate", "rows.jsonl")
    assert run.returncode == 1
    for expected in (
        "rows.jsonl:3: not JSON",
        "rows.jsonl:5: column 'answer', which component 'correct' needs, is missing or empty",
        "3 completions are text and 1 are chat",
        "groups differ in size (2 of 1, 1 of 2)",
        "so nothing is learned from it",
    ):
        assert expected in run.stdout
    found = json.loads(cli("validate", "rows.jsonl", "--json").stdout)
    assert found["total_findings"] == len(found["findings"]) == 5


def test_validate_without_a_configuration_looks_at_the_rows_alone(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl([{"prompt": "p", "completion": "x"}])
    run = cli("validate", "rows.jsonl")
    assert run.returncode == 0, run.stdout


def test_validate_asks_a_reward_about_its_gold(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "picky.py").write_text(
        "from grpo_rewards import reward\n"
        "def check(answer):\n    return None if answer.isdigit() else f'{answer!r} is no number'\n"
        "@reward(check_row=check)\ndef picky(completion: str, answer: str) -> float:\n    return 1.0\n"
    )
    jsonl([{"completion": "x", "answer": "1"}, {"completion": "x", "answer": "one"}])
    run = cli("validate", "rows.jsonl", "--only", "./picky.py:picky")
    assert run.returncode == 1
    assert "rows.jsonl:2: picky: 'one' is no number" in run.stdout


def test_validate_and_explain_say_as_what_a_row_is_read(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    tests = [{"input": "1\n", "output": "2\n"}]
    apps = {"input_output": json.dumps({"fn_name": "f", "inputs": [[1]], "outputs": [[2]]})}
    literal = {"code": "def f(): ...", "input": "", "output": "2", "completion": "[ANSWER]2[/ANSWER]"}
    refused = {"official_tests": tests, "interaction_format": "asks"}
    jsonl([{"completion": "x", **row} for row in (apps, {"tests": tests}, refused, literal)])
    run = cli("validate", "rows.jsonl", "--only", "code")
    assert (
        "read_as: {'code': {'apps (calls)': 1, 'cruxeval (literal)': 1, 'own (stdio)': 1, 'refused': 1}}" in run.stdout
    )
    assert "rows.jsonl:3: code: the task is interactive" in run.stdout
    assert "data cruxeval" in cli("explain", "rows.jsonl#4", "--only", "code").stdout


# ------------------------------------------------------------------------------------------------ schema


def test_the_schema_takes_the_example_and_refuses_a_typo(cli: Callable[..., CompletedProcess[str]]) -> None:
    schema = json.loads(cli("schema").stdout)
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator.check_schema(schema)
    example: Any = read_yaml(ROOT / "examples" / "rewards.yaml")
    validator(schema).validate(example)
    example["rewards"]["correct"]["weigth"] = 1
    assert not validator(schema).is_valid(example)
    assert not validator(schema).is_valid({"version": 1, "rewards": {"x": {}}})


def test_the_schema_of_a_reward_is_that_of_its_settings(cli: Callable[..., CompletedProcess[str]]) -> None:
    schema = json.loads(cli("schema", "exact").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid({"ignore_case": True})
    assert not jsonschema.Draft202012Validator(schema).is_valid({"ignore_cas": True})


@pytest.mark.slow
def test_every_installed_reward_has_a_schema(cli: Callable[..., CompletedProcess[str]]) -> None:
    for entry in json.loads(cli("list", "--json").stdout)["rewards"]:
        run = cli("schema", entry["name"])
        assert run.returncode == 0, run.stderr
        jsonschema.Draft202012Validator.check_schema(json.loads(run.stdout))


# ------------------------------------------------------------------------------------------------ score


def test_only_with_settings_and_columns(cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]) -> None:
    jsonl([{"completion": "ABC", "solution": "abc"}, {"completion": "x", "solution": "abc"}])
    only = ("--only", "exact", "--column", "answer=solution")
    loose = cli("score", "rows.jsonl", *only, "--param", "ignore_case=true", "--json")
    assert loose.returncode == 0, loose.stderr
    assert json.loads(loose.stdout)["components"]["exact"]["mean"] == 0.5
    strict = cli("score", "rows.jsonl", *only, "--param", "ignore_case=false", "--json")
    assert json.loads(strict.stdout)["components"]["exact"]["mean"] == 0.0


def test_only_picks_components_of_a_configuration_with_what_their_gates_look_at(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path
) -> None:
    jsonl(GROUP)
    one = json.loads(cli("score", "rows.jsonl", "--only", "format", "--json").stdout)
    assert list(one["components"]) == ["format"]
    gated = json.loads(cli("score", "rows.jsonl", "--only", "brief", "--json").stdout)
    assert list(gated["components"]) == ["correct", "brief"]


def test_the_configuration_comes_from_the_environment_too(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path, tmp_path: Path
) -> None:
    jsonl(GROUP)
    other = tmp_path / "other.yaml"
    other.write_text("version: 1\nrewards:\n  mine: {use: exact}\n")
    run = cli("score", "rows.jsonl", "--json", env={"GRPO_REWARDS_CONFIG": str(other)})
    assert list(json.loads(run.stdout)["components"]) == ["mine"]


def test_the_summary_holds_the_figures_per_component(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path], config: Path
) -> None:
    jsonl([{**row, "prompt": f"{row['prompt']}{n}"} for n in range(3) for row in GROUP])
    run = cli("score", "rows.jsonl", "--json")
    assert run.returncode == 0, run.stderr
    summary = json.loads(run.stdout)
    assert summary["rows"] == 6
    correct = summary["components"]["correct"]
    assert (correct["weight"], correct["n"], correct["mean"], correct["zero_std_groups"]) == (2.0, 6, 0.5, 0.0)
    assert correct["group_std"] == pytest.approx(0.5**0.5)
    assert set(correct) >= {"not_applicable", "rejected", "timeout", "unavailable", "error", "p95_seconds"}
    assert set(summary["provenance"]) == {"grpo_rewards", "config", "plugins"}
    table = cli("score", "rows.jsonl")
    assert "flat groups" in table.stdout
    (line,) = [line for line in table.stdout.splitlines() if line.startswith("correct ")]
    assert line.split()[1:4] == ["2", "6", "0.5"]
