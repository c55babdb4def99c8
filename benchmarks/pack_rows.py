"""Rows for packs.py: those of the tests with other arguments, other texts and other queries, from a seed."""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
ROWS = Path(__file__).resolve().parents[1] / "tests" / "plugins" / "packs"


def rows_of(name: str) -> list[Row]:
    """The rows of a file of the tests."""
    return [json.loads(line) for line in gzip.decompress((ROWS / f"{name}.jsonl.gz").read_bytes()).splitlines()]


_PIECES = [".", "!", "?", ",", "-", "*", "***", "******", "\n", "\n\n", "  ", '"', "'", "[x]", "<<t>>", "#", "1", "É", "ß", "😀", "I", "a", ";", ":",
           "e.g.", "Dr.", "U.S.", "3.5", "...", "''", "``", "the", "and", "\t", "`", "P.S. x", "* item", "- item", "SECTION 1"]  # fmt: skip


def changed(text: str, others: list[str], chance: random.Random) -> str:
    """A text like the given one, that may be on the other side of a check."""
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        words, at = text.split(" "), chance.randrange(len(text) + 1)
        match chance.randrange(11):
            case 0:
                text = text[:at] + chance.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + chance.randrange(1, 12) :]
            case 2:
                lines = text.split("\n")
                del lines[chance.randrange(len(lines))]
                text = "\n".join(lines)
            case 3:
                place = chance.randrange(len(words))
                text = " ".join([*words[:place], words[place], *words[place:]])
            case 4:
                chance.shuffle(words)
                text = " ".join(words)
            case 5:
                text = chance.choice((str.upper, str.lower, str.title, str.swapcase, str.capitalize))(text)
            case 6:
                text = text[: at or 1]
            case 7:
                text = f"{text}{chance.choice((' ', chr(10), chr(10) * 2, ''))}{chance.choice(others)}"
            case 8:
                text = text.replace(" ", chance.choice(("\n", "  ", "-", "\u00a0", "")), chance.choice((1, 3, -1)))
            case 9:
                text = chance.choice((text.strip(".!? "), text + ".", f'"{text}"', f"\n{text}\n", f"# {text}"))
            case _:
                text = " ".join(words[: chance.randrange(1, len(words) + 1)])
    return text


# ------------------------------------------------------------------------------------------------ instructions


def instructions(source: str, count: int, seed: str) -> Iterator[Row]:
    """`count` of each type: the arguments of a row with the text of another of its type, changed."""
    found: dict[str, list[tuple[Row, str]]] = defaultdict(list)
    for row in rows_of("instructions"):
        if row["source"] == source:
            ids, given = row.get("instruction_id_list"), row.get("kwargs")
            if ids is None:
                truth = ast.literal_eval(row["ground_truth"])[0]
                truth = json.loads(truth) if isinstance(truth, str) else truth
                ids, given = truth["instruction_id"], truth["kwargs"]
            for id, arguments in zip(ids, given, strict=True):
                plain = {name: value for name, value in (arguments or {}).items() if value is not None}
                found[id].append((plain, row["completion"]))
    every = [text for kind in found.values() for _, text in kind]
    for id, known in sorted(found.items()):
        chance = random.Random(f"{seed} {source} {id}")
        for _ in range(count):
            arguments, text = chance.choice(known)[0], chance.choice(known)[1]
            text = changed(chance.choice(every) if chance.random() < 0.15 else text, every, chance)
            yield {"type": id, "completion": text, "columns": {"instruction_id_list": [id], "kwargs": [arguments]}}


_WORDS = [
    "the",
    "cat",
    "I",
    "P.S.",
    "end",
    "a",
    "Section",
    "SECTION",
    "Yes",
    "no",
    "THE",
    "house",
    "*",
    "-",
    "é",
    "story",
    ".",
    "x",
]
_MARKS = [*_PIECES, "* * *", "<<>>", "]", "[", ">>", "<<", '{"a": 1}', "U.S.A. x", "! ", "? ", "A", "THE CAT", "\x0b", "\x1c", "\x85", "\u2028", "\r\n", "ſ", "ǆ"]  # fmt: skip


