"""The hooks that a plugin may implement, one sentence each. Mark implementations with ``@grpo_rewards.hookimpl``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from pathlib import Path

    from grpo_rewards import Composite, Reward, ScoreTable
    from grpo_rewards._contract.shapes import RewardCall
    from grpo_rewards.types import Case, Probes, Session

hookspec = pluggy.HookspecMarker("grpo_rewards")
hookimpl = pluggy.HookimplMarker("grpo_rewards")
"""Marks a function of a plugin as the implementation of the hook of its name."""


@hookspec
def register_rewards() -> Iterable[Reward]:  # type: ignore[empty-body]
    """Return rewards that are not module-level names of the plugin; those register by themselves."""


@hookspec
def register_presets() -> Mapping[str, Path | str]:  # type: ignore[empty-body]
    """Return compositions by the name that ``preset/NAME`` refers to, each the path of a YAML file."""


@hookspec
def register_scalers() -> Mapping[str, Callable[..., object]]:  # type: ignore[empty-body]
    """Return weight-adaptation methods by the name that ``adapt.method`` refers to."""


@hookspec
def register_sandboxes() -> Mapping[str, Callable[..., object]]:  # type: ignore[empty-body]
    """Return sandbox backends by the name that ``sandbox:`` refers to: subclasses of ``grpo_rewards_sandbox.Backend``."""


@hookspec
def register_commands(app: object) -> None:
    """Add commands to the ``grpo-rewards`` command line, a typer application."""


@hookspec
def register_attacks() -> Mapping[str, Callable[[Case], Iterable[str]]]:  # type: ignore[empty-body]
    """Return cheats for ``audit`` by name: each takes a case (a row and what is known of it) and returns completions."""


@hookspec
def register_probes() -> Mapping[str, Callable[..., Probes | None]]:  # type: ignore[empty-body]
    """Return, by the name of a reward, a function of a row's columns that says what ``audit DATA`` is to try on the row."""


@hookspec(firstresult=True)
def open_session(composite: Composite, call: RewardCall) -> Session | None:
    """Look at the keywords of a reward call, and return the session of the run that makes it, or None if it is not yours."""


@hookspec(firstresult=True)
def group_size(call: RewardCall) -> int | None:
    """Look at the keywords of a trainer's call of a reward alone, and return how many rows in a row form a group, or None."""


@hookspec
def register_code_readers() -> Mapping[str, tuple[Iterable[str], Callable[..., object]]]:  # type: ignore[empty-body]
    """Return readers of data sets for ``code`` by name: the columns that its rows have, and a function of a row."""


@hookspec
def on_scored(table: ScoreTable) -> None:
    """Look at a batch that has been scored; what this returns or raises changes nothing."""
