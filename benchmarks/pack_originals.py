"""The graders whose numbers the field reports, run whole from a folder: each as a function of a row. For packs.py.

FOLDER holds them as checkouts, unpacked wheels or single files: ``lm_eval`` (0.4.13), ``IFBench`` (allenai, db69a6f), ``open-instruct``
(allenai, e6c3044), ``bfcl_eval`` (2026.3.23), ``test-suite-sql-eval`` (taoyds), ``evaluation_ex.py`` and ``evaluation_utils.py`` (BIRD's,
bird-bench/mini_dev), ``squad1.py`` and ``squad2.py`` (SQuAD's evaluate-v1.1.py and -v2.0.py), ``hotpot_evaluate_v1.py`` (hotpotqa/hotpot),
``qa_em.py`` (Search-R1, a14dc3a), ``rlla.py`` (ToolRL, 8cee13e), and ``nltk_data`` with punkt_tab and stopwords. They need nltk, langdetect,
syllapy, emoji, immutabledict, sqlparse, func-timeout and tqdm; reasoning-gym is the package. None of their code is here.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import re
import signal
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Grader = Callable[[Row], float | None]
"""The original's value of a row, or None where it raises or hangs."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stub(name: str, path: Path | None = None, **names: Any) -> types.ModuleType:
    """A module that is not run: a package, so that only what is asked for below it is imported, or names that nothing here calls."""
    module = types.ModuleType(name)
    if path is not None:
        module.__path__ = [str(path)]
    vars(module).update(names)
    sys.modules[name] = module
    return module


def _file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"original_{path.stem.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------------------------------------ instructions

_REGISTRIES = {
    "ifeval": "lm_eval.tasks.ifeval.instructions_registry",
    "ifbench": "ifbench.instructions_registry",
    "ifrlvr": "open_instruct.IFEvalG.instructions_registry",
}


def instructions(folder: Path, source: str) -> Grader:
    """One instruction's check on one text; a blank one passes none."""
    import langdetect
    import nltk

    nltk.data.path.insert(0, str(folder / "nltk_data"))
    nltk.download = lambda *_a, **_k: True
    langdetect.DetectorFactory.seed = 0
    langdetect.detect("It loads its tables with its first text.")
    sys.path.insert(0, str(folder / "IFBench"))
    for name in ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"):
        _stub(name, folder / "lm_eval" / name.replace(".", "/"))
    for name in ("open_instruct", "open_instruct.IFEvalG"):
        _stub(name, folder / "open-instruct" / name.replace(".", "/"))
    registry = importlib.import_module(_REGISTRIES[source]).INSTRUCTION_DICT

    def grade(row: Row) -> float | None:
        if not row["completion"].strip():
            return 0.0
        (id,), (arguments,) = row["columns"]["instruction_id_list"], row["columns"]["kwargs"]
        try:
            with within(3.0):
                check = registry[id](id)
                check.build_description(**arguments)
                return float(bool(check.check_following(row["completion"])))
        except Exception:
            return None

    return grade


def functions(folder: Path) -> Grader:
    """open-instruct's functions for RLVR-IFeval's rows, as `IFEvalVerifierOld` calls them."""
    import langdetect

    langdetect.DetectorFactory.seed = 0
    langdetect.detect("It loads its tables with its first text.")
    known = _file(folder / "open-instruct" / "open_instruct" / "if_functions.py").IF_FUNCTIONS_MAP

    def grade(row: Row) -> float | None:
        given = {name: value for name, value in json.loads(row["columns"]["ground_truth"]).items() if value is not None}
        try:
            with within(3.0):
                return float(known[given.pop("func_name")](row["completion"], **given))
        except Exception:
            return None

    return grade


# ------------------------------------------------------------------------------------------------ tool calls


def bfcl(folder: Path) -> Grader:
    """bfcl-eval's decoding and comparison."""
    for name in ("", ".eval_checker", ".eval_checker.ast_eval", ".model_handler", ".constants"):
        _stub(f"bfcl_eval{name}", folder / "bfcl_eval" / f"bfcl_eval{name}".replace(".", "/"))
    known = type("Known", (), {"underscore_to_dot": False})
    _stub("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING=defaultdict(known))
    for name, function in (("java", "parse_java_function_call"), ("js", "parse_javascript_function_call")):
        _stub(f"bfcl_eval.model_handler.parser.{name}_parser", **{function: None})  # they need tree-sitter
    checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    utils = importlib.import_module("bfcl_eval.model_handler.utils")
    enums = importlib.import_module("bfcl_eval.constants.enums")

    def grade(row: Row) -> float | None:
        columns, text = row["columns"], row["completion"]
        category = columns["category"]
        try:
            with within(3.0):
                if row["hermes"]:
                    calls = _hermes(text)
                else:
                    calls = utils.default_decode_ast_prompting(text, enums.ReturnFormat.PYTHON)
        except Exception:
            return float("irrelevance" in category)
        good = isinstance(calls, list) and all(
            isinstance(call, dict) and all(isinstance(value, dict) for value in call.values()) for call in calls
        )
        if "irrelevance" in category:
            return float(not (good and calls and calls != [{}]))
        if not good:
            return 0.0
        functions, truth = json.loads(columns["functions"]), json.loads(columns["ground_truth"])
        try:
            return float(checker.ast_checker(functions, calls, truth, enums.Language.PYTHON, category, "any")["valid"])
        except Exception:
            return None

    return grade


def _hermes(text: str) -> list[dict[str, Any]]:
    """What the handler of Qwen reads."""
    found = []
    for part in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text, re.DOTALL):
        try:
            found.append(json.loads(part))
        except ValueError:
            continue
    return [{call["name"]: call["arguments"]} for call in found]


