"""The reward `tool_calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.errors import printable
from grpo_rewards_plugins.cells import RowProblem
from grpo_rewards_plugins.tool_calls.bfcl import compare
from grpo_rewards_plugins.tool_calls.decoding import Format, find_calls
from grpo_rewards_plugins.tool_calls.literals import Ambiguous, Calls, Unreadable
from grpo_rewards_plugins.tool_calls.rows import WantedCalls, described, wanted_by_bfcl, wanted_exactly
from grpo_rewards_plugins.tool_calls.schemas import schema_problem
from grpo_rewards_plugins.tool_calls.toolrl import Grading, grade, wanted_calls

_SECONDS = 0.5  # for holding one call against its schema


def _check_row(
    ground_truth: object = None,
    answers: object = None,
    gold_calls: object = None,
    functions: object = None,
    tools: object = None,
    category: object = None,
    row_id: object = None,
    rule: str = "bfcl",
) -> str | None:
    try:
        if rule == "toolrl":
            wanted_calls(_answer_text(ground_truth))
        elif rule == "exact":
            wanted_exactly(_first(answers, gold_calls, ground_truth))
        else:
            found = wanted_by_bfcl(ground_truth, _first(functions, tools), _first(category, row_id))
            return _unknown_type(found)
    except RowProblem as problem:
        return str(problem)
    return None


def _unknown_type(wanted: WantedCalls) -> str | None:
    """What the original raises on where the wanted call itself is given."""
    calls = [{name: {key: values[0] for key, values in accepted.items() if values and values[0] != ""}
              for name, accepted in call.items()} for call in wanted.calls]  # fmt: skip
    if wanted.calls:
        compare(wanted.functions, calls, wanted.calls, wanted.category)
    return None


@reward(
    range=(-3.0, 4.0),
    check_row=_check_row,
    columns={
        "gold_calls": "tool_calls",
        "row_id": "id",
        "row_format": "format",
    },  # taken: by the reward, a builtin, a setting
)
def tool_calls(
    completion: str,
    messages: list[dict[str, object]],
    ground_truth: object = None,
    answers: object = None,
    gold_calls: object = None,
    functions: object = None,
    tools: object = None,
    category: str | None = None,
    row_id: str | None = None,
    row_format: str | None = None,
    *,
    rule: Literal["bfcl", "toolrl", "exact"] = "bfcl",
    format: Format = "auto",
    order: Literal["any", "given"] = "any",
    grading: Grading = "fine",
    check_schema: bool = False,
) -> Outcome:
    """The completion calls the right functions with the right arguments, by the rules of BFCL, ToolRL or xLAM.

    ``bfcl`` and ``exact`` give 1 or 0, ``toolrl`` from -3 to 4. Nothing in a completion is evaluated: calls written as Python
    are read from the syntax tree, operators between literals are computed within bounds, and everything else there is no
    call. A row that cannot be read does not apply, and ``grpo-rewards validate`` names it.

    Args:
        ground_truth: BFCL's ``[{name: {parameter: [accepted values]}}]``, a list or JSON, empty where no call is right; ToolRL's
            whole reference answer; or calls, as in `answers`.
        answers: the calls of ``exact``, ``[{name, arguments}]``, a list or JSON (xLAM).
        gold_calls: the same from the data's column `tool_calls`, also as chat messages have it.
        functions: the functions that are described, a list or JSON (BFCL).
        tools: the same, also as chat templates take them.
        category: BFCL's category: with ``parallel`` calls may come in any order, with ``multiple`` one of several functions is
            called, with ``irrelevance`` none, with ``relevance`` any. Without it, what the other columns look like.
        row_id: the row's id, from the data's column `id`, which in BFCL begins with the category.
        row_format: the row's format, from the data's column `format`, where the setting is ``auto``.
        rule: ``bfcl``: BFCL's comparison (bfcl-eval 2026.3.23) of types, and values among the accepted ones. ``toolrl``: format 1
            where the text is the tags of the reference, in order, with their line feeds, and from -3 to 3 for the calls, by names,
            parameters and values that are right. ``exact``: the same names and arguments (xLAM has no grader of its own).
        format: ``python``: a list of calls (BFCL's prompt). ``hermes``: JSON between ``<tool_call>`` and ``</tool_call>`` on lines of
            their own. ``json``: a list of objects, or one. These three are decoded as BFCL does, reasoning included. ``auto`` (ours): what
            the text behind the reasoning looks like, or its last fence where there are words around one; the tags may stand on one line with the JSON, the calls
            in Llama's or Mistral's template or Qwen3-Coder's, and a call that names a parameter twice is none; one that
            begins there and cannot be read is 0, also where no call is right. A message's own `tool_calls` come first.
        order: with ``exact``, whether calls may come in ``any`` order.
        grading: with ``toolrl``, how close calls are paid: ``fine``; ``refined``: names and parameters all or nothing;
            ``intermediate``: each call all or nothing; ``coarse``: all calls together (the recipe's environment variables).
        check_schema: whether a call that its function's own JSON schema refuses makes the value 0, for ``bfcl`` and ``exact``.
    """
    try:
        if rule == "toolrl":
            return _toolrl(completion, _answer_text(ground_truth), grading)
        chosen = row_format if format == "auto" and row_format in ("python", "hermes", "json") else format
        known = _first(functions, tools)
        if rule == "exact":
            wanted = wanted_exactly(_first(answers, gold_calls, ground_truth))
            calls = find_calls(completion, messages, chosen, _described(known))
            problem = _difference(calls, wanted, order)
        else:
            accepted = wanted_by_bfcl(ground_truth, known, _first(category, row_id))
            if accepted.by_relevance:
                return _relevance(completion, messages, chosen, accepted)
            calls = find_calls(completion, messages, chosen, accepted.functions)
            problem = compare(accepted.functions, calls, accepted.calls, accepted.category)
        if not problem and check_schema:
            problem = schema_problem(described(known), calls, _SECONDS)
    except RowProblem as bad:
        return Outcome(None, "not_applicable", str(bad))
    except Unreadable as bad:
        return Outcome(0.0, "scored", f"no calls: {bad}")
    if problem:
        return Outcome(0.0, "scored", printable(problem))
    return Outcome(1.0, "scored", "the calls are as they should be")


def _first(*cells: object) -> object:
    return next((cell for cell in cells if cell is not None), None)


def _described(functions: object) -> Sequence[Mapping[str, object]]:
    """The functions that a row describes, where that can be read: `exact` does without."""
    try:
        return described(functions)
    except RowProblem:
        return ()


def _answer_text(truth: object) -> str:
    if not isinstance(truth, str):
        raise RowProblem("ground_truth must be the text of a reference answer")
    return truth


def _toolrl(text: str, truth: str, grading: str) -> Outcome:
    form, calls = grade(text, truth, grading=grading)
    tags = "the tags are those of the reference" if form else "the tags are not those of the reference, in order"
    reason = f"{tags}; the calls are worth {calls:g}"
    return Outcome(form + calls, "scored", reason, {"format": form, "correctness": calls})


def _relevance(text: str, messages: Sequence[Mapping[str, object]], format: str, wanted: WantedCalls) -> Outcome:
    try:
        called = bool(find_calls(text, messages, format, wanted.functions))
    except Ambiguous:
        raise
    except Unreadable:
        called = False
    if called != ("irrelevance" in wanted.category):
        return Outcome(1.0, "scored", "a function is called" if called else "no function is called, and none is right")
    return Outcome(0.0, "scored", "a function is called, where none is right" if called else "no function is called")


def _difference(calls: Calls, wanted: Sequence[tuple[str, object]], order: str) -> str:
    """What keeps calls from being the wanted ones, or nothing."""
    if len(calls) != len(wanted):
        return f"{len(calls)} calls, not {len(wanted)}"
    left = [next(iter(call.items())) for call in calls]
    for name, arguments in wanted:
        # in the given order only the next one counts
        places = range(len(left)) if order == "any" else range(min(1, len(left)))
        for place in places:
            if left[place][0] == name and _equal(left[place][1], arguments):
                del left[place]
                break
        else:
            return f"no call is {name}({arguments!r:.120})"
    return ""


def _equal(one: object, other: object) -> bool:
    """Whether two values are the same JSON: 1 is 1.0, but true is not 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
