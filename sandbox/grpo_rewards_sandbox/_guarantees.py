"""What this machine can guarantee, for `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from ._errors import SandboxUnavailable
from ._job import LANGUAGES
from .program.isolation import plan
from .program.languages import table

_NOTES: dict[str, str] = {
    "namespaces": "own root, process tree, network and IPC; another user, seccomp, limits",
    "user": "another user, Landlock, seccomp, limits; processes and files are removed by user after every job",
    "landlock": "the same user, Landlock, seccomp, limits; candidates may start no process",
    "container": "another user, seccomp, limits; processes and files are removed by user after every job",
}


def describe_mode(backend: str, found: Mapping[str, object]) -> str:
    """Say in a line what a sandbox's `plan` keeps candidates apart with."""
    note = _NOTES[str(found["mode"])]
    if found["user_namespace"]:
        note += "; in a user namespace"
        if not cast("Sequence[int]", found["users"])[1]:
            note = note.replace("another user", "the same user without any capability")
    if found["mode"] == "namespaces" and found["landlock_abi"]:
        note += ", Landlock"
    if backend == "docker":
        return f"a container without network, root read-only, capabilities dropped, bounded; in it {note}"
    return note


class _Docker(TypedDict):
    docker: str | None
    docker_note: str


class Guarantees(_Docker):
    """What `guarantees` returns."""

    local: str | None
    note: str
    layers: plan.Survey
    languages: dict[str, str]


def guarantees() -> Guarantees:
    """Try every layer and return plain data: `local` (the mode that would be used, or None), why, and each layer.

    `layers` says of each layer what stands in its way ("" = it works here); not every layer that works is used, and the
    ones that are stand in `note`. Memory is limited per process, and over all processes of a candidate by a look five times a
    second. `languages` says of each language what this machine lacks ("" = nothing). `docker` is the version of the engine that answers, or None, and `docker_note` says why or which image.
    """
    layers = plan.survey()
    try:
        # with given users: to look is no reason to reserve any
        found = plan.probe(users=(plan.FIRST_USER, plan.FIRST_USER + 1)).as_json()
        mode: str | None = str(found["mode"])
        note = describe_mode("local", found)
    except plan.NotIsolated as error:
        mode, note = None, str(error)
    languages = {name: table.missing(name) for name in LANGUAGES}
    return {"local": mode, "note": note, "layers": layers, "languages": languages, **_docker()}


def _docker() -> _Docker:
    from .backends.docker import image
    from .backends.docker.engine import Engine

    version: str | None = None
    try:
        with Engine() as engine, engine.answering("no sandbox"):
            version = str(engine.client.version()["Version"])
            return {"docker": version, "docker_note": f"image {image.find(engine, make=False)}"}
    except SandboxUnavailable as error:
        return {"docker": version, "docker_note": str(error)}


def build_image(*, base: str | None = None, packages: tuple[str, ...] = (), languages: tuple[str, ...] = ()) -> str:
    """Build the docker backend's image and return its tag; see `grpo-rewards sandbox build`.

    Raises:
        SandboxUnavailable: no engine answers.
        SandboxError: the build failed; the message ends with the engine's words.
    """
    from .backends.docker import image
    from .backends.docker.engine import Engine

    with Engine() as engine, engine.answering("no image can be built"):
        return image.build(engine, base=base, packages=packages, languages=languages)


def prune_images() -> list[str]:
    """Remove the engine's images of other versions of the sandbox that nothing uses; return their names.

    Raises:
        SandboxUnavailable: no engine answers.
    """
    from .backends.docker import image
    from .backends.docker.engine import Engine

    with Engine() as engine, engine.answering("no image can be removed"):
        return image.prune(engine)
