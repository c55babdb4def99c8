"""Several hundred hand-made pairs, read in one direction: the gold says what counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_rewards import get_reward

ROWS = [
    line.split(" | ", 2)
    for line in Path(__file__).with_name("pairs.txt").read_text(encoding="utf-8").splitlines()
    if line[:1] in ("T", "F")
]


@pytest.mark.parametrize("label", ["T", "F"])
def test_hand_made_pairs(label: str) -> None:
    rows = [(gold, answer) for mark, gold, answer in ROWS if mark == label]
    assert len(rows) > 150
    patient = get_reward("math").with_(timeout=30.0)  # a loaded machine is no finding
    found = patient(
        completions=[rf"So the answer is \boxed{{{answer}}}." for _, answer in rows], answer=[gold for gold, _ in rows]
    )
    wanted = float(label == "T")
    assert [pair for pair, value in zip(rows, found, strict=True) if value != wanted] == []
