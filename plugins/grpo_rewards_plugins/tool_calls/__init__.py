"""Function calls, compared by the rules of BFCL, ToolRL and xLAM."""

from .reward import tool_calls

__all__ = ["tool_calls"]
