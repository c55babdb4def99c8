"""Training from one file: ``grpo-rewards train CONFIG``. Reading a configuration needs no trainer; running it does."""

from grpo_rewards_adapters.training.arithmetic import Batches, count_batches
from grpo_rewards_adapters.training.intervals import bootstrap, wilson
from grpo_rewards_adapters.training.recipe import Recipe, read_recipe

__all__ = ["Batches", "Recipe", "bootstrap", "count_batches", "read_recipe", "wilson"]
