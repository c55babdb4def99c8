"""Hypothesis without a clock: the machine may be busy."""

from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")
