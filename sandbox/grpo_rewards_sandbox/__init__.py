"""Runs untrusted code and returns verdicts that the code cannot forge. Knows nothing of rewards."""

from ._backend import Backend, Worker
from ._calls import pack_calls
from ._errors import SandboxError, SandboxUnavailable
from ._guarantees import build_image, describe_mode, guarantees, prune_images
from ._job import LANGUAGES, Checker, Job, Limits, Verdict
from ._registry import backend_names, check_options, register_backend, register_backends
from ._review import unjudgeable
from ._sandbox import Sandbox, open_sandbox
from .program.comparison import DISTANCE

__all__ = [
    "DISTANCE",
    "LANGUAGES",
    "Backend",
    "Checker",
    "Job",
    "Limits",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "Verdict",
    "Worker",
    "backend_names",
    "build_image",
    "check_options",
    "describe_mode",
    "guarantees",
    "open_sandbox",
    "pack_calls",
    "prune_images",
    "register_backend",
    "register_backends",
    "unjudgeable",
]
