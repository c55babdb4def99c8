"""Completions meant to hang, blow up or run code: each is answered, and its neighbours are unharmed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from grpo_rewards_plugins.math.grading import grade
from grpo_rewards_plugins.math.symbolic import FUNCTION, decide_by_sympy
from grpo_rewards_plugins.workers import task_of

from grpo_rewards import get_reward
from grpo_rewards._contract import Batch, Outcome, evaluate
from grpo_rewards.workers import Pool, WorkerTimeout

# The sum has no value that any rung can settle, so it runs into the deadline.
HANGS = "\\sum_{n=1}^{\\infty} \\frac{\\sin(n^{2})}{n^{2}+\\ln n}"

HOSTILE = [
    "\\boxed{9^{9^{9^{9}}}}", "\\boxed{1.0000001^{10^{12}}}", "\\boxed{\\binom{10^{9}}{5\\cdot 10^{8}}}", "\\boxed{(10^{10})!}",
    "\\boxed{((((9!)!)!)!)!}", "\\boxed{" + "\\sqrt{" * 2000 + "1" + "}" * 2000 + "}", "\\boxed{" * 50_000, "\\boxed{" + "(" * 5000,
    "\\boxed{" + "x+" * 50_000 + "x}", "\\boxed{" + "2\\cdot " * 20_000 + "2}", "\\$" * 60_000 + "$", "$" * 100_001, "*" * 100_000,
    "\\boxed{" + "1" * 4999 + "2}", "\\boxed{10^{-1000000000}}", "\\boxed{1e999999999}", "\\boxed{__import__('os').system('touch pwned')}",
    "\\boxed{().__class__.__base__.__subclasses__()}", "\\boxed{4\x002}", "\\boxed{\ud800}", "\\boxed{\\boxed{\\boxed{}}}",
    "answer is " * 20_000, "#### \n" * 20_000, "<answer>" * 20_000, "\\text{" * 20_000, "\\boxed{" + "\\frac1" * 3000 + "}",
    "\\boxed{" + "-" * 20_000 + "1}", "\\boxed{" + "," * 20_000 + "}", "\\boxed{" + "1," * 1400 + "2}", "0." + "3" * 50_000 + "...",
    "\\boxed{\\det\\begin{pmatrix}" + ("1&" * 15 + "2\\\\") * 16 + "\\end{pmatrix}}", "\\boxed{\\sum_{k=1}^{10^9} k^k}",
    "\\boxed{" + "a" * 100_000 + "}", "\\[" * 50_000, "答案是" * 50_000, "answer: " * 50_000, "answer is ((" * 20_000, "\\boxed{९" + "९" * 300 + "}", "\\boxed{9" + "!" * 50 + "}",
    "\\boxed{" + "{" * 20_000 + "7" + "}" * 20_000 + "}", "\\boxed{\\sum_{k=0}^{1999}x^k}", "\\boxed{[[" + "],[".join(["1,2"] * 500) + "]]}", "\\boxed{}" * 20_000,
    "\\boxed{all" + " " * 18_000 + "x}", "\\boxed{out5" + " " * 18_000 + "}", "\\boxed{\\mathbb{Z}" + " " * 18_000 + "}", "```python\n" * 30_000,
    "<|im_start|>user" + " " * 100_000, "The answer is not " * 5_000, ("The answer is" + " " * 1_990) * 24, "The answer is " + "$" * 50_000, "故选" * 50_000,
    "\\boxed{a" + "\u0316\u0301" * 300_000 + "}", "1:" * 50_000, "".join(f"maybe \\boxed{{{n}}} " for n in range(9_999)), "\\boxed{" + "|" * 3000 + "x" + "|" * 3000 + "}",
]  # fmt: skip


def score(completions: list[str], gold: str, **settings: float) -> list[Outcome]:
    reward = get_reward("math").with_(**settings) if settings else get_reward("math")
    found = evaluate(reward, Batch.from_call(completions=completions, answer=[gold] * len(completions)))
    return [outcome for outcome in found if outcome is not None]


@pytest.mark.parametrize("in_thread", [False, True])
def test_every_hostile_completion_is_answered_and_none_is_right(
    in_thread: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found: list[Outcome] = []

    def work() -> None:
        found.extend(score([*HOSTILE, "\\boxed{42}"], "42"))

    if in_thread:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    assert [o.value for o in found] == [0.0] * len(HOSTILE) + [1.0]
    assert {o.status for o in found} <= {"scored", "rejected", "timeout"}
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_hung_pair_is_a_timeout_and_its_neighbours_are_unharmed() -> None:
    easy = "\\boxed{\\lim_{x\\to0}\\frac{2\\sin x}{x}}"
    found = score([easy, f"\\boxed{{{HANGS}}}", easy, "\\boxed{2}"], "2", timeout=2.0)
    assert [o.value for o in found] == [1.0, 0.0, 1.0, 1.0]
    assert [o.status for o in found] == ["scored", "timeout", "scored", "scored"]


def test_a_killed_worker_is_replaced() -> None:
    pool = Pool(task_of(FUNCTION), 1)
    one: list[object] = ["num", "1", []]
    limit: list[object] = ["opaque", "lim", [["call", "sin", [["sym", "x", []]]], ["sym", "x", []], ["num", "0", []]]]
    slow: list[object] = [
        "sum",
        "n",
        [["call", "sin", [["pow", None, [["sym", "n", []], ["num", "2", []]]]]], one, ["const", "oo", []]],
    ]
    try:
        assert decide_by_sympy(one, one, seconds=10, pool=pool)[0] is True
        with pytest.raises(WorkerTimeout):
            decide_by_sympy(one, slow, seconds=0.05, pool=pool)
        assert decide_by_sympy(["num", "0", []], limit, seconds=20, pool=pool)[0] is True
    finally:
        pool.close()


def test_a_worker_that_dies_leaves_the_question_open() -> None:
    pool = Pool(task_of(FUNCTION, megabytes=40), 1)  # too little to import sympy
    try:
        equal, rule = decide_by_sympy(["num", "1", []], ["num", "1", []], seconds=10, pool=pool)
        assert equal is None
        assert "ended" in rule
    finally:
        pool.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    program = (
        "import os\n"
        "from grpo_rewards_plugins.math.grading import grade\n"
        "pair = ('1', r'\\lim_{x\\to0}\\frac{\\sin x}{x}')\n"
        "assert grade(*pair).equal\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if grade('3', r'\\lim_{x\\to0}\\frac{3\\sin x}{x}').equal else 1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "assert grade('4', r'\\lim_{x\\to0}\\frac{4\\sin x}{x}').equal\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "print('started')\n"
        "from grpo_rewards_plugins.math.grading import grade\n"
        "print(grade('1', r'\\lim_{x\\to0}\\frac{\\sin x}{x}').equal)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "started\nTrue\n"


def test_a_verdict_is_remembered_not_worked_out_twice() -> None:
    first = grade("1", f"{HANGS}+0", timeout=0.5)
    assert first.status == "timeout"
    assert grade("1", f"{HANGS}+0", timeout=0.5) is first


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_busy_machine_changes_no_verdict() -> None:
    pool = Pool(task_of(FUNCTION), 1)
    one: list[object] = ["num", "1", []]
    question = one, one
    try:
        assert decide_by_sympy(*question, seconds=10, pool=pool)[0] is True
        (worker,) = pool._idle
        assert worker.answering is not None
        os.kill(worker.answering, signal.SIGSTOP)  # gets no processor for as long as it is stopped
        threading.Timer(0.5, os.kill, (worker.answering, signal.SIGCONT)).start()
        assert decide_by_sympy(*question, seconds=0.2, pool=pool)[0] is True
    finally:
        pool.close()
