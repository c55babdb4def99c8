"""IFBench's checks `count:` and `ratio:` (Pyatkin et al. 2025, arXiv 2507.02833)."""

from __future__ import annotations

import re
import string
from itertools import pairwise

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.registry import check, mended
from grpo_rewards_plugins.instructions.sentences import punkt, tokens, words
from grpo_rewards_plugins.instructions.tables import CONJUNCTIONS, NAMES, PRONOUNS, STOP_WORDS

MARKS = string.punctuation
AROUND = MARKS + " "
NO_MARKS = str.maketrans("", "", MARKS)

_NAME = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
_PRONOUNS, _STOP_WORDS, _CONJUNCTIONS = frozenset(PRONOUNS), frozenset(STOP_WORDS), frozenset(CONJUNCTIONS)
_DIGITS = re.compile(r"\d+")
_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


@check("count:word_count_range", "ifbench", min_words=of.count, max_words=of.count)
def word_count_range(text: str, min_words: int, max_words: int) -> bool:
    """The number of words lies in a range."""
    return min_words <= len(words(text)) <= max_words


@check("count:unique_word_count", "ifbench", N=of.count)
def unique_word_count(text: str, N: int) -> bool:
    """There are enough different words; one of marks alone is one too."""
    return len({word.strip(AROUND) for word in text.lower().split()}) >= N


@check("count:conjunctions", "ifbench", small_n=of.count)
def conjunctions(text: str, small_n: int) -> bool:
    """There are enough different conjunctions, as they are written: ``and`` and ``and,`` are two."""
    return len({word for word in text.split() if word.strip(AROUND).lower() in _CONJUNCTIONS}) >= small_n


@mended("count:conjunctions")
def conjunctions_once(text: str, small_n: int) -> bool:
    """The same, each conjunction once."""
    return len({bare for word in text.split() if (bare := word.strip(AROUND).lower()) in _CONJUNCTIONS}) >= small_n


@check("count:person_names", "ifbench", N=of.count)
def person_names(text: str, N: int) -> bool:
    """Enough different names of the list stand in the text as words."""
    return len(set(_NAME.findall(text))) >= N


@check("count:numbers", "ifbench", N=of.count)
def numbers(text: str, N: int) -> bool:
    """There are exactly so many runs of digits once marks are gone: ``3.5`` is one, and ``2-3``."""
    return len(_DIGITS.findall(text.translate(NO_MARKS))) == N


@check("count:punctuation", "ifbench")
def punctuation(text: str) -> bool:
    """Every mark of ``.,!?;:`` stands there, and an interrobang besides."""
    if not any(mark in text for mark in ("!?", "?!", "‽")):
        return False
    # taken out, so that its two marks do not stand for those that are asked for besides
    without = text.replace("?!", "", 1)
    if len(without) == len(text):
        without = text.replace("!?", "", 1)
    return all(mark in without for mark in ".,!?;:")


@check("count:words_japanese", "ifbench", N=of.position)
def words_japanese(text: str, N: int) -> bool:
    """Every N-th word has a Japanese character, but where it is digits or marks."""
    every = [word.strip(AROUND) for word in text.split()[N - 1 :: N]]
    return all(not word or word.isdigit() or _JAPANESE.search(word) for word in every)


@check("count:pronouns", "ifbench", needs="nltk", N=of.count)
def pronouns(text: str, N: int) -> bool:
    """There are enough pronouns."""
    # "he/she" is one token to nltk
    return sum(1 for token in tokens(text.replace("/", " ").lower()) if token in _PRONOUNS) >= N


@check(
    "count:keywords_multiple", "ifbench",
    keyword1=of.text, keyword2=of.text, keyword3=of.text, keyword4=of.text, keyword5=of.text,
)  # fmt: skip
def keywords_multiple(text: str, **keywords: str) -> bool:
    """The keywords stand 1, 2, 3, 5 and 7 times, within words too."""
    lowered = text.lower()
    wanted = {"keyword1": 1, "keyword2": 2, "keyword3": 3, "keyword4": 5, "keyword5": 7}
    return all(lowered.count(keywords[name].strip().lower()) == times for name, times in wanted.items())


# ------------------------------------------------------------------------------------------------ ratios


@check("ratio:stop_words", "ifbench", percentage=of.count)
def stop_words(text: str, percentage: int) -> bool:
    """At most such a share of the words are stop words."""
    found = words(text)
    stops = sum(1 for word in found if word.lower() in _STOP_WORDS)
    return bool(found) and stops / len(found) * 100 <= percentage


def _ends(text: str, marks: str) -> list[int]:
    """How many sentences end in each mark."""
    lasts = [sentence[-1:] for sentence in punkt(text)]
    return [lasts.count(mark) for mark in marks]


@check("ratio:sentence_type", "ifbench", needs="nltk")
def sentence_type(text: str) -> bool:
    """There are twice as many statements as questions; none of either will do."""
    statements, questions = _ends(text, ".?")
    return statements == 2 * questions


@mended("ratio:sentence_type")
def sentence_type_some(text: str) -> bool:
    """The same, with at least one question."""
    statements, questions = _ends(text, ".?")
    return statements == 2 * questions > 0


@check("ratio:sentence_balance", "ifbench", needs="nltk")
def sentence_balance(text: str) -> bool:
    """There are as many statements as questions as exclamations; none of any will do."""
    return len(set(_ends(text, ".?!"))) == 1


@mended("ratio:sentence_balance")
def sentence_balance_some(text: str) -> bool:
    """The same, with at least one of each."""
    ends = _ends(text, ".?!")
    return len(set(ends)) == 1 and ends[0] > 0


def _overlap(ours: set[tuple[str, ...]], theirs: set[tuple[str, ...]], percentage: int) -> bool:
    return bool(ours) and percentage - 2 <= len(ours & theirs) / len(ours) * 100 <= percentage + 2


@check("ratio:overlap", "ifbench", reference_text=of.text, percentage=of.count)
def overlap(text: str, reference_text: str, percentage: int) -> bool:
    """The share of runs of three *characters* that the reference has too is so much, give or take 2."""
    return _overlap(
        set(zip(text, text[1:], text[2:], strict=False)),
        set(zip(reference_text, reference_text[1:], reference_text[2:], strict=False)),
        percentage,
    )


@mended("ratio:overlap")
def overlap_of_words(text: str, reference_text: str, percentage: int) -> bool:
    """The same of runs of three words, which is what the prompt asks for."""
    ours, theirs = text.lower().split(), reference_text.lower().split()
    return _overlap(
        set(zip(ours, ours[1:], ours[2:], strict=False)),
        set(zip(theirs, theirs[1:], theirs[2:], strict=False)),
        percentage,
    )


@check("ratio:sentence_words", "ifbench", needs="nltk")
def sentence_words(text: str) -> bool:
    """There are three sentences of as many characters each."""
    found = punkt(text)
    return len(found) == 3 and len({len(sentence.strip()) for sentence in found}) == 1


@mended("ratio:sentence_words")
def sentence_words_differ(text: str) -> bool:
    """The same, with no word in two of them."""
    found = [{word.lower() for word in words(sentence)} for sentence in punkt(text)]
    return sentence_words(text) and all(not one & other for one, other in pairwise([*found, found[0]]))
