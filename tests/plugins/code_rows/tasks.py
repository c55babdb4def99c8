"""Small tasks with right programs in the styles that models write, and programs that must not pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

THOUGHTS = (
    "<think>\nFirst a draft:\n```python\ndef {name}(*a):\n    return None\n```\nNo, that ignores the input.\n</think>\n"
)


@dataclass(frozen=True)
class Call:
    """A function: the hints of its parameters and result, its body with imports and helpers, and arguments of its tests."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    body: str
    arguments: tuple[tuple[Any, ...], ...]
    before: str = ""
    place: bool = False

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.parameters]

    @property
    def head(self) -> str:
        return ", ".join(f"{name}: {hint}" for name, hint in self.parameters)

    @property
    def starter(self) -> str:
        doc = f'        """\n        Do not return anything, modify {self.names[0]} in-place instead.\n        """\n'
        return f"class Solution:\n    def {self.name}(self, {self.head}) -> {self.result}:\n{doc if self.place else ''}        "

    def function(self, body: str = "", *, hints: bool = True) -> str:
        head = f"{self.head}) -> {self.result}" if hints else f"{', '.join(self.names)})"
        return f"def {self.name}({head}:\n{indented(body or self.body)}\n"

    def method(self) -> str:
        return f"class Solution:\n    def {self.name}(self, {self.head}) -> {self.result}:\n{indented(self.body, 8)}\n"

    def results(self) -> list[Any]:
        space: dict[str, Any] = {}
        exec(f"from typing import *\n{self.before}\n{self.function(hints=False)}", space)
        found = []
        for given in json.loads(json.dumps(self.arguments)):
            got = space[self.name](*given)
            found.append(given[0] if self.place else got)
        return found


def indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def fenced(text: str, tag: str = "python") -> str:
    return f"```{tag}\n{text.rstrip()}\n```"


CALLS = (
    Call(
        "squeeze", (("s", "str"),), "List[List[Any]]",
        "return [[key, len(list(group))] for key, group in itertools.groupby(s)]",
        (("aab",), ("",), ("x\ny'\"",), ("zzzz",)), "import itertools",
    ),
    Call(
        "turn", (("grid", "List[List[int]]"),), "List[List[int]]", "return [list(row) for row in zip(*grid[::-1])]",
        (([[1, 2], [3, 4]],), ([[7]],), ([[1, 2, 3]],)),
    ),
    Call(
        "middle", (("nums", "List[int]"),), "float",
        "nums = sorted(nums)\nhalf = len(nums) // 2\nreturn float(nums[half]) if len(nums) % 2 else (nums[half - 1] + nums[half]) / 2",
        (([3, 1, 2],), ([1, 2],), ([10**9, 10**9 + 1],), ([-5],)),
    ),
    Call(
        "invert", (("d", "Dict[str, int]"),), "Dict[int, str]", "return {value: key for key, value in d.items()}",
        (({"a": 1, "b": 22},), ({},), ({"k": -3},)),
    ),
    Call(
        "find", (("nums", "List[int]"), ("target", "int")), "int",
        "place = bisect_left(nums, target)\nreturn place if place < len(nums) and nums[place] == target else -1",
        (([1, 3, 5], 5), ([], 1), ([2, 4], 3), ([9], 9)), "from bisect import bisect_left",
    ),
    Call("mirrored", (("s", "str"),), "bool", "return s == s[::-1]", (("abba",), ("ab",), ("",), ("xyx",), ("no",))),
    Call(
        "fold", (("s", "str"), ("k", "int"), ("sep", "str")), "str",
        "return sep.join(s[at:at + k] for at in range(0, len(s), k))",
        (("abcdef", 4, "\n"), ("a b", 1, ", "), ("", 3, "-")),
    ),
    Call(
        "shift", (("nums", "List[int]"), ("k", "int")), "None", "k %= len(nums)\nnums[:] = nums[-k:] + nums[:-k]",
        (([1, 2, 3, 4], 1), ([5], 3), ([1, 2, 3], 2)), place=True,
    ),
    Call("power", (("n", "int"),), "int", "return 3 ** n - 1", ((0,), (4,), (90,))),
    Call(
        "peak", (("nums", "List[int]"),), "Optional[int]",
        "for at in range(1, len(nums) - 1):\n    if nums[at - 1] < nums[at] > nums[at + 1]:\n        return nums[at]\nreturn None",
        (([1, 3, 2],), ([1, 2, 3],), ([],), ([0, 9, 1, 8, 2],)),
    ),
    Call(
        "rows", (("n", "int"),), "List[List[int]]",
        "out = []\nfor _ in range(n):\n    out.append([1] + [a + b for a, b in zip(out[-1], out[-1][1:])] + [1] if out else [1])\nreturn out",
        ((1,), (4,), (2,)),
    ),
)  # fmt: skip


