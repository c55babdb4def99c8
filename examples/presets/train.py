"""Train with a preset: `python examples/presets/train.py gsm8k-xml --model Qwen/Qwen2.5-0.5B-Instruct`.

    pip install '.[train]'
    python examples/presets/train.py countdown-nano-aha --data my_rows.jsonl --steps 500
    python examples/presets/train.py multi-objective --lora --data openai/gsm8k:main
    grpo-rewards explain preset/dapo > mine.yaml; python examples/presets/train.py mine.yaml --prompt answer

Rows hold `prompt` (text or messages) or `question`, and the columns that the preset needs; without --data the prompts in
examples/ are used, which are for trying out: they are few. The system prompt asks for the tags that the preset rewards.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset
from grpo_rewards_adapters.trl import attach
from trl import GRPOConfig, GRPOTrainer

from grpo_rewards import Composite, load

EXAMPLES = Path(__file__).resolve().parents[1]
PROMPTS = {
    "reasoning": "Respond in this format:\n<reasoning>\nyour steps\n</reasoning>\n<answer>\nthe final answer only\n</answer>",
    "think": "Respond in this format:\n<think>your steps</think>\n<answer>the final answer only</answer>",
    "answer": "Think step by step, then give the final answer alone in <answer> and </answer>.",
    "expression": "Respond in this format:\n<think>your steps</think>\n<answer>an expression of the numbers</answer>",
    "code": "You are a Python programmer. Reply with the whole program in one ```python block.",
    "json": "Reply with one JSON object and nothing else.",
    "tools": "Think in <think> and </think>; then call functions in <tool_call> and </tool_call>, one JSON object with name and "
    "parameters a line, or reply in <response> and </response>.",
    "sql": "Reply with one SQLite query in a ```sql block.",
    "none": "",
}
HERE = Path(__file__).parent
# Which system prompt and which rows go with a preset; the reasoning prompt and the arithmetic rows with any other.
OF_PRESET: dict[str, tuple[str, Path, str | None]] = {
    "countdown-nano-aha": ("expression", EXAMPLES / "reasoning.jsonl", "countdown"),
    "countdown-grpo-zero": ("expression", EXAMPLES / "reasoning.jsonl", "countdown"),
    "reasoning-gym": ("answer", HERE / "reasoning_gym.jsonl", None),
    "humaneval": ("code", EXAMPLES / "code.jsonl", None),
    "mbpp": ("code", HERE / "mbpp.jsonl", None),
    "deepcoder": ("code", HERE / "deepcoder.jsonl", None),
    "livecodebench": ("code", HERE / "livecodebench.jsonl", None),
    "codeforces": ("code", HERE / "codeforces.jsonl", None),
    "leetcode": ("code", HERE / "leetcode.jsonl", None),
    "json-extraction": ("json", HERE / "extraction.jsonl", None),
    "if-rlvr": ("none", HERE / "instructions.jsonl", None),
    "text-to-sql": ("sql", HERE / "sql.jsonl", None),
    "search-r1": ("answer", HERE / "qa.jsonl", None),
    "toolrl": ("tools", HERE / "tool_calls.jsonl", None),
    "judge-rubric": ("none", HERE / "judge_rubric.jsonl", None),
    "judge-ranking": ("none", HERE / "judge_ranking.jsonl", None),
    "judge-pairwise": ("none", HERE / "judge_pairwise.jsonl", None),
    "course-longer": ("none", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "course-ideal-length": ("none", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "dapo": ("answer", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "cosine-length": ("answer", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "repetition-penalty": ("answer", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "course-answer": ("answer", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "course-pattern": ("think", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "course-content": ("think", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "gsm8k-simple-grpo": ("think", EXAMPLES / "reasoning.jsonl", "arithmetic"),
    "r1": ("think", EXAMPLES / "reasoning.jsonl", "arithmetic"),
}
DEFAULT = ("reasoning", EXAMPLES / "reasoning.jsonl", "arithmetic")
UNUSED = {"completion", "completion_tokens", "finish_reason", "group_id", "source", "shots", "task", "question"}


def read_rows(data: str | Path, *, task: str | None = None) -> list[dict[str, Any]]:
    """Read a JSONL file, or the training split of a dataset of the hub (``openai/gsm8k:main``); each prompt once."""
    if Path(data).is_file():
        rows = [json.loads(line) for line in Path(data).read_text(encoding="utf-8").splitlines()]
    else:
        name, _, config = str(data).partition(":")
        rows = list(load_dataset(name, config or None, split="train"))
    unique = {
        json.dumps(row.get("prompt", row.get("question"))): row for row in rows if task in (None, row.get("task"))
    }
    return list(unique.values())


def make_dataset(rows: list[dict[str, Any]], system: str, composite: Composite) -> Dataset:
    """Ask each row's last question under the system prompt; of its columns, drop those that nobody reads."""
    asked = []
    for row in rows:
        prompt = row.get("prompt", row.get("question"))
        question = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": question})
        asked.append({**{k: v for k, v in row.items() if k not in UNUSED and v is not None}, "prompt": messages})
    dataset = Dataset.from_list(asked)
    composite.check_columns([*dataset.column_names, "completion_ids"])
    return dataset


def main(arguments: list[str] | None = None) -> GRPOTrainer:
    """Train as the command line says, and return the trainer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", help="a preset's name (grpo-rewards list --presets), or a YAML file")
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--data", help="JSONL, or DATASET[:CONFIG] of the hub")
    parser.add_argument("--prompt", choices=sorted(PROMPTS), help="the system prompt; without it the preset's")
    parser.add_argument("--output", default="outputs")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--generations", type=int, default=8, help="completions per prompt: the group")
    parser.add_argument("--batch", type=int, default=8, help="completions per device and forward pass")
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--max-completion", type=int, default=512, help="tokens")
    parser.add_argument("--learning-rate", type=float, default=5e-6)
    parser.add_argument("--beta", type=float, default=0.0, help="of the KL term; kl is logged where it is above 0")
    parser.add_argument("--lora", action="store_true", help="train adapters of rank 16 instead of all weights")
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args(arguments)

    composite = load(args.preset if args.preset.endswith((".yaml", ".yml")) else f"preset/{args.preset}")
    kind, file, task = OF_PRESET.get(args.preset, DEFAULT)
    rows = read_rows(args.data) if args.data else read_rows(file, task=task)
    peft = None
    if args.lora:
        from peft import LoraConfig

        peft = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.05, target_modules="all-linear", task_type="CAUSAL_LM")
    trainer = GRPOTrainer(
        model=args.model,
        reward_funcs=composite,
        train_dataset=make_dataset(rows, PROMPTS[args.prompt or kind], composite),
        peft_config=peft,
        args=GRPOConfig(
            output_dir=args.output,
            max_steps=args.steps,
            num_generations=args.generations,
            per_device_train_batch_size=args.batch,
            gradient_accumulation_steps=args.accumulate,
            max_completion_length=args.max_completion,
            learning_rate=args.learning_rate,
            warmup_steps=0.1,
            max_grad_norm=0.1,
            beta=args.beta,
            scale_rewards="group",  # (reward - mean of the group) / (its deviation + 1e-4), as in Simple GRPO
            logging_steps=1,
            report_to=[],
            use_cpu=args.cpu,
            bf16=not args.cpu,
        ),
    )
    attach(trainer, composite)
    trainer.train()
    trainer.save_model(args.output)
    return trainer


if __name__ == "__main__":
    main()
