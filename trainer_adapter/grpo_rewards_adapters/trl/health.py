"""What goes wrong in training and can be seen in the figures: each thing said once, with the remedy.

Pure: it is fed observations of generation batches and the trainer's logs, and returns findings. Every rank feeds it
the same and so finds the same.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from grpo_rewards import Composite
from grpo_rewards.types import ComponentFigures, Observation
from grpo_rewards_adapters.trl.trainer import Callback, State, TrainerArguments

_log = logging.getLogger(__name__)

_SATISFIED = 0.9  # a component's rate from which on nearly everything succeeds

_FAILURES = (
    "could not grade {rate:.0%} of the latest rows (sandbox, service or plugin). They are left out of training; "
    "run 'grpo-rewards doctor' and look at the reasons in the completions table"
)
_TIMEOUTS = (
    "timed out on {rate:.0%} of the latest rows, which scores them lowest. Raise its timeout, give the sandbox more "
    "workers, or check whether the model learns to hang"
)
_EXTRACTION = (
    "found nothing to grade in {rate:.0%} of the latest completions: a format problem, not a wrong answer. "
    "Show the format in the prompt, add a format reward, or check the reasons"
)


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """From where on something is said.

    `window` and `long_window` are in generation batches. A share is taken over the window. `min_rise_t` is the t
    statistic of the reward's slope over the long window below which it counts as flat.
    """

    window: int = 20
    long_window: int = 100
    flat_groups: float = 0.95
    # the normal distribution's 80 % point: a reward without any trend is above it one time in five
    min_rise_t: float = 0.84
    kl: float = 1.0
    kl_factor: float = 5.0
    cut: float = 0.5
    dominance: float = 0.9
    failures: float = 0.05
    timeouts: float = 0.2
    rejected: float = 0.3


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One thing to act on: `kind` and `component` ("" for the whole) name it for good, `text` says it with the remedy."""

    kind: str
    component: str
    text: str

    @property
    def key(self) -> str:
        """The metric's name under which it is reported."""
        return f"grpo_rewards/health/{self.kind}" + (f"/{self.component}" if self.component else "")


@dataclass(slots=True)
class _ComponentWindow:
    """One component's figures over the window."""

    flat: deque[float]
    rates: deque[float]
    power: deque[float]
    failed: deque[float]
    timeout: deque[float]
    rejected: deque[float]
    at_bound: deque[float]

    @classmethod
    def of(cls, window: int) -> _ComponentWindow:
        return cls(*(deque(maxlen=window) for _ in range(7)))