def right_calls(task: Call, *, methods: bool, hub: bool = False) -> Iterator[tuple[str, str]]:
    """Right completions, each with the name of its style; `methods`: ``class Solution`` too; `hub`: imports may be left out."""
    before = f"from typing import *\n{task.before}\n"
    plain = f"{task.before}\n{task.function(hints=False)}".lstrip()
    prose = "Here is a solution.\n\n{}\n\nIt runs in linear time, since every element is looked at once.\n"
    yield "prose", prose.format(fenced(before + "\n" + task.function()))
    yield "thought", THOUGHTS.format(name=task.name) + fenced(plain, "py")
    yield "bare", plain
    yield (
        "heading",
        f"### Approach\n1. Think.\n2. Write:\n\n   ```Python3\n{indented(plain.rstrip(), 3)}\n   ```\n\n### Complexity\n`O(n)`",
    )
    yield "windows", prose.format(fenced(plain)).replace("\n", "\r\n")
    yield "unclosed", f"Sure!\n```python\n{plain}"
    guard = f"\nif __name__ == '__main__':\n    import sys\n    print({task.name}.__name__, sys.stdin.readline())\n"
    yield "guard", fenced(plain + guard)
    yield (
        "usage",
        f"{fenced(plain)}\n\nExample:\n\n```python\nprint({task.name}(*[]))\n```\n\nOutput:\n\n```\nsomething\n```\n",
    )
    helper = task.function(hints=False).replace(f"def {task.name}(", "def _solve(", 1)
    called = f"_solve({', '.join(task.names)})"
    yield (
        "helper",
        fenced(f"{task.before}\n{helper}\n\n\ndef {task.name}({', '.join(task.names)}):\n    return {called}\n"),
    )
    chatty = f"print('working on it')\n{task.body}"
    yield "chatty", fenced(f"{task.before}\n{task.function(chatty, hints=False)}")
    yield "answer", f"<think>hm</think>\n<answer>\n{fenced(plain)}\n</answer>"
    if methods:
        yield "method", prose.format(fenced(before + "\n" + task.method()))
        yield "method_bare_names", fenced(task.method() if hub else before + task.method(), "python3")
        helped = task.method().replace(task.body.splitlines()[0], "self.seen = getattr(self, 'seen', 0) + 1\n        assert self.seen == 1\n        " + task.body.splitlines()[0], 1)  # fmt: skip
        yield "method_with_state", fenced(before + helped)


