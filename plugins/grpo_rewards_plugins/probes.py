"""What ``audit DATA`` tries on rows of `multiple_choice` and of `qa`."""

from __future__ import annotations

from collections.abc import Iterable

from grpo_rewards.types import Probes
from grpo_rewards_plugins.cells import plain
from grpo_rewards_plugins.multiple_choice import Options, right_letter
from grpo_rewards_plugins.qa.golds import accepted_answers
from grpo_rewards_plugins.qa.metrics import gold_normal

_MOST_WRONG, _MOST_TOLD = 3, 8
_WRONG = ("a different answer", "nobody knows")


def choice_probes(
    answer: object = None, choices: object = None, letters: str = "ABCDEFGHIJ", tag: str = "answer"
) -> Probes | None:
    """Return the right letter and wrong ones of a row with options; None where there is no answer column."""
    if answer is None:
        return None
    found = Options.of(choices)
    options, known = found.texts, found.letters(letters)
    if choices is not None and len(options) < 2:
        return Probes(faults={"gold": f"the column choices holds {'one option' if options else 'no option'}"})
    if problem := found.label_problem(known):
        return Probes(faults={"format": problem})
    right = right_letter(plain(answer), options, known)
    if right is None or right not in known:
        return Probes(faults={"gold": f"the column answer holds no option: {answer!r:.60}"})
    texts = [option.strip().lower() for option in options]
    text = texts[known.index(right)] if texts else ""
    if texts.count(text) > 1:
        return Probes(faults={"contradictory": f"the right option stands there twice: {text[:60]!r}"})
    wrong = [letter for letter in known if letter != right][:_MOST_WRONG]
    return Probes(
        references=tuple(_dressed(right, tag)),
        mutants=tuple(_tagged(letter, tag) for letter in wrong),
        golds=(right, *([options[known.index(right)]] if options else [])),
    )


def qa_probes(
    golden_answers: object = None,
    answers: object = None,
    answer: object = None,
    reward_model: object = None,
    variant: str = "squad",
    tag: str = "answer",
) -> Probes | None:
    """Return an accepted answer of a row and wrong ones; None where no column holds answers."""
    golds = accepted_answers(golden_answers, answers, answer, reward_model)
    if golds is None:
        return None
    read = [gold for gold in golds if gold_normal(gold) and gold != str(None)]
    if not read and variant == "squad2":  # "no answer" is the answer
        return Probes(references=("", _tagged("", tag)), stubs=("...",), mutants=tuple(_dressed(_WRONG[0], tag)))
    if not read:
        return Probes(faults={"gold": f"the accepted answers are none, or normalise to nothing: {list(golds)!r:.60}"})
    return Probes(
        references=tuple(_dressed(read[0], tag)),
        mutants=tuple(_tagged(text, tag) for text in _WRONG),
        golds=tuple(read[:_MOST_TOLD]),
    )


def _tagged(text: str, tag: str) -> str:
    return f"<{tag}>{text}</{tag}>"


def _dressed(text: str, tag: str) -> Iterable[str]:
    """An answer in every place where the rewards look for one; twice in tags, as Search-R1 wants it."""
    return (_tagged(text, tag), text, f"{_tagged('?', tag)} {_tagged(text, tag)}", f"\\boxed{{{text}}}", f"#### {text}")
