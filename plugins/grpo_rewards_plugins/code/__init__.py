"""The reward `code`: programs judged by running their tests in a sandbox.

`extraction` finds the program in a completion, `suites` reads a row's tests, `runner` owns the sandbox of this process.
"""

from grpo_rewards_plugins.code.reward import code

__all__ = ["code"]
