"""The backends by name: those of this package and those that others install or register, through one door."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
import threading
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import entry_points

from ._backend import Backend
from ._errors import SandboxUnavailable

GROUP = "grpo_rewards_sandbox"
AUTO = ("local", "docker")  # what `auto` tries, in this order
_HERE = __package__
_PLACES = {  # as an entry point says it
    "local": f"{_HERE}.backends.local.backend:LocalBackend",
    "docker": f"{_HERE}.backends.docker.containers:DockerBackend",
}
_registered: dict[str, Callable[..., Backend]] = {}
_lock = threading.Lock()


def register_backend(name: str, backend: Callable[..., Backend]) -> None:
    """Make a backend known in this process by `name`; `backend` is its class, or what returns it from its options.

    An installed package does so with an entry point of the group ``grpo_rewards_sandbox`` instead. The same one may come again,
    as where plugins are loaded anew.

    Raises:
        ValueError: the name is taken by another backend.
    """
    with _lock:
        # by name, not identity: a module that is loaded anew has another class of the same name
        taken = _registered.get(name, backend)
        if name == "auto" or name in _installed() or _named(taken) != _named(backend):
            raise ValueError(f"there is a sandbox backend {name!r} already")
        _registered[name] = backend


def register_backends(backends: Mapping[str, Callable[..., Backend]]) -> None:
    """Make each backend known by its name. Raises as `register_backend`, when all those are known whose names are free."""
    taken = []
    for name, backend in backends.items():
        try:
            register_backend(name, backend)
        except ValueError as error:
            taken.append(str(error))
    if taken:
        raise ValueError("; ".join(taken))


def _named(backend: Callable[..., Backend]) -> tuple[str, str]:
    return backend.__module__, backend.__qualname__


def backend_names() -> tuple[str, ...]:
    """The names that `open_sandbox` takes beside ``auto``: this package's, then those of others."""
    return (*AUTO, *sorted({*_installed(), *_registered} - set(AUTO)))


def _installed() -> dict[str, str]:
    """Where each installed backend is, as ``module:name``; no package replaces one of this package's."""
    return {**_others(tuple(sys.path)), **_PLACES}


@lru_cache(maxsize=8)
def _others(_path: tuple[str, ...]) -> dict[str, str]:
    """Those of other packages, looked for once on each path: it reads a file of every installed package."""
    return {point.name: point.value for point in entry_points(group=GROUP)}


def find_backend(name: str) -> Callable[..., Backend]:
    """Return what makes the backend of this name.

    Raises:
        ValueError: there is none.
        SandboxUnavailable: its package cannot be imported.
    """
    if name in _registered:
        return _registered[name]
    place = _installed().get(name)
    if place is None:
        near = difflib.get_close_matches(name, ("auto", *backend_names()), 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no sandbox {name!r}; expected one of auto, {', '.join(backend_names())}{meant}")
    module, _, attribute = place.partition(":")
    try:
        found: Callable[..., Backend] = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # of another package's module, whatever it raises
        raise SandboxUnavailable(f"the backend {name!r} ({place}) cannot be imported: {error!r}") from error
    return found


def make_backend(name: str, options: Mapping[str, object]) -> Backend:
    """Make a backend with its options.

    Raises:
        ValueError: there is no such backend, or it has no such option.
        SandboxUnavailable: it cannot run here.
    """
    check_options(name, options)
    made = find_backend(name)(**options)
    if not isinstance(made, Backend):
        raise TypeError(f"the backend {name!r} is a {type(made).__name__}; it must be a grpo_rewards_sandbox.Backend")
    return made


def check_options(name: str, options: Mapping[str, object]) -> None:
    """Refuse an option that a backend does not have, or of another type than it says. Raises as `make_backend`; makes nothing."""
    if name == "auto":
        taken = {one: option_names(find_backend(one)) for one in AUTO}
        for option in options:
            if not any(option in known for known in taken.values()):
                raise ValueError(f"no backend of auto has an option {option!r}")
        for one, known in taken.items():
            check_options(one, {option: value for option, value in options.items() if option in known})
        return
    make = find_backend(name)
    known = option_names(make)
    for option in options:
        if option not in known:
            raise ValueError(f"the backend {name!r} has no option {option!r}; it takes {', '.join(known) or 'none'}")
    try:
        parameters = inspect.signature(make, eval_str=True).parameters
    except (NameError, TypeError):  # a name that is imported for type checkers only
        return
    for option, value in options.items():
        if not _fits(value, wanted := parameters[option].annotation):
            raise ValueError(f"the backend {name!r}, option {option!r}: expected {_type_name(wanted)}, not {value!r}")


def _type_name(wanted: object) -> str:
    if typing.get_origin(wanted) is typing.Literal:
        return " or ".join(map(str, typing.get_args(wanted)))
    return wanted.__name__ if type(wanted) is type else str(wanted)


def _fits(value: object, wanted: object) -> bool:
    """Whether a value, as YAML has it, is of an annotated type; true where the type is none that YAML has."""
    parts = typing.get_args(wanted)
    kind = typing.get_origin(wanted) or wanted
    if kind is typing.Literal:
        return value in parts
    if kind in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is type(None) or wanted is None:
        return value is None
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (bool, str):
        return isinstance(value, kind)
    if kind in (list, tuple, Sequence):
        return isinstance(value, list | tuple) and all(_fits(one, parts[0]) for one in value if parts)
    if kind in (dict, Mapping):
        return isinstance(value, Mapping)
    return True


def option_names(make: Callable[..., Backend]) -> tuple[str, ...]:
    """The keywords that a backend's constructor takes."""
    return tuple(p.name for p in inspect.signature(make).parameters.values() if p.kind is not p.VAR_POSITIONAL)
