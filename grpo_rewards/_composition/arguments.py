"""A composition as it is written in Python: components as keyword arguments or in a list, and back to YAML."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, cast

import yaml

from grpo_rewards._composition.config import Config
from grpo_rewards._contract import Reward, as_reward
from grpo_rewards._registry import registry
from grpo_rewards.errors import ConfigError, nearest

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

_SECTIONS = tuple(Config.model_fields)
_MEANT_LIST = (
    "a composite has its components by name: Composite(correct=(math, 2.0), polite=polite); "
    "a list of rewards goes into compose([math, polite], weights=[2, 0.5])"
)
_MEANT_FILE = (
    "a file or a preset is read by load(...); the smallest composite of an installed reward is Composite(math=1.0)"
)


def configuration(
    given: Mapping[str, object] | Config | None, more: Sequence[object], components: Mapping[str, object]
) -> Mapping[str, object] | None:
    """Return the configuration that the arguments of `Composite` mean: a mapping, keyword arguments, or both.

    Keyword arguments with the name of a section (``combine``, ``errors``, ``stages``, ``adapt``) are that section, all
    others are components; a mapping without any section is one of components.

    Raises:
        ConfigError: something is given twice, or by place.
    """
    wrong: object = next(iter(more), given)
    if wrong is not None and (more or not isinstance(wrong, Mapping | Config)):
        raise ConfigError(_MEANT_FILE if isinstance(wrong, str | PathLike) else _MEANT_LIST)
    # a misspelt section counts as one, so that it is refused by its name and not taken for a component
    if (
        isinstance(given, Mapping)
        and given
        and not any(key in _SECTIONS or (isinstance(key, str) and nearest(key, _SECTIONS)) for key in given)
    ):
        given = {"rewards": given}
    if isinstance(given, Config):
        raise ConfigError("components are given by name beside a mapping, not beside a Config")
    if not components:
        return given
    found = dict(given or {})
    rewards = dict(cast(Mapping[str, object], found.get("rewards") or {}))
    for name, value in components.items():
        into = found if name in _SECTIONS else rewards
        if name in _SECTIONS and (callable(value) or (isinstance(value, tuple) and name != "stages")):
            raise ConfigError(
                f"{name!r} is a section of the configuration; put a component of this name under 'rewards'"
            )
        if name in into and not (name == "rewards" and given is None):
            raise ConfigError(f"{name!r} is given twice, in the mapping and by name")
        if name == "rewards":
            if not isinstance(value, Mapping):
                raise ConfigError(_MEANT_LIST)
            rewards.update(value)
        else:
            into[name] = value
    return {**found, "rewards": rewards} if rewards else found


def listed(
    rewards: Iterable[object], weights: Sequence[float] | None, names: Sequence[str] | None
) -> dict[str, object]:
    """Return the components of a list of rewards, named after themselves; of two with one name the second is ``name_2``.

    Raises:
        ConfigError: there are not as many weights or names as rewards, or it is no list.
    """
    if isinstance(rewards, Mapping | str) or not isinstance(rewards, Iterable):
        raise ConfigError(f"compose takes a list, not {type(rewards).__name__}; {_MEANT_LIST}")
    rewards = list(rewards)
    pairs = [place for place, thing in enumerate(rewards) if isinstance(thing, tuple)]
    if pairs and weights is not None:
        raise ConfigError(f"reward {pairs[0] + 1} of the list has a weight of its own, and weights gives it another")
    for what, values in (("weights", weights), ("names", names)):
        if values is not None and len(values) != len(rewards):
            raise ConfigError(f"{what}: {len(values)} for {len(rewards)} rewards; give one for each")
    if names is not None and len(set(names)) < len(names):
        raise ConfigError("names: one of them is given twice")
    found: dict[str, object] = {}
    for place, thing in enumerate(rewards):
        own = names[place] if names is not None else _name_of(thing, place)
        name, number = own, 1
        while name in found:
            number += 1
            name = f"{own}_{number}"
        found[name] = thing if weights is None else (thing, weights[place])
    return found


def _name_of(thing: object, place: int) -> str:
    thing = thing[0] if isinstance(thing, tuple) and thing else thing
    name = (
        thing.removeprefix("preset/").rpartition(":")[2] if isinstance(thing, str) else getattr(thing, "__name__", "")
    )
    name = re.sub(r"[^\w-]", "_", name)
    # a nested composite is called "composite", which no component may be, and a lambda "<lambda>"
    usable = re.fullmatch(r"[A-Za-z_][\w-]*", name) and name not in ("composite", "_lambda_")
    return name if usable else f"reward_{place + 1}"


# ------------------------------------------------------------------------------------------------ back to YAML


def as_yaml(composite: Composite) -> str:
    """Return the ``rewards.yaml`` of a composite; see `Composite.to_yaml`."""
    config = composite.config
    rewards: dict[str, object] = {}
    found: dict[str, object] = {"version": config.version, "rewards": rewards}
    for name, component in config.rewards.items():
        path = f"rewards.{name}"
        rewards[name] = {
            "use": _reference(component.use, path),
            **_settings(component.model_dump(exclude_unset=True, exclude={"use"}), path),
        }
    rest = config.model_dump(exclude_unset=True, exclude={"rewards", "version", "use"})
    found.update({key: _plain(value, key) for key, value in rest.items()})
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)


def _reference(use: object, path: str) -> str:
    """What a file says for a reward: its registered name, or the place where it can be imported."""
    if isinstance(use, str):
        return use
    reward = as_reward(use)
    if registry().rewards.get(reward.name) is reward:  # another plugin's may have the name
        return reward.name
    if reward.reference is not None:
        return reward.reference
    module = sys.modules.get(reward.__module__)
    wanted = use if isinstance(use, Reward) else reward.function
    if module is not None and reward.__module__ != "__main__":  # whoever loads the file has another __main__
        for name, value in vars(module).items():
            if value is wanted:
                return f"{reward.__module__}:{name}"
    raise ConfigError(
        f"{reward.name!r} of {reward.__module__} cannot be named in a file: write it as a function at the top level of a "
        f"module, and give it as ./file.py:NAME",
        path=path,
    )


def _settings(values: Mapping[str, object], path: str) -> dict[str, object]:
    """Settings as YAML holds them."""
    return {key: _plain(one, f"{path}.{key}") for key, one in values.items()}


def _plain(value: object, path: str) -> object:
    if isinstance(value, Mapping):
        return _settings(value, path)
    if isinstance(value, list | tuple):
        return [_plain(one, path) for one in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ConfigError(f"{type(value).__name__} {value!r:.80} cannot be written to a file", path=path)
