"""Writes the sections of the documentation's page on the formats of code data, from the readers' own words."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from grpo_rewards_plugins.code.readers import FAMILIES, Family

PAGE = Path(__file__).parents[4] / "docs" / "code-formats.md"


def page(now: str) -> str:
    """Return the page as it is to be: what stands before the first section of the page `now`, and a section for each family."""
    return now.partition("\n## ")[0] + "".join(map(_section, FAMILIES))


def _section(family: Family) -> str:
    text = inspect.getdoc(family.reader) or ""
    known = " and ".join(" or ".join(f"`{one}`" for one in names.split("|")) for names in family.columns)
    paragraphs = [" ".join(part.split()) for part in re.sub(r"``(.+?)``", r"`\1`", text).split("\n\n")]
    return f"\n## {family.name}\n\nKnown by {known}.\n\n" + "\n\n".join(paragraphs) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
