"""``grpo-rewards train`` and ``merge``: thin doors to the adapter, which needs the extra ``train``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from grpo_rewards._cli.sources import one_config
from grpo_rewards._cli.validate import show

if TYPE_CHECKING:
    from types import ModuleType

    from grpo_rewards_adapters.training.recipe import Recipe
    from grpo_rewards_adapters.training.run import Checked


def train(
    placed: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="The training configuration (.yaml); or with -c.")
    ] = None,
    option: Annotated[Path | None, typer.Option("--config", "-c", help="The training configuration.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only check configuration, batches, rewards and data; load no model.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the newest checkpoint of the output.")] = False,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="Resume although rewards or plugin versions have changed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """Train a model with GRPO as a configuration says, measured on held-out prompts before and after.

    With --check nothing is loaded but the tokenizer and the data; exit 1 when something should be mended.

    Example: grpo-rewards train train.yaml --check && grpo-rewards train train.yaml
    """
    config = one_config(placed, option)
    if config is None:
        raise typer.BadParameter("give the file that says model, data and rewards", param_hint="CONFIG")
    if check:
        show(checked(config), as_json=as_json)
        return
    recipe, base = _read(config)
    # torch takes seconds to import: a wrong configuration has been refused by now
    adapter = _adapter("run")
    speaks = os.environ.get("RANK", "0") == "0"  # of several processes one

    def say(text: str) -> None:
        if speaks:
            typer.echo(text, err=True)

    found = adapter.train(recipe, base=base, resume=resume, accept_changes=accept_changes, say=say)
    if not speaks:
        return
    if as_json:
        typer.echo(json.dumps(found, indent=2, default=str))
        return
    typer.echo(f"{found['steps']} steps; the model is in {found['model']}")
    for name, figures in found["held_out"].items():
        typer.echo(f"{name}: {_interval(figures['before'])} -> {_interval(figures['after'])}")


def checked(config: Path) -> dict[str, object]:
    """Check a training configuration without loading a model: figures of its data and batches, and ``findings``."""
    ready = checked_recipe(config)
    return {**ready.figures, "total_findings": len(ready.findings), "findings": ready.findings}


def checked_recipe(config: Path) -> Checked:
    """Return a training configuration as read and checked: ``composite``, ``figures`` and ``findings``."""
    recipe, base = _read(config)
    return cast("Checked", _adapter("run").check(recipe, base=base))


def _read(config: Path) -> tuple[Recipe, Path]:
    """Return a training configuration and its folder, after all that can be told without importing a trainer."""
    recipe, base = _adapter("recipe").read_recipe(config), config.resolve().parent
    model = recipe.model
    _adapter("hub").look_for_tokenizer(model.tokenizer or model.name, base, revision=model.revision)
    for dataset in filter(None, (recipe.dataset, recipe.evaluation.dataset)):
        _adapter("data").look_for_data(dataset, base)
    return recipe, base


def merge(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="The folder of the LoRA adapters.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the merged model goes.")],
    base: Annotated[
        str | None, typer.Option(help="The base model, where it is not found by the adapter's record.")
    ] = None,
    dtype: Annotated[str, typer.Option(help="The weights' type: auto, float32, bfloat16 or float16.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Merge LoRA adapters into their base model.

    Example: grpo-rewards merge runs/gsm8k/model -o runs/gsm8k/merged
    """
    name = _adapter("merge").merge(adapter, out, base=base, dtype=dtype)
    if as_json:
        typer.echo(json.dumps({"adapter": str(adapter), "base": str(name), "model": str(out)}))
    else:
        typer.echo(f"{adapter} merged into {name}: {out}")


def _adapter(module: str) -> ModuleType:
    """Import a module of the training adapter, or say what to install."""
    import importlib

    from grpo_rewards._cli.app import ENVIRONMENT
    from grpo_rewards.errors import how_to_install

    try:
        return importlib.import_module(f"grpo_rewards_adapters.training.{module}")  # one at a time: `run` brings torch
    # also a part of an extra that is broken: its name is said
    except ImportError as error:
        missing = f" (missing: {error.name})" if error.name else ""
        typer.echo(f"error: training needs more packages{missing}: {how_to_install('train')}", err=True)
        raise typer.Exit(ENVIRONMENT) from error


def _interval(figures: dict[str, Any]) -> str:
    if figures["mean"] is None:
        return "nothing scored"
    low, high = figures["interval_95"]
    return f"{figures['mean']:.3f} [{low:.3f}, {high:.3f}]"