def functions(count: int, seed: str) -> Iterator[Row]:
    """`count` of each function of RLVR-IFeval: texts of IF-RLVR's rows with marks put in, and arguments that they often fit."""
    texts = [row["completion"] for row in rows_of("instructions") if row["source"] == "ifrlvr"]
    chance = random.Random(f"{seed} functions")
    quantifiers = ("at least", "around", "at most")
    for number in range(25 * count):
        text = chance.choice(texts)
        if chance.random() < 0.3:
            text = "".join(chance.choice([*_MARKS, "word ", "Word. "]) for _ in range(chance.randrange(8)))
        for _ in range(chance.choice((0, 1, 2, 3))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(_MARKS) + text[at:]
        text = chance.choice((text, text, text.upper(), text.lower(), f'"{text}"')).strip()
        few, many = chance.choice((0, 1, 2, 2, 3, 4)), len(text.split()) + chance.choice((-20, -2, -1, 0, 0, 1, 3))
        words = [chance.choice(_WORDS) for _ in range(chance.choice((1, 1, 2, 3)))]
        word, quantifier = chance.choice([*words, *text.split()]), chance.choice(quantifiers)
        paragraphs = text.split("\n\n")
        place = chance.randrange(len(paragraphs) + 1)
        known: dict[str, Row] = {
            "verify_keywords": {"keyword_list": words if chance.random() < 0.7 else [word]},
            "verify_keyword_frequency": {"word": word, "N": few},
            "validate_forbidden_words": {"forbidden_words": words if chance.random() < 0.9 else word},
            "verify_letter_frequency": {"letter": chance.choice("aexI.é"), "N": few},
            "validate_response_language": {"language": chance.choice(("en", "en", "de", "fr"))},
            "verify_paragraph_count": {"N": few},
            "validate_word_constraint": {"N": max(0, many), "quantifier": quantifier},
            "verify_sentence_constraint": {"N": few, "quantifier": quantifier},
            "validate_paragraphs": {
                "N": len(paragraphs) + (chance.random() < 0.2),
                "first_word": (paragraphs[place - 1].split() or ["x"])[0] if chance.random() < 0.7 else word,
                "i": place,
            },
            "verify_postscript": {"postscript_marker": chance.choice(("P.S.", "P.P.S", "end"))},
            "validate_placeholders": {"N": few},
            "verify_bullet_points": {"N": few},
            "validate_title": {},
            "validate_choice": {"options": chance.choice((words, word))},
            "validate_highlighted_sections": {"N": few},
            "validate_sections": {"N": few, "section_splitter": chance.choice(words)},
            "validate_json_format": {},
            "validate_repeat_prompt": {"original_prompt": text[: chance.randrange(1, 30)].strip() or "x"},
            "validate_two_responses": {},
            "validate_uppercase": {},
            "validate_lowercase": {},
            "validate_frequency_capital_words": {"N": few, "quantifier": quantifier},
            "validate_end": {"end_phrase": text[-5:].strip() or "x"},
            "validate_quotation": {},
            "validate_no_commas": {},
        }
        name = sorted(known)[number % 25]
        if name == "validate_json_format" and chance.random() < 0.5:
            text = json.dumps(chance.choice((1, [text], {"a": text})))
        if name == "validate_two_responses" and chance.random() < 0.5:
            text = f"{text}******{chance.choice((text, word))}"
        if name == "validate_repeat_prompt" and chance.random() < 0.5:
            text = text[1:]
        truth = {"func_name": name, "N": None, "quantifier": None, "options": None, **known[name]}
        yield {"type": name, "completion": text, "columns": {"ground_truth": json.dumps(truth)}}


# ------------------------------------------------------------------------------------------------ tool calls

_VALUES = [
    "1",
    "1.0",
    "'1'",
    "True",
    "None",
    "[]",
    "[1, 2]",
    "(1, 2)",
    "{}",
    "{'a': 1}",
    "-3",
    "2 ** 3",
    "1 + 1",
    "x",
    "f(a=1)",
    "''",
    "'San Diego'",
]


def _changed_call(text: str, others: list[str], chance: random.Random) -> str:
    """A call like the given one, in the same format."""
    for _ in range(chance.choice((0, 1, 1, 2))):
        match chance.randrange(7):
            case 0:
                if hits := list(re.finditer(r"(?<==)[^,()]+|(?<=: )[^,{}]+", text)):
                    hit = chance.choice(hits)
                    text = text[: hit.start()] + chance.choice(_VALUES) + text[hit.end() :]
            case 1:
                text = re.sub(r", \w+=[^,()]+", "", text, count=1)
            case 2:
                text = text.replace("'", '"') if chance.random() < 0.5 else text.swapcase()
            case 3:
                ways = (f"```{text}```", f" {text}\n", text.strip("[]"), f"[{text}]", text + "x", f"{text}, {text}")
                text = chance.choice(ways)
            case 4:
                if hits := list(re.finditer(r"\d+", text)):
                    hit = chance.choice(hits)
                    ways = (f"{hit[0]}.0", f"{int(hit[0]) + 1}", f"'{hit[0]}'", f"-{hit[0]}")
                    text = text[: hit.start()] + chance.choice(ways) + text[hit.end() :]
            case 5:
                text = chance.choice(others)
            case _:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice((" ", "_", "-", ".", ",", "'", ")")) + text[at:]
    return text


def bfcl(form: str, count: int, seed: str) -> Iterator[Row]:
    """`count` of each category in a format."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows_of("tool_calls"):
        if row["pack"] == f"bfcl_{form}":
            kinds[row["category"]].append(row)
    for category, known in sorted(kinds.items()):
        chance = random.Random(f"{seed} {form} {category}")
        texts = [row["completion"] for row in known]
        for _ in range(count):
            row = chance.choice(known)
            columns = {name: row[name] for name in ("functions", "ground_truth", "category")}
            text = _changed_call(row["completion"], texts, chance)
            yield {"type": category, "completion": text, "columns": columns, "hermes": form == "hermes"}


def toolrl(count: int, seed: str) -> Iterator[Row]:
    """ToolRL's: calls that lack, add or change parameters, in tags that are right or not."""
    known = [row for row in rows_of("tool_calls") if row["pack"] == "toolrl"]
    calls = [line for row in known for line in row["ground_truth"].split("\n") if line.startswith("{")]
    chance = random.Random(f"{seed} toolrl")
    kinds = ("as it is", "calls", "tags", "text")
    for number in range(count * len(kinds)):
        kind, row = kinds[number % len(kinds)], chance.choice(known)
        text = chance.choice((row["completion"], row["ground_truth"]))
        if kind == "calls":
            inside = [line for line in text.split("\n") if line.startswith("{")] or [chance.choice(calls)]
            lines = [_other_call(line, calls, chance) for line in inside * chance.choice((1, 1, 2))]
            chance.shuffle(lines)
            body = "\n".join(lines[: chance.choice((1, 2, 5))])
            text = f"<think> x </think>\n<tool_call>\n{body}\n</tool_call>" + chance.choice(
                ("", "\n<response> ok </response>")
            )
        elif kind == "tags":
            tag = chance.choice(
                ("<think>", "</think>", "<tool_call>", "</tool_call>", "<response>", "</response>", "\n")
            )
            text = chance.choice(
                (text.replace(tag, "", 1), text.replace(tag, tag * 2), f"{text} {tag}", f"{tag}{text}")
            )
        elif kind == "text":
            text = changed(text, calls, chance)
        yield {
            "type": kind,
            "completion": text,
            "columns": {
                "ground_truth": chance.choice(known)["ground_truth"] if chance.random() < 0.2 else row["ground_truth"]
            },
        }


def _other_call(line: str, others: list[str], chance: random.Random) -> str:
    try:
        call = json.loads(line)
    except ValueError:
        return chance.choice(others)
    given = call.get("parameters", {})
    match chance.randrange(7):
        case 0 if given:
            given.pop(chance.choice(sorted(given)))
        case 1:
            given["more"] = chance.choice((1, "x", None, [1]))
        case 2 if given:
            given[chance.choice(sorted(given))] = chance.choice((1, 1.0, True, "x", None, [], {}))
        case 3:
            call["name"] += chance.choice(("x", " "))
        case 4:
            return chance.choice(others)
        case 5:
            call = chance.choice(
                (call, [call], {"name": call.get("name")}, {**call, "parameters": [1]}, 1, {**call, "name": ["x"]})
            )
    return json.dumps(call)


# ------------------------------------------------------------------------------------------------ questions

_AFFIXES = [
    "the ",
    "The ",
    "a ",
    "an ",
    "  ",
    "“",
    "‘",
    "- ",
    "(",
    "A.",
    "yes ",
    "noanswer",
    ".",
    ", ",
    "'s",
    " of the",
    "\n",
    "½",
    "İ",
    "ﬁ",
    "\u00a0",
    "_",
    "´",
]


def qa(variant: str, count: int, seed: str) -> Iterator[Row]:
    """Answers with articles, marks and words more or less, against one gold or several, or none (SQuAD 2)."""
    golds = sorted({answer for row in rows_of("qa") for answer in row.get("golden_answers") or () if answer})
    golds += [
        "yes",
        "no",
        "noanswer",
        "",
        "the",
        "U.S.",
        "7-Up",
        "3.14",
        '"A"',
        "naïve",
        "C++",
        "of the a an",
        "北京",
        "İstanbul",
        "e=mc²",
    ]
    chance = random.Random(f"{seed} qa {variant}")
    kinds = ("one gold", "several golds", "another answer")
    for number in range(count * len(kinds)):
        kind = kinds[number % len(kinds)]
        wanted = [chance.choice(golds) for _ in range(1 if kind == "one gold" else chance.randrange(1, 5))]
        if variant == "squad2" and chance.random() < 0.15:
            wanted = []
        answer = chance.choice(golds if kind == "another answer" or not wanted else wanted)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            piece, words = chance.choice(_AFFIXES), answer.split(" ")
            ways = (
                piece + answer,
                answer + piece,
                answer.upper(),
                " ".join(words[1:]),
                " ".join(words * 2),
                " ".join(words[::-1]),
                answer + " " + chance.choice(golds),
            )
            answer = chance.choice(ways)
        prompt = chance.choice(
            ("Question: x\n", "Answer within <answer> and </answer>, as <answer> Beijing </answer>. Question: x\n")
        )
        text = answer
        if variant == "search_r1":
            wrong = f"<answer>{chance.choice(golds)}</answer>"
            forms = (
                "{0}",
                "<think>x</think>{0}",
                "{1}{0}",
                "{0}</answer>",
                "{0} and <answer>",
                "{1}</think>{0}",
                "x",
                "<answer>{0}",
            )
            text = chance.choice(forms).format(f"<answer> {answer} </answer>", wrong)
        yield {
            "type": kind,
            "completion": text,
            "answer": answer,
            "prompt": prompt,
            "columns": {"golden_answers": wanted},
        }


# ------------------------------------------------------------------------------------------------ SQL


def databases(folder: Path) -> None:
    """Three made-up databases, each twice with other rows, as Spider's test suites are."""
    for name in ("shop", "club", "lab"):
        for number in range(2):
            path = folder / name / f"{name}{f'_{number}' if number else ''}.sqlite"
            path.parent.mkdir(exist_ok=True)
            chance, connection = random.Random(f"{name} {number}"), sqlite3.connect(path)
            connection.executescript(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, price REAL, kind TEXT); CREATE TABLE u (id INTEGER, t_id INTEGER, m INTEGER, note TEXT)"
            )
            for id in range(40):
                one = (
                    id,
                    chance.choice(("a", "b", "A", "distinct", "it's", None)),
                    chance.choice((1, 2, 3, None)),
                    chance.choice((1.0, 1.5, 2.0, None)),
                    chance.choice("xyz"),
                )
                connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", one)
                connection.execute(
                    "INSERT INTO u VALUES (?, ?, ?, ?)",
                    (id % 30, chance.randrange(45), chance.randrange(4), chance.choice(("", "now", "b"))),
                )
            connection.commit()
            connection.close()


