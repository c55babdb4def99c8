"""The reader of DS-1000."""

from __future__ import annotations

import ast
from dataclasses import replace

from grpo_rewards_plugins.code.problems import SuiteProblem, compiled
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes.context import ENTRY, PLACE
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import parse

_EXECUTION = """
def test_execution(solution: str):
    code = exec_context.replace("[insert]", solution)
    for i in range({count}):
        test_input, expected_result = generate_test_case(i + 1)
        test_env = {{"test_input": test_input}}
        exec(code, test_env)
        assert exec_test(test_env["result"], expected_result)
"""
_STRING = """
def test_string(solution: str):
    tokens = []
    for token in tokenize.tokenize(io.BytesIO(solution.encode("utf-8")).readline):
        tokens.append(token.string)
"""
_CHECK = """

def check(candidate):
    for i in range({count}):
        test_input, expected_result = generate_test_case(i + 1)
        assert exec_test(candidate(test_input), expected_result)
"""
_OF_DATA = frozenset(
    [
        "all", "any", "argsort", "array", "astype", "columns", "copy", "count", "cpu", "detach", "dtype", "dtypes", "equals",
        "fillna", "flatten", "index", "item", "items", "iloc", "keys", "loc", "max", "mean", "min", "name", "ndim", "numpy", "ravel",
        "reset_index", "reshape", "round", "shape", "size", "sort_index", "sort_values", "squeeze", "std", "sum", "T", "to_numpy",
        "tolist", "values",
    ]
)  # fmt: skip


def read(row: DataRow) -> Suite | None:
    """DS-1000: `code_context`, in which ``[insert]`` of ``exec_context`` stands for the program.

    What ``test_execution`` does is taken apart: inputs, expected results and ``exec_test`` stay with the tests, the program in its
    context runs apart from them, and its ``result`` crosses as a value. Read are rows whose ``test_execution`` is the set's usual one, and whose
    ``test_string``, where there is one, asks for words that the program has or has not. Refused are figures (Matplotlib), and results of which
    ``exec_test`` wants more than their value: models, sparse matrices.
    """
    text = str(row.get("code_context"))
    body = compiled(text, "the column code_context does not compile").body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    if missing := {"generate_test_case", "exec_test", "test_execution"} - functions.keys():
        raise SuiteProblem(f"the column code_context does not define {min(missing)}")
    context, count = _context(body), _count(functions["test_execution"])
    words = _words(functions["test_string"]) if "test_string" in functions else ()
    _refuse_objects(functions["exec_test"])
    kept = [
        node for node in body if node not in (functions["test_execution"], functions.get("test_string"), context[0])
    ]
    tests = ast.unparse(ast.Module(kept, [])) + _CHECK.format(count=count)
    suite = row.having(entry_point=ENTRY, code_prompt=None, prompt=None).tests(tests, format="humaneval")
    return replace(suite, beginning=context[1], words=words)


def _context(body: list[ast.stmt]) -> tuple[ast.stmt, str]:
    for node in body:
        match node:
            case ast.Assign([ast.Name("exec_context")], ast.Constant(str(text))) if text.count(PLACE) == 1:
                return node, text
    raise SuiteProblem(f"the column code_context has no exec_context with one {PLACE}")


def _count(function: ast.FunctionDef) -> int:
    """How many tests the set's usual ``test_execution`` makes.

    Raises:
        SuiteProblem: it is another one.
    """
    loops = [node.iter for node in function.body if isinstance(node, ast.For)]
    found = [
        call.args[0].value
        for call in loops
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
    ]
    count = next((number for number in found if type(number) is int and 0 < number < 1000), 0)
    # as text out of the tree, so that comments and white space make no difference
    if ast.unparse(function) != ast.unparse(parse(_EXECUTION.format(count=count)).body[0]):
        raise SuiteProblem(
            "test_execution does more than to compare the program's result (figures, files, its own text)"
        )
    return count


def _words(function: ast.FunctionDef) -> tuple[tuple[str, bool], ...]:
    """The words that a program must have, or must not have: ``assert "for" not in tokens and "np" in tokens``.

    Raises:
        SuiteProblem: ``test_string`` asks for anything else.
    """
    usual = parse(_STRING).body[0]
    assert isinstance(usual, ast.FunctionDef)
    start, rest = function.body[: len(usual.body)], function.body[len(usual.body) :]
    if list(map(ast.dump, start)) != list(map(ast.dump, usual.body)):
        raise SuiteProblem("test_string does more than to look for words of the program")
    found = []
    for node in rest:
        test = node.test if isinstance(node, ast.Assert) else None
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        for part in parts:
            match part:
                case ast.Compare(ast.Constant(str(word)), [ast.In() | ast.NotIn() as sign], [ast.Name("tokens")]):
                    found.append((word, isinstance(sign, ast.In)))
                case _:
                    raise SuiteProblem(f"test_string asks for more than words of the program: {ast.unparse(node)[:80]}")
    return tuple(found)


def _refuse_objects(function: ast.FunctionDef) -> None:
    """Refuse a comparison that uses the result as more than plain data, which is all that crosses."""
    result = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and _root(node) == result and node.attr not in _OF_DATA:
            raise SuiteProblem(f"exec_test uses the result as an object (.{node.attr}), of which only values cross")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
