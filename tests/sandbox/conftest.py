"""Every backend runs the same contract: the fixtures that open them, and say loudly where one cannot be had."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from grpo_rewards_sandbox import Sandbox, SandboxUnavailable, open_sandbox
from grpo_rewards_sandbox.program.languages import table

BACKENDS = ["local", pytest.param("docker", marks=pytest.mark.docker)]


def open_or_skip(backend: str, **options: object) -> Sandbox:
    """Open a sandbox, or skip and say why: never silently."""
    try:
        return open_sandbox(backend, **options)  # type: ignore[arg-type]
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF THE {backend.upper()} SANDBOX RAN: {error}")


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of each backend."""
    return str(request.param)


@pytest.fixture(scope="module")
def sandbox(backend: str) -> Iterator[Sandbox]:
    """A sandbox with two workers, for the tests of one module."""
    with open_or_skip(backend, workers=2) as opened:
        yield opened


@pytest.fixture(scope="session")
def needs() -> Callable[..., None]:
    """Skip, and say so, where this machine cannot run programs of these languages."""

    def skip_without(*languages: str) -> None:
        for language in languages:
            if lacking := table.missing(language):
                pytest.skip(f"NO TESTS OF {language.upper()} RAN: {lacking} (tests/sandbox/toolchains.sh installs all)")

    return skip_without


@pytest.fixture(scope="module")
def local() -> Iterator[Sandbox]:
    """A local sandbox with one worker, where programs may start others."""
    with open_or_skip("local", workers=1) as opened:
        if opened.plan["mode"] == "landlock":
            pytest.skip("NO TESTS OF LANGUAGES RAN: the mode landlock has no processes")
        yield opened
