"""The reader of evalplus."""

from __future__ import annotations

import ast

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import begun, parse, parsed

_AS_SETS = frozenset(
    ("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
     "find_dissimilar", "Diff")
)  # fmt: skip
_WHETHER = frozenset(("check_str", "text_match_three", "text_starta_endb"))
_REFUSED = frozenset(("are_equivalent", "sum_div", "surface_Area", "digit_distance_nums"))
_CHECK = """\
import copy


def _floats(value):
    if isinstance(value, float):
        return True
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(part, float) for part in value)


def _near(got, wanted):
    if not isinstance(wanted, (list, tuple)):
        got, wanted = [got], [wanted]
    if len(got) != len(wanted):
        return False
    for one, other in zip(got, wanted):
        if not abs(one - other) <= {atol} + 1e-7 * abs(other):
            return False
    return True


def _same(got, wanted):
    {special}
    if got == wanted:
        return True
    return _floats(wanted) and _floats(got) and type(got) is type(wanted) and _near(got, wanted)


def check(candidate):
    for arguments in {inputs}:
        wanted = _reference(*copy.deepcopy(arguments))
        assert _same(candidate(*copy.deepcopy(arguments)), wanted)
"""


def read(row: DataRow) -> Suite | None:
    """HumanEval+ and MBPP+ of evalplus: `base_input` and `plus_input`, with `canonical_solution` to say what is right.

    The reference runs beside the tests, never in the program's process. Results are equal as in evalplus: ``==``; numbers with a
    point, alone or in a list or tuple, within `atol` (1e-6 where that is 0) and 1e-7 of their size, and of the same type. Its special
    rules are kept where they are known: ``find_zero`` by the polynomial's value, eight tasks as sets, three by whether there is a result; tasks that it
    lets any result pass for, or takes a second answer of, are refused.
    """
    name, prompt = str(row.get("entry_point")), str(row.get("prompt") or "")
    if name in _REFUSED:
        raise SuiteProblem(f"the answers to {name!r} have a rule of their own in evalplus, which is not read")
    inputs = [*(row.data("base_input") or []), *(row.data("plus_input") or [])]
    if not inputs or not all(isinstance(one, list | tuple) for one in inputs):
        raise SuiteProblem("base_input and plus_input are no lists of lists of arguments")
    special = "pass"
    if name in _AS_SETS:
        special = "return set(got) == set(wanted)"
    elif name in _WHETHER:
        special = "return (got is not None) == (wanted is not None) if not isinstance(got, bool) else got == (wanted is not None)"
    atol = row.get("atol") or 1e-6
    if name == "find_zero":
        return _with_polynomial(row, inputs, float(atol))
    text = _CHECK.format(atol=float(atol), special=special, inputs=repr(inputs))
    return row.having(test=None).tests(
        f"{_reference(prompt, str(row.get('canonical_solution')), name)}\n\n{text}", format="humaneval"
    )


def _with_polynomial(row: DataRow, inputs: list[object], atol: float) -> Suite:
    text = f"""\
def check(candidate):
    for arguments in {inputs!r}:
        zero = candidate(*arguments)
        assert isinstance(zero, (int, float))
        assert abs(sum(factor * zero ** power for power, factor in enumerate(arguments[0]))) <= {max(atol, 1e-4)}
"""
    return row.tests(text, format="humaneval")


def _reference(prompt: str, solution: str, name: str) -> str:
    """The reference as a function ``_reference``, with all that it needs inside."""
    # MBPP+ has whole functions here, HumanEval+ the body that continues the prompt
    for source in (solution, f"{prompt}\n{solution}", prompt + solution):
        tree = parsed(source)
        body = tree.body if tree is not None else []
        if any(isinstance(node, ast.FunctionDef) and node.name == name for node in body) and not _is_stub(body, name):
            head = parsed(prompt, begun(prompt)) if source == solution else None
            given = head.body if head is not None else []
            imports = [node for node in given if isinstance(node, ast.Import | ast.ImportFrom)]
            made = parse("def _made():\n    return None\n").body[0]
            assert isinstance(made, ast.FunctionDef)
            inside = [*imports, *body, ast.Return(ast.Name(name, ast.Load()))]
            stars = [node for node in inside if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
            made.body = [node for node in inside if node not in stars]  # no function may have such
            return (
                ast.unparse(ast.fix_missing_locations(ast.Module([*stars, made], []))) + "\n\n\n_reference = _made()\n"
            )
    raise SuiteProblem(f"the reference solution does not define {name!r}, so it is not known what is right")


def _is_stub(body: list[ast.stmt], name: str) -> bool:
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return all(isinstance(part, ast.Expr) for part in found[-1].body)
