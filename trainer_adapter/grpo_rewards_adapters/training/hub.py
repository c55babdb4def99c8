"""The hub that models and data sets come from: whether it can be reached, found out once and quickly."""

from __future__ import annotations

import functools
import logging
import os
import re
import socket
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

from grpo_rewards.errors import ConfigError, InputError

_log = logging.getLogger(__name__)

_SECONDS = 3.0
# any of them shows that a tokenizer was kept; which ones there are depends on the model
_FILES = ("tokenizer_config.json", "tokenizer.json", "config.json")


def look_for_tokenizer(name: str, base: Path, *, revision: str | None = None) -> None:
    """Look for a tokenizer where the hub cannot be reached, before a trainer is imported, which takes many times as long.

    Raises:
        ConfigError: it is no folder, neither below `base`, and nothing of it was kept from the hub.
    """
    if (base / name).is_dir() or Path(name).is_dir() or not go_offline_without_hub():
        return
    from huggingface_hub import try_to_load_from_cache

    try:
        if any(isinstance(try_to_load_from_cache(name, file, revision=revision), str) for file in _FILES):
            return
    except ValueError as error:
        raise ConfigError(f"no folder {base / name}, and no name on the hub: {error}", path="model.name") from error
    raise ConfigError(
        f"cannot be loaded: no folder {base / name}, the hub cannot be reached, and nothing of {name} was kept from it "
        "on this machine. Give a folder, or set HF_ENDPOINT for a mirror",
        path="model.name",
    )


def look_for_dataset(name: str) -> None:
    """Look for a data set of the hub where the hub cannot be reached, before anything that is slow to import.

    Raises:
        InputError: it is no folder, and nothing of it was kept from the hub.
    """
    if Path(name).exists() or not go_offline_without_hub():
        return
    from huggingface_hub import constants

    # kept as datasets prepared it, or as the hub's client fetched it
    prepared = Path(os.environ.get("HF_DATASETS_CACHE") or Path(constants.HF_HOME) / "datasets").expanduser()
    wanted = _plain(name)
    for folder in (*prepared.glob("*"), *Path(constants.HF_HUB_CACHE).glob("datasets--*")):
        if _plain(folder.name.removeprefix("datasets--")) == wanted:
            return
    raise InputError(
        f"cannot be loaded: the hub cannot be reached, and nothing of {name} was kept from it on this machine. Give a "
        "file as dataset.path, or set HF_ENDPOINT for a mirror",
        source=f"dataset {name}",
    )


def _plain(name: str) -> str:
    """A data set's name without what its folders write otherwise: ``a/MyThings``, ``a___my_things``, ``a--MyThings``."""
    return re.sub(r"[/_-]", "", name).lower()


@functools.cache
def go_offline_without_hub() -> bool:
    """Have the hub's clients use what lies on this machine alone where the hub cannot be reached; return whether they do.

    They would try again for over a minute else, for each file. Behind a proxy, which they know, nothing is tried.
    """
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
    os.environ["HF_HUB_OFFLINE"] = "1"  # for who reads it later: datasets, and processes begun from here
    # read from the environment once, at import, and that was before this
    constants.HF_HUB_OFFLINE = True
    if (datasets := sys.modules.get("datasets")) is not None:
        # a copy of its own
        datasets.config.HF_HUB_OFFLINE = True
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
