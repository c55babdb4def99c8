"""What the doctor looks at."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grpo_rewards._registry import hookspecs, registry
from grpo_rewards._version import __version__
from grpo_rewards.errors import how_to_install
from grpo_rewards.slots import cores

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite
    from grpo_rewards._contract import Outcome

_TRAINING = ("torch", "transformers", "datasets", "peft")
_COMMAND_TIMEOUT = 10.0


Level = Literal["ok", "note", "problem", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    `level`: ``ok``; ``note``: something optional is missing or untried; ``problem``: to be mended (exit 1); ``broken``: the
    environment cannot do what is asked of it (exit 3). `action` says what to do, and is empty where nothing is.
    """

    topic: str
    level: Level
    text: str
    action: str = ""


def examine() -> Iterator[Finding]:
    """Look at the environment, the plugins, the sandbox, Docker, the GPU and TRL."""
    yield _python()
    yield from _dependencies()
    yield from _plugins()
    yield from _sandbox()
    yield _gpu()
    yield _training()
    yield Finding("TRL", *importlib.import_module("grpo_rewards_adapters.probe").examine())


def _python() -> Finding:
    text = f"Python {platform.python_version()}, grpo-rewards {__version__}, {platform.system()} {platform.release()}, {cores()} cores"
    if sys.platform != "linux":
        return Finding("environment", "note", text, "the sandbox needs Linux; use Docker for the reward code")
    return Finding("environment", "ok", text)


def _dependencies() -> Iterator[Finding]:
    """The distribution's own requirements, as installed."""
    from packaging.requirements import Requirement

    wrong, mend = [], []
    try:
        wanted = [Requirement(text) for text in requires("grpo-rewards") or ()]
    except PackageNotFoundError:
        yield Finding(
            "dependencies", "problem", "grpo-rewards itself is not installed", "pip install -e . in the checkout"
        )
        return
    for requirement in wanted:
        # one of an extra, or of another system
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            there = version(requirement.name)
            if requirement.specifier.contains(there, prereleases=True):  # who installed a pre-release meant it
                continue
            wrong.append(f"{requirement.name} is {there}, wanted is {requirement.specifier}")
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
        mend.append(f"'{requirement.name}{requirement.specifier}'")
    if wrong:
        yield Finding("dependencies", "problem", "; ".join(wrong), f"pip install {' '.join(mend)}")
    else:
        yield Finding("dependencies", "ok", "all there, in the versions asked for")


def _plugins() -> Iterator[Finding]:
    found = registry()
    for plugin in found.plugins:
        what = f"plugin {plugin.label} {plugin.version}"
        if plugin.problems:
            yield Finding("plugins", "problem", f"{what}: {'; '.join(plugin.problems)}",
                          f"update or remove it: pip install -U {plugin.distribution}, pip uninstall {plugin.distribution}")  # fmt: skip
        else:
            hooks = [
                name for name in vars(hookspecs) if hasattr(getattr(plugin.module, name, None), "grpo_rewards_impl")
            ]
            names = ", ".join([*(reward.name for reward in plugin.rewards), *hooks]) or "nothing"
            yield Finding("plugins", "ok", f"{what}: {names}")
    for text in found.duplicates:
        yield Finding("plugins", "problem", text, "rename one of them, or refer to it as package.module:name")


def _sandbox() -> Iterator[Finding]:
    try:
        from grpo_rewards_sandbox import guarantees

        found = guarantees()
    except Exception as error:  # noqa: BLE001 - whatever a machine is like, the doctor says it
        yield Finding("sandbox", "broken", f"it cannot be examined: {type(error).__name__}: {error}", "report this")
        yield _docker("", None)
        return
    if found["local"] is None:
        yield Finding("sandbox", "broken", f"no program can be run safely here: {found['note']}",
                      "the reward code needs root or Landlock (Linux 5.13), or a machine that has one; the others work")  # fmt: skip
    else:
        level, action = ("ok", "") if found["local"] == "namespaces" else ("note", "run as root for the strongest mode")
        yield Finding("sandbox", level, f"local mode {found['local']}: {found['note']}", action)  # type: ignore[arg-type]
    layers = {name: why for name, why in found.get("layers", {}).items() if name != "machine"}
    lacking = [f"{name}: {why}" for name, why in layers.items() if isinstance(why, str) and why]
    if lacking:
        yield Finding("sandbox", "note", f"layers that do not work here: {'; '.join(lacking)}")
    yield from _languages(found.get("languages", {}))
    yield _docker(found.get("docker_note", ""), found.get("docker"))


