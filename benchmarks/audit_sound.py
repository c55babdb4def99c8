"""Sound rows that look suspicious: what the audit must leave alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit_tasks import (  # fmt: skip
    CODE,
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


def short_answers() -> Iterator[Row]:
    """The answer stands in the question by nature."""
    for text, gold in [("Which is larger, 17 or 23?", "23"), ("Is 91 prime? Answer yes or no.", "no"), ("What is 5 times 1?", "5"), ("What is 12 + 0?", "12"),
                       ("Of 4, 9 and 15, which is a square but not even?", "9"), ("Tom has 3 pens and buys 0 more. How many has he?", "3"), ("What is the remainder of 7 divided by 8?", "7"),
                       ("Simplify x + 0.", "x"), ("What is the median of 2, 5 and 11?", "5"), ("The answer to Ann's riddle is a number below 50; it is 6 times 7, not 40. Which?", "42"),
                       ("Solve (x - 2)(x - 2) = 0.", "2"), ("How many of the numbers 1, 2 and 3 are odd? The answer is not 3.", "2")]:  # fmt: skip
        yield {"prompt": text, "answer": gold}


def strong_alone() -> Iterator[Row]:
    """One test that tells much."""
    for place, case in ((0, 2), (3, 1), (5, 2), (6, 2), (8, 2), (10, 2), (14, 2), (17, 0), (18, 3), (19, 1)):
        one = TASKS[place]
        row = mbpp(one, 3000 + place, [one.asserts()[case]])
        yield row


def slow_within_limit() -> Iterator[Row]:
    """Slow, and yet far from the limit."""
    for place in range(10):
        one, number = fresh()
        wait = ("time.sleep(0.4)", "end = time.process_time() + 0.4\nwhile time.process_time() < end:\n    pass")[
            place % 2
        ]
        yield {**stdio(one, number, pairs(one)[:2], time_limit=1.0), "solution": f"import time\n{wait}\n{script(one)}"}


def equal_twins() -> Iterator[Row]:
    """Twice the same question, with one answer in two notations."""
    for text, left, right in [("What is a half of a quarter?", "1/8", "0.125"), ("What is two to the tenth?", "1024", "1,024"), ("What is a fifth, in percent?", "20%", "20\\%"),
                              ("Give the roots of x^2 = 4.", "2, -2", "-2, 2"), ("What is the square root of 8?", "2\\sqrt{2}", "\\sqrt{8}"), ("What is 3 - 5?", "-2", "$-2$")]:  # fmt: skip
        yield {"prompt": text, "answer": left}
        yield {"prompt": text, "answer": right}
    one = TASKS[0]
    other = one.code.replace("total += number", "total = total + number")
    yield mbpp(one, 3100)
    yield {**mbpp(one, 3100), "code": other, "test_list": one.asserts()[::-1]}


def several_right() -> Iterator[Row]:
    """Tests that let several answers pass, as the task does."""
    either = Task("any_factor", "number", "Return a factor of the number between 1 and itself, if there is one, else None.",
                  "for factor in range(2, number):\n    if number % factor == 0:\n        return factor\nreturn None", ((12,), (7,)))  # fmt: skip
    for place in range(3):
        yield mbpp(
            either,
            3200 + place,
            [
                "assert any_factor(12) in (2, 3, 4, 6)",
                f"assert any_factor({7 + 4 * place if place < 2 else 17}) is None",
                "assert any_factor(35) in (5, 7)",
                "assert any_factor(77) in {7, 11}",
            ],
        )
    order = Task(
        "uniques", "items", "Return the different items in any order.", "return list(set(items))", (([1, 1, 2],),)
    )
    for place in range(3):
        yield mbpp(
            order,
            3210 + place,
            [
                "assert sorted(uniques([1, 1, 2])) == [1, 2]",
                "assert set(uniques([3, 4, 3])) == {3, 4} and len(uniques([3, 4, 3])) == 2",
                "assert sorted(uniques([9])) == [9]",
            ],
        )
    for place in range(4):
        yield {
            "prompt": f"Name a root of x^2 - 5x + 6 = {place}.",
            "answer": ["2 or 3", "\\frac{5 \\pm \\sqrt{5}}{2}", "1 or 4", "\\frac{5 \\pm \\sqrt{13}}{2}"][place],
        }


def errors_wanted() -> Iterator[Row]:
    """Tests that want an exception, and catch it rightly."""
    root = Task("root", "number", "Return the whole square root of a square number; raise ValueError for others.",
                "if number < 0:\n    raise ValueError('negative')\nfound = round(number ** 0.5)\nif found * found != number:\n    raise ValueError('no square')\nreturn found", ((9,),))  # fmt: skip
    files = ["import pytest\nfrom solution import root\n\n\ndef test_values():\n    assert root(9) == 3\n    assert root(0) == 0\n    assert root(144) == 12\n\n\ndef test_errors():\n    with pytest.raises(ValueError):\n        root(8)\n    with pytest.raises(ValueError):\n        root(-4)\n",
             "from solution import root\n\n\ndef test_it():\n    assert root(49) == 7\n    assert root(1) == 1\n    try:\n        root(50)\n    except ValueError:\n        pass\n    else:\n        raise AssertionError('no error')\n",
             "import unittest\nfrom solution import root\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(root(16), 4)\n        self.assertEqual(root(81), 9)\n        self.assertRaises(ValueError, root, 17)\n",
             "from solution import root\n\n\ndef fails(value):\n    try:\n        root(value)\n    except ValueError:\n        return True\n    return False\n\n\ndef test_it():\n    assert [root(one * one) for one in range(6)] == [0, 1, 2, 3, 4, 5]\n    assert fails(2) and fails(-1) and not fails(4)\n"]  # fmt: skip
    for place, text in enumerate(files * 2):
        yield pytest_file(root, 3300 + place, text)
    yield checked(
        root,
        3310,
        "assert candidate(9) == 3\nassert candidate(100) == 10\ntry:\n    candidate(10)\n    assert False\nexcept ValueError:\n    pass",
    )
    yield checked(
        root,
        3311,
        "assert candidate(25) == 5\nassert candidate(4) == 2\nraised = False\ntry:\n    candidate(-9)\nexcept ValueError:\n    raised = True\nassert raised",
    )


def few_shot() -> Iterator[Row]:
    """The prompt has solved examples, of other questions."""
    shots = ["Q: What is 6 times 9? A: The answer is 54.\nQ: {} A:", "Example: 2 + 2. #### 4\n\n{}", "End with 'The answer is X.', for example: The answer is 12.\n{}",
             "Put the answer in \\boxed{}, e.g. \\boxed{7}. {}", "{}\nFormat: <answer>5</answer>", "Answer: 10 is what many say, and it is wrong. {}"]  # fmt: skip
    for place, words in enumerate(shots):
        number = next_number()
        text, _ = sums(number)
        row = (plain, gsm8k)[place % 2](number)
        column = "prompt" if "prompt" in row else "question"
        yield {**row, column: words.replace("{}", text) if "\\boxed{}" not in words else words[:-2] + text}
    for place in range(4):
        number = next_number()
        shown = [
            {"role": "system", "content": "Answer with a number."},
            {"role": "user", "content": "What is 8 + 8?"},
            {"role": "assistant", "content": ["16", "\\boxed{16}", "The answer is 16.", "#### 16"][place]},
        ]
        yield chat(number, before=shown)


def given_code() -> Iterator[Row]:
    """The prompt shows the signature, examples, or a helper that is to be used."""
    helper = "def clean(text):\n    return ''.join(letter for letter in text.lower() if letter.isalpha())\n"
    mirrored = Task(
        "mirrored",
        "text",
        "Tell whether the letters of the text read the same from both ends.",
        "cleaned = clean(text)\nreturn cleaned == cleaned[::-1]",
        (("Anna",),),
    )
    tests = [
        "assert mirrored('Anna!') is True",
        "assert mirrored('Berta') is False",
        "assert mirrored('No lemon, no melon') is True",
        "assert mirrored('ab') is False",
    ]
    yield {
        **mbpp(mirrored, 3400, tests),
        "prompt": f"Use this:\n```python\n{helper}```\nNow write mirrored(text), true for palindromes.",
        "code": helper + "\n" + mirrored.code,
    }
    for _ in range(5):
        one, number = fresh()
        shown = "".join(
            f"    >>> {call}\n    {value!r}\n" for call, value in zip(one.calls(), one.results(), strict=True)
        )
        yield {**human_eval(one, number), "prompt": f'{one.head}    """{one.text} ({number})\n\n{shown}    """\n'}
    for place in range(4):
        one, number = fresh()
        row = mbpp(one, number)
        yield {**row, "prompt": [f"{row['prompt']}\nYour code should pass these tests:\n" + "\n".join(one.asserts()),
                                 f"{row['prompt']}\n```python\n{one.head}    # your code here\n    pass\n```",
                                 f"{row['prompt']}\nA friend wrote this, and it is wrong:\n```python\n{one.head}    return None\n```",
                                 f"{row['prompt']}\nStart with:\n{one.head}"][place]}  # fmt: skip


def yes_and_no() -> Iterator[Row]:
    """Results of two kinds alone, in a mixed suite."""
    even = Task(
        "is_square",
        "number",
        "Tell whether the number is a square.",
        "return round(number ** 0.5) ** 2 == number",
        ((4,), (5,), (0,), (48,), (49,), (2,), (9,)),
    )
    leap = Task(
        "is_leap",
        "year",
        "Tell whether the year is a leap year.",
        "return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        ((2000,), (1900,), (2024,), (2023,), (2100,), (1600,)),
    )
    for one in (even, leap):
        for place, make in enumerate(CODE):
            yield make(one, 3500 + place)


def near_numbers() -> Iterator[Row]:
    """Floats are compared with a tolerance."""
    area = Task(
        "circle_area",
        "radius",
        "Return the area of the circle.",
        "import math\nreturn math.pi * radius ** 2",
        ((1.0,), (2.5,)),
    )
    mean = Task(
        "deviation",
        "numbers",
        "Return the standard deviation of all numbers.",
        "middle = sum(numbers) / len(numbers)\nreturn (sum((one - middle) ** 2 for one in numbers) / len(numbers)) ** 0.5",
        (([1, 2, 3, 4],), ([2, 2],), ([1.5, 8],)),
    )
    for one in (area, mean):
        wanted = one.results()
        yield mbpp(
            one, 3600, [f"assert abs({call} - {value}) < 1e-6" for call, value in zip(one.calls(), wanted, strict=True)]
        )
        yield mbpp(
            one,
            3601,
            [
                "import math",
                *(
                    f"assert math.isclose({call}, {value}, rel_tol=1e-6, abs_tol=1e-9)"
                    for call, value in zip(one.calls(), wanted, strict=True)
                ),
            ],
        )
        yield pytest_file(
            one,
            3602,
            f"import pytest\nfrom solution import {one.name}\n\n\ndef test_it():\n"
            + "".join(
                f"    assert {call} == pytest.approx({value})\n"
                for call, value in zip(one.calls(), wanted, strict=True)
            ),
        )
        yield checked(
            one,
            3603,
            "\n".join(
                f"assert round({call}, 3) == {round(value, 3)}"
                for call, value in zip(one.calls("candidate"), wanted, strict=True)
            ),
        )
        yield calls(one, 3604)


def odd_golds() -> Iterator[Row]:
    """Answers that look like none."""
    for text, gold in [("Which real x has x^2 = -1? Give the set.", "\\emptyset"), ("What is the limit of 1/x from the right at 0?", "\\infty"), ("What is the limit of sin(1/x) at 0? Write DNE where there is none.", "DNE"),
                       ("What is 7 - 7?", "0"), ("Factor x^2 - 1.", "(x-1)(x+1)"), ("Is it true that every square is a rectangle?", "True"), ("What is the slope of a vertical line?", "\\text{undefined}"),
                       ("Which letter stands for the imaginary unit?", "i"), ("What is -3 cubed?", "-27"), ("Give the interval of x with 0 < x <= 1.", "(0, 1]"), ("Is the series of 1/n convergent?", "\\text{No}"), ("Which month has 28 days at most?", "\\text{February}")]:  # fmt: skip
        yield {"prompt": text, "answer": gold}


def elaborate_files() -> Iterator[Row]:
    """Test files with all that pytest has, which do test."""
    texts = ["import pytest\nfrom solution import NAME\n\nCASES = TABLE\n\n\n@pytest.mark.parametrize('given, wanted', CASES)\ndef test_it(given, wanted):\n    assert NAME(*given) == wanted\n",
             "import sys\nimport pytest\nfrom solution import NAME\n\n\n@pytest.mark.skipif(sys.version_info < (3, 6), reason='old')\ndef test_it():\n    for given, wanted in TABLE:\n        assert NAME(*given) == wanted\n",
             "import unittest\nfrom solution import NAME\n\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.cases = TABLE\n\n    def test_it(self):\n        for given, wanted in self.cases:\n            with self.subTest(given=given):\n                self.assertEqual(NAME(*given), wanted)\n",
             "import pytest\nfrom solution import NAME\n\n\n@pytest.fixture(params=TABLE)\ndef case(request):\n    return request.param\n\n\ndef test_it(case):\n    given, wanted = case\n    result = NAME(*given)\n    assert result == wanted, f'{given} gave {result}'\n",
             "from solution import NAME\n\n\ndef same(given, wanted):\n    assert NAME(*given) == wanted\n\n\ndef test_it():\n    for case in TABLE:\n        same(*case)\n\n\nif __name__ == '__main__':\n    test_it()\n"]  # fmt: skip
    for text in texts * 2:
        one, number = fresh()
        table = repr([(case, value) for case, value in zip(one.cases, one.results(), strict=True)])
        yield pytest_file(one, number, text.replace("NAME", one.name).replace("TABLE", table))


def usual_choices() -> Iterator[Row]:
    """Options that look like hedges, and answers that stand in the prompt as options do."""
    for _place in range(8):
        yield choice(next_number())
    for text, options, gold in [
        ("Which are primes?", ["2", "3", "5", "All of the above"], "D"),
        ("Which are even?", ["1", "3", "5", "None of the above"], "D"),
        ("Which is right?", ["A and B are wrong", "Only A", "Only C", "B or C"], "A"),
    ]:
        yield {
            "prompt": text + "".join(f"\n({letter}) {option}" for letter, option in zip("ABCD", options, strict=True)),
            "choices": options,
            "answer": gold,
        }


def usual_facts() -> Iterator[Row]:
    """Short facts, also such as the prompt holds in a passage or beside others."""
    for _ in range(6):
        yield fact(next_number())
    yield {
        "prompt": "Passage: The treaty was signed in Utrecht in 1713, after years of talks in Gertruydenberg. Question: Where was the treaty signed?",
        "golden_answers": ["Utrecht"],
    }
    yield {"prompt": "Who is older, Anna (born 1950) or Berta (born 1961)?", "golden_answers": ["Anna"]}
    yield {"prompt": "Is Oslo north of Vienna? Answer yes or no.", "golden_answers": ["yes"]}
    yield {"prompt": "Which band sang 'Help!'?", "golden_answers": ["The Beatles", "Beatles"]}


def common_rows() -> Iterator[Row]:
    """Nothing special: all formats of code."""
    for place in range(15):
        one, number = fresh()
        yield CODE[place % len(CODE)](one, number)


SOUND: dict[str, tuple[Callable[[], Iterable[Any]], str]] = {
    "answer in the question by nature": (short_answers, ""),
    "one strong test": (strong_alone, ""),
    "slow within the limit": (slow_within_limit, ""),
    "equal twins": (equal_twins, ""),
    "several right answers": (several_right, ""),
    "errors wanted": (errors_wanted, ""),
    "few-shot": (few_shot, ""),
    "given code": (given_code, ""),
    "yes and no": (yes_and_no, ""),
    "near numbers": (near_numbers, ""),
    "odd golds": (odd_golds, ""),
    "elaborate files": (elaborate_files, ""),
    "usual choices": (usual_choices, "multiple_choice"),
    "usual facts": (usual_facts, "qa"),
    "common rows": (common_rows, ""),
}
"""Sound rows of the second set, by what makes them look suspicious, and the reward that has to be named."""
