"""Words and n-grams of a text in any script, for rewards that count them."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["ngrams"]

# Scripts without spaces count by the character; a long run without spaces is cut, so that "aaaa..." repeats itself.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,24}")


def ngrams(text: str, size: int) -> Iterator[tuple[str, ...]]:
    """Return every run of `size` words, in order, case aside; none where there are fewer words."""
    words = _WORD.findall(text.casefold())
    return zip(*(words[start:] for start in range(size)), strict=False)
