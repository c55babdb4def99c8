"""Verifiable instructions: the checks of IFEval, IFBench, IF-RLVR and RLVR-IFeval in one registry."""

from .reward import instructions

__all__ = ["instructions"]
