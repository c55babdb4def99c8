"""The fourth set: defects as they show in data sets of many authors, written without a look at the checks."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit_fourth_rows import (
    JOBS,
    apps,
    basic,
    each,
    heval,
    io_list,
    job,
    kod,
    messages,
    pairs_of,
    quiz,
    sum_row,
    taco,
    trivia,
    worded,
)
from audit_tasks import Row, next_number, script


def nothing_passes() -> Iterator[Row]:
    yield from each(
        heval,
        "result = CALL\nassert len([result]) == 1",
        "assert candidate is not None",
        "assert candidate.__doc__ is None or True",
    )
    yield from each(basic, ["assert CALL == CALL"], ["assert (CALL == VALUE) in (True, False)"], ["assert NAME"])
    yield from each(
        kod,
        "from solution import NAME\n\ndef test_runs():\n    CALL\n",
        "import solution\n\ndef test_has():\n    assert hasattr(solution, 'NAME') or not hasattr(solution, 'NAME')\n",
    )
    one, number = job()
    yield apps(one, number, outputs=["" for _ in one.cases], solutions=json.dumps(["pass"]))
    one, number = job()
    yield apps(one, number, ["3\n1 2 3\n", "1\n7\n", "2\n5 5\n"], ["YES\n"] * 3, solutions=json.dumps(["print('YES')"]))
    one, number = job()
    yield io_list(
        one, number, [{"input": text, "output": text} for text in ("5\n", "8\n", "13\n")], solution="print(input())"
    )
    yield taco(JOBS[1], next_number(), [[[1, 2], 9], [[4, 4], 1], [[], 0]], [[0], [0], [0]])
    yield basic(JOBS[2], next_number(), ["assert is_balanced('(') == False", "assert is_balanced(']') == False", "assert is_balanced('([)') == False"])  # fmt: skip


def reference_fails() -> Iterator[Row]:
    changes: list[tuple[Callable[..., Row], Callable[[str], str]]] = [
        (basic, lambda code: code.replace("return ", "return not ", 1)),
        (basic, lambda code: code.replace("    return", "    print", 1)),
        (basic, lambda code: code + "print 'done'\n"),
        (basic, lambda code: code[: len(code) * 2 // 3]),
        (basic, lambda code: code.replace("def ", "def my_", 1)),
        (basic, lambda code: "import numpyy as np\n" + code),
        (basic, lambda code: code.replace("'", "\u2019").replace("return", "retu\u00adrn", 1)),
        (basic, lambda code: code.replace("    ", "\t", 1).replace("    ", "      ", 1)),
        (basic, lambda code: code + "\n>>> end"),
        (basic, lambda code: f"class Solution:\n    def solve(self):\n        return {code[:3]!r}\n"),
        (basic, lambda code: "from utils import helper\n" + code),
        (basic, lambda code: code.replace("\n", " ")),
    ]
    for make, change in changes:
        one, number = job()
        yield {**make(one, number), "code": change(one.code)}
    one, number = job()
    yield heval(one, number, canonical_solution="    return math.floor(sqrt(2))\n")
    one, number = job()
    yield heval(one, number, canonical_solution="    pass\n")
    one, number = job()
    yield heval(one, number, canonical_solution=JOBS[(number + 5) % len(JOBS)].code.split("\n", 1)[1])
    one, number = job()
    yield {**heval(one, number), "entry_point": one.name.upper() + "_"}
    one, number = job()
    yield {**heval(one, number), "test": heval(JOBS[(number + 3) % len(JOBS)], number)["test"]}
    one, number = job()
    yield apps(one, number, solutions=json.dumps(["n = int(input('Enter n: '))\n" + script(one)]))
    one, number = job()
    yield apps(one, number, solutions=json.dumps([script(one).replace("sys.stdin", "open('input.txt')")]))
    one, number = job()
    yield apps(one, number, solutions=json.dumps([script(one).replace("print(", "print('Result:', ")]))
    one, number = job()
    yield taco(one, number, outputs=[["x" + str(value)] for value in one.results()])
    one, number = job()
    yield io_list(one, number, solution="#include <iostream>\nint main() { std::cout << 1; }\n")
    one, number = job()
    yield kod(one, number, solution="public class Main { public static int f() { return 1; } }")
    one, number = job()
    yield kod(one, number, "from solution import NAME\n\ndef test_a():\n    assert CALL == (VALUE, 0)\n")
    one, number = job()
    yield kod(one, number, "from solution import NAME_v2 as NAME\n\ndef test_a():\n    assert CALL == VALUE\n")


def weak_tests() -> Iterator[Row]:
    yield from each(
        heval,
        "assert isinstance(CALL, type(VALUE))",
        "assert str(CALL)[:0] == ''\nassert type(CALL) == type(VALUE)",
        "assert CALL != 'wrong'",
        "assert CALL is not None\nassert CALL == VALUE or CALL != VALUE",
    )
    yield from each(
        basic,
        ["assert repr(CALL)"],
        ["assert CALL != None"],
        ["assert type(CALL).__name__ in ('int', 'str', 'list', 'bool', 'dict')"],
    )
    yield basic(JOBS[8], next_number(), ["assert lcm_of(1, 1) == 1"])
    yield basic(JOBS[6], next_number(), ["assert water_held([]) == 0", "assert water_held([1]) == 0"])
    yield basic(JOBS[1], next_number(), ["assert count_pairs([], 3) == 0"])
    yield basic(JOBS[9], next_number(), ["assert longest_rise([1]) > 0", "assert longest_rise([1, 2]) >= 1"])
    yield basic(JOBS[14], next_number(), ["assert kth_smallest([3, 1, 2], 2) in [1, 2, 3]"])
    yield basic(JOBS[11], next_number(), ["assert abs(days_between(1, 3) - 48) < 10000"])
    yield io_list(JOBS[8], next_number(), [{"input": "1\n1\n", "output": "1\n"}])
    yield taco(JOBS[5], next_number(), [[[[1]]]], [[[1]]])
    yield kod(
        JOBS[4],
        next_number(),
        "from solution import top_words\n\ndef test_len():\n    assert len(top_words('a b c', 2)) == 2\n",
    )


def unsteady() -> Iterator[Row]:
    for before, line in (
        ("import random\n", "if random.random() < 0.5: return None"),
        ("import time\n", "if int(time.time() * 1000) % 2: return None"),
        ("import os\n", "if os.urandom(1)[0] % 2: return None"),
        ("import uuid\n", "if uuid.uuid4().int % 2: return None"),
        ("", "if list({'ab', 'cd', 'ef', 'gh'})[0] in ('ab', 'cd'): return None"),
        ("import datetime\n", "if datetime.datetime.now().microsecond % 2: return None"),
        ("", "if hash('a word') % 2: return None"),
    ):
        one, number = job()
        yield basic(one, number, code=before + one.head + f"    {line}\n" + one.code.split("\n", 1)[1])
    one, number = job()
    yield heval(one, number, "import random\nassert CALL == VALUE\nassert random.randint(0, 1) == 1")


def slow_ones() -> Iterator[Row]:
    one, number = job()
    yield io_list(one, number, time_limit=1.0, solution="import time\ntime.sleep(2.5)\n" + script(one))
    one, number = job()
    yield io_list(
        one, number, time_limit=1.0, solution="total = 0\nfor i in range(10**9):\n    total += i\n" + script(one)
    )
    one, number = job()
    yield basic(one, number, code=one.head + "    while True:\n        pass\n" + one.code.split("\n", 1)[1])
    one, number = job()
    yield heval(
        one,
        number,
        canonical_solution="    def fib(n):\n        return n if n < 2 else fib(n - 1) + fib(n - 2)\n    fib(48)\n"
        + one.code.split("\n", 1)[1],
    )
    one, number = job()
    yield kod(
        one,
        number,
        "import time\nfrom solution import NAME\n\ndef test_a():\n    time.sleep(3600)\n    assert CALL == VALUE\n",
    )


def vacuous_tests() -> Iterator[Row]:
    yield from each(
        heval, "pass", "return\nassert CALL == VALUE", "assert True", "assert (CALL == VALUE, 'wrong result')",
        "try:\n    assert CALL == VALUE\nexcept Exception:\n    pass", "def inner():\n    assert CALL == VALUE",
        "if False:\n    assert CALL == VALUE", "for case in []:\n    assert CALL == VALUE", "CALL == VALUE", "print(CALL == VALUE)",
        "# assert CALL == VALUE\n...", "assert lambda: CALL == VALUE", "assert [CALL == VALUE]", "assert CALL == VALUE if False else True",
    )  # fmt: skip
    one, number = job()
    yield {**heval(one, number), "test": "METADATA = {}\n"}
    one, number = job()
    yield {
        **heval(one, number),
        "test": "def check(candidate):\n    pass\n\ndef real(candidate):\n    assert candidate\n",
    }
    yield from each(
        basic, [], ["# no tests"], ["NAME"], ["True"], ["assert 1 == 1"], ["assert VALUE == VALUE"], ["pass"]
    )
    yield from each(
        kod,
        "import pytest\nfrom solution import NAME\n\n@pytest.mark.skip\ndef test_a():\n    assert CALL == VALUE\n",
        "import pytest\npytest.skip('later', allow_module_level=True)\nfrom solution import NAME\n\ndef test_a():\n    assert CALL == VALUE\n",
        "import unittest\nfrom solution import NAME\n\nclass TestIt(unittest.TestCase):\n    pass\n",
        "import unittest\nfrom solution import NAME\n\nclass TestIt(unittest.TestCase):\n    def check_a(self):\n        self.assertEqual(CALL, VALUE)\n",
        "import unittest\nfrom solution import NAME\n\n@unittest.skip('slow')\nclass TestIt(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(CALL, VALUE)\n",
        "from solution import NAME\n\nif __name__ == '__main__':\n    assert CALL == VALUE\n",
        "from solution import NAME\n\ndef testing_a(result=None):\n    assert True\n",
        "import pytest\nfrom solution import NAME\n\n@pytest.mark.xfail\ndef test_a():\n    assert CALL == VALUE\n",
        "import contextlib\nfrom solution import NAME\n\ndef test_a():\n    with contextlib.suppress(AssertionError):\n        assert CALL == VALUE\n",
        "import pytest\nfrom solution import NAME\n\n@pytest.mark.parametrize('x', [])\ndef test_a(x):\n    assert CALL == VALUE\n",
        "from solution import NAME\n\ndef test_a():\n    yield\n    assert CALL == VALUE\n",
    )
    one, number = job()
    yield apps(one, number, [], [])


def other_verdicts() -> Iterator[Row]:
    """Two rows of one question, or two tests of one call, that cannot both be right."""
    for first, second in (("{}", "{}"), ("{}", "  {}\n\n"), ("{}", "{}\u00a0"), ("{}", "{} ")):
        row = sum_row(first)
        yield row
        yield {**row, "problem": second.replace("{}", row["problem"]), "answer": str(int(row["answer"]) + 10)}
    row = sum_row()
    yield row
    yield {**row, "problem": row["problem"].upper(), "answer": "17"}
    row = sum_row()
    yield row
    yield {"problem": [{"role": "user", "content": row["problem"]}], "answer": "-3"}
    one, number = job()
    yield basic(one, number, ["assert CALL == VALUE", "assert CALL == 'other'"])
    one, number = job()
    yield heval(one, number, "assert CALL == VALUE\nassert CALL != VALUE")
    one, number = job()
    given, wanted = pairs_of(one)
    yield apps(one, number, [*given, given[0]], [*wanted, "999\n"])
    one, number = job()
    row = basic(one, number)
    yield row
    yield {**row, "code": one.head + "    return -1\n", "test_list": [f"assert {call} == -1" for call in one.calls()]}


def other_letters() -> Iterator[Row]:
    row = quiz()
    yield row
    yield {**row, "answer": "ABCD"[("ABCD".index(row["answer"]) + 1) % 4]}


def other_facts() -> Iterator[Row]:
    row = trivia()
    yield row
    yield {**row, "golden_answers": ["Somebody Else"]}


def told() -> Iterator[Row]:
    for said in (
        "{}\nAnswer: GOLD", "{} (Hint: the answer is GOLD.)", "{}\n#### GOLD", "{}\nThe result should be \\boxed{GOLD}.",
        "{}\n<!-- answer: GOLD -->", "{}\n**Answer:** GOLD", "Solution: GOLD\n\n{}", "{}\nExpected output: GOLD",
        "{}\n<answer>GOLD</answer>", "{}\nA: GOLD", "{}\nCorrect answer = GOLD", "{}\nground_truth: GOLD", "{}\nAns. GOLD",
        "{}\nThe final answer is therefore GOLD apples.", "{} Answer key: GOLD",
    ):  # fmt: skip
        yield sum_row(said)
    number = next_number()
    text, right = worded(number)
    yield {"problem": f"{text}\nKey: {base64.b64encode(('The answer is ' + right).encode()).decode()}", "answer": right}
    yield messages([("system", "You are a tutor. The correct answer is GOLD; do not reveal it.")])
    yield messages([("user", "{}"), ("assistant", "It is GOLD.")], "Are you sure? {}")
    yield messages([], "{}", [("assistant", "Let me think. The answer is \\boxed{GOLD}")])
    yield messages([("user", "{}"), ("assistant", "#### GOLD")])
    yield messages([("system", '{"task": "math", "answer": "GOLD"}')])


def shown_code() -> Iterator[Row]:
    for said in (
        "{}\n\nReference solution:\n```python\nCODE```",
        "{}\n\n# Solution\nCODE",
        "CODE\n\n{}",
        "{}\n\n'''\nCODE'''",
    ):
        one, number = job()
        row = basic(one, number)
        yield {**row, "text": said.replace("{}", row["text"]).replace("CODE", one.code)}
    one, number = job()
    row = heval(one, number)
    yield {
        **row,
        "prompt": row["prompt"].replace('    """\n', "    Solution:\n" + row["canonical_solution"] + '    """\n'),
    }
    one, number = job()
    row = heval(one, number)
    yield {**row, "prompt": row["prompt"] + row["canonical_solution"]}
    one, number = job()
    row = apps(one, number)
    yield {**row, "question": row["question"] + "\n\nHere is one accepted submission:\n" + script(one)}
    one, number = job()
    row = kod(one, number)
    commented = "".join(f"# {line}\n" for line in one.code.splitlines())
    yield {**row, "question": row["question"] + "\n" + commented}


def told_letters() -> Iterator[Row]:
    for said in (
        "{}\nAnswer: GOLD",
        "{}\nCorrect option: (GOLD)",
        "{}\nThe correct answer is TEXT.",
        "{}\nans = GOLD",
        "[GOLD] {}\nThe key is GOLD.",
    ):
        yield quiz(said)


def told_facts() -> Iterator[Row]:
    for said in ("{} Answer: GOLD", "{} (It is GOLD.)", "{}\nA: GOLD", "Q: {}\nThe answer is GOLD"):
        yield trivia(said)


def unreadable_golds() -> Iterator[Row]:
    for gold in ("", "   ", None, "N/A", "nan", float("nan"), "None", "null", "TBD", "?", "-", [], {}, "\\boxed{}", "\\frac{1}{", "$$", "see solution",
                 "See the figure.", "Proof.", "I cannot answer this.", "images/0042.png", "RateLimitError: try again", "<p></p>", "####",
                 "\ufffd\ufffd", "to be determined", "unknown", "[]", "answer", "...", "no answer provided", float("inf"), True,
                 {"value": None}, "The proof is left to the reader.", "What is the number of apples that remain?", "12\x0013", "Error: 500"):  # fmt: skip
        yield sum_row(gold=gold)
    row = sum_row()
    yield {**row, "answer": row["problem"]}
    yield {"question": worded(next_number())[0], "answer": "We multiply and subtract.\n#### "}
    yield {"question": worded(next_number())[0], "answer": "We multiply and subtract, but then"}


def bad_prompts() -> Iterator[Any]:
    for prompt in ("", "   ", None, [], "\n", "nan", float("nan"), "None", "...", "[deleted]"):
        yield {**sum_row(), "problem": prompt}
    yield {**sum_row(), "problem": [{"role": "system", "content": "Be brief."}]}
    yield {**sum_row(), "problem": [{"role": "user", "content": ""}]}
    row = sum_row()
    yield {**row, "problem": row["problem"][: len(row["problem"]) // 2] + "... [truncated]"}
    row = sum_row()
    yield {**row, "problem": row["problem"].split("How many")[0] + "How many ap"}
    row = sum_row()
    yield {**row, "problem": "FarmerÃ¢â‚¬â„¢s " + row["problem"].replace("gives", "â€œgivesâ€\u009d")}
    row = sum_row()
    yield {**row, "problem": row["problem"].replace("crates", "cr\ufffd\ufffdtes")}
    row = sum_row()
    yield {"problem": row["problem"]}
    yield '{"problem": "What is 7 times 191?", "answer": '
    yield '["What is 7 times 191?", "1337"]'
    yield {**sum_row(), "problem": "As shown in the figure below, what is the area? ![](https://cdn.example/1.png)"}
    yield {**sum_row(), "problem": "{{ question }}"}


def wrong_kinds() -> Iterator[Row]:
    one, number = job()
    yield basic(one, number, test_list="assert " + one.name)
    one, number = job()
    yield basic(one, number, test_list=[1, 2])
    one, number = job()
    yield basic(one, number, test_list=None)
    one, number = job()
    yield apps(one, number, input_output="{'inputs': [")
    one, number = job()
    yield apps(one, number, input_output="")
    one, number = job()
    yield apps(one, number, ["1\n", "2\n"], ["1\n"])
    one, number = job()
    yield io_list(one, number, [{"stdin_text": "1", "result": "1"}])
    one, number = job()
    yield io_list(one, number, [])
    one, number = job()
    yield io_list(one, number, 42)
    one, number = job()
    yield heval(one, number, test="")
    one, number = job()
    yield heval(one, number, test="def check(candidate):\nassert candidate(1)\n")
    one, number = job()
    yield heval(one, number, test="function check(f) { console.assert(f(1) === 2) }")
    one, number = job()
    yield basic(one, number, ["expect(NAME(1)).toBe(2)"])
    one, number = job()
    yield basic(one, number, ["assert CALL = VALUE"])
    one, number = job()
    yield taco(one, number, input_output=json.dumps({"fn_name": None, "inputs": [[1]], "outputs": [[1]]}))


def surroundings() -> Iterator[Row]:
    """Tests that hang on what is not there."""
    yield from each(
        kod,
        "import requests\nfrom solution import NAME\n\ndef test_a():\n    assert requests.get('https://example.org').ok\n    assert CALL == VALUE\n",
        "from solution import NAME\n\ndef test_a():\n    with open('fixtures/data.csv') as f:\n        f.read()\n    assert CALL == VALUE\n",
        "import os\nfrom solution import NAME\n\ndef test_a():\n    assert os.environ['API_KEY']\n    assert CALL == VALUE\n",
        "import datetime\nfrom solution import NAME\n\ndef test_a():\n    assert datetime.date.today().year == 2023\n    assert CALL == VALUE\n",
        "import torch_geometric\nfrom solution import NAME\n\ndef test_a():\n    assert CALL == VALUE\n",
        "from solution import NAME\n\ndef test_a(mocker):\n    assert CALL == VALUE\n",
        "from app.models import NAME\n\ndef test_a():\n    assert CALL == VALUE\n",
    )
    one, number = job()
    yield taco(one, number, solutions=json.dumps([one.head + "    n = int(input())\n" + one.code.split("\n", 1)[1]]))


def bad_letters() -> Iterator[Row]:
    for gold in (
        "E",
        "Z",
        4,
        -1,
        "",
        None,
        "B and C",
        "none of them",
        "AB",
        "5",
        float("nan"),
        "?",
        "the third one",
        [],
    ):
        yield quiz(gold=gold)
    yield quiz(options=[])
    yield quiz(options=["same", "same", "same", "same"])
    yield quiz(options=["only one"], gold="A")
    yield quiz(options=["", "", "", ""])


def bad_facts() -> Iterator[Row]:
    for gold in (
        [],
        None,
        "",
        [""],
        ["   "],
        "N/A",
        ["unknown"],
        ["nan"],
        [None],
        ["?"],
        ["Error: timeout"],
        [float("nan")],
    ):
        yield trivia(gold=gold)
    yield trivia("   ")
    row = trivia()
    yield {**row, "golden_answers": [row["question"]]}


FOURTH: dict[str, tuple[Callable[[], Iterable[Any]], tuple[str, ...], str]] = {
    "nothing passes": (nothing_passes, ("nop", "weak", "vacuous"), ""),
    "reference fails": (reference_fails, ("oracle", "format"), ""),
    "weak tests": (weak_tests, ("weak", "nop", "vacuous"), ""),
    "unsteady": (unsteady, ("flaky", "oracle"), ""),
    "slow": (slow_ones, ("slow", "oracle"), ""),
    "vacuous": (vacuous_tests, ("vacuous", "nop", "format", "row", "oracle"), ""),
    "contradictory": (other_verdicts, ("contradictory", "oracle"), ""),
    "contradictory letters": (other_letters, ("contradictory", "oracle"), "multiple_choice"),
    "contradictory facts": (other_facts, ("contradictory", "oracle"), "qa"),
    "told": (told, ("leak",), ""),
    "shown code": (shown_code, ("leak",), ""),
    "told letters": (told_letters, ("leak",), "multiple_choice"),
    "told facts": (told_facts, ("leak",), "qa"),
    "unreadable gold": (unreadable_golds, ("gold", "row", "leak"), ""),
    "bad prompt": (bad_prompts, ("row", "leak", "gold"), ""),
    "wrong kind": (wrong_kinds, ("format", "row", "vacuous", "oracle", "nop"), ""),
    "surroundings": (surroundings, ("oracle", "format", "flaky", "vacuous"), ""),
    "bad letter": (bad_letters, ("gold", "row", "oracle", "contradictory", "format"), "multiple_choice"),
    "bad fact": (bad_facts, ("gold", "row", "leak", "nop"), "qa"),
}
"""The fourth set: rows of each class, the checks of which one must mark them, and the reward that has to be named."""
