"""Rows for the audit."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def jsonl(tmp_path):
    """Write rows as JSONL."""

    def write(rows):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
