"""Small tasks, and the rows of public formats that are written of them: what the variants of `audit_variants.py` are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A function: its name, parameters, what is asked, the lines of its body, and arguments to try it with."""

    name: str
    parameters: str
    text: str
    body: str
    cases: tuple[tuple[Any, ...], ...]

    @property
    def head(self) -> str:
        return f"def {self.name}({self.parameters}):\n"

    @property
    def code(self) -> str:
        return self.head + "".join(f"    {line}\n" for line in self.body.splitlines())

    def results(self) -> list[Any]:
        """What the function returns for each of its cases."""
        names: dict[str, Any] = {}
        exec(self.code, names)  # noqa: S102 - of the tasks below
        return [names[self.name](*json.loads(json.dumps(case))) for case in self.cases]

    def calls(self, name: str = "") -> list[str]:
        """The cases as calls, of `name` where it is given."""
        return [f"{name or self.name}({', '.join(map(repr, case))})" for case in self.cases]

    def asserts(self, name: str = "") -> list[str]:
        return [f"assert {call} == {value!r}" for call, value in zip(self.calls(name), self.results(), strict=True)]


def task(name: str, parameters: str, text: str, body: str, *cases: Any) -> Task:
    return Task(name, parameters, text, body, tuple(one if isinstance(one, tuple) else (one,) for one in cases))


TASKS = [
    task("running_total", "numbers", "Return the list of sums of the first one, two, ... numbers.",
         "total, sums = 0, []\nfor number in numbers:\n    total += number\n    sums.append(total)\nreturn sums", [1, 2, 3], [5], [4, -4, 9, 0]),
    task("vowel_count", "text", "Count the vowels in the text, in either case.",
         "vowels = 'aeiou'\nreturn sum(1 for letter in text.lower() if letter in vowels)", "Banana", "rhythm", "AEIOU and more", ""),
    task("second_largest", "numbers", "Return the second largest of the different numbers, or None.",
         "found = sorted(set(numbers))\nif len(found) < 2:\n    return None\nreturn found[-2]", [3, 1, 2], [7, 7], [5, 9, 9, 4, 8]),
    task("caesar", "text, shift", "Shift each small letter of the text by so many places, round the alphabet.",
         "made = ''\nfor letter in text:\n    made += chr((ord(letter) - 97 + shift) % 26 + 97) if letter.islower() else letter\nreturn made",
         ("abc", 1), ("xyz!", 3), ("Hello", 25)),
    task("digit_product", "number", "Return the product of the number's digits that are not zero.",
         "product = 1\nfor digit in str(abs(number)):\n    if digit != '0':\n        product *= int(digit)\nreturn product", 123, 405, 99, 10),
    task("rotate_left", "items, places", "Rotate the list to the left by so many places.",
         "if not items:\n    return items\nplaces %= len(items)\nreturn items[places:] + items[:places]", ([1, 2, 3, 4], 1), ([1, 2], 5), ([9, 8, 7], 2)),
    task("run_lengths", "text", "Return the letters of the text with how often each stands there in a row, as a list of lists.",
         "runs = []\nfor letter in text:\n    if runs and runs[-1][0] == letter:\n        runs[-1][1] += 1\n    else:\n        runs.append([letter, 1])\nreturn runs",
         "aab", "xyz", "qqqqr"),
    task("common_prefix", "words", "Return the longest text that all words begin with.",
         "prefix = words[0]\nfor word in words[1:]:\n    while not word.startswith(prefix):\n        prefix = prefix[:-1]\nreturn prefix",
         ["flower", "flow", "flight"], ["dog", "cat"], ["inter", "internal", "interval"]),
    task("gap", "numbers", "Return the largest difference of two numbers that stand beside each other.",
         "return max(abs(left - right) for left, right in zip(numbers, numbers[1:]))", [1, 5, 2], [10, 10], [3, -8, 4, 30]),
    task("title_words", "text", "Return the words of the text that begin with a capital letter.",
         "return [word for word in text.split() if word[:1].isupper()]", "The cat and Anna", "nothing here", "Rome Oslo paris"),
    task("collatz_steps", "number", "Count the steps from the number down to 1: halve what is even, else times three plus one.",
         "steps = 0\nwhile number != 1:\n    number = number // 2 if number % 2 == 0 else 3 * number + 1\n    steps += 1\nreturn steps", 6, 1, 27, 16),
    task("transpose", "rows", "Swap rows and columns of the table.",
         "return [list(column) for column in zip(*rows)]", [[1, 2], [3, 4]], [[5, 6, 7]], [[1], [2], [3]]),
    task("middle_letters", "word", "Return the middle letter of the word, or the two in the middle.",
         "half = len(word) // 2\nif len(word) % 2:\n    return word[half]\nreturn word[half - 1:half + 1]", "seven", "four", "ab", "q"),
    task("change", "amount", "Return how many coins of 50, 20, 10, 5, 2 and 1 are needed at least, taking the largest first.",
         "coins = 0\nfor value in (50, 20, 10, 5, 2, 1):\n    coins += amount // value\n    amount %= value\nreturn coins", 88, 0, 39, 200),
    task("merge_sorted", "left, right", "Merge two sorted lists into one that is sorted.",
         "merged = []\nwhile left and right:\n    merged.append(left.pop(0) if left[0] <= right[0] else right.pop(0))\nreturn merged + left + right",
         ([1, 4], [2, 3]), ([], [5]), ([1, 1, 8], [0, 9])),
    task("word_lengths", "text", "Map each word of the text to its length.",
         "return {word: len(word) for word in text.split()}", "a bee flew", "one", "many small words here"),
    task("hamming", "left, right", "Count the places at which two texts of one length differ.",
         "return sum(a != b for a, b in zip(left, right))", ("karolin", "kathrin"), ("abc", "abc"), ("1011101", "1001001")),
    task("without_repeats", "items", "Take out what stood there before, and keep the order.",
         "kept = []\nfor item in items:\n    if item not in kept:\n        kept.append(item)\nreturn kept", [1, 2, 1, 3, 2], ["b", "a", "b"], [7, 7, 7]),
    task("to_roman", "number", "Write the number in Roman numerals.",
         "made = ''\nfor value, sign in ((100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n"
         "    while number >= value:\n        made += sign\n        number -= value\nreturn made", 14, 99, 3, 148),
    task("weave", "left, right", "Take letters of the two texts by turns; what is left over of the longer one follows.",
         "made = ''\nfor place in range(max(len(left), len(right))):\n    made += left[place:place + 1] + right[place:place + 1]\nreturn made",
         ("abc", "xyz"), ("a", "1234"), ("hello", "")),
    task("chunks", "items, size", "Cut the list into lists of that size; the last one may be shorter.",
         "return [items[start:start + size] for start in range(0, len(items), size)]", ([1, 2, 3, 4, 5], 2), ([1], 3), ([6, 5, 4, 3], 4)),
    task("mean_of_ends", "numbers", "Return the mean of the smallest and the largest number.",
         "low, high = min(numbers), max(numbers)\nreturn (low + high) / 2", [1, 2, 6], [4], [-3, 10, 2]),
    task("brackets_depth", "text", "Return how deep the round brackets of the text are nested.",
         "depth = deepest = 0\nfor letter in text:\n    depth += (letter == '(') - (letter == ')')\n    deepest = max(deepest, depth)\nreturn deepest",
         "(a(b)c)", "no", "((()))()", "(x)"),
    task("primes_below", "limit", "List the prime numbers below the limit.",
         "primes = []\nfor number in range(2, limit):\n    if all(number % prime for prime in primes):\n        primes.append(number)\nreturn primes", 10, 2, 30),
]  # fmt: skip
"""Tasks with several cases each, whose results JSON can hold."""

