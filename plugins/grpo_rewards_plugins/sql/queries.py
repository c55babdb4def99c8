"""The text of a query, as each rule runs it."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["asks_for_order", "gold_varies", "mentions_order", "spider_text", "varies"]

# What Spider's script takes for one token (its lexer is sqlparse's): strings with a backslash before a quote, `# ` as a comment.
_TOKEN = re.compile(
    r"""'(?:''|\\'|[^'])*' | "(?:""|\\"|[^"])*" | `(?:``|[^`])*` | (?<![\w\])])\[[^\]\[]+\]
      | (?:--|\#[ ])[^\r\n]* | /\*.*?\*/ | [$:?@]\w+ | (?P<word>\w[\w$\#]*) | (?P<mark>[();])""",
    re.VERBOSE | re.DOTALL,
)
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)
_SPLIT = (("> =", ">="), ("< =", "<="), ("! =", "!="))
_EMPTY_CALL = re.compile(r"\(\s*\)")
_SIGNS = (
    "random",
    "now",
    "current_",
    "localtime",
    "timestamp",
    "timeofday",
    "uuid",
    "today",
    "sample",
    "nextval",
    "txid",
    "pg_",
    "strftime",
)
_VARIES = re.compile(
    r"""random | \bnow\b | current_(?:date|time|xact) | localtime | _timestamp\s*\( | timeofday | uuid | \btoday\b | sample | nextval
      | txid_ | \bpg_ | strftime\s*\(\s*(?:'[^']*'|"[^"]*")\s*\) | (?:date|time|julianday|unixepoch)\s*\(\s*\)""",
    re.IGNORECASE | re.VERBOSE,
)


def spider_text(text: str) -> str:
    """Return the query that Spider's script runs: without DISTINCT, its first statement alone, operators mended.

    As ``exec_eval.py`` of taoyds/test-suite-sql-eval without ``keep_distinct``.
    """
    for split, whole in _SPLIT:
        text = text.replace(split, whole)
    if "distinct" in text.lower() or ";" in text:
        text = _first_statement(text)
    return _THIS_YEAR.sub("2020", text) if "(" in text else text


def _first_statement(text: str) -> str:
    kept, begin, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        if (word := token["word"]) is not None:
            if word.lower() == "distinct":
                kept.append(text[begin : token.start()])
                begin = token.end()
        elif (mark := token["mark"]) is not None:
            depth = max(0, depth + (mark == "(") - (mark == ")"))
            if mark == ";" and not depth:
                return "".join([*kept, text[begin : token.end()]])
    return "".join([*kept, text[begin:]])


def mentions_order(gold: str) -> bool:
    """Whether a gold speaks of an order, anywhere in its text: Spider's own test."""
    return "order by" in gold.lower()


def asks_for_order(gold: str) -> bool:
    """Whether a gold asks for an order of its own rows, not of those of a query within it."""
    depth, before = 0, ""
    for token in _TOKEN.finditer(gold):
        if (mark := token["mark"]) is not None:
            depth += (mark == "(") - (mark == ")")
        elif (word := token["word"]) is not None:
            if depth <= 0 and before == "order" and word.lower() == "by":
                return True
            before = word.lower()
    return False


def varies(text: str) -> bool:
    """Whether a query may give something else when it is run again: by the time, by chance, or by what else runs."""
    lowered = text.lower()
    for sign in _SIGNS:
        if sign in lowered:
            return _VARIES.search(text) is not None
    return _EMPTY_CALL.search(text) is not None and _VARIES.search(text) is not None


gold_varies = lru_cache(maxsize=4_096)(varies)
"""The same for golds: every completion of a group is held against the same one."""
