"""Errors: `SandboxError`, and under it `SandboxUnavailable` (this machine or engine cannot run what was asked for)."""

from __future__ import annotations


class SandboxError(Exception):
    """Something about the sandbox is wrong; the message says what to do."""


class SandboxUnavailable(SandboxError):
    """No backend can isolate code as asked for."""
