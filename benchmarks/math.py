"""The benchmark of the reward `math`: ``python benchmarks/math.py`` runs the file beside it, ``math_equivalence.py``.

Scripts in this folder find it where they ask for the standard library's ``math``; they are given that one instead.
"""

import sys
from pathlib import Path

_FOLDER = str(Path(__file__).resolve().parent)

if __name__ == "math":
    import importlib

    _path, sys.path = sys.path, [entry for entry in sys.path if entry and str(Path(entry).resolve()) != _FOLDER]
    del sys.modules["math"]
    try:
        importlib.invalidate_caches()
        sys.modules["math"] = importlib.import_module("math")
    finally:
        sys.path = _path
elif __name__ == "__main__":
    import runpy

    runpy.run_path(str(Path(_FOLDER) / "math_equivalence.py"), run_name="__main__")
