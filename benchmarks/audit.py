"""How many planted defects ``grpo-rewards audit DATA`` finds, how many sound rows it takes for defective, and what it costs.

    python benchmarks/audit.py planted|second|third|fourth|fifth [--data ../shared/data] [--show]
    python benchmarks/audit.py speed [--data ../shared/data] [--rows 1000]

A set is a file of `audit_rows/`, a line for each entry: its `class`, the `checks` of which one must mark its rows (none: they are
sound, and any mark is a false alarm), the `reward` that judges them where it has to be named, and either the row as it stands
(`row`, or `line` for what is no JSON), or how a defect is planted in `times` rows of a public set:

- `of`: `human_eval`, `mbpp` or `gsm8k`, whose rows are taken in an order drawn by a seed, each once; `twin`: the row itself, too;
- `where`: patterns that columns of the row must have; `keep`: the columns that stay;
- `change`: a pattern and what stands for it, by column (of each text, where the column is a list); every text must change;
- `columns`: new values, in whose texts `{{NAME}}` stands for a column of the row or a name of `_names`.

`planted` has 24 classes for which the checks were written. The others hold forms for which they were not, each written before it was
first run, the second and the fourth without a look at the checks. What a set found missing was mended afterwards as a class, so a
set tells the rate of the unseen only for the tree on which it was new: docs/audit-data.md has those first rates.

`speed` makes rows like HumanEval's: each task several times, with another name, so that no two are the same. Seconds are of the
clock; processor seconds are those of all processes of the audit. JSON on stdout; `--show` adds what was missed.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import processor_seconds

Row = dict[str, Any]

SETS = Path(__file__).parent / "audit_rows"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_SEED = 20261122


@dataclass(frozen=True)
class Case:
    """A line of a data file, the class of what is wrong with it, the checks that may find it, and the reward that it is for."""

    name: str
    checks: tuple[str, ...]
    reward: str
    line: str


# ------------------------------------------------------------------------------------------------ rows


def human_eval(data: Path) -> list[Row]:
    with gzip.open(data / "code" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def mbpp(data: Path) -> list[Row]:
    rows = json.loads((data / "code" / "sanitized-mbpp.json").read_text())
    return [{name: value for name, value in row.items() if name != "source_file"} for row in rows]


def gsm8k(data: Path) -> list[Row]:
    lines = (data / "gsm8k" / "test.jsonl").read_text().splitlines()
    return [{"prompt": row["question"], "answer": row["answer"]} for row in map(json.loads, lines)]


def cases(name: str, data: Path) -> Iterator[Case]:
    """The lines of a set."""
    chance = random.Random(_SEED)
    public: dict[str, list[Row]] = {}
    for text in (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        for line in _lines(entry, data, public, chance):
            yield Case(entry["class"], tuple(entry.get("checks", ())), entry.get("reward", ""), line)


def _lines(entry: Row, data: Path, public: dict[str, list[Row]], chance: random.Random) -> Iterator[str]:
    if "of" not in entry:
        yield entry["line"] if "line" in entry else json.dumps(entry["row"])
        return
    source = entry["of"]
    if source not in public:
        public[source] = {"human_eval": human_eval, "mbpp": mbpp, "gsm8k": gsm8k}[source](data)
        chance.shuffle(public[source])
    for _ in range(entry.get("times", 1)):
        place, line = next(
            ((place, line) for place, row in enumerate(public[source]) if (line := _planted(entry, row)) is not None),
            (None, ""),
        )
        if place is None:
            raise SystemExit(f"{entry['class']}: no row of {source} is left that it fits")
        row = public[source].pop(place)
        if entry.get("twin"):
            yield json.dumps(row)
        yield line


def _planted(entry: Row, row: Row) -> str | None:
    """The line of a row with the entry's defect, or None where it does not fit the row."""
    if not all(re.search(pattern, row[column]) for column, pattern in entry.get("where", {}).items()):
        return None
    made = {name: row[name] for name in entry.get("keep", row)}
    for column, (pattern, other) in entry.get("change", {}).items():
        texts = row[column] if isinstance(row[column], list) else [row[column]]
        changed = [re.sub(pattern, other, text) for text in texts]
        if any(map(str.__eq__, texts, changed)):
            return None
        made[column] = changed if isinstance(row[column], list) else changed[0]
    try:
        names = _names(row)
        made |= {name: _filled(value, names) for name, value in entry.get("columns", {}).items()}
        return str(_filled(entry["line"], names)) if "line" in entry else json.dumps(made)
    except KeyError:  # the row has nothing of that name
        return None


