"""``grpo-rewards train`` from file to model on a model made on the spot, and what it refuses before loading one."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

pytest.importorskip("trl")

import transformers
from grpo_rewards_adapters.training import bootstrap, count_batches, read_recipe, wilson
from grpo_rewards_adapters.training.arguments import HARDWARE, REMOVED, current_names
from packaging.version import Version

from grpo_rewards._cli.app import application
from grpo_rewards.errors import ColumnError, ConfigError, ResumeError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("ignore:::peft"),
    pytest.mark.filterwarnings("ignore:::datasets"),
    pytest.mark.filterwarnings("error::FutureWarning:transformers.training_args"),  # what our own calls ask for
]

REWARDS = {"rewards": {"correct": {"use": "exact", "weight": 2.0}, "brief": {"use": "length", "params": {"target": 3, "band": 3}}}}  # fmt: skip
TRAINING = {
    "per_device_train_batch_size": 8, "num_generations": 4, "max_completion_length": 5, "max_steps": 2,
    "save_strategy": "steps", "save_steps": 1, "disable_tqdm": True,
}  # fmt: skip


def tiny() -> Any:
    spec = importlib.util.spec_from_file_location("tiny", Path(__file__).with_name("tiny.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model."""
    folder = tmp_path_factory.mktemp("tiny-model")
    made = tiny()
    tokenizer = made.make_tokenizer()
    made.make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def recipe(tmp_path: Path, model: Path) -> Callable[..., Path]:
    """Writes data and a configuration, changed as asked, and returns the configuration's path."""

    def write(**changes: Any) -> Path:
        rows = [{"question": f"{a}+{b}=", "answer": str(a + b)} for a in range(5) for b in range(5)]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        data = {
            "model": str(model), "rewards": REWARDS, "dataset": {"path": "rows.jsonl", "prompt": "question"},
            "evaluation": {"held_out": 6, "max_tokens": 4}, "hardware": "cpu", "training": TRAINING, "output": "run",
        }  # fmt: skip
        path = tmp_path / "train.yaml"
        path.write_text(yaml.safe_dump({**data, **changes}))
        return path

    return write


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(application(), [str(argument) for argument in arguments])


