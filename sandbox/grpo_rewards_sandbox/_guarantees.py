"""What this machine can guarantee, for `doctor`."""

from __future__ import annotations

from typing import Any

from .program.isolation import plan

_NOTES: dict[str | None, str] = {
    "namespaces": "own root, process tree, network and IPC; another user, seccomp, limits",
    "user": "another user, Landlock, seccomp, limits; processes and files are removed by user after every job",
    "landlock": "the same user, Landlock, seccomp, limits; candidates may start no process",
}


def guarantees() -> dict[str, Any]:
    """Try every layer and return plain data: `local` (the mode that would be used, or None), why, and each layer.

    `layers` says of each layer what stands in its way ("" = it works here); not every layer that works is used, and the
    ones that are stand in `note`. Memory is limited per process; over several processes of one candidate only by their
    number. `docker` is None: there is no such backend yet.
    """
    layers = plan.survey()
    try:
        mode: str | None = plan.probe(users=(plan.FIRST_USER, plan.FIRST_USER + 1)).mode
        note = _NOTES[mode]
        if mode == "namespaces" and layers["landlock_abi"]:
            note += ", Landlock"
    except plan.NotIsolated as error:
        mode, note = None, str(error)
    return {"local": mode, "note": note, "layers": layers, "docker": None}
