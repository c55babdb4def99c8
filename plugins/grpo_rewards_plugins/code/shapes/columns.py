"""What a row's other columns say of its tests: another language, a checker, calls, limits, classes under test.

None of it can be seen in the tests themselves, and each changes what a right program is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grpo_rewards_plugins.blocks import fenced_blocks
from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.extraction import PROGRAMMING
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.pairs import STDIO
from grpo_rewards_plugins.code.suite import Checking

_PYTHON = re.compile(r"(?:c?python|pypy|py)[ _-]?(?:3(?:\.\d+)*)?(?:-64)?|python \(?3[\d.]*\)?")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
# as judges list compilers: "GNU C++17 7.3.0", "C11 (gcc)", "Java 21"
_MAKER, _VERSION = (
    re.compile(r"(?:gnu|gcc|clang|ms)[ _-]?(?=c\b|c\d|c\+\+)"),
    re.compile(r"(?<=[a-z+])[ _-]?v?\d[\w.]*$"),
)
_BY_OTHER_NAMES = {"cplusplus": "cpp", "g++": "cpp", "gnu++": "cpp", "node.js": "javascript", "nodejs": "javascript"}
_LANGUAGE = ("language", "programming_language", "lang")
_NO_LIMIT = ("none", "null", "nan", "unlimited", "-")
_RANGE = re.compile(r"\d+(?:\.\d+)? ?- ?(?=\d)")
_SPOKEN = frozenset(
    [
        "ar", "arabic", "bengali", "bn", "chinese", "czech", "danish", "de", "deu", "deutsch", "dutch", "el", "en",
        "en-us", "en_us", "eng", "english", "es", "fa", "finnish", "fr", "fra", "french", "german", "greek", "he",
        "hebrew", "hi", "hindi", "hu", "hungarian", "id", "indonesian", "it", "italian", "ja", "japanese", "ko",
        "korean", "malay", "ms", "multilingual", "nl", "norwegian", "persian", "polish", "portuguese", "pt",
        "romanian", "ru", "rus", "russian", "spa", "spanish", "sv", "sw", "swahili", "swedish", "tamil", "th",
        "thai", "tr", "turkish", "uk", "ukrainian", "ur", "urdu", "vi", "vietnamese", "zh", "zh-cn", "zh-hans",
        "zh-tw", "zh_cn", "zho",
    ]
)  # fmt: skip
_STANDARD = ("stdin", "stdout", "standard input", "standard output", "stdio")
_CLASS = re.compile(r"^class[ \t]{1,8}(\w+)[ \t]*[:(]", re.M)
_DEFINES = re.compile(r"^[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]", re.M)
_FUNCTION = re.compile(r"\bdef[ \t]+(\w+)[ \t]*\(")
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.M)
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)[ ]?(ms|milliseconds?|s|secs?|seconds?)\.?", re.I)
_MOST_SECONDS, _LEAST_MS = 60.0, 100.0  # a bare number between these may be either
_MEMORY = re.compile(r"(\d{1,12}(?:\.\d+)?)[ ]?(b|bytes|[kmg](?:i?b)?|kilobytes|megabytes|gigabytes)?", re.I)
_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}")
_CHECKERS = {
    "checker": ("cpp", "testlib"),
    "generated_checker": ("python", "codeforces"),
    "output_judging_function": ("python", "function"),
}
"""Columns that may hold a program which decides about outputs, with its language and how it is called."""


def is_python(language: str) -> bool:
    """Whether a language's name, or a fence's tag, means the Python that programs run in."""
    return _PYTHON.fullmatch(language.strip().lower()) is not None


def language_of(columns: Mapping[str, object]) -> str:
    """Return the language that a row asks programs in, as the sandbox names it; empty where it does not say.

    Raises:
        SuiteProblem: it is one that is not run, or not understood.
    """
    labels = from_json(columns.get("labels"))
    named = labels.get("programming_language") if isinstance(labels, Mapping) else None
    cells = (*(columns.get(name) for name in _LANGUAGE), named)
    return next(filter(None, map(named_language, cells)), "")


def named_language(language: object) -> str:
    """Return the language that a cell names: Python where it is among several; empty for a language that people speak.

    Raises:
        SuiteProblem: it names only languages that are not run, or not understood.
    """
    language = plain(language)
    several = language if isinstance(language, list | tuple) else [language]
    given = [str(one).strip().lower() for one in several if not is_blank(one)]
    if any(is_python(_BRACKETS.sub("", one)) or is_python(one) for one in given):
        return "python"
    if not given or any(one in _SPOKEN for one in given):
        return ""
    found = [name for one in given if (name := _programming(one))]
    if len(found) != 1 or found[0] not in run_languages():
        raise SuiteProblem(
            f"the row asks for programs in {', '.join(given)[:60]!r}; run are {', '.join(run_languages())}"
        )
    return found[0]


def _programming(name: str) -> str:
    """The language of a name as sites have it too, with compiler and version: ``GNU C++17``, ``Java 21``, ``C11 (gcc)``."""
    if name in PROGRAMMING or name.startswith("py"):  # Python 2 is another language
        return PROGRAMMING.get(name, "")
    short = _VERSION.sub("", _MAKER.sub("", _BRACKETS.sub("", name).strip()))
    return PROGRAMMING.get(short) or _BY_OTHER_NAMES.get(short, "")


def run_languages() -> tuple[str, ...]:
    """The languages of programs that the sandbox runs."""
    from grpo_rewards_sandbox import LANGUAGES

    return LANGUAGES


def checker_of(columns: Mapping[str, object]) -> Checking | None:
    """Return the checker that decides about a row's outputs, None where the row has none.

    Raises:
        SuiteProblem: it has two, or one in no form that is known.
    """
    kit = from_json(plain(columns.get("test_cases_kit")))
    judging = kit.get("output_judging_function") if isinstance(kit, Mapping) else None
    given = {**{name: columns.get(name) for name in _CHECKERS}, "test_cases_kit": judging}
    there = {name: text for name, text in given.items() if not is_blank(text)}
    if not there:
        return None
    (name, text), *others = there.items()
    # with two it is not known which of them decides
    if others or not isinstance(text, str):
        raise SuiteProblem(f"a checker decides (column {name!r}), and it is none that is run")
    if name == "checker" and "testlib" not in text:
        raise SuiteProblem("a checker decides (column 'checker'), and it is not written with testlib")
    return Checking(text, *_CHECKERS[name if name in _CHECKERS else "output_judging_function"])


def files_of(columns: Mapping[str, object]) -> tuple[str, str]:
    """Return the names of the files that programs read and write, empty for standard input and output.

    Raises:
        SuiteProblem: they are named, and are no plain names of files.
    """
    if str(columns.get("input_mode") or "").strip().lower() == "file":
        return "input.txt", "output.txt"
    found = []
    for name in ("input_mode", "input_file", "output_file"):
        given = columns.get(name)
        named = "" if is_blank(given) or str(given).strip().lower() in _STANDARD else str(given).strip()
        if named and (name == "input_mode" or not _FILE.fullmatch(named)):
            raise SuiteProblem(f"programs read or write a file (column {name!r}: {named[:60]!r}), which is not judged")
        found.append(named)
    return found[1], found[2]


def refuse_no_stdio(columns: Mapping[str, object]) -> None:
    """Refuse a row of which columns say that its inputs and outputs are not those of a whole program.

    Raises:
        SuiteProblem: the tests call a function or method, are interactive, use files, or are not complete.
    """
    if not is_blank(columns.get("entry_point")):
        raise SuiteProblem(
            f"the tests call {str(columns['entry_point'])[:60]!r} (column 'entry_point'), and are no values that are read yet"
        )
    kind = columns.get("test_case_type")
    if not is_blank(kind) and str(kind) not in STDIO:
        raise SuiteProblem(f"tests of test_case_type {str(kind)[:60]!r} are not read yet")
    starter = columns.get("starter_code")
    if isinstance(starter, str) and _DEFINES.search(starter):
        raise SuiteProblem(
            "the starter code begins a function or class, so the tests are calls, and do not say of what"
        )
    prompt = columns.get("prompt")
    if isinstance(prompt, str) and any(_SOLUTION.search(block.text) for block in fenced_blocks(prompt)):
        raise SuiteProblem("the prompt begins a class Solution, so the tests are calls, and do not say of what")
    if not is_blank(columns.get("interaction_format")):
        raise SuiteProblem("the task is interactive (column 'interaction_format'), which is not judged")
    if columns.get("official_tests_complete") is False:
        raise SuiteProblem("the tests are not complete (column 'official_tests_complete')")


def as_begun(entry: str, columns: Mapping[str, object]) -> str:
    """Return ``f`` or ``Solution().f`` with the function as the row's starter code spells it: ``two_sum`` may begin as ``twoSum`` there."""
    owner, dot, name = entry.rpartition(".")
    starter = columns.get("starter_code")
    begun = _FUNCTION.findall(starter) if isinstance(starter, str) and name else []
    alike = {one for one in begun if one.replace("_", "").lower() == name.replace("_", "").lower()}
    return entry if name in alike or len(alike) != 1 else f"{owner}{dot}{alike.pop()}"


