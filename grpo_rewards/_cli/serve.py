"""``grpo-rewards serve``: rewards over HTTP."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from grpo_rewards._cli.sources import HOW, ConfigOption, find_config, one_config


def serve(
    placed: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="The composition to serve; or with -c.")
    ] = None,
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes that score.")] = 1,
    executor: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="ray: components run in actors on the cluster at RAY_ADDRESS; see scale."),
    ] = None,
    token_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable with the tokens, separated by commas.")
    ] = "GRPO_REWARDS_TOKENS",
    max_pending: Annotated[int, typer.Option(min=1, help="Requests at once; more are answered 429.")] = 256,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request; larger ones are answered 413.")] = 16 << 20,
    body_timeout: Annotated[float, typer.Option(min=0.1, help="Seconds within which a body must arrive.")] = 15.0,
    drain: Annotated[float, typer.Option(min=1, help="Seconds for open requests once asked to stop.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is served where as a line of JSON.")] = False,
) -> None:
    """Serve a composition over HTTP: /score, OpenRLHF's /openrlhf, NeMo Gym's /verify, /health and /metrics.

    Needs the extra serve (in a checkout: pip install '.[serve]'). Stops on SIGINT or SIGTERM once open requests are answered.

    Example: grpo-rewards serve rewards.yaml --port 8000 --workers 4
    """
    from grpo_rewards._cli.app import ENVIRONMENT
    from grpo_rewards._composition import load
    from grpo_rewards.errors import ConfigError, how_to_install

    found = find_config(one_config(placed, config))
    if found is None:
        raise ConfigError(f"nothing to serve: {HOW}")
    composite = load(found)
    if executor is not None:
        composite = composite.scaled(executor)
    # without an address each worker would start a cluster of its own
    if composite.config.scale is not None and not os.environ.get("RAY_ADDRESS"):
        typer.echo(
            "error: workers that share a Ray cluster need RAY_ADDRESS=host:6379 (start one: ray start --head)", err=True
        )
        raise typer.Exit(ENVIRONMENT)
    try:
        from grpo_rewards_adapters.server.run import run
    except ImportError as error:
        typer.echo(f"error: serving needs starlette and uvicorn ({error}): {how_to_install('serve')}", err=True)
        raise typer.Exit(ENVIRONMENT) from None
    from grpo_rewards_adapters.server import ServerSettings

    # several, so that one can be replaced while the other still works
    tokens = tuple(token.strip() for token in os.environ.get(token_env, "").split(",") if token.strip())
    limit = composite.config.errors.batch_timeout
    settings = ServerSettings(
        tokens=tokens,
        workers=workers,
        max_pending=max_pending,
        max_body=max_body,
        body_timeout=body_timeout,
        # later than the batch's own limit, which leaves rows out where this one ends the worker
        request_timeout=600.0 if limit is None else limit + 30.0,
        drain=drain,
    )
    components = [component.name for component in composite.components]

    def ready(port: int) -> None:  # once the workers answer: a client that read it earlier would find nobody
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        typer.echo(
            f"serving {found} on {url} ({workers} workers, {len(tokens)} tokens); its pages: {url}/docs", err=True
        )
        if as_json:
            answer = {"url": url, "config": str(found), "components": components, "workers": workers}
            typer.echo(json.dumps({**answer, "tokens": len(tokens)}))

    run(composite, settings, host=host, port=port, ready=ready)
