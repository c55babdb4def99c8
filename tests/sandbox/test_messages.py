"""The stream between tests and candidate, and what it carries."""

from __future__ import annotations

import os
import signal
from types import FrameType

import pytest
from grpo_rewards_sandbox.program.border import codec
from grpo_rewards_sandbox.program.border.messages import Channel, Message, pipes


class OfTests(Channel):
    """Reads what another one writes."""

    trusted = True


def test_a_handler_reads_on_where_it_interrupts_a_message() -> None:
    """It may come while half of a message is there: whoever reads after it goes on with what it left."""
    mine, theirs = pipes()
    reads, writes = OfTests(mine), Channel(theirs)
    first, second = writes.packed("first", ["x" * 100]), writes.packed("second", [])
    met: list[Message] = []

    def go_on(number: int, frame: FrameType | None) -> None:
        os.write(theirs.writer, first[50:])
        met.append(reads.receive())
        os.write(theirs.writer, second)

    before = signal.signal(signal.SIGALRM, go_on)
    try:
        os.write(theirs.writer, first[:50])
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        met.append(reads.receive())
    finally:
        signal.signal(signal.SIGALRM, before)
        mine.close()
        theirs.close()
    assert [(one.kind, one.body) for one in met] == [("first", ["x" * 100]), ("second", [])]


class Unasked:
    """Says of no other object whether it is equal."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("asked")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("count", [1, codec._LONG - 1, codec._LONG, 5000])
def test_what_a_list_holds_is_compared_by_identity(count: int) -> None:
    """Equal values of other types count as a change, and no object is asked."""
    held: list[object] = [*range(1000, 999 + count), Unasked()]
    assert codec._same("L", held, [*held])
    for place in {0, count // 2, count - 1}:
        for other in (float(1000 + place), True, None, Unasked()):
            assert not codec._same("L", [*held[:place], other, *held[place + 1 :]], held)
    assert not codec._same("L", held[:-1], held)
    assert not codec._same("L", [*held, None], held)