def _languages(found: dict[str, str]) -> Iterator[Finding]:
    """Which languages programs of the reward code may be written in here."""
    there = [name for name, lacking in found.items() if not lacking]
    if there:
        yield Finding("sandbox", "ok", f"runs programs in {', '.join(there)}")
    for lacking in filter(None, found.values()):
        what, _, action = lacking.partition("; ")
        yield Finding("sandbox", "note", what, action)


def _docker(note: str, engine: str | None) -> Finding:
    """The sandbox's own word on Docker where it has one, else what the client says."""
    start = "start it and let this user at its socket, if a reward is to use sandbox: docker"
    if engine is not None:
        return Finding("Docker", "ok", f"engine {engine}, {note}")
    # the socket alone will do: the Python package speaks to it without the client
    if shutil.which("docker") is None and not Path("/var/run/docker.sock").exists():
        return Finding("Docker", "note", "not installed; only sandbox: docker needs it")
    answers = _output(["docker", "version", "--format", "{{.Server.Version}}"])
    if isinstance(answers, str) and answers and importlib.util.find_spec("docker") is None:
        return Finding("Docker", "note", f"engine {answers} answers, and the Python package docker is missing",
                       f"{how_to_install('docker')}, if a reward is to use sandbox: docker")  # fmt: skip
    found = note or answers
    if note or isinstance(found, Exception) or not found:
        return Finding("Docker", "note", f"the engine cannot be used{f': {found}' if found else ''}", start)
    return Finding("Docker", "ok", f"engine {found}")


def _gpu() -> Finding:
    if shutil.which("nvidia-smi") is not None:
        found = _output(["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"])
        if isinstance(found, str) and found:
            return Finding("GPU", "ok", "; ".join(found.splitlines()))
        return Finding(
            "GPU", "problem", f"nvidia-smi fails: {found}", "see that the driver is loaded and fits the kernel"
        )
    if shutil.which("rocm-smi") is not None:
        return Finding("GPU", "ok", "ROCm is there")
    return Finding("GPU", "note", "none found; scoring needs none, training of more than toys does")


def _output(command: list[str]) -> str | Exception:
    """What a command prints, or why it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return error
    if done.returncode != 0:
        return RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:200])
    return done.stdout.strip()


def _training() -> Finding:
    there, missing = [], []
    for name in _TRAINING:
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("training", "note", f"missing: {', '.join(missing)}", how_to_install("train"))
    return Finding("training", "ok", ", ".join(there))


# ------------------------------------------------------------------------------------------------ a configuration


def examine_config(composite: Composite) -> Iterator[Finding]:
    """Score built-in rows with a composition, to see that every component answers here."""
    from grpo_rewards._audit.attacks import honest
    from grpo_rewards._audit.cases import sample_cases
    from grpo_rewards._contract import Batch
    from grpo_rewards.errors import GrpoRewardsError

    try:
        cases = sample_cases(composite)
    except GrpoRewardsError as error:
        yield Finding("configuration", "note", f"it was not tried: {error}", "score a few rows of yours")
        return
    answers: dict[str, list[Outcome]] = {component.name: [] for component in composite.components}
    for case in cases:
        text = next(honest(case))
        batch = Batch.from_rows([{**case.columns, "completion": [{"role": "assistant", "content": text}]}])
        table = composite.score(batch)
        for name, outcomes in table.components.items():
            answers[name] += outcomes
    for component in composite.components:
        what = f"{component.name}: {component.reward.source}:{component.reward.name} {component.reward.version}"
        # a row that another component took out says nothing of this one
        own = [outcome for outcome in answers[component.name] if "left_out" not in outcome.details]
        failed = next((outcome for outcome in own if outcome.failed), None)
        if failed is None:
            yield Finding("configuration", "ok", what)
        elif failed.status == "unavailable":
            yield Finding(
                "configuration", "broken", f"{what} is unavailable: {failed.reason}", "bring it back, see above"
            )
        else:
            wrong = failed.details.get("configuration")
            said, cure = ("cannot be used", "correct what it names") if wrong else ("broke", "mend the plugin")
            yield Finding("configuration", "problem", f"{what} {said}: {failed.reason}", cure)
