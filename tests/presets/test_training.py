"""The training script of examples/ runs with every preset: a real trainer and a model of one layer."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

from grpo_rewards._presets import list_presets

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "presets" / "train.py"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("train_with_preset", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer over characters, with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    characters = [chr(code) for code in range(32, 127)] + ["\n"]
    vocabulary = {token: index for index, token in enumerate(["<pad>", "<eos>", *characters])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['content'][-40:] }}{% endfor %}{% if add_generation_prompt %}=>{% endif %}"
    )
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


class Fair(BaseHTTPRequestHandler):
    """A judge that finds all responses equal."""

    def do_POST(self) -> None:
        told, asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        shown = json.loads(asked["content"])
        verdict = {
            "canary": told["content"].partition('"canary": \'')[2][:12],
            "scores": dict.fromkeys(shown.get("responses", ()), 0.5),
            "answers": [{"met": "no", "quote": ""} for _ in shown.get("criteria", ())],
            "better": "equal",
        }
        answer = json.dumps({"choices": [{"message": {"content": json.dumps(verdict)}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def judge() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Fair) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def asking(name: str, url: str, folder: Path) -> list[str]:
    """The script's first arguments for a preset of a judge, which is served here."""
    component = {"judge-rubric": "rubric", "judge-ranking": "ranking", "judge-pairwise": "better"}[name]
    used = {"use": f"preset/{name}", "params": {component: {"url": url, "key_env": "NO_KEY"}}}
    (folder / "judge.yaml").write_text(json.dumps({"rewards": {"judged": used}}))
    return [str(folder / "judge.yaml"), "--data", str(SCRIPT.with_name(f"{name.replace('-', '_')}.jsonl"))]


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_it_trains_with_every_preset(name: str, script: Any, tiny: Path, judge: str, tmp_path: Path) -> None:
    if name == "reasoning-gym":
        pytest.importorskip("reasoning_gym")
    small = [
        "--steps",
        "1",
        "--generations",
        "2",
        "--batch",
        "4",
        "--accumulate",
        "1",
        "--max-completion",
        "8",
        "--cpu",
    ]
    more = ["--lora"] if name == "multi-objective" else []
    which = asking(name, judge, tmp_path) if name.startswith("judge-") else [name]
    trainer = script.main([*which, "--model", str(tiny), "--output", str(tmp_path), *small, *more])
    (logged,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    components = trainer.reward_funcs[0].components
    assert {key for key in logged if key.startswith("rewards/") and key.endswith("/mean")} >= {
        f"rewards/{component.name}/mean" for component in components
    }
    assert (tmp_path / ("adapter_config.json" if more else "config.json")).is_file()


def test_rows_of_one_s_own(script: Any, tmp_path: Path) -> None:
    from grpo_rewards import load
    from grpo_rewards.errors import ColumnError

    (tmp_path / "gsm8k.jsonl").write_text('{"question": "2+2?", "answer": "2+2 is 4\\n#### 4"}\n' * 2)
    rows = script.read_rows(tmp_path / "gsm8k.jsonl")
    assert len(rows) == 1
    dataset = script.make_dataset(rows, "Be brief.", load("preset/gsm8k-xml"))
    assert [message["content"] for message in dataset[0]["prompt"]] == ["Be brief.", "2+2?"]
    with pytest.raises(ColumnError):
        script.make_dataset([{"prompt": "2+2?"}], "", load("preset/gsm8k-xml"))
