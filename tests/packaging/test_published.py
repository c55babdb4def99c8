"""What texts say of installing is true while the package is on no index."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grpo_rewards.errors import how_to_install

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
CLAIM = re.compile(r"pip install (?:-[^\s`]+ )*['\"]?grpo[-_]rewards\b(?!-)")


def test_no_text_installs_the_package_from_an_index() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0") if listed.returncode == 0 else [str(f) for f in ROOT.rglob("*.py")]
    found = [
        name
        for name in filter(None, names)
        if Path(name).suffix in (".py", ".md", ".yml", ".yaml", ".toml")
        and (ROOT / name).is_file()
        and CLAIM.search((ROOT / name).read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
    assert CLAIM.search(f"pip install -U 'grpo-{'rewards'}[train]'")


@pytest.mark.parametrize("extra", ["docker", "parquet", "serve", "train", "instructions"])
def test_an_extra_is_installed_by_its_packages(extra: str) -> None:
    command = shlex.split(how_to_install(extra))
    assert command[:2] == ["pip", "install"]
    assert {Requirement(text).name for text in command[2:]} == {Requirement(text).name for text in EXTRAS[extra]}


def test_without_metadata_it_is_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert how_to_install("serve") == "pip install '.[serve]' in a checkout of grpo-rewards"


def test_the_sandbox_which_knows_nobody_names_the_same_packages() -> None:
    text = (ROOT / "sandbox/grpo_rewards_sandbox/backends/docker/engine.py").read_text()
    said = re.search(r"needs docker-py: (pip install [^\"]+)\"", text)
    assert said is not None
    assert shlex.split(said[1])[2:] == EXTRAS["docker"]
