"""The failure table of the design, line by line."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite, Outcome, load, reward
from grpo_rewards._composition import evaluation
from grpo_rewards.errors import ColumnError, ConfigError, InfrastructureError, InputError, PluginError

RELEASE = threading.Event()


@reward(range=(0.0, 1.0))
def format_ok(completion: str) -> float:
    return 1.0


@reward(range=(-1.0, 1.0))
def troubled(completion: str) -> Any:
    """Does what the completion says."""
    return {
        "fine": 1.0,
        "wrong": 0.0,
        "rejected": Outcome(None, "rejected", "no answer"),
        "timeout": Outcome(None, "timeout", "hung"),
        "skip": None,
        "down": Outcome(None, "unavailable", "sandbox is gone"),
        "nan": float("nan"),
        "inf": float("inf"),
        "big": 7.0,
        "huge": 1e20,
        "endless": 10**400,
        "text": "1.0",
    }.get(completion) if completion not in ("raise", "hang") else _act(completion)  # fmt: skip


def _act(completion: str) -> float:
    if completion == "hang":
        RELEASE.wait(30)
        return 1.0
    raise RuntimeError("boom")


def composite(**errors: Any) -> Composite:
    return Composite(
        {
            "rewards": {"trouble": {"use": troubled, "weight": 2.0}, "format": {"use": format_ok, "weight": 0.5}},
            "errors": errors,
        }
    )


def train(built: Composite, *completions: str, **more: Any) -> list[float | None]:
    return built(prompts=["p"] * len(completions), completions=list(completions), **more)


def test_what_a_completion_causes_is_scored_at_the_low_end_with_the_reason() -> None:
    assert train(composite(), "fine", "wrong", "rejected", "timeout", "skip") == [2.5, 0.5, -1.5, -1.5, 0.5]
    table = composite().score([{"completion": "rejected"}])
    assert table.row(0)["components"]["trouble"]["reason"] == "no answer"


def test_an_infrastructure_failure_blanks_the_row_in_every_component() -> None:
    built = composite()
    assert train(built, "fine", "wrong", "fine", "down") == [2.5, 0.5, 2.5, None]
    table = built.score([{"completion": "fine"}, {"completion": "down"}])
    assert [outcomes[1].value for outcomes in table.components.values()] == [None, None]
    assert table.values("format") == [1.0, None]
    assert table.left_out[1] == "component 'trouble' is unavailable: sandbox is gone"
    assert table.components["format"][1].details["value"] == 1.0
    assert table.stats()["trouble"]["unavailable"] == 1
    assert table.stats()["format"]["left_out"] == 1


def test_a_shadow_that_is_down_blanks_nothing() -> None:
    rewards = {"trouble": {"use": troubled, "weight": 0.0}, "format": format_ok}
    assert train(Composite({"rewards": rewards}), "down", "fine") == [1.0, 1.0]


def test_too_many_infrastructure_failures_stop_the_run_and_say_why() -> None:
    with pytest.raises(InfrastructureError, match=r"2 of the latest 4 rows.*sandbox is gone") as caught:
        train(composite(), "fine", "down", "down", "fine")
    assert caught.value.rate == 0.5
    assert train(composite(max_infra_rate=0.5), "fine", "down", "down", "fine")[1] is None
    with pytest.raises(InfrastructureError):
        train(composite(infra="raise"), *["fine"] * 9, "down")


def test_single_failures_add_up_over_batches() -> None:
    built = composite()
    train(built, "fine", "fine", "fine", "down")
    with pytest.raises(InfrastructureError, match="2 of the latest 8 rows"):
        train(built, "fine", "fine", "fine", "down")


@pytest.mark.parametrize(
    ("completion", "problem"),
    [
        ("raise", "RuntimeError: boom"),
        ("nan", "returned nan"),
        ("inf", "returned inf"),
        ("big", r"returned 7.0, outside its declared range \[-1, 1\]"),
        ("huge", r"returned 1e\+20; a trainer computes in float32"),
        ("endless", "returned int 1000"),
        ("text", "returned str '1.0'"),
    ],
)
def test_a_broken_plugin_stops_training_and_is_named(completion: str, problem: str) -> None:
    with pytest.raises(PluginError, match=problem) as caught:
        train(composite(), "fine", completion)
    error = caught.value
    assert (error.component, error.plugin, error.version, error.row) == ("trouble", "troubled", "unversioned", 1)
    assert train(composite(plugin="drop_row"), "fine", completion) == [2.5, None]
    table = composite().score([{"completion": completion}])
    assert table.rewards() == [None]
    assert table.components["trouble"][0].status == "error"


def test_a_sum_that_a_trainer_cannot_compute_with_stops_the_run() -> None:
    built = Composite({"rewards": {"trouble": {"use": troubled, "weight": 1e19}}})
    with pytest.raises(ConfigError, match=r"the reward of row 1 is 1e\+19.*float32.*lower the weights"):
        train(built, "wrong", "fine")


def test_rows_on_which_a_plugin_breaks_count_too_and_stop_the_run() -> None:
    built = composite(plugin="drop_row", max_infra_rate=0.5)
    assert train(built, "raise", "fine", "fine", "fine") == [None, 2.5, 2.5, 2.5]
    assert built.session.latest is not None
    assert built.session.latest.seen.left_out == 0.25
    message = r"5 of the latest 8 rows \(62%\).*5 on which a plugin broke.*boom.*errors.plugin: raise"
    with pytest.raises(InfrastructureError, match=message) as caught:
        train(built, "raise", "nan", "raise", "big")
    assert caught.value.rate == 0.625


def test_a_plugin_error_keeps_the_completion_and_its_cause() -> None:
    @reward
    def picky(completion: str) -> float:
        return 1.0 if len(completion) < 10 else 1 / 0

    long = "x" * 5000
    for call in (picky, Composite({"rewards": {"picky": picky}})):
        with pytest.raises(PluginError) as caught:
            call(prompts=["p", "p"], completions=["fine", long])
        assert caught.value.completion == long[:2000]
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert any("xxx" in note and len(note) < 300 for note in caught.value.__notes__)


def test_every_error_crosses_into_another_process_whole() -> None:
    with pytest.raises(PluginError) as caught:
        train(composite(), "fine", "raise")
    errors = [
        caught.value,
        InfrastructureError("down", rate=0.5),
        ConfigError("wrong", path="rewards.a", source="r.yaml"),
    ]
    errors += [ColumnError("math", ["answer"], ["anwser"]), InputError("no rows", source="x", line=3)]
    for error in errors:
        received = pickle.loads(pickle.dumps(error))  # noqa: S301 - its own
        assert (type(received), str(received), vars(received)) == (type(error), str(error), vars(error))


def test_hung_rows_are_all_counted_whatever_ended_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches of hung rows are borne; those of a component that is then called no more count with them."""
    monkeypatch.setattr(evaluation, "MAX_STUCK", 2)  # what two batches leave of a reward that is one call
    release = threading.Event()

    @reward.batch(range=(0.0, 1.0))
    def hangs(completions: list[str]) -> list[float]:
        release.wait(30)
        return [1.0] * len(completions)

    built = Composite({"rewards": {"hangs": hangs}, "errors": {"batch_timeout": 0.25}})
    try:
        assert [train(built, *"abcdefghijklmnop") for _ in range(2)] == [[None] * 16] * 2
        with pytest.raises(InfrastructureError, match=r"48 of the latest 48 rows.*32 unfinished within") as caught:
            train(built, *"abcdefghijklmnop")
    finally:
        release.set()
    assert caught.value.rate == 1.0


