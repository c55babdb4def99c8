"""The text of a query, as each rule runs it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

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


_COMMENT = re.compile(r"('(?:[^']|'')*')|--[^\n]*|/\*.*?\*/", re.DOTALL)
_SELECTED = re.compile(
    r"\s*SELECT\s(?:\s*(?:DISTINCT|ALL)\s)?(?P<values>(?:'[^']*'|(?!\bFROM\b)[^'])*)\bFROM\b(?P<rest>.*)", re.I | re.S
)
_COMPOUND = re.compile(r"\b(?:UNION|INTERSECT|EXCEPT)\b", re.IGNORECASE)
_VALUE = re.compile(r"'((?:[^']|'')*)'|(?<![\w.])(\d+(?:\.\d*)?|\.\d+|NULL|TRUE|FALSE)(?![\w.])", re.IGNORECASE)
_NAMED = re.compile(r"\bAS\s+[\w\"`]+", re.IGNORECASE)
# of a constant they give the same whatever the rows are, as count and sum do not
_PURE = re.compile(
    r"\b(?:abs|round|cast|coalesce|ifnull|min|max|avg|lower|upper|trim)\s*\(|[-+*/%|(),\s]", re.IGNORECASE
)


def writes_values(query: str, gold: str) -> bool:
    """Whether each value that a query selects is written in it (``SELECT 4 FROM t WHERE id = 1``), and the gold neither does the same
    nor has these values in it (``SELECT 'x' ... WHERE kind = 'x'`` selects what it asks for).
    """
    values = _written(query)
    return bool(values) and not _written(gold) and not {value.lower() for value in values} <= _gold_values(gold)


def _written(query: str) -> list[str]:
    """The values of a SELECT that gives nothing else."""
    found = _SELECTED.match(_COMMENT.sub(lambda hit: hit[1] or " ", query))
    if found is None or _COMPOUND.search(found["rest"]) is not None:
        return []
    text = _NAMED.sub("", found["values"])
    parts = [part.strip() for part in _VALUE.sub("1", text).split(",")]
    if any(part.startswith("*") for part in parts) or _PURE.sub("", _VALUE.sub("", text)):
        return []
    return [hit[1] if hit[2] is None else hit[2] for hit in _VALUE.finditer(text)]


def computes_values(query: str, gold: str, given: Iterable[object]) -> bool:
    """Whether a query selects with values that its gold does not name (``SELECT id + 3 ...``), or names what it gives
    (``SELECT id ... WHERE id = 4``).
    """
    text = _COMMENT.sub(lambda hit: hit[1] or " ", query)
    found = _SELECTED.match(text)
    selected = _values(found["values"]) if found is not None else frozenset()
    return not selected | (_values(text) & {str(value).lower() for value in given}) <= _gold_values(gold)


def _values(text: str) -> frozenset[str]:
    return frozenset((hit[1] if hit[2] is None else hit[2]).lower() for hit in _VALUE.finditer(text))


_gold_values = lru_cache(maxsize=4_096)(_values)


_ODD = "\\[$#"  # they make it hard to say where a text is quoted, as does what is not ASCII
_QUOTES = "'\"`"
_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`)""")
_QUOTED_OR_COMMENT = re.compile(rf"{_QUOTED.pattern}|--[^\n]*")


def same_form(text: str) -> str:
    """Return a text that two queries share only where SQLite takes them for the same one.

    White space, comments and case outside of quotes do not count, nor does a last semicolon; a text with anything odd in it is its own form.
    """
    shown = text if text.isprintable() else text.translate(_SHOWN)
    if not (shown.isascii() and shown.isprintable()) or "/*" in text or any(map(text.__contains__, _ODD)):
        return text
    if "--" in text:
        before, _, said = text.rpartition("--")
        text = _without_comments(text) if "--" in before or any(map(said.__contains__, _AFTER)) else before
    if not any(map(text.__contains__, _QUOTES)):
        return " ".join(text.lower().split()).removesuffix(";").rstrip()
    parts = _QUOTED.split(text)
    # a character that no printable text holds keeps the place of each quoted text
    outside = " ".join("\x01".join(parts[::2]).lower().split()).removesuffix(";").rstrip()
    return outside + "".join(parts[1::2])


_SHOWN = str.maketrans("\t\n\r", "   ")
_AFTER = "\n" + _QUOTES


def _without_comments(text: str) -> str:
    return _QUOTED_OR_COMMENT.sub(lambda hit: hit[1] or " ", text)


gold_form = lru_cache(maxsize=4_096)(same_form)
gold_varies = lru_cache(maxsize=4_096)(varies)
"""The same for golds: every completion of a group is held against the same one."""
