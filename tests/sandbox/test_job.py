"""What a job may say, and what it may not."""

from __future__ import annotations

import pytest
from grpo_rewards_sandbox import Checker, Job

TESTS = [{"input": "1", "output": "1"}]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tests": ["assert f()"], "format": "asserts", "language": "cpp"}, "is Python's"),
        ({"tests": TESTS, "format": "stdio", "language": "c++"}, "one of python, c, cpp"),
        ({"tests": "", "format": "program", "input_file": "a.in"}, "does not take"),
        ({"tests": TESTS, "format": "program"}, "does not take"),
        ({"tests": TESTS, "format": "stdio", "output_file": "../out"}, "no plain name"),
        ({"tests": TESTS, "format": "stdio", "output_file": "a/b"}, "no plain name"),
    ],
    ids=["calls in C++", "unknown language", "file of a program", "program's tests", "path up", "folder"],
)
def test_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Job("x", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("protocol", "language"), [("testlib", "python"), ("codeforces", "cpp"), ("function", "cpp"), ("guess", "cpp")]
)
def test_checkers_of_no_protocol(protocol: str, language: str) -> None:
    with pytest.raises(ValueError, match="expected one of"):
        Checker("x", language, protocol)


def test_on_the_wire() -> None:
    job = Job("int main(){}", TESTS, "stdio", language="cpp", checker=Checker("int main(){}"), output_file="out.txt")
    assert job.to_wire()["checker"] == {"source": "int main(){}", "language": "cpp", "protocol": "testlib"}
