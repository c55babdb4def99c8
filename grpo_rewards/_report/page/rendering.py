"""Filling the template. Nothing from the data is trusted: text is escaped, rows travel as base64 of gzip."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from grpo_rewards._report.audits import CheatAudit, DataAudit
from grpo_rewards._report.bodies import Bodies, packed
from grpo_rewards._report.charts import figures
from grpo_rewards._report.drawing import short
from grpo_rewards._report.figure import hue, percent
from grpo_rewards._report.links import Links, between
from grpo_rewards._report.rows import CODES
from grpo_rewards._report.runs import ReportedRun, changes, side_by_side
from grpo_rewards._version import __version__

OVERHEAD = 600_000
"""Bytes of a page beside its rows, about: its script with the libraries (300,000), its style, the figures."""

_SCRIPTS = ("core", "filters", "texts", "table", "detail", "group", "export", "main")


@dataclass(frozen=True, slots=True)
class Page:
    """What the page shows; `index` is the packed table, `bodies` the packed texts, `twins` the rows that runs share."""

    title: str
    runs: list[ReportedRun]
    bodies: Bodies
    index: str
    twins: Sequence[int]
    audit: CheatAudit | DataAudit | None


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _asset(name: str) -> str:
    """Return a part of the page that is ours and goes in as it is; its hash stands in the security policy."""
    return (files("grpo_rewards._report.page") / name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the page's script: its files in one scope."""
    parts = "\n".join(_asset(f"script/{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _libraries() -> str:
    """Return the libraries that make texts readable, each under its licence; the page runs them when it first needs them."""
    names = [pin["as"] for pin in json.loads(_asset("libraries/libraries.json"))]
    return "\n;\n".join(
        f"/*! {_asset(f'libraries/{name}.LICENSE')} */\n{_asset(f'libraries/{name}')}" for name in names
    )


def render(page: Page) -> Iterator[str]:
    """Return the page in pieces, so that it is never in memory as a whole."""
    environment = Environment(
        loader=PackageLoader("grpo_rewards._report.page", "."),
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name in the template is an error and no gap in the page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=short, percent=percent)
    style, script, libraries = _asset("report.css"), _script(), _libraries()
    # nothing but these two scripts runs, and no string becomes markup: the one policy for trusted types makes the second
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}' '{_hash(libraries)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types libraries"
    )
    several = len(page.runs) > 1
    links = [Links(number if several else None) for number in range(1, len(page.runs) + 1)]
    return environment.get_template("report.html.j2").generate(
        page=page,
        cheats=page.audit if isinstance(page.audit, CheatAudit) else None,
        fitness=page.audit if isinstance(page.audit, DataAudit) else None,
        rows=sum(run.analysis.rows for run in page.runs),
        drawn=[figures(r.analysis, r.source.training, own) for r, own in zip(page.runs, links, strict=True)],
        links=links,
        side_by_side=side_by_side(page.runs) if several else None,
        changes=list(changes(page.runs, page.twins)) if several else [],
        chunks=page.bodies.read(),
        between=between,
        codes=CODES,
        hue=hue,
        policy=policy,
        style=style,
        script=script,
        libraries=packed(libraries.encode()),
        version=__version__,
    )
