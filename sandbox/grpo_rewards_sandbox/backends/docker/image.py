"""The image: built from the package's own files, its tag derived from their content."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from ..._errors import SandboxError, SandboxUnavailable
from ...program.languages import table
from .engine import Engine, docker_py

REPOSITORY, PROGRAM_LABEL = "grpo-rewards-sandbox", "grpo-rewards.program"
DEFAULT_BASE, BASE_VARIABLE = "python:3.12-slim", "GRPO_REWARDS_SANDBOX_BASE"
LOCAL_BASE = "grpo-rewards-base:latest"  # what tests/sandbox/docker_base.sh makes where nothing can be pulled
_HERE = Path(__file__).parent


def default_base(engine: Engine) -> str:
    """The base image where none is named: `$GRPO_REWARDS_SANDBOX_BASE`, else the official slim Python or a local one."""
    named = os.environ.get(BASE_VARIABLE)
    if named:
        return named
    return LOCAL_BASE if exists(engine, LOCAL_BASE) and not exists(engine, DEFAULT_BASE) else DEFAULT_BASE


def context_files() -> dict[str, bytes]:
    """Return the files of the build context by their path in it."""
    files = {"Dockerfile": (_HERE / "Dockerfile").read_bytes()}
    program = _HERE.parents[1] / "program"
    for path in sorted(program.rglob("*.py")):
        files[f"program/{path.relative_to(program).as_posix()}"] = path.read_bytes()
    for name, content in _pytest_files():
        files[f"site/{name}"] = content
    return files


def _pytest_files() -> Iterator[tuple[str, bytes]]:
    """Every module of the installed pytest and of what it requires here; all of it is pure Python."""
    for name in sorted(_required("pytest", set())):
        for file in metadata.files(name) or ():
            parts = Path(str(file)).parts
            if not Path(str(file.locate())).is_file():
                continue  # a distribution may be installed without its tests
            if (file.suffix == ".py" and ".." not in parts) or (
                parts[0].endswith(".dist-info") and parts[-1] in ("METADATA", "entry_points.txt")
            ):
                yield Path(str(file)).as_posix(), Path(str(file.locate())).read_bytes()


def _required(name: str, known: set[str]) -> set[str]:
    if name in known:
        return known
    try:
        requirements = [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return known  # for another Python or system than this one
    known.add(name)
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            _required(requirement.name.lower(), known)
    return known


def program_hash(files: dict[str, bytes]) -> str:
    """Digest of everything that the package puts into the image."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def tag_of(files: dict[str, bytes], base: str, packages: tuple[str, ...], toolchains: Sequence[str] = ()) -> str:
    """The image's name: the same content, base, packages and toolchains give the same one."""
    text = f"{program_hash(files)}\0{base}\0{' '.join(packages)}\0{' '.join(toolchains)}"
    return f"{REPOSITORY}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def build(
    engine: Engine,
    *,
    base: str | None = None,
    packages: tuple[str, ...] = (),
    languages: tuple[str, ...] = (),
    pull: bool = True,
) -> str:
    """Build the image and return its tag; an image of this content is not built again.

    `languages`: whose Debian packages are installed in it, from the base's own archive.

    Raises:
        SandboxError: the build failed; the message ends with the engine's last words.
    """
    errors = docker_py().errors
    base = base or default_base(engine)
    for package in packages:
        # they stand unquoted behind pip install in the Dockerfile: no options, no blanks
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._\[\],<>=!~+-]*", package):
            raise SandboxError(f"{package!r} is no requirement such as numpy or numpy==2.1.0")
    if unknown := [name for name in languages if name not in table.LANGUAGES]:
        raise SandboxError(f"no language {unknown[0]!r} is known; known are {', '.join(table.LANGUAGES)}")
    files, toolchains = context_files(), table.packages(languages)
    tag = tag_of(files, base, packages, toolchains)
    if exists(engine, tag):
        return tag
    if not exists(engine, base) and not pull:
        raise SandboxUnavailable(f"the base image {base} is not here")
    try:
        engine.client.images.build(
            fileobj=_archive(files), custom_context=True, tag=tag, rm=True, forcerm=True,
            buildargs={"BASE": base, "PACKAGES": " ".join(packages), "TOOLCHAINS": " ".join(toolchains)},
            labels={PROGRAM_LABEL: program_hash(files), "grpo-rewards.base": base},
            # nothing is installed: no step has a use for the network
            **({} if packages or toolchains else {"network_mode": "none"}),
        )  # fmt: skip
    except errors.BuildError as error:
        said = "".join(str(part.get("stream") or part.get("error") or "") for part in error.build_log)
        raise SandboxError(f"the image could not be built on {base}: {error.msg}\n{said[-2000:]}") from error
    except errors.APIError as error:
        raise SandboxError(
            f"the image could not be built on {base}: {error.explanation or error}.\nWhat to do: name a base image "
            f"with Python that is here or can be pulled: grpo-rewards sandbox build --base IMAGE (or ${BASE_VARIABLE})"
        ) from error
    return tag


def prune(engine: Engine) -> list[str]:
    """Remove the images of other versions of the program that no container uses; return their names."""
    current, removed = program_hash(context_files()), []
    for image in engine.client.images.list(REPOSITORY, filters={"label": PROGRAM_LABEL}):
        if image.labels[PROGRAM_LABEL] != current:
            for name in image.tags or [image.id]:
                with contextlib.suppress(docker_py().errors.APIError):  # in use
                    engine.client.images.remove(name)
                    removed.append(str(name))
    return removed


def exists(engine: Engine, name: str) -> bool:
    """The engine has this image."""
    try:
        engine.client.images.get(name)
    except docker_py().errors.ImageNotFound:
        return False
    return True


def find(engine: Engine, *, make: bool = True) -> str:
    """Return the newest image of this version of the program; build it if that needs nothing from outside."""
    label = f"{PROGRAM_LABEL}={program_hash(context_files())}"
    found = engine.client.images.list(REPOSITORY, filters={"label": label})
    if found:
        newest = max(found, key=lambda image: image.attrs["Created"])
        return str(newest.tags[0] if newest.tags else newest.id)
    problem = "none was built"
    if make:
        try:
            return build(engine, pull=False)
        except SandboxError as error:
            problem = str(error)
    raise SandboxUnavailable(
        f"the engine has no image of this version of the sandbox ({problem}). What to do: grpo-rewards sandbox build, "
        f"or with a base image of your own: grpo-rewards sandbox build --base IMAGE"
    )


def checked(engine: Engine, name: str) -> str:
    """Return the name of an image that is there and holds the program.

    Raises:
        SandboxUnavailable: it is not, or does not.
    """
    problem = "has no image"
    with contextlib.suppress(docker_py().errors.ImageNotFound):
        if PROGRAM_LABEL in engine.client.images.get(name).labels:
            return name
        problem = "has an image without the sandbox's program:"
    raise SandboxUnavailable(
        f"the engine at {engine.place} {problem} {name}. What to do: grpo-rewards sandbox build makes one and prints its "
        "name (--base: on an image of your own); without the setting image the newest is taken"
    )


def _archive(files: dict[str, bytes]) -> io.BytesIO:
    """A tar file whose bytes depend on nothing but the content, so that the engine's cache works."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    stream.seek(0)
    return stream
