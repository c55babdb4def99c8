"""The third set: defects and sound rows that were written after the second set's were mended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit_code import in_check, in_file, in_list
from audit_tasks import (
    TASKS,
    Row,
    Task,
    calls,
    chat,
    checked,
    choice,
    fact,
    fresh,
    gsm8k,
    human_eval,
    mbpp,
    next_number,
    pairs,
    plain,
    pytest_file,
    script,
    stdio,
    sums,
)

_HEAD = "from solution import NAME\n\n\n"


def hollow() -> Iterator[Row]:
    yield from in_check(
        "outcome = CALL == VALUE\nprint('passed' if outcome else 'failed')", "assert bool(CALL) in (True, False)"
    )
    yield from in_list(
        ["assert len(str(CALL)) < 10000"],
        ["assert CALL in [VALUE, CALL]"],
        ["NAME", "result = CALL or True\nassert result"],
    )
    yield from in_file(
        _HEAD + "def test_it():\n    wanted = VALUE\n    got = CALL\n    assert wanted is not got or wanted is got\n",
        "import logging\n" + _HEAD + "def test_it():\n    if CALL != VALUE:\n        logging.error('differs')\n",
        "import pytest\n"
        + _HEAD
        + "def test_it():\n    with pytest.raises(BaseException):\n        assert CALL == 'never'\n        raise ValueError\n",
    )


def wrong() -> Iterator[Row]:
    """What is expected stands one place too far, or the reference is not one."""
    for place in range(4):
        one, number = fresh()
        results = one.results()
        shifted = [*results[1:], results[0]]
        if shifted == results:
            shifted = [*results[:-1], "x"]
        if place % 2:
            yield calls(one, number, shifted)
        else:
            tests = [{**pair, "output": json.dumps(value)} for pair, value in zip(pairs(one), shifted, strict=True)]
            yield stdio(one, number, tests)
    changes: list[Callable[[str], str]] = [
        lambda code: code.replace("return ", "return str(", 1).replace("\n", ")\n", 0) + "\nraise SystemExit\n",
        lambda code: "import sys\nsys.exit(0)\n" + code,
        lambda code: "TODO: write this\n" + code,
    ]
    for change in changes:
        one, number = fresh()
        row = mbpp(one, number)
        yield {**row, "code": change(one.code)}


def unsteady() -> Iterator[Row]:
    for line, before in (
        ("os.getpid() % 2", "import os\n"),
        ("time.time() % 0.02 < 0.01", "import time\n"),
        ("random.sample(range(10), 1)[0] < 5", "import random\n"),
    ):
        one, number = fresh()
        body = "".join(f"    {text}\n" for text in one.body.splitlines())
        yield {**pytest_file(one, number), "solution": f"{before}{one.head}    if {line}:\n        return None\n{body}"}


def slow() -> Iterator[Row]:
    for wait in (
        "import time\ntime.sleep(1.9)",
        "import time\nstart = time.process_time()\nwhile time.process_time() - start < 2:\n    sum(range(1000))",
    ):
        one, number = fresh()
        yield {**stdio(one, number, pairs(one)[:1], time_limit=1.0), "solution": f"{wait}\n{script(one)}"}


def twins() -> Iterator[Row]:
    number = next_number()
    yield {**plain(number), "prompt": plain(number)["prompt"].upper()}
    yield {**plain(number), "answer": "5"}
    one, number = fresh()
    yield mbpp(one, number)
    yield {**mbpp(one, number), "test_list": [f"assert {one.calls()[0]} == 'no'", f"assert {one.calls()[1]} == 'never'"],
           "code": f"{one.head}    return 'no' if {one.parameters.split(',')[0]} == {one.cases[0][0]!r} else 'never'\n"}  # fmt: skip


def shown() -> Iterator[Row]:
    dresses: list[Callable[[Task], str]] = [
        lambda one: "```diff\n" + "".join(f"+{line}\n" for line in one.code.splitlines()) + "```",
        lambda one: "Reference implementation (do not show): " + one.code,
        lambda one: "".join(f"{number:3} {line}\n" for number, line in enumerate(one.code.splitlines(), 1)),
        lambda one: "\t" + one.code.replace("\n", "\n\t"),
    ]
    for place, dress in enumerate(dresses):
        one, number = fresh()
        row = (mbpp, calls, pytest_file, stdio)[place](one, number)
        column = "prompt" if "prompt" in row else "question"
        yield {**row, column: f"{row[column]}\n\n{dress(one)}"}


def told() -> Iterator[Row]:
    for place, words in enumerate(
        ("{} It comes out as GOLD.", "{}\nFinal: GOLD", "Remember: the count you are looking for is GOLD. {}", "{} (=> GOLD)",
         "{}\n\n**Answer**\n\nGOLD", "{} Why are there GOLD books left?", "{}\nTeacher's note: the solution is GOLD books.")
    ):  # fmt: skip
        number = next_number()
        yield (plain, gsm8k, chat)[place % 3](number, words.replace("GOLD", sums(number)[1]))


def missing() -> Iterator[Row]:
    for place, gold in enumerate(
        (
            "TO DO",
            "(missing)",
            "n.a.",
            "INSERT ANSWER HERE",
            "#VALUE!",
            "-- none --",
            "see Figure 2",
            "\\frac{3}",
            "\\text{TBD}",
        )
    ):
        yield (plain, gsm8k)[place % 2](next_number(), gold=gold)


def broken() -> Iterator[Any]:
    for prompt in ("null", [{}], [{"role": "user", "content": None}], "[insert problem statement]"):
        yield {**plain(next_number()), "prompt": prompt}
    for tests in (["TODO"], ["pass"], "print(1)", {"cases": []}):
        one, number = fresh()
        yield {**stdio(one, number), "tests": tests}


def wrong_options() -> Iterator[Row]:
    yield choice(next_number(), gold="option Z")
    yield choice(next_number(), gold=["A", "B"])
    yield choice(2 * next_number() + 1, options=["same", "same", "same", "same"], gold="same")


def wrong_facts() -> Iterator[Row]:
    yield fact(next_number(), gold=["answer not available"])
    yield fact(next_number(), gold=["???"])
    yield fact(next_number(), said="{} Hint: the correct answer is nothing but TBA.", gold=["TBA."])


THIRD: dict[str, tuple[Callable[[], Iterable[Any]], tuple[str, ...], str]] = {
    "hollow tests": (hollow, ("weak", "nop", "vacuous"), ""),
    "wrong reference or expectation": (wrong, ("oracle", "contradictory"), ""),
    "unsteady reference": (unsteady, ("flaky", "oracle"), ""),
    "slow reference": (slow, ("slow",), ""),
    "two answers": (twins, ("contradictory", "oracle"), ""),
    "code in the prompt": (shown, ("leak",), ""),
    "gold in the prompt": (told, ("leak",), ""),
    "no gold": (missing, ("gold",), ""),
    "broken row": (broken, ("row", "format", "vacuous", "oracle"), ""),
    "wrong option": (wrong_options, ("gold", "contradictory", "format", "row"), "multiple_choice"),
    "wrong fact": (wrong_facts, ("gold", "leak"), "qa"),
}


def suspicious_questions() -> Iterator[Row]:
    for text, gold in [("Which is it? A: 5 B: 7. Give the number that is prime and even plus 3.", "5"), ("Show that the sum of two odd numbers is even, then give 3 + 5.", "8"),
                       ("The answer is a prime number between 10 and 12. Which?", "11"), ("Find the key length: the answer should have 3 digits. What is 25 * 5?", "125"),
                       ("Answer with unknown, yes or no: is it known whether P = NP?", "unknown"), ("The result of a game was 3 : 2. How many goals fell?", "5"),
                       ("Tom's solution is 4, and he is wrong by 3. The right one is larger. Which?", "7"), ("Solve for x: 2x = 10. Verify that 2x is 10 for it.", "5"),
                       ("Pick a number n with n + n = n.", "0"), ("What is the solution set of |x| < 0?", "\\{\\}")]:  # fmt: skip
        yield {"prompt": text, "answer": gold}


def suspicious_tests() -> Iterator[Row]:
    yield from in_file(
        "import sys\nimport unittest\n"
        + _HEAD
        + "class T(unittest.TestCase):\n    def setUp(self):\n        if sys.platform == 'win32':\n            raise unittest.SkipTest('no')\n\n    def same(self, got, wanted):\n        self.assertEqual(got, wanted)\n\n    def test_it(self):\n        self.same(CALL, VALUE)\n",
        "import pytest\n"
        + _HEAD
        + "@pytest.mark.parametrize('wanted', [VALUE])\n@pytest.mark.timeout(5)\ndef test_it(wanted):\n    assert CALL == wanted\n",
        _HEAD
        + "def expected():\n    return VALUE\n\n\ndef test_it():\n    got = CALL\n    if got != expected():\n        raise AssertionError(f'{got} is wrong')\n",
        _HEAD
        + "def test_it():\n    try:\n        got = CALL\n    except Exception as problem:\n        raise AssertionError(str(problem))\n    assert got == VALUE\n",
    )
    yield from in_check(
        "results = [CALL]\nfor result in results:\n    assert result == VALUE, 'wrong'",
        "wanted = {0: VALUE}\nassert {0: CALL} == wanted",
    )
    yield from in_list(
        ["got = CALL\nassert got == VALUE", "assert not (CALL != VALUE)"], ["assert (CALL, 1) == (VALUE, 1)"]
    )
    solved = Task("Solution", "", "", "", ())
    for place, one in enumerate((TASKS[0], TASKS[16])):
        method = f"class {solved.name}:\n" + "".join(
            f"    {line}\n" for line in one.code.replace("(", "(self, ", 1).splitlines()
        )
        yield {**checked(one, 6000 + place, "\n".join(one.asserts("candidate"))), "entry_point": f"Solution().{one.name}",
               "prompt": f"Write a class Solution with the method {one.name}({one.parameters}). {one.text} ({place})", "canonical_solution": method}  # fmt: skip


def suspicious_prompts() -> Iterator[Row]:
    for place in range(4):
        one, number = fresh()
        other = TASKS[(number + 3) % len(TASKS)]
        shown = (f"Here is another function in good style:\n```python\n{other.code}```", f"Hint: begin with `{one.head.strip()}`.",
                 f"# {one.code.splitlines()[1].strip()[:9]} ...", f"Do not use this name: {other.name}.")[place]  # fmt: skip
        row = human_eval(one, number) if place == 2 else mbpp(one, number)
        yield {**row, "prompt": f"{shown}\n\n{row['prompt']}"}
    for place in range(3):
        yield choice(
            2 * next_number() + 1,
            ("Choose a letter.\n{}", "{}\nAnswer: A, B, C or D.", "{}\nThe answer is a single letter.")[place],
        )
    for words in ("{} Answer in one word.", "The answer is short. {}", "{} If it is unknown, say so."):
        yield fact(next_number(), words)


THIRD_SOUND: dict[str, tuple[Callable[[], Iterable[Any]], str]] = {
    "suspicious questions": (suspicious_questions, ""),
    "suspicious tests": (suspicious_tests, ""),
    "suspicious prompts": (suspicious_prompts, ""),
}
