"""How many planted defects ``grpo-rewards audit DATA`` finds, how many sound rows it takes for defective, and what it costs.

    python benchmarks/audit.py planted [--data ../shared/data] [--rows 1000] [--each 12] [--seed 20261122] [--keep FILE]
    python benchmarks/audit.py speed [--data ../shared/data] [--rows 1000]

`planted` makes rows of HumanEval, MBPP and GSM8K and plants every class of defect in `--each` of them, drawn by `--seed`.
A defect is found where a check that stands beside its class in `CLASSES` marks the row; a false alarm is a row without a
planted defect that has any mark. `speed` makes rows like HumanEval's: each task several times, with another name, so that no two
are the same. Seconds are of the clock; processor seconds are those of all processes of the audit. JSON on stdout.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Plant = Callable[[Row, random.Random], Row | None]


def human_eval(data: Path) -> list[Row]:
    with gzip.open(data / "code" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def mbpp(data: Path) -> list[Row]:
    rows = json.loads((data / "code" / "sanitized-mbpp.json").read_text())
    return [{name: value for name, value in row.items() if name != "source_file"} for row in rows]


def gsm8k(data: Path) -> list[Row]:
    lines = (data / "gsm8k" / "test.jsonl").read_text().splitlines()
    return [{"prompt": row["question"], "answer": row["answer"]} for row in map(json.loads, lines)]


# ------------------------------------------------------------------------------------------------ defects


def _checked(row: Row, body: str) -> Row:
    """A HumanEval row with another check function."""
    return {**row, "test": f"def check(candidate):\n{body}\n"}


def _calls(row: Row) -> list[ast.Compare]:
    """The comparisons ``candidate(...) == value`` of a HumanEval row."""
    return [
        node.test
        for node in ast.walk(ast.parse(row["test"]))
        if isinstance(node, ast.Assert)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Call)
        and isinstance(node.test.ops[0], ast.Eq)
        and isinstance(node.test.comparators[0], ast.Constant | ast.List | ast.Tuple)
    ]


def stub_passes(row: Row, _chance: random.Random) -> Row | None:
    """The tests only see that the function can be called."""
    calls = _calls(row)
    return _checked(row, f"    {ast.unparse(calls[0].left)}\n    assert callable(candidate)") if calls else None


def wrong_reference(row: Row, chance: random.Random) -> Row | None:
    """The reference answers with something else in its last line."""
    body = re.sub(r"return\b.*$", "return 'wrong'", row["canonical_solution"].rstrip(), flags=re.M)
    return {**row, "canonical_solution": body + "\n"} if body != row["canonical_solution"].rstrip() else None


def wrong_test(row: Row, chance: random.Random) -> Row | None:
    """One expected value is wrong."""
    calls = [call for call in _calls(row) if isinstance(call.comparators[0], ast.Constant)]
    if not calls:
        return None
    call = chance.choice(calls)
    wrong = "'no such value'" if not isinstance(call.comparators[0].value, str) else "12345"
    return _checked(
        row, row["test"].split("def check(candidate):")[1] + f"\n    assert {ast.unparse(call.left)} == {wrong}"
    )


def broken_reference(row: Row, _chance: random.Random) -> Row | None:
    """The reference is cut off in the middle of a line."""
    code = row["code"].rstrip()
    return {**row, "code": code[: code.rindex("return") + 3]} if "return" in code else None


def only_types(row: Row, _chance: random.Random) -> Row | None:
    """The tests look at the type of results alone."""
    calls = _calls(row)
    if not calls or not isinstance(calls[0].comparators[0], ast.Constant):
        return None
    kind = type(calls[0].comparators[0].value).__name__
    if kind not in ("int", "str", "float"):
        return None
    return _checked(row, "".join(f"    assert isinstance({ast.unparse(one.left)}, {kind})\n" for one in calls[:3]))


def only_not_none(row: Row, _chance: random.Random) -> Row | None:
    """The tests look at whether there is a result."""
    calls = [
        f"assert {one.removeprefix('assert ').split('==')[0].strip()} is not None"
        for one in row["test_list"]
        if not one.startswith("assert not")
    ]
    if not calls:
        return None
    try:
        list(map(ast.parse, calls))
    except SyntaxError:
        return None
    return {**row, "test_list": calls}


def by_chance(row: Row, _chance: random.Random) -> Row | None:
    """The tests fail half of the time."""
    if "random" in row["test"]:  # bound anew in the function
        return None
    body = row["test"].split("def check(candidate):", 1)
    return {
        **row,
        "test": f"import random\n{body[0]}def check(candidate):\n    assert random.random() < 0.5\n{body[1].lstrip(chr(10))}",
    }


def by_the_clock(row: Row, _chance: random.Random) -> Row:
    """The verdict depends on the time."""
    return {**row, "test_list": ["import time\nassert time.time_ns() // 1000 % 2", *row["test_list"]]}


def sleeping(row: Row, chance: random.Random) -> Row:
    """The reference nearly uses the row's time limit up: one second, three for Python. A stub cannot pass."""
    number = chance.randint(1, 10**9)
    return {
        "task_id": row["task_id"],
        "prompt": f"Read a number and print the next. Or else: {row['prompt']}",
        "tests": [{"input": f"{number}\n", "output": f"{number + 1}\n"}],
        "time_limit": 1.0,
        "solution": "import time\ntime.sleep(2.2)\nprint(int(input()) + 1)\n",
    }


