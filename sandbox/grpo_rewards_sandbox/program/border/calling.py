"""Calls by the thousand in the candidate's process: arguments come as JSON, results go back as JSON, in one crossing each.

Untrusted like all that runs here. What it says of a result is data to the other side, whatever the candidate does to it.
"""

from __future__ import annotations

import gc
import inspect
import json
import sys
import time
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .messages import AskedCalls

# how long calls are made before the tests hear of them: what passed counts, where a later one hangs
ENOUGH_SECONDS = 0.2
BATCH = 4 << 20  # characters that cross at once, where more than one thing is to cross
_encode = json.JSONEncoder(separators=(",", ":")).encode
_SCALARS = frozenset((int, float, str, bool, type(None)))
_PLAIN_INT = 1 << 64
# nodes may point back to one another
_MOST_NODES = 1_000_000
_RECURSION = 50_000  # what programs of the sites with calls count on

Case = tuple[list[object], dict[str, object]]


def in_batches(items: list[object]) -> Iterator[tuple[str, int]]:
    """Yield lists as JSON, with how many of the items each holds: few lists, none much longer than crosses at once."""
    text = _encode(items)
    if len(text) <= BATCH or len(items) < 2:
        yield text, len(items)
        return
    half = len(items) // 2
    yield from in_batches(items[:half])
    yield from in_batches(items[half:])


class CallRunner:
    """Holds the program's function or method and the calls that are left."""

    def __init__(self, module: types.ModuleType, before: dict[str, object], job: AskedCalls) -> None:
        own = {name: value for name, value in vars(module).items() if before.get(name, module) is not value}
        self._entry = job["entry"]
        self._function: Any = own.get(self._entry) if callable(own.get(self._entry)) else None
        self._owner: Any = None if self._function else _owner(own, module.__name__, self._entry, job["owners"])
        self._shapes, self._returns = job["parameters"], job["returns"]
        self._nodes = _node_classes(module, self._shapes)
        self._ready: list[str] = []
        self._waiting: Iterator[Case] = iter(())
        self._bare = False  # arguments are given to the program as JSON has them

    def take(self, text: str) -> None:
        """Take the next calls: JSON, a list of arguments and keywords."""
        gc.disable()  # there is no garbage among values that are read, and nothing of them is looked through later
        calls: list[Case] = json.loads(text)
        gc.freeze()
        gc.enable()
        self._waiting = iter(calls)
        # where there is no object but the keywords of each call, no key has to be made a number
        self._bare = not any(self._shapes) and text.count("{") == len(calls)

    def go_on(self) -> str:
        """Make calls until they are enough for one crossing; return their results, as JSON."""
        if not self._ready:
            found: list[object] = []
            until = time.monotonic() + ENOUGH_SECONDS
            for arguments, keywords in self._waiting:
                found.append(self._called(arguments, keywords))
                if time.monotonic() > until:
                    break
            self._ready = [text for text, _ in in_batches(found)]
        return self._ready.pop(0)

    def _called(self, arguments: list[object], keywords: dict[str, object]) -> object:
        """Make one call; return what came of it."""
        try:
            given, named = (arguments, keywords) if self._bare else self._given(arguments, keywords)
            result = (self._function or self._made())(*given, **named)
            if self._returns.startswith("argument"):
                result = given[int(self._returns.split()[1])]
            elif self._returns:
                result = from_nodes(result, self._returns)
            return plain(result)
        except MemoryError:  # a limit of the job's, which the verdict names
            raise
        except Exception as error:  # noqa: BLE001  what the program raises is this test's result
            return {"e": f"{type(error).__name__}: {error}"[:300]}

    def _made(self) -> Callable[..., object]:
        """The method of a new object: what a test leaves in one is no other test's."""
        method: Callable[..., object] = getattr(self._owner(), self._entry)
        return method

    def _given(self, arguments: list[object], keywords: dict[str, object]) -> Case:
        shapes = [*self._shapes, *[""] * len(arguments)]
        given = [
            to_nodes(value, shape, self._nodes) if shape else with_whole_keys(value)
            for value, shape in zip(arguments, shapes, strict=False)
        ]
        return given, {name: with_whole_keys(value) for name, value in keywords.items()}


