"""From a reference in a configuration to a reward: a name, ``./file.py:name`` or ``package.module:name``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CodeType, ModuleType

from grpo_rewards._contract import Reward, as_reward
from grpo_rewards.errors import UnknownRewardError, nearest


def from_reference(text: str, *, base: Path | None = None) -> Reward:
    """Return the reward at ``./file.py:name`` (relative to `base`, the current folder by default) or ``pkg.mod:name``.

    A module that is not installed is looked for in `base` too, so that what `Composite.to_yaml` says of a script's neighbour holds.

    Raises:
        UnknownRewardError: no such file, module or name, or it is no reward.
    """
    place, _, name = text.rpartition(":")  # from the right: a path may hold a colon itself
    if place.endswith(".py"):
        path = (base or Path.cwd()).joinpath(place).resolve()
        module, origin = _module_of_file(path, text)
        reference = f"{path}:{name}"
    else:
        module, origin = _module(place, text, base or Path.cwd()), _version_of(place)
        reference = f"{place}:{name}"
    thing: object = module
    for part in name.split("."):
        if not hasattr(thing, part):
            known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
            raise UnknownRewardError(f"{place} has no {name!r}{nearest(name, known)}", reference=text)
        thing = getattr(thing, part)
    try:
        found = as_reward(thing)
    except TypeError as error:
        raise UnknownRewardError(f"{text} is no reward: {error}", reference=text) from None
    if found.version == "unversioned":
        found.source, found.version = place if place.endswith(".py") else found.__module__, origin
    if found.reference is None:
        found.reference = reference
    return found


class _Loader(SourceFileLoader):
    """Runs the bytes that its module is named by.

    Python would read the file again, or take the bytecode of an earlier edit that has the same second and size.
    """

    def __init__(self, name: str, path: Path, source: bytes) -> None:
        super().__init__(name, str(path))
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self._source, self.path)
        return code


def _module_of_file(path: Path, text: str) -> tuple[ModuleType, str]:
    if not path.is_file():
        raise UnknownRewardError(f"{text}: there is no file {path}", reference=text)
    source = path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()[:12]
    # path and content name the module: a file is loaded once, and anew when it was edited
    name = f"grpo_rewards_file_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{digest}"
    if name in sys.modules:
        return sys.modules[name], f"sha256:{digest}"
    loader = _Loader(name, path, source)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None  # a loader was given
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickle look their module up there
    try:
        loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]  # a half-made module must not be found by the next try
        if isinstance(error, Exception):
            raise UnknownRewardError(
                f"{text}: importing {path} raised {type(error).__name__}: {error}", reference=text
            ) from error
        raise
    return module, f"sha256:{digest}"


def _module(name: str, text: str, base: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        top, folder = name.partition(".")[0], str(base.resolve())
        there = (base / f"{top}.py").is_file() or (base / top).is_dir()
        if (
            error.name == top and there and folder not in sys.path
        ):  # Python puts a script's folder there, a command does not
            sys.path.append(folder)  # behind the rest, so that no file there hides an installed package
            importlib.invalidate_caches()
            return _module(name, text, base)
        raise UnknownRewardError(
            f"{text}: there is no module {error.name!r}; install it, or give the path of a file (./file.py:name)",
            reference=text,
        ) from None
    except Exception as error:
        raise UnknownRewardError(
            f"{text}: importing {name} raised {type(error).__name__}: {error}", reference=text
        ) from error


def with_origin(reward: Reward) -> Reward:
    """Note the version of the package that a reward, given as an object, comes from: what its reference would say."""
    if reward.version == "unversioned" and reward.source not in ("", "__main__"):
        reward.version = _version_of(reward.source)
    return reward


@cache
def _version_of(module: str) -> str:
    top = module.partition(".")[0]
    try:
        return version(top)  # a distribution is mostly called as its module; the map of all is slow to make
    except (PackageNotFoundError, ValueError):
        pass
    for distribution in _distributions().get(top, []):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return "unversioned"


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()  # reads the files of every installed distribution
