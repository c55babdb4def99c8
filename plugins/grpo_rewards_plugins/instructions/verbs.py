"""Whether a text begins with a verb, as an averaged perceptron tagger says of its first word."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple


def begins_with_verb(tokens: Sequence[str]) -> bool:
    """Return whether the first token is a verb: to nltk's perceptron tagger where its tables are installed, else by ours.

    nltk's (``nltk.download("averaged_perceptron_tagger_eng")``) are in no package. Ours are those of textblob-aptagger, from which
    nltk's tagger comes, as far as they bear on a first word: data/README.md.
    """
    if not tokens or not tokens[0]:
        return False
    tagger = _tagger()
    seen = tuple(tokens[:3])  # the tag of the first hangs on the two after it, no more
    return _tagged(seen) if tagger is None else "VB" in tagger(list(seen))[0][1]


@lru_cache(maxsize=1)
def _tagger() -> Callable[[list[str]], list[tuple[str, str]]] | None:
    """nltk's, from tokens to pairs of token and tag; None where its tables are not installed."""
    from nltk.tag import PerceptronTagger

    try:
        tag: Callable[[list[str]], list[tuple[str, str]]] = PerceptronTagger().tag
    except LookupError:
        return None
    return tag


class _Tables(NamedTuple):
    known: dict[str, bool]  # words of one tag only: whether that is a verb's
    always: Counter[str]  # what each tag weighs before anything is seen
    weights: dict[str, dict[str, str]]  # what it weighs more, by what is seen: pairs of tag and weight


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    packed = resources.files(__package__).joinpath("data/first_word_tags.json.gz").read_bytes()
    tables = json.loads(gzip.decompress(packed))
    known = {word: name == "verbs" for name, words in tables["known"].items() for word in words.split()}
    return _Tables(known, Counter(dict(_pairs(tables["always"]))), tables["weights"])


def _pairs(text: str) -> Iterator[tuple[str, int]]:
    parts = text.split()
    return ((tag, int(weight)) for tag, weight in zip(parts[::2], parts[1::2], strict=True))


@lru_cache(maxsize=8192)
def _tagged(tokens: tuple[str, ...]) -> bool:
    """The verdict of the tables on the first of up to three tokens."""
    known, always, weights = _tables()
    first = tokens[0]
    if (verb := known.get(first)) is not None:
        return verb
    # nltk's tagger pads the end of a sentence with these
    word, following, after, *_ = (*map(_normal, tokens), "-END-", "-END2-", "-END2-")
    scores = Counter(always)
    for name, seen in (
        ("suffix", first[-3:]), ("letter", first[0]), ("word", word), ("next word", following), ("next suffix", following[-3:]),
        ("word after", after),
    ):  # fmt: skip
        scores.update(dict(_pairs(weights[name].get(seen, ""))))
    # ties go to the later name, as in nltk's tagger
    return "VB" in max(scores, key=lambda tag: (scores[tag], tag))


def _normal(token: str) -> str:
    """A token as the tables have it: numbers and words with hyphens are of one kind each."""
    if "-" in token[1:] and token[0] != "-":
        return "!HYPHEN"
    if token[0].isdigit():
        return "!YEAR" if token.isdigit() and len(token) == 4 else "!DIGIT"
    return token.lower()