def wrong_calls(task: Call) -> Iterator[tuple[str, str]]:
    """Completions that must not pass."""
    results, first = task.results(), task.names[0]
    same = all(one == results[0] for one in results)
    if not same and not task.place:
        yield "constant", fenced(task.function(f"return {results[0]!r}", hints=False))
    if task.place:
        yield "nothing", fenced(task.function(f"{first} = {first}[::-1]", hints=False))
    else:
        yield "printed", fenced(f"{task.before}\n{helper_of(task)}def {task.name}(*a):\n    print(_solve(*a))\n")
        if not all(isinstance(one, str) for one in results):
            yield "text", fenced(f"{task.before}\n{helper_of(task)}def {task.name}(*a):\n    return str(_solve(*a))\n")
        yield "wrapped", fenced(f"{task.before}\n{helper_of(task)}def {task.name}(*a):\n    return [_solve(*a)]\n")
        if any(isinstance(one, list) and one for one in results):
            yield "first", fenced(f"{task.before}\n{helper_of(task)}def {task.name}(*a):\n    found = _solve(*a)\n    return found[0] if found else found\n")  # fmt: skip
    yield "other_name", fenced(f"{task.before}\n{task.function(hints=False).replace(task.name, task.name + '_it', 1)}")
    yield "refusal", "I cannot solve this."
    yield "javascript", fenced(f"function {task.name}(x) {{ return x; }}", "javascript")


def helper_of(task: Call) -> str:
    return task.function(hints=False).replace(f"def {task.name}(", "def _solve(", 1) + "\n"


@dataclass(frozen=True)
class Whole:
    """A task of a whole program: how it computes its output from all input, and inputs of its tests."""

    name: str
    compute: Callable[[str], str]
    programs: tuple[str, ...]
    inputs: tuple[str, ...]
    wrong: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(given, self.compute(given)) for given in self.inputs]


def _sums(text: str) -> str:
    return "".join(f"{sum(map(int, line.split()))}\n" for line in text.splitlines()[1:])


def _mean(text: str) -> str:
    numbers = [int(part) for part in text.split()[1:]]
    return f"{sum(numbers) / len(numbers):.6f}\n"


def _verdicts(text: str) -> str:
    return "".join("YES\n" if int(part) % 3 == 0 else "No\n" for part in text.split()[1:])


def _banner(text: str) -> str:
    return "\n".join("#" * int(text) for _ in range(2)) + "\n\nend\n"


