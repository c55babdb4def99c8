"""A run of TRL as a composite's session: its step, groups and ranks; state, logs, health and completions files."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from grpo_rewards import Composite
from grpo_rewards.types import Batch, Caller, RewardCall, ScoredCall, Session
from grpo_rewards_adapters.ranks import world
from grpo_rewards_adapters.trl.completions import CompletionsFiles, logged_columns
from grpo_rewards_adapters.trl.fitting import check_alone, check_first_call, check_normalisation
from grpo_rewards_adapters.trl.health import HealthCallback
from grpo_rewards_adapters.trl.trainer import State, calling_trainer, group_size, is_training

_log = logging.getLogger(__name__)

STATE_KEY = "grpo_rewards"
"""Where the state lies in a trainer's ``state.stateful_callbacks``, and so in ``trainer_state.json``."""

_ROWS = 4096  # kept for a completions file where the trainer does not say how many it holds
_TAKEN = {"prompt", "completion", "step", "advantage", "composite"}


class TrlSession(Session):
    """The calls of one run, known by the trainer's state object; without a state figures are logged and nothing adapts.

    Raises:
        ConfigError: the trainer has another composite beside this one.
        ResumeError: the checkpoint was trained with another configuration or plugin version.
    """

    def __init__(self, composite: Composite, call: RewardCall) -> None:
        super().__init__(composite)
        self._state: State | None = call.get("trainer_state")
        self._trainer = calling_trainer(call)
        self._files: CompletionsFiles | None = None
        self._logs = call.get("log_metric") is not None
        if self._state is not None and self._trainer is not None:
            check_alone(composite, self._trainer)  # before a checkpoint is read, which is of one composite
        stateful = getattr(self._state, "stateful_callbacks", None)
        if isinstance(stateful, Mapping) and (saved := stateful.get(STATE_KEY)) is not None:
            self.restore(saved, accept_changes=any(watch.accept_changes for watch in self._watches()))

    def serves(self, call: RewardCall) -> bool:
        """Whether the call has the same trainer's state; calls without one belong to no run."""
        return self._state is not None and call.get("trainer_state") is self._state

    def begin(self, *, expanded: bool) -> None:
        """Look once whether trainer and composite fit, and have the trainer's completions files completed.

        Raises:
            ConfigError: they do not.
        """
        if self._state is None:
            return  # a call that belongs to no run has nothing that could fail to fit
        check_first_call(self._state, self._trainer, logs=self._logs)
        if self._trainer is not None:
            # here, for a trainer that was never attached: the first call is the first to say which form it has
            check_normalisation(self.composite, self._trainer, expanded=expanded)
        if world().rank == 0:  # who writes the files; another rank keeps no rows to add
            self._complete_files()
            self._warn_of_lone_weight()

    def read(self, call: RewardCall) -> tuple[Batch, Caller]:
        """Return the rows and, where the trainer's state is known, its step, mode, group size and ranks."""
        batch = Batch.from_call(**call).in_groups_of(group_size(call))
        if self._state is None:
            return batch, Caller()
        step = int(getattr(self._state, "global_step", 0) or 0)
        return batch, Caller(step, is_training(self._trainer), batch.group_size, world())

    def scored(self, found: ScoredCall) -> None:
        """Save the state, set the trainer's weights in the expanded form, and log."""
        stateful = getattr(self._state, "stateful_callbacks", None)
        # at every call, since `on_save` comes when the checkpoint has been written
        if found.caller.training and isinstance(stateful, dict):
            stateful[STATE_KEY] = self.state()
        if found.expanded:
            self._apply_weights(found.table.weights)
        log = found.batch.log_metric
        for name, value in found.figures().items():
            log(name, value)
        for watch in self._watches():
            if found.caller.training:
                watch.see(found.seen, main=found.caller.world.rank == 0)
            for name in watch.notices():
                log(name, 1.0)
        if self._state is not None and getattr(self._trainer, "log_completions", True):
            if not found.expanded:  # TRL logs the components in a list itself
                self._log_values(found)
            self._keep_rows(found)

    # -------------------------------------------------------------------------------------------- inside

    def _callbacks(self) -> list[object]:
        callbacks = getattr(getattr(self._trainer, "callback_handler", None), "callbacks", None)
        return callbacks if isinstance(callbacks, list) else []

    def _watches(self) -> list[HealthCallback]:
        return [c for c in self._callbacks() if isinstance(c, HealthCallback) and c.composite is self.composite]

    def _apply_weights(self, weights: Mapping[str, float]) -> None:
        """Set the trainer's own weights, in place: it multiplies by them after this call."""
        names, applied = (getattr(self._trainer, name, None) for name in ("reward_func_names", "reward_weights"))
        if names is None or applied is None:
            return
        for index, name in enumerate(names):
            if name in weights:
                applied[index] = weights[name]

    def _log_values(self, found: ScoredCall) -> None:
        """Fill the trainer's completions table with each component's value."""
        for name in found.table.components:
            if name not in _TAKEN:
                found.batch.log_extra(name, [*found.table.values(name)])

    def _keep_rows(self, found: ScoredCall) -> None:
        """Hand the rows of all ranks to what completes the trainer's files."""
        components = self.composite.components
        mine = logged_columns(components, found)
        # before the return: every rank has to come here, or the others wait for it
        parts = found.caller.world.gather((found.batch.texts, mine))
        if self._files is None:
            return
        texts = [text for part, _ in parts for text in part]
        columns = {name: [value for _, part in parts for value in part[name]] for name in mine}
        if any(component.reward.style == "group" for component in components):
            number = {row: index for index, rows in enumerate(found.seen.groups) for row in rows}
            columns.setdefault("group_id", [number[row] for row in range(len(texts))])
        self._files.keep(texts, columns)

    def _complete_files(self) -> None:
        """Have the trainer's completions files completed after it has written them."""
        arguments, callbacks = getattr(self._trainer, "args", None), self._callbacks()
        if not getattr(self._trainer, "log_completions", True) or arguments is None or not callbacks:
            return
        rows = int(getattr(arguments, "generation_batch_size", None) or _ROWS)
        self._files = CompletionsFiles(Path(arguments.output_dir) / "completions", rows=rows)
        # in place, for it is the handler's own list; without the one that an earlier run of this trainer left
        callbacks[:] = [*(known for known in callbacks if not isinstance(known, CompletionsFiles)), self._files]

    def _warn_of_lone_weight(self) -> None:
        """With one component, dividing by the group's deviation cancels its weight."""
        composite = self.composite
        counting = [component for component in composite.components if component.name in composite.counting]
        if len(counting) != 1 or composite.config.combine.clip is not None:
            return
        (component,) = counting
        config = composite.config
        moves = config.adapt is not None or bool(config.stages) or component.schedule != 1.0
        scale = getattr(self._trainer, "scale_rewards", None)
        if moves and scale in ("group", "batch", True):
            _log.warning(
                "component %r is the only one that counts, and the trainer divides rewards by their deviation "
                "(scale_rewards=%r), so its weight changes nothing; only the ratio of several weights does. "
                "Add a component, or set scale_rewards='none'",
                component.name,
                scale,
            )
