"""The audit of data: what each check finds, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.code.probes.vacuous import vacuous

from grpo_rewards import Composite
from grpo_rewards._audit.data.__main__ import page
from grpo_rewards._audit.data.checks import CHECKS
from grpo_rewards._audit.data.report import write_marked
from grpo_rewards._audit.data.running import audit_data
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.reading.marked import MARKS, checked_marks
from grpo_rewards.errors import ConfigError, InputError

ADD = "def add(a, b):\n    return a + b\n"
TESTS = ["assert add(2, 3) == 5", "assert add(-1, 1) == 0", "assert add(10, 20) == 30"]
SOUND = {"prompt": "Add two numbers.", "test_list": TESTS, "code": ADD}
MATH = {"prompt": "What is 6 times 7?", "answer": "#### 42"}


def code(prompt: str, **columns: Any) -> dict[str, Any]:
    return {**SOUND, "prompt": prompt, **columns}


CODE: list[tuple[str, dict[str, Any]]] = [
    ("", SOUND),
    ("", {"prompt": "Print the sum of two numbers.", "tests": [{"input": "2 3", "output": "5"}, {"input": "1 1", "output": "2"}],
          "solutions": json.dumps(["print(1)", "print(sum(map(int, input().split())))"])}),
    ("", code("Add or join.", test_list=["assert abs(add(0.1, 0.2) - 0.3) < 1e-9", "assert add('a', 'b') == 'ab'"])),
    ("nop", code("Call it.", test_list=["add(1, 2)\nassert callable(add)"])),
    ("oracle", code("Add, wrongly.", code=ADD.replace("+", "-"))),
    ("oracle", code("Add, cut.", code=ADD[:-6])),
    ("weak", code("Add, roughly.", test_list=["assert isinstance(add(1, 2), int)", "assert isinstance(add(2, 2), int)",
                                             "assert add(5, 5) is not None and add(5, 5) > 1"])),
    ("weak", code("List both.", test_list=["assert len(add([1], [2])) == 2", "assert len(add([], [3])) == 1"])),
    ("nop", code("Is it so?", test_list=["assert add(0, 0) == ''", "assert add(1, 0) == ''"], code="def add(a, b):\n    return '' if a < 9 else 'x'\n")),
    ("oracle", code("Add, in another language.", code="function add(a, b) {\n  return a + b\n}\n")),
    ("leak", code("Sum up. A solution, quoted:\n> def sums_of(values):\n>     so_far, out = 0, []\n>     for one in values:  # each\n>         so_far += one\n"
                  ">         out.append(so_far)\n>     return out\n", test_list=["assert add([1, 2]) == [1, 3]", "assert add([]) == []", "assert add([5]) == [5]"],
                  code="def add(numbers):\n    total, sums = 0, []\n    for n in numbers:\n        total += n\n        sums.append(total)\n    return sums\n")),
    ("flaky", code("Add, perhaps.", test_list=["import random\nassert random.random() < 0.5", *TESTS])),
    ("vacuous", code("Add, unseen.", test_list=["try:\n    assert add(1, 2) == 3\nexcept Exception:\n    pass"])),
    ("vacuous", {"prompt": "Add, skipped.", "test": "import pytest\nfrom solution import add\n\n@pytest.mark.skip\ndef test_add():\n"
                 "    assert add(1, 2) == 3\n", "solution": ADD}),
    ("contradictory", {"prompt": "Print it.", "tests": [{"input": "1", "output": "1"}, {"input": "1", "output": "2"}]}),
    ("contradictory", code("Do what is meant.")),
    ("contradictory", code("Do what is meant.", test_list=["assert add(2, 3) == 6", "assert add(1, 1) == 1"],
                           code="def add(a, b):\n    return a * b\n")),
    ("leak", {"task_id": "x/1", "prompt": 'def total_of(table):\n    """Sum up the rows."""\n    sums = [0]\n    for row in table:\n        sums.append(sum(row))\n    return sums\n',
              "canonical_solution": "    sums = [0]\n    for row in table:\n        sums.append(sum(row))\n    return sums\n", "entry_point": "total_of",
              "test": "def check(candidate):\n    assert candidate([[1, 2], [4]]) == [0, 3, 4]\n    assert candidate([]) == [0]\n"}),
    ("oracle", {"prompt": "Add, for pytest.", "solution": "public class Main { }", "test": "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"}),
    ("nop", {"prompt": "Print the greatest divisor.", "tests": [{"input": "1 1", "output": "1"}], "solution": "import math\nprint(math.gcd(*map(int, input().split())))"}),
    ("leak", code("Sum up.\n\n    total = sum(n for n in numbers if n)\n    return total\n", test_list=["assert add([1, 2]) == 3", "assert add([]) == 0"],
                  code="def add(numbers):\n    total = sum(n for n in numbers if n)\n    return total\n")),
    ("format", {"prompt": "Do as I say.", "tests": [{"given": 1, "when": 2}]}),
    ("format", code("Add, unreadably.", test_list=["assert add(1, 2 == 3"])),
    ("row", code("  ")),
]  # fmt: skip
REFERENCES: list[tuple[str, dict[str, Any]]] = [
    ("", MATH),
    ("", {"prompt": "Which of 3, 42 and 7 is the answer to everything?", "answer": 42}),
    ("leak", {"prompt": "What is 5 times 7? (Answer: 35)", "answer": "35"}),
    ("leak", {"prompt": "What is 5 times 8? (ans = 40)", "answer": "40"}),
    ("gold", {"prompt": "What is 5 times 9?", "answer": "N/A"}),
    ("leak", {"prompt": "What is 500 times 7? (You should get 3,500.0)", "answer": "3500"}),
    ("leak", {"prompt": "What is 600 times 7? 4200 is correct.", "answer": "4200"}),
    ("leak", {"prompt": "What is 700 times 7? (=> 4900)", "answer": "4900"}),
    (
        "",
        {
            "prompt": "Q: 6 * 9? The answer is 54. Q: 9 * 6? The answer is 54. Q: 7 * 7? The answer is 49. Q: 27 * 2? A:",
            "answer": "54",
        },
    ),
    ("", {"prompt": "The answer is a prime number: which option is one? A: 4 B: 7", "answer": "A"}),
    ("gold", {"prompt": "What is 5 times 10?", "answer": "[your answer here]"}),
    ("gold", {"prompt": "What is 5 times 11?", "answer": "![](answer.png)"}),
    ("", {"prompt": "Is P = NP? Say yes, no or unknown.", "answer": "unknown"}),
    ("row", {"prompt": "{question}", "answer": "7"}),
    ("row", {"prompt": [{"role": "system", "content": "You are helpful."}], "answer": "8"}),
    ("leak", {"prompt": [{"role": "user", "content": "What is 3 times 7?\n#### 21"}], "answer": "#### 21"}),
    ("gold", {"prompt": "What is 1 + 1?", "answer": ""}),
    ("gold", {"prompt": "What is a half?", "answer": "\\frac{1}{"}),
    ("contradictory", {"prompt": "What is 6 * 9?", "answer": "54"}),
    ("contradictory", {"prompt": "What is 6 * 9?", "answer": "42"}),
    ("", {"prompt": "What is one half?", "answer": "1/2"}),
    ("", {"prompt": "What is one half?", "answer": "0.5"}),
    ("row", {"prompt": "What is there?"}),
    ("", {"prompt": "What is 8 times 8?", "solution": "Multiply: $\\boxed{64}$."}),
    ("gold", {"prompt": "What is 8 times 9?", "ground_truth": "None"}),
    ("contradictory", {"prompt": "What is a dozen?", "answer": "12"}),
    ("contradictory", {"prompt": "WHAT is a dozen ? ", "answer": "13"}),
    ("gold", {"prompt": "How many are left over in the end?", "answer": "What is the number that is left over?"}),
    ("gold", {"prompt": "How many letters?", "answer": "The number of letters is then the"}),
    ("gold", {"prompt": "How many words?", "answer": "I cannot answer this."}),
    ("gold", {"prompt": "Which name?", "answer": "JosÃ©"}),
    ("", {"prompt": "Quel est le prénom de l’élève, à l’été ?", "answer": "José"}),
    ("row", {"prompt": "The farmerâ€™s field has 4 corners. How many sides?", "answer": "4"}),
    ("row", {"prompt": "A box holds 7 pens. How many pens are in 3 boxes, if the", "answer": "21"}),
    ("row", {"prompt": "What is the area? ![](figure.png)", "answer": "12"}),
    ("leak", {"prompt": "What is 70 times 9? VGhlIGFuc3dlciBpcyA2MzAu", "answer": "630"}),
    ("leak", {"prompt": [{"role": "user", "content": "80 times 9?"}, {"role": "assistant", "content": "720 it is."},
                         {"role": "user", "content": "Sure? 80 times 9?"}], "answer": "720"}),
]  # fmt: skip


def marks(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = audit_data(file)
    assert not report.broken
    assert not report.unavailable
    found = report.marks()
    return [found.get(number, "") for number in range(1, len(rows) + 1)]


@pytest.mark.slow
def test_of_code_each_defect_has_its_mark_and_sound_rows_none(tmp_path: Path) -> None:
    found = marks([row for _, row in CODE], tmp_path)
    assert [(wanted, row["prompt"]) for (wanted, row), mark in zip(CODE, found, strict=True)
            if (wanted not in mark.split(",") if wanted else mark)] == []  # fmt: skip


def test_of_references_each_defect_has_its_mark_and_sound_rows_none(tmp_path: Path) -> None:
    assert marks([row for _, row in REFERENCES], tmp_path) == [wanted for wanted, _ in REFERENCES]


CHOICES: list[tuple[str, dict[str, Any]]] = [
    ("", {"prompt": "Capital of Norway?\nA) Bergen\nB) Oslo", "choices": ["Bergen", "Oslo"], "answer": 1}),
    ("", {"prompt": "Choose a city of Italy.\nA) Rome\nB) Lyon", "choices": ["Rome", "Lyon"], "answer": "A"}),
    ("gold", {"prompt": "Capital of Sweden?", "choices": ["Bergen", "Oslo"], "answer": "C"}),
    ("gold", {"prompt": "Capital of Malta?", "choices": ["Valletta"], "answer": "A"}),
    ("contradictory", {"prompt": "Capital of Spain?", "choices": ["Madrid", "Rome", "Madrid"], "answer": "A"}),
    ("leak", {"prompt": "Capital of Chile?\nHint: choose B.", "choices": ["Lima", "Santiago"], "answer": "B"}),
    ("", {"prompt": "Who wrote Fidelio?", "golden_answers": ["Ludwig van Beethoven", "Beethoven"]}),
    ("gold", {"prompt": "Who wrote Aida?", "golden_answers": ["the"]}),
    ("leak", {"prompt": "Who wrote Carmen? (It is Bizet.)", "golden_answers": ["Georges Bizet", "Bizet"]}),
]  # fmt: skip


def test_of_options_and_accepted_answers_each_defect_has_its_mark(tmp_path: Path) -> None:
    assert marks([row for _, row in CHOICES], tmp_path) == [wanted for wanted, _ in CHOICES]


def test_rows_of_one_task_are_tried_once_and_all_get_its_marks(tmp_path: Path) -> None:
    rows = [{**MATH, "answer": "", "completion": str(number)} for number in range(3)]
    file, out = tmp_path / "rows.jsonl", tmp_path / "marked.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = audit_data(file)
    assert (report.rows, report.tasks) == (3, 1)
    assert write_marked(file, out, report) == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == [{**row, "audit": "gold"} for row in rows]


def test_a_file_without_anything_to_try_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"prompt": "Say something.", "mood": "good"}\n')
    with pytest.raises(InputError, match="nothing in it could be tried"):
        audit_data(file)


def test_a_missing_reference_is_a_finding_where_the_composition_asks_for_it(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(MATH) + "\n" + json.dumps({"prompt": "And?", "answer": None}) + "\n")
    report = audit_data(file, Composite({"rewards": {"right": {"use": "math"}}}))
    assert [(one.row, one.check, one.component) for one in report.findings] == [(2, "gold", "right")]


def test_a_broken_line_is_a_finding_with_its_number(tmp_path: Path) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "marked.jsonl"
    file.write_text(json.dumps(MATH) + "\n{\n" + json.dumps({**MATH, "prompt": "What is 42?"}) + "\n")
    report = audit_data(file)
    assert [(one.row, one.check) for one in report.findings] == [(2, "row")]
    assert write_marked(file, out, report) == 2


# ------------------------------------------------------------------------------------------------ marks


def marked(folder: Path, *found: str) -> Path:
    file = folder / "marked.jsonl"
    rows = [{"prompt": f"q{n}", "completion": "42", "answer": "42", "audit": mark} for n, mark in enumerate(found)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize(("names", "left"), [((), 4), (("nop",), 2), (("any",), 1), (("leak", "unknown"), 2)])
def test_score_leaves_marked_rows_out(tmp_path: Path, names: Any, left: int) -> None:
    file = marked(tmp_path, "fit", "nop", "nop,leak", "unknown")
    run = score_file(file, Composite({"rewards": {"math": "math"}}), leave_out=checked_marks(names))
    assert (run.rows, run.left_out) == (left, 4 - left)


def test_rows_without_marks_and_marks_that_are_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({**MATH, "completion": "42"}) + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl:1: there is no column 'audit'.*audit DATA -o"):
        score_file(file, Composite({"rewards": {"math": "math"}}), leave_out=frozenset({"any"}))
    with pytest.raises(ConfigError, match=r"no mark 'nopp'.*'nop'"):
        checked_marks(["nopp"])


def test_the_checks_are_the_marks() -> None:
    assert tuple(CHECKS) == MARKS


def test_the_page_is_the_docstrings() -> None:
    now = (Path(__file__).parents[2] / "docs" / "audit-data.md").read_text(encoding="utf-8")
    assert now == page(now)


# ------------------------------------------------------------------------------------------------ by their text


@pytest.mark.parametrize(
    "text",
    [
        "def test_a():\n    assert True",
        "def test_a():\n    pass",
        "def test_a():\n    return\n    assert f(1) == 2",
        "def test_a():\n    assert (f(1) == 2, 'it is two')",
        "def test_a():\n    if False:\n        assert f(1) == 2",
        "def test_a():\n    with suppress(AssertionError):\n        assert f(1) == 2",
        "def test_a():\n    assert f(1) == f(1)",
        "import pytest\npytestmark = pytest.mark.skip\ndef test_a():\n    assert f(1) == 2",
        "class TestF(unittest.TestCase):\n    @unittest.skip('later')\n    def test_a(self):\n        self.assertEqual(f(1), 2)",
        "def check(candidate):\n    candidate(1)",
        "assert 1 == 1",
        "import pytest\npytest.skip('later', allow_module_level=True)\ndef test_a():\n    assert f(1) == 2",
        "class T(unittest.TestCase):\n    def setUp(self):\n        raise unittest.SkipTest('no')\n    def test_a(self):\n"
        "        self.assertEqual(f(1), 2)",
        "@pytest.mark.parametrize('x', [])\ndef test_a(x):\n    assert f(1) == x",
        "def same(a):\n    assert a == 2\ndef test_a():\n    f(1)",
    ],
)
def test_a_text_of_which_no_test_can_fail_is_vacuous(text: str) -> None:
    assert vacuous(text)


@pytest.mark.parametrize(
    "text",
    [
        "def test_a():\n    assert f(1) == 2",
        "def test_a():\n    assert True\n\ndef test_b():\n    assert f(1)",
        "def test_a():\n    for x in range(3):\n        assert f(x) == x",
        "def test_a():\n    with pytest.raises(ValueError):\n        f(1)",
        "def test_a():\n    try:\n        f(1)\n    except ValueError:\n        return\n    assert False",
        "def test_a():\n    try:\n        f(1)\n        assert False\n    except ValueError:\n        pass",
        "def test_a():\n    np.testing.assert_allclose(f(1), 2)",
        "class TestF(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)",
        "@pytest.mark.skipif(sys.version_info < (3, 8), reason='old')\ndef test_a():\n    assert f(1) == 2",
        "def check(candidate):\n    if candidate(1) != 2:\n        raise AssertionError",
        "def same(a):\n    assert a == 2\ndef twice(a):\n    same(a)\ndef test_a():\n    twice(f(1))",
        "pytest.importorskip('json')\ndef test_a():\n    assert f(1) == 2",
        "class T(unittest.TestCase):\n    def setUp(self):\n        if old:\n            raise unittest.SkipTest('no')\n"
        "    def test_a(self):\n        self.assertEqual(f(1), 2)",
        "not python at all (",
    ],
)
def test_a_text_of_which_some_test_can_fail_is_not(text: str) -> None:
    assert vacuous(text) == ""