WHOLES = (
    Whole(
        "sums", _sums,
        (
            "for _ in range(int(input())):\n    print(sum(map(int, input().split())))",
            "import sys\ninput = sys.stdin.readline\nfor _ in range(int(input())):\n    a = list(map(int, input().split()))\n    print(sum(a), end=' \\n')",
            "import sys\n\ndef main() -> None:\n    lines = sys.stdin.read().strip().split('\\n')\n    out = [str(sum(map(int, l.split()))) for l in lines[1:]]\n    sys.stdout.write('\\n'.join(out))\n\nif __name__ == '__main__':\n    main()",
            "import sys\ndata = open(0).read().splitlines()\nfor line in data[1:]:\n    print(sum(int(x) for x in line.split()))\n    print()",
            "import os, io\ninput = io.BytesIO(os.read(0, os.fstat(0).st_size or 1 << 16)).readline\nfor _ in range(int(input())):\n    print(sum(map(int, input().split())))",
            "import sys, threading\nsys.setrecursionlimit(1 << 20)\nthreading.stack_size(1 << 26)\ndef main():\n    n = int(sys.stdin.buffer.readline())\n    for _ in range(n):\n        print(sum(map(int, sys.stdin.buffer.readline().split())))\nt = threading.Thread(target=main)\nt.start()\nt.join()",
            "class Solution:\n    def solve(self, xs):\n        return sum(xs)\n\nimport sys\nnext(sys.stdin)\nfor line in sys.stdin:\n    print(Solution().solve([*map(int, line.split())]))\nexit()",
            "from sys import stdin, stdout, exit\nn, *lines = stdin\nfor line in lines:\n    stdout.write(f'{sum(map(int, line.split()))}\\n')\nexit(0)",
        ),
        ("2\n1 2 3\n-4 4\n", "1\n123456789012345678901 1\n", "3\n5\n6 6\n7\n"),
        (
            "print(6)\nprint(0)", "n = int(input())\nprint(sum(map(int, input().split())))",
            "import sys\nfor line in sys.stdin.read().splitlines()[1:]:\n    print(float(sum(map(int, line.split()))))",
            "def solve(lines):\n    return [sum(map(int, l.split())) for l in lines]",
            "for _ in range(int(input())):\n    print(sum(map(int, input().split())))\nprint('done')",
            "for _ in range(int(input())):\n    print(sum(map(int, input().split())))\nimport sys\nsys.stdout.flush()\nraise SystemExit(3)",
        ),
    ),
    Whole(
        "mean", _mean,
        (
            "n = int(input())\na = list(map(int, input().split()))\nprint(sum(a) / n)",
            "input()\na = [int(x) for x in input().split()]\nprint('%.9f' % (sum(a) / len(a)))",
            "import numpy as np\ninput()\nprint(np.mean(np.array(input().split(), dtype=float)))",
            "from decimal import Decimal\ninput()\na = list(map(Decimal, input().split()))\nprint(sum(a) / len(a))",
            "from statistics import mean\nimport sys\n_, *a = map(int, sys.stdin.read().split())\nprint(f'{mean(map(float, a)):.7f}   ')",
        ),
        ("3\n1 2 4\n", "2\n-7 7\n", "4\n1 1 1 2\n"),
        ("input()\na = list(map(int, input().split()))\nprint(round(sum(a) / len(a), 1))", "print('nan')", "input()\na = list(map(int, input().split()))\nprint(sum(a) // len(a))"),
    ),
    Whole(
        "verdicts", _verdicts,
        (
            "t = int(input())\nfor _ in range(t):\n    print('YES' if int(input()) % 3 == 0 else 'No')",
            "import sys\nfor x in sys.stdin.read().split()[1:]:\n    print(['No', 'YES'][int(x) % 3 == 0])",
            "[print('YES') if int(input()) % 3 == 0 else print('No') for _ in range(int(input()))]",
        ),
        ("3\n3\n4\n9\n", "2\n1\n2\n", "1\n0\n"),
        ("t = int(input())\nprint('YES')\nprint('No')", "for _ in range(int(input())):\n    print('yes' if int(input()) % 3 == 0 else 'no')", "r = {int(input()) % 3 == 0 for _ in range(int(input()))}\nprint(*['YES' if x else 'No' for x in r], sep='\\n')"),
    ),
    Whole(
        "banner", _banner,
        ("n = int(input())\nprint('#' * n)\nprint('#' * n)\nprint('end')", "n = int(input())\nprint('#' * n + '\\n' + '#' * n + '\\n\\nend', end='')"),
        ("2\n", "5\n"), ("print('##')\nprint('##')\nprint('end')", "n = int(input())\nprint('#' * n)\nprint('end')"),
    ),
)  # fmt: skip


def right_wholes(task: Whole) -> Iterator[tuple[str, str]]:
    """Right completions of a task of a whole program."""
    wraps: tuple[Callable[[str], str], ...] = (
        fenced,
        lambda text: (
            f"<think>\nLoop and print.\n```python\nprint(1)\n```\n</think>\n\nThe code:\n{fenced(text, 'py')}\nDone."
        ),
        lambda text: text,
        lambda text: f"- Solution:\n\n    ```python\n{indented(text)}\n    ```\n",
        lambda text: f"{fenced(text)}\n\nFor the sample it prints:\n\n```text\n6\n```\n",
        lambda text: f"```\n{text}\n```",
        lambda text: f"~~~python\n{text}\n~~~",
        lambda text: f"Final answer:\n```python3\n{text}",
    )
    for number, program in enumerate(task.programs):
        for shift in (0, 3):
            yield f"{task.name}{number}", wraps[(number + shift) % len(wraps)](program)


def wrong_wholes(task: Whole) -> Iterator[tuple[str, str]]:
    """Completions that must not pass."""
    for number, program in enumerate(task.wrong):
        yield f"wrong_{task.name}{number}", fenced(program)
    yield "silent", fenced("pass")
