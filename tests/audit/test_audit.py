"""The audit finds rewards that can be cheated, and has nothing to say of those that cannot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite, load
from grpo_rewards._audit.auditing import audit
from grpo_rewards._audit.cases import cases_of_file, sample_cases
from grpo_rewards._composition.config import read_yaml
from grpo_rewards.errors import ConfigError

CHEATABLE = '''
from grpo_rewards import reward

@reward(range=(0, 1))
def contains(completion: str, answer: str) -> float:
    """The answer is somewhere in the text."""
    return float(answer in completion)

@reward(range=(0, 1))
def lengthy(completion: str) -> float:
    """The more the better."""
    return min(1.0, len(completion) / 5000)

@reward(range=(0, 100))
def tags(completion: str) -> float:
    """As many tags as possible."""
    return float(min(100, completion.count("<answer>")))

@reward(range=(0, 1))
def polite(completion: str, prompt: list) -> float:
    """Takes up the question's words."""
    return float(prompt[-1]["content"] in completion)

@reward(range=(0, 1))
def first_box(completion: str, answer: str) -> float:
    """The first box is right."""
    return float(completion.partition("boxed{")[2].partition("}")[0] == answer)

@reward(range=(0, 1))
def ran(completion: str, tests: str) -> float:
    """Runs the program right here."""
    program = completion.partition("```python\\n")[2].partition("```")[0]
    try:
        exec(program, {})
    except Exception:
        return 0.0
    return 0.0

@reward(range=(0, 1))
def fragile(completion: str) -> float:
    """Breaks on nothing."""
    return 1.0 / len(completion.strip())

@reward(range=(0, 1))
def choosy(completion: str, colour: str) -> float:
    """Needs a column of its own."""
    return float(completion == colour)
'''
BUILT_IN = [
    {"use": "math"}, {"use": "multiple_choice"}, {"use": "countdown"}, {"use": "xml_format", "params": {"mode": "count"}},
    {"use": "diversity"},
    {"use": "json_schema", "params": {"schema": {"type": "object", "required": ["a"], "properties": {"a": {"enum": [3]}}}}},
]  # fmt: skip


@pytest.fixture
def cheatable(tmp_path: Path) -> Any:
    (tmp_path / "cheatable.py").write_text(CHEATABLE)

    def composite(name: str, **settings: Any) -> Any:
        return Composite({"rewards": {name: {"use": f"./cheatable.py:{name}", **settings}}}, base=tmp_path)

    return composite


@pytest.mark.parametrize(
    ("name", "attack"),
    [("contains", "dump"), ("lengthy", "padding"), ("lengthy", "repetition"), ("tags", "tag stuffing"),
     ("polite", "echo"), ("first_box", "dump")],
)  # fmt: skip
def test_a_reward_that_can_be_cheated_is_caught(cheatable: Any, name: str, attack: str) -> None:
    composite = cheatable(name)
    report = audit(composite, sample_cases(composite))
    caught = {one.attack: one for one in report.wins}
    assert attack in caught
    assert caught[attack].reward > caught[attack].honest
    assert caught[attack].parts[name]["more_than_honest"] > 0


@pytest.mark.slow
def test_a_gate_and_a_clip_are_seen(tmp_path: Path) -> None:
    (tmp_path / "cheatable.py").write_text(CHEATABLE)
    rewards: dict[str, dict[str, object]] = {
        "correct": {"use": "exact"},
        "long": {"use": "./cheatable.py:lengthy", "weight": 0.5},
    }
    open_one = Composite({"rewards": rewards}, base=tmp_path)
    gated = {**rewards, "long": {**rewards["long"], "gate": {"component": "correct", "at_least": 1.0}}}
    shut_one = Composite({"rewards": gated}, base=tmp_path)
    assert {one.attack for one in audit(open_one, sample_cases(open_one)).wins} >= {"padding"}
    assert audit(shut_one, sample_cases(shut_one)).wins == []


@pytest.mark.parametrize(
    "component", BUILT_IN, ids=lambda c: f"{c['use']} {c.get('params', {}).get('mode', '')}".strip()
)
def test_the_built_in_rewards_are_clean(component: Any) -> None:
    composite = Composite({"rewards": {"it": component}})
    report = audit(composite, sample_cases(composite))
    assert [(one.attack, one.reward, one.honest, one.completion[:200]) for one in report.wins] == []
    assert report.broken == []
    assert report.untried == []
    assert {one.attack for one in report.earned} >= {"empty", "tag stuffing", "padding", "repetition"}


def test_the_example_is_clean_on_its_own_rows(request: pytest.FixtureRequest) -> None:
    folder = request.config.rootpath / "examples"
    composite = load(folder / "rewards.yaml")
    cases = cases_of_file(composite, folder / "reasoning.jsonl", limit=2)
    assert {case.columns["task"] for case in cases} == {"arithmetic", "countdown"}
    report = audit(composite, cases)
    assert report.wins == []
    right = [one for one in report.earned if one.right is not None]
    assert right
    assert all((one.right or 0) > one.honest + 1 for one in right)


def test_a_plugin_that_breaks_on_a_cheat_is_a_finding(cheatable: Any) -> None:
    composite = cheatable("fragile")
    report = audit(composite, sample_cases(composite))
    assert any("'fragile' breaks on ''" in text and "ZeroDivisionError" in text for text in report.broken)


@pytest.mark.slow
def test_a_cheat_that_ends_the_scoring_process_is_a_finding_and_the_rest_go_on(cheatable: Any) -> None:
    composite = cheatable("ran")
    (case, *_) = sample_cases(composite)
    report = audit(composite, [case])
    assert any("'early exit'" in text and "ended with status 0" in text for text in report.broken)
    assert {one.attack for one in report.earned} >= {"empty", "always equal"}


def test_rows_that_nobody_knows_must_be_given(cheatable: Any, jsonl: Callable[..., Path]) -> None:
    composite = cheatable("choosy")
    with pytest.raises(ConfigError, match="the column 'colour'; give rows of yours"):
        sample_cases(composite)
    rows = jsonl([{"prompt": "p", "completion": "x", "colour": "red"}])
    (case,) = cases_of_file(composite, rows, limit=5)
    assert audit(composite, [case]).wins == []


@pytest.mark.slow
def test_programs_are_tried_in_the_sandbox() -> None:
    sandbox = pytest.importorskip("grpo_rewards_sandbox")
    if sandbox.guarantees()["local"] is None:
        pytest.skip("no sandbox works here")
    composite = Composite({"rewards": {"code": {"use": "code", "params": {"format": "asserts"}}}})
    (case,) = sample_cases(composite)
    report = audit(composite, [case])
    programs = {"early exit", "always equal", "conftest.py", "patched tests", "forged verdict", "reading the tests"}
    assert {one.attack for one in report.earned} >= programs
    assert report.wins == []
    assert report.untried == []


@pytest.mark.slow
def test_every_component_of_a_composite_is_reached(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    config: Any = read_yaml(request.config.rootpath / "examples" / "rewards.yaml")
    composite = Composite(config)
    report = audit(composite, sample_cases(composite))
    paying = {name for one in report.earned for name, part in one.parts.items() if part["status"] == "scored"}
    assert paying == set(config["rewards"])
    assert report.wins == []
