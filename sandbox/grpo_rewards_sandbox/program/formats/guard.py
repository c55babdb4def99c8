"""Keeps the tests' process from acting on what the candidate says: no path out of the common folder, no process, no code."""

from __future__ import annotations

import _compat_pickle
import asyncio
import contextlib
import functools
import logging
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from ..border.surroundings import open_database
from ..border.trusted import TrustedPeer
from ..border.values import CONTAINER_NAMES, EXCEPTION_NAMES, VALUE_NAMES
from .own_code import OwnCode, imports

_PROCESSES = frozenset(
    ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn", "pty.spawn")
)
_EXTENSIONS = frozenset(("sqlite3.enable_load_extension", "sqlite3.load_extension"))
_TABLES_OF_FUNCTIONS = ("json_", "pragma_", "generate_series")
_LOCKS = frozenset(("fcntl.flock", "fcntl.lockf", "fcntl.fcntl"))
_MAKES_FOLDERS = f"{__package__}.pytest_session"
_CHANGES = frozenset(
    f"os.{name}" for name in "mkdir symlink link rename truncate utime chmod chown remove rmdir".split()
)
_LOADS = frozenset(("ctypes.dlopen", "import"))
_KEEP_FILES = ("hypothesis", "_pytest")  # beside the tests' own, where nobody else writes what they read
_WITH_PATHS = ("open", "os.", "shutil.", "sqlite3.connect")  # how such events begin
_DEVICES = frozenset(("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"))
# what libraries read of the machine as they are imported; of a process only where its memory lies, not what is in it
_SYSTEM = tuple(
    "/usr/ /lib/ /lib64/ /sys/ /etc/localtime /etc/mime.types /proc/cpuinfo /proc/meminfo /proc/stat".split()
)
READABLE = ("/tmp/", "/dev/", "/proc/", *_SYSTEM)  # how paths begin that tests may have the use of
_OWN_MAPS = ("/proc/self/maps", "/proc/self/cgroup", "/proc/self/status")
_WRITES = os.O_WRONLY | os.O_RDWR
_PLAIN = (*VALUE_NAMES, *CONTAINER_NAMES, *EXCEPTION_NAMES, set, frozenset, bytearray, complex, range, slice)
# what a pickle may name: classes of plain data, and what protocols 0 to 2 make bytes and plain objects with
_PICKLED = frozenset((cls.__module__, cls.__qualname__) for cls in _PLAIN) | {
    ("_codecs", "encode"), ("copyreg", "_reconstructor"), ("builtins", "object"),
}  # fmt: skip
# by the names of Python 2 too, which these write
_PICKLED |= {
    _compat_pickle.REVERSE_NAME_MAPPING.get(
        pair, (_compat_pickle.REVERSE_IMPORT_MAPPING.get(pair[0], pair[0]), pair[1])
    )
    for pair in _PICKLED
}


