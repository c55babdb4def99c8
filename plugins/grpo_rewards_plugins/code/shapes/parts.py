"""Parts of a suite that are scored together: public and private tests, subtasks with points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.pairs import Tests, cases_of
from grpo_rewards_plugins.code.suite import Subtask, Suite

_POINTS, _TESTS, _NAMES = ("points", "score"), ("tests", "test_names", "test_indices"), ("test_name", "test_id", "id")


def in_parts(suite: Suite, public: int) -> Suite:
    """Return a suite whose first tests are public, as two parts with the points that their numbers of tests give them.

    Where calls were left out as duplicates, it stays one part: which they were is not known.
    """
    total = suite.size
    if suite.parts or not 0 < public < total:
        return suite
    return replace(suite, parts=(_part(range(public)), _part(range(public, total))))


def _part(tests: range) -> Subtask:
    return float(len(tests)), tuple(tests)


def in_subtasks(suite: Suite, tests: Tests, columns: Mapping[str, object]) -> Suite:
    """Return a suite with the subtasks of the column ``subtasks``: ``[{points, tests}]``; a test may belong to several.

    Tests are named by their places, from 0 on, or by what they have under ``test_name``, ``test_id`` or ``id``.

    Raises:
        SuiteProblem: a subtask is not understood, or names a test that there is none of.
    """
    given = from_json(plain(columns.get("subtasks")))
    if is_blank(given):
        return suite
    cases = cases_of(tests)
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise SuiteProblem("the column subtasks is no list of {points, tests}")
    if len(cases) != suite.size:
        raise SuiteProblem("tests are there twice, so the column subtasks does not say which are meant")
    places = {
        name: place for place, case in enumerate(cases) for key in _NAMES if isinstance(name := case.get(key), str)
    }
    return replace(suite, parts=tuple(_subtask(one, number, places, suite.size) for number, one in enumerate(given, 1)))


def _subtask(given: Mapping[str, object], number: int, places: Mapping[str, int], size: int) -> Subtask:
    points = next((given[key] for key in _POINTS if key in given), None)
    named = plain(next((given[key] for key in _TESTS if key in given), None))
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < float("inf"):
        raise SuiteProblem(f"subtask {number} has no number of points (points or score)")
    if not isinstance(named, Sequence) or isinstance(named, str) or not named:
        raise SuiteProblem(f"subtask {number} has no list of tests (tests or test_names)")
    found = [places.get(one, -1) if isinstance(one, str) else one for one in named]
    # by `type`, since True is an int too
    if wrong := [
        one for one, place in zip(named, found, strict=True) if type(place) is not int or not 0 <= place < size
    ]:
        raise SuiteProblem(f"subtask {number} names the test {str(wrong[0])[:60]!r}, and there is none")
    return float(points), tuple(sorted(set(found)))
