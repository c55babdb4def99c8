"""Finding the final answer in a completion: one room for every reward.

``extract(text)`` says what it found and by which rule; ``find_answer(text, place=...)`` is what rewards with a setting `place` call.
Reasoning up to the last ``</think>``, end tokens of a chat, a tail that repeats one token, blocks of code in a programming language
and a next question of the policy's own are no part of an answer.
"""

from .completions import final_text, outside_code, own_question, without_end
from .finding import KEPT, ORDER, Place, extract, find_answer
from .marks import Extraction, Rule, boxes, from_boxes, from_hash, tagged
from .phrases import line_after_phrase

__all__ = [
    "KEPT",
    "ORDER",
    "Extraction",
    "Place",
    "Rule",
    "boxes",
    "extract",
    "final_text",
    "find_answer",
    "from_boxes",
    "from_hash",
    "line_after_phrase",
    "outside_code",
    "own_question",
    "tagged",
    "without_end",
]
