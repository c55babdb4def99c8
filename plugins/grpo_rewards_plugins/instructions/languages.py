"""The language of a text, as langdetect has it with the seed 0.

langdetect draws at random without a seed, and loads its tables on first use without a lock, so that threads see half of them
(Mimino666/langdetect issues 3 and 65): here a factory of our own is loaded under a lock, with a seed.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol

from grpo_rewards.forks import PerProcess

_lock = PerProcess(threading.Lock)
_LONGEST = 100_000  # characters; langdetect itself looks at 10,000, once web addresses are taken out
_SAMPLES = (
    "The quick brown fox jumps over the lazy dog.", "Hello world", "Der Hund schläft unter dem Tisch.", "Ni hao",
    "La petite maison est dans la prairie", "WHAT A DAY", "今日は良い天気ですね", "ok ok ok",
)  # fmt: skip


class _Detector(Protocol):
    def append(self, text: str) -> None: ...
    def detect(self) -> str: ...


class _Engine(NamedTuple):
    detector: Callable[[], _Detector]
    unknown: type[Exception]


_ENGINE: list[_Engine] = []


@lru_cache(maxsize=8192)
def detect(text: str) -> str | None:
    """Return the code of a text's language, or None where nothing in it tells one (digits, marks)."""
    return _detect(_engine(), text)


def _detect(engine: _Engine, text: str) -> str | None:
    detector = engine.detector()
    try:
        detector.append(text[:_LONGEST])
        return str(detector.detect())
    except engine.unknown:
        return None


def _engine() -> _Engine:
    """langdetect-rs where it is installed and agrees with langdetect on a few texts: it is 35 times faster; else langdetect."""
    if not _ENGINE:
        with _lock():
            if not _ENGINE:
                engines = [engine for name in ("langdetect", "langdetect_rs") if (engine := _load(name)) is not None]
                same = len({tuple(_detect(engine, text) for text in _SAMPLES) for engine in engines}) == 1
                _ENGINE.append(engines[-1 if same else 0])
    return _ENGINE[0]


def _load(name: str) -> _Engine | None:
    try:
        package = importlib.import_module(name)
    except ImportError:
        return None
    factory = package.DetectorFactory()
    factory.seed = 0
    factory.load_profile(importlib.import_module(f"{name}.detector_factory").PROFILES_DIRECTORY)
    return _Engine(factory.create, package.LangDetectException)
