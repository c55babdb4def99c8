"""The reward `instructions`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.errors import InputError
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import without_end
from grpo_rewards_plugins.bounds import between
from grpo_rewards_plugins.cells import RowProblem
from grpo_rewards_plugins.characters import shown
from grpo_rewards_plugins.instructions.patterns import TooSlow
from grpo_rewards_plugins.instructions.registry import SOURCES, Bound
from grpo_rewards_plugins.instructions.rows import read_row
from grpo_rewards_plugins.instructions.sentences import MOST, TooLong, words

Think = Literal["auto", "strip", "keep"]
_SLOW = "the row's pattern takes too long on it"
_NONE = Outcome(None, "not_applicable", "the row gives no instructions (instruction_id_list, ground_truth)")


def _check(settings: SettingValues) -> None:
    between(settings, "min_words", 0, 100_000)


def _check_row(
    instruction_id_list: object = None, kwargs: object = None, ground_truth: object = None, checkers: str = "original"
) -> str | None:
    _register()
    try:
        found = read_row(instruction_id_list, kwargs, ground_truth, mend=checkers == "mended")
    except RowProblem as problem:
        return str(problem)
    return _NONE.reason if found is None else None


@reward.batch(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def instructions(
    completions: list[str],
    instruction_id_list: list[object] | None = None,
    kwargs: list[object] | None = None,
    ground_truth: list[object] | None = None,
    *,
    score: Literal["all", "share"] = "all",
    match: Literal["strict", "loose"] = "strict",
    checkers: Literal["original", "mended"] = "original",
    think: Think = "auto",
    min_words: int = 0,
) -> Iterator[tuple[int, Outcome]]:
    """The completion keeps verifiable instructions: the checks of IFEval, IFBench, IF-RLVR and RLVR-IFeval.

    1 where all are kept, or the share of them. The values are the originals' (lm-eval 0.4.13 for IFEval, allenai/IFBench
    db69a6f, allenai/open-instruct e6c3044), whose quirks are many: what is called a keyword is found within words, sections
    and titles anywhere. What is drawn at random, raises or hangs there does not here: languages are told with the seed 0, a
    pattern of a row that takes too long is not kept. A row with an unknown instruction, or one without an argument that it
    needs, is an error before the first row. The details hold each check's own result, in the row's order.

    A reply of one word passes all constraints of 38 % of IFBench's prompts, since what is asked of each pair of neighbours
    holds for one: set `min_words`, or a gate on a reward for the answer itself. Some checks need the extra
    ``instructions`` (nltk, langdetect, syllapy, emoji); without it the first of their rows ends the run with an error that says so. ``words:start_verb``
    asks nltk's tagger where its tables are installed, which no package brings, else the tables of the tagger that it comes from.

    Args:
        instruction_id_list: the ids of the instructions (IFEval, IFBench), a list or JSON.
        kwargs: one object with arguments for each, or null; keys that are null do not count.
        ground_truth: the same as the text of a Python list of one object, or of JSON (IF-RLVR); or JSON of one function's name,
            ``func_name``, and its arguments (RLVR-IFeval).
        score: ``all``: 1 or 0 (IFEval's and IFBench's prompt level). ``share``: the share that is kept (IF-RLVR).
        match: ``strict``, or ``loose``: an instruction is kept if one of eight texts keeps it: the completion, without
            asterisks, and each without its first line, its last line, or both.
        checkers: ``original``: the originals' values. ``mended``: without known faults, such as ``NaN`` as JSON, three constrained
            responses at once, empty placeholders, bullets and postscripts, keywords within words, a palindrome of one letter, spans of
            characters where words are asked for, or quotas that no sentence at all fulfils; what has no width is left out.
        think: what is done with text up to the last ``</think>``: ``strip`` it, with answer tags and white space
            around the rest (open-instruct), or ``keep`` it (IFEval's and IFBench's own scripts); ``auto``: as open-instruct
            does where the row has its column, else without the reasoning alone (lm-eval's ``think_end_token``; reasoning
            that never ends leaves nothing).
        min_words: a completion of fewer words gets 0 (ours: none).
    """
    _register()
    # all rows before the first verdict: an unknown instruction is an error before anything is scored
    rows = [
        _read(row, *cells, mend=checkers == "mended")
        for row, cells in enumerate(
            zip(*(_column(cells, completions) for cells in (instruction_id_list, kwargs, ground_truth)), strict=True)
        )
    ]
    for row, (completion, checks) in enumerate(zip(completions, rows, strict=True)):
        if checks is None:
            yield row, _NONE
            continue
        text = without_end(completion)
        # open-instruct's rows have ground_truth alone, IFEval's and IFBench's have ids
        if think == "strip" or (think == "auto" and (instruction_id_list is None or instruction_id_list[row] is None)):
            text = _without_thoughts(text)
        elif think == "auto":
            text = _behind_thoughts(text)
        if checkers == "mended":
            text = shown(text)
        yield row, _outcome(text, checks, _strict if match == "strict" else _loose, score, min_words)


def _column(cells: list[object] | None, completions: list[str]) -> list[object]:
    return [None] * len(completions) if cells is None else cells


def _register() -> None:
    """Import the checks, which register themselves; on first use, since few configurations need them."""
    from grpo_rewards_plugins.instructions import checks  # noqa: F401


def _read(row: int, ids: object, kwargs: object, truth: object, *, mend: bool) -> tuple[Bound, ...] | None:
    try:
        return read_row(ids, kwargs, truth, mend=mend)
    except RowProblem as problem:
        raise InputError(f"row {row}: {problem}; grpo-rewards validate lists such rows") from None


def _without_thoughts(text: str) -> str:
    """What open-instruct grades: the text after the last ``</think>``, without answer tags."""
    text = text.replace("<|assistant|>", "").strip().rpartition("</think>")[2]
    return text.replace("<answer>", "").replace("</answer>", "").strip()


def _behind_thoughts(text: str) -> str:
    """What a user is shown of a completion: the text behind the reasoning, which its instructions are not about."""
    if "think>" not in text:
        return text
    _, end, said = text.rpartition("</think>")
    return said.lstrip() if end else "" if text.lstrip().startswith("<think>") else text


def _outcome(
    text: str, checks: tuple[Bound, ...], kept: Callable[[Bound, str], str], score: str, min_words: int
) -> Outcome:
    if min_words and len(words(text)) < min_words:
        return Outcome(0.0, "scored", f"fewer than {min_words} words")
    problems = [kept(check, text) for check in checks]
    right = problems.count("")
    details = {
        "checks": [{"id": check.id, "kept": not problem} for check, problem in zip(checks, problems, strict=True)]
    }
    if right == len(checks):
        return Outcome(1.0, "scored", f"all {len(checks)} instructions are kept", details)
    value = right / len(checks) if score == "share" else 0.0
    return Outcome(value, "scored", _reason(checks, problems), details)


def _reason(checks: tuple[Bound, ...], problems: list[str]) -> str:
    broken = [(check, problem) for check, problem in zip(checks, problems, strict=True) if problem]
    named = ", ".join([check.id if problem == "broken" else f"{check.id} ({problem})" for check, problem in broken[:4]])
    more = f" and {len(broken) - 4} more" if len(broken) > 4 else ""
    version = SOURCES[broken[0][0].source] + (", mended" if broken[0][0].mended else "")
    return f"{len(broken)} of {len(checks)} not kept: {named}{more} [{version}]"


def _strict(check: Bound, text: str) -> str:
    """What is wrong with a text, or nothing; a blank one keeps none but some of RLVR-IFeval."""
    # so that the checks may count on a word
    if (not text or text.isspace()) and not check.blank:
        return "broken"
    try:
        return "" if check.run(text) else "broken"
    except TooSlow:
        return _SLOW
    except TooLong:
        return f"more than {MOST} characters"


def _loose(check: Bound, text: str) -> str:
    """The same of the best of up to eight texts."""
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    texts = [text, text.replace("*", ""), *cut, *(part.replace("*", "") for part in cut)]
    problem = "broken"
    # equal variants once: without an asterisk the second half is the first
    for variant in dict.fromkeys(texts):
        problem = _strict(check, variant)
        if not problem or problem == _SLOW:  # which it would be on each of the others too
            break
    return problem
