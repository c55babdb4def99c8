"""Tasks, questions and sound rows of the fourth set, in the columns of the public sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit_tasks import Row, Task, next_number, script, task

JOBS = [
    task("clamp_all", "values, low, high", "Bring every value into the range from low to high.",
         "return [min(max(value, low), high) for value in values]", ([1, 9, -4], 0, 5), ([2, 2], 3, 8), ([7, 0, 100], 10, 20)),
    task("count_pairs", "numbers, target", "Count the pairs of places whose numbers add up to the target.",
         "found = 0\nfor i in range(len(numbers)):\n    for j in range(i + 1, len(numbers)):\n        if numbers[i] + numbers[j] == target:\n            found += 1\nreturn found",
         ([1, 2, 3, 4], 5), ([2, 2, 2], 4), ([9, 1], 3)),
    task("is_balanced", "text", "Tell whether each bracket of the text is closed by its own kind.",
         "stack = []\npairs = {')': '(', ']': '[', '}': '{'}\nfor letter in text:\n    if letter in '([{':\n        stack.append(letter)\n    elif letter in pairs:\n        if not stack or stack.pop() != pairs[letter]:\n            return False\nreturn not stack",
         "([]{})", "([)]", "((", "a[b]c", "]["),
    task("binary_gap", "number", "Return the longest run of zeros between two ones in the number's binary form.",
         "bits = bin(number)[2:].strip('0').split('1')\nreturn max(len(run) for run in bits)", 9, 529, 20, 15),
    task("top_words", "text, count", "Return the words that stand in the text most often, ties by the alphabet.",
         "seen = {}\nfor word in text.lower().split():\n    seen[word] = seen.get(word, 0) + 1\nordered = sorted(seen, key=lambda word: (-seen[word], word))\nreturn ordered[:count]",
         ("the cat and the dog and the bird", 2), ("b a b a c", 3), ("One one TWO", 1)),
    task("spiral", "grid", "Return the cells of the grid in the order of a spiral from the upper left corner.",
         "cells = []\ngrid = [list(row) for row in grid]\nwhile grid:\n    cells += grid.pop(0)\n    grid = [list(row) for row in zip(*grid)][::-1]\nreturn cells",
         [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2], [3, 4]], [[5], [6], [7]]),
    task("water_held", "heights", "Return how much water stays between walls of these heights.",
         "total = 0\nfor i in range(len(heights)):\n    total += min(max(heights[:i + 1]), max(heights[i:])) - heights[i]\nreturn total",
         [3, 0, 2], [0, 1, 0, 2, 1, 0, 1, 3], [5, 1, 1, 5]),
    task("snake_case", "name", "Turn a camelCase name into snake_case.",
         "made = ''\nfor letter in name:\n    if letter.isupper() and made:\n        made += '_'\n    made += letter.lower()\nreturn made",
         "camelCase", "HttpRequest", "plain", "aBCd"),
    task("lcm_of", "left, right", "Return the least common multiple of two positive numbers.",
         "a, b = left, right\nwhile b:\n    a, b = b, a % b\nreturn left * right // a", (4, 6), (7, 5), (12, 18)),
    task("longest_rise", "numbers", "Return the length of the longest stretch in which each number is greater than the one before.",
         "best = run = 1\nfor left, right in zip(numbers, numbers[1:]):\n    run = run + 1 if right > left else 1\n    best = max(best, run)\nreturn best",
         [1, 2, 2, 3, 4], [5, 4, 3], [1, 9, 12, 13]),
    task("mirror_pairs", "words", "List the words whose reverse stands in the list too, in their order.",
         "known = set(words)\nreturn [word for word in words if word[::-1] in known and word != word[::-1]]",
         ["abc", "cba", "xx"], ["no", "on", "maybe", "ebyam"], ["solo"]),
    task("days_between", "first, second", "Return the days between two numbers of days, as an absolute value times 24 hours.",
         "hours = 24\nreturn abs(second - first) * hours", (1, 3), (10, 4), (7, 7)),
    task("pascal_row", "index", "Return the row of Pascal's triangle with that index, counted from zero.",
         "row = [1]\nfor _ in range(index):\n    row = [1] + [a + b for a, b in zip(row, row[1:])] + [1]\nreturn row", 0, 4, 2, 6),
    task("atbash", "text", "Replace each letter by its opposite in the alphabet, keeping the case.",
         "made = ''\nfor letter in text:\n    if letter.islower():\n        made += chr(219 - ord(letter))\n    elif letter.isupper():\n        made += chr(155 - ord(letter))\n    else:\n        made += letter\nreturn made",
         "abc", "Hello, World", "zA9"),
    task("kth_smallest", "numbers, k", "Return the k-th smallest number, counted from one.",
         "ordered = sorted(numbers)\nreturn ordered[k - 1]", ([5, 2, 8], 1), ([7, 7, 3, 9], 3), ([4, 1, 6, 2], 4)),
    task("column_sums", "table", "Return the sum of each column of the table.",
         "sums = [0] * len(table[0])\nfor row in table:\n    for place, value in enumerate(row):\n        sums[place] += value\nreturn sums",
         [[1, 2], [3, 4]], [[5, 0, -5]], [[1], [1], [1]]),
]  # fmt: skip
"""Tasks of this set's own."""


