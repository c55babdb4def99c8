"""The tests' side of the border where both sides work in one folder: it says whose turn it is there."""

from __future__ import annotations

from typing import Any

from ..standstill import Turns
from .messages import NOTHING, Along, Ends, Message
from .peer import Peer
from .trusted import TrustedPeer


class SharingPeer(TrustedPeer):
    """Has the candidate stand still while it is the tests' turn, and knows which files it named."""

    turns: Turns

    def __init__(self, ends: Ends, turns: Turns, *, under_test: frozenset[str], module_name: str) -> None:
        super().__init__(ends, under_test=under_test, module_name=module_name)
        self.turns = turns
        self._untold: list[tuple[str, tuple[object, ...]]] = []

    def receive(self) -> Message:
        message = super().receive()
        self.turns.said(message)
        return message

    def packed(self, kind: str | int, body: object, along: Along = NOTHING) -> bytes:
        self.turns.give(kind)
        return super().packed(kind, body, along)

    def _answer(self, answer: list[Any]) -> object:
        try:
            return super()._answer(answer)
        finally:
            if not self.for_their_thread():
                self.turns.answered()
                if self.turns.always:
                    self.turns.take()
                    if why := self.turns.linked():
                        self.refuse(why)

    def tell(self, what: str, *arguments: object) -> None:
        """The same; where the candidate stands still, before it is asked for something."""
        if self.turns.taken():
            self._untold.append((what, arguments))
        else:
            super().tell(what, *arguments)

    def _follow(self) -> None:
        while self._untold:
            what, arguments = self._untold.pop(0)
            Peer.request(self, what, *arguments)
        super()._follow()
