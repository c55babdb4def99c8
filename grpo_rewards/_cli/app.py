"""The application: its commands, its exit codes, and how an error reaches the person who caused it.

Exit codes: 0 fine, 1 findings, 2 usage or configuration, 3 environment (a sandbox or service is down).
"""

from __future__ import annotations

import logging
import os
import sys
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from grpo_rewards._version import __version__
from grpo_rewards.errors import GrpoRewardsError, InfrastructureError

FINDINGS, USAGE, ENVIRONMENT = 1, 2, 3
OWN = "grpo-rewards"  # the distribution

app = typer.Typer(
    name="grpo-rewards",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # an error of ours is one line; one that is not is a bug, and wants the plain traceback
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Verifiable reward functions for GRPO: score completions offline with the rewards that train on them.\n\n"
    "Example: grpo-rewards score completions.jsonl -c rewards.yaml -o scored.jsonl",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"grpo-rewards {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def _register() -> None:
    """Add the commands: each module is small and imports what it needs when it runs."""
    from grpo_rewards._cli import (
        audit,
        catalogue,
        compare,
        doctor,
        explain,
        new,
        report,
        sandbox,
        score,
        serve,
        train,
        validate,
    )

    app.command("score")(score.score)
    app.command("list")(catalogue.list_)
    app.command("explain")(explain.explain)
    app.command("validate")(validate.validate)
    app.command("schema")(catalogue.schema)
    app.command("report")(report.report)
    app.command("compare")(compare.compare)
    app.command("audit")(audit.audit)
    app.command("doctor")(doctor.doctor)
    app.command("new")(new.new)
    app.command("serve")(serve.serve)
    app.command("sandbox")(sandbox.sandbox)
    app.command("train")(train.train)
    app.command("merge")(train.merge)


def _register_plugins() -> None:
    """Let plugins of others add commands; one that fails is reported and the rest go on."""
    from importlib.metadata import entry_points

    if all(point.dist is not None and point.dist.name == OWN for point in entry_points(group="grpo_rewards")):
        return  # our own plugins add no command, and are not loaded for a help text
    from grpo_rewards._registry import call_hook

    def failed(plugin: str, error: Exception) -> None:
        typer.echo(f"warning: the commands of plugin {plugin} are missing: {error}", err=True)

    call_hook("register_commands", app, failed=failed)
    _keep_the_first_of_a_name()


def _keep_the_first_of_a_name() -> None:
    """Leave out commands whose name is taken: click would let the last one win, `score` of a plugin over ours."""
    kept: dict[str, CommandInfo] = {}
    for command in app.registered_commands:
        name = command.name or get_command_name(getattr(command.callback, "__name__", ""))
        if name in kept:
            where = getattr(command.callback, "__module__", "a plugin")
            typer.echo(f"warning: the command {name!r} of {where} is missing: the name is taken", err=True)
        else:
            kept[name] = command
    app.registered_commands[:] = kept.values()


@cache
def application() -> typer.Typer:
    """Return the application with its own commands and those of plugins."""
    _register()
    _register_plugins()
    return app


def main() -> None:
    """Run the command line and leave with its exit code."""
    # a library sets up no logging; a program does, and plugins warn through it
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    try:
        application()()
    # before its base class: a service that is down is another exit code than a wrong word
    except InfrastructureError as error:
        _leave(str(error), ENVIRONMENT)
    except GrpoRewardsError as error:
        _leave(str(error), USAGE)
    except BrokenPipeError:  # the reader of our output has gone: say nothing, as a filter does
        # the interpreter flushes stdout once more at its end, and would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FINDINGS)
    except KeyboardInterrupt:
        _leave("stopped; an unfinished -o goes on with --resume", 130)  # 128 + SIGINT, as shells have it


def _leave(message: str, code: int) -> None:
    typer.echo(f"error: {message}", err=True)
    sys.exit(code)
