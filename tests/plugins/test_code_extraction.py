"""Which program is taken from a completion, and how the prompt completes it."""

from __future__ import annotations

import pytest
from grpo_rewards_plugins.code.extraction import complete, defined_names, find_program
from hypothesis import given
from hypothesis import strategies as st

FULL = "def f(x):\n    return x + 1\n"
PROMPT = 'from typing import List\n\n\ndef helper(x):\n    return x\n\n\ndef f(x: int) -> int:\n    """ Add one. """\n'


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (FULL, FULL), (f"Here:\n```python\n{FULL}```\nDone.", FULL[:-1]), (f"```\n{FULL}```", FULL[:-1]), (f"```python\n{FULL}", FULL),
        (f"```python\n{FULL}```<|im_end|>", FULL[:-1]), (f"{FULL}<|im_end|>\n<|endoftext|>", FULL[:-1]), (f"```python\n{FULL[:-1]}```", FULL[:-1]),
        (f"```python\n{FULL[:-1]}```\nIt adds one.", FULL[:-1]), (f"```python\n{FULL[:-1]}```<|eot_id|>", FULL[:-1]),
        (f"```python\n1\n```\nno:\n```python\n{FULL}```", FULL[:-1]), (f"```python\n{FULL}```\n```bash\npip install f\n```", FULL[:-1]),
        (f"```python\n{FULL}```\nTry it:\n```python\nprint(f(1))\n```", FULL[:-1]), (f"```python\ndef f(x): pass\n```\n```py\n{FULL}```", FULL[:-1]),
        (f"<think>```python\nwrong\n```</think>{FULL}", FULL), (f"<think>x</think>\n<answer>\n{FULL}</answer>", FULL),
        (f"<answer>```python\n{FULL}```</answer> or ```python\nwrong\n```", FULL[:-1]), ("    return 1", "    return 1"), ("", ""),
        ("<think>a</think>\n```py\ndef f(x):\n    return x[x.rfind('</think>') + len('</think>'):]\n```", "def f(x):\n    return x[x.rfind('</think>') + len('</think>'):]"),
        (f"<think>\n```py\nhm: '</think>' it is\n```\n</think>\n```py\n{FULL}```", FULL[:-1]), (f"<think>```py\nno\n</think>\n```py\n{FULL}```", FULL[:-1]),
        (f"{FULL}```", FULL), (f"{FULL}```\nThis adds one.", FULL), (f"{FULL}```\nTry:\n```python\nprint(f(1))\n```", FULL),
        (f"Like\n\ng = 1\n```python\n{FULL}```", FULL[:-1]), ("```python\n```", ""), (f"~~~python\n{FULL}~~~", FULL[:-1]), ("```python\n```text\na\n```", "```text\na"),
    ],
)  # fmt: skip
def test_the_program_of_a_completion(text: str, program: str) -> None:
    assert find_program(text, wanted=frozenset({"f"}))[0] == program


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (f"```python\n{FULL}```\n<answer>see above</answer>", FULL[:-1]), (f"```python\n{FULL}```\n<answer></answer>", FULL[:-1]),
        (f"```python\n{FULL}```\n<answer>f(1)</answer>", FULL[:-1]), (f"<answer>```python\n{FULL}```</answer> It is in <answer> tags.", FULL[:-1]),
        (f"```python\ndef g(x): pass\n```\n<answer>{FULL}</answer>", FULL), ("```text\nso\n```\n<answer>    return x</answer>", "    return x"),
        ("```python\ndef f(x):\n    return x.split('<answer>')\n```\nIt splits.", "def f(x):\n    return x.split('<answer>')"),
        ("```python\ndef f(x):\n    return f'<answer>{x}</answer>'\n```", "def f(x):\n    return f'<answer>{x}</answer>'"),
    ],
)  # fmt: skip
def test_a_tag_that_holds_no_program_replaces_none(text: str, program: str) -> None:
    assert find_program(text, wanted=frozenset({"f"}))[0] == program


@pytest.mark.parametrize(
    ("said", "program"),
    [("done", "int main() {}"), ("It is O(n).", "int main() {}"), ("int main() { }", "int main() { }")],
)
def test_a_tag_after_a_block_of_another_language(said: str, program: str) -> None:
    assert find_program(f"```cpp\nint main() {{}}\n```\n<answer>{said}</answer>", language="cpp")[0] == program


def run(source: str, x: int) -> object:
    namespace: dict[str, object] = {}
    exec(source, namespace)
    return namespace["f"](x)  # type: ignore[operator]


@pytest.mark.parametrize(
    "program",
    [
        "    return x + 1\n", "    return x + 1", "return x + 1", "y = x\n    return y + 1", "y = x\nreturn y + 1", "\treturn x + 1",
        "if x:\n    return x + 1\nreturn 1", "if x:\n        return x + 1\n    return 1", "if x:\n      return x + 1\n    return 1",
        "if x:\n    return x + 1", "    return (\n        x + 1\n)\n", "    return x + 1\n\nThis adds one.", "    return x + 1\n\n\ndef other(y):\n    retu",
        "\n    # add\n    return x + 1\nprint(f(1))", "    return helper(x) + 1", FULL, "def f(x):\n    return helper(x) + 1", "def f(x: List) -> int:\n    return x + 1",
        PROMPT + "    return x + 1\n", "from __future__ import annotations\n\ndef f(x: Nothing):\n    return helper(x) + 1", "f = lambda x: x + 1",
        "import math\n\nasync def g(): ...\n\ndef f(x):\n    return x + math.ceil(0.5)\n",
    ],
)  # fmt: skip
def test_the_prompt_completes_a_body_and_precedes_a_function(program: str) -> None:
    source = complete(program, PROMPT, "f")
    assert run(source, 1) == 2
    assert run(source, 41) == 42


def test_without_a_prompt_the_program_stays_as_it_is() -> None:
    for prompt in ("", "Write a function f.", "def g(x):\n", "    def f(x):\n"):
        assert complete("return x", prompt, "f") == "return x"
    assert complete("    return x + 1", "def f(x):", "f") == "def f(x):\n    return x + 1\n"


def test_defined_names() -> None:
    source = "def a(): ...\nasync def b(): ...\nclass C:\n    def d(self): ...\ne = 1\nf: int = 2\ng == 3\n  h = 4\nif x: i = 5\n"
    assert defined_names(source) == {"a", "b", "C", "e", "f"}


HOSTILE = [
    "def " * 100_000,
    "def f" * 100_000,
    "```" * 100_000,
    "```\n" * 100_000,
    "<answer>" * 100_000,
    "    " * 100_000,
    "\n" * 300_000,
    "a" * 300_000,
    "f:" * 100_000,
]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_end(text: str) -> None:
    program, _ = find_program(text, wanted=frozenset({"f"}))
    assert isinstance(complete(program, PROMPT, "f"), str)


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=200))
def test_any_text_gives_a_program(text: str) -> None:
    program, _ = find_program(text, wanted=frozenset({"f"}))
    assert program in text or "\r" in text
    assert complete(program, PROMPT, "f").startswith(("from typing", "from __future__"))
