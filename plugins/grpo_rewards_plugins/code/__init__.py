"""The reward `code`: programs judged by running their tests in a sandbox.

`readers` turn a row of any data set into a `Suite`, by way of the `shapes` that their tests share; `extraction` finds the program
in a completion, `judging` makes the sandbox's jobs, `runner` owns the sandbox of this process, `scores` says what verdicts are worth.
"""

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.reward import code

__all__ = ["SuiteProblem", "code"]
