"""Defects and sound rows that the audit's checks were not written for: how many are found at first sight, how many are taken for defective.

    python benchmarks/audit_variants.py second|third|fourth|fifth [--show]

Each set was written before it was first run, the second and the fourth without a look at the checks, the third and the fifth with
them known; what a set found missing was mended afterwards as a class. So a set tells the rate of the unseen only for the tree on which it was new: docs/audit-data.md has those first rates. They
are of the rows as they stood then (of the fourth set four have been taken out since, for which the verdict was right); since, a row that is found under a neighbouring check counts in five classes, and three rows that
were called sound but are not are others now. A defect is found where one of the checks that stand beside its class marks the row.
JSON on stdout; `--show` adds what was missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import audit_code as code
import audit_fifth
from audit_fourth import FOURTH
from audit_fourth_rows import FOURTH_SOUND
from audit_sound import SOUND
from audit_tasks import FACTS, QUESTIONS, Row, chat, choice, fact, gsm8k, next_number, plain, sums
from audit_third import THIRD, THIRD_SOUND

Variant = tuple[str, tuple[str, ...], str, Any]
"""A class (none for a sound row), the checks of which one must mark the row, the reward that it is for, and the row or its line."""


# ------------------------------------------------------------------------------------------------ answers


def gold_in_prompt() -> Iterator[Row]:
    """The prompt tells the answer, in other words."""
    said = ["{}\n\n(You should get GOLD.)", "{} Show that it is GOLD.", "{}\nCorrect answer: GOLD", "{} <!-- answer: GOLD -->", "{}\nA: GOLD",
            "The result is GOLD. {}", "{}\n\nSolution:\nGOLD", "{} **Key:** GOLD", "{}\n[GOLD is correct]", "{} The teacher's solution gives GOLD; explain it."]  # fmt: skip
    for place, words in enumerate(said):
        number = next_number()
        yield (gsm8k, plain, chat)[place % 3](number, words.replace("GOLD", sums(number)[1]))


def gold_in_messages() -> Iterator[Row]:
    """The answer stands in another message, or in another notation."""
    for place in range(10):
        number = next_number()
        gold = sums(number)[1]
        if place < 3:
            said = [f"The answer to the next question is {gold}.", f"Expected output: {gold}", f"Grade against: {gold}"]
            yield chat(number, before=[{"role": "system", "content": said[place]}])
        elif place < 6:
            written = [f"{int(gold):,}", f"{gold}.0", f"\\boxed{{{gold}}}"][place - 3]
            yield plain(number, f"{{}} Hint: the answer is {written}.")
        elif place < 8:
            row = chat(number)
            told = {"role": "assistant", "content": ["Answer: " + gold, f"It is \\boxed{{{gold}}}."][place - 6]}
            yield {**row, "prompt": [*row["prompt"], told, {"role": "user", "content": "Write that out."}]}
        else:
            yield gsm8k(number, ["{}\nans: GOLD", "{} (GOLD books)\n#### GOLD"][place - 8].replace("GOLD", gold))


def placeholders() -> Iterator[Row]:
    """Where the answer should stand there is a placeholder."""
    for place, word in enumerate(
        ["TBD", "?", "-", "null", "nan", "[answer]", "<your answer here>", "xxx", "to be filled in", "not available"]
    ):
        yield (gsm8k, plain)[place % 2](next_number(), gold=word)


def unreadable() -> Iterator[Row]:
    """The answer is damaged."""
    golds = ["\\frac{12}{", "\\boxed{}", "$$", "\\sqrt[3]{8", "![](answer.png)", "Error: timeout", "\\begin{pmatrix} 1 & 2", "12 +", "<img src='a.png'>", "{\"answer\": "]  # fmt: skip
    for place, word in enumerate(golds):
        yield (gsm8k, plain)[place % 2](next_number(), gold=word)


def twins() -> Iterator[Row]:
    """Two rows with one question have different answers; both are counted."""
    changes = ["{} ", "  {}", "{}\n", "{}"]
    for place in range(4):
        number = next_number()
        yield plain(number)
        yield plain(number, changes[place], str(int(sums(number)[1]) + 3 + place))
    number = next_number()
    yield chat(number)
    yield {**plain(number), "answer": "\\boxed{7}"}


def broken_rows() -> Iterator[Any]:
    """There is no question, or no row."""
    for prompt in (
        "\n\t",
        [],
        [{"role": "user", "content": "  "}],
        [{"role": "system", "content": "You are helpful."}],
        17,
        "{question}",
    ):
        yield {**plain(next_number()), "prompt": prompt}
    yield json.dumps([plain(next_number())])
    yield json.dumps(plain(next_number()))[:-7]
    yield '"just a text"'
    yield {"answer": "12"}


def wrong_choices() -> Iterator[Row]:
    """The right option is none of the options."""
    four = QUESTIONS[0][1]
    for gold in ("E", 7, "Stockholm", "", None, "A and C", "?", -3):
        yield choice(next_number(), gold=gold)
    yield choice(10 * next_number() + 1000, gold="D", options=four[:3])
    yield choice(10 * next_number() + 1000, gold="B", options=[])


def told_choices() -> Iterator[Row]:
    """The prompt tells the letter or the accepted answer."""
    for words in ("{}\nThe correct answer is LETTER.", "{}\nAnswer: LETTER", "{} (correct: LETTER)", "Hint: choose LETTER.\n{}", "{}\nThe right option is LETTER)"):  # fmt: skip
        number = 2 * next_number() + 1
        yield choice(number, words.replace("LETTER", "ABCD"[QUESTIONS[number % 10][2]]))


def wrong_facts() -> Iterator[Row]:
    """Accepted answers that are none, or that the prompt tells."""
    for gold in ([], [""], ["the"], [None], ["N/A"], ["TODO"], "?"):
        yield fact(next_number(), gold=gold)
    for words in ("{} Answer: GOLD", "{}\nThe answer is GOLD.", "{} (It is GOLD.)"):
        number = next_number()
        yield fact(number, words.replace("GOLD", FACTS[number % 10][1][0]))


SECOND: dict[str, tuple[Callable[[], Iterable[Any]], tuple[str, ...], str]] = {
    "tests of form": (code.tests_of_form, ("weak", "nop", "vacuous"), ""),
    "tests of themselves": (code.tests_of_themselves, ("weak", "nop", "vacuous"), ""),
    "never reached": (code.never_reached, ("weak", "nop", "vacuous"), ""),
    "assertions caught": (code.assertions_caught, ("weak", "nop", "vacuous", "oracle"), ""),
    "skips": (code.skips, ("vacuous", "nop", "format", "oracle"), ""),
    "always true": (code.always_true, ("weak", "nop", "vacuous"), ""),
    "a stub suffices": (code.stub_suffices, ("nop", "weak"), ""),
    "broken reference": (code.broken_references, ("oracle",), ""),
    "reference of another row": (code.shifted_references, ("oracle",), ""),
    "wrong expectation": (code.wrong_expectations, ("oracle",), ""),
    "verdict by chance": (code.by_chance, ("flaky", "oracle"), ""),
    "slow reference": (code.too_slow, ("slow",), ""),
    "two expectations": (code.two_expectations, ("contradictory", "oracle"), ""),
    "code in the prompt": (code.code_in_prompt, ("leak",), ""),
    "unknown format": (code.unknown_formats, ("format", "row", "vacuous", "oracle"), ""),
    "gold in the prompt": (gold_in_prompt, ("leak",), ""),
    "gold in messages": (gold_in_messages, ("leak",), ""),
    "placeholder": (placeholders, ("gold",), ""),
    "unreadable gold": (unreadable, ("gold",), ""),
    "two answers": (twins, ("contradictory",), ""),
    "broken row": (broken_rows, ("row",), ""),
    "wrong choice": (wrong_choices, ("gold", "row", "oracle", "contradictory", "format"), "multiple_choice"),
    "told choice": (told_choices, ("leak",), "multiple_choice"),
    "wrong fact": (wrong_facts, ("gold", "leak", "row", "nop"), "qa"),
}
"""The second set: rows of each class, the checks of which one must mark them, and the reward that has to be named."""


# ------------------------------------------------------------------------------------------------ measuring


def variants(which: str) -> list[Variant]:
    sets = {
        "second": (SECOND, SOUND),
        "third": (THIRD, THIRD_SOUND),
        "fourth": (FOURTH, FOURTH_SOUND),
        "fifth": (audit_fifth.FIFTH, audit_fifth.FIFTH_SOUND),
    }
    defects, sound = sets[which]
    made: list[Variant] = []
    for name, (rows, checks, use) in defects.items():
        made += [(name, checks, use, row) for row in rows()]
    for name, (rows, use) in sound.items():
        made += [(f"sound: {name}", (), use or _reward_of(row), row) for row in rows()]
    return made


def _reward_of(row: Row) -> str:
    return "multiple_choice" if "choices" in row else "qa" if "golden_answers" in row else ""


def measured(made: list[Variant], show: bool) -> dict[str, Any]:
    """Audit each reward's rows as a file of their own, and count."""
    from grpo_rewards import Composite
    from grpo_rewards._audit.data.running import audit_data
    from grpo_rewards.errors import InputError

    started = time.perf_counter()
    counts: dict[str, list[int]] = {}
    missed: list[Any] = []
    false: list[Any] = []
    for use in dict.fromkeys(use for _, _, use, _ in made):
        mine = [one for one in made if one[2] == use]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.jsonl"
            file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for *_, row in mine))
            composite = Composite({"rewards": {use: {"use": use}}}) if use else None
            try:
                report = audit_data(file, composite)
                marks, reasons = report.marks(), {one.row: f"{one.check}: {one.reason}" for one in report.findings}
            except InputError as error:  # nothing in it could be tried
                marks, reasons = {}, dict.fromkeys(range(1, len(mine) + 1), str(error))
        for place, (name, checks, _, row) in enumerate(mine, 1):
            found = set(marks.get(place, "").split(",")) - {""}
            good = not found.isdisjoint(checks) if checks else not found
            count = counts.setdefault(name, [0, 0])
            count[0] += good
            count[1] += 1
            if not good:
                (missed if checks else false).append([name, marks.get(place, ""), reasons.get(place, ""), row])
    planted = [count for name, count in counts.items() if not name.startswith("sound: ")]
    sound = [count for name, count in counts.items() if name.startswith("sound: ")]
    return {
        "planted": sum(total for _, total in planted),
        "found": round(sum(good for good, _ in planted) / max(1, sum(total for _, total in planted)), 4),
        "sound": sum(total for _, total in sound),
        "false_alarms": round(1 - sum(good for good, _ in sound) / max(1, sum(total for _, total in sound)), 4),
        "seconds": round(time.perf_counter() - started, 1),
        "classes": {name: f"{good}/{total}" for name, (good, total) in counts.items()},
        **({"missed": missed, "alarms": false} if show else {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("second", "third", "fourth", "fifth"))
    parser.add_argument("--show", action="store_true", help="print what was missed, and the false alarms")
    parser.add_argument("--data", type=Path, default=audit_fifth.DATA, help="the public sets that the fifth is made of")
    given = parser.parse_args()
    audit_fifth.DATA = given.data
    json.dump(measured(variants(given.set), given.show), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