def install(peer: TrustedPeer, tests: str, own: str) -> None:
    """Watch this process from now on, until it ends.

    Args:
        peer: records what is refused, and checks that nobody hears of.
        tests: their text.
        own: the file of the tests, which is opened once, to be run.
    """
    refuse, turns = peer.refuse, peer.turns
    common = turns.folder if turns else None
    roots = {os.path.realpath(path) + "/" for path in (*sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix) if path}
    library = (*roots, *_SYSTEM)
    # of files that only the tests' process sees nothing leads anywhere; of the common folder no link does
    folders = tuple(os.path.realpath(path) + "/" for path in (common, "/tmp", os.environ.get("TMPDIR")) if path)
    own_file = os.path.realpath(own) if own else None
    own_place = f"{os.path.dirname(own_file or '')}/"
    left, compiled, code = [own], f"{own_place}__pycache__/", OwnCode(tests)

    def allowed(path: str, flags: int) -> bool:
        real = os.path.realpath(path)
        if path in _OWN_MAPS and not flags & _WRITES:
            return True
        if f"{real}/".startswith(compiled):
            return _opens_for() in _KEEP_FILES
        # a parser of the tests in the candidate's hands may be told to read it
        if real == own_file or (common is not None and own_file and f"{real}/".startswith(own_place)):
            return False
        if real in _DEVICES or (
            f"{real}/".startswith(library) and not flags & _WRITES and not real.startswith(folders)
        ):
            return True
        return f"{real}/".startswith(folders) and real == _without_links(path)

    def looked_at(path: Any, flags: int) -> None:
        """While the tests write the candidate stands still, and where they write anew it is a new file of theirs."""
        if turns is None or not isinstance(path, (str, bytes, os.PathLike)):
            return
        real = os.path.realpath(os.fsdecode(path))
        if not f"{real}/".startswith(folders[0]):
            return
        if not flags & (os.O_WRONLY | os.O_TRUNC):
            read(real)
        if flags & (_WRITES | os.O_CREAT):
            turns.take("" if os.path.lexists(real) and not flags & os.O_TRUNC else real, theirs=peer.for_their_thread())
            # of a name without a folder nothing says in which folder it is opened
            if why := turns.linked(real if os.path.isabs(os.fsdecode(path)) and not turns.always else ""):
                refuse(why)
            with contextlib.suppress(OSError):
                if flags & os.O_TRUNC and os.lstat(real).st_uid != os.getuid():
                    os.unlink(real)  # else they could not write to it, if the candidate says so

    def read(path: str) -> None:
        if turns is not None and turns.waited(path, theirs=peer.for_their_thread()):
            refuse(
                f"the tests wrote to the folder that they share with the candidate, waited, and then read {path[:200] or 'a database'!r} there, "
                "without a call in between: what a thread of its wrote may be a copy of what it is compared with"
            )
        used(path)

    def used(path: str) -> None:
        if turns is not None and turns.may_be_named(path):
            refuse(
                f"the tests read {os.path.basename(path)!r}, which they made after the candidate had named it: they may hold it against itself"
            )

    def changed(event: str, args: tuple[Any, ...]) -> None:
        """What the tests make, move or remove says as much as what they write."""
        paths = [os.path.abspath(os.fsdecode(path)) for path in args[:2] if isinstance(path, (str, bytes, os.PathLike))]
        if event in ("os.rename", "os.link"):
            for path in paths:  # the folder: what lies there may be a link itself
                if not allowed(os.path.dirname(path), os.O_WRONLY):
                    refuse(
                        f"the tests moved or linked {path[:200]!r}, which is outside the folder that they share with the candidate"
                    )
            used(os.path.realpath(paths[0]))
        own = sys._getframe(2).f_globals.get("__name__") == _MAKES_FOLDERS  # which makes `tmp_path`
        if turns is not None and not own and any(os.path.realpath(path).startswith(folders[0]) for path in paths):
            turns.take(theirs=peer.for_their_thread())

    def looked_up() -> None:
        """The tests ask a database for something: from now on they may wait for a lock of the candidate's."""
        if turns is not None:
            read("")
            turns.hold()

    def opened(path: Any, flags: object) -> None:
        path = os.fsdecode(path)
        if left and path == left[0]:
            left.clear()
        elif not allowed(path, flags if isinstance(flags, int) else 0):
            refuse(
                f"the tests opened {path[:200]!r}, which is outside the folder that they share with the candidate, or a link"
            )
        elif isinstance(flags, int):
            looked_at(path, flags)

    def ran_from_there(name: str) -> bool:
        # the name of what was generated is no path, and would be one in the folder where the tests work
        real = os.path.realpath(name)
        there = real.startswith(folders) and not real.startswith(library) and real != own_file
        return there and (os.path.isabs(name) or os.path.lexists(real))

    def compiles(source: object) -> None:
        if (foreign := code.foreign(source, sys._getframe(2))) is not None:
            maker, text = foreign
            refuse(
                f"{maker or 'the tests'} would evaluate {text.strip()[:100]!r} beside the tests, which is not their own text; "
                "they can be run with fidelity: shared"
            )

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if turns is not None and event.startswith(_WITH_PATHS) and peer.for_their_thread():
            turns.await_theirs()
        if event == "compile":
            compiles(args[0])
        elif event == "pickle.find_class":
            if args not in _PICKLED:
                refuse(f"{args[0]}.{args[1]} is not unpickled beside the tests; they can be run with fidelity: shared")
        elif event in ("marshal.loads", "marshal.load"):
            if not imports(sys._getframe(1)):
                refuse("marshalled code is not read beside the tests; they can be run with fidelity: shared")
        elif event == "open":
            # what removes a folder opens those below it by a name in it, which says nothing here
            named = isinstance(args[0], (str, bytes, os.PathLike))
            if named and not sys._getframe(1).f_code.co_name.startswith("_rmtree"):
                opened(args[0], args[2])
        elif event in ("os.listdir", "os.scandir"):
            looked_at(args[0], os.O_RDONLY)
        elif event in _CHANGES:
            changed(event, args)
        elif event in _LOCKS and turns is not None:
            turns.hold()
        elif event == "sqlite3.connect" and common is not None:
            open_database(event, args)
        elif event in _EXTENSIONS and args[1:] != (False,):
            refuse("a database of the tests was told to load a library, which would run beside them")
        elif event in _PROCESSES:
            if imports(sys._getframe(1)):  # what matplotlib asks for fonts: a library does without
                raise PermissionError("the tests start no process")
            refuse("the tests started a process, which beside them could do what the candidate says")
        elif event == "exec":
            ran = args[0]
            if own and isinstance(ran, types.CodeType) and ran.co_filename == own:
                os.truncate(own, 0)  # read by now: what opens files in C says nothing of it here
            elif isinstance(ran, types.CodeType) and ran_from_there(ran.co_filename):
                refuse("the tests ran a file of a folder that they write to, which they may do at the candidate's word")
        elif event in _LOADS:
            name = args[0] if event == "ctypes.dlopen" else args[1]
            if isinstance(name, (str, bytes)) and ran_from_there(os.fsdecode(name)):
                refuse("the tests loaded a library of a folder that they write to")

    if common is not None and "access" in tests:
        _ask_as_owner(folders[0])
    if "filecmp" in tests:
        _compare_contents()
    if "configparser" in tests:
        _fill_in_own_text(refuse, tests)
    if "sqlite" in tests:
        _watch_databases(peer, looked_up)
    # what prints an error that nobody can catch (of a `__del__`) parses the line that it shows, in C as if it were the tests to run it
    sys.unraisablehook = lambda found: traceback.print_exception(found.exc_value)
    sys.addaudithook(watch)
    threading.excepthook = lambda ended: peer.note(ended.exc_value)
    loops: Any = asyncio.BaseEventLoop
    loops.default_exception_handler = lambda loop, context: peer.note(context.get("exception"))
    if "asyncio" in tests:
        _watch_tasks(peer)
    if "concurrent" in tests:
        _hear_pools(peer)
    if "logging" in tests:
        _hear_handlers(peer)


