"""From a configuration, by its place or ``--config``, and ``--only`` to a composite."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards.errors import ConfigError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

HOW = "give -c rewards.yaml, set GRPO_REWARDS_CONFIG, or start in a folder with a rewards.yaml"


def named_presets(incomplete: str) -> list[str]:
    """Return the presets that a shell completes a word to; where there is none it goes on with files."""
    from grpo_rewards._presets import list_presets

    return [preset.reference for preset in list_presets() if incomplete and preset.reference.startswith(incomplete)]


def named_rewards(incomplete: str) -> list[str]:
    """Return the installed rewards that a shell completes a word to, and presets."""
    from grpo_rewards._registry import registry

    return [name for name in sorted(registry().rewards) if name.startswith(incomplete)] + named_presets(incomplete)


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="The composition: a file or preset/NAME; else $GRPO_REWARDS_CONFIG or ./rewards.yaml.",
        autocompletion=named_presets,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="A component of the composition, or without one an installed reward.",
        autocompletion=named_rewards,
    ),
]

ParamOption = Annotated[
    list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A setting of the reward of --only.")
]

ColumnOption = Annotated[
    list[str] | None, typer.Option("--column", metavar="NAME=COLUMN", help="A column of the reward of --only.")
]

JoinOption = Annotated[
    Path | None,
    typer.Option("--join", metavar="DATA", help="A file with the columns that FILE lacks, such as a run's data set."),
]
OnOption = Annotated[str, typer.Option("--on", metavar="COLUMN", help="What tells which row of DATA goes with which.")]


def is_config(path: Path | None) -> bool:
    """Whether an argument is a configuration by its name: YAML, or preset/NAME."""
    from grpo_rewards._presets import is_preset

    return path is not None and (path.suffix.lower() in (".yaml", ".yml") or is_preset(str(path)))


def one_config(placed: Path | None, option: Path | None) -> Path | None:
    """Return the configuration given as an argument or with ``--config``, which say the same.

    Raises:
        typer.BadParameter: both are given.
    """
    if placed is not None and option is not None:
        raise typer.BadParameter(f"{placed} and {option} are two configurations; give one", param_hint="--config")
    return placed if placed is not None else option


def config_and_file(first: Path | None, second: Path | None, option: Path | None) -> tuple[Path | None, Path | None]:
    """Return the configuration and the file of two arguments, which may stand in either order, and of ``--config``.

    Raises:
        typer.BadParameter: both arguments are files, or more than one is a configuration.
    """
    given = [path for path in (first, second) if path is not None]
    # told apart by their names alone: neither may be opened yet, and rows may come from a pipe
    configs = [path for path in given if is_config(path)]
    files = [path for path in given if path not in configs]
    if len(files) > 1:
        text = f"{files[0]} and {files[1]} are two files of rows; a configuration is a .yaml file or preset/NAME"
        raise typer.BadParameter(text, param_hint="CONFIG")
    for config in configs:
        option = one_config(config, option)
    return option, files[0] if files else None


def find_config(given: Path | None) -> Path | None:
    """Return the configuration that applies: the one given, ``$GRPO_REWARDS_CONFIG``, ``./rewards.yaml``, or None."""
    from grpo_rewards._composition import CONFIG_VARIABLE

    if given is not None:
        return given
    if named := os.environ.get(CONFIG_VARIABLE):
        return Path(named)
    return Path("rewards.yaml") if Path("rewards.yaml").is_file() else None


def composite_from_options(
    config: Path | None, only: list[str] | None, params: list[str] | None = None, columns: list[str] | None = None
) -> Composite:
    """Return the composite to score with.

    Raises:
        ConfigError: there is neither a configuration nor a reward to use.
    """
    from grpo_rewards._composition import Composite, load

    found = find_config(config)
    if found is not None:
        if params or columns:
            raise ConfigError(f"--param and --column go with --only and no configuration; edit {found} instead")
        composite = load(found)
        return composite.only(only) if only else composite
    if not only:
        raise ConfigError(
            f"nothing to score with: {HOW}, or name an installed reward with --only ('grpo-rewards list' shows them)"
        )
    component = {"params": _pairs(params, "--param"), "columns": _pairs(columns, "--column")}
    # a name within a class has a dot, which a component's may not have
    names = [name.rpartition(":")[2].removeprefix("preset/").replace(".", "_") for name in only]
    return Composite({"rewards": {name: {"use": use, **component} for name, use in zip(names, only, strict=True)}})


def _pairs(given: list[str] | None, option: str) -> dict[str, object]:
    import yaml

    pairs: dict[str, object] = {}
    for item in given or []:
        name, sign, value = item.partition("=")
        if not (sign and name):
            raise typer.BadParameter(f"expected NAME=VALUE, not {item!r}", param_hint=option)
        # a setting as a file would have it, so that 2 is a number; a column's name is text
        pairs[name] = value if option == "--column" else yaml.safe_load(value)
    return pairs
