"""Checkers: right by their word alone, apart from the candidate, and no verdict where they say nothing clear."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Checker, Job, Sandbox, SandboxUnavailable, Verdict, open_sandbox
from grpo_rewards_sandbox.program.languages import testlib

# two numbers whose sum is the input; the answer is never such, so that no comparison passes
TESTS = [{"input": "5\n", "output": "jury\n"}, {"input": "9\n", "output": "jury\n"}]
RIGHT = "n = int(input())\nprint(1, n - 1)"
WRONG = "n = int(input())\nprint(1, n)"
HALF = "n = int(input())\nprint(1, 4)"
BARE = """#include <cstdio>
#include <cstring>
int main(int argc, char **argv) {
    int n, a, b; char word[9] = "";
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "r"), *answer = fopen(argv[3], "r");
    if (argc != 4 || fscanf(in, "%d", &n) != 1 || fscanf(answer, "%8s", word) != 1 || strcmp(word, "jury")) return 3;
    if (fscanf(out, "%d %d", &a, &b) != 2) return 2;
    return a + b != n;
}
"""
WITH_TESTLIB = """#include "testlib.h"
int main(int argc, char *argv[]) {
    registerTestlibCmd(argc, argv);
    int n = inf.readInt(), a = ouf.readInt(), b = ouf.readInt();
    if (ans.readWord() != "jury") quitf(_fail, "no answer");
    if (a + b != n) quitf(_wa, "%d + %d", a, b);
    quitf(_ok, "fine");
}
"""
CODEFORCES = """import sys
n, jury = int(open(sys.argv[1]).read()), open(sys.argv[2]).read()
assert jury == "jury\\n"
words = open(sys.argv[3]).read().split()
print(int(len(words) == 2 and all(word.isdigit() for word in words) and sum(map(int, words)) == n))
"""
FUNCTION = """def output_judging_function(input_str, candidate_output, reference_output):
    assert reference_output == "jury\\n"
    words = candidate_output.split()
    print("looking at", words)
    return len(words) == 2 and all(word.isdigit() for word in words) and sum(map(int, words)) == int(input_str)