def toolrl(folder: Path) -> Grader:
    """ToolRL's `compute_score`, for Qwen's tokens, without what it prints."""
    os.environ["EXPERIMENT_NAME"] = "qwen"
    module = _file(folder / "rlla.py")
    module.print = lambda *_a, **_k: None

    def grade(row: Row) -> float | None:
        text = f"<|im_start|>assistant\n{row['completion']}<|im_end|>"
        try:
            with within(3.0):
                return float(module.compute_score(text, row["columns"]["ground_truth"])[0])
        except Exception:
            return None

    return grade


# ------------------------------------------------------------------------------------------------ questions


def qa(folder: Path, metric: str, variant: str) -> Grader:
    """The scripts of SQuAD, HotpotQA and Search-R1; the answer is found by ours, except by Search-R1, which finds its own."""
    sys.modules.setdefault("ujson", json)
    if variant == "search_r1":
        module = _file(folder / "qa_em.py")
        module.random = types.SimpleNamespace(randint=lambda *_: 0)  # it prints some rows
        score = {"em": module.compute_score_em, "subem": module.compute_score_subem}[metric]

        def search(row: Row) -> float | None:
            if "<answer>" not in row["completion"].rpartition("</answer>")[0]:
                return None  # it would grade the example of the prompt as the completion's answer
            return float(score(row["prompt"] + row["completion"], {"target": row["columns"]["golden_answers"]}))

        return search
    if variant == "hotpot":
        module = _file(folder / "hotpot_evaluate_v1.py")
        exact, f1 = module.exact_match_score, lambda given, gold: module.f1_score(given, gold)[0]
    elif variant == "squad":
        module = _file(folder / "squad1.py")
        exact, f1 = module.exact_match_score, module.f1_score
    else:
        module = _file(folder / "squad2.py")

    def grade(row: Row) -> float | None:
        golds, given = row["columns"]["golden_answers"], row["answer"]
        if variant == "squad2":
            data = [{"paragraphs": [{"qas": [{"id": "0", "answers": [{"text": gold} for gold in golds]}]}]}]
            both = module.get_raw_scores(data, {"0": given})
            return float(both[metric == "f1"]["0"])
        return max(float((exact if metric == "em" else f1)(given, gold)) for gold in golds)

    return grade


# ------------------------------------------------------------------------------------------------ SQL


def bird(folder: Path, databases: Path) -> Grader:
    """BIRD's `execute_model`: both queries on a new connection, in a thread that is given up at its time."""
    for name in ("psycopg2", "pymysql"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.path.insert(0, str(folder))
    module = importlib.import_module("evaluation_ex")

    def grade(row: Row) -> float | None:
        columns = row["columns"]
        path = str(databases / columns["db_id"] / f"{columns['db_id']}.sqlite")
        return float(module.execute_model(row["query"], columns["query"], path, 0, 30.0, "SQLite")["res"])

    return grade


def spider(folder: Path, databases: Path) -> Grader:
    """Spider's `eval_exec_match`, on every database of the folder."""
    sys.path.insert(0, str(folder / "test-suite-sql-eval"))
    module = importlib.import_module("exec_eval")

    def grade(row: Row) -> float | None:
        columns = row["columns"]
        path = str(databases / columns["db_id"] / f"{columns['db_id']}.sqlite")
        try:
            with within(5.0), redirect_stdout(io.StringIO()):
                return float(module.eval_exec_match(path, row["query"], columns["query"], False, False, False))
        except Exception:
            return None

    return grade


# ------------------------------------------------------------------------------------------------ reasoning-gym


def reasoning_gym(_folder: Path) -> Grader:
    """The package's own scorers, unguarded, on entries that were never JSON."""
    import reasoning_gym as package

    def grade(row: Row) -> float | None:
        entry, given = row["entry"], package.utils.extract_answer(row["completion"])
        try:
            with within(3.0), redirect_stdout(io.StringIO()):
                return float(package.get_score_answer_fn(entry["metadata"]["source_dataset"])(given, entry))
        except Exception:
            return None

    return grade
