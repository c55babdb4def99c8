"""What the README says is true: its snippets run, and its tables name what there is."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_rewards import Composite, get_reward, list_rewards

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_first_command_scores_real_completions(tmp_path: Path) -> None:
    run = blocks("bash")[0].strip().split(" && ")[-1]
    files, _, scored = run.partition(" | ")
    text = b"".join((ROOT / name).read_bytes() for name in shlex.split(files)[1:])
    _, *arguments = shlex.split(scored)
    arguments[arguments.index("-o") + 1] = str(tmp_path / "scored.jsonl")
    command = [sys.executable, "-c", "from grpo_rewards._cli import main; main()", *arguments]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    rows = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    assert len(rows) >= 400
    assert f"Score {len(rows)} completions" in README
    rewards = [row["grpo_rewards"]["reward"] for row in rows]
    assert None not in rewards
    assert len(set(rewards)) > 10
    correct = [row["grpo_rewards"]["components"]["correct"]["value"] for row in rows if row["task"] == "arithmetic"]
    assert 0.1 < sum(correct) / len(correct) < 0.9
    assert all(row["grpo_rewards"]["components"]["correct"]["reason"] for row in rows)
    passed = [row["grpo_rewards"]["components"]["tests"]["value"] for row in rows if row["task"] == "code"]
    assert len(passed) == 160
    assert 0.1 < sum(passed) / len(passed) < 0.9


def test_the_second_command_is_what_ci_calls() -> None:
    line = next(line for line in blocks("bash")[1].splitlines() if "pytest" in line)
    ci = (ROOT / ".ci" / "run").read_text()
    pattern = re.search(r"sed -n 's/\^\\\((.*)\\\)\$/", ci)
    assert pattern is not None
    assert re.fullmatch(pattern[1], line)


def test_the_composition_loads() -> None:
    import yaml

    composite = Composite(yaml.safe_load(blocks("yaml")[0]))
    good = "<reasoning>\n2 + 2 makes four\n</reasoning>\n<answer>\n4\n</answer>\n"
    rewards = composite(prompts=["2+2?"] * 2, completions=[good, "5"], answer=["4", "4"])
    assert rewards[0] is not None
    assert rewards[1] is not None
    assert rewards[0] > 2.0 > rewards[1]


def test_the_first_python_runs_as_pasted(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    (tmp_path / "first.py").write_text(blocks("python")[0])
    done = subprocess.run([sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"# (\[.+\])$", blocks("python")[0], re.MULTILINE)
    assert shown is not None
    assert done.stdout.strip() == shown[1]


def test_the_reward_that_it_shows_works(tmp_path: Path) -> None:
    code = next(block for block in blocks("python") if "@reward" in block)
    found = re.search(r"^@reward.*?(?=\n\n\n)", code, re.MULTILINE | re.DOTALL)
    assert found is not None
    (tmp_path / "my_rewards.py").write_text(f"from grpo_rewards import Outcome, reward\n\n\n{found[0]}\n")
    polite = get_reward("./my_rewards.py:polite", base=tmp_path)
    assert polite(completions=["Please do", "no"]) == [1.0, 0.0]
    assert polite.with_(word="kindly").one("no").reason == "never says 'kindly'"
    entry = tomllib.loads(blocks("toml")[0])
    assert "grpo_rewards" in entry["project"]["entry-points"]


def test_the_table_of_rewards_is_the_registry() -> None:
    section = README.split("## The rewards")[1].split("\n## ")[0]
    named = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE))
    found = {reward.name: reward for reward in list_rewards() if reward.source == "grpo-rewards"}
    assert set(named) == set(found)
    for name, text in named.items():
        low, high = found[name].range or (None, None)
        assert text.strip() == f"{low:g} … {high:g}"


def test_the_table_of_commands_is_the_command_line() -> None:
    from grpo_rewards._cli import app as module

    if not module.app.registered_commands:
        module._register()
    commands = {command.name for command in module.app.registered_commands}
    section = README.split("## The command line")[1].split("\n## ")[0]
    assert set(re.findall(r"`grpo-rewards (\w+)", section)) == commands
    for command in commands:
        shown = CliRunner().invoke(module.app, [str(command), "--help"])
        assert shown.exit_code == 0
        assert "Example: grpo-rewards" in shown.output.replace("\n", " ")


@pytest.mark.train
@pytest.mark.filterwarnings("default")
def test_the_training_script_trains(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    code = next(block for block in blocks("python") if "GRPOTrainer" in block)
    _tiny_model(tmp_path / "tiny")
    rows = [{"prompt": [{"role": "user", "content": f"{n}+1?"}], "answer": str(n + 1)} for n in range(4)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rewards.yaml").write_text(blocks("yaml")[0])
    code = code.replace("Qwen/Qwen2.5-0.5B-Instruct", "tiny")
    settings = (
        "use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[], max_steps=1, max_completion_length=8, "
    )
    code = code.replace('output_dir="outputs",', f'output_dir="outputs", {settings}')
    (tmp_path / "train.py").write_text(code + "\nprint('LOGGED', sorted(trainer.state.log_history[0]))\n")
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    logged = done.stdout.split("LOGGED")[1]
    assert "'rewards/composite/mean'" in logged
    assert "'rewards/format/mean'" in logged


def _tiny_model(folder: Path) -> None:
    """Write a one-layer Llama with a character tokenizer that has a chat template."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    characters = [chr(code) for code in range(32, 127)] + ["\n"]
    vocabulary = {token: index for index, token in enumerate(["<pad>", "<eos>", *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
    fast.chat_template = (
        "{% for m in messages %}{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}=>{% endif %}"
    )
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, pad_token_id=0, eos_token_id=1, bos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
