"""The door for weight-adaptation methods: what a scaler is given, and how one is found by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grpo_rewards._contract.signature import SettingParameter, validate_settings
from grpo_rewards.errors import ConfigError, SettingsError, nearest
from grpo_rewards.hooks import registered

FIXED = "fixed"
"""The method that changes nothing."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a scaler learns about one component after a generation batch.

    `rate` is the success rate within [0, 1] (mean value on the scale of the declared range, before the gate) and
    `spread` the mean within-group standard deviation of what the trainer gets; both smoothed over the batches so far
    (`ema`), None until seen. `batch_rate` and `batch_spread` are this batch's. `weight` is the configured weight at
    this step and `batches` the number of generation batches seen, this one included.
    """

    name: str
    rate: float | None
    spread: float | None
    batch_rate: float | None
    batch_spread: float | None
    weight: float
    batches: int


Scaler = Callable[..., float]
"""``scaler(observed, factor, memory, **settings) -> factor``: from the factor on a component's weight to the next one.

`memory` is a dict of floats that is the component's own, is saved in checkpoints and may be written to. A scaler is
called on every rank with the same arguments and must be deterministic; it holds no state of its own. Settings that do
not go together it answers with a ValueError, on every call: it is called once when the configuration is read.
"""

_SAMPLE = Observed(name="", rate=0.5, spread=0.1, batch_rate=0.5, batch_spread=0.1, weight=1.0, batches=1)


def find_scaler(method: str, settings: Mapping[str, object], *, source: str = "") -> Callable[..., float]:
    """Return the adaptation method with its settings bound.

    Raises:
        ConfigError: there is no such method, or a setting does not fit, alone or with the others.
    """
    known: dict[str, Scaler] = registered("register_scalers")
    if method not in known:
        raise ConfigError(
            f"there is no adaptation method {method!r}{nearest(method, known)} "
            f"(installed: {', '.join(sorted(known)) or 'none'})",
            path="adapt.method",
            source=source,
        )
    scaler = known[method]
    try:
        signature = inspect.signature(scaler)
        hints = typing.get_type_hints(scaler)
    except NameError:  # a name that is imported for type checkers only
        hints = {}
    except (TypeError, ValueError) as error:
        raise _unfit(method, str(error), source) from None
    parameters = [SettingParameter.of(p, hints) for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    try:
        bound = validate_settings(method, parameters, settings)
    except SettingsError as error:
        text = str(error).replace(f"reward {method!r}", f"method {method!r}")
        raise ConfigError(text, path="adapt", source=source) from None
    try:
        signature.bind(None, 1.0, {}, **bound)
    except TypeError as error:
        raise _unfit(method, f"it takes {signature}: {error}", source) from None
    try:
        scaler(_SAMPLE, 1.0, {}, **bound)
    except ValueError as error:
        raise ConfigError(f"method {method!r}: {error}", path="adapt", source=source) from None
    except Exception:  # noqa: BLE001 - the sample is no component of theirs; a real batch has the say
        pass
    return lambda observed, factor, memory: scaler(observed, factor, memory, **bound)


def _unfit(method: str, why: str, source: str) -> ConfigError:
    return ConfigError(
        f"the adaptation method {method!r} cannot be called as scaler(observed, factor, memory, **settings): {why}",
        path="adapt.method",
        source=source,
    )