_COLUMNS = ["name", "n", "price", "kind", "t.id"]
_CONDITIONS = ["n > 1", "n >= 2", "price < 2", "name = 'distinct'", "name LIKE '%a%'", "n IS NULL", "kind IN ('x', 'y')", "t.id BETWEEN 3 AND 20",
               "t.id IN (SELECT DISTINCT t_id FROM u)", "name = \"b\"", "NOT n = price"]  # fmt: skip


def _query(chance: random.Random) -> str:
    columns = chance.sample(_COLUMNS, chance.choice((1, 1, 2, 3, 4)))
    if chance.random() < 0.25:
        columns[-1] = chance.choice(
            ("count(*)", "sum(n)", "avg(price)", "max(name)", "count(DISTINCT name)", "n * 1.0", "group_concat(kind)")
        )
    text = f"SELECT {chance.choice(('', '', 'DISTINCT ', 'distinct '))}{', '.join(columns)} FROM t"
    if chance.random() < 0.3:
        text += chance.choice((" JOIN u ON u.t_id = t.id", " LEFT JOIN u ON u.t_id = t.id"))
    if chance.random() < 0.6:
        text += f" WHERE {chance.choice(_CONDITIONS)}" + chance.choice(("", f" AND {chance.choice(_CONDITIONS)}"))
    if chance.random() < 0.2 and "(" not in columns[0]:
        text += f" GROUP BY {chance.choice(columns[:1])}"
    if chance.random() < 0.3:
        text += f" ORDER BY {chance.choice(('t.id', 'name, t.id', 'n DESC, t.id', columns[0]))}"
    if chance.random() < 0.15:
        text += f" LIMIT {chance.choice((0, 1, 5))}"
    return text


