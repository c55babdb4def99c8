"""Queries graded by what they give: read-only, confined, within limits of time, rows and bytes."""

from .reward import sql

__all__ = ["sql"]
