"""Joining a Ray cluster, for whole files and for live batches."""

from __future__ import annotations

import logging
import os
import socket
from types import ModuleType

from grpo_rewards.errors import ConfigError, InfrastructureError
from grpo_rewards.packages import require

ON_A_NODE = {
    "where": "on a node of the cluster",
    "otherwise": "install the same packages, and put reward files at the same path, on every node",
}
"""What is said of rewards that cannot be loaded there."""

_CONNECT_SECONDS = 5.0


def connect(asked_by: str) -> tuple[ModuleType, bool]:
    """Return the module ray, joined to a cluster, and whether that was done here: the caller ends what it began.

    The cluster is the one this process is in, else that at ``RAY_ADDRESS``, else one that is started here. Ray itself would
    wait for minutes for one that is down, and without an address join whichever cluster was started last on this machine,
    which is another's and may end at any moment; ``RAY_ADDRESS=auto`` asks for that.

    Raises:
        ConfigError: Ray is not installed, or several ranks would start a cluster each.
        InfrastructureError: there is no cluster at ``RAY_ADDRESS``.
    """
    require("ray", by=asked_by, extra="ray")
    import ray

    if ray.is_initialized():
        return ray, False
    address = os.environ.get("RAY_ADDRESS", "")
    if not address and int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise ConfigError(
            f"{asked_by} with several ranks needs one cluster for all of them: start it with 'ray start --head' and set "
            f"RAY_ADDRESS=host:6379 for every rank"
        )
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if host and port.isdigit():  # `auto` and `local` are left to Ray
            socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise InfrastructureError(
            f"no Ray cluster could be reached: {error}. Set RAY_ADDRESS to one that runs, or unset it to score here"
        ) from None
    return ray, True