def skipped(row: Row, _chance: random.Random) -> Row:
    """The only test is skipped."""
    name = row["entry_point"]
    text = f"import pytest\nfrom solution import {name}\n\n@pytest.mark.skip\ndef test_it():\n    assert {name} is not None\n"
    return {**row, "test": text}


def no_assertion(row: Row, _chance: random.Random) -> Row | None:
    """The tests call the function and look at nothing."""
    calls = _calls(row)
    return _checked(row, f"    {ast.unparse(calls[0].left)}\n    print('ok')") if calls else None


def assert_true(row: Row, _chance: random.Random) -> Row:
    """The tests assert what always holds."""
    return _checked(row, "    assert True, 'it runs'\n    assert (candidate, 'is there')")


def swallowed(row: Row, _chance: random.Random) -> Row | None:
    """The tests catch the assertions that they make."""
    calls = _calls(row)
    if not calls:
        return None
    return _checked(row, f"    try:\n        assert {ast.unparse(calls[0])}\n    except Exception:\n        pass")


def leaked_code(row: Row, _chance: random.Random) -> Row | None:
    """The prompt ends with the solution."""
    if len("".join(row["canonical_solution"].split())) < 20:
        return None
    shown = f"# A solution, for comparison:\n{row['prompt']}{row['canonical_solution']}\n\n\n"
    return {**row, "prompt": shown + row["prompt"]}


def leaked_gold(row: Row, chance: random.Random) -> Row:
    """The prompt tells the answer."""
    gold = row["answer"].rpartition("####")[2].strip()
    said = chance.choice(
        [" (Answer: {})", "\nHint: the answer is {}.", "\n#### {}", " The final answer is \\boxed{{{}}}."]
    )
    return {**row, "prompt": row["prompt"] + said.format(gold)}


def empty_gold(row: Row, chance: random.Random) -> Row:
    """There is no answer after the marks."""
    return {**row, "answer": chance.choice(["", "   ", row["answer"].rpartition("####")[0] + "####"])}


def unreadable_gold(row: Row, chance: random.Random) -> Row:
    """The answer is no mathematics."""
    return {**row, "answer": "#### " + chance.choice(["\\frac{3}{", "((3+", "\\sqrt{", "x^", "3 +* 4)"])}


def other_format(row: Row, chance: random.Random) -> Row:
    """The tests are in a format that nobody knows."""
    tests = chance.choice(
        [{"scenario": "given", "steps": ["when", "then"]}, [{"given": 1, "when": 2}], [[1, 2], [3, 4]]]
    )
    return {**{name: value for name, value in row.items() if name != "test_list"}, "tests": tests}


