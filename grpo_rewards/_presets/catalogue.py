"""Which presets are installed, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._registry import call_hook
from grpo_rewards.errors import ConfigError, nearest

if TYPE_CHECKING:
    from grpo_rewards._composition.config import Config

__all__ = ["PREFIX", "Preset", "find_preset", "is_preset", "list_presets"]

PREFIX = "preset/"


@dataclass(frozen=True, slots=True)
class Preset:
    """A composition by name: the YAML file `path`, which the plugin `source` brings."""

    name: str
    path: Path
    source: str

    @property
    def reference(self) -> str:
        """What a configuration, `load` and ``-c`` call it."""
        return PREFIX + self.name

    @property
    def text(self) -> str:
        """The file's content."""
        return self.path.read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        """The file's first comment."""
        lines = []
        for line in self.text.splitlines():
            if not line.startswith("#"):
                break
            lines.append(line.lstrip("# ").strip())
        return " ".join(lines)

    def config(self) -> Config:
        """Return the composition, presets in it expanded.

        Raises:
            ConfigError: the file is missing or wrong.
        """
        # here and not above: configurations expand presets, so that room imports this one
        from grpo_rewards._composition.config import read_config, read_yaml

        return read_config(read_yaml(self.path), source=self.reference)


def is_preset(reference: str) -> bool:
    """Whether a reference names a preset and neither a reward nor a file (``./preset/x`` or ``preset/x.yaml``)."""
    return reference.startswith(PREFIX) and not reference.endswith((".yaml", ".yml"))


def list_presets() -> list[Preset]:
    """Return every installed preset, sorted by name; of two with one name the built-in one, else the first, is kept."""
    found: dict[str, Preset] = {}
    for plugin, given in call_hook("register_presets", read=_paths):
        for name, path in given.items():
            found.setdefault(name, Preset(name, path, plugin.partition(":")[0]))  # the built-in ones come first
    return [preset for _, preset in sorted(found.items())]


def _paths(given: Mapping[str, Path | str]) -> dict[str, Path]:
    return {name: Path(path) for name, path in given.items()}


def find_preset(reference: str) -> Preset:
    """Return the preset of a reference ``preset/NAME``.

    Raises:
        ConfigError: there is none; the text names the nearest, and lists what there is.
    """
    known = {preset.name: preset for preset in list_presets()}
    name = reference.removeprefix(PREFIX)
    if name not in known:
        raise ConfigError(
            f"there is no preset {name!r}{nearest(name, known)}; installed are {', '.join(known) or 'none'}"
        )
    return known[name]
