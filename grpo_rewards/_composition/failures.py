"""The failure policy of training, the same on every rank."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence

from grpo_rewards._composition.config import ErrorsConfig
from grpo_rewards._composition.observation import CAUSES, Cause, Share
from grpo_rewards._contract import LARGEST, Reward, plugin_error
from grpo_rewards.errors import ConfigError, InfrastructureError

_log = logging.getLogger(__name__)

_WINDOW = 256  # rows over which the share of rows left out is taken
_LATE_BATCHES = 3  # batches that lose too many rows to batch_timeout alone: the last one stops the run

_WORDS: Mapping[Cause, tuple[str, str]] = {
    "error": (
        "on which a plugin broke",
        "Mend the plugin: errors.plugin: raise names the row and what it raised",
    ),
    "unavailable": (
        "whose sandbox or service was down",
        "Bring the sandbox or service back: 'grpo-rewards doctor' looks at it",
    ),
    "unfinished": (
        "unfinished within errors.batch_timeout",
        "Find the component that hangs in the log above, or allow it more time",
    ),
}


class FailureWatch:
    """Decides after each batch whether the run may go on."""

    def __init__(self, errors: ErrorsConfig) -> None:
        self._errors = errors
        self._recent: deque[tuple[int, Counter[Cause]]] = deque()
        self._late_batches = 0
        self._lock = threading.Lock()

    def check(self, shares: Sequence[Share], rewards: Mapping[str, Reward], rank: int) -> None:
        """Look at all ranks' parts of a batch; what one rank raises, all raise.

        Raises:
            PluginError: a plugin broke its contract, and ``errors.plugin`` is ``raise``.
            ConfigError: a reward found its configuration wrong when it was called, as a service that refuses its token; or
                a weighted sum is larger than a trainer can compute with.
            InfrastructureError: too many rows could not be scored, for whatever cause.
        """
        for index, share in enumerate(shares):
            # a wrong configuration stops the run in any case, for it would lose every row that comes
            if (broken := share.broken) is not None and (
                self._errors.plugin == "raise" or broken.outcome.details.get("configuration")
            ):
                name = broken.component
                error = plugin_error(
                    broken.outcome, broken.row, component=name, reward=rewards[name], completion=broken.completion
                )
                if len(shares) > 1:
                    error.add_note(f"\nThe row is one of rank {index}; this is rank {rank}.")
                raise error
        for index, share in enumerate(shares):
            _check_size(share.totals, f" of rank {index}" if len(shares) > 1 else "")
        rows = sum(len(share.totals) for share in shares)
        lost: Counter[Cause] = Counter()
        for share in shares:
            lost.update(share.lost)
        reason = next((share.lost_reason for share in shares if share.lost_reason), "")
        if lost and rank == 0:  # said once, not by each rank
            _log.warning("%d of %d rows left out: %s", lost.total(), rows, reason)
        with self._lock:
            self._count(rows, lost, reason)

    def _count(self, rows: int, lost: Counter[Cause], reason: str) -> None:
        self._recent.append((rows, lost))
        # whole batches leave, so that at least _WINDOW rows stay where that many were seen
        while len(self._recent) > 1 and sum(seen for seen, _ in self._recent) - self._recent[0][0] >= _WINDOW:
            self._recent.popleft()
        seen = sum(rows for rows, _ in self._recent)
        causes = sum((counted for _, counted in self._recent), Counter[Cause]())
        rate = causes.total() / seen if seen else 0.0
        # one lost row of a batch of four is above 0.2 already, and no outage
        above = causes.total() >= 2 and rate > self._errors.max_infra_rate
        # Rows that ran out of time are often the completions' doing, so some batches of them are borne.
        only_late = set(lost) == {"unfinished"}
        self._late_batches = self._late_batches + only_late if above else 0
        at_once = self._errors.infra == "raise" and lost["unavailable"] > 0
        if not at_once and (not lost or not above or (only_late and self._late_batches < _LATE_BATCHES)):
            return
        found = [cause for cause in CAUSES if causes[cause]]
        limit = "errors.infra is raise" if at_once else f"above errors.max_infra_rate = {self._errors.max_infra_rate:g}"
        raise InfrastructureError(
            f"{causes.total()} of the latest {seen} rows ({rate:.0%}) could not be scored, {limit}: "
            f"{', '.join(f'{causes[cause]} {_WORDS[cause][0]}' for cause in found)}; the latest: {reason}. "
            f"{'. '.join(_WORDS[cause][1] for cause in found)}; then resume from the last checkpoint",
            rate=rate,
        )


def _check_size(totals: Sequence[float | None], where: str) -> None:
    for row, total in enumerate(totals):
        if total is not None and not -LARGEST <= total <= LARGEST:
            raise ConfigError(
                f"the reward of row {row}{where} is {total:g}, and a trainer computes in float32, where it may be {LARGEST:g} "
                f"at most; lower the weights, or clip a component"
            )