def load(module: types.ModuleType, source: str, setup: str, job: AskedCalls) -> CallRunner:
    """Run the setup and then the program in one namespace; what the program defines comes before what the setup brings.

    Raises:
        LookupError: the program defines neither the function nor a class with that method.
    """
    sys.setrecursionlimit(_RECURSION)
    exec(compile(setup, "setup.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    if any(job["parameters"]) or job["returns"]:
        for cls in (ListNode, TreeNode):
            module.__dict__.setdefault(cls.__name__, cls)
    before = dict(module.__dict__)
    exec(compile(source.encode("utf-8", "surrogatepass"), "solution.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return CallRunner(module, before, job)


def _owner(own: dict[str, object], module: str, entry: str, owners: list[str]) -> object:
    """Return the program's class that has the method to call: of those that are named the first, else any."""
    classes = [own[name] for name in owners if inspect.isclass(own.get(name))]
    classes += [value for value in own.values() if inspect.isclass(value) and value.__module__ == module]
    for cls in classes:
        if callable(getattr(cls, entry, None)):
            return cls
    raise LookupError(f"the program defines neither the function {entry} nor a class with that method")


# ------------------------------------------------------------------------------------------------ values


def _short(value: object) -> bool:
    return type(value) is not int or -_PLAIN_INT < value < _PLAIN_INT


def plain(value: Any) -> object:
    """Return what stands for a result in JSON: lists and tuples as lists, all else that is no scalar under a tag.

    The tag of what was raised instead of a result is "e".
    """
    kind = type(value)
    if kind in _SCALARS:
        return {"i": hex(value)} if kind is int and not -_PLAIN_INT < value < _PLAIN_INT else value
    if kind is list or kind is tuple:
        kinds = set(map(type, value))
        if kinds <= _SCALARS and (int not in kinds or all(map(_short, value))):
            return value
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {"d": [[plain(key), plain(part)] for key, part in value.items()]}
    if isinstance(value, set | frozenset):
        return {"s": [plain(part) for part in value]}
    if isinstance(value, int):
        # by the builtin's own method: a class derived from it may say something else
        return plain(int.__int__(value))
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Fraction | Decimal):
        return {"q": [str(part) for part in value.as_integer_ratio()]}
    if kind.__name__ == "deque" and kind.__module__ == "collections":
        # equal to no list, as in Python
        return {"o": "deque"}
    if kind.__module__ == "numpy":
        return plain(value.tolist())
    return {"o": kind.__name__}


def with_whole_keys(value: object) -> object:
    """Return JSON with the keys of an object as numbers where all of them are: JSON has no other keys than text."""
    if type(value) is list:
        return value if set(map(type, value)) <= _SCALARS else [with_whole_keys(part) for part in value]
    if type(value) is dict:
        whole = bool(value) and all(key.isdecimal() and key.isascii() for key in value)
        return {int(key) if whole else key: with_whole_keys(part) for key, part in value.items()}
    return value


# ------------------------------------------------------------------------------------------------ nodes


class ListNode:
    """A node of a linked list, as LeetCode has it, for programs that bring none."""

    def __init__(self, val: object = 0, next: object = None) -> None:
        self.val, self.next = val, next


class TreeNode:
    """A node of a binary tree, as LeetCode has it, for programs that bring none."""

    def __init__(self, val: object = 0, left: object = None, right: object = None) -> None:
        self.val, self.left, self.right = val, left, right


def _node_classes(module: types.ModuleType, shapes: list[str]) -> dict[str, object]:
    return {cls.__name__: vars(module).get(cls.__name__, cls) for cls in (ListNode, TreeNode)} if shapes else {}


def to_nodes(value: Any, shape: str, classes: dict[str, object]) -> object:
    """Return the nodes that a list stands for; `shape` is ListNode, TreeNode, or a list of them (``[ListNode]``)."""
    if shape.startswith("["):
        return [to_nodes(part, shape[1:-1], classes) for part in value]
    if not value:
        return None
    make = classes[shape]
    return _linked(value, make) if shape == "ListNode" else _tree(value, make)


def _linked(values: list[object], make: Any) -> object:
    head = last = make(values[0])
    for value in values[1:]:
        last.next = make(value)
        last = last.next
    return head


def _tree(values: list[object], make: Any) -> object:
    root = make(values[0])
    above, left = [root], iter(values[1:])
    for node in above:
        for side in ("left", "right"):
            value = next(left, None)
            if value is not None:
                child = make(value)
                setattr(node, side, child)
                above.append(child)
    return root


def from_nodes(value: Any, shape: str) -> object:
    """The reverse."""
    if shape.startswith("["):
        return [from_nodes(part, shape[1:-1]) for part in value]
    if value is None:
        return []
    return _values_of_list(value) if shape == "ListNode" else _values_of_tree(value)


def _values_of_list(node: Any) -> list[object]:
    found = []
    while node is not None:
        found.append(node.val)
        node = node.next
        if len(found) > _MOST_NODES:
            raise ValueError("the list has no end")
    return found


def _values_of_tree(root: Any) -> list[object]:
    found, level = [], [root]
    for node in level:
        found.append(None if node is None else node.val)
        if node is not None:
            level += [node.left, node.right]
        if len(level) > _MOST_NODES:
            raise ValueError("the tree has no end")
    while found and found[-1] is None:
        found.pop()
    return found
