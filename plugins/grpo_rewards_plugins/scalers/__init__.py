"""Built-in methods by which weights follow training; equations and sources in docs/composition.md.

Each maps what was observed of a component and the factor on its weight to the next factor. They are called once per
generation batch, after the warm-up; bounds are applied by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grpo_rewards.types import Observed

__all__ = ["SCALERS", "fixed", "signal", "target", "threshold"]


def fixed(observed: Observed, factor: float, memory: dict[str, float]) -> float:
    """Weights stay as configured."""
    return factor


def threshold(
    observed: Observed,
    factor: float,
    memory: dict[str, float],
    *,
    low: float = 0.3,
    high: float = 0.8,
    up: float = 1.2,
    down: float = 0.9,
) -> float:
    """Multiply by `up` while the smoothed success rate is below `low`, by `down` while it is above `high`.

    The defaults are those of the rule that GRPO guides pass around (success < 0.3: x 1.2; > 0.8: x 0.9).
    """
    if low > high:
        raise ValueError(
            f"low ({low:g}) is above high ({high:g}), so that rates between them are below one and above the other"
        )
    if observed.rate is None:
        return factor
    return factor * (up if observed.rate < low else down if observed.rate > high else 1.0)


def signal(
    observed: Observed, factor: float, memory: dict[str, float], *, power: float = 1.0, floor: float = 0.0
) -> float:
    """Follow the spread within groups, as a share of the largest it has been: a saturated component fades.

    f = max(floor, (s / s_max)^power). A component that has not spread yet (nobody gets it right) keeps its weight.
    """
    if observed.spread is None:
        return factor
    # kept in the run's state, so that a resumed run goes on from the same peak
    peak = memory["peak"] = max(memory.get("peak", 0.0), observed.spread)
    if peak <= 0.0:
        return factor
    return float(max(floor, (observed.spread / peak) ** power))


def target(
    observed: Observed,
    factor: float,
    memory: dict[str, float],
    *,
    target: float | dict[str, float] = 0.95,
    step: float = 0.05,
) -> float:
    """Hold a constraint such as "format at least 95 %": the factor is its dual variable, f += step (target - rate).

    `target` is a success rate within [0, 1], or one per component; components without one keep their weight.
    """
    wanted = target.get(observed.name) if isinstance(target, dict) else target
    if wanted is None or observed.rate is None:
        return factor
    # a dual variable is never negative: a constraint that holds fades, and does not pay for breaking it
    return max(0.0, factor + step * (wanted - observed.rate))


SCALERS: Mapping[str, Callable[..., float]] = {
    "fixed": fixed,
    "threshold": threshold,
    "signal": signal,
    "target": target,
}