"""
CHECKERS = {
    "testlib": Checker(BARE),
    "codeforces": Checker(CODEFORCES, "python", "codeforces"),
    "function": Checker(FUNCTION, "python", "function"),
}


def judge(sandbox: Sandbox, program: str, checker: Checker, **more: object) -> Verdict:
    return sandbox.run([Job(program, TESTS, "stdio", timeout=20.0, checker=checker, **more)])[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", list(CHECKERS))
@pytest.mark.parametrize(
    ("program", "status", "passed"),
    [
        (RIGHT, "passed", 2), (WRONG, "failed", 0), (HALF, "failed", 1), ("", "failed", 0), ("print(1)", "failed", 0),
        ("print('jury')", "failed", 0), (RIGHT + "\nraise SystemExit(3)", "failed", 0),
    ],
    ids=["right", "wrong", "half", "silent", "too little", "the answer", "crash"],
)  # fmt: skip
def test_verdicts(
    needs: Callable[..., None], local: Sandbox, protocol: str, program: str, status: str, passed: int
) -> None:
    needs(CHECKERS[protocol].language)
    found = judge(local, program, CHECKERS[protocol])
    assert (found.status, found.tests_passed, found.tests_total) == (status, passed, 2), found


def test_docker_runs_checkers_and_files(sandbox: Sandbox) -> None:
    if sandbox.plan["mode"] == "landlock":
        pytest.skip("the mode landlock has no processes")
    files = "n = int(open('a.in').read())\nopen('a.out', 'w').write(f'1 {n - 1}')"
    found = judge(sandbox, files, CHECKERS["codeforces"], input_file="a.in", output_file="a.out")
    assert found.passed, found
    assert judge(sandbox, WRONG, CHECKERS["function"]).status == "failed"


@pytest.mark.slow
def test_with_testlib(needs: Callable[..., None], local: Sandbox) -> None:
    needs("cpp")
    expected = {RIGHT: "passed", WRONG: "failed", "print('x')": "failed", RIGHT + "\nprint(7)": "failed", "": "failed"}
    assert {program: judge(local, program, Checker(WITH_TESTLIB)).status for program in expected} == expected


@pytest.mark.parametrize(
    ("source", "protocol"),
    [
        ("def f(", "codeforces"), ("1 / 0", "codeforces"), ("", "codeforces"), ("print('yes')", "codeforces"), ("print(2)", "codeforces"),
        ("print(1)\nprint(1)", "codeforces"), ("print(1)\nraise SystemExit(1)", "codeforces"), ("print(True)", "codeforces"),
        ("import os\nos.kill(os.getpid(), 6)", "codeforces"), ("x = bytearray(b'x') * (4 << 30)\nprint(1)", "codeforces"),
        ("print('1' * (2 << 20))", "codeforces"),
        ("", "function"), ("def output_judging_function(a, b, c): return 1", "function"),
        ("def output_judging_function(a, b, c): return None", "function"), ("def output_judging_function(a): return True", "function"),
        ("int main( {", "testlib"), ("#include <cstdlib>\nint main() { abort(); }", "testlib"), ("int main() { return 3; }", "testlib"),
        ("int main() { return 7; }", "testlib"), ("int main() { return 127; }", "testlib"), ("int main() { *(volatile int *)0 = 1; }", "testlib"),
    ],
)  # fmt: skip
def test_no_clear_word_is_no_verdict(needs: Callable[..., None], local: Sandbox, source: str, protocol: str) -> None:
    language = "cpp" if protocol == "testlib" else "python"
    needs(language)
    found = judge(local, RIGHT, Checker(source, language, protocol))
    assert found.status == "refused", found
    assert found.reason.startswith("the checker gave no verdict"), found
    assert found.tests_passed == 0


SPEAKS = {
    "codeforces": "print(1, flush=True) or __import__('os')._exit(0)",
    "function": "print(__import__('__main__')._word + '1', flush=True) or __import__('os')._exit(0)",
}
EVALUATES = {
    "codeforces": "import sys\nvalues = %s(open(sys.argv[3]).read())\nprint(int(sum(values) == int(open(sys.argv[1]).read())))\n",
    "function": "def output_judging_function(a, b, c):\n    return sum(%s(b)) == int(a)\n",
}


@pytest.mark.parametrize("protocol", list(SPEAKS))
@pytest.mark.parametrize(
    "how", ["eval", "(lambda text: eval(compile(text, '', 'eval')))", "__import__('ast').literal_eval"]
)
def test_no_output_speaks_for_a_checker_that_evaluates_it(local: Sandbox, protocol: str, how: str) -> None:
    tests = [
        {"input": "5\n", "output": "[2, 3]\n"},
        {"input": "9\n", "output": "(4, 4 + 1)\n" if how == "eval" else "(4, 5)\n"},
    ]
    checker = Checker("from __future__ import annotations\n" + EVALUATES[protocol] % how, "python", protocol)
    for output in ("1", "[2", SPEAKS[protocol], f"({SPEAKS[protocol]},)", "[int(open('input.txt').read())]"):
        found = judge_answered(local, f"print({output!r})", checker, tests)
        assert (found.status, found.tests_passed) == ("failed", 0), (output, found)
    assert judge_answered(local, "print([1, int(input()) - 1])", checker, tests).passed


def test_a_checker_makes_classes_and_imports_what_it_likes(local: Sandbox) -> None:
    source = "import collections, dataclasses, decimal, json\nPair = collections.namedtuple('Pair', 'a b')\n@dataclasses.dataclass\nclass P:\n    a: int\n"
    source += "def output_judging_function(a, b, c):\n    import fractions, statistics, typing\n    return sum(Pair(*map(int, b.split()))) == P(int(a)).a\n"
    assert judge_answered(local, RIGHT, Checker(source, "python", "function")).passed


@pytest.mark.slow
def test_a_checker_that_hangs_is_no_verdict(local: Sandbox) -> None:
    hangs = Checker("import time\ntime.sleep(1000)", "python", "codeforces")
    # one test: on each output it is given its whole 20 seconds, and on the row's own answer again
    found = local.run([Job(RIGHT, TESTS[:1], "stdio", timeout=20.0, checker=hangs)])[0]
    assert found.status == "refused", found


# rows whose own answer is right, and checkers that break, hang or grow on what they do not expect
ANSWERED = [{"input": "5\n", "output": "2 3\n"}, {"input": "9\n", "output": "4 5\n"}]
HASTY = """import sys
n = int(open(sys.argv[1]).read())
a, b = map(int, open(sys.argv[3]).read().split())
while a < 0:
    pass
