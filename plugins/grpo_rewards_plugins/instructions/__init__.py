"""Verifiable instructions: the checks of IFEval, IFBench and IF-RLVR in one registry."""

from .reward import instructions

__all__ = ["instructions"]
