"""The reward `regex`: patterns that a completion must match, must not match, or pays for."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import Place, find_answer
from grpo_rewards_plugins.bounds import between, finite, tag_name

if TYPE_CHECKING:
    from regex import Pattern
from grpo_rewards_plugins.characters import shown


def _check(settings: SettingValues) -> None:
    finite(settings)
    tag_name(settings)
    between(settings, "max_penalty", 0, 1)
    between(settings, "timeout", 0.001, 60)
    patterns = [*settings["allow"], *settings["deny"], *settings["penalties"]]
    if not patterns:
        raise ValueError("give at least one pattern under allow, deny or penalties")
    for pattern, penalty in settings["penalties"].items():
        if penalty < 0:
            raise ValueError(f"the penalty of {pattern!r} is what it costs: 0 or more, not {penalty:g}")
    from regex import error as BadPattern

    for pattern in patterns:
        try:
            _compiled(pattern, settings["ignore_case"], settings["dot_all"])
        except BadPattern as problem:
            raise ValueError(f"{pattern!r} is not a regular expression: {problem}") from None


@reward(range=(-1.0, 1.0), check_settings=_check)
def regex(
    completion: str,
    *,
    allow: list[str] = [],  # noqa: B006 - never changed; the schema shows it
    deny: list[str] = [],  # noqa: B006
    penalties: dict[str, float] = {},  # noqa: B006
    need: Literal["all", "any"] = "all",
    max_penalty: float = 0.5,
    ignore_case: bool = False,
    dot_all: bool = True,
    place: Place = "text",
    tag: str = "answer",
    timeout: float = 0.5,
) -> Outcome:
    """The completion matches patterns that it should, none that it should not, and pays for bad style.

    1 where `allow` and `deny` are kept, else 0; without either, 0. From that the penalties are taken, so the value is
    between -`max_penalty` and 1. Patterns are searched for anywhere (write ``^...$`` for the whole text) by the
    ``regex`` module, which can be stopped: a search that runs longer than `timeout` counts as 0 with every penalty.

    Args:
        allow: patterns that must be found (see `need`).
        deny: patterns of which none may be found, also not where characters of no width are left out.
        penalties: patterns with what each occurrence costs, such as ``{"(?i)as an ai": 0.25}``.
        need: whether ``all`` or ``any`` of `allow` must be found.
        max_penalty: the most that all penalties take together (the deep guide's style reward: -0.5), at most 1.
        ignore_case: whether case is ignored.
        dot_all: whether ``.`` matches a line break too (ours: yes; copied format rewards forget it and then refuse any
            reasoning of two lines).
        place: what is searched: ``text`` (all of it), or the answer: ``tag``, ``box``, ``hash``, ``auto``.
        tag: the tag that holds the answer.
        timeout: seconds that all searches of one completion may take together (ours).
    """
    text = (
        completion if place == "text" else find_answer(completion, place=place, tag=tag)
    )  # formats are in the reasoning too
    if text is None:
        return Outcome(0.0, "scored", f"no answer found ({place})")
    search = _Search(text, time.monotonic() + timeout, ignore_case, dot_all)
    bare = search.of(shown(text))
    try:
        problem = _broken_rule(search, bare, allow, deny, need)
        cost, paid = _cost(search, bare, penalties, max_penalty)
    except TimeoutError:
        value = -max_penalty if penalties else 0.0
        return Outcome(value, "timeout", f"searching ran longer than {timeout:g} s in {len(text)} characters")
    value = (1.0 if (allow or deny) and problem is None else 0.0) - cost
    if not problem and not paid:
        return Outcome(value, "scored", "every pattern is kept")
    return Outcome(value, "scored", "; ".join(filter(None, [problem, *paid])))


class _Search:
    """Searches of one text that share a deadline; each raises TimeoutError after it."""

    def __init__(self, text: str, deadline: float, ignore_case: bool, dot_all: bool) -> None:
        self._text = text
        self._deadline = deadline
        self._flags = (ignore_case, dot_all)

    def of(self, text: str) -> _Search:
        """Searches of another text under the same deadline; these where it is the same text."""
        return self if text == self._text else _Search(text, self._deadline, *self._flags)

    def found(self, pattern: str) -> bool:
        return _compiled(pattern, *self._flags).search(self._text, timeout=self._left()) is not None

    def count(self, pattern: str, most: int) -> int:
        """How often the pattern occurs, counted up to `most`."""
        found = 0
        for _ in _compiled(pattern, *self._flags).finditer(self._text, timeout=self._left()):
            found += 1
            if found >= most:
                break
            if found % 1000 == 0:
                self._left()
        return found

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _broken_rule(search: _Search, bare: _Search, allow: list[str], deny: list[str], need: str) -> str | None:
    for pattern in deny:
        if search.found(pattern) or (bare is not search and bare.found(pattern)):
            return f"{_shown(pattern)} is denied but found"
    missing = None
    for pattern in allow:
        if search.found(pattern):
            if need == "any":
                return None
        elif need == "all":
            return f"{_shown(pattern)} is not found"
        else:
            missing = "none of the allowed patterns is found"
    return missing


def _cost(
    search: _Search, bare: _Search, penalties: Mapping[str, float], max_penalty: float
) -> tuple[float, list[str]]:
    """What the occurrences cost together, and a reason for each pattern that was found."""
    cost, paid = 0.0, []
    for pattern, each in penalties.items():
        if cost >= max_penalty or not each:
            continue
        # counted as far as it costs anything: a pattern may match at every character
        most = math.ceil(max_penalty / each)
        count = search.count(pattern, most)
        if bare is not search:
            count = max(count, bare.count(pattern, most))
        if count:
            cost = min(cost + count * each, max_penalty)
            paid.append(
                f"{_shown(pattern)} is found {count} times or more"
                if cost >= max_penalty
                else f"{_shown(pattern)} is found {count} times"
            )
    return cost, paid


def _shown(pattern: str) -> str:
    return repr(pattern) if len(pattern) <= 60 else f"{pattern[:57]!r}..."


@lru_cache(maxsize=512)
def _compiled(pattern: str, ignore_case: bool, dot_all: bool) -> Pattern[str]:
    # under another name: the reward has its own
    import regex as engine

    flags = (engine.IGNORECASE if ignore_case else 0) | (engine.DOTALL if dot_all else 0)
    return engine.compile(pattern, flags)
