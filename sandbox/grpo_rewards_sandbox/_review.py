"""What tests say of themselves before anything runs."""

from __future__ import annotations

from ._job import Job
from .program.formats import review, visible
from .program.formats.classes import entry_name


def unjudgeable(job: Job) -> str:
    """Say why a job's tests cannot be judged under isolation, whatever its candidate is; empty where nothing speaks against it.

    Only the text of the tests and the setup is looked at. What only the sandbox's own machine can tell (a package that is
    not installed, a version that a test skips on) a verdict says, with the status ``refused``.
    """
    if job.fidelity == "shared" or job.format in ("stdio", "calls", "program", "values"):
        return ""
    if job.format == "pytest":
        assert isinstance(job.tests, str)
        return review.unjudgeable(job.tests, job.module, visible.of_candidate(job.tests, job.module))
    tests = job.tests if isinstance(job.tests, str) else "\n".join([job.setup, *job.tests])
    asked = visible.unbound(tests, entry_name(job.entry_point))
    return review.unjudgeable(tests, job.module, asked) or visible.imports_candidate(tests, job.module)
