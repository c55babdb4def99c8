"""What tests' and candidate's process have each of their own and should have alike: environment, arguments, folder, seed."""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

# what seeds the random numbers that both sides draw
SEEDS = {"random": "seed", "numpy": "random.seed", "torch": "manual_seed"}
_where = os.getcwd  # bound here: tests may replace it


@dataclass(frozen=True)
class State:
    """A state that each process has of its own in a module, and the words that change it."""

    module: str
    words: str
    read: Callable[[Any], object]
    set: Callable[[Any, Any], object]

    def now(self) -> object:
        """None where nobody has the module yet."""
        there = sys.modules.get(self.module)
        return None if there is None else self.read(there)


def _set_context(module: Any, said: tuple[int, str]) -> None:
    context = module.getcontext()
    context.prec, context.rounding = said


STATES = {
    "recursion": State(
        "sys", "setrecursionlimit", lambda sys: sys.getrecursionlimit(), lambda sys, limit: sys.setrecursionlimit(limit)
    ),
    "digits": State(
        "sys",
        "set_int_max_str_digits",
        lambda sys: sys.get_int_max_str_digits(),
        lambda sys, count: sys.set_int_max_str_digits(count),
    ),
    "decimal": State(
        "decimal",
        "getcontext localcontext setcontext",
        lambda decimal: (decimal.getcontext().prec, decimal.getcontext().rounding),
        _set_context,
    ),
    "logging": State(
        "logging",
        "basicConfig setLevel set_level at_level",
        lambda logging: logging.getLogger().level,
        lambda logging, level: logging.getLogger().setLevel(level),
    ),
    "gradients": State(
        "torch",
        "no_grad enable_grad set_grad_enabled inference_mode",
        lambda torch: torch.is_grad_enabled(),
        lambda torch, on: torch.set_grad_enabled(on),
    ),
    "dtype": State(
        "torch",
        "set_default_dtype",
        lambda torch: str(torch.get_default_dtype())[len("torch.") :],
        lambda torch, name: torch.set_default_dtype(getattr(torch, name)),
    ),
    "printing": State(
        "numpy",
        "printoptions set_printoptions",
        lambda numpy: tuple(numpy.get_printoptions().items()),
        lambda numpy, said: numpy.set_printoptions(**dict(said)),
    ),
    "errors": State(
        "numpy",
        "errstate seterr",
        lambda numpy: tuple(numpy.geterr().items()),
        lambda numpy, said: numpy.seterr(**dict(said)),
    ),
}


class Surroundings:
    """The tests' own, beside what the candidate was last told of them.

    `folders`: those that the candidate may follow the tests into.
    """

    def __init__(self) -> None:
        self.folders: tuple[str, ...] = ()
        self._folder = ""
        self._argv = list(sys.argv)
        # states that the tests' text speaks of: as they were, and as they are
        self._states: dict[str, tuple[object, object]] = {}
        self.agree()

    def agree(self) -> None:
        """The environment as it is now is what the candidate has too."""
        self._raw = dict(_raw_environment())

    def watch(self, words: Set[str]) -> None:
        """Follow the states that a text with these words may change."""
        spoken = [name for name, state in STATES.items() if not words.isdisjoint(state.words.split())]
        self._states = {name: (now, now) for name in spoken for now in [STATES[name].now()]}

    def changes(self) -> list[tuple[str, object]]:
        """Return what the tests changed since the last time, as requests to the candidate."""
        found: list[tuple[str, object]] = []
        if _raw_environment() != self._raw:
            before, now = {os.fsdecode(name): os.fsdecode(value) for name, value in self._raw.items()}, dict(os.environ)
            self.agree()
            changed = {name: now.get(name) for name in {*now, *before} if now.get(name) != before.get(name)}
            if changed:
                found.append(("environment", changed))
        if sys.argv != self._argv:
            self._argv = list(sys.argv)
            found.append(("argv", self._argv))
        for name, (first, last) in self._states.items():
            if (current := STATES[name].now()) != last:
                self._states[name] = first, current
                found.append(("state", (name, None if current == first else current)))
        if self.folders:
            folder = _where()
            if folder != self._folder:
                self._folder = folder
                if folder.startswith(self.folders):
                    found.append(("folder", folder))
        return found


def open_temporary_files() -> None:
    """What `tempfile` makes is for both: as it is, the other side's user could neither open its files nor enter its folders."""
    import tempfile  # here: it takes long to import, and few need it

    both = {
        "open": lambda path, flags, mode=0o777: os.open(path, flags, mode | 0o666),
        "mkdir": lambda path, mode=0o777: os.mkdir(path, 0o777),
    }
    tempfile._os = types.SimpleNamespace(**{**vars(os), **both})  # type: ignore[attr-defined]


def open_database(event: str, args: tuple[Any, ...]) -> None:
    """Make the file of a database before SQLite does, which would let nobody else write to it."""
    if event == "sqlite3.connect" and isinstance(args[0], (str, bytes, os.PathLike)):
        path, flags = os.fsdecode(args[0]), os.O_RDWR | os.O_CREAT
        if path.startswith("file:"):
            path, flags = _file_of_uri(path)
        if path and not path.startswith(":memory:"):
            with contextlib.suppress(OSError):  # SQLite says it
                os.close(os.open(path, flags, 0o666))


def _file_of_uri(uri: str) -> tuple[str, int]:
    """The file that SQLite opens by a URI, and how; no file for a database in memory."""
    from urllib.parse import parse_qsl, unquote

    place, _, options = uri[len("file:") :].partition("#")[0].partition("?")
    if place.startswith("//"):  # an authority
        place = place[max(place.find("/", 2), 0) :]
    said = dict(parse_qsl(options))
    how = {"ro": os.O_RDONLY, "rw": os.O_RDWR}.get(said.get("mode", ""), os.O_RDWR | os.O_CREAT)
    in_memory = said.get("mode") == "memory" or said.get("vfs") == "memdb"
    return "" if in_memory else unquote(place), how


def _raw_environment() -> dict[bytes, bytes]:
    """The environment as it is kept: comparing it as text takes longer than a request."""
    return os.environ._data  # type: ignore[attr-defined, no-any-return]