def _changed_query(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice((0, 1, 1, 2))):
        before, _, after = text.partition(" FROM ")
        match chance.randrange(10):
            case 0:
                head, columns = (
                    (before[:16], before[16:]) if "DISTINCT" in before[:16].upper() else (before[:7], before[7:])
                )
                text = f"{head}{', '.join(columns.split(', ')[::-1])} FROM {after}"
            case 1:
                text = (
                    re.sub("(?i)distinct ", "", text, count=1)
                    if chance.random() < 0.5
                    else text.replace("SELECT ", "SELECT DISTINCT ", 1)
                )
            case 2:
                text = re.sub(r" ORDER BY .*", chance.choice(("", " ORDER BY 1", " ORDER BY t.id DESC")), text)
            case 3:
                text += chance.choice((";", " ;", "; SELECT 1", " -- x", " /* distinct */", ";;"))
            case 4:
                text = text.replace(
                    "WHERE", chance.choice(("WHERE 1 AND", "WHERE NOT", "WERE", "WHERE 1 OR", "WHERE 2 > = 1 AND"))
                )
            case 5:
                text = f"SELECT * FROM ({text})"
            case 6:
                text = (
                    f"{text} UNION ALL {text}"
                    if "ORDER" not in text and "LIMIT" not in text
                    else f"SELECT 1, {text[7:]}"
                )
            case 7:
                text = text.replace("n", "n + 0", 1) if chance.random() < 0.5 else text.replace("price", "price * 1")
            case 8:
                text = chance.choice((text.upper(), text.lower(), f"\n{text}", text.replace(" ", "\n", 3)))
            case _:
                text = _query(chance)
    return text