def test_a_row_that_comes_back_late_repeats_none_of_those_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        evaluation, "_RESCUES", 59
    )  # the rows behind one that hangs are begun after a sixtieth of the time
    calls: Counter[str] = Counter()
    last = threading.Event()

    @reward(range=(0.0, 1.0))
    def first_waits_for_last(completion: str) -> float:
        calls[completion] += 1
        if completion == "h":
            last.set()
        return float(completion != "a" or last.wait(60))

    built = Composite({"rewards": {"waits": first_waits_for_last}, "errors": {"batch_timeout": 60}})
    assert train(built, *"abcdefgh") == [1.0] * 8
    for thread in threading.enumerate():
        if thread.name in ("grpo-rewards-components", "grpo-rewards-waits"):
            thread.join(10)
    assert calls == Counter("abcdefgh")


@pytest.mark.slow
def test_rows_that_hang_now_and_then_stop_the_run_in_the_end() -> None:
    built = composite(batch_timeout=0.5, max_infra_rate=0.3)
    try:
        for _ in range(2):
            assert None in train(built, "fine", "hang", "hang", "fine")
            train(built, "fine")
        with pytest.raises(InfrastructureError, match=r"6 of the latest 14 rows.*6 unfinished within"):
            train(built, "fine", "hang", "hang", "fine")
    finally:
        RELEASE.set()
    RELEASE.clear()


def test_a_list_of_the_wrong_length_is_refused() -> None:
    built = Composite({"rewards": {"short": lambda completions, **_: [1.0]}})
    with pytest.raises(PluginError, match="returned 1 values for 2 completions"):
        train(built, "a", "b")


def test_a_missing_column_is_found_before_the_first_row() -> None:
    seen = []

    @reward
    def needs(completion: str, answer: str) -> float:
        seen.append(completion)
        return 1.0

    built = Composite({"rewards": {"format": format_ok, "needs": {"use": needs, "columns": {"answer": "solution"}}}})
    with pytest.raises(
        ColumnError,
        match=r"'needs' looks at the column 'solution'.*did you mean 'solutions'.*rewards.needs.columns.answer",
    ):
        train(built, "a", solutions=["x"])
    with pytest.raises(ColumnError, match="'solution'"):
        built.score([{"completion": "a"}])
    assert seen == []
    assert train(built, "a", solution=["x"]) == [2.0]


