"""Comparisons by name: what counts as the same text or value, and what the known false passes of public graders do here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from grpo_rewards_sandbox import Job
from grpo_rewards_sandbox.program.comparison import comparison, same_output, same_value
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("printed", "expected", "compare", "same"),
    [
        ("1 2\n3\n", "1 2\n3", "exact", True), ("1 2 \n3", "1 2\n3", "exact", True), ("1  2\n3", "1 2\n3", "exact", False), ("2.50", "2.5", "exact", False),
        ("1 2 3", "1\n2\n\n3\n", "tokens", True), ("1 3 2", "1 2 3", "tokens", False), ("1 2 2", "1 2", "tokens", False), ("1", "1 2", "tokens", False), ("yes", "YES", "tokens", False),
        ("3.000000", "3.0", "tokens", True), ("3", "3.0", "tokens", True), ("2.5000001", "2.5", "tokens", True), ("2.501", "2.5", "tokens", False), ("1e-05", "0.00001", "tokens", True),
        ("3.0", "3", "tokens", False), ("50000000000000001", "50000000000000000", "tokens", False), ("100000001", "100000000", "tokens", False), ("0101", "101", "tokens", False),
        ("nan", "2.5", "tokens", False), ("inf", "2.5", "tokens", False), ("nan", "nan", "tokens", True), ("1e999", "1e999", "tokens", True), ("1e998", "1e999", "tokens", False), ("1_0.0", "10.0", "tokens", False),
        ("1.2.3", "1.2.30", "tokens", False), ("0x1.0", "1.0", "tokens", False), ("1" * 500 + ".0", "1" * 500 + ".5", "tokens", False), ("", "", "tokens", True), ("", "x", "tokens", False),
        ("1 2\n3\n\n", "1 2 \n3", "lines", True), ("1 2 3", "1 2\n3", "lines", False), ("1\n\n2", "1\n2", "lines", False), ("0.50", "0.5", "lines", True), ("a", "a\nb", "lines", False),
        ("2.0000001", "2.0", "floats:1e-9", False), ("2.0000000001", "2.0", "floats:1e-9", True), ("2.001", "2.0", "floats:1e-2", True), ("2.1", "2.0", "floats:0", False), ("2.00", "2.0", "floats:0", True),
        ("b 1\na 2", "a 2\nb 1", "unordered", True), ("a\na\nb", "a\nb\nb", "unordered", False), ("a\nb\nb", "a\nb", "unordered", False), ("2 1", "1 2", "unordered", False), ("2.0\n1", "1\n2.00", "unordered", True),
        ("Yes\n", "YES", "ignore_case", True), ("Yes", "No", "ignore_case", False), ("YES", "yes", "exact+ignore_case", True), ("\x41\u0300", "\u00c0", "tokens", False),
    ],
)  # fmt: skip
def test_texts(printed: str, expected: str, compare: str, same: bool) -> None:
    assert same_output(printed.encode(), expected, compare) is same


def test_an_output_that_is_no_text_is_no_right_one() -> None:
    assert not same_output(b"\xff", "\ufffd", "tokens")


@pytest.mark.parametrize(
    ("got", "wanted", "compare", "same"),
    [
        ([1, (2, 3)], [1, [2, 3]], "floats", True), (2, 2.0, "floats", True), (2.0, 2, "floats", True), (2.0000001, 2.0, "floats", True), (2.001, 2.0, "floats", False), (2.0000001, 2.0, "exact", False),
        (10**20 + 1, 10**20, "floats", False), (float("nan"), 1.0, "floats", False), (float("inf"), 1.0, "floats", False), (Fraction(5, 2), 2.5, "floats", True), ("a", ["a"], "floats", False), ("2", 2, "floats", False),
        (False, [], "floats", False), (None, [], "floats", False), (None, None, "floats", True), ([1], [1, 2], "floats", False), ([1, 2, 2], [1, 2], "floats", False), ([], [], "floats", True), ({1, 2}, [1, 2], "floats", False),
        ({1: 2}, {"1": 2}, "floats", True), ({"1": 2}, {"1": 2}, "floats", True), ({"a": 1, "b": 2}, {"a": 1}, "floats", False), ({"a": 1}, {"a": 1, "b": 2}, "floats", False), ({-3: 1}, {"-3": 1}, "floats", True), ({"a": 1.0000000001}, {"a": 1.0}, "floats", True),
        ([3, 1, 2], [1, 2, 3], "floats", False), ([3, 1, 2], [1, 2, 3], "floats+unordered", True), ([1, 1, 2], [1, 2, 2], "floats+unordered", False), ([[2], [1]], [[1], [2]], "floats+unordered", True), ([[1, 2]], [[2, 1]], "floats+unordered", False),
        ("Yes", "YES", "floats+ignore_case", True), (10**400, 1.5, "floats", False),
    ],
)  # fmt: skip
def test_values(got: Any, wanted: Any, compare: str, same: bool) -> None:
    assert same_value(got, wanted, compare) is same


@pytest.mark.parametrize("text", ["token", "exact+tokens", "floats:2", "floats:x", "tokens:1e-6", ""])
def test_a_comparison_that_is_not_known_is_said_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        comparison(text)
    with pytest.raises(ValueError, match=r"."):
        Job("", [], "stdio", compare=text)


@given(st.text(max_size=50))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    for compare in ("exact", "tokens", "lines", "unordered", "ignore_case", "floats:0"):
        assert same_output(text.encode("utf-8", "replace"), text.encode("utf-8", "replace").decode(), compare)
