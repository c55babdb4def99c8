"""Counters of the service, in Prometheus's text format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


@dataclass(slots=True)
class Metrics:
    """What has happened since the start."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    rows: int = 0
    seconds: float = 0.0
    answered: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * len(_BUCKETS))

    def scored(self, rows: int, seconds: float) -> None:
        """Count a request that was scored, from the last byte of its body to the first of its answer."""
        self.rows += rows
        self.seconds += seconds
        self.answered += 1
        for index, bound in enumerate(_BUCKETS):
            self.buckets[index] += seconds <= bound

    @property
    def mean_seconds(self) -> float:
        """The mean time of a request, waiting included."""
        return self.seconds / self.answered if self.answered else 0.1

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """Return everything, with gauges given as name: (help, value)."""
        lines = ["# HELP grpo_rewards_requests_total Requests by path and status.",
                 "# TYPE grpo_rewards_requests_total counter"]  # fmt: skip
        lines += [
            f'grpo_rewards_requests_total{{path="{path}",status="{status}"}} {count}'
            for (path, status), count in sorted(self.requests.items())
        ]
        lines += ["# HELP grpo_rewards_rows_total Completions scored.", "# TYPE grpo_rewards_rows_total counter",
                  f"grpo_rewards_rows_total {self.rows}",
                  "# HELP grpo_rewards_request_seconds Time of a scored request, waiting included.",
                  "# TYPE grpo_rewards_request_seconds histogram"]  # fmt: skip
        counts = zip(_BUCKETS, self.buckets, strict=True)
        lines += [f'grpo_rewards_request_seconds_bucket{{le="{bound:g}"}} {count}' for bound, count in counts]
        lines += [f'grpo_rewards_request_seconds_bucket{{le="+Inf"}} {self.answered}',
                  f"grpo_rewards_request_seconds_sum {self.seconds:.6f}",
                  f"grpo_rewards_request_seconds_count {self.answered}"]  # fmt: skip
        for name, (what, value) in gauges.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {what}", f"# TYPE {name} {kind}", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"
