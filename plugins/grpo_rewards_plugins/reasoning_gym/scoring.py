"""A worker's side: the package's own scorers, with what they would evaluate read instead."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread of a library's own takes memory that is limited here
os.environ.setdefault("MPLBACKEND", "agg")

import reasoning_gym as package
import sympy  # type: ignore[import-untyped]
import sympy.parsing.sympy_parser as parser  # type: ignore[import-untyped]
from reasoning_gym.factory import DATASETS

from .literals import check_formula, evaluate

_TURN = 0.2  # seconds of processor time after which a list of questions is handed back with what is done
_EVALUATING = (
    "algorithmic.spiral_matrix", "algorithmic.string_insertion", "algorithmic.binary_matrix", "algorithmic.number_sorting",
    "games.n_queens",
)  # fmt: skip
_PARSING = ("games.countdown", "games.puzzle24")
_PARSING_BY_SYMPY = (
    "algebra.polynomial_multiplication",
    "algebra.simple_integration",
    "algebra.intermediate_integration",
)
_BOARDS = frozenset({"arc_agi", "rearc"})
_Entry = dict[str, Any]  # as the package makes them: each data set has metadata of its own
_parse: Callable[..., object] = parser.parse_expr


@cache
def _known() -> dict[str, object]:
    """The names that sympy's parser looks up: its own, and Python's functions."""
    known: dict[str, object] = {}
    exec("from sympy import *", known)  # noqa: S102 - as the parser itself does, with nothing of an answer
    return {
        **vars(__builtins__ if not isinstance(__builtins__, dict) else importlib.import_module("builtins")),
        **known,
    }


def _parse_safely(text: str, local_dict: dict[str, object] | None = None, **more: object) -> object:
    """sympy's `parse_expr`, for formulas that `check_formula` lets through."""
    local = local_dict or {}
    check_formula(text, {name: value for name, value in _known().items() if name not in local})
    return _parse(text, local_dict=local_dict, **more)


class _Sympy:
    """The module sympy, with the parser that looks first."""

    parse_expr = staticmethod(_parse_safely)

    def __getattr__(self, name: str) -> object:
        return getattr(sympy, name)


def _guard() -> None:
    """Put readers in the place of what would run an answer; a scorer's own names win over those of Python."""
    for name in _EVALUATING:
        vars(importlib.import_module(f"{package.__name__}.{name}"))["eval"] = evaluate
    for name in _PARSING:
        vars(importlib.import_module(f"{package.__name__}.{name}"))["parse_expr"] = _parse_safely
    for name in _PARSING_BY_SYMPY:
        names = vars(importlib.import_module(f"{package.__name__}.{name}"))
        # some of the modules import sympy under the short name
        names["sp" if "sp" in names else "sympy"] = _Sympy()


_guard()
# once, before the workers fork, so that each has the names
_known()


@cache
def _scorer(name: str) -> Callable[[str | None, _Entry], float] | None:
    if name not in DATASETS:
        return None
    scorer: Callable[[str | None, _Entry], float] = package.get_score_answer_fn(name)
    return scorer


def _tupled(value: object) -> object:
    return tuple(_tupled(part) for part in value) if isinstance(value, list) else value


# What four scorers pay in full for one and the same answer to every entry, each with what an answer has to be beside it.


def _is_halting(given: str, entry: _Entry) -> bool:
    """The scorer takes any text for True, and every entry's answer too."""
    return given.strip().lower() == str(entry["answer"]).strip().lower()


def _uses_the_numbers(given: str, entry: _Entry) -> bool:
    """The scorer takes any four numbers, such as those of 6*4*1*1."""
    return sorted(map(int, re.findall(r"\b\d+\b", given))) == sorted(map(int, entry["metadata"]["numbers"]))


def _is_probable(given: str, entry: _Entry) -> bool:
    """The scorer pays the share of the shorter text that begins the longer one: all of ``0`` begins 0.375."""
    return abs(Fraction(given.replace(",", "")) - Fraction(entry["answer"])) <= Fraction(1, 10_000)


def _is_finite(given: str, _entry: _Entry) -> bool:
    """The scorer's `min` takes a distance of NaN for none."""
    return "nan" not in given.lower()


_NEEDED: dict[str, Callable[[str, _Entry], bool]] = {
    "game_of_life_halting": _is_halting,
    "puzzle24": _uses_the_numbers,
    "coin_flip": _is_probable,
    "complex_arithmetic": _is_finite,
}