def no_python(row: Row, _chance: random.Random) -> Row:
    """The tests do not compile."""
    return {**row, "test": row["test"].replace("def check(candidate):", "def check(candidate)")}


def cut_tests(row: Row, _chance: random.Random) -> Row:
    """Inputs and outputs are cut short, as some sites show them."""
    tests = {"inputs": ["5\n" + "17 " * 200 + "..."], "outputs": ["17 " * 200 + "..."]}
    return {"task_id": row["task_id"], "prompt": row["prompt"], "tests": tests}


def two_outputs(row: Row, _chance: random.Random) -> Row:
    """One input has two outputs."""
    tests = [{"input": "2 3\n", "output": "5\n"}, {"input": "2 3\n", "output": "6\n"}]
    return {"task_id": row["task_id"], "prompt": row["prompt"], "tests": tests}


def no_prompt(row: Row, chance: random.Random) -> Row:
    """There is nothing to answer."""
    return {**row, "prompt": chance.choice(["", "  \n", None])}


def twin_of(row: Row, chance: random.Random) -> Row:
    """The same question stands there with another answer."""
    gold = row["answer"].rpartition("####")[2].strip().replace(",", "")
    return {**row, "answer": f"#### {int(gold) + chance.randint(1, 9)}"}


CLASSES: Mapping[str, tuple[str, Plant, tuple[str, ...]]] = {
    "a stub passes": ("human_eval", stub_passes, ("nop",)),
    "wrong reference": ("human_eval", wrong_reference, ("oracle",)),
    "wrong test": ("human_eval", wrong_test, ("oracle",)),
    "reference cut off": ("mbpp", broken_reference, ("oracle",)),
    "tests of types only": ("human_eval", only_types, ("weak", "nop")),
    "tests of presence only": ("mbpp", only_not_none, ("weak", "nop")),
    "verdict by chance": ("human_eval", by_chance, ("flaky",)),
    "verdict by the clock": ("mbpp", by_the_clock, ("flaky",)),
    "slow reference": ("mbpp", sleeping, ("slow",)),
    "skipped tests": ("human_eval", skipped, ("vacuous",)),
    "no assertion": ("human_eval", no_assertion, ("vacuous",)),
    "assert True": ("human_eval", assert_true, ("vacuous",)),
    "assertions caught": ("human_eval", swallowed, ("vacuous",)),
    "solution in the prompt": ("human_eval", leaked_code, ("leak",)),
    "answer in the prompt": ("gsm8k", leaked_gold, ("leak",)),
    "no gold": ("gsm8k", empty_gold, ("gold",)),
    "unreadable gold": ("gsm8k", unreadable_gold, ("gold",)),
    "unknown format": ("mbpp", other_format, ("format",)),
    "tests do not compile": ("human_eval", no_python, ("format",)),
    "tests cut short": ("mbpp", cut_tests, ("format",)),
    "two outputs for one input": ("mbpp", two_outputs, ("contradictory",)),
    "no prompt": ("gsm8k", no_prompt, ("row",)),
    "no JSON": ("gsm8k", lambda row, _chance: row, ("row",)),
    "two answers to one question": ("gsm8k", twin_of, ("contradictory",)),
}
"""What is planted, in rows of which set, and the checks of which one must mark the row."""