def job() -> tuple[Task, int]:
    number = next_number()
    return JOBS[number % len(JOBS)], number


# ------------------------------------------------------------------------------------------------ formats


def heval(one: Task, number: int, body: str = "", **more: Any) -> Row:
    """HumanEval as it is published: METADATA, doctests in the prompt, a body as the reference."""
    shown = "\n".join(
        f"    >>> {call}\n    {value!r}" for call, value in list(zip(one.calls(), one.results(), strict=True))[:1]
    )
    lines = "\n".join(one.asserts("candidate")) if not body else filled(body, one, "candidate")
    tests = "".join(f"    {line}\n" for line in lines.splitlines())
    return {
        "task_id": f"HumanEval/{5000 + number}",
        "prompt": f'from typing import List\n\n\n{one.head}    """ {one.text} (variant {number})\n{shown}\n    """\n',
        "entry_point": one.name,
        "canonical_solution": one.code.split("\n", 1)[1],
        "test": f"\n\nMETADATA = {{\n    'author': 'jt',\n    'dataset': 'test'\n}}\n\n\ndef check(candidate):\n{tests}\n",
        **more,
    }


def basic(one: Task, number: int, tests: list[str] | None = None, **more: Any) -> Row:
    """MBPP as it is published."""
    return {
        "task_id": 60000 + number,
        "text": f"Write a python function {one.name}. {one.text} Set {number}.",
        "code": one.code.replace("\n", "\r\n"),
        "test_list": one.asserts() if tests is None else [filled(line, one, one.name) for line in tests],
        "test_setup_code": "",
        "challenge_test_list": [],
        **more,
    }


def pairs_of(one: Task) -> tuple[list[str], list[str]]:
    inputs = ["\n".join(json.dumps(value) for value in case) + "\n" for case in one.cases]
    return inputs, [json.dumps(value) + "\n" for value in one.results()]


def apps(one: Task, number: int, inputs: Any = None, outputs: Any = None, **more: Any) -> Row:
    """APPS with standard input and output."""
    given, wanted = pairs_of(one)
    cell = {"inputs": given if inputs is None else inputs, "outputs": wanted if outputs is None else outputs}
    return {
        "problem_id": number,
        "question": f"{one.text} The input has one JSON value per line ({one.parameters}).\n\n-----Output-----\nOne line of JSON. Case {number}.",
        "input_output": json.dumps(cell),
        "solutions": json.dumps([script(one)]),
        "difficulty": "interview",
        "starter_code": "",
        **more,
    }


def taco(one: Task, number: int, inputs: Any = None, outputs: Any = None, **more: Any) -> Row:
    """TACO with calls of a function."""
    cell = {
        "fn_name": one.name,
        "inputs": [list(case) for case in one.cases] if inputs is None else inputs,
        "outputs": [[value] for value in one.results()] if outputs is None else outputs,
    }
    return {
        "question": f"{one.text} Complete the function {one.name}({one.parameters}). Kata {number}.",
        "input_output": json.dumps(cell),
        "starter_code": f"def {one.name}({one.parameters}):\n\t",
        "solutions": json.dumps([one.code]),
        "source": "codewars",
        **more,
    }


