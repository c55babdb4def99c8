"""The failure policy of training, the same on every rank."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence

from grpo_rewards._composition.config import ErrorsConfig
from grpo_rewards._composition.observation import Share
from grpo_rewards._contract import Reward, plugin_error
from grpo_rewards.errors import InfrastructureError

__all__ = ["FailureWatch"]

_log = logging.getLogger(__name__)

_WINDOW = 256  # rows over which the share of infrastructure failures is taken
_LATE_BATCHES = 3  # batches in a row that may lose too many rows to batch_timeout


class FailureWatch:
    """Decides after each batch whether the run may go on."""

    def __init__(self, errors: ErrorsConfig) -> None:
        self._errors = errors
        self._recent: deque[tuple[int, int]] = deque()
        self._late_batches = 0
        self._lock = threading.Lock()

    def check(self, shares: Sequence[Share], rewards: Mapping[str, Reward], rank: int) -> None:
        """Look at all ranks' parts of a batch; what one rank raises, all raise.

        Raises:
            PluginError: a plugin broke its contract, and ``errors.plugin`` is ``raise``.
            InfrastructureError: too many rows could not be scored.
        """
        for index, share in enumerate(shares):
            if share.error is not None and self._errors.plugin == "raise":
                component, row, outcome = share.error
                error = plugin_error(outcome, row, component=component, reward=rewards[component])
                if len(shares) > 1:
                    error.add_note(f"\nThe row is one of rank {index}; this is rank {rank}.")
                raise error
        rows = sum(len(share.totals) for share in shares)
        down, late = sum(share.down for share in shares), sum(share.late for share in shares)
        reason = next((share.down_reason for share in shares if share.down_reason), "")
        if (down or late) and rank == 0:
            _log.warning("%d of %d rows left out: %s", down + late, rows, reason)
        with self._lock:
            self._count(rows, down, late, reason)

    def _count(self, rows: int, down: int, late: int, reason: str) -> None:
        self._count_late(late, rows)
        self._recent.append((rows, down))
        while len(self._recent) > 1 and sum(seen for seen, _ in self._recent) - self._recent[0][0] >= _WINDOW:
            self._recent.popleft()
        seen, lost = (sum(pair[k] for pair in self._recent) for k in (0, 1))
        rate = lost / seen if seen else 0.0
        if down and (self._errors.infra == "raise" or (lost >= 2 and rate > self._errors.max_infra_rate)):
            raise InfrastructureError(
                f"{lost} of the latest {seen} rows ({rate:.0%}) could not be scored, above errors.max_infra_rate = "
                f"{self._errors.max_infra_rate:g}; the latest: {reason}. Bring the sandbox or service back "
                f"('grpo-rewards doctor' looks at it) and resume from the last checkpoint",
                rate=rate,
            )

    def _count_late(self, late: int, rows: int) -> None:
        """Rows that ran out of time are often the completions' doing, so a batch of them is borne, but not many."""
        rate = late / rows if rows else 0.0
        self._late_batches = self._late_batches + 1 if late >= 2 and rate > self._errors.max_infra_rate else 0
        if self._late_batches >= _LATE_BATCHES:
            raise InfrastructureError(
                f"{self._late_batches} batches in a row lost more than errors.max_infra_rate = "
                f"{self._errors.max_infra_rate:g} of their rows to errors.batch_timeout; the last lost {late} of {rows}. "
                f"Find the component that hangs in the log above, or allow it more time",
                rate=rate,
            )
