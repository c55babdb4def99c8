"""What an index shows of the package: addresses of its repository, and links that work there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

ROOT = Path(__file__).resolve().parents[2]
RELATIVE = re.compile(r"\]\((?!https?://|#|mailto:)")


def built() -> ProjectMetadata[PluginManager]:
    return ProjectMetadata(str(ROOT), PluginManager())


def test_a_build_in_its_repository_has_addresses_and_no_relative_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/rewards")
    monkeypatch.setenv("GITHUB_REF_NAME", "v9.9.9")
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    core = built().core
    assert core.urls["Homepage"] == "https://github.com/someone/rewards"
    assert core.urls["Changelog"] == "https://github.com/someone/rewards/blob/v9.9.9/CHANGELOG.md"
    assert RELATIVE.search(core.readme) is None
    pictures = re.findall(r"!\[[^\]]*\]\(https://github\.com/someone/rewards/raw/v9\.9\.9/([^)]+)\)", core.readme)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


def test_a_build_elsewhere_claims_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    core = built().core
    assert core.urls == {}
    assert core.readme == (ROOT / "README.md").read_text(encoding="utf-8")
    assert core.readme_content_type == "text/markdown"
