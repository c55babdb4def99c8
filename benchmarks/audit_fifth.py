"""The fifth set: defects planted by hand in rows of HumanEval, MBPP and GSM8K, as somebody would who tries the audit for the first time."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from audit import gsm8k, human_eval, mbpp
from audit_tasks import Row

DATA = Path("../shared/data")
_chance = random.Random(5)
_rows: dict[str, Iterator[Row]] = {}


def take(kind: str) -> Row:
    """The next row of a public set; each is taken once."""
    if kind not in _rows:
        found = {"he": human_eval, "mbpp": mbpp, "gsm": gsm8k}[kind](DATA)
        _chance.shuffle(found)
        _rows[kind] = iter(found)
    return dict(next(_rows[kind]))


def checks(*bodies: str) -> Iterator[Row]:
    """HumanEval's rows with another body of `check`; `FIRST` is their first assertion."""
    for body in bodies:
        row = take("he")
        while not (found := re.search(r"^ {4}(assert candidate\(.*?\) == .*?)(?:, \"|, '|$)", row["test"], re.M)):
            row = take("he")
        lines = body.replace("FIRST", found[1]).replace("CALL", found[1].removeprefix("assert ").partition(" ==")[0])
        yield {**row, "test": "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines.splitlines())}


def asserting(*changes: Callable[[list[str]], list[str]]) -> Iterator[Row]:
    for change in changes:
        row = take("mbpp")
        yield {**row, "test_list": change(list(row["test_list"]))}


def coding(*changes: Callable[[str], str]) -> Iterator[Row]:
    for change in changes:
        row = take("mbpp")
        yield {**row, "code": change(row["code"])}


def asked(*changes: Callable[[str, str], str]) -> Iterator[Row]:
    """GSM8K's rows with another question; the second argument is the answer."""
    for change in changes:
        row = take("gsm")
        yield {**row, "prompt": change(row["prompt"], row["answer"].rpartition("#### ")[2])}


def golds(*golds: Any) -> Iterator[Row]:
    for gold in golds:
        yield {**take("gsm"), "answer": gold}


def hollow() -> Iterator[Row]:
    yield from checks(
        "candidate = lambda *a, **k: None\nassert candidate() is None",
        "def candidate(*a):\n    return 7\nassert candidate() == 7",
        "try:\n    FIRST\nexcept AssertionError:\n    print('failed')",
        "import sys\nif 'numpy' in sys.modules:\n    FIRST",
        "while False:\n    FIRST",
        "if not candidate:\n    FIRST",
        "assert 'candidate'",
        "CALL\nassert not False",
        "for _ in range(0):\n    FIRST",
        "raise SystemExit(0)",
        "import os\nos._exit(0)",
        "global failed\nfailed = not (CALL is None)",
    )
    yield from asserting(
        lambda tests: ["def test():\n    " + tests[0]],
        lambda tests: [f"# {test}" for test in tests],
        lambda tests: [test.replace("assert ", "") for test in tests],
        lambda tests: [f"assert ({test.removeprefix('assert ')}) or not ({test.removeprefix('assert ')})" for test in tests],
        lambda tests: ["import math", "x = 1"],
        lambda tests: ["assert True == True", "assert not None"],
    )  # fmt: skip


def broken() -> Iterator[Row]:
    yield from coding(
        lambda code: code + "\nraise ValueError('no')",
        lambda code: code.replace("return", "retrun"),
        lambda code: "import pandaz\n" + code,
        lambda code: re.sub(r"def (\w+)\(", r"def \1(unused, ", code, count=1),
        lambda code: code.replace("def ", "async def "),
        lambda code: "x = [0] * 10**11\n" + code,
        lambda code: code[: code.index("return")],
        lambda code: "<p>" + code + "</p>",
        lambda code: code.replace("\n", "\\n"),
        lambda code: "def solution(): ...",
        lambda code: re.sub(r"def (\w+)\((.*?)\):", r"def \1(\2):\n    return \1(\2)", code, count=1),
    )
    for key, value in (
        ("entry_point", "solve_it"),
        ("canonical_solution", "    raise NotImplementedError\n"),
        ("test", "import unknown_module\n\ndef check(candidate):\n    assert candidate\n"),
    ):
        yield {**take("he"), key: value}
    yield from asserting(
        lambda tests: [*tests, "assert undefined_name(1) == 2"],
        lambda tests: [test.replace("==", "!=") for test in tests],
    )


def loose() -> Iterator[Row]:
    yield from checks(
        "assert CALL != object()",
        "assert str(type(CALL))",
        "result = CALL\nassert result or not result",
        "assert hash(str(CALL))",
    )
    yield from asserting(
        lambda tests: [re.sub(r"assert (.*?)(?: ?==.*|$)", r"assert \1 != 'x'", test) for test in tests],
        lambda tests: [f"assert repr({test.removeprefix('assert ').partition('==')[0].strip()}) is not None" for test in tests],
    )  # fmt: skip


def moody() -> Iterator[Row]:
    yield from checks(
        "import random\nif random.random() < 0.5:\n    FIRST\nelse:\n    assert False",
        "import time\nassert time.time_ns() // 1000 % 2\nFIRST",
        "FIRST\nassert sorted({'a', 'b', 'c'}, key=hash)[0] == 'a'",
    )
    yield from coding(lambda code: "import random\nif random.choice([True, False]):\n    raise OSError\n" + code)


def lame() -> Iterator[Row]:
    yield from coding(lambda code: "import time\ntime.sleep(6)\n" + code, lambda code: "while 1: pass\n" + code)
    yield from checks("import time\ntime.sleep(30)\nFIRST", "sum(i * i for i in range(10**10))\nFIRST")


def double() -> Iterator[Row]:
    for change in (
        str.upper,
        str.title,
        lambda text: text.replace(" ", "  "),
        lambda text: text + " \n",
        lambda text: "\t" + text.rstrip("?.") + " ?",
    ):
        row = take("gsm")
        yield row
        yield {**row, "prompt": change(row["prompt"]), "answer": "#### 98765"}
    row = take("mbpp")
    yield row
    yield {
        **row,
        "code": re.sub(r"return .*", "return 'other'", row["code"]),
        "test_list": [re.sub(r"==.*", "== 'other'", test) for test in row["test_list"]],
    }


def given_away() -> Iterator[Row]:
    yield from asked(
        lambda text, gold: f"{text} [answer={gold}]",
        lambda text, gold: f"Answer: {gold}\nQuestion: {text}",
        lambda text, gold: f"{text}\n\nSolution:\n#### {gold}",
        lambda text, gold: f"{text} Final answer: \\boxed{{{gold}}}.",
        lambda text, gold: f"{text}\n\n(The solution is {gold})",
        lambda text, gold: f"{text}\n{{'question_id': 3, 'answer': '{gold}'}}",
        lambda text, gold: f"{text}\n# label: {gold}",
        lambda text, gold: f"{text}\nTarget: {gold}",
        lambda text, gold: f"The correct response to the following is {gold}. {text}",
        lambda text, gold: f"{text} Reply with {gold}.",
        lambda text, gold: f"{text}\nOutput: {gold}",
    )
    for said in ("{}\n```python\nCODE\n```", "CODE\n\nTask: {}", "{} Hint, from the key:\nCODE"):
        row = take("mbpp")
        while len(row["code"]) < 120:
            row = take("mbpp")
        yield {**row, "prompt": said.replace("{}", row["prompt"]).replace("CODE", row["code"])}
    row = take("he")
    yield {**row, "prompt": row["prompt"] + row["canonical_solution"]}


def unread() -> Iterator[Any]:
    yield from golds("#### ", "#### N/A", "#### None", "####\n", "The answer is left out.", [], {}, None, float("nan"), "#### ???", "#### [answer]", "#### \\frac{3}{",
                     "nothing", "-", "#### TODO", "n.a.", "(blank)", "null", "#### see above")  # fmt: skip


def strange() -> Iterator[Any]:
    for name in ("test_list", "code"):
        yield {**take("mbpp"), name: {"0": "x"}}
    yield {**take("mbpp"), "test_list": ["assert f(1) == 2)"]}
    yield {**take("mbpp"), "test_list": "not a list"}
    yield {**take("mbpp"), "test_list": [None]}
    yield {**take("he"), "test": None}
    yield {**take("he"), "test": "assertEquals(candidate(1), 2);"}
    yield {"prompt": "Add two numbers.", "unit_tests": ["assert add(1, 2) == 3"]}
    yield {"prompt": "Read two numbers, print their sum.", "tests": [{"in": "1 2", "out": "3"}]}
    yield {"prompt": "Read two numbers, print the sum.", "input_output": '{"inputs": ["1 2"], "outputs": []}'}
    yield {"prompt": "Read 2 numbers, print the sum.", "tests": '[{"input": "1 2", "outp'}
    for prompt in ("", None, "  \n ", [], 7, "[removed]", "<prompt>", "N/A", "nan"):
        yield {**take("gsm"), "prompt": prompt}
    yield {**take("gsm"), "prompt": [{"role": "assistant", "content": "Hello."}]}
    yield "not json at all"
    yield '{"prompt": "Cut off'


FIFTH: dict[str, tuple[Callable[[], Iterable[Any]], tuple[str, ...], str]] = {
    "hollow": (hollow, ("vacuous", "nop", "weak", "format", "oracle"), ""),
    "broken": (broken, ("oracle", "format", "slow"), ""),
    "loose": (loose, ("weak", "nop", "vacuous"), ""),
    "moody": (moody, ("flaky", "oracle"), ""),
    "lame": (lame, ("slow", "oracle"), ""),
    "double": (double, ("contradictory", "oracle"), ""),
    "given away": (given_away, ("leak",), ""),
    "unread": (unread, ("gold", "row"), ""),
    "strange": (strange, ("row", "format", "oracle", "vacuous"), ""),
}


def untouched(kind: str, count: int) -> Callable[[], Iterator[Row]]:
    return lambda: (take(kind) for _ in range(count))


FIFTH_SOUND: dict[str, tuple[Callable[[], Iterable[Row]], str]] = {
    "HumanEval": (untouched("he", 80), ""),
    "MBPP": (untouched("mbpp", 80), ""),
    "GSM8K": (untouched("gsm", 140), ""),
}
