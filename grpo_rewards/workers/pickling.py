"""Composites on their way to other processes."""

from __future__ import annotations

import hashlib
import logging
import pickle

from grpo_rewards.errors import ConfigError


def pickled(composite: object, otherwise: str = "") -> tuple[bytes, str]:
    """Return a composite as bytes for other processes, and a digest that they know it by.

    Raises:
        ConfigError: it holds what cannot be sent; `otherwise` says what to do.
    """
    try:
        found = pickle.dumps(composite)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"the rewards cannot be sent to another process: {error}{otherwise and '; '}{otherwise}"
        ) from None
    return found, hashlib.blake2b(found, digest_size=16).hexdigest()


def unpickled(composite: bytes, *, where: str = "in a worker process", otherwise: str = "") -> object:
    """Return a composite that was sent to this process, which leaves warnings about plugins to the one that sent it.

    Raises:
        ConfigError: its rewards cannot be imported here; `where` says where that is, `otherwise` what to do.
    """
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)
    try:
        return pickle.loads(composite)  # noqa: S301 - our own bytes, from the process that we belong to
    except Exception as error:  # noqa: BLE001 - unpickling imports the rewards' own modules
        problem = f"the rewards cannot be loaded {where}: {type(error).__name__}: {error}"
        raise ConfigError(f"{problem}{otherwise and '; '}{otherwise}") from None
