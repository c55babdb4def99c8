"""What a job may say, and what it may not."""

from __future__ import annotations

import marshal
import socket
import threading
from typing import Any

import pytest
from grpo_rewards_sandbox import Checker, Job, pack_calls
from grpo_rewards_sandbox.program import wire
from grpo_rewards_sandbox.program.formats.classes import plain_classes

TESTS = [{"input": "1", "output": "1"}]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tests": ["assert f()"], "format": "asserts", "entry_point": None}, "has to be text"),
        ({"tests": ["assert f()"], "format": "asserts", "classes": "Vector"}, "a tuple of names"),
        ({"tests": ["assert f()"], "format": "asserts", "language": "cpp"}, "is Python's"),
        ({"tests": TESTS, "format": "stdio", "language": "c++"}, "one of python, c, cpp"),
        ({"tests": "", "format": "program", "input_file": "a.in"}, "does not take"),
        ({"tests": TESTS, "format": "program"}, "has to be text"),
        ({"tests": TESTS, "format": "stdio", "output_file": "../out"}, "no plain name"),
        ({"tests": TESTS, "format": "stdio", "output_file": "a/b"}, "no plain name"),
    ],
    ids=[
        "no text",
        "classes",
        "calls in C++",
        "unknown language",
        "file of a program",
        "program's tests",
        "path up",
        "folder",
    ],
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


@pytest.mark.parametrize(
    ("given", "crosses"),
    [
        ([[1, -(10**30), 1.5, "é\ud800", None, True]], ([[1, -(10**30), 1.5, "é\ud800", None, True]], {})),
        ({"a": {"x": []}}, ([], {"a": {"x": []}})),
        ([{"1": {"-2": 3}}], ([{1: {-2: 3}}], {})),
        ([[{"1": 2, "x": 3}, {"01": 2}, {"-0": 1}, {}]], ([[{"1": 2, "x": 3}, {"01": 2}, {"-0": 1}, {}]], {})),
        ({"1": 2, "self": 3}, ([], {"1": 2, "self": 3})),
    ],
)
def test_calls_as_they_cross(given: Any, crosses: Any) -> None:
    """Values are whole; keys become numbers where each of an object is one as Python writes it, names of arguments never."""
    (packed,) = pack_calls([given])
    assert repr(marshal.loads(packed)) == repr(crosses)


def test_frames_hold_bytes_from_above_only() -> None:
    """What comes from below is text to who reads it, whatever its head says."""
    ours, theirs = socket.socketpair()
    message: dict[str, Any] = {"calls": [b"\0\xff" * 100_000, "{}", b"{}"], "more": {"n": 1}}
    with ours, theirs:
        sender = threading.Thread(target=wire.send, args=(theirs, message))
        sender.start()
        assert wire.receive(ours, trusted=True) == (message, [])
        sender.join()
        wire.send(theirs, {"calls": b"forged"})
        with pytest.raises(wire.Disconnected, match="6 bytes"):
            wire.receive(ours)
    for wrong in ({"calls": b""}, {"calls": [bytearray(b"x")]}):
        with pytest.raises(TypeError, match="no part of a message"):
            wire.pack(wrong)
    with pytest.raises(wire.Disconnected):
        wire.sizes(wire.HEADER.pack(wire.MAX_FRAME, 1), trusted=True)


def test_on_the_wire() -> None:
    job = Job("int main(){}", TESTS, "stdio", language="cpp", checker=Checker("int main(){}"), output_file="out.txt")
    assert job.to_wire()["checker"] == {"source": "int main(){}", "language": "cpp", "protocol": "testlib"}


@pytest.mark.parametrize(("default", "plain"), [("[]", True), ("{}", True), ("{**SECRET}", False), ("[SECRET]", False)])
def test_a_setups_class_with_values_in_it_is_not_shown_to_the_candidate(default: str, plain: bool) -> None:
    shown = f"class Node:\n    def __init__(self, held={default}):\n        self.held = held\n"
    assert (plain_classes(f"SECRET = 1\n{shown}")[2] == {"Node"}) is plain
