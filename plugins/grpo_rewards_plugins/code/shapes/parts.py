"""Parts of a suite that are scored together: public and private tests, subtasks."""

from __future__ import annotations

from dataclasses import replace

from grpo_rewards_plugins.code.suite import Suite

__all__ = ["in_parts"]


def in_parts(suite: Suite, public: int) -> Suite:
    """Return a suite whose first tests are public, as two parts with the points that their numbers of tests give them.

    Where calls were left out as duplicates, it stays one part: which they were is not known.
    """
    total = suite.size
    if not 0 < public < total:
        return suite
    return replace(suite, parts=((float(public), public), (float(total - public), total - public)))
