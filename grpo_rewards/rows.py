"""Rows as programs of other distributions read and write them: one JSON object, in whichever shape it comes."""

from grpo_rewards._scoring.reading import ShapeError, dump_json, parse_object, read_shape

__all__ = ["ShapeError", "dump_json", "parse_object", "read_shape"]
