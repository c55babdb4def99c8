"""The reward `multiple_choice`: the letter of the right option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import (
    Place,
    extract,
    final_text,
    find_answer,
    line_after_phrase,
    outside_code,
    own_question,
    tagged,
)
from grpo_rewards_plugins.bounds import tag_name
from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.characters import typed
from grpo_rewards_plugins.exact import normal_text

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST = 2000  # characters of an answer that are read
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed|mbox)\s{0,5}\{([^{}]{0,200})\}")
_OWN_LETTER = re.compile(r"^\s*(?:\([A-Z]\)|[A-Z][.):])\s+")
_DECORATION = str.maketrans("", "", "*_`$\"'")
# apostrophes are gone by then
_LEAD = re.compile(
    r"(?:(?:the|final|correct|best|right|my|answer|option|choice|is|its|it is|would be|must be|so|thus|hence|therefore"
    r"|(?:id|ill|we|i|i would|i will|we would) (?:choose|pick|select|say|go with|go for))\b[ :=,]{0,5}){0,8}",
    re.I,
)
_WRONG = r"(?:is|are|was|were) (?:all |both |\w{1,12}ly )?(?:wrong|false|incorrect|untrue|not (?:right|correct|true))"


def _check(settings: SettingValues) -> None:
    tag_name(settings)
    letters = settings["letters"]
    if not letters.isalpha() or not letters.isascii() or len(set(letters.upper())) != len(letters):
        raise ValueError(f"letters must be different letters from A to Z, such as ABCD, not {letters!r}")


def _check_row(answer: object = None, choices: object = None, **_columns: object) -> str | None:
    options = Options.of(choices)
    if (problem := options.problem or options.label_problem(_LETTERS)) is not None:
        return problem
    if right_letter(answer, options.texts, _LETTERS) is None:
        return (
            f"answer must be a letter, the index of an option counted from 0, or an option's text, not {answer!r:.80}"
        )
    return None


@reward(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def multiple_choice(
    completion: str,
    answer: str | int,
    choices: list[object] | None = None,
    *,
    letters: str = "ABCDEFGHIJ",
    place: Place = "auto",
    tag: str = "answer",
) -> Outcome:
    """The completion chooses the right option.

    1 or 0. A choice is a letter in any usual dress: ``B``, ``(b)``, ``B.``, ``**B**``, ``\\text{B}``, ``Option B``,
    ``The answer is B``, ``I'd go with B``, ``B) Paris``; or, where the column `choices` is there, exactly the text of an
    option, before its letter or a reason. What is ruled out does not count (``B, not C``, ``C is wrong``). A hedge scores
    0: two different letters (``A or B``, ``B, maybe C``), the options once more, ``all of the above`` where it is no option.

    Args:
        answer: the right letter, or its index counted from 0 (MMLU), or the text of the right option.
        choices: the texts of the options in order, or by their letters (``{"A": "Paris"}``), or either as JSON; also
            bounds the letters.
        letters: the letters of the options in order (ours: A to J; MMLU-Pro has ten).
        place: where the choice stands: ``tag``, ``box``, ``hash`` (after ``####``), ``text`` (all of it), or
            ``auto``: the one of the first three that comes last, else after the last ``answer is``, else the last line.
        tag: the tag that holds the choice.
    """
    options = Options.of(choices)
    texts, known = options.texts, options.letters(letters)
    if (problem := options.problem or options.label_problem(known)) is not None:
        return Outcome(None, "not_applicable", problem)
    gold = right_letter(answer, texts, known)
    if gold is None:
        return Outcome(None, "not_applicable", f"the column answer holds no option: {answer!r:.60}")
    found = _where(completion, place, tag, texts, known)
    if found is None:
        return Outcome(0.0, "scored", f"no answer found ({place})")
    choice = _read(found, texts, known)
    if choice.letter == gold:
        return Outcome(1.0, "scored", f"{gold} is chosen")
    return Outcome(0.0, "scored", choice.problem or f"{choice.letter} is not {gold}")


@dataclass(frozen=True, slots=True)
class Options:
    """A cell of options, read once: their texts in order, what they are called, and why the cell cannot be read."""

    texts: Sequence[str] = ()
    labels: Sequence[object] = ()
    problem: str | None = None

    @classmethod
    def of(cls, choices: object) -> Options:
        """Read the cell of public data: a list, ARC's ``{"text": [...], "label": [...]}`` or MedQA's ``{"A": ..., "B": ...}``."""
        cell = from_json(plain(choices))
        if is_blank(cell):
            return cls()
        labels, read = (), True
        if isinstance(cell, Mapping):
            labels = plain(cell.get("label"))
            read = "text" in cell or "".join(sorted(map(str, cell))) == _LETTERS[: len(cell)]
            cell = plain(cell["text"]) if "text" in cell else [cell[letter] for letter in sorted(cell, key=str)]
        texts = cell if isinstance(cell, list | tuple) else None
        problem = None
        if not read or texts is None or not all(isinstance(text, str | int | float) for text in texts):
            problem = f"choices must be a list of texts, or an object of them by A, B, ..., not {choices!r:.80}"
        found = _without_letters([str(text) for text in texts or ()])
        return cls(found, labels if isinstance(labels, list | tuple) else (), problem)

    def letters(self, known: str) -> str:
        """Those of the `known` letters that an option has; all of them where there are no options."""
        return known.upper()[: len(self.texts) or None]

    def label_problem(self, letters: str) -> str | None:
        """Why the options cannot be told by these letters: ARC calls those of some questions 1, 2, 3, 4."""
        wanted = letters[: len(self.labels)]
        if not self.labels or "".join(str(label).strip("().: ").upper() for label in self.labels) == wanted:
            return None
        return f"the options are called {', '.join(map(str, self.labels[:6]))}, not {', '.join(wanted[:6])}"


def _without_letters(texts: list[str]) -> list[str]:
    """Options without their own letters (``A. Paris``), if all have them."""
    bare = [_OWN_LETTER.sub("", text, count=1) for text in texts]
    lettered = "".join(text.lstrip(" (")[:1] for text in texts) == _LETTERS[: len(texts)]
    return bare if lettered and all(map(len, bare)) and all(map(str.__ne__, bare, texts)) else texts


@dataclass(frozen=True, slots=True)
class _Choice:
    """The letter that was chosen, or what keeps the answer from being one choice."""

    letter: str = ""
    problem: str = ""


def _where(text: str, place: Place, tag: str, texts: Sequence[str], letters: str) -> str | None:
    if place != "auto":
        return find_answer(text, place=place, tag=tag)
    if (marked := extract(text, order=("tag", "box", "hash"), tag=tag).text) is not None:
        return marked
    final = own_question(outside_code(final_text(text)))
    # an empty tag is an empty answer, and no reason to look elsewhere
    if tagged(final, tag) is not None:
        return ""
    if (said := line_after_phrase(final)) is not None:
        return said
    above, _, last = (line.strip() for line in final.rstrip().rpartition("\n"))
    above = above.rpartition("\n")[2].strip()
    # the options once more are no choice of the one that comes last
    return f"{above} or {last}" if _is_option(above, texts, letters) and _is_option(last, texts, letters) else last


def _is_option(line: str, texts: Sequence[str], letters: str) -> bool:
    """Whether a line is an option as a question lists it: its letter and its text, and nothing else."""
    head = _head(letters).fullmatch(_bare(line[:_LONGEST])) if texts else None
    return head is not None and _named(_without_mark(head["rest"]), texts, letters) == head["letter"].upper()


def _without_mark(rest: str) -> str:
    return rest.lstrip(".)]:;,/&|-–— ")


def _read(text: str, texts: Sequence[str], letters: str) -> _Choice:
    if len(text) > _LONGEST:
        return _Choice(problem=f"the answer has {len(text)} characters; a choice is wanted")
    plain = _bare(text)
    if not plain:
        return _Choice(problem="the answer is empty")
    # the texts first: an option's own text may be a letter
    if (named := _named(plain, texts, letters)) is not None:
        return _Choice(named)
    # then its letter, and last its text, read as the letter that it has
    chosen = _chosen(plain, letters) or (_chosen(_lettered(plain, texts, letters), letters) if texts else None)
    if chosen is None:
        return _Choice(problem=f"{plain[:60]!r} is not a choice among {letters[0]} to {letters[-1]}")
    letter, rest = chosen
    if texts and (other := _named(_without_mark(rest), texts, letters)) is not None:
        return _Choice(letter) if other == letter else _Choice(problem=f"{letter} is not the option {rest[:40]!r}")
    for match in _hedge(letters).finditer(_without_asides(rest, letters)):
        if match["letter"].upper() != letter:
            return _Choice(problem=f"a hedge: {letter} and {match['letter'].upper()}")
    return _Choice(letter)


def _without_asides(rest: str, letters: str) -> str:
    """What follows a letter, without the sentences that only say of other options why not: "Options A and C are too small"."""
    return " ".join(
        part for part in _SENTENCES.split(rest) if _of_others(letters).match(part) is None or _AFFIRMS.search(part)
    )


_SENTENCES = re.compile(r"(?<=[.;!?])\s+|,? (?:since|because) ")
# what may speak for another option
_AFFIRMS = re.compile(
    r"\b(?:also|correct|right|true|possible|plausible|valid|likely|could|can|may|might|must|should|as well|equally|best|better|answer|works?|fits?|holds?"
    r"|satisf\w+|matches|guess|either|or|alternative|instead|yes|too(?! [a-z]))\b|\?",
    re.IGNORECASE,
)


def _chosen(plain: str, letters: str) -> tuple[str, str] | None:
    """The letter that an answer begins with, but for those it rules out, and what follows it."""
    claimed = _ruled_out(letters).sub("", plain).lstrip(" ,.;:").rstrip()
    head = _head(letters).fullmatch(claimed[_lead(claimed) :])
    return None if head is None else (head["letter"].upper(), head["rest"].strip())


def _lettered(plain: str, texts: Sequence[str], letters: str) -> str:
    """An answer with the letters of options for their texts: "A rather than B" for "Paris rather than London"."""
    of = {own.lower(): letter for letter, text in zip(letters, texts, strict=False) if len(own := _bare(text)) > 1}
    either = "|".join(map(re.escape, sorted(of, key=len, reverse=True)))
    if not either:
        return plain
    return re.sub(
        rf"(?<!\w)(?:{either})(?!\w)",
        lambda match: of.get(match[0].lower(), match[0]),
        plain,
        flags=re.IGNORECASE,
    )


def _lead(plain: str) -> int:
    """How many characters of "the answer is" stand before the letter; none where they are the letter itself."""
    match = _LEAD.match(plain)
    return match.end() if match is not None else 0


def _bare(text: str) -> str:
    """The text without LaTeX's text commands, emphasis and quotes, with single spaces."""
    # the pattern takes the innermost command, so each round opens one level
    for _ in range(3):
        text = _LATEX.sub(r"\1", text)
    text = typed("NFKC", text).replace("\\(", "").replace("\\)", "").replace("\\[", "").replace("\\]", "")
    return " ".join(text.translate(_DECORATION).split())


@lru_cache(maxsize=64)
def _head(letters: str) -> re.Pattern[str]:
    """A letter alone, in brackets, or before a mark or a joining word and more text."""
    either = f"[{letters}{letters.lower()}]"
    return re.compile(
        rf"[(\[]? ?(?P<letter>{either})(?P<rest>$| ?[.)\]:;,/&|\-–—].*| (?:or|and|because|since|[(\[]|is (?:the )?(?:correct|right|best|answer)).*)",
        re.DOTALL | re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _hedge(letters: str) -> re.Pattern[str]:
    """A letter after a mark or a joining word, or in brackets; words such as "a dog" and "I am" do not count."""
    words = "".join(letter for letter in letters if letter in "AI")
    others = "".join(letter for letter in letters if letter not in "AI")
    # "a dog" and "I am" are words, unless what follows speaks of an option
    word = rf"[{words}{words.lower()}](?! (?!(?:is|would|could|may|might|and|or)\b)[a-z])" if words else ""
    either = "|".join(filter(None, [f"[{others}{others.lower()}]" if others else "", word]))
    joins = r"or|and|nor|but|else|even|alternatively|actually|wait|no|also|maybe|possibly|perhaps|either|both|not|if|unless|answer|option|choice|is|be"
    return re.compile(
        rf"(?:[,/&|;(\[]|\b(?:{joins})\b|^[.)\]:\-–—]) ?[(\[]?(?P<letter>{either})(?![A-Za-z0-9'’])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _ruled_out(letters: str) -> re.Pattern[str]:
    """Letters that are said to be wrong: ``not B`` as a clause of its own, ``rather than B or C``, ``B and C are false``."""
    letter = rf"[(\[]?(?<![\w'’])[{letters}{letters.lower()}](?![\w'’])[)\]]?"
    more = rf"{letter}(?:(?:, ?| ?[/&] ?| )(?:(?:and|or|nor) )?{letter}){{0,9}}"
    return re.compile(
        rf"(?:(?:^|(?<=[,;(] )|(?<=[,;(])|(?<= and ))(?:not|neither)|(?:rather than|instead of)) {more}(?=$|[.,;)])"
        rf"|(?<!if )(?<!unless )(?<!whether )(?<!that )(?<![,/&] )(?<!or )(?<![{letters}{letters.lower()}] and ){more} {_WRONG}\b",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _of_others(letters: str) -> re.Pattern[str]:
    """A sentence whose subject are options: "A and C are ...", "Option D has ..."."""
    letter = rf"[(\[]?(?<![\w'’])[{letters}](?![\w'’])[)\]]?"
    return re.compile(rf"(?:(?:[Tt]he )?(?:[Oo]ptions?|[Cc]hoices?) )?{letter}(?:,? ?(?:and )?{letter}){{0,9}} [a-z]")


def _named(plain: str, texts: Sequence[str], letters: str) -> str | None:
    """The letter of the option whose whole text this is, when only one has it."""
    wanted = normal_text(plain)
    hits = [letter for letter, text in zip(letters, texts, strict=False) if normal_text(_bare(text)) == wanted]
    return hits[0] if len(hits) == 1 else None


def right_letter(answer: object, texts: Sequence[str], letters: str) -> str | None:
    if isinstance(answer, bool) or not isinstance(answer, int | str):
        return None
    if isinstance(answer, int):
        return letters[answer] if 0 <= answer < (len(texts) or len(letters)) and answer < len(letters) else None
    plain = _bare(answer)
    # "(B)." at most: a longer text is an option's, which may begin with a letter too
    if (match := _head(letters).fullmatch(plain)) is not None and len(plain) <= 4:
        return match["letter"].upper()
    if (named := _named(plain, texts, letters)) is not None or not texts:
        return named
    # with its letter, as the options may have it
    return _named(_OWN_LETTER.sub("", plain, count=1), texts, letters)