_taken = iter(range(10**6))


def next_number() -> int:
    """A number that no other row has."""
    return next(_taken)


def fresh() -> tuple[Task, int]:
    """The next task, and a number that no other row has."""
    number = next_number()
    return TASKS[number % len(TASKS)], number


# ------------------------------------------------------------------------------------------------ formats of code


def human_eval(one: Task, number: int) -> Row:
    lines = "".join(f"    {line}\n" for line in one.asserts("candidate"))
    return {
        "task_id": f"V/{number}",
        "prompt": f'{one.head}    """{one.text} ({number})"""\n',
        "entry_point": one.name,
        "canonical_solution": one.code.split("\n", 1)[1],
        "test": f"def check(candidate):\n{lines}",
    }


def checked(one: Task, number: int, lines: str, before: str = "") -> Row:
    """A row like HumanEval's whose check function holds other lines."""
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    return {**human_eval(one, number), "test": f"{before}def check(candidate):\n{body}"}


def mbpp(one: Task, number: int, tests: list[str] | None = None) -> Row:
    return {
        "task_id": number,
        "prompt": f"Write a function {one.name}({one.parameters}). {one.text} (No. {number})",
        "code": one.code,
        "test_list": one.asserts() if tests is None else tests,
    }


def pytest_file(one: Task, number: int, text: str = "") -> Row:
    cases = "".join(f"\n\ndef test_{place}():\n    {line}\n" for place, line in enumerate(one.asserts()))
    return {
        "id": f"p{number}",
        "question": f"{one.text} Name it `{one.name}` with the parameters {one.parameters}. (Task {number})",
        "test": text or f"from solution import {one.name}\n{cases}",
        "solution": one.code,
    }


def calls(one: Task, number: int, results: list[Any] | None = None) -> Row:
    tests = {
        "inputs": [list(case) for case in one.cases],
        "outputs": one.results() if results is None else results,
        "fn_name": one.name,
    }
    return {
        "problem_id": number,
        "question": f"Implement {one.name}({one.parameters}). {one.text} #{number}",
        "input_output": json.dumps(tests),
        "solutions": json.dumps([one.code]),
    }


