"""The notebook of the examples, executed as a reader would: no step fails, and each shows what the text beside it says."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAME = "score_to_train.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The folder that the notebook ran in, and its cells of code."""
    pytest.importorskip("trl")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("examples")
    for name in (NAME, "reasoning.jsonl", "train_tiny.py", "tiny_rewards.yaml"):
        shutil.copy(EXAMPLES / name, folder)
    notebook = nbformat.read(folder / NAME, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(folder)}})
    scripts = str(Path(sys.executable).parent)  # where the command stands, for the lines that begin with !
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("IPYTHONDIR", str(folder / ".ipython"))
        client.execute()
    return folder, [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cells: list[Any], source: str) -> str:
    """What the one cell with this in its source printed and showed."""
    (cell,) = [cell for cell in cells if source in cell.source]
    return "".join(out.get("text", "") + str(out.get("data", {}).get("text/html", "")) for out in cell.outputs)


@pytest.mark.train
@pytest.mark.timeout(600)
def test_the_notebook_shows_what_it_says(executed: tuple[Path, list[Any]]) -> None:
    folder, cells = executed
    assert "<table" in said(cells, "table = before.score(rows)")
    assert "correct" in said(cells, "table[0]")
    before, after = (said(cells, source) for source in ('paid[["completion"', 'frame["reward after"] ='))
    assert int(before.split()[0]) > 0
    assert after.startswith("0 wrong answers")
    compared = said(cells, "grpo-rewards compare")
    assert "the reward of" in compared
    assert "error" not in compared
    assert "<iframe" in said(cells, "before.html")
    for page in ("side_by_side.html", "before.html", "run.html"):
        assert (folder / page).stat().st_size > 100_000, page
    first, last = map(float, re.findall(r"five (?:steps )?(\d\.\d+)", said(cells, "first, last")))
    assert last > first
    assert "Traceback" not in "".join(said([cell], cell.source) for cell in cells)


def test_it_is_kept_without_outputs() -> None:
    """So that a change of it can be read."""
    notebook = nbformat.read(EXAMPLES / NAME, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")
