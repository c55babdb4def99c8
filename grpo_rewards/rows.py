"""Rows as programs of other distributions read and write them: one JSON object, in whichever shape it comes; and their marks."""

from grpo_rewards._scoring.reading import ShapeError, dump_json, malformed, parse_object, read_shape
from grpo_rewards._scoring.reading.marked import checked_marks, is_left_out

__all__ = ["ShapeError", "checked_marks", "dump_json", "is_left_out", "malformed", "parse_object", "read_shape"]