def seconds_of(columns: Mapping[str, object]) -> float | None:
    """Return the row's time limit for one test, in seconds; None where the row has none.

    Read are a number of seconds (from 100 on: milliseconds), ``"2.0 seconds"``, ``"1500 ms"`` and ``{"seconds": 2, "nanos": 0}``.

    Raises:
        SuiteProblem: its unit is not known.
    """
    limit = from_json(plain(columns.get("time_limit")))
    if is_blank(limit) or (isinstance(limit, str) and limit.strip().lower() in _NO_LIMIT):
        return None
    if isinstance(limit, str):  # "2 - 4 seconds": the tests' own limits lie between
        limit = _RANGE.sub("", limit)
    seconds: float | None = None
    if isinstance(limit, str) and re.fullmatch(r"\d{1,5}(?:\.\d+)?", limit.strip()):
        limit = float(limit)
    if isinstance(limit, Mapping) and set(limit) <= {"seconds", "nanos"}:
        whole, part = limit.get("seconds") or 0, limit.get("nanos") or 0
        if all(isinstance(value, int | float) for value in (whole, part)):
            seconds = whole + part / 1e9
    elif isinstance(limit, int | float) and not isinstance(limit, bool):
        seconds = float(limit) if limit <= _MOST_SECONDS else limit / 1000 if limit >= _LEAST_MS else None
    elif isinstance(limit, str) and (match := _SECONDS.fullmatch(limit.strip())):
        seconds = float(match[1]) / (1000 if match[2].lower().startswith("m") else 1)
    if seconds is None or not seconds > 0:
        raise SuiteProblem(f"the time limit {str(limit)[:60]!r} is in no unit that is known")
    return seconds


