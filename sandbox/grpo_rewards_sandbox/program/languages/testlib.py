"""testlib.h, with which most checkers are compiled: not part of this package, looked for on the machine."""

from __future__ import annotations

import os

VARIABLE = "GRPO_REWARDS_TESTLIB"
_PLACES = ("/usr/include", "/usr/local/include", "/usr/include/testlib", "/usr/local/include/testlib")


def find() -> str:
    """Return the text of testlib.h; empty where there is none."""
    for path in (os.environ.get(VARIABLE, ""), *(f"{place}/testlib.h" for place in _PLACES)):
        if path and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as handle:
                return handle.read()
    return ""


ABSENT = (
    "the checker needs testlib.h, which is not here. What to do: get that one file of github.com/MikeMirzayanov/testlib and "
    f"name it in ${VARIABLE}, or put it into /usr/local/include"
)
