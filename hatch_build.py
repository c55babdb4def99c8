"""What only a build in its repository knows: the project's addresses, and a README whose links and pictures work elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<path>(?!https?://|#|mailto:)[^)\s]+)\)")


class RepositoryHook(MetadataHookInterface):
    """Adds ``Project-URL`` and absolute links, where the environment names the repository, as GitHub's workflows do."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in ``readme`` and ``urls``; without a repository the README is as it stands, and there are no addresses."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("GITHUB_REPOSITORY")
        metadata["urls"] = {}
        if repository:
            home = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
            reference = os.environ.get("GITHUB_REF_NAME", "main")
            text = absolute(text, home, reference)
            metadata["urls"] = {
                "Homepage": home,
                "Documentation": f"{home}/tree/{reference}/docs",
                "Changelog": f"{home}/blob/{reference}/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, home: str, reference: str) -> str:
    """Return Markdown with its relative links as addresses of the repository at `home`; pictures as the files themselves."""

    def linked(match: re.Match[str]) -> str:
        place = "raw" if match["picture"] or match["path"].endswith((".png", ".svg")) else "blob"
        return f"{match['picture']}[{match['text']}]({home}/{place}/{reference}/{match['path']})"

    return _LINK.sub(linked, text)
