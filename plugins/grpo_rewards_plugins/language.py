"""The reward `language`: a completion written in the expected script."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards_plugins.characters import holds
from grpo_rewards_plugins.words import beyond_ascii

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Script = Literal[
    "latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "thai", "han", "japanese", "korean"
]  # fmt: skip

_ALL_LATIN = Outcome(1.0, "scored", "no letter is of another script than latin")
_NO_LETTERS = re.compile(r"[\W\d_]+")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_NO_ASCII_LETTERS = bytes(code for code in range(256) if not chr(code).isalpha() or code > 127)
_LONG = 4096  # characters, from which on a table is quicker
_NONE, _OWN, _FOREIGN = range(3)
_HAN = r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_RANGES: dict[Script, str] = {
    "latin": r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02b8\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua7ff\uff21-\uff3a\uff41-\uff5a",
    "cyrillic": r"\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "arabic": r"\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "hebrew": r"\u0590-\u05ff\ufb1d-\ufb4f",
    "devanagari": r"\u0900-\u097f\ua8e0-\ua8ff",
    "thai": r"\u0e00-\u0e7f",
    "han": _HAN,
    "japanese": rf"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f{_HAN}",
    "korean": rf"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff{_HAN}",
}


@reward(range=(0.0, 1.0))
def language(completion: str, *, script: Script = "latin") -> Outcome:
    """The completion is written in the expected script: the share of its letters that belong to it.

    Between 0 and 1 (DeepSeek-R1's language consistency is the share of words in the target language, arXiv 2501.12948,
    2.3.2; a script is what can be told of a text for certain). Digits, marks and symbols do not count; a text of
    nothing else is in no wrong script and gets 1, an empty one 0. Greek letters in formulas count as Greek, ℝ as the
    Latin letter that it stands for.

    Args:
        script: the script expected; ``japanese`` and ``korean`` include Chinese characters.
    """
    if not holds(completion):
        return Outcome(0.0, "scored", "the completion is empty")
    if script == "latin" and completion.isascii():
        return _ALL_LATIN
    raw = completion.encode("utf-8", "surrogatepass")
    # English with some marks beyond ASCII is counted faster by its bytes than by the table
    tabled = _tabled(completion, script) if len(completion) >= _LONG and len(raw) > 1.5 * len(completion) else None
    letters, foreign, first = tabled or _split(completion, raw, script)
    if not foreign:
        return Outcome(1.0, "scored", f"no letter is of another script than {script}")
    reason = f"{foreign} of {letters} letters are not {script}, such as {completion[first]!r}"
    return Outcome(1 - foreign / letters, "scored", reason)


def _split(text: str, raw: bytes, script: Script) -> tuple[int, int, int]:
    """How many letters a text (`raw`: in UTF-8) has, how many of them are of another script, and where the first of those is.

    A pattern takes long over each word; ASCII, most of most texts, is counted without.
    """
    beyond = _NO_LETTERS.sub("", beyond_ascii(raw))
    others = _pattern(script).sub("", beyond)
    counts = Counter(others)
    kinds = {char: _kind(char, script) for char in counts}
    letters = len(beyond) - sum(count for char, count in counts.items() if kinds[char] == _NONE)
    foreign = {char: count for char, count in counts.items() if kinds[char] == _FOREIGN}
    if script == "latin" and not foreign:
        return letters, 0, 0  # letters in ASCII need no counting where none is foreign
    in_ascii = len(raw.translate(None, _NO_ASCII_LETTERS))
    firsts = [text.index(next(iter(foreign)))] if foreign else []  # a counter keeps the order in which it met them
    if script != "latin" and (found := _ASCII_LETTER.search(text)):
        firsts.append(found.start())
    return in_ascii + letters, sum(foreign.values()) + (in_ascii if script != "latin" else 0), min(firsts, default=0)


def _kind(char: str, script: Script) -> int:
    """Whether a character beyond ASCII is no letter (a ² is none), one of the script, or of another.

    What Unicode keeps for compatibility is of the script that it stands for: ℝ, ﬁ and 𝐇 are Latin, a half-width ｶ is Japanese.
    """
    own = _pattern(script)
    if own.match(char):
        return _OWN
    if not char.isalpha():
        return _NONE
    return _OWN if own.match(unicodedata.normalize("NFKC", char)) else _FOREIGN


def _tabled(text: str, script: Script) -> tuple[int, int, int] | None:
    """The same by a table, which is quicker for a long text of few characters in ASCII; None where there is no numpy."""
    if (kinds := _kinds(script)) is None:
        return None
    import numpy as np

    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    if len(units) != len(text):  # characters beyond U+FFFF, where the table ends
        return None
    found = kinds[units]
    foreign = found == _FOREIGN
    return int(np.count_nonzero(found)), int(np.count_nonzero(foreign)), int(foreign.argmax())


@lru_cache(maxsize=16)
def _kinds(script: Script) -> NDArray[np.uint8] | None:
    """Whether each character up to U+FFFF is no letter, one of the script or of another; None without numpy."""
    try:
        import numpy as np
    except ImportError:
        return None
    letters = _NO_LETTERS.sub("", "".join(map(chr, range(1 << 16))))
    kinds = np.full(1 << 16, _NONE, np.uint8)
    kinds[list(map(ord, letters))] = [_kind(letter, script) for letter in letters]
    return kinds


@lru_cache(maxsize=16)
def _pattern(script: Script) -> re.Pattern[str]:
    return re.compile(f"[{_RANGES[script]}]+")
