"""Runs untrusted code and returns verdicts that the code cannot forge. Knows nothing of rewards."""

from ._errors import SandboxError, SandboxUnavailable
from ._guarantees import build_image, describe_mode, guarantees, prune_images
from ._job import Job, Limits, Verdict
from ._review import unjudgeable
from ._sandbox import Sandbox, open_sandbox

__all__ = [
    "Job",
    "Limits",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "Verdict",
    "build_image",
    "describe_mode",
    "guarantees",
    "open_sandbox",
    "prune_images",
    "unjudgeable",
]
