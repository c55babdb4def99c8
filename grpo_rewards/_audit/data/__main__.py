"""Writes the documentation's page on the audit of data, with the checks in their own words."""

from __future__ import annotations

import sys

from grpo_rewards._audit.data.checks import CHECKS

__all__ = ["page"]

_HEAD = """\
# Auditing data

```console
$ grpo-rewards audit train.jsonl                          # each row by the reward that knows such rows: code, math, multiple_choice, qa
$ grpo-rewards audit train.jsonl -c rewards.yaml          # by the components of yours that apply to it
$ grpo-rewards audit train.jsonl --only math --column answer=solution
$ grpo-rewards audit train.jsonl -o marked.jsonl          # the rows with their marks
```

Is a data set fit to train on? For every row with tests or a reference `audit` tries what should fail (nothing, a stub, small
changes of the reference), what should pass (the reference, several times), and looks at what stands in the row. Rows may be those
to train on, without completions, in every format that `code` reads ([the formats](code-formats.md)) and with every reference that
`math`, `multiple_choice` or `qa` reads; rows that differ only in a completion are one task. One table says how many rows each check
found something in, `--json` names each row with the reason, `--rows N` stops after as many tasks. Exit 1 for findings, 3 where a
sandbox was down (nothing is known of those rows), 2 where nothing in the file could be tried.

| mark | what it finds |
|---|---|
"""

_TAIL = """
What runs is the data's own code, in the sandbox of the reward `code`. Small changes are made of references in Python alone; a row
without a reference is still held against stubs and looked at. Without `-c` a row is judged by the reward that reads the most of its
columns, and an answer is also looked for in `solution`, `gold`, `ground_truth`, `label`, `target` and the like. A row may have several marks. Not found: tests that are wrong in the same way as their reference, a reference that is right by
luck, answers that a prompt gives in words that announce nothing, two answers to questions that differ in more than white space, case and
the marks at their end, and a prompt that breaks off within a word.

How much it finds: `python benchmarks/audit.py planted` plants 24 classes in 1,000 rows of public sets, for which the checks were written;
`python benchmarks/audit_variants.py second`, `third`, `fourth` and `fifth` hold forms for which they were not. Of 235, 58, 282 and 117 such rows
75 %, 78 %, 87 % and 92 % were found at first sight, and 8 of 164, 1 of 30, 14 of 271 and 1 of 300 sound ones were marked; then the checks were
mended, class by class. So expect one in ten of the defects that nobody has thought of to stay unseen, and look at what stays `fit` too.

`grpo-rewards report scored.jsonl --audit audit.json`, of what `--json` printed, has a section with every finding.

## Marks, and leaving rows out

`-o marked.jsonl` writes every row with one more column, `audit`: `fit`, or the names of what was found, joined by commas
(`weak,slow`); `unknown` where a sandbox was down. Lines that are no JSON are left out. The column goes wherever the rows go:

```console
$ grpo-rewards score marked.jsonl -c rewards.yaml --leave-out any           # fit rows alone
$ grpo-rewards score completions.jsonl -c rewards.yaml --leave-out nop --leave-out leak
```

```yaml
# of grpo-rewards train
dataset:
  path: marked.jsonl
  leave_out: [oracle, contradictory, flaky]     # or [any]
```

A name that is no mark is refused, and so are rows without the column. Within a composition `when: {column: audit, equals: fit}` does
the same for one component.

## A reward's own probes

A reward that reads one of the usual columns (`answer`, `solution`, `gold`, ...) and scores by itself is tried with what stands there:
right in the usual formats, and two plausible wrong answers. One that knows more says so with the hook `register_probes`, by its name.
The function gets a row's columns by the reward's parameter names, and those settings that it names, as `check_row` does; it returns
`Probes`, or `None` for a row that is not the reward's:

```python
from grpo_rewards import hookimpl, reward
from grpo_rewards.types import Probes


@reward(range=(0.0, 1.0))
def backwards(completion: str, word: str) -> float:
    \"\"\"The completion is the word, read backwards.\"\"\"
    return float(completion.strip() == word[::-1])


def probes(word=None):
    if word is None:
        return None
    if not word.strip():
        return Probes(faults={"gold": "the word is empty"})
    right = word[::-1]
    return Probes(stubs=("", word), references=(right,), mutants=(right + "x", right[1:]), golds=(right,))


@hookimpl
def register_probes():
    return {"backwards": probes}
```

`stubs` must fail, one of `references` must get the most that the reward gives, `mutants` must mostly fail and the first `telling` of them
all; `golds` and `passages` must not stand in the prompt; `faults` are found by looking, by the name of the check. Here a word that reads the
same backwards is `nop`: repeating it is paid.

This page is written by `python -m grpo_rewards._audit.data > docs/audit-data.md`.
"""


def page() -> str:
    """Return the page, with a line for each check from its docstring."""
    lines = [f"| `{name}` | {' '.join((check.__doc__ or '').split())} |\n" for name, check in CHECKS.items()]
    return _HEAD + "".join(lines) + _TAIL


if __name__ == "__main__":
    sys.stdout.write(page())
