"""``grpo-rewards sandbox``: build the Docker image, or see what isolates code on this machine."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, TypedDict

import typer

_CANDIDATE = "def double(x):\n    return 2 * x\n"


class Action(StrEnum):
    """What to do."""

    build = "build"
    check = "check"


def sandbox(
    action: Annotated[Action, typer.Argument(help="build the image of the docker backend, or check the backends.")],
    base: Annotated[
        str | None, typer.Option("--base", "--base-image", help="Base image, any with Python 3.11 or newer as python3.")
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option("--package", "--packages", "-p", help="A package that candidates may import; repeatable."),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option("--language", help="build: a language to run programs in; or several, by commas."),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="build: then remove the images of other versions that nothing uses.")
    ] = False,
    backend: Annotated[str, typer.Option("--backend", help="check: auto (every one), local or docker.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Build the image that the docker backend runs code in, or check what isolates code here by judging a program.

    Building the same content again does nothing. Check leaves with 3 where no backend works.

    Example: grpo-rewards sandbox build --base python:3.12-slim --package numpy --language cpp,java
    """
    if action is Action.build:
        languages = tuple(word for text in language or () for word in text.replace(",", " ").split())
        _build(base, tuple(word for text in package or () for word in text.split()), languages, prune, as_json)
    else:
        _check(backend, as_json)


def _build(base: str | None, packages: tuple[str, ...], languages: tuple[str, ...], prune: bool, as_json: bool) -> None:
    from grpo_rewards_sandbox import SandboxError, build_image, prune_images

    from grpo_rewards._cli.app import ENVIRONMENT

    try:
        tag = build_image(base=base, packages=packages, languages=languages)
        removed = prune_images() if prune else []
    except SandboxError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(ENVIRONMENT) from error
    if removed:
        typer.echo(f"removed {len(removed)} images of other versions", err=True)
    typer.echo(json.dumps({"image": tag, **({"removed": removed} if prune else {})}) if as_json else tag)


def _check(backend: str, as_json: bool) -> None:
    from grpo_rewards_sandbox import SandboxUnavailable, backend_names, check_options, guarantees, register_backends

    from grpo_rewards._cli.app import ENVIRONMENT, USAGE
    from grpo_rewards.hooks import call_hook

    # a plugin's backend is tried like ours; the sandbox itself knows no plugins
    call_hook("register_sandboxes", read=register_backends)
    try:
        check_options(backend, {})
    except ValueError as error:
        typer.echo(f"error: --backend: {error}", err=True)
        raise typer.Exit(USAGE) from error
    except SandboxUnavailable:  # said of each backend below
        pass
    names = backend_names() if backend == "auto" else (backend,)
    found = {name: _try(name) for name in names}
    report = {"guarantees": guarantees(), "backends": found}
    if as_json:
        typer.echo(json.dumps(report, indent=1))
    else:
        for name, result in found.items():
            typer.echo(f"{name}: {'works, ' + str(result['mode']) if result['works'] else 'no'}")
            typer.echo("\n".join(f"  {line}" for line in result["note"].splitlines()))
    if not any(result["works"] for result in found.values()):
        raise typer.Exit(ENVIRONMENT)


class Tried(TypedDict):
    """What came of trying a backend."""

    works: bool
    mode: str | None
    note: str


def _try(name: str) -> Tried:
    """Judge a right and a wrong program on this backend."""
    from grpo_rewards_sandbox import Job, SandboxUnavailable, open_sandbox

    tests = ["assert double(21) == 42"]
    # with a wrong one, since a backend that passes everything would seem to work
    jobs = [Job(_CANDIDATE, tests, "asserts"), Job("double = str", tests, "asserts")]
    try:
        with open_sandbox(name, workers=1) as opened:
            statuses = [verdict.status for verdict in opened.run(jobs)]
            mode = str(opened.plan.get("mode", name))
            note = opened.description
    except SandboxUnavailable as error:
        return {"works": False, "mode": None, "note": str(error)}
    works = statuses == ["passed", "failed"]
    return {"works": works, "mode": mode, "note": note if works else f"a right and a wrong program were {statuses}"}