def _watch_tasks(peer: TrustedPeer) -> None:
    """Tasks that nobody waited for end with their loop, and the checks that they would have made."""
    runners: Any = asyncio.runners
    loops: Any = asyncio.BaseEventLoop

    def leaving(ends: Callable[[asyncio.AbstractEventLoop], None]) -> Callable[[asyncio.AbstractEventLoop], None]:
        def end(loop: asyncio.AbstractEventLoop) -> None:
            for task in asyncio.all_tasks(loop):
                within: Any = task.get_coro()
                while within is not None:
                    peer.left(getattr(within, "cr_frame", None))
                    within = getattr(within, "cr_await", None)
            ends(loop)

        return end

    runners._cancel_all_tasks, loops.close = leaving(runners._cancel_all_tasks), leaving(loops.close)


def _hear_pools(peer: TrustedPeer) -> None:
    """What a function raised in a pool, or a callback of its future, fails the test where a check goes with it and nobody asks."""
    from concurrent.futures import Future

    def heard(asks: Any) -> Any:
        @functools.wraps(asks)
        def ask(self: Any, *args: Any, **kwargs: Any) -> object:
            try:
                return asks(self, *args, **kwargs)
            finally:
                peer.unasked.pop(self, None)

        return ask

    kind: Any = Future
    kind.result, kind.exception = heard(kind.result), heard(kind.exception)
    set_exception = kind.set_exception

    def fail(self: Any, error: BaseException | None) -> None:
        peer.unasked[self] = error
        set_exception(self, error)

    def note(record: logging.LogRecord) -> bool:
        peer.note(sys.exception())
        return True

    kind.set_exception = fail
    logging.getLogger("concurrent.futures").addFilter(note)


