"""nltk's English Punkt over the same tables, with what most ends of sentences need told without its tokens: five times as fast."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import resources

_ODD_SPACE = re.compile("[\x1c-\x1f]")  # white space to `re`, and none to `regex`, in which nltk's patterns are
_CLOSING = frozenset(
    "\"')]}\u2018\u2019\u201c\u201d\xab\xbb"
)  # what may begin with what Punkt moves to the sentence before


class _Punkt:
    def __init__(self) -> None:
        from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer

        packed = resources.files(__package__).joinpath("data/punkt_english.json.gz").read_bytes()
        tables = json.loads(gzip.decompress(packed))
        known = PunktParameters()
        known.abbrev_types = set(tables["abbreviations"])
        known.collocations = {(first, second) for first, second in tables["collocations"]}
        known.sent_starters = set(tables["starters"])
        known.ortho_context.update(
            {word: int(context) for context, seen in tables["contexts"].items() for word in seen.split(" ")}
        )
        nltks = PunktSentenceTokenizer(known)
        self.nltks: Callable[[str], list[str]] = nltks.tokenize
        # What a mark means depends on the words around it alone, and the same ones come again in every text of a group.
        self._breaks = lru_cache(maxsize=65536)(nltks.text_contains_sentbreak)
        self._special = known.abbrev_types | {first for first, _ in known.collocations}
        language = PunktLanguageVars()
        self._ends = re.compile(language.period_context_re().pattern, re.VERBOSE)
        self._closing = language.re_boundary_realignment

    def sentences(self, text: str) -> Iterator[str]:
        """The sentences of a text, as `PunktSentenceTokenizer.tokenize` gives them."""
        parts = self._parts(text)
        start, end = next(parts)
        skipped = 0
        for start_after, end_after in parts:
            start += skipped
            skipped = 0
            if text[start_after : start_after + 1] in _CLOSING:
                moved = self._closing.match(text[start_after:end_after])
                if moved is not None:
                    skipped = moved.end()
                    yield text[start : start_after + len(moved[0].rstrip())]
            if not skipped and start < end:
                yield text[start:end]
            start, end = start_after, end_after
        if start + skipped < end:
            yield text[start + skipped : end]

    def _parts(self, text: str) -> Iterator[tuple[int, int]]:
        """Where sentences begin and end, before closing marks are moved to the sentence that they close."""
        begin = 0
        for hit, word in self._marks(text):
            following = hit["next_tok"]
            if self._is_end(word, hit, following):
                yield begin, hit.end()
                begin = hit.end() if following is None else hit.start("next_tok")
        yield begin, len(text.rstrip())

    def _marks(self, text: str) -> Iterator[tuple[re.Match[str], str]]:
        """The marks that may end a sentence, each with the word before it; of those in one word the last."""
        spaced = text
        for other in "\t\n\r\x0b\x0c":
            spaced = spaced.replace(other, " ")
        start = stop = 0  # of the word before the last mark
        last: re.Match[str] | None = None
        for hit in self._ends.finditer(text):
            end = hit.start()
            space = spaced.rfind(" ", stop, end)
            begin = space + 1 if space > stop else start  # nltk overlooks a space where the word before ended
            if last is not None and stop <= begin:
                yield last, text[start:stop]
            last, start, stop = hit, begin, end
        if last is not None:
            yield last, text[start:stop]

    def _is_end(self, word: str, hit: re.Match[str], following: str | None) -> bool:
        """Whether a mark ends a sentence; a plain word and then another, which are the most, need no tokens."""
        if following is not None and len(word) > 1 and word.isalpha() and following[0].isalnum():
            if hit[0] != ".":
                return True
            if word.isascii() and following.isascii() and word.lower() not in self._special:
                return True
        return bool(self._breaks(f"{word}{hit[0]}{hit['after_tok']}"))


@lru_cache(maxsize=1)
def _punkt() -> _Punkt:
    return _Punkt()


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of nltk's English Punkt."""
    punkt = _punkt()
    return tuple(punkt.nltks(text) if _ODD_SPACE.search(text) else punkt.sentences(text))
