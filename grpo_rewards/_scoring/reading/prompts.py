"""Rows of a group begin with the same prompt, and most of a row is its prompt: it is read once."""

from __future__ import annotations

from grpo_rewards._scoring.reading.rows import parse_object

__all__ = ["RowParser"]

_WORTH_IT = 64  # bytes of a row, or characters of a prompt


class RowParser:
    """Parses rows one after the other. Those that begin with the same bytes of a prompt get one object for it."""

    def __init__(self) -> None:
        self._start = b""  # of a row, up to the comma after its prompt
        self._prompt: object = None  # what that says
        self._before: object = None  # the prompt of the last row that was read whole
        self._repeats = False

    def parse(self, raw: bytes) -> dict[str, object]:
        """Return what `parse_object` returns for the row; raise what it raises."""
        if self._start and raw.startswith(self._start):
            try:
                rest = parse_object(b"{" + raw[len(self._start) :])
            except ValueError:  # said of the whole row, below
                rest = {}
            if rest and "prompt" not in rest:
                self._repeats = True
                return {"prompt": self._prompt, **rest}
        row = parse_object(raw)
        prompt = row.get("prompt")
        if self._repeats or (prompt is not None and prompt == self._before):
            self._start, self._prompt = self._through_prompt(raw, row), prompt
        self._before, self._repeats = prompt, False
        return row

    @staticmethod
    def _through_prompt(raw: bytes, row: dict[str, object]) -> bytes:
        """The bytes of a row through the comma after its prompt; none where it does not begin with one.

        What follows a comma is the rest of the object only if it is an object by itself, with a brace before it, and
        holds all else that the row does.
        """
        names, prompt = list(row), row["prompt"]
        if len(names) < 2 or names[0] != "prompt" or not isinstance(prompt, (str, list)):
            return b""
        if isinstance(prompt, str) and len(prompt) < _WORTH_IT:  # the search would cost more than it saves
            return b""
        for comma in (b', "', b',"'):
            place = raw.find(comma + names[1].encode("utf-8", "surrogatepass") + b'"')
            if place >= _WORTH_IT:
                try:
                    rest = parse_object(b"{" + raw[place + 1 :])
                except ValueError:
                    continue
                if {"prompt": prompt, **rest} == row and "prompt" not in rest:
                    return raw[: place + 1]
        return b""
