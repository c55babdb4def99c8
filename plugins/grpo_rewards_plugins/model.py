"""The reward `model`: a reward model, as transformers' sequence classifiers are.

torch and transformers are imported with the first batch; without them the run ends, and without the weights rows are ``unavailable``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.forks import PerProcess
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between, finite

if TYPE_CHECKING:
    from grpo_rewards_plugins.classifier import Classifier


def _check(settings: SettingValues) -> None:
    finite(settings)
    if not settings["name"].strip():
        raise ValueError("name must be a folder or the name of a model on the hub")
    between(settings, "batch_size", 1, 4096)
    between(settings, "max_tokens", 1, 10_000_000)
    between(settings, "label", 0, 1_000_000)
    if not settings["scale"] > 0:
        raise ValueError(f"scale must be above 0, not {settings['scale']:g}")


@reward.batch(name="model", range=(-1.0, 1.0), check_settings=_check, needs=("torch", "transformers"), extra="train")
def model(
    completions: list[str],
    messages: list[list[dict[str, object]]],
    prompts: list[object] | None = None,
    *,
    name: str,
    output: Literal["sigmoid", "softmax", "logit"] = "sigmoid",
    label: int = 0,
    scale: float = 10.0,
    batch_size: int = 16,
    max_tokens: int = 2048,
    device: str = "auto",
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
) -> Iterator[tuple[int, Outcome]]:
    """A reward model's score of the completion: a transformers sequence classifier, in batches, on the GPU when there.

    With chat data the classifier reads prompt and completion through its own chat template (without a template: each
    message as ``role: content``), with text their concatenation, as TRL does for reward models. Special tokens of the
    classifier that a completion writes as text (a turn of its chat, an end) are left out of it. Loaded once per
    process; code that comes with the weights is never run. A model that cannot be loaded, memory that does not suffice
    for one row, and NaN are ``unavailable``, not a low score.

    Args:
        prompts: what was asked; the classifier reads it before the completion.
        name: a folder, or a name on the hub.
        output: ``sigmoid`` of the output `label`, between 0 and 1; ``softmax``: the probability of `label` among all;
            ``logit``: the output itself divided by `scale`, between -1 and 1 (a weight of `scale` gives it back).
        label: which of the classifier's outputs counts.
        scale: the size of an output that ``logit`` counts as 1 (ours).
        batch_size: rows per forward pass (ours); halved where the GPU's memory does not suffice.
        max_tokens: longer inputs lose their beginning, since the answer stands at the end (ours).
        device: ``auto``: the GPU when there, else the CPU; or a name that torch knows, such as ``cuda:1``.
        dtype: of the weights; ``auto``: bfloat16 on a GPU, float32 on a CPU.
    """
    classifier = _loaded(name, device, dtype)
    texts = [
        classifier.text(None if prompts is None else prompts[row], completion, messages[row])
        for row, completion in enumerate(completions)
    ]
    chat = [prompts is not None and classifier.templated(prompts[row]) for row in range(len(texts))]
    for templated in (False, True):
        rows = [row for row, is_chat in enumerate(chat) if is_chat is templated]
        given = [texts[row] for row in rows]
        for at, values in classifier.outputs(given, batch_size=batch_size, max_tokens=max_tokens, templated=templated):
            yield rows[at], _outcome(values, output, label, scale)


def _outcome(row: Sequence[float], output: str, label: int, scale: float) -> Outcome:
    if label >= len(row):
        raise ValueError(f"the model has {len(row)} outputs, counted from 0, so there is no label {label}")
    logit = row[label]
    if not all(map(math.isfinite, row)):
        return Outcome(None, "unavailable", "the model's output is not finite")
    if output == "logit":
        value = max(-1.0, min(1.0, logit / scale))
    elif output == "softmax":
        # no exponent is above 0, or a large logit would overflow
        top = max(row)
        value = math.exp(logit - top) / sum(math.exp(other - top) for other in row)
    else:
        # of two equal forms the one whose exponent is negative
        value = 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1.0 + math.exp(logit))
    return Outcome(value, "scored", f"output {label} is {logit:.4g}", {"logit": logit})


_lock = PerProcess(threading.Lock)
_classifiers: dict[tuple[str, str, str], Classifier] = {}


def _loaded(name: str, device: str, dtype: str) -> Classifier:
    key = (name, device, dtype)
    # loaded under the lock, or two threads would each hold a copy of the weights
    with _lock():
        if key not in _classifiers:
            from grpo_rewards_plugins.classifier import Classifier

            _classifiers[key] = Classifier.load(name, device=device, dtype=dtype)
        return _classifiers[key]
