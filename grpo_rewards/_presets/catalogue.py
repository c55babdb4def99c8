"""Which presets are installed, and where each comes from."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from grpo_rewards._registry import registry
from grpo_rewards.errors import ConfigError, nearest

if TYPE_CHECKING:
    from grpo_rewards._composition.config import Config

__all__ = ["PREFIX", "Preset", "find_preset", "is_preset", "list_presets"]

PREFIX = "preset/"

_log = logging.getLogger(__name__)


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
        from grpo_rewards._composition.config import read_config, read_yaml

        return read_config(read_yaml(self.path), source=self.reference)


def is_preset(reference: str) -> bool:
    """Whether a reference names a preset and neither a reward nor a file (``./preset/x`` or ``preset/x.yaml``)."""
    return reference.startswith(PREFIX) and not reference.endswith((".yaml", ".yml"))


def list_presets() -> list[Preset]:
    """Return every installed preset, sorted by name; of two with one name the built-in one, else the first, is kept."""
    found: dict[str, Preset] = {}
    scanned = registry()
    sources = {id(plugin.module): plugin.distribution for plugin in scanned.plugins}
    implementations = scanned.manager.hook.register_presets.get_hookimpls()
    for implementation in implementations:  # in the order of registration: the built-in ones first
        try:
            given = cast("Mapping[str, Path | str]", implementation.function())
            source = sources.get(id(implementation.plugin), implementation.plugin_name)
            for name, path in dict(given).items():
                found.setdefault(name, Preset(name, Path(path), source))
        except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
            _log.warning("the presets of plugin %s are missing: %s", implementation.plugin_name, error)
    return [preset for _, preset in sorted(found.items())]


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
