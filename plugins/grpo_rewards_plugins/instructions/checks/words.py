"""IFBench's checks `sentence:` and `words:`."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.counts import AROUND, MARKS, NO_MARKS
from grpo_rewards_plugins.instructions.registry import check, mended
from grpo_rewards_plugins.instructions.sentences import punkt, tokens
from grpo_rewards_plugins.instructions.verbs import begins_with_verb


def _alliterating(sentence: str) -> int:
    """How many words begin like a neighbour, counted run by run."""
    firsts = [bare[0] for word in sentence.lower().split() if (bare := word.lstrip(AROUND))]
    same = [one == other for one, other in pairwise(firsts)]
    return sum(1 if before else 2 for before, now in zip([False, *same], same, strict=False) if now)


@check("sentence:alliteration_increment", "ifbench", needs="nltk")
def alliteration_increment(text: str) -> bool:
    """Each sentence has more alliterating words than the one before; one sentence will do."""
    return all(one < other for one, other in pairwise([-1, *map(_alliterating, punkt(text))]))


@check("sentence:keyword", "ifbench", needs="nltk", word=of.text, N=of.position)
def keyword(text: str, word: str, N: int) -> bool:
    """The N-th sentence has the word, case ignored."""
    found = punkt(text)
    return len(found) >= N and re.search(rf"\b{re.escape(word)}\b", found[N - 1], re.IGNORECASE) is not None


@check("sentence:increment", "ifbench", needs="nltk", small_n=of.count)
def increment(text: str, small_n: int) -> bool:
    """Each sentence has so many words more than the one before; one sentence will do."""
    sizes = [len(sentence.translate(NO_MARKS).split()) for sentence in punkt(text)]
    return all(other == one + small_n for one, other in pairwise(sizes))


_PRIMES = frozenset(n for n in range(2, 100) if all(n % d for d in range(2, n)))
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxyz")


@check("words:alphabet", "ifbench")
def alphabet(text: str) -> bool:
    """Each word begins with the letter of the alphabet after that of the word before it."""
    found = text.translate(NO_MARKS).split()
    at = string.ascii_lowercase.find(found[0][0].lower()) if found else -1
    # z is followed by a
    return at >= 0 and all(
        word.lower()[0] == string.ascii_lowercase[(at + step) % 26] for step, word in enumerate(found[1:], 1)
    )


@check("words:vowel", "ifbench")
def vowel(text: str) -> bool:
    """On one line stand at most three kinds of vowels."""
    text = text.strip()
    return "\n" not in text and len(set("aeiou") & set(text.lower())) <= 3


@check("words:consonants", "ifbench")
def consonants(text: str) -> bool:
    """Every word has two consonants beside each other."""
    return all(
        any(one in _CONSONANTS and other in _CONSONANTS for one, other in pairwise(word))
        for word in text.lower().split()
    )


def _palindromes(text: str) -> list[str]:
    return [word for word in text.translate(NO_MARKS).lower().split() if len(word) >= 5 and word == word[::-1]]


@check("words:palindrome", "ifbench")
def palindrome(text: str) -> bool:
    """There are ten palindromes of five letters or more; one may come again."""
    return len(_palindromes(text)) >= 10


@mended("words:palindrome")
def palindrome_different(text: str) -> bool:
    """The same, ten different ones."""
    return len(set(_palindromes(text))) >= 10


@check("words:prime_lengths", "ifbench")
def prime_lengths(text: str) -> bool:
    """The length of every word is a prime number below 100."""
    return all(len(word) in _PRIMES for word in text.translate(NO_MARKS).split())


@check("words:start_verb", "ifbench", needs="nltk")
def start_verb(text: str) -> bool:
    """The first token is a verb to nltk's perceptron tagger."""
    return begins_with_verb(tokens(text))


@check("words:repeats", "ifbench", small_n=of.count)
def repeats(text: str, small_n: int) -> bool:
    """No word stands more than so often."""
    return max(Counter(text.lower().translate(NO_MARKS).split()).values(), default=0) <= small_n


# the same words stand in all texts of a group
@lru_cache(maxsize=65536)
def _odd(word: str) -> bool:
    return bool(_count_syllables()(word) % 2)


@lru_cache(maxsize=1)
def _count_syllables() -> Callable[[str], int]:
    import syllapy

    count: Callable[[str], int] = syllapy.count
    return count


@check("words:odd_even_syllables", "ifbench", needs="syllapy")
def odd_even_syllables(text: str) -> bool:
    """Words of an odd and of an even number of syllables take turns, as syllapy counts them."""
    return all(one != other for one, other in pairwise(map(_odd, text.translate(NO_MARKS).lower().split())))


@check("words:last_first", "ifbench", needs="nltk")
def last_first(text: str) -> bool:
    """The last word of each sentence is the first of the next; one sentence will do."""
    for one, other in pairwise(punkt(text)):
        last, first = one.rstrip(AROUND).split(), other.lstrip(AROUND).split()
        if not last or not first or last[-1].lower() != first[0].lower():
            return False
    return True


@check("words:paragraph_last_first", "ifbench")
def paragraph_last_first(text: str) -> bool:
    """Every line ends with the word that it begins with."""
    lines = [line.strip().lower().strip(AROUND).split() for line in text.split("\n")]
    return all(line[0] == line[-1] for line in lines if line)


@check("words:no_consecutive", "ifbench")
def no_consecutive(text: str) -> bool:
    """No two words beside each other begin with the same letter."""
    return all(one[0] != other[0] for one, other in pairwise(text.lower().translate(NO_MARKS).split()))


@check("words:keywords_specific_position", "ifbench", needs="nltk", keyword=of.text, n=of.position, m=of.position)
def keywords_specific_position(text: str, keyword: str, n: int, m: int) -> bool:
    """The m-th word of the n-th sentence is the keyword, case and tokens of marks ignored."""
    found = punkt(text)
    if len(found) < n:
        return False
    spoken = [token for token in tokens(found[n - 1]) if any(map(str.isalnum, token))]
    return len(spoken) >= m and spoken[m - 1].lower() == keyword.strip().lower()


@check("words:words_position", "ifbench", needs="nltk", keyword=of.text)
def words_position(text: str, keyword: str) -> bool:
    """The second token and the last but one, a closing mark aside, are the keyword."""
    found = tokens(text)
    # a closing mark is a token of its own to nltk
    place = -3 if found and found[-1] in MARKS else -2
    return len(found) >= -place and found[1].lower() == found[place].lower() == keyword.strip().lower()
