"""A new plugin: an installable distribution with a reward, its tests and an example."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from grpo_rewards._scaffold.files import FILES
from grpo_rewards._version import __version__
from grpo_rewards.errors import ConfigError

__all__ = ["write_plugin"]

_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def write_plugin(name: str, into: Path) -> tuple[Path, list[Path]]:
    """Write the plugin `name` as a folder of that name in `into`; return the folder and its files.

    Raises:
        ConfigError: the name cannot be a distribution and a module, or the folder is there already.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be a distribution's name: letters, digits, '-', '_' and '.', a letter first"
        )
    module = re.sub(r"[-.]+", "_", name).lower()
    reward = module.removeprefix("grpo_rewards_")
    taken = {"grpo_rewards", "grpo_rewards_plugins", "grpo_rewards_sandbox", "grpo_rewards_adapters"}
    # a module called as one of the standard library's would hide it, or be hidden by it
    for word in (module, reward):
        if not word.isidentifier() or keyword.iskeyword(word) or word in sys.stdlib_module_names or word in taken:
            raise ConfigError(
                f"{name!r} would make the module {module!r} and the reward {reward!r}; {word!r} is taken or no name"
            )
    folder = into / name
    if folder.exists():
        raise ConfigError(f"{folder} is there already; give another name, or remove it")
    words = {"NAME": name, "MODULE": module, "REWARD": reward, "VERSION": __version__}
    written = []
    for place, text in FILES.items():
        path = folder / place.replace("MODULE", module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            re.sub(r"@(NAME|MODULE|REWARD|VERSION)@", lambda found: words[found[1]], text), encoding="utf-8"
        )
        written.append(path)
    return folder, written
