"""Filling the template. Nothing from the data is trusted: text is escaped, rows travel as base64 of gzip."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from grpo_rewards._report.analysis import Analysis
from grpo_rewards._report.bodies import Bodies
from grpo_rewards._report.drawing import short
from grpo_rewards._report.figure import hue, percent
from grpo_rewards._report.figures import figures
from grpo_rewards._report.findings import Remark
from grpo_rewards._report.rows import Source
from grpo_rewards._version import __version__

__all__ = ["Page", "render"]


@dataclass(frozen=True, slots=True)
class Page:
    """What the page shows; `index` is the packed table, `bodies` the packed texts."""

    title: str
    source: Source
    analysis: Analysis
    findings: list[Remark]
    bodies: Bodies
    index: str


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _asset(name: str) -> str:
    """Return a part of the page that is ours and goes in as it is; its hash stands in the security policy."""
    return (files("grpo_rewards._report.page") / name).read_text(encoding="utf-8")


def render(page: Page) -> Iterator[str]:
    """Return the page in pieces, so that it is never in memory as a whole."""
    environment = Environment(
        loader=PackageLoader("grpo_rewards._report.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=short, percent=percent)
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("report.html.j2").generate(
        page=page,
        analysis=page.analysis,
        figures=figures(page.analysis, page.source.training),
        chunks=page.bodies.read(),
        hue=hue,
        policy=policy,
        style=style,
        script=script,
        version=__version__,
    )
