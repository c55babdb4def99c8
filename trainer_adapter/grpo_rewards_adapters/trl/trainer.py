"""What is read of a trainer of TRL: of the one behind a reward call, or of one that is being set up.

Subclasses, other trainers and older versions lack some of it, so each is read with a default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from grpo_rewards import Composite
from grpo_rewards.types import Part


class CallbackHandler(Protocol):
    """Who calls a trainer's callbacks."""

    @property
    def callbacks(self) -> list[Any]:
        """The callbacks in their order; more may be put in."""


class TrainerArguments(Protocol):
    """The arguments of a run; ``generation_batch_size``, ``beta`` and ``remove_unused_columns`` where they are known."""

    @property
    def output_dir(self) -> str | None:
        """The folder that everything is written to."""


class State(Protocol):
    """How far a run is; what lies in `stateful_callbacks` is saved with every checkpoint."""

    global_step: int
    stateful_callbacks: dict[str, object]
    is_world_process_zero: bool


class Trainer(Protocol):
    """A `GRPOTrainer` or `RLOOTrainer`.

    Read where they are there: ``model.training``, ``log_completions``, ``reward_funcs``, ``reward_func_names``,
    ``reward_weights``, ``scale_rewards``, ``multi_objective_aggregation``, ``train_dataset``, ``eval_dataset``,
    ``rollout_func``, ``environments``, ``num_generations`` and ``num_generations_eval``.
    """

    @property
    def args(self) -> TrainerArguments:
        """The arguments of the run."""

    @property
    def callback_handler(self) -> CallbackHandler:
        """Who calls its callbacks."""

    def add_callback(self, callback: Any) -> None:
        """Add a callback."""

    def remove_callback(self, callback: Any) -> None:
        """Remove a callback."""


class Callback:
    """A trainer's callback without its base class, so that this room imports no transformers: other events do nothing."""

    def __getattr__(self, event: str) -> Callable[..., None]:
        # copy and pickle ask an object for __deepcopy__, __setstate__ and more, which are no events
        if not event.startswith("on_"):
            raise AttributeError(event)
        return partial(self.other_event, event)

    def other_event(self, event: str, args: TrainerArguments, state: State, control: object, **_: object) -> None:
        """Take in an event that has no method of its own."""


def calling_trainer(call: Mapping[str, object]) -> Trainer | None:
    """Return the trainer that makes a reward call, or None: TRL's ``log_metric`` is a method of it."""
    trainer: Trainer | None = getattr(call.get("log_metric"), "__self__", None)
    return trainer


def is_training(trainer: Trainer | None) -> bool:
    """Whether the trainer trains on the rows that it has scored now; one that cannot be seen is taken to."""
    return bool(getattr(getattr(trainer, "model", None), "training", True))


def group_size(call: Mapping[str, object]) -> int | None:
    """Return how many rows in a row the trainer that makes a reward call takes for one group, or None."""
    trainer = calling_trainer(call)
    size = getattr(trainer, "num_generations" if is_training(trainer) else "num_generations_eval", None)
    return size if isinstance(size, int) and size > 0 else None


def owner_of(function: Callable[..., object]) -> Composite | None:
    """Return the composite that a reward function is, or is a component of."""
    owner = function.composite if isinstance(function, Part) else function
    return owner if isinstance(owner, Composite) else None
