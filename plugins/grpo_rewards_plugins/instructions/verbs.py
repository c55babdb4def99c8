"""Whether a text begins with a verb."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

__all__ = ["begins_with_verb"]

_VERBS = frozenset(
    (
        "add allow analyze apply arrange ask avoid be bear become begin believe bring build buy call catch choose climb "
        "collect come compare consider convert create cut describe design discover do draw eat embrace enjoy ensure enter "
        "examine explain explore find focus follow forget gather get give go grab grow have hear help hold identify imagine "
        "implement include investigate join jump keep know learn leave let listen make meet observe open pay picture plan "
        "prepare protect provide put read recall remember repair review run save say see select send set show sing sit "
        "speak stand start stay stop take teach tell think travel try understand use visit wait walk watch write "
        "is was were are am been being has had does did went made said got took came began ran saw wrote made gave found "
        "kept knew told built stood understood brought bought caught taught thought heard held left met paid sent sat "
        "making being having doing going running taking walking writing imagine thanks picture dive unlock harness"
    ).split()
)


def begins_with_verb(tokens: Sequence[str]) -> bool:
    """Return whether the first token is a verb: to nltk's perceptron tagger where its tables are installed, else by a list.

    The tables (``nltk.download("averaged_perceptron_tagger_eng")``) are in no package. The list agrees in most cases, no more.
    """
    if not tokens:
        return False
    tagger = _tagger()
    if tagger is not None:
        return "VB" in tagger.tag(list(tokens[:3]))[0][1]  # its tag hangs on the two tokens after it, no more
    first, following = tokens[0], "".join(tokens[1:2])
    if first != "Let" and first[0].isupper() and following[:1].isupper():  # the tagger takes them for a name
        return False
    return first.lower() in _VERBS and not (first.isupper() and len(first) > 1)


@lru_cache(maxsize=1)
def _tagger() -> Any:
    from nltk.tag import PerceptronTagger

    try:
        return PerceptronTagger()
    except LookupError:
        return None