if a == 77:
    b = len(b"x" * (4 << 30))
if a == 88:
    print("well")
print(int(a + b == n))
"""
HASTY_FUNCTION = """def output_judging_function(input_str, candidate_output, reference_output):
    a, b = map(int, candidate_output.split())
    if a == 88:
        return "well"
    return a + b == int(input_str)
"""
HASTY_CPP = """#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
    int n, a, b;
    if (fscanf(fopen(argv[1], "r"), "%d", &n) != 1) return 3;
    if (fscanf(fopen(argv[2], "r"), "%d %d", &a, &b) != 2) abort();
    if (a == 99) return 3;
    return a + b != n;
}
"""


def judge_answered(sandbox: Sandbox, program: str, checker: Checker, tests: list[dict[str, str]] = ANSWERED) -> Verdict:
    return sandbox.run([Job(program, tests, "stdio", timeout=20.0, checker=checker)])[0]


@pytest.mark.parametrize(
    "program",
    [
        "print('x')", "print(1)", "", "print(1, 2, 3)", "print('9' * 5000, 1)", "print(77, 1)", "print(88, 1)", "print('\x00')",
        "print('1 \ud83d'.encode('utf-8', 'surrogatepass'))",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "checker", [Checker(HASTY, "python", "codeforces"), Checker(HASTY_FUNCTION, "python", "function")]
)
def test_no_program_breaks_a_checker_to_leave_its_group(local: Sandbox, program: str, checker: Checker) -> None:
    found = judge_answered(local, program, checker)
    assert (found.status, found.tests_passed) == ("failed", 0), found


def test_what_breaks_a_checker_on_one_test_fails_that_one(local: Sandbox) -> None:
    checker = Checker(HASTY, "python", "codeforces")
    found = judge_answered(local, "n = int(input())\nprint(1, 4 if n == 5 else 'x')", checker)
    assert (found.status, found.tests_passed, found.tests_total) == ("failed", 1, 2), found
    assert "case 2: the checker breaks on" in found.reason, found
    assert judge_answered(local, RIGHT, checker).passed


def test_a_compiled_checker_that_breaks_on_an_output_says_it_is_wrong(
    needs: Callable[..., None], local: Sandbox
) -> None:
    needs("cpp")
    checker = Checker(HASTY_CPP)
    assert judge_answered(local, "print('x')", checker).status == "failed"
    found = judge_answered(
        local, "print(99, 1)", checker
    )  # it says that the jury is at fault, and not of the jury's own answer
    assert (found.status, found.tests_passed) == ("failed", 0), found
    assert judge_answered(local, RIGHT, checker).passed


@pytest.mark.slow
def test_no_program_makes_a_checker_hang_to_leave_its_group(local: Sandbox) -> None:
    found = judge_answered(local, "print(-1, 6)", Checker(HASTY, "python", "codeforces"))
    assert (found.status, found.tests_passed) == ("failed", 0), found


@pytest.mark.parametrize(
    ("outputs", "status"),
    [
        (("x\n", "x\n"), "refused"), (("1 1\n", "1 1\n"), "failed"), (("", ""), "failed"), (("2 3\n", "x\n"), "failed"), (("x\n", "4 5\n"), "failed"),
    ],
    ids=["breaks", "says no", "no answer", "one of them", "the other"],
)  # fmt: skip
def test_only_a_checker_that_breaks_on_the_rows_own_answers_too_gives_no_verdict(
    local: Sandbox, outputs: tuple[str, str], status: str
) -> None:
    tests = [{**test, "output": output} for test, output in zip(ANSWERED, outputs, strict=True)]
    checker = Checker(HASTY, "python", "codeforces")
    assert judge_answered(local, "print('x')", checker, tests).status == status
    assert judge_answered(local, RIGHT, checker, tests).passed
    # what is wrong without the checker, or by its clear word, is wrong
    for wrong in ("print('x' if int(input()) == 5 else '1 1')", "print('x')\nassert int(input()) == 5"):
        assert judge_answered(local, wrong, checker, tests).status == "failed", wrong


def test_an_answer_of_nothing_is_an_answer(local: Sandbox) -> None:
    """The sum of no numbers: a checker that accepts the empty answer, and breaks on words, calls these wrong."""
    source = (
        "import sys\nprint(int(sum(map(int, open(sys.argv[3]).read().split())) == int(open(sys.argv[1]).read())))\n"
    )
    checker, tests = Checker(source, "python", "codeforces"), [{"input": "0\n", "output": ""}]
    assert judge_answered(local, "print('x')", checker, tests).status == "failed"
    assert judge_answered(local, "print()", checker, tests).passed


@pytest.mark.parametrize(
    "program",
    [
        "print('1')", "print(1, end='')", "print('1\\n' * 9)", "import os\nos.write(1, b'\\x00' * 99)", "import os\nos.write(1, b'\\xff\\xfe1')",
        "open('answer.txt', 'w').write('1 4')\nprint('jury')", "import os\nos.symlink('/proc/self/exe', 'output.txt')\nprint(1)",
        "open('main', 'w').write('#!/bin/sh\\nexit 0')\nprint(1)", "open('checker.py', 'w').write('print(1)')\nprint(1)",
        "open('sitecustomize.py', 'w').write('print(1)')\nprint(1)", "open('testlib.h', 'w').write('')\nprint(1)",
        "import os, time\nif os.fork() == 0:\n    os.close(1)\n    time.sleep(60)\nprint(1)",
        "import glob\nprint(*[open(f).read() for f in glob.glob('/job/*') + glob.glob('/tmp/**', recursive=True) if 'txt' in f])",
        "import sys\nprint(*sys.argv)", "print('1 -1 6')", "print('1e0 4e0')", "print('0x1 4')", "print('4294967297 4')", "print('1 4' + '\\x00' * 9 + '5')",
    ],
)  # fmt: skip
def test_hostile_to_checkers(needs: Callable[..., None], local: Sandbox, program: str) -> None:
    """Nothing that a candidate leaves or prints is more to a checker than the text of an output."""
    needs("cpp")
    for checker in CHECKERS.values():
        assert judge(local, program, checker).status == "failed"
    assert judge(local, RIGHT, CHECKERS["codeforces"]).passed


def test_the_header_is_ours_or_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(testlib.VARIABLE, raising=False)
    assert "registerTestlibCmd" in testlib.find()
    other = tmp_path / "testlib.h"
    other.write_text("// the header\n")
    monkeypatch.setenv(testlib.VARIABLE, str(other))
    assert testlib.find() == "// the header\n"
    other.unlink()
    with pytest.raises(SandboxUnavailable, match=rf"testlib.h cannot be read: .*{other}.* unset \${testlib.VARIABLE}"):
        open_sandbox("local", workers=1)