def kod(one: Task, number: int, file: str = "", **more: Any) -> Row:
    """KodCode: a file for pytest."""
    cases = "".join(f"def test_{one.name}_{place}():\n    {line}\n\n" for place, line in enumerate(one.asserts()))
    text = filled(file, one, one.name) if file else f"from solution import {one.name}\n\n{cases}"
    return {
        "question_id": f"Filter_{number}_I",
        "question": f"{one.text} Write `{one.name}({one.parameters})`. ID {number}.",
        "solution": one.code,
        "test": text,
        **more,
    }


def io_list(one: Task, number: int, tests: Any = None, **more: Any) -> Row:
    """A list of inputs and outputs, with the reference beside it."""
    given, wanted = pairs_of(one)
    return {
        "prompt": f"{one.text} Read {one.parameters} from standard input, a line of JSON each, and print JSON. (#{number})",
        "tests": [{"input": text, "output": out} for text, out in zip(given, wanted, strict=True)]
        if tests is None
        else tests,
        "solution": script(one),
        **more,
    }


def filled(text: str, one: Task, name: str) -> str:
    call, value = one.calls(name)[0], repr(one.results()[0])
    return text.replace("CALL", call).replace("VALUE", value).replace("NAME", one.name)


def each(make: Callable[..., Row], *bodies: Any) -> Iterator[Row]:
    for body in bodies:
        one, number = job()
        yield make(one, number, body)


def worded(number: int) -> tuple[str, str]:
    """A word problem whose answer stands nowhere in it."""
    crates, apples, eaten = 13 + number, 24 + 2 * number, 9 + number
    return (
        f"A farmer fills {crates} crates with {apples} apples each and gives away {eaten} apples. How many apples remain?",
        str(crates * apples - eaten),
    )


def sum_row(said: str = "{}", gold: Any = ..., **more: Any) -> Row:
    number = next_number()
    text, right = worded(number)
    filled_in = said.replace("{}", text).replace("GOLD", right)
    return {"problem": filled_in, "answer": right if gold is ... else gold, **more}


def messages(before: list[tuple[str, str]], said: str = "{}", after: list[tuple[str, str]] | None = None) -> Row:
    number = next_number()
    text, right = worded(number)
    turns = [*before, ("user", said), *(after or [])]
    return {
        "prompt": [
            {"role": role, "content": content.replace("{}", text).replace("GOLD", right)} for role, content in turns
        ],
        "answer": right,
    }


QUIZ = [
    ("Which layer of the Earth is liquid?", ["inner core", "outer core", "crust", "mantle"], 1),
    ("Which animal lays eggs?", ["platypus", "whale", "bat", "dog"], 0),
    ("Which unit measures electric current?", ["volt", "ohm", "ampere", "watt"], 2),
    ("Which sorting method is stable?", ["heapsort", "quicksort", "selection sort", "merge sort"], 3),
    ("Which acid is found in lemons?", ["citric acid", "lactic acid", "formic acid", "oxalic acid"], 0),
    ("Which country borders Portugal?", ["France", "Spain", "Italy", "Andorra"], 1),
    ("Which bone is in the leg?", ["ulna", "radius", "femur", "scapula"], 2),
    ("Which of these is a noble gas?", ["nitrogen", "chlorine", "hydrogen", "argon"], 3),
]


def quiz(said: str = "{}", gold: Any = ..., options: Any = ..., **more: Any) -> Row:
    number = next_number()
    text, given, right = QUIZ[number % len(QUIZ)]
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", given, strict=True))
    asked = (
        said.replace("{}", f"{text} (Q{number})\n{listed}").replace("GOLD", "ABCD"[right]).replace("TEXT", given[right])
    )
    return {
        "question": asked,
        "choices": given if options is ... else options,
        "answer": "ABCD"[right] if gold is ... else gold,
        **more,
    }


TRIVIA = [
    ("Who composed The Four Seasons?", ["Antonio Vivaldi", "Vivaldi"]),
    ("What is the capital of Canada?", ["Ottawa"]),
    ("In which year did the Titanic sink?", ["1912"]),
    ("Which element has the atomic number 6?", ["carbon"]),
    ("Who wrote Don Quixote?", ["Miguel de Cervantes", "Cervantes"]),
    ("Which river is the longest of France?", ["Loire", "the Loire"]),
    ("What do bees collect?", ["nectar", "pollen"]),
    ("Who painted The Night Watch?", ["Rembrandt", "Rembrandt van Rijn"]),
]