def _names(row: Row) -> dict[str, str]:
    """What `{{NAME}}` stands for beside the columns: parts of the row's first comparison of a call with a value, and others.

    ``FIRST``: that assertion; ``CALL``, ``VALUE``, ``TYPE``: the call, the value, its type; ``BODY``: the lines of HumanEval's
    check function; ``GOLD``: what stands behind GSM8K's marks; ``WORKED``: what stands before; ``CUT``: the row's JSON without its end.
    """
    names = {name: "\n".join(value) if isinstance(value, list) else str(value) for name, value in row.items()}
    names["CUT"] = json.dumps(row)[:-1]
    if "####" in row.get("answer", ""):
        names["WORKED"], _, names["GOLD"] = map(str.strip, row["answer"].rpartition("####"))
    tests = row["test"] if "test" in row else "\n".join(row.get("test_list", ()))
    if "test" in row:
        names["BODY"] = tests.partition("def check(candidate):\n")[2]
    for node in ast.walk(ast.parse(tests)):
        match node:
            case ast.Assert(
                ast.Compare(ast.Call() as call, [ast.Eq()], [ast.Constant() | ast.List() | ast.Tuple() as value])
            ):
                names["FIRST"], names["CALL"] = f"assert {ast.unparse(node.test)}", ast.unparse(call)
                names["VALUE"], names["TYPE"] = ast.unparse(value), type(ast.literal_eval(value)).__name__
                break
    return names


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """A value with what its texts' `{{NAME}}` stand for. Raises KeyError: there is no such name."""
    if isinstance(value, str):
        return _PLACE.sub(lambda found: names[found[1]], value)
    if isinstance(value, list):
        return [_filled(one, names) for one in value]
    return {name: _filled(one, names) for name, one in value.items()} if isinstance(value, dict) else value


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


class Costs:
    """Seconds of the clock, and of the processors, of this process and its children, over all audits."""

    seconds = processor = 0.0

    def audit(self, lines: list[str], reward: str) -> Any:
        """Audit a file of the lines, with one component or by the columns."""
        from grpo_rewards_plugins.code.runner import close_sandboxes

        from grpo_rewards import Composite
        from grpo_rewards._audit.data.running import audit_data

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.jsonl"
            file.write_text("".join(line + "\n" for line in lines))
            started, before = time.perf_counter(), processor_seconds()
            report = audit_data(file, Composite({"rewards": {reward: {"use": reward}}}) if reward else None)
            self.seconds += time.perf_counter() - started
        close_sandboxes()  # its processes are counted once they have ended
        self.processor += processor_seconds() - before
        return report

    def plain(self) -> dict[str, float]:
        return {"seconds": round(self.seconds, 1), "processor_seconds": round(self.processor, 1)}


def measured(made: list[Case], *, show: bool) -> dict[str, Any]:
    """Audit each reward's rows as a file of their own, and count."""
    from grpo_rewards.errors import InputError

    costs, completions = Costs(), 0
    counts: dict[tuple[str, bool], list[int]] = {}  # class and whether it is a defect: those judged rightly, and all
    wrong: list[tuple[Case, str, str]] = []
    for reward in dict.fromkeys(case.reward for case in made):
        mine = [case for case in made if case.reward == reward]
        try:
            report = costs.audit([case.line for case in mine], reward)
            marks, reasons = report.marks(), {one.row: f"{one.check}: {one.reason}" for one in report.findings}
            completions += report.completions
        except InputError as error:  # nothing in it could be tried
            marks, reasons = {}, dict.fromkeys(range(1, len(mine) + 1), str(error))
        for place, case in enumerate(mine, 1):
            found = set(marks.get(place, "").split(",")) - {""}
            good = not found.isdisjoint(case.checks) if case.checks else not found
            count = counts.setdefault((case.name, bool(case.checks)), [0, 0])
            count[0] += good
            count[1] += 1
            if not good:
                wrong.append((case, marks.get(place, ""), reasons.get(place, "")))
    planted = [count for (_, defect), count in counts.items() if defect]
    sound = [count for (_, defect), count in counts.items() if not defect]
    return {
        "rows": len(made),
        "completions": completions,
        "planted": sum(total for _, total in planted),
        "found": round(sum(good for good, _ in planted) / max(1, sum(total for _, total in planted)), 4),
        "worst_class": round(min((good / total for good, total in planted), default=1.0), 4),
        "sound": sum(total for _, total in sound),
        "false_alarms": round(1 - sum(good for good, _ in sound) / max(1, sum(total for _, total in sound)), 4),
        **costs.plain(),
        "classes": {name if defect else f"sound: {name}": f"{good}/{total}" for (name, defect), (good, total) in counts.items()},
        **({"wrong": [[case.name, marks, reason, case.line] for case, marks, reason in wrong]} if show else {}),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*sorted(path.stem for path in SETS.glob("*.jsonl")), "speed"))
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=1000, help="of `speed`")
    parser.add_argument("--show", action="store_true", help="print what was missed, and the false alarms")
    given = parser.parse_args()
    if given.what == "speed":
        costs = Costs()
        report = costs.audit(alike(given.data, given.rows), "")
        found = {"rows": report.rows, "completions": report.completions, "marked": len(report.marks()), **costs.plain()}
    else:
        found = measured(list(cases(given.what, given.data)), show=given.show)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