def _hear_handlers(peer: TrustedPeer) -> None:
    """What a handler or a formatter of the tests raises `logging` prints, and goes on."""
    handlers: Any = logging.Handler
    say = handlers.handleError

    def fail(self: logging.Handler, record: logging.LogRecord) -> None:
        peer.note(sys.exception())
        say(self, record)

    handlers.handleError = fail


def _opens_for() -> str:
    """Which package has a file opened, by way of the standard library, of which temporary files are made as `surroundings` says."""
    frame: types.FrameType | None = sys._getframe(3)
    root = ""
    while frame is not None and not (root and root not in sys.stdlib_module_names):
        name = str(frame.f_globals.get("__name__"))
        root = "" if name in (__name__, open_database.__module__) else name.partition(".")[0]
        frame = frame.f_back
    return root


def _ask_as_owner(common: str) -> None:
    """Of files in the common folder tests may do, as `os.access` tells, what their owner may: in one process both are one user."""
    real = os.access

    @functools.wraps(real)
    def access(path: Any, mode: int, **named: Any) -> bool:
        if os.path.realpath(os.fsdecode(path)).startswith(common):
            with contextlib.suppress(OSError):
                return (os.stat(path).st_mode >> 6) & mode == mode
        return real(path, mode, **named)

    os.access = access


def _compare_contents() -> None:
    """Files that look alike by size and time are compared by what is in them: the candidate may set both."""
    import filecmp

    real = filecmp._sig  # type: ignore[attr-defined]
    filecmp._sig = lambda found: (*real(found)[:2], object())  # type: ignore[attr-defined]


def _watch_databases(peer: TrustedPeer, looked_up: Callable[[], None]) -> None:
    """A view of the candidate's is its text: of it no table that is a function is given what the tests look for, nor what they expect."""
    import sqlite3

    real, turns, refuse = sqlite3.connect, peer.turns, peer.refuse
    own: set[str | None] = {None}  # views of the tests; no view
    # by which views of the candidate's, or by none, what the tests wrote was read
    read: dict[str | None, set[str | None]] = {}

    def authorize(action: int, first: str | None, second: object, database: object, within: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            looked_up()
        asked = len(peer.pair().asked) > 1  # the candidate has the tests' connection, and does this
        if turns is not None and action in (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_INSERT) and within is None:
            turns.take("" if asked else f"table {first}")
        if action in (sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_TEMP_VIEW) and within is None and not asked:
            own.add(first)
        elif action == sqlite3.SQLITE_READ and turns is not None and turns.made(f"table {first}"):
            ways = read.setdefault(first, set())
            ways.add(None if within in own else within)
            if len(ways) > 1 and None in ways:  # else it is what they put in for the view to show
                refuse(
                    f"the tests hold {first!r}, which they wrote, against what the candidate's view {max(filter(None, ways))!r} shows of it"
                )
        if within is not None and (first or "").startswith(_TABLES_OF_FUNCTIONS):
            refuse(f"the tests looked into {first} by way of {within!r}, which may not be their own view")
        return sqlite3.SQLITE_OK

    @functools.wraps(real)
    def connect(*args: Any, **kwargs: Any) -> Any:
        connection = real(*args, **kwargs)
        connection.set_authorizer(authorize)
        return connection

    connect.__module__ = sqlite3.__name__  # to the candidate its own goes by this
    sqlite3.connect = sqlite3.dbapi2.connect = connect


def _fill_in_own_text(refuse: Callable[[str], None], tests: str) -> None:
    """Of a configuration that the candidate wrote no reference is followed, which may lead to what the tests hold."""
    import configparser

    for kind, sign in ((configparser.BasicInterpolation, "%("), (configparser.ExtendedInterpolation, "${")):

        def before_get(self: Any, *place: Any, of: Any = kind.before_get, sign: str = sign) -> object:
            value = place[3]
            if sign in value and value not in tests:
                refuse(f"the tests would fill in {value[:100]!r}, which is not their own text")
            return of(self, *place)

        kind.before_get = before_get  # type: ignore[assignment,method-assign]


def _without_links(path: str) -> str:
    """The path as it is written, with links followed in the part above the folders for temporary files only."""
    absolute = os.path.abspath(path)
    for place in ("/tmp", os.environ.get("TMPDIR") or "/tmp"):
        if absolute.startswith(place + "/"):
            return os.path.realpath(place) + absolute[len(place) :]
    return absolute
