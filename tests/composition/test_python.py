"""Compositions written in Python: by name, in a list, within each other, and as the YAML that says the same."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_rewards import Composite, ScoreTable, compose, get_reward, load, reward
from grpo_rewards.errors import ConfigError
from grpo_rewards.rewards import exact, length

ROWS = [
    {"prompt": "2+2?", "completion": "<think>hm</think>please 4", "answer": "4"},
    {"prompt": "2+2?", "completion": "5", "answer": "4"},
]


@reward(range=(0.0, 1.0))
def polite(completion: str, *, word: str = "please", least: int = 1) -> float:
    """The completion is polite."""
    return float(completion.count(word) >= least)


def plain(completion: str, answer: str) -> float:
    return float(answer in completion)


def as_trl(completions: list[Any], **kwargs: Any) -> list[float]:
    return [float(len(completion)) for completion in completions]


def values(composite: Composite) -> dict[str, list[float | None]]:
    table = composite.score(ROWS)
    return {name: table.values(name) for name in table.components} | {"reward": table.rewards()}


@pytest.mark.parametrize(
    ("made", "weights"),
    [
        (lambda: Composite(correct=(exact, 2.0), polite=polite), {"correct": 2.0, "polite": 1.0}),
        (lambda: Composite(correct=("exact", 2), polite=polite.with_(word="4")), {"correct": 2.0, "polite": 1.0}),
        (lambda: Composite(exact=2.0, diversity=0.5), {"exact": 2.0, "diversity": 0.5}),
        (lambda: Composite({"exact": 2.0, "polite": polite}), {"exact": 2.0, "polite": 1.0}),
        (lambda: Composite({"rewards": {"exact": None}}, polite=(polite, 3)), {"exact": 1.0, "polite": 3.0}),
        (lambda: Composite(rewards={"exact": {"weight": 0.5}}), {"exact": 0.5}),
        (lambda: Composite(a=plain, b=as_trl, c=lambda completion: 1.0), {"a": 1.0, "b": 1.0, "c": 1.0}),
        (lambda: Composite(a=(plain, {"weight": 2, "clip": (0, 1)})), {"a": 2.0}),
        (lambda: compose([exact, polite], weights=[2, 0.5]), {"exact": 2.0, "polite": 0.5}),
        (lambda: compose(["exact", polite, polite, lambda completion: 0.0]),
         {"exact": 1.0, "polite": 1.0, "polite_2": 1.0, "reward_4": 1.0}),
        (lambda: compose([plain], names=["right"], combine={"clip": (0, 1)}), {"right": 1.0}),
        (lambda: compose([("exact", 2), (polite, {"weight": 0.5}), plain]), {"exact": 2.0, "polite": 0.5, "plain": 1.0}),
        (lambda: Composite(old=(Composite(x=exact, y=(polite, 2.0)), 0.5), one=Composite(z=plain)),
         {"old_x": 0.5, "old_y": 1.0, "one": 1.0}),
    ],
    ids=["objects", "names and bound", "numbers", "mapping", "both", "rewards=", "functions", "other keys", "list",
         "names of a list", "given names", "pairs", "composites"],
)  # fmt: skip
def test_what_a_component_may_be(made: Any, weights: dict[str, float]) -> None:
    composite = made()
    assert composite.weights == weights
    assert all(value is not None for value in composite.score(ROWS).rewards())


def test_a_composite_within_another_counts_as_its_total() -> None:
    inner = Composite(x=exact, y=(polite, 2.0))
    outer = Composite(inner=(inner, 0.5), again=(plain, 0.0))
    halves = [None if total is None else total / 2 for total in inner.score(ROWS).rewards()]
    assert outer.score(ROWS).rewards() == halves


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"correct": (exact, 1, 2)}, "rewards.correct: expected a pair"),
        ({"correct": True}, "rewards.correct: expected a reward or a function, not bool"),
        ({"exakt": 2.0}, "did you mean 'exact'"),
        ({"errors": polite}, "'errors' is a section"),
        ({"old": Composite(x=exact, combine={"clip": (0, 1)})}, "rewards.old: a composite within another .* combine.clip"),
        ({}, "the smallest is"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_by_name(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Composite(**arguments)


def test_a_list_says_where_it_belongs_and_a_misspelt_section_which_is_meant() -> None:
    new: Any = Composite  # what type checkers refuse too
    join: Any = compose
    for wrong in (lambda: new([exact]), lambda: new([exact], weights=[2]), lambda: new(exact, polite),
                  lambda: new([exact], [2]), lambda: new(rewards=[exact]), lambda: join(exact, polite),
                  lambda: join({"a": exact}, weights={"a": 2})):  # fmt: skip
        with pytest.raises(ConfigError, match=r"goes into compose"):
            wrong()
    with pytest.raises(ConfigError, match=r"read by load"):
        Composite("rewards.yaml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="reward 1 of the list has a weight of its own"):
        compose([(exact, 2), polite], weights=[1, 1])
    with pytest.raises(ConfigError, match="did you mean 'rewards'"):
        Composite({"reward": {"a": "exact"}})
    with pytest.raises(ConfigError, match="weights: 1 for 2 rewards"):
        compose([exact, polite], weights=[1])
    with pytest.raises(ConfigError, match="given twice"):
        Composite({"rewards": {"a": exact}}, a=polite)


def test_trl_own_functions_score_conversations_and_plain_text() -> None:
    think = pytest.importorskip("trl.rewards").think_format_reward
    composite = Composite(think=think)
    text = "<think>\nhm\n</think>\n4"
    rows: list[dict[str, object]] = [
        {"completion": text},
        {"completion": [{"role": "assistant", "content": text}]},
        {"completion": "4"},
    ]
    assert composite.score(rows).rewards() == [1.0, 1.0, 0.0]


# ------------------------------------------------------------------------------------------------ as YAML


weight = st.floats(-4, 4, allow_nan=False).map(lambda value: round(value, 3))


def _linear(start: float, end: float) -> dict[str, Any]:
    return {"schedule": "linear", "start": start, "end": end, "until": 5}


components = st.fixed_dictionaries(
    {"use": st.sampled_from(["exact", exact, length.with_(target=20), "length", as_trl])},
    optional={
        "weight": st.one_of(weight, st.builds(_linear, weight, weight)),
        "clip": st.just((-1.0, 0.5)),
        "when": st.sampled_from([{"column": "task", "equals": "on"}, {"column": "task", "any_of": ["no", 3, None]}]),
    },
)
compositions = st.fixed_dictionaries(
    {"rewards": st.dictionaries(st.from_regex(r"[a-z][a-z_-]{0,6}[0-9]", fullmatch=True), components, min_size=1, max_size=4)},
    optional={
        "combine": st.sampled_from([{"clip": (0, 2.5)}, {"method": "weighted_mean"}]),
        "errors": st.sampled_from([{"max_infra_rate": 0.1}, {"batch_timeout": None}]),
        "adapt": st.just({"method": "threshold", "bounds": (0.5, 2)}),
    },
)  # fmt: skip


@settings(max_examples=60)
@given(given_config=compositions)
def test_a_mapping_its_yaml_and_the_names_of_its_components_are_one_composite(given_config: dict[str, Any]) -> None:
    names = list(given_config["rewards"])
    given_config["rewards"][names[-1]].setdefault("weight", 1.0)
    if len(names) > 1:
        given_config["rewards"][names[0]]["gate"] = {"component": names[1], "at_least": 0.5}
    composite = Composite(given_config)
    text = composite.to_yaml()
    again = Composite(yaml.safe_load(text))
    assert again.identity == composite.identity
    assert again.to_yaml() == text
    sections = {key: value for key, value in given_config.items() if key != "rewards"}
    assert Composite(**given_config["rewards"], **sections).identity == composite.identity


def test_a_written_file_loads_as_the_same_composite(tmp_path: Path) -> None:
    composite = Composite(
        correct=(exact, 2.0),
        brief=(length.with_(target=10), {"gate": {"component": "correct", "at_least": 1}}),
        trl=as_trl,
    )
    (tmp_path / "rewards.yaml").write_text(composite.to_yaml())
    again = load(tmp_path / "rewards.yaml")
    assert again.identity == composite.identity
    assert values(again) == values(composite)


def test_a_module_beside_the_file_is_found_where_only_a_script_would_find_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def plain(completion, answer):\n    return float(answer in completion)\n")
    (tmp_path / "make.py").write_text(
        "import mine, grpo_rewards\nprint(grpo_rewards.Composite(right=mine.plain).to_yaml())\n"
    )
    made = subprocess.run([sys.executable, "make.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "rewards.yaml").write_text(made.stdout)
    load_it = (
        f"import grpo_rewards; print(grpo_rewards.load({str(tmp_path / 'rewards.yaml')!r}).score({ROWS!r}).rewards())"
    )
    command = [sys.executable, "-P", "-c", load_it]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.stdout == "[1.0, 0.0]\n", said.stderr


def test_bound_settings_are_part_of_a_composites_identity() -> None:
    bound, params = Composite(polite=polite.with_(word="4")), Composite(polite={"use": polite, "params": {"word": "4"}})
    assert bound.identity == params.identity != Composite(polite=polite).identity
    assert bound.provenance["config"] == params.provenance["config"]
    both = Composite(polite={"use": polite.with_(word="4", least=2), "params": {"least": 1}})
    assert values(both)["polite"] == [1.0, 0.0]


def test_what_a_file_cannot_say_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"rewards\.x: '<lambda>' .* cannot be named in a file"):
        Composite(x=lambda completion: 1.0).to_yaml()


# ------------------------------------------------------------------------------------------------ for editors


@pytest.mark.slow
def test_a_type_checker_knows_the_settings_of_a_reward(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        textwrap.dedent(
            """
            from grpo_rewards import Composite, Reward, reward
            from grpo_rewards.rewards import code, math, tone, xml_format

            @reward(range=(0.0, 1.0))
            def polite(completion: str, answer: str | None = None, *, word: str = "please") -> float:
                return float(word in completion)

            @reward
            def brief(completion: str, *, most: int = 10) -> float:
                return float(len(completion) <= most)

            polite.with_(word="kindly").with_columns(answer="solution").with_(word="please")
            brief.with_(most=3)
            math.with_(tolerance=0.1)
            code.with_(sandbox="docker")
            tone.with_(anything=1)
            Composite(math=math, tags=(xml_format.with_(tags=["a", "b"], mode="count"), 2.0))

            @reward.batch
            def taking_the_rest(completions: list[str], *, bonus: float = 1.0, **columns: object) -> list[float]:
                return [bonus for _ in completions]

            taking_the_rest.with_(bonus=2.0)
            every: list[Reward] = [polite, brief]
            every[0].with_(anything=1)
            polite.with_(wrod="kindly")
            brief.with_(most="3")
            math.with_(wrod=3)
            Composite({}, polite)
            """
        )
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout.splitlines()
    errors = [line.partition(" error: ")[2] for line in said if " error: " in line]
    assert len(errors) == 4, said
    assert 'Unexpected keyword argument "wrod"' in errors[0]
    assert 'Argument "most" to "with_" of "Reward" has incompatible type "str"' in errors[1]
    assert 'Unexpected keyword argument "wrod"' in errors[2]
    assert 'Argument 2 to "Composite" has incompatible type' in errors[3]


def test_help_shows_the_call_the_columns_and_the_settings() -> None:
    import inspect

    bound = polite.with_(word="kindly")
    assert "word: str = 'kindly'" in (bound.__doc__ or "")
    assert "least: int = 1" in (bound.__doc__ or "")
    assert "The completion is polite." in (bound.__doc__ or "")
    assert polite.summary == "The completion is polite."
    assert str(inspect.signature(exact)) == "(*, completions, answer, **call)"
    assert "solution" in inspect.signature(exact.with_columns(answer="solution")).parameters
    assert inspect.getdoc(get_reward("length")) != get_reward("length").documentation


def test_settings_are_given_by_name() -> None:
    with pytest.raises(TypeError, match="by name"):
        polite.with_("kindly")  # type: ignore[call-arg]


def test_installed_rewards_can_be_imported_by_name() -> None:
    import grpo_rewards.rewards

    assert exact is get_reward("exact")
    assert "exact" in dir(grpo_rewards.rewards)
    with pytest.raises(ImportError, match="exakt"):
        from grpo_rewards.rewards import exakt  # noqa: F401
    assert isinstance(Composite(exact=1.0).score(ROWS), ScoreTable)
