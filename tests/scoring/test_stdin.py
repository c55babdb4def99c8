"""What stands on stdin is seen from its beginning."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest
import zstandard

CSV = b"completion,answer\n4,4\n5,4\n"
JSONL = b'{"completion": "4", "answer": "4"}\n{"completion": "5", "answer": "4"}\n'


@pytest.mark.parametrize(
    "given",
    [
        JSONL,
        CSV,
        b"\xef\xbb\xbf" + CSV,
        CSV.replace(b",", b"\t"),
        gzip.compress(CSV),
        gzip.compress(JSONL),
        zstandard.compress(CSV),
    ],
    ids=["jsonl", "csv", "csv with a mark", "tsv", "csv.gz", "jsonl.gz", "csv.zst"],
)
def test_a_pipe_is_read_whatever_it_holds(given: bytes) -> None:
    done = _score(given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b'"reward":') == 2
    assert b'"reward":1.0' in done.stdout


def test_parquet_on_stdin_is_refused_by_name() -> None:
    done = _score(b"PAR1\x15\x04\x15")
    assert done.returncode == 2
    assert b"is parquet, which is not read from a pipe" in done.stderr


def _score(given: bytes) -> subprocess.CompletedProcess[bytes]:
    main = "from grpo_rewards._cli import main; main()"
    command = [sys.executable, "-c", main, "score", "-", "--only", "exact", "-o", "-"]
    return subprocess.run(command, input=given, capture_output=True, check=False)
