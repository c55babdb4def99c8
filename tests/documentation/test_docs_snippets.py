"""Every snippet of the documentation runs: Python pages from top to bottom, configurations, JSON and TOML.

A snippet that cannot run here has the line ``<!-- not run: REASON -->`` right before its fence.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from grpo_rewards import Composite

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(
    r"^(?P<marker><!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>python|yaml|json|toml)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A fenced block of a page, with the line that it begins on."""

    page: Path
    line: int
    language: str
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(DOCS)}:{self.line}"


def snippets() -> list[Snippet]:
    found = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Snippet(page, line, match["language"], match["text"], match["reason"] or ""))
    return found


ALL = snippets()
RUN = [snippet for snippet in ALL if not snippet.reason]


def of(language: str) -> list[Snippet]:
    return [snippet for snippet in RUN if snippet.language == language]


def test_there_are_snippets_and_a_reason_is_a_sentence() -> None:
    assert len(of("python")) >= 8
    assert len(of("yaml")) >= 30
    assert all(len(snippet.reason.split()) >= 3 for snippet in ALL if snippet.reason)


def my_rewards() -> str:
    """The file that the snippets call ``my_rewards.py``: what the pages themselves show."""
    text = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    shown = next(match["text"] for match in FENCE.finditer(text) if "def polite" in match["text"])
    style = "\n\n@reward\ndef style(completion: str) -> float:\n    return float(len(completion) < 100)\n"
    return shown + style


@pytest.mark.parametrize("snippet", of("yaml"), ids=str)
def test_configurations_are_right(snippet: Snippet, tmp_path: Path) -> None:
    (tmp_path / "my_rewards.py").write_text(my_rewards())
    data = yaml.safe_load(snippet.text)
    assert isinstance(data, dict)
    if "rewards" in data:
        Composite(data, base=tmp_path)


@pytest.mark.parametrize("snippet", of("json"), ids=str)
def test_json_is_json(snippet: Snippet) -> None:
    json.loads(snippet.text)


@pytest.mark.parametrize("snippet", of("toml"), ids=str)
def test_toml_is_toml(snippet: Snippet) -> None:
    assert tomllib.loads(snippet.text)


PAGES = sorted({snippet.page for snippet in of("python")})
SMALL = (
    "use_cpu=True, bf16=False, report_to=[], max_steps=1, max_completion_length=8, per_device_train_batch_size=8, "
    "save_strategy='no', "
)


def needs_trainer(page: Path) -> bool:
    return any(re.search(r"\b(trl|torch|transformers)\b", s.text) for s in of("python") if s.page == page)


def run_page(page: Path, folder: Path) -> None:
    """Run a page's Python from top to bottom, in a folder with the files that pages speak of."""
    (folder / "my_rewards.py").write_text(my_rewards())
    quick = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    config = next(match["text"] for match in FENCE.finditer(quick) if match["language"] == "yaml")
    (folder / "rewards.yaml").write_text(config)
    row = {"prompt": [{"role": "user", "content": "2+2?"}], "completion": "<answer>4</answer>", "answer": "4"}
    for name in ("train.jsonl", "completions.jsonl"):
        (folder / name).write_text((json.dumps(row) + "\n") * 4)
    code = "\n".join(s.text for s in of("python") if s.page == page)
    code = re.sub(r"Qwen/[\w.-]+", "tiny", code)
    code = re.sub(r"(GRPOConfig\()(?=output_dir)", rf"\1{SMALL}", code)
    (folder / "page.py").write_text(code)
    done = subprocess.run([sys.executable, "page.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{page}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("page", [p for p in PAGES if not needs_trainer(p)], ids=lambda p: str(p.relative_to(DOCS)))
def test_python_runs(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path)


@pytest.mark.train
@pytest.mark.parametrize("page", [p for p in PAGES if needs_trainer(p)], ids=lambda p: str(p.relative_to(DOCS)))
def test_python_trains(page: Path, tmp_path: Path, tiny_model: Any) -> None:
    pytest.importorskip("trl")
    tiny_model(tmp_path / "tiny")
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda p: str(p.relative_to(DOCS)))
def test_no_page_swallows_tags(page: Path) -> None:
    """A browser shows nothing of ``<answer>`` outside code, which is how copied recipes came to ask for ``''``."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+).+?\1", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->|<https?://[^>\s]+>", "", text, flags=re.DOTALL)
    assert re.findall(r"</?[A-Za-z][\w-]*>", text) == []