def planted(data: Path, rows: int, each: int, seed: int) -> tuple[list[str], dict[int, str]]:
    """Return the lines of a file, and the class of the defect in each line (from 1) that has one."""
    chance = random.Random(seed)
    sources = {"human_eval": human_eval(data), "mbpp": mbpp(data), "gsm8k": gsm8k(data)}
    for found in sources.values():
        chance.shuffle(found)
    defective: list[tuple[str, Row]] = []
    for name, (source, plant, _) in CLASSES.items():
        made = 0
        kept: list[Row] = []
        while made < each and sources[source]:
            row = sources[source].pop()
            bad = plant(row, chance)
            if bad is None or (name != "no JSON" and bad == row):
                kept.append(row)
                continue
            made += 1
            defective.append((name, bad))
            if name == "two answers to one question":
                defective.append((name, row))
        sources[source][:0] = kept
        if made < each:
            raise SystemExit(f"{name}: only {made} of {each} rows could be planted in {source}; lower --each")
    plain = [*sources["human_eval"], *sources["mbpp"], *sources["gsm8k"]]
    lines = [(name, json.dumps(row)[: -len("}")] if name == "no JSON" else json.dumps(row)) for name, row in defective]
    lines += [("", json.dumps(row)) for row in plain[: rows - len(lines)]]
    chance.shuffle(lines)
    return [line for _, line in lines], {number: name for number, (name, _) in enumerate(lines, 1) if name}


def alike(data: Path, rows: int) -> list[str]:
    """Lines of tasks like HumanEval's, each with a name of its own."""
    made: list[str] = []
    number = 0
    while len(made) < rows:
        for row in human_eval(data)[: rows - len(made)]:
            entry, own = row["entry_point"], f"{row['entry_point']}_{number}"
            if number:
                row = {name: re.sub(rf"\b{entry}\b", own, str(value)) for name, value in row.items()}
            made.append(json.dumps({**row, "task_id": f"{row['task_id']}/{number}"}))
        number += 1
    return made


# ------------------------------------------------------------------------------------------------ measuring


def audited(lines: list[str], keep: Path | None) -> tuple[Any, float, float]:
    """Return the report, the seconds on the clock, and those of processors, of this process and its children."""
    from grpo_rewards_plugins.code.runner import close_sandboxes

    from grpo_rewards._audit.data.running import audit_data

    with tempfile.TemporaryDirectory() as folder:
        file = keep or Path(folder) / "rows.jsonl"
        file.write_text("".join(line + "\n" for line in lines))
        started, before = time.perf_counter(), _processor()
        report = audit_data(file)
        seconds = time.perf_counter() - started
    close_sandboxes()  # its processes are counted once they have ended
    return report, seconds, _processor() - before


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("planted", "speed"))
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--keep", type=Path, help="where the rows are written, to look at them")
    given = parser.parse_args()
    if given.what == "speed":
        report, seconds, processor = audited(alike(given.data, given.rows), given.keep)
        found: dict[str, Any] = {"rows": report.rows, "completions": report.completions, "marked": len(report.marks())}
    else:
        lines, defects = planted(given.data, given.rows, given.each, given.seed)
        report, seconds, processor = audited(lines, given.keep)
        found = judged(report.marks(), defects, report)
    found.update(seconds=round(seconds, 1), processor_seconds=round(processor, 1))
    json.dump(found, sys.stdout, indent=2)
    print()


def judged(marks: Mapping[int, str], defects: Mapping[int, str], report: Any) -> dict[str, Any]:
    """Count what was found of each class, and the marks of sound rows."""
    classes = {}
    for name, (_, _, checks) in CLASSES.items():
        mine = [row for row, planted in defects.items() if planted == name]
        found = [row for row in mine if not set(marks.get(row, "").split(",")).isdisjoint(checks)]
        missed = [row for row in mine if row not in found]
        classes[name] = {
            "planted": len(mine),
            "found": len(found),
            "missed": [(row, marks.get(row, "")) for row in missed],
        }
    false = {row: mark for row, mark in marks.items() if row not in defects}
    reasons = {one.row: one.reason for one in report.findings if one.row in false}
    sound = report.rows - len(defects)
    hits = sum(one["found"] for one in classes.values())
    return {
        "rows": report.rows,
        "completions": report.completions,
        "planted": len(defects),
        "found": hits / len(defects),
        "worst_class": min(one["found"] / one["planted"] for one in classes.values()),
        "sound": sound,
        "false_alarms": len(false) / sound,
        "classes": classes,
        "alarms": {row: [mark, reasons.get(row, "")] for row, mark in false.items()},
    }


if __name__ == "__main__":
    main()