def test_config_in_model_out_and_everything_it_was_made_of(recipe: Callable[..., Path], tmp_path: Path) -> None:
    config = recipe(lora={"r": 4, "alpha": 8})
    checked = invoke("train", config, "--check", "--json")
    assert checked.exit_code == 0, checked.output
    assert json.loads(checked.stdout)["rows"] == 19
    assert not (tmp_path / "run").exists()

    done = invoke("train", config, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads(done.stdout)
    assert found["steps"] == 2
    for name in ("correct", "brief", "reward"):
        figures = found["held_out"][name]
        for end in (figures["before"], figures["after"]):
            low, high = end["interval_95"]
            assert end["n"] == 6
            assert low <= end["mean"] <= high
    run = tmp_path / "run"
    for place in (run, run / "model", run / "checkpoint-1", run / "checkpoint-2"):
        record = json.loads((place / "grpo_rewards.json").read_text())
        assert record["recipe"]["training"] == TRAINING
        assert record["rewards"]["plugins"]["correct"].startswith("grpo-rewards:exact ")
        assert record["packages"]["trl"]
        assert record["seed"] == 0
        assert record["data"]["train"].startswith("rows.jsonl sha256:")
    before, after = (
        [json.loads(line) for line in (run / f"{when}.jsonl").read_text().splitlines()] for when in ("before", "after")
    )
    assert [row["question"] for row in before] == [row["question"] for row in after]
    history = json.loads((run / "trainer_state.json").read_text())["log_history"]
    assert any("grpo_rewards/correct/weight" in entry for entry in history)

    merged = invoke("merge", run / "model", "-o", tmp_path / "merged")
    assert merged.exit_code == 0, (merged.output, merged.exception)
    assert (tmp_path / "merged" / "grpo_rewards.json").is_file()
    same_logits(run / "model", tmp_path / "merged")


def test_a_condition_in_vain_is_found_before_a_model_is_loaded(recipe: Callable[..., Path]) -> None:
    def rewards(**when: Any) -> dict[str, Any]:
        return {"rewards": {**REWARDS["rewards"], "correct": {"use": "exact", "when": when}}}

    misspelt = invoke("train", recipe(rewards=rewards(column="anwser", present=True)), "--check").exception
    assert isinstance(misspelt, ColumnError)
    assert "Correct rewards.correct.when.column in the configuration" in str(misspelt)
    named = {"rewards": {"correct": {"use": "multiple_choice", "columns": {"choices": "chioces"}}}}
    misspelt = invoke("train", recipe(rewards=named), "--check").exception
    assert isinstance(misspelt, ColumnError)
    assert "Correct rewards.correct.columns.choices in the configuration" in str(misspelt)
    checked = invoke("train", recipe(rewards=rewards(column="answer", equals="99")), "--check", "--json")
    assert checked.exit_code == 1
    findings = json.loads(checked.stdout)["findings"]
    assert any("rewards.correct.when.equals: '99' occurs in no row" in finding for finding in findings)
    assert any("rewards.correct applies to no row" in finding for finding in findings)


def same_logits(adapter: Path, merged: Path) -> None:
    import torch
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    ids = AutoTokenizer.from_pretrained(merged)("1+2=", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        one, other = (
            kind.from_pretrained(place, dtype="float32").eval()(ids).logits
            for kind, place in ((AutoPeftModelForCausalLM, adapter), (AutoModelForCausalLM, merged))
        )
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_run_goes_on_from_its_newest_checkpoint(recipe: Callable[..., Path], tmp_path: Path) -> None:
    first = invoke("train", recipe(training={**TRAINING, "max_steps": 1}))
    assert first.exit_code == 0, (first.output, first.exception)
    before = (tmp_path / "run" / "before.jsonl").read_bytes()
    more = invoke("train", recipe(training={**TRAINING, "max_steps": 2}), "--resume", "--json")
    assert more.exit_code == 0, (more.output, more.exception)
    assert json.loads(more.stdout)["steps"] == 2
    assert (tmp_path / "run" / "before.jsonl").read_bytes() == before
    heavier = {"rewards": {**REWARDS["rewards"], "correct": {"use": "exact", "weight": 3.0}}}
    changed = recipe(training={**TRAINING, "max_steps": 3}, rewards=heavier)
    with pytest.raises(ResumeError, match="to go on all the same, give --accept-changes"):
        raise invoke("train", changed, "--resume").exception
    assert json.loads(more.stdout)["held_out"]["reward"]["before"]["n"] == 6


# ------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_a_removed_argument_is_refused_with_its_replacement(recipe: Callable[..., Path], name: str) -> None:
    from trl import GRPOConfig

    if Version(transformers.__version__) >= Version("5"):  # the oldest takes some still; a recipe is for all versions
        assert name not in GRPOConfig.__dataclass_fields__  # else it would not be removed
    with pytest.raises(ConfigError) as found:
        read_recipe(recipe(training={**TRAINING, name: 3}))
    assert f"the trainer has no {name} any more: {REMOVED[name]}" in str(found.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": {**TRAINING, "max_steps": None}}, "max_steps must be a number; -1"),
        ({"training": {**TRAINING, "reward_weights": [1, 2]}}, r"its place is rewards.<name>.weight"),
        ({"training": {**TRAINING, "learning_rat": 1}}, r"no argument learning_rat; did you mean 'learning_rate'"),
        ({"training": {**TRAINING, "num_generations": 3}}, r"8 completions.*whole groups of 3; take num_generations 2 or 4"),
        ({"evaluation": {"held_out": 24}}, r"1 training prompts, and one generation batch needs 2"),
        ({"evaluation": {"held_out": 25}}, r"25 rows are to be held out of 25"),
        ({"dataset": {"path": "rows.jsonl"}}, r"no column 'prompt' \(columns: question, answer\)"),
        ({"dataset": {"path": "rows.jsonl", "template": "Q: {question} {anwser}"}}, "does not fit the columns"),
        ({"dataset": {"path": "absent.jsonl"}}, "absent.jsonl: there is no such file"),
        ({"dataset": {"path": "a", "name": "b"}}, r"give one of path \(a file\) and name"),
        ({"modell": "x"}, r"modell: unknown key; did you mean 'model'"),
        ({"learning_rate": 1e-5}, r"learning_rate: unknown key; did you mean training.learning_rate"),
        ({"model": "no/such-folder-or-name!"}, "model.name: no folder"),
        ({"rewards": {"rewards": {"correct": {"use": "exact", "columns": {"answer": "gold"}}}}}, "looks at the column 'gold'"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_before_a_model_loads(
    recipe: Callable[..., Path], changes: dict[str, Any], message: str
) -> None:
    done = invoke("train", recipe(**changes), "--check")
    assert done.exit_code != 0
    assert re.search(message, str(done.exception)), str(done.exception)


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ("rows.jsonl", (), r"output: the folder .*rows\.jsonl cannot be made: File exists"),
        ("rows.jsonl/run", (), r"output: the folder .*run cannot be made: Not a directory"),
        ("run", ("--resume",), r"output: .*run holds no checkpoint to go on from; leave --resume out"),
    ],
    ids=["a file", "below a file", "nothing to resume"],
)
def test_an_output_that_cannot_be_is_said_before_a_model_loads(
    recipe: Callable[..., Path], tmp_path: Path, output: str, options: tuple[str, ...], message: str
) -> None:
    done = invoke("train", recipe(output=output), *options)
    assert isinstance(done.exception, ConfigError)
    assert re.search(message, str(done.exception)), str(done.exception)
    assert not (tmp_path / "run").exists()


def test_unreadable_references_are_findings(recipe: Callable[..., Path], tmp_path: Path) -> None:
    config = recipe(
        rewards={"rewards": {"where": {"use": "countdown"}}}, evaluation={"held_out": 0},
        dataset={"path": "bad.jsonl", "prompt": "question"},
    )  # fmt: skip
    rows = [{"question": f"{n}=", "numbers": [1, 2], "target": 3 if n else "three"} for n in range(4)]
    (tmp_path / "bad.jsonl").write_text(
        "".join(json.dumps({**row, "target": str(row["target"])}) + "\n" for row in rows)
    )
    done = invoke("train", config, "--check")
    assert done.exit_code == 1, (done.output, done.exception)
    assert "finding: bad.jsonl:1: where:" in done.stdout
    same = invoke("validate", config, "--json")
    assert same.exit_code == 1
    assert json.loads(same.stdout)["total_findings"] == 1


def test_the_example_configuration_is_sound() -> None:
    from trl import GRPOConfig

    file = Path(__file__).parents[2] / "examples" / "train_gsm8k.yaml"
    found = read_recipe(file)
    assert found.composite(file.parent).required_columns == ("answer",)
    assert set(found.arguments) <= set(GRPOConfig.__dataclass_fields__)
    assert count_batches(found.arguments).prompts == 4


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
def test_hardware_uses_no_deprecated_arguments(hardware: str, tmp_path: Path) -> None:
    from trl import GRPOConfig

    defaults = {field.name: field.default for field in dataclasses.fields(GRPOConfig)}
    for given in (HARDWARE[hardware], {}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = GRPOConfig(str(tmp_path), **{**current_names(given, defaults), "use_cpu": True, "bf16": False})
        assert found.gradient_checkpointing is given.get("gradient_checkpointing", True)


def without_network(hub: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with a hub at an address where nobody listens."""
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(hub)}
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_HUB_OFFLINE", "HF_DATASETS_CACHE"):
        environment.pop(name, None)
        environment.pop(name.lower(), None)
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command], capture_output=True, text=True, env=environment, check=False
    )


def test_a_share_of_the_steps_to_warm_up_in_means_the_same_to_every_version(tmp_path: Path) -> None:
    from trl import GRPOConfig

    defaults = {field.name: field.default for field in dataclasses.fields(GRPOConfig)}
    for steps, wanted in ((0.1, 10), (7, 7), (0, 0)):
        given = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "warmup_steps": steps}
        assert GRPOConfig(str(tmp_path), **current_names(given, defaults)).get_warmup_steps(100) == wanted


def test_without_a_network_only_what_is_here_is_looked_at(recipe: Callable[..., Path], tmp_path: Path) -> None:
    """The hub's clients would try again for over a minute."""
    code = (
        "import sys\nfrom pathlib import Path\nimport grpo_rewards_adapters.training.run as run\n"
        "from grpo_rewards_adapters.training.recipe import read_recipe\nfrom grpo_rewards.errors import GrpoRewardsError\n"
        "file = Path(sys.argv[1])\n"
        "try:\n    run.check(read_recipe(file), base=file.parent)\nexcept GrpoRewardsError as error:\n    print(error)\n"
    )
    for changes in ({"model": "nobody/nothing"}, {"dataset": {"name": "nobody/nothing", "prompt": "question"}}):
        done = without_network(tmp_path / "hub", "-c", code, str(recipe(**changes)))
        assert "cannot be" in done.stdout, done.stderr
        assert "does not answer" in done.stderr


def test_what_is_not_to_be_had_is_told_before_a_trainer_is_imported(
    recipe: Callable[..., Path], tmp_path: Path
) -> None:
    code = (
        "import sys\nfrom grpo_rewards._cli import main\n"
        "try:\n    main()\nfinally:\n    print([name for name in ('torch', 'transformers', 'datasets') if name in sys.modules])\n"
    )
    hub = {"name": "nobody/nothing"}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"model": "nobody/nothing"}, "model.name: ", "the hub cannot be reached"),
        ({"model": "no one/no/thing"}, "model.name: ", "no name on the hub"),
        ({"dataset": hub}, "dataset nobody/nothing: ", "the hub cannot be reached"),
        ({"evaluation": {"dataset": hub}}, "dataset nobody/nothing: ", "the hub cannot be reached"),
        ({"dataset": {"path": "not-there.jsonl"}}, "not-there.jsonl: ", "no such file"),
        ({"evaluation": {"dataset": {"path": "rows.txt"}}}, "rows.txt: ", "names no format"),
    ]
    for changes, where, said in cases:
        done = without_network(tmp_path / "hub", "-c", code, "train", str(recipe(**changes)), "--check")
        assert (done.returncode, done.stdout.strip()) == (2, "[]"), done.stderr
        assert where in done.stderr
        assert said in done.stderr


def test_a_data_set_that_was_kept_from_the_hub_is_left_to_its_reader(tmp_path: Path) -> None:
    """In the folder that ``datasets`` gives it, and in that of a mirror of the hub's files."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom grpo_rewards_adapters.training.hub import look_for_dataset\n"
        "look_for_dataset(sys.argv[1])\nprint('left to it')\n"
    )
    for folder in ("datasets/nobody___my_things/default/0.0.0/abc", "hub/datasets--nobody--MyThings"):
        hub = tmp_path / folder.partition("/")[0]
        assert "nobody/MyThings was kept" in without_network(hub, "-c", code, "nobody/MyThings").stderr
        (hub / folder).mkdir(parents=True)
        assert without_network(hub, "-c", code, "nobody/MyThings").stdout == "left to it\n"


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
def test_hardware_uses_arguments_that_exist_and_fit(hardware: str) -> None:
    from trl import GRPOConfig

    assert set(HARDWARE[hardware]) <= set(GRPOConfig.__dataclass_fields__)
    assert count_batches(HARDWARE[hardware]).prompts >= 2


@pytest.mark.parametrize(
    ("arguments", "processes", "prompts", "steps"),
    [
        ({}, 1, 1, None),
        ({"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4}, 2, 4, None),
        ({"generation_batch_size": 64, "per_device_train_batch_size": 8, "num_generations": 16}, 1, 4, None),
        ({"per_device_train_batch_size": 16, "num_train_epochs": 2}, 1, 2, 100),
        ({"per_device_train_batch_size": 16, "num_train_epochs": 2, "gradient_accumulation_steps": 2}, 1, 4, 50),
        ({"steps_per_generation": 2, "gradient_accumulation_steps": 8, "num_train_epochs": 1}, 1, 2, 13),
        ({"per_device_train_batch_size": 16, "num_train_epochs": 0.25}, 1, 2, 13),
        ({"max_steps": 7}, 1, 1, 7),
    ],
)
def test_batch_arithmetic_is_the_trainers(
    arguments: dict[str, Any], processes: int, prompts: int, steps: int | None
) -> None:
    found = count_batches(arguments, rows=100 if "num_train_epochs" in arguments else None, processes=processes)
    assert (found.prompts, found.optimizer_steps) == (prompts, steps)


def test_a_missing_extra_says_what_to_install(recipe: Callable[..., Path]) -> None:
    code = "import sys; sys.modules['transformers'] = None\nfrom grpo_rewards._cli import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, "train", str(recipe()), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "'torch>=" in done.stderr
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilsons_interval_is_the_published_one(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


def test_the_bootstraps_interval_holds_the_mean_and_is_the_same_for_the_same_seed() -> None:
    values = [0.0, 0.5, 1.0, 1.0, 0.25] * 20
    low, high = bootstrap(values, seed=3)
    error = (sum((v - 0.55) ** 2 for v in values) / len(values)) ** 0.5 / len(values) ** 0.5
    assert (low, high) == pytest.approx((0.55 - 1.96 * error, 0.55 + 1.96 * error), abs=0.01)
    assert bootstrap(values, seed=3) == (low, high)
    assert bootstrap([2.0, 2.0]) == (2.0, 2.0)
