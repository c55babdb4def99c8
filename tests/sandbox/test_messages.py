"""The stream between tests and candidate."""

from __future__ import annotations

import os
import signal
from types import FrameType

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
