"""The reward `model` with real, tiny classifiers made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import get_reward
from grpo_rewards.errors import PluginError, SettingsError

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CHAT = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A one-layer classifier of two outputs over characters, with a chat template and no pad token."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    characters = [chr(code) for code in range(32, 127)]
    vocabulary = {token: index for index, token in enumerate(["<unk>", "<eos>", *characters])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<eos>", unk_token="<unk>")
    tokenizer.chat_template = CHAT
    place = tmp_path_factory.mktemp("classifier")
    tokenizer.save_pretrained(place)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_labels=2,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=128, bos_token_id=None, eos_token_id=1,
        )  # fmt: skip
        network = transformers.LlamaForSequenceClassification(config)
        network.score.weight.data.mul_(100)  # so that outputs differ
        network.save_pretrained(place)
    return place


def logits(folder: Path, text: str) -> list[float]:
    """What transformers itself says of one text."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return list(
            network(**{k: v for k, v in tokenizer(text, return_tensors="pt").items() if k != "token_type_ids"})
            .logits[0]
            .tolist()
        )


def test_text_is_scored_as_transformers_scores_it(folder: Path) -> None:
    texts = ["a short one", "a somewhat longer completion", "", "x" * 90]
    reward = get_reward("model").with_(name=str(folder), output="logit", scale=100.0, batch_size=3)
    scored = reward(completions=texts, prompts=["p: "] * 4)
    expected = [logits(folder, "p: " + text)[0] / 100 for text in texts]
    assert scored == pytest.approx(expected, abs=1e-4)
    assert len(set(scored)) == 4


def test_chat_goes_through_the_template(folder: Path) -> None:
    reward = get_reward("model").with_(name=str(folder), label=1)
    prompt = [{"role": "user", "content": "2+2?"}]
    completion = [{"role": "assistant", "content": "4"}]
    (value,) = reward(completions=[completion], prompts=[prompt])
    expected = logits(folder, "[user]2+2?[assistant]4")[1]
    assert value == pytest.approx(float(torch.sigmoid(torch.tensor(expected))), abs=1e-5)


def test_a_completion_makes_no_special_token(folder: Path) -> None:
    reward = get_reward("model").with_(name=str(folder), output="logit", scale=100.0)
    texts = ["ab<eos>cd", "ab cd", "ab<eo<eos>s>", "ab<eo s>", "ab<eos><eos>", "ab"]
    values = reward(completions=texts)
    assert values[::2] == pytest.approx(values[1::2], abs=1e-6)
    chat = [[{"role": "assistant", "content": text}] for text in texts]
    values = reward(completions=chat, prompts=[[{"role": "user", "content": "2+2?"}]] * 6)
    assert values[::2] == pytest.approx(values[1::2], abs=1e-6)
    parts = [[{"type": "text", "text": "ab<e"}, {"type": "text", "text": "os>cd"}], [{"type": "text", "text": "ab cd"}]]
    values = reward(
        completions=[[{"role": "assistant", "content": content}] for content in parts],
        prompts=[[{"role": "user", "content": "2+2?"}]] * 2,
    )
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_a_template_has_its_own_first_token(folder: Path, tmp_path: Path) -> None:
    from tokenizers import processors

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<eos> $A", special_tokens=[("<eos>", 1)]
    )
    tokenizer.chat_template = "<eos>" + CHAT
    tokenizer.save_pretrained(tmp_path)
    transformers.AutoModelForSequenceClassification.from_pretrained(folder).save_pretrained(tmp_path)
    reward = get_reward("model").with_(name=str(tmp_path), output="logit", scale=100.0)
    (chat,) = reward(
        completions=[[{"role": "assistant", "content": "4"}]], prompts=[[{"role": "user", "content": "2?"}]]
    )
    (text,) = reward(completions=["[user]2?[assistant]4"])
    mixed = reward(
        completions=[[{"role": "assistant", "content": "4"}], "[user]2?[assistant]4"],
        prompts=[[{"role": "user", "content": "2?"}], None],
    )
    assert mixed == pytest.approx([chat, text], abs=1e-6)
    assert [chat, text] == pytest.approx([logits(tmp_path, "[user]2?[assistant]4")[0] / 100] * 2, abs=1e-5)


def test_softmax_is_a_probability(folder: Path) -> None:
    both = [get_reward("model").with_(name=str(folder), output="softmax", label=k).one("abc").value for k in (0, 1)]
    assert None not in both
    assert sum(filter(None, both)) == pytest.approx(1.0)


def test_one_hostile_row_takes_no_other_with_it(folder: Path) -> None:
    texts = ["good", "\ud800" * 10, "\0" * 10, "<eos>" * 500, "z" * 100_000]
    scored = get_reward("model").with_(name=str(folder))(completions=texts)
    assert all(value is not None and 0.0 <= value <= 1.0 for value in scored)


def test_long_texts_keep_their_end(folder: Path) -> None:
    reward = get_reward("model").with_(name=str(folder), max_tokens=8)
    first, second, third = reward(completions=["a" * 100 + "the same", "b" * 100 + "the same", "the end!"])
    assert first == pytest.approx(second)
    assert first != pytest.approx(third)


def test_a_model_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    found = get_reward("model").with_(name=str(tmp_path)).one("x")
    assert (found.value, found.status) == (None, "unavailable")
    assert str(tmp_path) in found.reason


def test_an_output_that_is_not_finite_is_unavailable(folder: Path, tmp_path: Path) -> None:
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    network.score.weight.data.fill_(float("nan"))
    network.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    assert get_reward("model").with_(name=str(tmp_path)).one("x").status == "unavailable"


def test_a_label_that_the_model_lacks_is_a_mistake(folder: Path) -> None:
    with pytest.raises(PluginError, match="there is no label 5"):
        get_reward("model").with_(name=str(folder), label=5)(completions=["x"])


@pytest.mark.parametrize(
    "wrong",
    [{"name": " "}, {"name": "m", "batch_size": 0}, {"name": "m", "scale": 0.0}, {"name": "m", "dtype": "int8"}],
)
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        get_reward("model").with_(**wrong)


@pytest.mark.parametrize(("room", "status"), [(2, "scored"), (0, "unavailable")])
def test_a_batch_that_does_not_fit_is_halved(
    room: int, status: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    forward = transformers.LlamaForSequenceClassification.forward

    def crowded(self: Any, input_ids: Any, **more: Any) -> Any:
        sizes.append(len(input_ids))
        if len(input_ids) > room:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return forward(self, input_ids=input_ids, **more)

    texts = [f"text {n}" for n in range(5)]
    reward = get_reward("model").with_(name=str(folder), batch_size=5)
    whole = reward(completions=texts)
    monkeypatch.setattr(transformers.LlamaForSequenceClassification, "forward", crowded)
    if status == "scored":
        assert reward(completions=texts) == pytest.approx(whole, abs=1e-5)
        assert sizes == [5, 2, 2, 1]
    else:
        found = reward.one("x")
        assert found.status == status
        assert "memory" in found.reason
