"""Calls by the thousand in the candidate's process: arguments come as marshal, results go back as JSON, in one crossing each.

Untrusted like all that runs here. What it says of a result is data to the other side, whatever the candidate does to it.
"""

from __future__ import annotations

import inspect
import json
import marshal
import sys
import time
import types
from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .. import script
from .messages import AskedCalls, json_encoder
from .values import HELD

# how long calls are made before the tests hear of them: what passed counts, where a later one hangs
ENOUGH_SECONDS = 0.2
LENGTH = "I"  # the lengths of calls, as an array
BATCH = 4 << 20  # characters that cross at once, where more than one thing is to cross
_encode = json.JSONEncoder(separators=(",", ":")).encode
_loads = marshal.loads
_within: dict[int, object] = {}
_encode_quickly = json_encoder(_within)
_SCALARS = frozenset((int, float, str, bool, type(None)))
_PLAIN_INT = 1 << 64
# nodes may point back to one another
_MOST_NODES = 1_000_000
_RECURSION = 50_000  # what programs of the sites with calls count on


def in_batches(items: list[str]) -> Iterator[str]:
    """Yield lists of JSON, of items that are JSON: few lists, none much longer than crosses at once."""
    if len(items) < 2 or sum(map(len, items)) + len(items) <= BATCH:
        yield f"[{','.join(items)}]"
        return
    half = len(items) // 2
    yield from in_batches(items[:half])
    yield from in_batches(items[half:])


def each(calls: bytes, lengths: bytes) -> Iterator[tuple[list[object], dict[str, object]]]:
    """Read calls, one at a time; they stand one behind the other."""
    view, at = memoryview(calls), 0
    for length in array(LENGTH, lengths):
        yield _loads(view[at : at + length])
        at += length


class CallRunner:
    """Holds the program's function or method and the calls that are left."""

    def __init__(self, module: types.ModuleType, before: dict[str, object], job: AskedCalls) -> None:
        own = {name: value for name, value in vars(module).items() if before.get(name, module) is not value}
        self._entry = job["entry"]
        function = own.get(self._entry)
        self._function: Callable[..., object] | None = function if callable(function) else None
        self._owner: Any = None if self._function else _owner(own, module.__name__, self._entry, job["owners"])
        self._shapes, self._returns = job["parameters"], job["returns"]
        self._nodes = _node_classes(module, self._shapes)
        simply = self._function if not any(self._shapes) and not self._returns else None  # called with what JSON has
        self._make = simply or self._called
        self._ready: list[str] = []
        self._waiting = each(b"", b"")

    def take(self, calls: bytes, lengths: bytes) -> None:
        """Take the next calls: of each the arguments and keywords, which are read when it is made and gone soon after."""
        self._waiting = each(calls, lengths)

    def go_on(self) -> str:
        """Make calls until they are enough for one crossing; return their results, as JSON."""
        if not self._ready:
            found: list[str] = []
            until = time.monotonic() + ENOUGH_SECONDS
            for arguments, keywords in self._waiting:
                try:
                    found.append(written(self._make(*arguments, **keywords)))
                except MemoryError:  # a limit of the job's, which the verdict names
                    raise
                except Exception as error:  # noqa: BLE001  what the program raises is this test's result
                    found.append(_encode({"e": f"{type(error).__name__}: {error}"[:300]}))
                if time.monotonic() > until:
                    break
            self._ready = list(in_batches(found))
        return self._ready.pop(0)

    def _called(self, /, *arguments: object, **keywords: object) -> object:
        """Make one call, of a method that of a new object: what a test leaves in one is no other test's."""
        shapes = [*self._shapes, *[""] * len(arguments)]
        each_with = zip(arguments, shapes, strict=False)
        given = [to_nodes(value, shape, self._nodes) if shape else value for value, shape in each_with]
        result = (self._function or getattr(self._owner(), self._entry))(*given, **keywords)
        if self._returns.startswith("argument"):
            _, place, *name = self._returns.split()
            return keywords[name[0]] if name and name[0] in keywords else given[int(place)]
        return from_nodes(result, self._returns) if self._returns else result


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
    script.run(source, script.path_of(module.__name__), module.__dict__)
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


def written(value: object) -> str:
    """Return what stands for a result, as JSON: it is written at once, since the program may change it later."""
    try:
        text = "".join(_encode_quickly(value, 0))
        if "{" not in text:
            return text  # nothing in it has a tag
    except (TypeError, ValueError, RecursionError):
        # what is no JSON, and integers with more digits than can be written
        _within.clear()
    return _encode(plain(value))


def plain(value: Any) -> object:
    """Return what stands for a result in JSON: lists and tuples as lists, all else that is no scalar under a tag.

    The tag of what was raised instead of a result is "e".
    """
    kind = type(value)
    if kind in _SCALARS:
        return {"i": hex(value)} if kind is int and not -_PLAIN_INT < value < _PLAIN_INT else value
    if isinstance(value, dict):
        return {"d": [[plain(key), plain(part)] for key, part in value.items()]}
    if isinstance(value, set | frozenset):
        return {"s": [plain(part) for part in value]}
    if isinstance(value, int | float | str):
        # by the builtin's own method: a class derived from it may say something else
        return plain(next(held(value) for base, held in HELD.items() if isinstance(value, base)))
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Fraction | Decimal):
        return {"q": [str(part) for part in value.as_integer_ratio()]}
    if kind.__module__ == "numpy":
        return plain(value.tolist())
    return {"o": kind.__name__}  # a deque too, which equals no list


# ------------------------------------------------------------------------------------------------ nodes


class ListNode:
    """A node of a linked list, as LeetCode has it, for programs that bring none."""

    def __init__(self, val: object = 0, next: ListNode | None = None) -> None:
        self.val, self.next = val, next


class TreeNode:
    """A node of a binary tree, as LeetCode has it, for programs that bring none."""

    def __init__(self, val: object = 0, left: TreeNode | None = None, right: TreeNode | None = None) -> None:
        self.val, self.left, self.right = val, left, right


def _node_classes(module: types.ModuleType, shapes: list[str]) -> dict[str, object]:
    return {cls.__name__: vars(module).get(cls.__name__, cls) for cls in (ListNode, TreeNode)} if shapes else {}


def to_nodes(value: Any, shape: str, classes: dict[str, Any]) -> object:
    """Return the nodes that a list stands for; `shape` is ListNode, TreeNode, or a list of them (``[ListNode]``)."""
    if shape.startswith("["):
        return [to_nodes(part, shape[1:-1], classes) for part in value]
    if not value:
        return None
    make = classes[shape]
    return _linked(value, make) if shape == "ListNode" else _tree(value, make)


def _linked(values: list[object], make: type[ListNode]) -> ListNode:
    head = last = make(values[0])
    for value in values[1:]:
        last.next = make(value)
        last = last.next
    return head


def _tree(values: list[object], make: type[TreeNode]) -> TreeNode:
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


def _values_of_list(node: ListNode | None) -> list[object]:
    found = []
    while node is not None:
        found.append(node.val)
        node = node.next
        if len(found) > _MOST_NODES:
            raise ValueError("the list has no end")
    return found


def _values_of_tree(root: TreeNode | None) -> list[object]:
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
