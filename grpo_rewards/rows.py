"""Rows as programs of other distributions read and write them: one JSON object, in whichever shape it comes; and their marks."""

from grpo_rewards._scoring.reading import malformed
from grpo_rewards._scoring.reading.marked import checked_marks, is_left_out
from grpo_rewards._scoring.reading.rows import dump_json, parse_object
from grpo_rewards._scoring.reading.shapes import ShapeError, read_shape

__all__ = ["ShapeError", "checked_marks", "dump_json", "is_left_out", "malformed", "parse_object", "read_shape"]
