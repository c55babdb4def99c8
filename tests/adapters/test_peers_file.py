"""Every trainer of peers.toml has tests of its own, and its page names the version that they ran with."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PEERS = tomllib.loads((HERE / "peers.toml").read_text())["peers"]
# of a reward and not of an adapter: its tests need the package, and have no page of their own
REWARDS = {"reasoning-gym"}
PAGES = {"skyrl-gym": "skyrl", "trl-oldest": "../training", "verifiers-rubric": "verifiers"}


@pytest.mark.parametrize("name", [name for name in PEERS if name not in REWARDS])
def test_a_peer_has_tests_and_its_page_the_version(name: str) -> None:
    file, *_ = PEERS[name].get("tests", [f"tests/adapters/peers/test_{name.replace('-', '_')}.py"])
    assert (HERE.parents[1] / file).exists()
    pinned = next(package for package in (*PEERS[name].get("bare", ()), *PEERS[name]["packages"]) if "==" in package)
    page = HERE.parents[1] / "docs" / "adapters" / f"{PAGES.get(name, name.replace('-', '_'))}.md"
    tried = page.read_text().partition("**Tried**")[2]
    assert pinned.split("==")[1] in tried
    assert "**A row without a verdict.**" in page.read_text()


def test_no_peers_test_is_left_out() -> None:
    files = {file.stem.removeprefix("test_").replace("_", "-") for file in (HERE / "peers").glob("test_*.py")}
    assert files == {name for name, peer in PEERS.items() if "tests" not in peer}
