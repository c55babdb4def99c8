"""Questions that go to workers in few messages: each is answered once, whatever comes back of a message."""

from __future__ import annotations

import threading

import pytest
from grpo_rewards_plugins.workers import ask_all

from grpo_rewards import Outcome
from grpo_rewards.workers import WorkerLost, WorkerTimeout

SLOTS = "grpo_rewards_plugins.workers.chunks.slots"


def outcome(question: int) -> Outcome:
    return Outcome(float(question % 2), "scored", str(question))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("most", [1, 50, 10_000])
def test_every_question_is_answered_once(monkeypatch: pytest.MonkeyPatch, workers: int, most: int) -> None:
    monkeypatch.setattr(SLOTS, lambda: workers)
    lock, sizes = threading.Lock(), []

    def send(questions: list[int]) -> list[Outcome]:
        with lock:
            sizes.append(len(questions))
        return [outcome(question) for question in questions[:most]]

    found = sorted(ask_all(range(600), send, outcome), key=lambda pair: pair[0])
    assert [(place, one.reason) for place, one in found] == [(number, str(number)) for number in range(600)]
    assert max(sizes) <= 512


@pytest.mark.parametrize("workers", [1, 3])
def test_what_ends_a_worker_answers_for_itself_alone(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(SLOTS, lambda: workers)

    def send(questions: list[int]) -> list[Outcome]:
        if 333 in questions:
            raise WorkerLost("it ended")
        if questions[0] == 0:
            raise WorkerTimeout("it was stuck")
        return [outcome(question) for question in questions]

    found = dict(ask_all(range(600), send, lambda question: Outcome(0.0, "timeout", f"{question} ended it")))
    assert sorted(found) == list(range(600))
    assert found.pop(333).reason == "333 ended it"
    assert found.pop(0).status == "unavailable"
    assert {one.status for one in found.values()} == {"scored"}
