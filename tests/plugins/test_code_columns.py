"""What a row's columns say beside its tests: languages and limits, as sites write them."""

from __future__ import annotations

import pytest
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.columns import memory_of, named_language, seconds_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("C++17", "cpp"), ("GNU C++17", "cpp"), ("C++17 (GCC 7-32)", "cpp"), ("cpp17", "cpp"), ("g++", "cpp"), ("cplusplus", "cpp"), ("C11", "c"), ("GNU C11", "c"), ("Java 21", "java"), ("java", "java"),
        ("JavaScript", "javascript"), ("Node.js", "javascript"), ("Go 1.22", "go"), ("Rust 2021", "rust"), ("PHP 8", "php"), ("PyPy 3-64", "python"), ("PyPy 3.10 (7.3.15, 64bit)", "python"), ("Python 3", "python"), ("English", ""), (None, ""),
    ],
)  # fmt: skip
def test_a_language_is_known_by_the_names_that_sites_have(name: str | None, language: str) -> None:
    assert named_language(name) == language


@pytest.mark.parametrize(
    "name", ["Python 2", "PyPy 2-64", "python2.7", "C# 12", "Kotlin", "R 4", "Perl 5", "Objective-C", "D", "c d"]
)
def test_another_language_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(SuiteProblem, match="asks for programs in"):
        named_language(name)


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("2.0 seconds", 2.0), ("2 - 4 seconds", 4.0), ("1.5-3.0 seconds", 3.0), ("None", None), ("unlimited", None), ("1500 ms", 1.5), (2500, 2.5), ({"seconds": 1, "nanos": 500_000_000}, 1.5)],
)  # fmt: skip
def test_a_limit_is_that_of_the_slowest_test(limit: object, seconds: float | None) -> None:
    assert seconds_of({"time_limit": limit}) == seconds


@pytest.mark.parametrize(("limit", "mebibytes"), [("512M", 512), ("256.0 megabytes", 256), (64, 64), ("None", None)])
def test_memory_has_any_unit(limit: object, mebibytes: int | None) -> None:
    assert memory_of({"memory_limit": limit}) == (mebibytes and mebibytes << 20)