@dataclass(slots=True)
class Health:
    """Watches a run. `at_bound` says whether adaptation has driven a component's weight to a bound."""

    limits: HealthLimits = field(default_factory=HealthLimits)
    at_bound: Callable[[str], bool] = lambda name: False
    _series: dict[str, _ComponentWindow] = field(default_factory=dict)
    _totals: deque[float] = field(init=False)
    _flat: deque[float] = field(init=False)
    _kl: deque[float] = field(default_factory=lambda: deque(maxlen=50))
    _cut: deque[float] = field(init=False)
    _reported: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._totals = deque(maxlen=self.limits.long_window)
        self._flat, self._cut = deque(maxlen=self.limits.window), deque(maxlen=self.limits.window)

    def see(self, seen: Observation) -> list[HealthFinding]:
        """Take in a generation batch that is trained on, and return what is new to say."""
        for name, figures in seen.components.items():
            self._take_in(name, figures)
        if seen.mean is not None:
            self._totals.append(seen.mean)
        if seen.flat_groups is not None:
            self._flat.append(seen.flat_groups)
        found = [*self._of_total()]
        for name in seen.components:
            found.extend(self._of_component(name, seen.components[name]))
        return self._once(found)

    def see_logs(self, logs: Mapping[str, object], *, beta: float = 0.0) -> list[HealthFinding]:
        """Take in what the trainer logged at a training step, and return what is new to say."""
        found: list[HealthFinding] = []
        kl, cut = logs.get("kl"), logs.get("completions/clipped_ratio")
        if beta > 0 and isinstance(kl, int | float) and math.isfinite(kl):
            # a median: the first high values of a policy that runs away hardly move it
            usual = sorted(self._kl)[len(self._kl) // 2] if len(self._kl) >= 5 else None
            if kl > self.limits.kl and usual is not None and kl > self.limits.kl_factor * max(usual, 1e-6):
                found.append(
                    HealthFinding(
                        "kl", "",
                        f"KL to the reference model is {kl:.3g}, {kl / max(usual, 1e-6):.0f} times its usual {usual:.3g}: "
                        f"the policy runs away. Lower the learning rate, raise beta, or look whether a reward is gamed",
                    )
                )  # fmt: skip
            self._kl.append(float(kl))
        if isinstance(cut, int | float) and math.isfinite(cut):
            self._cut.append(float(cut))
            if len(self._cut) >= min(10, self.limits.window) and (share := _mean(self._cut)) > self.limits.cut:
                found.append(
                    HealthFinding(
                        "cut", "",
                        f"{share:.0%} of the completions are cut at the length limit, so their answers are never seen. "
                        f"Raise max_completion_length, ask for shorter answers in the prompt, or add a length reward",
                    )
                )  # fmt: skip
        return self._once(found)

    # ------------------------------------------------------------------------------------------ inside

    def _take_in(self, name: str, figures: ComponentFigures) -> None:
        series = self._series.setdefault(name, _ComponentWindow.of(self.limits.window))
        if figures.flat_groups is not None:
            series.flat.append(figures.flat_groups)
        if figures.rate is not None:
            series.rates.append(figures.rate)
        series.power.append(abs(figures.weight) * (figures.group_std or 0.0))
        series.failed.append(figures.rates.get("unavailable", 0.0) + figures.rates.get("error", 0.0))
        series.timeout.append(figures.rates.get("timeout", 0.0))
        series.rejected.append(figures.rates.get("rejected", 0.0))
        series.at_bound.append(float(self.at_bound(name)))

    def _full(self, values: Sequence[float] | deque[float]) -> bool:
        return len(values) >= self.limits.window

    def _is_flat(self, series: _ComponentWindow) -> bool:
        return self._full(series.flat) and _mean(series.flat) >= self.limits.flat_groups

    def _held_back(self, *, apart_from: str) -> list[str]:
        """The other components that could still teach something: with spread in their groups, and not yet satisfied."""
        return [
            name
            for name, series in self._series.items()
            if name != apart_from
            and any(series.power)
            and not self._is_flat(series)
            and not (series.rates and _mean(series.rates) > _SATISFIED)
        ]

    def _of_component(self, name: str, figures: ComponentFigures) -> Iterator[HealthFinding]:
        series, limits = self._series[name], self.limits
        counts = figures.weight != 0.0
        if counts and self._is_flat(series):
            flat = _mean(series.flat)
            rate = _mean(series.rates) if series.rates else 0.0
            if rate > _SATISFIED:
                remedy = "nearly everything succeeds. Take harder prompts, lower its weight, or adapt: {method: signal}"
            elif rate < 0.1:
                remedy = "nearly nothing succeeds. Take easier prompts, fine-tune first, or give partial credit"
            else:
                remedy = "completions of one prompt score alike. Raise temperature or num_generations, or grade finer"
            yield HealthFinding(
                "no_spread", name,
                f"component {name!r} is the same for all completions in {flat:.0%} of the groups of the latest "
                f"{limits.window} batches, so it teaches nothing: {remedy}",
            )  # fmt: skip
        if self._full(series.power) and (held_back := self._held_back(apart_from=name)):
            mine = sum(series.power)
            others = sum(sum(other.power) for key, other in self._series.items() if key != name)
            if mine and mine / (mine + others) > limits.dominance:
                yield HealthFinding(
                    "dominance", name,
                    f"component {name!r} makes {mine / (mine + others):.0%} of the spread that the policy learns from; "
                    f"{', '.join(map(repr, held_back))} hardly counts. Lower the first's weight or range, "
                    f"or set combine: {{normalize: gdpo}}",
                )  # fmt: skip
        for kind, rates, most, what in (
            ("failures", series.failed, limits.failures, _FAILURES),
            ("timeouts", series.timeout, limits.timeouts, _TIMEOUTS),
            ("extraction", series.rejected, limits.rejected, _EXTRACTION),
        ):
            if self._full(rates) and (rate := _mean(rates)) > most:
                yield HealthFinding(kind, name, f"component {name!r} " + what.format(rate=rate))
        if self._full(series.at_bound) and all(series.at_bound):
            yield HealthFinding(
                "weight_at_bound", name,
                f"the weight of component {name!r} has been at its bound, {figures.weight:g}, for {limits.window} batches: "
                f"adaptation cannot do more. Change the data or the reward, or widen adapt.bounds",
            )  # fmt: skip

    def _of_total(self) -> Iterator[HealthFinding]:
        if len(self._totals) < self.limits.long_window:
            return
        if self._full(self._flat) and _mean(self._flat) >= self.limits.flat_groups:
            return  # no spread left: said per component
        slope, t = rise(list(self._totals))
        if t < self.limits.min_rise_t:
            change = slope * (len(self._totals) - 1)
            yield HealthFinding(
                "flat_reward", "",
                f"the reward has not risen over the latest {len(self._totals)} generation batches (trend {change:+.3g} "
                f"over them, t = {t:.2g}). Check the learning rate, whether groups have spread, and that prompts are "
                f"neither solved nor hopeless",
            )  # fmt: skip

    def _once(self, found: Sequence[HealthFinding]) -> list[HealthFinding]:
        new = [finding for finding in found if (finding.kind, finding.component) not in self._reported]
        self._reported.update((finding.kind, finding.component) for finding in new)
        return new


def rise(values: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares slope per value and its t statistic; t is 0 for a constant, inf for a clean line.

    The residuals' lag-1 correlation r, where positive, lowers the number of values that count to n (1 - r) / (1 + r)
    (Bayley and Hammersley 1946), since neighbouring batches are alike.
    """
    n = len(values)
    if n < 3 or max(values) - min(values) <= 1e-12:
        return 0.0, 0.0
    middle, mean = (n - 1) / 2, math.fsum(values) / n
    square = math.fsum((x - middle) ** 2 for x in range(n))
    slope = math.fsum((x - middle) * (value - mean) for x, value in enumerate(values)) / square
    rest = [value - mean - slope * (x - middle) for x, value in enumerate(values)]
    variance = math.fsum(r * r for r in rest)
    # a straight line but for rounding
    if variance <= 1e-24:
        return slope, math.copysign(math.inf, slope)
    lagged = max(0.0, math.fsum(a * b for a, b in pairwise(rest)) / variance)
    # slope and intercept take two of the values, and one must be left to divide by
    effective = max(3.0, n * (1 - lagged) / (1 + lagged))
    error = math.sqrt(variance / (effective - 2) / square)
    return slope, slope / error


def _mean(values: Sequence[float] | deque[float]) -> float:
    return math.fsum(values) / len(values)


class HealthCallback(Callback):
    """Watches a composite's figures and the trainer's logs, and says each thing that goes wrong once.

    A finding goes to the log (on the main process) and, as the metric ``grpo_rewards/health/<kind>[/<component>]`` = 1
    in the next generation batch, to whatever the trainer reports to. `findings` holds all so far. `accept_changes` lets
    a checkpoint be resumed that was trained with another configuration or plugin version.
    """

    def __init__(
        self, composite: Composite, *, limits: HealthLimits | None = None, accept_changes: bool = False
    ) -> None:
        self.composite = composite
        self.accept_changes = accept_changes
        self.findings: list[HealthFinding] = []
        self._health = Health(limits or HealthLimits(), at_bound=lambda name: composite.session.at_bound(name))
        self._notices: list[str] = []

    def see(self, seen: Observation, *, main: bool) -> None:
        """Take in a generation batch that is trained on; `main` says that this process is the one that warns."""
        self._report(self._health.see(seen), main=main)

    def notices(self) -> list[str]:
        """Return the metrics of what was found since the last time."""
        found, self._notices = self._notices, []
        return found

    def on_log(
        self,
        args: TrainerArguments,
        state: State,
        control: object,
        logs: dict[str, object] | None = None,
        **_: object,
    ) -> None:
        """Take in what the trainer logged at a training step."""
        # neither an evaluation nor the summary at the end, which are logged through the same event
        if logs and "loss" in logs:
            beta = float(getattr(args, "beta", 0.0) or 0.0)
            self._report(self._health.see_logs(logs, beta=beta), main=state.is_world_process_zero)

    def _report(self, findings: Sequence[HealthFinding], *, main: bool) -> None:
        self.findings.extend(findings)
        for finding in findings:
            self._notices.append(finding.key)
            if main:
                _log.warning("%s", finding.text)
