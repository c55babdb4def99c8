"""The 29 checks of IF-RLVR (Pyatkin et al. 2025) that IFEval does not have."""

from __future__ import annotations

import re
from itertools import pairwise

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.classic import STARS, compared, parts
from grpo_rewards_plugins.instructions.patterns import count_of, spans
from grpo_rewards_plugins.instructions.registry import check, mended
from grpo_rewards_plugins.instructions.sentences import ruled, tokens

# ------------------------------------------------------------------------------------------------ copying


@check("copy:copy", "ifrlvr", prompt_to_repeat=of.text)
@check("copy:copying_simple", "ifrlvr", prompt_to_repeat=of.text)
def copying(text: str, prompt_to_repeat: str) -> bool:
    """The text is the prompt, case ignored."""
    return text.strip().lower() == prompt_to_repeat.strip().lower()


@check("copy:copying_multiple", "ifrlvr", prompt_to_repeat=of.text, N=of.position)
def copying_multiple(text: str, prompt_to_repeat: str, N: int) -> bool:
    """The prompt stands there N times between six asterisks."""
    found = text.split("******")
    return len(found) == N and all(copying(part, prompt_to_repeat) for part in found)


@check("new:copy_span_idx", "ifrlvr", prompt_to_repeat=of.text, n_start=of.count, n_end=of.count)
def copy_span_idx(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The text is a span of the prompt's characters, the last excluded, case ignored."""
    return copying(text, prompt_to_repeat[n_start:n_end])


@mended("new:copy_span_idx")
def copy_span_idx_whole(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """The same with the last character, as the prompt says."""
    return copying(text, prompt_to_repeat[n_start : n_end + 1])


def _finds(first: str, last: str, text: str) -> list[str]:
    """What stands from `first` to the next `last` on its line, without overlaps; both are patterns, as in the original."""
    # plain words are searched without the lazy pattern, which looks to the end of the line from each first word
    if re.escape(first) != first or re.escape(last) != last:
        return [text[slice(*hit.span())] for hit in spans(f"{first} .*? {last}", text, ignore_case=False)]
    found = []
    for line in text.split("\n"):
        at = line.find(first + " ")
        while at >= 0 and (end := line.find(" " + last, at + len(first) + 1)) >= 0:
            found.append(line[at : end + 1 + len(last)])
            at = line.find(first + " ", end + 1 + len(last))
    return found


@check("copy:repeat_phrase", "ifrlvr", phrase=of.text, small_n=of.position)
def repeat_phrase(text: str, phrase: str, small_n: int) -> bool:
    """The phrase is found N times by its first and last word, each time with one word changed."""
    wanted = phrase.split()
    found = [hit.split() for hit in _finds(wanted[0], wanted[-1], text)]
    return len(found) == small_n and all(
        len(hit) == len(wanted) and sum(one != other for one, other in zip(hit, wanted, strict=True)) == 1
        for hit in found
    )


# ------------------------------------------------------------------------------------------------ form


@check("detectable_format:sentence_hyphens", "ifrlvr")
def sentence_hyphens(text: str) -> bool:
    """Sentences are joined by hyphens without spaces; compared up to the shorter side."""
    joined = ruled(text.replace("-", " "))
    return all(one.strip() == one == other for one, other in zip(text.split("-"), joined, strict=False))


@check("detectable_format:square_brackets", "ifrlvr")
def square_brackets(text: str) -> bool:
    """Every word stands in square brackets."""
    return all(word.startswith("[") and word.endswith("]") for word in text.split())


@check("detectable_format:bigram_wrapping", "ifrlvr")
def bigram_wrapping(text: str) -> bool:
    """Every two words stand in double angular brackets; a last odd one goes free."""
    found = text.split()
    return all(
        one.startswith("<<") and other.endswith(">>") for one, other in zip(found[::2], found[1::2], strict=False)
    )


@check("paragraphs:paragraphs", "ifrlvr")
def paragraphs(text: str) -> bool:
    """Three asterisks divide two paragraphs."""
    return parts(STARS.split(text)) == 2


@check("paragraphs:paragraphs2", "ifrlvr")
def paragraphs2(text: str) -> bool:
    """A blank line divides two paragraphs."""
    return parts(text.split("\n\n")) == 2


@check("punctuation:punctuation_dot", "ifrlvr")
def punctuation_dot(text: str) -> bool:
    """There is no full stop."""
    return "." not in text


@check("punctuation:punctuation_exclamation", "ifrlvr")
def punctuation_exclamation(text: str) -> bool:
    """There is no exclamation mark."""
    return "!" not in text


# ------------------------------------------------------------------------------------------------ first and last words

_NO_WORD = re.compile(r"[^\w\s]")


def _last(words: str) -> str:
    """The last word in lower case, without marks."""
    return _NO_WORD.sub("", words.split()[-1]).lower()


def _bare_words(text: str) -> list[str]:
    """The words in lower case, without marks."""
    return [bare for word in text.lower().split() if (bare := _NO_WORD.sub("", word))]


@check("first_word:first_word_sent", "ifrlvr", first_word=of.first_text)
def first_word_sent(text: str, first_word: str) -> bool:
    """Every sentence begins with the word, marks included, case ignored."""
    return all(sentence and sentence.split()[0].lower() == first_word.strip().lower() for sentence in ruled(text))


@check("first_word:first_word_answer", "ifrlvr", first_word=of.text)
def first_word_answer(text: str, first_word: str) -> bool:
    """The text begins with the word, marks included, case ignored."""
    return text.split(None, 1)[0].lower() == first_word.strip().lower()


@check("last_word:last_word_sent", "ifrlvr", last_word=of.first_text)
def last_word_sent(text: str, last_word: str) -> bool:
    """Every sentence ends with the word, marks and case ignored."""
    return all(sentence and _last(sentence) == last_word.strip().lower() for sentence in ruled(text))


@check("last_word:last_word_answer", "ifrlvr", last_word=of.text)
def last_word_answer(text: str, last_word: str) -> bool:
    """The text ends with the word, marks and case ignored."""
    return _last(text) == last_word.strip().lower()


# ------------------------------------------------------------------------------------------------ keywords


@check("keywords:word_once", "ifrlvr", keyword=of.text)
def word_once(text: str, keyword: str) -> bool:
    """The keyword is found once, within words too."""
    return count_of(keyword.strip(), text) == 1


@check("count:count_increment_word", "ifrlvr", keyword1=of.text, keyword2=of.text)
def count_increment_word(text: str, keyword1: str, keyword2: str) -> bool:
    """The first keyword is found once and the second twice, within words too."""
    return count_of(keyword1.strip(), text) == 1 and count_of(keyword2.strip(), text) == 2


@check("keywords:exclude_word_harder", "ifrlvr", ignored=("instruction",), keyword=of.text)
def exclude_word_harder(text: str, keyword: str) -> bool:
    """The keyword does not stand between spaces."""
    return f" {keyword.strip()} " not in text


@mended("keywords:exclude_word_harder")
def exclude_word(text: str, keyword: str) -> bool:
    """The keyword does not stand as a word, case ignored."""
    return re.search(rf"(?<!\w){re.escape(keyword.strip())}(?!\w)", text, re.IGNORECASE) is None


@check("keywords:no_adjacent_consecutive", "ifrlvr")
def no_adjacent_consecutive(text: str) -> bool:
    """No word begins with the character after that of the word before it."""
    firsts = [word[0].lower() for word in text.split()]
    # lower() makes two characters of some (U+0130), which ord() does not take
    return all(len(one) == len(other) == 1 and ord(other) - ord(one) != 1 for one, other in pairwise(firsts))


@check("keywords:palindrome", "ifrlvr")
def palindrome(text: str) -> bool:
    """Some word is a palindrome; one letter is."""
    return any(word == word[::-1] for word in text.split())


@mended("keywords:palindrome")
def palindrome_long(text: str) -> bool:
    """The same, of three letters or more, case and marks aside."""
    found = [_NO_WORD.sub("", word).lower() for word in text.split()]
    return any(len(word) > 2 and word == word[::-1] for word in found)


@check(
    "keywords:keyword_specific_position", "ifrlvr", needs="nltk",
    keyword=of.first_text, n=of.position, m=of.position,
)  # fmt: skip
def keyword_specific_position(text: str, keyword: str, n: int, m: int) -> bool:
    """The m-th token of the n-th sentence is the keyword."""
    found = ruled(text)
    if len(found) < n:
        return False
    spoken = tokens(found[n - 1])
    return len(spoken) >= m and spoken[m - 1] == keyword.strip()


@check("keywords:start_end", "ifrlvr", needs="nltk")
def start_end(text: str) -> bool:
    """The first and the last token are the same, case ignored; a full stop is a token."""
    found = tokens(text)
    return len(found) > 1 and found[0].lower() == found[-1].lower()


@mended("keywords:start_end")
def start_end_words(text: str) -> bool:
    """The same of words, without marks."""
    found = _bare_words(text)
    return len(found) > 1 and found[0] == found[-1]


# ------------------------------------------------------------------------------------------------ counts

_LOWERCASE = re.compile(r"\b[a-z]+\b")
_LETTERS = re.compile("[a-zA-Z]")


@check("count:lowercase_counting", "ifrlvr", N=of.count)
def lowercase_counting(text: str, N: int) -> bool:
    """At most so many words are in lower case."""
    return len(_LOWERCASE.findall(text)) <= N


@check("letters:letter_counting", "ifrlvr", N=of.count, relation=of.relation)
def letter_counting(text: str, N: int, relation: bool) -> bool:
    """There are enough letters of a to z, or few enough."""
    return compared(len(_LETTERS.findall(text)), N, relation)


@check("count:counting_composition", "ifrlvr", needs="nltk", n_sent=of.count, n_words=of.count)
def counting_composition(text: str, n_sent: int, n_words: int) -> bool:
    """Three paragraphs between three asterisks, each of so many sentences of so many tokens."""
    found = STARS.split(text)
    return parts(found) == 3 and all(
        len(sentences := ruled(part)) == n_sent and all(len(tokens(sentence)) == n_words for sentence in sentences)
        for part in found
    )


@check("count:count_unique", "ifrlvr", needs="nltk")
def count_unique(text: str) -> bool:
    """No token comes twice; marks are tokens."""
    found = tokens(text)
    return len(found) == len(set(found))


@mended("count:count_unique")
def count_unique_words(text: str) -> bool:
    """The same of words, case and marks aside."""
    found = _bare_words(text)
    return len(found) == len(set(found))
