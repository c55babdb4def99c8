"""The hub that models and data sets come from: whether it can be reached, found out once and quickly."""

from __future__ import annotations

import functools
import logging
import os
import socket
import threading
from urllib.parse import urlsplit

__all__ = ["go_offline_without_hub"]

_log = logging.getLogger(__name__)

_SECONDS = 3.0


@functools.cache
def go_offline_without_hub() -> bool:
    """Have the hub's clients use what lies on this machine alone where the hub cannot be reached; return whether they do.

    They would try again for over a minute else, for each file. Behind a proxy, which they know, nothing is tried.
    """
    import datasets
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return True
    address = urlsplit(constants.ENDPOINT)
    proxies = ("https_proxy", "http_proxy", "all_proxy")
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in proxies):
        return False
    if _answers(address.hostname or "", address.port or (443 if address.scheme == "https" else 80)):
        return False
    _log.warning(
        "%s does not answer within %g s, so only what is on this machine is used; set HF_ENDPOINT for a mirror",
        constants.ENDPOINT, _SECONDS,
    )  # fmt: skip
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    return True


def _answers(host: str, port: int) -> bool:
    """Whether a connection comes about; in a thread, since looking up a name has no time limit of its own."""
    answered = threading.Event()

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=_SECONDS).close()
            answered.set()
        except OSError:
            return

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(_SECONDS)
    return answered.is_set()
