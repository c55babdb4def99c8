"""The files of a new plugin; ``@NAME@``, ``@MODULE@``, ``@REWARD@`` and ``@VERSION@`` are filled in."""

from __future__ import annotations

__all__ = ["FILES"]

_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "@NAME@"
version = "0.1.0"
description = "A reward for GRPO: @REWARD@"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["grpo-rewards>=@VERSION@"]

[project.optional-dependencies]
dev = ["pytest>=8.0"]

# How grpo-rewards finds the plugin: every reward of this module is registered under its own name.
[project.entry-points.grpo_rewards]
@REWARD@ = "@MODULE@.rewards"

[tool.hatch.build.targets.wheel]
packages = ["@MODULE@"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

_README = """\
# @NAME@

A plugin for [grpo-rewards](https://pypi.org/project/grpo-rewards/) with the reward `@REWARD@`.

```bash
pip install -e ".[dev]" && python -m pytest
grpo-rewards explain @REWARD@
grpo-rewards score example/rows.jsonl -c example/rewards.yaml
grpo-rewards audit example/rewards.yaml
```
"""

_REWARDS = '''\
"""The reward `@REWARD@`."""

from __future__ import annotations

from grpo_rewards import Outcome, reward

__all__ = ["@REWARD@"]


@reward(range=(0.0, 1.0))
def @REWARD@(completion: str, keyword: str | None = None, *, ignore_case: bool = True) -> Outcome | None:
    """The completion mentions the row's keyword.

    Before the star stand columns of the data, after it settings. Return a number in the range, an Outcome that also says
    why, or None where the reward does not apply.

    Args:
        keyword: what must be mentioned; without it the reward does not apply.
        ignore_case: whether upper and lower case are the same.
    """
    if keyword is None:
        return None
    text, wanted = (completion.lower(), keyword.lower()) if ignore_case else (completion, keyword)
    found = wanted in text
    return Outcome(float(found), reason="" if found else f"does not mention {keyword!r}")
'''

_TESTS = '''\
"""The contract of every reward, and what this one is for."""

from __future__ import annotations

import pytest
from grpo_rewards.testing import RewardContract
from @MODULE@.rewards import @REWARD@


class TestContract(RewardContract):
    reward = @REWARD@
    rows = (
        {"prompt": "Name a fruit.", "completion": "An apple.", "keyword": "apple"},
        {"prompt": "Name a fruit.", "completion": "No idea.", "keyword": "apple"},
        {"prompt": "Say anything.", "completion": "Anything."},
    )


@pytest.mark.parametrize(
    ("completion", "keyword", "expected"),
    [("An apple.", "apple", 1.0), ("An APPLE.", "apple", 1.0), ("A pear.", "apple", 0.0), ("A pear.", None, None)],
)
def test_values(completion, keyword, expected):
    assert @REWARD@.one(completion, keyword=keyword).value == expected


def test_case_can_matter():
    assert @REWARD@.with_(ignore_case=False).one("An APPLE.", keyword="apple").value == 0.0


def test_it_is_installed():
    from grpo_rewards import get_reward

    assert get_reward("@REWARD@").source == "@NAME@"
'''

_CONFIG = """\
version: 1
rewards:
  @REWARD@: {use: @REWARD@, weight: 1.0, params: {ignore_case: true}}
"""

_ROWS = """\
{"prompt": "Name a fruit.", "completion": "An apple.", "keyword": "apple"}
{"prompt": "Name a fruit.", "completion": "No idea.", "keyword": "apple"}
"""

FILES: dict[str, str] = {
    "pyproject.toml": _PYPROJECT,
    "README.md": _README,
    ".gitignore": "__pycache__/\n*.egg-info/\ndist/\n.venv/\n.pytest_cache/\n",
    "MODULE/__init__.py": '"""The plugin @NAME@."""\n',
    "MODULE/py.typed": "",
    "MODULE/rewards.py": _REWARDS,
    "tests/test_rewards.py": _TESTS,
    "example/rewards.yaml": _CONFIG,
    "example/rows.jsonl": _ROWS,
}
"""Path (``MODULE`` in it stands for the module's name) to text."""