def test_a_batch_that_outlasts_its_time_loses_only_the_unfinished_rows() -> None:
    built = composite(batch_timeout=0.5, max_infra_rate=1.0)
    try:
        assert train(built, "fine", "hang", "fine") == [2.5, None, 2.5]
    finally:
        RELEASE.set()
    RELEASE.clear()


@pytest.mark.slow
def test_one_that_always_hangs_is_called_no_more_and_those_after_it_go_on() -> None:
    release, calls = threading.Event(), []

    @reward.batch
    def hangs(completions: list[str]) -> list[float]:
        calls.append("hangs")
        release.wait(30)
        return [1.0] * len(completions)

    @reward.batch
    def after(completions: list[str]) -> list[float]:
        calls.append("after")
        return [1.0] * len(completions)

    built = Composite(
        {"rewards": {"hangs": hangs, "after": after}, "errors": {"batch_timeout": 0.5, "max_infra_rate": 1.0}}
    )
    try:
        assert [train(built, "a", "b") for _ in range(10)] == [[None, None]] * 10
    finally:
        release.set()
    assert (calls.count("hangs"), calls.count("after")) == (8, 10)


def test_it_works_from_a_thread() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(train(composite(), "fine", "down")))
    thread.start()
    thread.join()
    assert found == [2.5, None]


def test_a_composite_crosses_into_a_spawned_process(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def word(completion, *, word='x'):\n    return float(word in completion)\n")
    config = tmp_path / "rewards.yaml"
    config.write_text("rewards: {word: {use: './mine.py:word', weight: 2, params: {word: yes it is}}}\n")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_score, (load(config), ["yes it is", "no"])) == [2.0, 0.0]


def _score(built: Composite, completions: list[str]) -> list[float | None]:
    return built(completions=completions)


# ----------------------------------------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rewards: {a: {use: nothing_such}}", "rewards.a: there is no reward 'nothing_such'"),
        ("rewards: {a: {use: exact, wieght: 1}}", "rewards.a.wieght: unknown key; did you mean 'weight'"),
        ("rewards: {a: {use: exact, weight: .nan}}", "rewards.a.weight: must be a finite number"),
        ("rewards: {a: {use: exact, clip: [2, 1]}}", "rewards.a.clip: the lower bound comes first"),
        (
            "rewards: {a: {use: exact, gate: {component: b, at_least: 1, at_most: 0}}, b: length}",
            "rewards.a.gate: never opens: at_least 1 is above at_most 0",
        ),
        (
            "rewards: {a: {use: exact, params: {tolerence: 1}}}",
            "rewards.a: .*no setting 'tolerence'; did you mean 'tolerance'",
        ),
        ("rewards: {a: {use: exact, gate: {component: b, at_least: 1}}}", "no other component 'b'"),
        ("rewards: {a: {use: exact, gate: {component: a, at_least: 1}}}", "no other component 'a'"),
        ("rewards: {a: {use: exact, when: {column: x}}}", "give exactly one of equals, any_of, present"),
        ("rewards: {}", "rewards: .*at least 1"),
        ("{rewards: {a: exact}, normalize: gdpo}", "normalize: unknown key; it is 'combine.normalize'"),
        ("reward: {a: exact}", "reward: unknown key; did you mean 'rewards'"),
        ("version: 2\nrewards: {a: exact}", "version: "),
        ("rewards: {a: exact, a: length}", "'a' is given twice"),
        ("rewards: [a", "is not valid YAML"),
        ("? [a]\n: 1", r"rewards.yaml:1: is not valid YAML: .*unhashable key"),
        ("- a", "expected a mapping"),
        ("", "expected a mapping"),
    ],
)
def test_a_wrong_configuration_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rewards.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_file_with_bare_words_is_read_as_it_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "rewards.yaml"
    path.write_text(
        "rewards: {a: exact, b: {use: exact, gate: {component: a, at_least: 1}, when: {column: said, equals: yes}}}\n"
    )
    rows = [{"completion": "1", "answer": "1", "said": said} for said in ("yes", "no")]
    assert load(path).score(rows).rewards() == [2.0, 1.0]


def test_a_gate_takes_no_other_key(tmp_path: Path) -> None:
    path = tmp_path / "rewards.yaml"
    path.write_text("rewards: {a: exact, b: {use: exact, gate: {on: a, at_least: 1}}}\n")
    with pytest.raises(ConfigError, match=r"rewards\.b\.gate\.on: unknown key .*component"):
        load(path)


def test_a_missing_file_and_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import grpo_rewards

    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot be read"):
        load(tmp_path / "nowhere.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRPO_REWARDS_CONFIG", raising=False)
    with pytest.raises(ConfigError, match="GRPO_REWARDS_CONFIG"):
        grpo_rewards.composite_reward  # noqa: B018
    (tmp_path / "rewards.yaml").write_text("rewards: {xml_format: {params: {tags: [a, b]}}}\n")
    try:
        assert grpo_rewards.composite_reward(completions=["<a>x</a>\n<b>y</b>"]) == [1.0]
    finally:
        vars(grpo_rewards).pop("composite_reward", None)
