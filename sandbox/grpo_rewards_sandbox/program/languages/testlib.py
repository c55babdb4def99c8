"""testlib.h, with which most checkers are compiled: not part of this package, looked for on the machine."""

from __future__ import annotations

import importlib.util
import os

VARIABLE = "GRPO_REWARDS_TESTLIB"
_PACKAGE = "autocode_mcp"  # of its files nothing but the header is looked at
_PLACES = ("/usr/include", "/usr/local/include", "/usr/include/testlib", "/usr/local/include/testlib")


def find() -> str:
    """Return the text of testlib.h; empty where there is none."""
    for path in (os.environ.get(VARIABLE, ""), *(f"{place}/testlib.h" for place in (*_PLACES, _packaged()))):
        if path and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as handle:
                return handle.read()
    return ""


def _packaged() -> str:
    """The folder in which an installed package of PyPI brings it, looked for without importing the package."""
    found = importlib.util.find_spec(_PACKAGE)
    return f"{os.path.dirname(found.origin)}/templates" if found and found.origin else _PLACES[0]


ABSENT = (
    "the checker needs testlib.h, which is not here. What to do: get that one file of github.com/MikeMirzayanov/testlib and "
    f"name it in ${VARIABLE}, or put it into /usr/local/include; or pip install --no-deps autocode-mcp, which brings it"
)