def trivia(said: str = "{}", gold: Any = ..., **more: Any) -> Row:
    number = next_number()
    text, accepted = TRIVIA[number % len(TRIVIA)]
    asked = said.replace("{}", f"{text} [{number}]").replace("GOLD", accepted[0])
    return {"question": asked, "golden_answers": accepted if gold is ... else gold, **more}


# ------------------------------------------------------------------------------------------------ sound rows


def sound_code() -> Iterator[Row]:
    for make in (heval, basic, apps, taco, kod, io_list):
        for one in JOBS:
            yield make(one, next_number())


def written(make: Callable[..., Row], *bodies: str) -> Iterator[Row]:
    """Rows of tasks of which one test tells enough: none whose result is true or false."""
    for body in bodies:
        number = next_number()
        yield make(JOBS[3 + number % 13], number, body)


def sound_tests() -> Iterator[Row]:
    yield from written(
        heval,
        "inputs = [1]\nfor _ in inputs:\n    assert CALL == VALUE, 'This prints if this assert fails'\nassert True, 'This prints if this assert fails 1 (good for debugging!)'",
        "result = CALL\nassert result == VALUE\nassert type(result) is type(VALUE)",
        "import copy\nwanted = copy.deepcopy(VALUE)\nassert CALL == wanted",
        "try:\n    result = CALL\nexcept Exception as error:\n    raise AssertionError(error)\nassert result == VALUE",
    )
    yield from written(
        basic,
        ["assert (CALL) == (VALUE)"],
        ["got = CALL", "assert got == VALUE"],
        ["assert not (CALL != VALUE)"],
        ["import math", "assert CALL == VALUE"],
    )
    yield from written(
        kod,
        "import unittest\nfrom solution import NAME\n\nclass TestIt(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(CALL, VALUE)\n\nif __name__ == '__main__':\n    unittest.main()\n",
        "import pytest\nfrom solution import NAME\n\n@pytest.mark.parametrize('wanted', [VALUE])\ndef test_a(wanted):\n    assert CALL == wanted\n",
        "import random\nfrom solution import NAME\n\ndef test_a():\n    random.seed(1)\n    assert CALL == VALUE\n",
        "import pytest\nfrom solution import NAME\n\ndef test_a():\n    assert CALL == VALUE\n\ndef test_b():\n    with pytest.raises(TypeError):\n        NAME()\n",
        "import os\nfrom solution import NAME\n\n@pytest.mark.skipif(os.name == 'nt', reason='paths')\ndef test_b():\n    assert CALL == VALUE\n".replace(
            "import os", "import os\nimport pytest"
        ),
        "from solution import *\n\ndef test_a():\n    '''checks'''\n    assert CALL == VALUE\n",
    )


def sound_numbers() -> Iterator[Row]:
    for place in range(50):
        text, right = worded(next_number())
        yield [
            {"question": text, "answer": f"There are many apples.\n#### {right}"},
            {"problem": text, "answer": right},
            {"prompt": text, "answer": int(right)},
            {"prompt": [{"role": "user", "content": text}], "solution": f"Multiply, subtract: $\\boxed{{{right}}}$."},
            {"prompt": [{"role": "system", "content": "Put your final answer within \\boxed{}. The answer is a number."}, {"role": "user", "content": text}], "answer": right},
        ][place % 5]  # fmt: skip
    for problem, answer in (
        ("Compute $1 - 1$.", "0"), ("Find all real $x$ with $x^2=4$.", "\\{-2, 2\\}"), ("Solve $|x|<3$.", "(-3,3)"), ("What is $\\sin(\\pi/2)+0$?", "1"),
        ("Factor $x^2-1$.", "(x-1)(x+1)"), ("What is one half as a decimal?", "0.5"), ("Express 3/4 as a percentage.", "75\\%"), ("How much is 12 dollars and 50 cents plus 2 dollars?", "\\$14.50"),
        ("In which base is 31 equal to 25 in base ten?", "8"), ("Find the inverse matrix of $\\begin{pmatrix}2&0\\\\0&2\\end{pmatrix}$.", "\\begin{pmatrix}1/2&0\\\\0&1/2\\end{pmatrix}"),
        ("Is the statement true or false: 7 is prime?", "true"), ("What is $\\infty$ minus five?", "\\infty"), ("Which day follows Monday?", "\\text{Tuesday}"),
        ("A man has 5 pens. How many pens has he?", "5"), ("Answer: what is 6 times 8?", "48"), ("Évaluez $2^{10}$ s’il vous plaît…", "1024"),
        ("Let $f(x)=ax+b$ with $f(0)=3$, $f(1)=9$. Give $f$.", "f(x)=6x+3"), ("How many solutions are there? $x=x+1$ The answer is an integer.", "0"),
        ("Convert 0.125 to a fraction", "\\frac{1}{8}"), ("请计算 15 乘以 15。", "225"),
        ("What number am I? I am 9 less than 50. Your answer should be of the form 'The answer is X'.", "41"), ("Find the limit of 1/x for x to infinity.", "0"),
        ("What is the answer to life if it is 6*7?", "42"), ("How many minutes are in 2.5 hours? Example answer: 90", "150"), ("Find $n$: $n! = 120$", "5"),
        ("Name the polygon with eight sides.", "octagon"), ("Give the coordinates of the midpoint of (0,0) and (2,4).", "(1,2)"), ("Compute $i^2$.", "-1"),
        ("Write 1,234,567 + 1", "1{,}234{,}568"), ("What time is it 30 minutes after 11:45?", "12:15"),
    ):  # fmt: skip
        yield {"problem": problem, "answer": answer}