def sql(count: int, seed: str) -> Iterator[Row]:
    """Queries on each database, eight for each gold as in a group, no two with the same text."""
    for name in ("shop", "club", "lab"):
        chance = random.Random(f"{seed} sql {name}")
        for number in range(count):
            if number % 8 == 0:
                gold = _query(chance)
            query = f"{_changed_query(gold, chance)} -- {number}"
            yield {"type": name, "completion": query, "query": query, "columns": {"db_id": name, "query": gold}}


# ------------------------------------------------------------------------------------------------ reasoning-gym

_ODD = ["", " ", "0", "-1", "1.0", "None", "[]", "{}", "()", "[[1]]", "True", "yes", "x", "1/2", "1e400", "nan", "9" * 400, "½", "\u0664\u0662", "[1, 2", "a, b", "I do not know.", '"',
        "1\n2", "{\"a\": 1}", "x**2 + 1", "(1 + 2) * 3", "'", "\\frac{1}{2}", "42 is it", "A B C", "#"]  # fmt: skip


def reasoning_gym(count: int, seed: str) -> Iterator[Row]:
    """Of each data set: its answer, that of another entry, its answer changed, and what is no answer at all."""
    import reasoning_gym as package
    from reasoning_gym.factory import DATASETS

    for name in sorted(DATASETS):
        if name == "composite":
            continue
        chance = random.Random(f"{seed} {name}")
        try:
            entries = list(package.create_dataset(name, size=4, seed=chance.randrange(10_000)))
        except Exception:  # one that needs what is not installed
            continue
        answers = [str(entry["answer"]) for entry in entries if entry["answer"] is not None]
        for number in range(count):
            entry = chance.choice(entries)
            right = chance.choice(answers or ["x"]) if entry["answer"] is None else str(entry["answer"])
            given = (
                right,
                chance.choice(answers or ["x"]),
                _near(right, chance),
                changed(right, answers or ["x"], chance),
                chance.choice(_ODD),
            )[number % 5]
            text = chance.choice(
                (
                    f"<answer>{given}</answer>",
                    f"<think>x</think><answer> {given} </answer>",
                    f"<answer>x</answer><answer>{given}</answer>",
                )
            )
            columns = {
                "question": entry["question"],
                "answer": entry["answer"],
                "metadata": json.dumps(entry["metadata"], default=_plain),
            }
            yield {
                "type": name,
                "completion": given if chance.random() < 0.02 else text,
                "columns": columns,
                "entry": entry,
            }


def _near(text: str, chance: random.Random) -> str:
    if hits := list(re.finditer(r"\d+", text)):
        hit = chance.choice(hits)
        return (
            text[: hit.start()]
            + chance.choice((str(int(hit[0][:9]) + 1), f"{hit[0]}.0", f" {hit[0]}", f"{hit[0]}0"))
            + text[hit.end() :]
        )
    return chance.choice(
        (text.upper(), text.lower(), text.replace(" ", ""), text.replace(",", ", "), text[::-1], f"{text}.")
    )


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
