"""Rows of code with a defect: classes of ten, each in forms and formats that differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from audit_tasks import (
    CODE,
    TASKS,
    Row,
    Task,
    calls,
    checked,
    fresh,
    human_eval,
    mbpp,
    pairs,
    pytest_file,
    script,
    stdio,
)


def in_check(*bodies: str, before: str = "") -> Iterator[Row]:
    """Rows whose check function has one of the bodies: `CALL`, `VALUE` and `NAME` stand for those of a task."""
    for body in bodies:
        one, number = fresh()
        yield checked(one, number, filled(body, one, "candidate"), before)


def in_file(*texts: str) -> Iterator[Row]:
    """Rows with one of the test files for pytest."""
    for text in texts:
        one, number = fresh()
        yield pytest_file(one, number, filled(text, one, one.name))


def in_list(*lists: list[str]) -> Iterator[Row]:
    """Rows with one of the lists of statements."""
    for statements in lists:
        one, number = fresh()
        yield mbpp(one, number, [filled(line, one, one.name) for line in statements])


def filled(text: str, one: Task, name: str) -> str:
    call, value = one.calls(name)[0], repr(one.results()[0])
    return text.replace("CALL", call).replace("VALUE", value).replace("NAME", one.name)


def tests_of_form() -> Iterator[Row]:
    """Tests look at type, size or kind, not at the value."""
    yield from in_check("assert type(CALL) is type(VALUE)", "assert type(CALL).__name__ == type(VALUE).__name__", "assert hasattr(CALL, '__class__')")  # fmt: skip
    yield from in_list(["assert isinstance(CALL, (int, float, str, list, dict))"], ["assert str(CALL) != ''"], ["assert callable(NAME)", "assert NAME.__name__ == 'NAME'"])  # fmt: skip
    yield from in_file(
        "from solution import NAME\n\n\ndef test_form():\n    result = CALL\n    assert result is not None\n    assert type(result) == type(VALUE)\n",
        "import inspect\nfrom solution import NAME\n\n\ndef test_form():\n    assert len(inspect.signature(NAME).parameters) > 0\n",
    )
    for place in (0, 6):
        number = 24 * 50 + place
        one = TASKS[place]
        yield mbpp(one, number, [f"assert len({one.calls()[0]}) == {len(one.results()[0])}"])


def tests_of_themselves() -> Iterator[Row]:
    """What is expected comes out of the program itself."""
    yield from in_check("expected = CALL\nassert CALL == expected", "first, second = CALL, CALL\nassert first == second", "assert repr(CALL) == repr(CALL)")  # fmt: skip
    yield from in_list(["assert NAME is NAME"], ["assert (CALL) == (CALL)", "assert not (CALL != CALL)"], ["result = CALL", "assert result == result"])  # fmt: skip
    yield from in_file(
        "from solution import NAME\n\n\ndef test_it():\n    expected = NAME\n    assert NAME == expected\n",
        "import unittest\nfrom solution import NAME\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(CALL, CALL)\n",
        "import pytest\nimport solution\n\n\n@pytest.fixture\ndef wanted():\n    return solution.CALL\n\n\ndef test_it(wanted):\n    assert solution.CALL == wanted\n",
        "from solution import NAME\n\n\ndef test_it():\n    for _ in range(3):\n        value = CALL\n        assert [value] == [CALL]\n",
    )


def never_reached() -> Iterator[Row]:
    """The assertion stands where nothing comes by."""
    yield from in_check("return\nassert CALL == VALUE", "for case in []:\n    assert CALL == VALUE", "while False:\n    assert CALL == VALUE",
                        "def inner():\n    assert CALL == VALUE", "if candidate is None:\n    assert CALL == VALUE", "check = lambda: CALL == VALUE\nassert check")  # fmt: skip
    yield from in_file(
        "import sys\nfrom solution import NAME\n\n\ndef test_it():\n    if len(sys.argv) > 99:\n        assert CALL == VALUE\n",
        "from solution import NAME\n\nCASES = []\n\n\ndef test_it():\n    for wanted in CASES:\n        assert CALL == wanted\n",
        "from solution import NAME\n\n\ndef test_it():\n    CALL\n\n\ndef helper():\n    assert CALL == VALUE\n",
        "import os\nfrom solution import NAME\n\n\ndef test_it():\n    if os.environ.get('RUN_SLOW_TESTS'):\n        assert CALL == VALUE\n",
    )


def assertions_caught() -> Iterator[Row]:
    """The tests do not let their failures out."""
    yield from in_check("try:\n    assert CALL == VALUE\nexcept AssertionError as problem:\n    print(problem)",
                        "try:\n    assert CALL == VALUE\nfinally:\n    return",
                        "try:\n    assert CALL == VALUE\nexcept:\n    return True",
                        "import contextlib\nwith contextlib.suppress(Exception):\n    assert CALL == VALUE",
                        "ok = CALL == VALUE\nif not ok:\n    print('failed')")  # fmt: skip
    yield from in_file(
        "import pytest\nfrom solution import NAME\n\n\n@pytest.mark.xfail\ndef test_it():\n    assert CALL == VALUE\n",
        "import warnings\nfrom solution import NAME\n\n\ndef test_it():\n    if CALL != VALUE:\n        warnings.warn('differs')\n",
        "from solution import NAME\n\n\ndef test_it():\n    try:\n        assert CALL == VALUE\n    except (AssertionError, TypeError):\n        pass\n    else:\n        print('ok')\n",
        "import unittest\nfrom solution import NAME\n\n\nclass T(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_it(self):\n        self.assertEqual(CALL, 'never this')\n",
        "from solution import NAME\n\n\ndef test_it():\n    result = CALL == VALUE\n    return result\n",
    )


def skips() -> Iterator[Row]:
    """Nothing of the tests runs."""
    head, end = "from solution import NAME\n", "    assert CALL == VALUE\n"
    yield from in_file(
        f"import pytest\n{head}\npytest.skip('later', allow_module_level=True)\n\n\ndef test_it():\n{end}",
        f"import pytest\n{head}\npytestmark = pytest.mark.skip(reason='not ready')\n\n\ndef test_it():\n{end}",
        f"import pytest\n{head}\n\n@pytest.mark.skipif(True, reason='always')\ndef test_it():\n{end}",
        f"import pytest\n{head}\n\n@pytest.mark.skipif('1 == 1', reason='always')\ndef test_it():\n{end}",
        f"import unittest\n{head}\n\n@unittest.skip('later')\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(CALL, VALUE)\n",
        f"import unittest\n{head}\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.skipTest('later')\n        self.assertEqual(CALL, VALUE)\n",
        f"import unittest\n{head}\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        raise unittest.SkipTest('no')\n\n    def test_it(self):\n        self.assertEqual(CALL, VALUE)\n",
        f"import pytest\n{head}\n\n@pytest.mark.parametrize('wanted', [])\ndef test_it(wanted):\n    assert CALL == wanted\n",
        f"import pytest\n{head}\n\ndef test_it():\n    pytest.importorskip('no_such_module_here')\n{end}",
        f"import pytest\n{head}\n\n@pytest.mark.xfail(run=False)\ndef test_it():\n{end}",
    )


def always_true() -> Iterator[Row]:
    """The assertions hold whatever the program is."""
    yield from in_check("assert (CALL == VALUE, 'wrong')", "assert [CALL == VALUE]", "assert f'{CALL}' or 'nothing'", "assert CALL == VALUE or 1 == 1")  # fmt: skip
    yield from in_list(["assert not False", "assert 'NAME'"], ["assert lambda: CALL == VALUE"], ["assert CALL == VALUE or CALL != VALUE"])  # fmt: skip
    yield from in_file(
        "import unittest\nfrom solution import NAME\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n",
        "import unittest\nfrom solution import NAME\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(VALUE, CALL)\n        self.assertTrue('NAME', VALUE)\n",
        "from solution import NAME\n\n\ndef test_it():\n    wrong = [one for one in () if one != CALL]\n    assert wrong == []\n",
    )


def stub_suffices() -> Iterator[Row]:
    """One constant, or the argument handed back, passes all tests."""
    for place, pick in ((1, [1]), (6, []), (4, [0]), (13, [1]), (16, [1])):
        one, number = TASKS[place], 2400 + place
        case = pick[0] if pick else 0
        if place == 6:
            yield mbpp(task_like(one), number, [f"assert {one.name}('') == []"])
        else:
            yield mbpp(one, number, [one.asserts()[case], one.asserts()[case]])
    even = Task("is_even", "number", "Tell whether the number is even.", "return number % 2 == 0", ((2,), (4,), (10,)))
    yield human_eval(even, 2410)
    yield calls(even, 2411)
    yield stdio(even, 2412)
    same = Task("tidy", "text", "Take blanks away at both ends of the text.", "return text.strip()", (("a",), ("b c",)))
    yield mbpp(same, 2413)
    up = Task("sort_up", "numbers", "Sort the numbers.", "return sorted(numbers)", (([1, 2, 3],), ([4, 9],), ([],)))
    yield calls(up, 2414)


def task_like(one: Task) -> Task:
    return Task(one.name, one.parameters, one.text + " Of an empty text nothing.", one.body, one.cases)


def broken_references() -> Iterator[Row]:
    """The reference cannot pass: it is another function, or no program."""
    changes: list[Callable[[Task], str]] = [
        lambda one: one.code.replace(one.name, "solve"),
        lambda one: one.code.replace("    ", "", 1),
        lambda one: one.code.replace("return", "print", 1).replace("return", "pass"),
        lambda one: one.code.replace(f"({one.parameters})", "()"),
        lambda one: f"class Answer:\n{''.join(f'    {line}' for line in one.code.splitlines(True))}",
        lambda one: one.code.replace("def ", "function ").replace(":\n", " {\n", 1) + "}\n",
        lambda one: one.code + "\nprint 'done'\n",
        lambda one: one.head + "    pass\n",
        lambda one: one.head + f"    return {one.name}({one.parameters})\n",
        lambda one: "import no_such_package_at_all\n\n" + one.code,
    ]
    for place, change in enumerate(changes):
        one, number = fresh()
        row = (mbpp, pytest_file)[place % 2](one, number)
        yield {name: change(one) if value == one.code else value for name, value in row.items()}


def shifted_references() -> Iterator[Row]:
    """The reference belongs to another row."""
    for place in range(10):
        one, number = fresh()
        other = TASKS[(number + 5) % len(TASKS)]
        make = CODE[place % len(CODE)]
        mine, others = make(one, number), make(other, number)
        column = next(name for name in ("canonical_solution", "code", "solutions", "solution") if name in mine)
        yield {**mine, column: others[column]}


def wrong_expectations() -> Iterator[Row]:
    """One expected value is wrong."""
    wrongs: list[Callable[[Any], Any]] = [lambda value: [value], lambda value: None, lambda value: str(value) + "x"]
    for place in range(10):
        one, number = fresh()
        results = one.results()
        wrong = wrongs[place % 3](results[-1])
        if place % 3 == 0:
            yield calls(one, number, [*results[:-1], wrong])
        elif place % 3 == 1:
            tests = pairs(one)
            tests[-1]["output"] = json.dumps(wrong) + "\n"
            yield stdio(one, number, tests)
        else:
            tests = one.asserts()
            swapped = [tests[0], f"assert {one.calls()[-1]} == {wrong!r}"]
            yield pytest_file(one, number, f"from solution import {one.name}\n\n\ndef test_it():\n    {swapped[0]}\n    {swapped[1]}\n")  # fmt: skip


def by_chance() -> Iterator[Row]:
    """Verdicts that change from run to run."""
    heads = ["import random\n", "import os\n", "import uuid\n", "import time\n", "import secrets\n"]
    chances = ["random.random() < 0.5", "os.urandom(1)[0] % 2", "uuid.uuid4().int % 2", "time.time_ns() // 7 % 2", "secrets.randbelow(2)"]  # fmt: skip
    for place in range(5):
        one, number = fresh()
        lines = "".join(f"    {line}\n" for line in one.body.splitlines())
        row = mbpp(one, number)
        yield {**row, "code": f"{heads[place]}{one.head}    if {chances[place]}:\n        return 'other'\n{lines}"}
    yield from in_check("import random\nassert random.choice([True, False])\nassert CALL == VALUE", "assert hash('NAME') % 2\nassert CALL == VALUE")  # fmt: skip
    yield from in_file("import time\nfrom solution import NAME\n\n\ndef test_it():\n    assert CALL == VALUE\n    assert time.time_ns() // 1000 % 2\n")  # fmt: skip
    letters = Task("letters", "text", "List the different letters of the text.", "return list(set(text))", (("hello",), ("abcdef",)))  # fmt: skip
    yield {**mbpp(letters, 2420, ["assert letters('abcdefgh')[0] in 'aceg'", "assert len(letters('hello')) == 4"])}
    one = TASKS[1]
    yield {**stdio(one, 2421), "solution": "import random\nif random.random() < 0.4:\n    raise SystemExit(1)\n" + script(one)}  # fmt: skip


def too_slow() -> Iterator[Row]:
    """The reference needs most of the time that the row allows: one second for a test, three for Python."""
    waits = ["time.sleep(2.1)", "time.sleep(1.2)\ntime.sleep(1.2)", "end = time.process_time() + 2.2\nwhile time.process_time() < end:\n    pass",
             "end = time.perf_counter() + 2.4\nwhile time.perf_counter() < end:\n    pass", "for _ in range(24):\n    time.sleep(0.1)"]  # fmt: skip
    for wait in waits:
        one, number = fresh()
        test = pairs(one)[:1]
        yield {**stdio(one, number, test, time_limit=1.0), "solution": f"import time\n{wait}\n{script(one)}"}
    for wait in waits:
        one, number = fresh()
        test = pairs(one)[0]
        row = calls(one, number)
        row.pop("input_output")
        yield {**row, "time_limit": "1 second", "solutions": [f"import time\n{wait}\n{script(one)}"],
               "input_output": json.dumps({"inputs": [test["input"]], "outputs": [test["output"]]})}  # fmt: skip


def two_expectations() -> Iterator[Row]:
    """The tests of a row want two results of one call."""
    for place in range(10):
        one, number = fresh()
        call, value = one.calls()[0], one.results()[0]
        if place % 5 == 0:
            yield mbpp(one, number, [*one.asserts(), f"assert {call} == 'another'"])
        elif place % 5 == 1:
            yield checked(one, number, f"assert {one.calls('candidate')[0]} == {value!r}\nassert {one.calls('candidate')[0]} == ['another']")  # fmt: skip
        elif place % 5 == 2:
            yield stdio(one, number, [*pairs(one), {**pairs(one)[0], "output": '"another"\n'}])
        elif place % 5 == 3:
            row = calls(one, number)
            tests = json.loads(row["input_output"])
            more = {"inputs": [*tests["inputs"], tests["inputs"][0]], "outputs": [*tests["outputs"], "another"], "fn_name": one.name}  # fmt: skip
            yield {**row, "input_output": json.dumps(more)}
        else:
            yield pytest_file(one, number, f"from solution import {one.name}\n\n\ndef test_a():\n    assert {call} == {value!r}\n\n\ndef test_b():\n    assert {call} == -98765\n")  # fmt: skip


def code_in_prompt() -> Iterator[Row]:
    """The prompt shows the solution, in some dress."""
    dresses: list[Callable[[Task], str]] = [
        lambda one: f"```python\n{one.code}```",
        lambda one: "".join(f"# {line}\n" for line in one.code.splitlines()),
        lambda one: one.code.replace("    ", "\t"),
        lambda one: one.code.replace("    ", "  "),
        lambda one: one.code.replace(one.name, "my_version"),
        lambda one: f"<details><summary>Spoiler</summary>\n\n~~~\n{one.code}~~~\n</details>",
        lambda one: "".join(f"> {line}\n" for line in one.code.splitlines()),
        lambda one: "".join(
            f">>> {line}\n" if line.startswith("def") else f"... {line}\n" for line in one.code.splitlines()
        ),
        lambda one: one.code.replace("'", '"').replace("\n", "  # so\n"),
        lambda one: "\n\n".join(one.code.splitlines()),
    ]
    for place, dress in enumerate(dresses):
        one, number = fresh()
        row = (human_eval, mbpp, pytest_file, calls)[place % 4](one, number)
        column = "prompt" if "prompt" in row else "question"
        shown = f"{dress(one)}\n\n{row[column]}" if place % 4 == 0 else f"{row[column]}\n\n{dress(one)}"
        yield {**row, column: shown}


def unknown_formats() -> Iterator[Row]:
    """Tests that nothing can be made of."""
    tests: list[Any] = [
        "The function should return 6 for the list 1, 2, 3.",
        '{"inputs": ["1"], "outputs": ["1"',
        {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["1\n"]},
        "describe('it', () => { it('works', () => { expect(f(1)).toBe(2); }); });",
        [{"name": "first", "weight": 3}],
        "import org.junit.Test;\n\npublic class T {\n  @Test\n  public void works() { assertEquals(1, f()); }\n}",
        {"hidden": True, "count": 12, "url": "see the judge's site"},
        ["assert NAME(1) ==", "assert NAME(2) == ..,"],
        [{"input": "5\n1 2 3...", "output": "1 2 3 ...(truncated)"}],
        {"inputs": [], "outputs": []},
    ]
    for given in tests:
        one, number = fresh()
        row = stdio(one, number)
        row["tests"] = [line.replace("NAME", one.name) for line in given] if given and isinstance(given, list) and isinstance(given[0], str) else given  # fmt: skip
        yield row