def sound_talks() -> Iterator[Row]:
    yield messages([("user", "What is 2+2? Think first."), ("assistant", "The answer is 4.")])
    yield messages([("system", "You are a helpful assistant. End with 'The answer is ...'.")])
    yield messages([("user", "Q: Tom has 3 cats and buys 2 more. How many?"), ("assistant", "A: \\boxed{5}")], "Q: {}")
    yield sum_row(
        "Q: There are 15 trees and 6 more are planted. How many are there?\nA: The answer is 21.\n\nQ: {}\nA:"
    )
    yield sum_row("{}\nLet's think step by step and put the answer after ####.")
    yield sum_row("Solve the problem. Answer:\n{}")
    yield sum_row("{} Respond with <answer> </answer> tags.")
    yield sum_row("### Problem\n{}\n\n### Answer\n")


def sound_letters() -> Iterator[Row]:
    for place in range(40):
        row = quiz(
            ("{}", "{}\nAnswer with a letter.", "Pick one.\n{}\nAnswer:", "{}\nThe answer is one of A, B, C and D.")[
                place % 4
            ]
        )
        if place % 5 == 1:
            row["answer"] = "ABCD".index(row["answer"])
        if place % 5 == 2:
            row["answer"] = f"({row['answer']})"
        if place % 5 == 3:
            row["answer"] = row["choices"]["ABCD".index(row["answer"])]
        if place % 5 == 4:
            row["choices"] = {"label": list("ABCD"), "text": row["choices"]}
        yield row
    yield quiz(options=["1", "2", "3", "All of the above"], gold="D")
    yield quiz(options=["none of these", "E", "C", "A"], gold="B")
    yield quiz(options=["True", "False"], gold="A")


def sound_facts() -> Iterator[Row]:
    for place in range(24):
        yield trivia(("{}", "Answer the question: {}", "{} Answer:")[place % 3])
    yield {
        "question": "Context: The war ended in 1648 with the Peace of Westphalia. Question: When did the war end?",
        "golden_answers": ["1648"],
    }
    yield {
        "question": "Passage: Ada Lovelace wrote notes on the Analytical Engine. Who wrote the notes?",
        "golden_answers": ["Ada Lovelace", "Lovelace"],
    }
    yield {"question": "Is Oslo or Bergen the capital of Norway?", "golden_answers": ["Oslo"]}
    yield {"question": "Is the sun a star?", "golden_answers": ["yes", "Yes"]}
    yield {"question": "Which band sang None of Your Business? (3 members)", "golden_answers": ["Salt-N-Pepa"]}
    yield {"question": "What is the surname of the boxer called Error?", "golden_answers": ["Null"]}


FOURTH_SOUND: dict[str, tuple[Callable[[], Iterable[Row]], str]] = {
    "code": (sound_code, ""),
    "tests": (sound_tests, ""),
    "numbers": (sound_numbers, ""),
    "talks": (sound_talks, ""),
    "letters": (sound_letters, "multiple_choice"),
    "facts": (sound_facts, "qa"),
}
"""Sound rows of the same forms."""
