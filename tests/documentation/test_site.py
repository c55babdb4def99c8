"""The site as it is built: no warnings, every page once in the navigation, every public name, commands that copy as commands."""

from __future__ import annotations

import functools
import http.server
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
def test_the_reference_has_every_public_name(site: Path) -> None:
    assert (site / "presets" / "gsm8k-xml" / "index.html").is_file()
    reference = (site / "reference" / "index.html").read_text(encoding="utf-8")
    shown = {path.rpartition(".")[2] for path in re.findall(r' id="([^"]+)" class="doc doc-heading"', reference)}
    public = ("", ".types", ".rows", ".config", ".errors", ".testing", ".hooks", ".slots", ".forks", ".cycles", ".http")
    for module in [f"grpo_rewards{room}" for room in public] + [
        "grpo_rewards_sandbox", "grpo_rewards_adapters.trl", "grpo_rewards_plugins"
    ]:  # fmt: skip
        names = importlib.import_module(module).__all__
        assert [name for name in names if name not in shown and name != "__version__"] == [], module


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(inner)


def test_every_page_stands_once_in_the_navigation() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(_pages(config["nav"])) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
def test_a_console_block_copies_its_commands_without_prompts_or_output(address: str) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("NO BROWSER: copying from the site was not tested; install chromium")
    spec = importlib.util.spec_from_file_location("report_browser", ROOT / "tests" / "report" / "browser.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    buttons = "document.querySelectorAll('.highlight:has(.gp) button[data-md-type=copy]')"
    with module.Browser(program) as browser:
        browser.call(
            "Browser.grantPermissions", origin=address, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
        )
        for page, beginning in (
            ("report", "grpo-rewards score"),
            ("serve", "pip install"),
            ("cli", "grpo-rewards score"),
        ):
            browser.call("Page.navigate", url=f"{address}/{page}/")
            browser.until(f"location.pathname === '/{page}/' && {buttons}.length", seconds=30)
            copied = []
            for number in range(browser.run(f"{buttons}.length")):
                browser.run("navigator.clipboard.writeText('')")
                browser.call("Runtime.evaluate", expression=f"{buttons}[{number}].click()", userGesture=True)
                browser.run(
                    "new Promise(done => { const wait = async () => (await navigator.clipboard.readText()) ? done() : setTimeout(wait, 20); wait(); })"
                )
                copied.append(browser.run("navigator.clipboard.readText()"))
            assert copied[0].startswith(beginning), page
            assert [line for text in copied for line in text.splitlines() if line.lstrip().startswith("$")] == [], page