def memory_of(columns: Mapping[str, object]) -> int | None:
    """Return the row's memory limit in bytes: megabytes (``256``, ``"256.0 megabytes"``), or bytes; None where it is not understood."""
    # the column that names its unit first
    for name in ("memory_limit_bytes", "memory_limit"):
        limit = plain(columns.get(name))
        match = _MEMORY.fullmatch(str(limit).strip())
        if match is None:
            continue
        # a bare number of a million and more can be no megabytes
        unit = (match[2] or ("b" if name.endswith("bytes") or float(match[1]) >= 1 << 20 else "m"))[0].lower()
        size = int(float(match[1]) * _UNITS[unit])
        return size if size > 0 else None
    return None


def class_names(columns: Mapping[str, object], prompt: str) -> tuple[str, ...]:
    """Return the names of the classes under test: the row's own field, else `class_name` and those that its texts define.

    Looked through are the prompt (its code, where it has prose too), the starter code and the reference solution.
    """
    own = plain(columns.get("classes"))
    said = plain(columns.get("class_name")) if is_blank(own) else own
    names = said if isinstance(said, list | tuple) else [said]
    found = dict.fromkeys(str(name) for name in names if not is_blank(name))
    if not is_blank(own):
        return tuple(found)
    texts = [prompt, *(columns.get(name) for name in ("prompt", "starter_code", *REFERENCES))]
    for text in texts:
        if isinstance(text, str) and "class" in text:
            found.update(dict.fromkeys(match[1] for match in _CLASS.finditer(text)))
    return tuple(found)


REFERENCES = ("canonical_solution", "solution", "solution_code", "reference", "reference_code", "code")
"""The columns that may hold a reference solution."""