def script(one: Task) -> str:
    """A program that reads the arguments as lines of JSON and prints the result as JSON."""
    return f"import json, sys\n\n{one.code}\nprint(json.dumps({one.name}(*map(json.loads, sys.stdin.read().splitlines()))))\n"


def stdio(one: Task, number: int, tests: list[Row] | None = None, **more: Any) -> Row:
    return {
        "id": f"s{number}",
        "prompt": f"Read {one.parameters} as lines of JSON and print a line of JSON. {one.text} ({number})",
        "tests": pairs(one) if tests is None else tests,
        "solution": script(one),
        **more,
    }


def pairs(one: Task) -> list[Row]:
    inputs = ["".join(json.dumps(value) + "\n" for value in case) for case in one.cases]
    return [
        {"input": text, "output": json.dumps(value) + "\n"} for text, value in zip(inputs, one.results(), strict=True)
    ]


CODE = (human_eval, mbpp, pytest_file, calls, stdio)
"""The formats in which a task can be written."""


# ------------------------------------------------------------------------------------------------ questions


def sums(number: int) -> tuple[str, str]:
    """A word problem and its answer, which does not stand in it."""
    shelves, books, gone = 12 + number, 31 + 3 * number, 17 + number
    text = f"A library has {shelves} shelves with {books} books on each. Then {gone} books are sold. How many books are left?"
    return text, str(shelves * books - gone)


def gsm8k(number: int, said: str = "{}", gold: str | None = None) -> Row:
    """A row of GSM8K; `said` is put around the question, with `{}` for it."""
    text, right = sums(number)
    worked = (
        f"First all books are counted, then those that are gone are taken away.\n#### {right if gold is None else gold}"
    )
    return {"question": said.replace("{}", text), "answer": worked}


def plain(number: int, said: str = "{}", gold: Any = ...) -> Row:
    """A row with the bare answer."""
    text, right = sums(number)
    return {"prompt": said.replace("{}", text), "answer": right if gold is ... else gold}


def chat(number: int, said: str = "{}", gold: Any = ..., before: list[Row] | None = None) -> Row:
    """A row whose prompt is messages."""
    text, right = sums(number)
    messages = [*(before or []), {"role": "user", "content": said.replace("{}", text)}]
    return {"prompt": messages, "answer": f"\\boxed{{{right}}}" if gold is ... else gold}


QUESTIONS = [
    ("Which city is the capital of Norway?", ["Bergen", "Oslo", "Trondheim", "Tromso"], 1),
    ("Which gas do plants take in?", ["oxygen", "helium", "carbon dioxide", "neon"], 2),
    ("Which planet is nearest to the sun?", ["Mercury", "Venus", "Earth", "Mars"], 0),
    ("Who painted Guernica?", ["Goya", "Velazquez", "Dali", "Picasso"], 3),
    ("Which metal is liquid at room temperature?", ["tin", "mercury", "zinc", "lead"], 1),
    ("Which of these rivers flows through Vienna?", ["the Rhine", "the Elbe", "the Danube", "the Oder"], 2),
    ("Which instrument has eighty-eight keys?", ["the piano", "the harp", "the flute", "the cello"], 0),
    ("What is the freezing point of water in Celsius?", ["32", "100", "-18", "0"], 3),
    ("Which organ pumps blood?", ["liver", "heart", "lung", "kidney"], 1),
    ("Which ocean is the largest?", ["Atlantic", "Indian", "Pacific", "Arctic"], 2),
]  # fmt: skip


def choice(number: int, said: str = "{}", gold: Any = ..., options: Any = ...) -> Row:
    """A question with options; letters by turns with indices."""
    text, given, right = QUESTIONS[number % len(QUESTIONS)]
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", given, strict=True))
    answer: Any = "ABCD"[right] if number % 2 else right
    return {
        "prompt": said.replace("{}", f"{text} (No. {number})\n{listed}"),
        "choices": given if options is ... else options,
        "answer": answer if gold is ... else gold,
    }


FACTS = [
    ("Who wrote the opera Fidelio?", ["Ludwig van Beethoven", "Beethoven"]),
    ("In which year did the Berlin Wall fall?", ["1989"]),
    ("What is the chemical symbol of gold?", ["Au"]),
    ("Which language is spoken in Brazil?", ["Portuguese"]),
    ("Who discovered penicillin?", ["Alexander Fleming", "Fleming"]),
    ("What is the largest desert of Africa?", ["Sahara", "the Sahara"]),
    ("Which sea lies between Italy and Croatia?", ["the Adriatic Sea", "Adriatic"]),
    ("Who was the first person on the Moon?", ["Neil Armstrong"]),
    ("What is the currency of Japan?", ["yen", "Japanese yen"]),
    ("Which mountain is the highest of the Alps?", ["Mont Blanc"]),
]


def fact(number: int, said: str = "{}", gold: Any = ...) -> Row:
    """A question with the accepted answers."""
    text, accepted = FACTS[number % len(FACTS)]
    return {"prompt": said.replace("{}", f"{text} (No. {number})"), "golden_answers": accepted if gold is ... else gold}