# Answers that know nothing of the entry: the scorers give a share for any text, for a part of a list, or for being near.
_BLIND = (
    "", " ", "0", "1", "2", "3", "5", "10", "-1", "0.5", "1/2", "0/1", "0, 0", "0 0 0", "1 2 3", "0123456789", "[]", "{}", "[0]", "[1]", "[[0]]", "[[]]",
    "(0, 0)", "x", "x + 1", "a", "a b c d e f g h i j k l m n o p q r s t u v w x y z", "None", "[None]", "True False", "yes no", "Monday", "unknown",
    "infeasible", "Move disk 1 from Peg 1 to Peg 2",
)  # fmt: skip
_NUMBER = re.compile(r"-?\d+(?:[.,/:]\d+)*")


class _Late(Exception):
    """The time for answers that know nothing is over."""


def _late(_signal: int, _frame: object) -> None:
    raise _Late


@lru_cache(maxsize=4_096)
def _blind_share(name: str, entry: str, seconds: float) -> float:
    """The most that a scorer gives to an answer that knows nothing of the entry but the form of its answer, and is not right, as
    far as is found within `seconds`.
    """
    read = json.loads(entry)
    forms = [re.sub(r"\d", digit, str(read["answer"])) for digit in "01"]
    most, before = 0.0, signal.signal(signal.SIGPROF, _late)  # it would end the process
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        for blind in (*forms, str(read["question"]), *_BLIND):
            try:
                value = _own(name, json.loads(entry), blind)
            except _Late:
                raise
            except Exception:  # noqa: BLE001 - a scorer of another package, about an answer that it did not foresee
                continue
            if most < value < 1.0:
                most = value
    except _Late:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return most


def _is_told(given: str, entry: _Entry) -> bool:
    """Whether an answer is the entry's number in words (``The answer is 7.``), of which the scorer gives the share of its length."""
    return _NUMBER.findall(given) == [str(entry["answer"])]


def _own(name: str, entry: _Entry, given: str | None) -> float:
    # JSON makes lists of the tuples that the scorer compares with
    if name in _BOARDS and "output" in entry["metadata"]:
        entry["metadata"]["output"] = _tupled(entry["metadata"]["output"])
    scorer = _scorer(name)
    assert scorer is not None
    return float(scorer(given, entry))


def _score(entry: _Entry, given: str | None, seconds: float, *, mended: bool) -> tuple[float | None, str, str]:
    name = str(entry["metadata"].get("source_dataset"))
    if _scorer(name) is None:
        return None, "not_applicable", f"reasoning-gym {package.__version__} has no data set {name[:60]!r}"
    sent = json.dumps(entry) if mended else ""  # before a scorer changes it
    try:
        value = _own(name, entry, given)
        if value > 0 and given is not None and name in _NEEDED and not _NEEDED[name](given, entry):
            return 0.0, "scored", f"{name}: its scorer would give {value:g}, as to any entry"
        told = given is not None and _is_told(given, entry)
        if mended and 0 < value < 1 and not told and value <= _blind_share(name, sent, seconds):
            return 0.0, "scored", f"{name}: its scorer would give {value:g}, no more than to what knows nothing"
    except MemoryError:
        return 0.0, "rejected", f"{name}: the answer needs too much memory"
    except Exception as error:  # noqa: BLE001 - a scorer of another package, about an answer that it did not foresee
        return 0.0, "rejected", f"{name}: the scorer raises {type(error).__name__} about the answer"
    if not math.isfinite(value):
        return 0.0, "rejected", f"{name}: the scorer gives {value}"
    return min(1.0, max(0.0, value)), "scored", f"{name}: its scorer gives {value:g}"


def answer(question: list[Any]) -> list[tuple[float | None, str, str]]:
    """Score ``[seconds, mended, [[entry, answer], ...]]``; as many verdicts as there was time for, one at least.

    An answer that takes more than `seconds` of processor time takes the process with it.
    """
    seconds, mended, items = question
    begun, verdicts = time.process_time(), []
    for entry, given in items:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        verdicts.append(_score(entry, given, seconds, mended=mended))
        signal.setitimer(signal.ITIMER_PROF, 0)
        if time.process_time() - begun > _TURN:
            break
    return verdicts
