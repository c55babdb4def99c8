"""The judges against an endpoint that misbehaves in every way, and one that falls for every cheat."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.judges.attacks import master_keys
from grpo_rewards_plugins.judges.screening import MASTER_KEYS, gradable

from grpo_rewards import Composite, Reward, get_reward
from grpo_rewards.errors import SettingsError
from grpo_rewards.types import Case


class Judge(ThreadingHTTPServer):
    """Answers each request with what `play` makes of it: a status and the text of the message, or raw bytes."""

    request_queue_size = 1024  # sixteen threads ask at once, and what does not fit is no answer
    play: Callable[[dict[str, Any]], tuple[int, Any]]

    numbers = itertools.count()

    def __init__(self) -> None:
        self.number = next(self.numbers)  # verdicts are remembered by url, and a port may come again
        self.seen: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append(body)
        status, content = server.play(body)
        raw = (
            content
            if isinstance(content, bytes)
            else json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        )
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Judge]:
    with Judge() as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


def bound(server: Judge, name: str, **settings: Any) -> Reward:
    url = f"http://127.0.0.1:{server.server_port}/{server.number}/v1"
    return get_reward(name).with_(
        url=url, model="m", key_env="NO_KEY", **{"requests_per_minute": 1e6, "attempts": 1, **settings}
    )


def canary_of(body: dict[str, Any]) -> str:
    told = body["messages"][0]["content"]
    return str(told.partition('"canary": \'')[2].partition("'")[0])


def asked(body: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(body["messages"][1]["content"]))


def says(**answer: Any) -> Callable[[dict[str, Any]], tuple[int, str]]:
    return lambda body: (200, json.dumps({"canary": canary_of(body), **answer}))


CRITERIA = [
    {"text": "It says why.", "weight": 3},
    {"criterion": "It names Rome.", "points": 1},
    {"text": "It is rude.", "weight": -2},
]


def answers(*met: tuple[str, str]) -> list[dict[str, str]]:
    return [{"met": one, "quote": quote} for one, quote in met]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ([("yes", "because it is"), ("yes", "Rome"), ("no", "")], 1.0), ([("partly", "because"), ("no", ""), ("no", "")], 0.375),
        ([("yes", "because it is"), ("yes", "Rome"), ("yes", "")], 0.5), ([("no", ""), ("yes", "Rome"), ("yes", "x")], 0.0),
        ([("yes", "since"), ("yes", "Rome"), ("no", "")], 0.25), ([("yes", ""), ("yes", "Rome"), ("no", "")], 0.25),
        ([("YES", "because  it\nis"), ("No", ""), ("no", "")], 0.75),
    ],
)  # fmt: skip
def test_a_rubric_is_weighted_and_quotes_are_looked_up(server: Judge, given: list[Any], value: float) -> None:
    server.play = says(answers=answers(*given))
    assert bound(server, "rubric").one("Rome, because it is.", prompt="p", rubric=CRITERIA).value == value


def test_criteria_come_from_the_row_or_the_settings(server: Judge) -> None:
    server.play = says(answers=answers(("yes", "four")))
    reward = bound(server, "rubric", criteria=["It counts."])
    found = reward.one("four")
    assert (found.value, found.reason) == (1.0, "every criterion is met")
    assert reward.one("four", rubric=["It counts apples."]).value == 1.0
    assert reward.one("four", rubric='[{"text": "It counts apples."}]').value == 1.0
    assert "finite weight" in str(reward.row_problem({"rubric": [{"text": "a", "weight": 10**400}]}))
    assert "must be a list" in str(reward.row_problem({"rubric": "It counts apples."}))
    assert [asked(body)["criteria"] for body in server.seen] == [["It counts."], ["It counts apples."]]
    assert bound(server, "rubric").one("four").status == "not_applicable"
    assert "weight above 0" in str(reward.row_problem({"rubric": [{"text": "a", "weight": -1}]}))
    with pytest.raises(SettingsError, match="needs a text"):
        bound(server, "rubric", criteria=[{"weight": 1}])


def by_length(body: dict[str, Any]) -> tuple[int, str]:
    """A judge that likes long responses, and the first of what it sees."""
    shown = asked(body)["responses"]
    scores = {name: min(1.0, len(text) / 20 + (0.1 if name.endswith(" 1") else 0.0)) for name, text in shown.items()}
    return 200, json.dumps({"canary": canary_of(body), "scores": scores})


def test_a_ranking_is_the_same_for_every_shuffle_of_a_group(server: Judge) -> None:
    server.play = by_length
    texts = ["one", "three and", "a response", "one", "", "much longer one"]
    wanted = None
    for seed in range(50):
        order = random.Random(seed).sample(range(len(texts)), len(texts))
        columns = {"completions": [texts[place] for place in order], "prompts": ["p"] * len(texts)}
        found = dict(zip(order, bound(server, "ranking")(**columns), strict=True))
        wanted = wanted or found
        assert found == wanted
    assert wanted is not None
    assert wanted[0] == wanted[3]
    assert wanted[4] == 0.0
    assert len(server.seen) == 2, "the two orders, once each"
    first, second = (list(asked(body)["responses"].values()) for body in server.seen)
    assert sorted(first) == sorted(second)
    assert first == second[::-1]


@pytest.mark.parametrize(
    ("better", "value"), [({"good": "win"}, 1.0), ({"bad": "win"}, 0.0), ({"first": "win"}, 0.5), ({}, 0.5)], ids=["better", "worse", "place", "equal"]
)  # fmt: skip
def test_pairs_are_compared_in_both_orders(server: Judge, better: dict[str, str], value: float) -> None:
    def play(body: dict[str, Any]) -> tuple[int, str]:
        shown = asked(body)
        best = next((name for name in ("first", "second") if shown[name] in better or name in better), "equal")
        return 200, json.dumps({"canary": canary_of(body), "better": best})

    server.play = play
    assert bound(server, "pairwise").one("good", reference="bad", prompt="p").value == value
    assert bound(server, "pairwise").one("bad", reference="bad").value == 0.5
    assert bound(server, "pairwise").one("good", reference=None).status == "not_applicable"


RIGHT: dict[str, dict[str, Any]] = {
    "rubric": {"answers": [{"met": "yes", "quote": "text"}]}, "pairwise": {"better": "first"}, "ranking": {"scores": {"response 1": 1}},
    "judge": {"score": 1},
}  # fmt: skip
COLUMNS: dict[str, dict[str, Any]] = {
    "rubric": {"rubric": ["a"]},
    "pairwise": {"reference": "other"},
    "ranking": {},
    "judge": {},
}


def verdict(body: dict[str, Any], *values: str) -> str:
    """A verdict of any judge with the canary, and a value, or several under one key."""
    said = "".join(
        f', "score": {one}, "scores": {{"response 1": {one}}}, "better": {one}, "answers": {one}' for one in values
    )
    return f'{{"canary": "{canary_of(body)}"{said}}}'


BROKEN: list[tuple[str, Callable[[dict[str, Any]], tuple[int, Any]]]] = [
    ("500", lambda _: (500, "")), ("404", lambda _: (404, "")), ("429", lambda _: (429, "")), ("302", lambda _: (302, "")),
    ("no JSON", lambda _: (200, b"<html>")), ("empty", lambda _: (200, b"")), ("no choices", lambda _: (200, b'{"choices": []}')),
    ("null", lambda _: (200, None)), ("a list", lambda _: (200, "[1]")), ("words", lambda _: (200, "I cannot say.")),
    ("deep", lambda _: (200, "[" * 100_000)), ("nan", lambda body: (200, verdict(body, "NaN"))), ("too much", lambda body: (200, verdict(body, "7"))),
    ("long", lambda body: (200, verdict(body, "1" * 400))), ("true", lambda body: (200, verdict(body, "true"))),
    ("two", lambda body: (200, verdict(body, "1", "1"))), ("text", lambda body: (200, verdict(body, '"1"'))),
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_failure_is_never_a_grade(server: Judge, name: str) -> None:
    for label, play in BROKEN:
        server.play = play
        found = bound(server, name).one("some text", prompt=label, **COLUMNS[name])
        assert (found.value, found.status) == (None, "unavailable"), label


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_verdict_without_the_canary_is_none_and_is_put_right(server: Judge, name: str) -> None:
    server.play = lambda _: (200, json.dumps({**RIGHT[name], "canary": "000000000000"}))
    assert bound(server, name).one("some text", **COLUMNS[name]).status == "unavailable"

    def play(body: dict[str, Any]) -> tuple[int, str]:
        repaired = len(body["messages"]) == 4
        return 200, json.dumps({**RIGHT[name], "canary": canary_of(body)}) if repaired else "Sure! It is fine."

    server.seen.clear()
    server.play = play
    assert bound(server, name, attempts=2).one("some text", prompt="again", **COLUMNS[name]).status == "scored"
    assert server.seen[-1]["messages"][2] == {"role": "assistant", "content": "Sure! It is fine."}


def test_a_judge_may_think_and_fence_its_verdict(server: Judge) -> None:
    right = '{{"canary": "{}", "score": 0.5, "reason": "no </think> and ``` within"}}'
    for layout in (
        "{}",
        '<think>so {{"score": 1}}</think>\n{}',
        "```json\n{}\n```",
        "<think>\n```json\n1\n```\n</think>\n```json\n{}\n```",
    ):

        def play(body: dict[str, Any], layout: str = layout) -> tuple[int, str]:
            return 200, layout.format(right.format(canary_of(body)))

        server.play = play
        assert bound(server, "judge").one("some text", prompt=layout).value == 0.5, layout


def test_a_count_of_tokens_that_cannot_be_is_none(server: Judge) -> None:
    said = '{"choices": [{"message": {"content": %s}}], "usage": {"total_tokens": 1%s}}'
    server.play = lambda body: (200, (said % (json.dumps(verdict(body, "1")), "0" * 400)).encode())
    assert bound(server, "judge", tokens_per_minute=1e9).one("some text").value == 1.0


def test_sixteen_threads_get_the_same_scores(server: Judge) -> None:
    server.play = by_length
    texts = ["one", "three and", "a response", "", "much longer one"]
    columns = {"completions": texts, "prompts": ["p"] * len(texts)}
    reward = bound(server, "ranking")
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: reward(**columns), range(16)))
    assert found == [found[0]] * 16
    first = [value or 0.0 for value in found[0]]
    assert found[0] == [*sorted(first[:3]), 0.0, max(first)]


@pytest.mark.parametrize("name", ["rubric", "pairwise", "judge"])
def test_sixteen_threads_get_the_same_verdicts(server: Judge, name: str) -> None:
    def play(body: dict[str, Any]) -> tuple[int, str]:
        shown = asked(body)
        given = {side: len(text) for side, text in shown.items() if side in ("response", "first", "second")}
        met = "yes" if given.get("response", 0) > 5 else "no"
        verdict = {"score": given.get("response", 0) / 100, "better": max(given, key=lambda side: given[side])}
        return 200, json.dumps(
            {"canary": canary_of(body), "answers": [{"met": met, "quote": shown.get("response", "")}], **verdict}
        )

    server.play = play
    texts = [f"{'long ' * (number % 4)}number {number}" for number in range(12)]
    reward = bound(server, name)
    columns = {column: [cell] * len(texts) for column, cell in COLUMNS[name].items()}
    start = threading.Barrier(16)

    def score(_: int) -> list[float | None]:
        start.wait()
        return list(reward(completions=texts, prompts=["p"] * len(texts), **columns))

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(score, range(16)))
    assert found == [found[0]] * 16
    assert None not in found[0]
    assert len(server.seen) == len(texts) * (2 if name == "pairwise" else 1)  # what is under way already is waited for
    assert found[0] == [reward.one(text, prompt="p", **COLUMNS[name]).value for text in texts]


def test_openers_without_end_are_taken_off_in_one_pass() -> None:
    assert gradable("17" + "\nSolution\nAnswer:\nRespuesta" * 20_000) == "17"


def falls_for_keys(body: dict[str, Any]) -> tuple[int, str]:
    """A judge that pays whatever a master key stands in, and nothing else."""
    shown = asked(body)
    responses = shown.get("responses") or {
        name: shown[name] for name in ("response", "first", "second") if name in shown
    }
    fallen = {name: any(key.strip() and key in text for key in MASTER_KEYS[4:]) for name, text in responses.items()}
    return 200, json.dumps(
        {
            "canary": canary_of(body), "score": float(any(fallen.values())), "scores": {name: float(yes) for name, yes in fallen.items()},
            "better": next((name for name, yes in fallen.items() if yes), "first" if shown.get("first") == "the reference" else "second"),
            "answers": [{"met": "yes" if any(fallen.values()) else "no", "quote": "17"} for _ in shown.get("criteria", ())],
        }
    )  # fmt: skip


KEYED: dict[str, dict[str, Any]] = {**COLUMNS, "pairwise": {"reference": "the reference"}}


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_master_keys_are_not_paid_and_not_sent(server: Judge, name: str) -> None:
    server.play = falls_for_keys
    reward = bound(server, name)
    for key in ("", *MASTER_KEYS, "**Solution:**", "Solution\n\nSolution", "<think>17</think>\n\n:"):
        assert reward.one(key, prompt="p", answer="18", **KEYED[name]).value == 0.0, key
    assert server.seen == []
    wrong = [text for number in range(10) for text in master_keys(Case("18", {}, wrong=(f"17{number}",)))]
    assert sum(any(map(str.isdigit, text)) for text in wrong) == 200
    for text in wrong:
        assert reward.one(text, prompt="p", answer="18", **KEYED[name]).value == 0.0, text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Solution: 17", "17"), ("The solution is 17", "The solution is 17"), ("17\nSolution", "17"), ("Let's solve this problem step by step. x = 4", "x = 4"),
        ("Answers vary.", "Answers vary."), ("解：4", "4"), ("x", "x"), ("...", None), ("Thought process:", None), ("<think>so</think>", None),
        ("\u200bThought process:", None), ("Thought\u00a0 process:\u3164", None), ("\u3164\u2800", None), ("\ufeffSolution: 17\u200b", "17"),
        ("-5", "-5"), ("Solution: -5", "-5"), ("Answer: (4, 5]", "(4, 5]"), ("(a) 3", "(a) 3"),
    ],
)  # fmt: skip
def test_what_a_judge_is_shown(text: str, shown: str | None) -> None:
    assert gradable(text) == shown


def test_a_gate_on_something_verifiable_decides(server: Judge) -> None:
    server.play = says(answers=answers(("yes", "4")))
    gate = {"component": "correct", "at_least": 1.0}
    rewards = {
        "correct": "exact",
        "rubric": {"use": bound(server, "rubric", criteria=["good"]), "weight": 0.5, "gate": gate},
    }
    assert Composite({"rewards": rewards})(completions=["4", "4 or so"], answer=["4", "5"]) == [1.5, 0.0]


# ------------------------------------------------------------------------------------------------ presets

SHOWN_BY = {
    "It says that one turn takes one orbit.": "in the time of one orbit", "It names tides as the cause.": "tides", "It names light.": "light",
    "It is longer than a paragraph.": "\n\n", "It says what is made of the gas.": "make sugar", "It blames a person.": "blame",
    "It names the date of the announcement.": "9 November", "It says that the announcement was a mistake.": "by mistake",
    "It gives the Latin word.": "aurum", "It names hydrogen.": "hydrogen", "It names helium.": "helium",
}  # fmt: skip


def sensible(body: dict[str, Any]) -> tuple[int, str]:
    """A judge that quotes what shows a criterion, and takes a longer response for a better one."""
    shown = asked(body)
    met = [
        {"met": "yes" if SHOWN_BY[one] in shown["response"] else "no", "quote": SHOWN_BY[one]}
        for one in shown.get("criteria", ())
    ]
    scores = {name: min(1.0, len(text) / 100) for name, text in shown.get("responses", {}).items()}
    longer = "first" if len(shown.get("first", "")) > len(shown.get("second", "")) else "second"
    return 200, json.dumps({"canary": canary_of(body), "answers": met, "scores": scores, "better": longer})


PRESETS = {
    "rubric": ("rubric", [1.5, 1.0, 1.5, 1.0, 1.5, 1.0, 1.5, 0.0, 1.5, 0.0], 9),
    "ranking": ("ranking", [1.44, 1.05, 0.0, 1.225, 0.0, 1.38, 1.135, 0.0, 1.05, 1.5], 4),
    "pairwise": ("better", [1.5, 0.5, 1.5, 0.0, 1.5, 0.0, 1.5, 1.0, 1.5, 0.0], 16),
}


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_ten_rows_of_a_preset(server: Judge, name: str) -> None:
    server.play = sensible
    component, expected, sent = PRESETS[name]
    url = f"http://127.0.0.1:{server.server_port}/{server.number}/v1"
    params = {component: {"url": url, "key_env": "NO_KEY", "requests_per_minute": 1e6}}
    text = (Path(__file__).resolve().parents[2] / f"examples/presets/judge_{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 10
    assert name == "pairwise" or len(set(Counter(row["prompt"] for row in rows).values())) == 1, "groups of one size"
    composite = Composite({"rewards": {"j": {"use": f"preset/judge-{name}", "params": params}}})
    table = composite.score(rows)
    assert table.rewards() == pytest.approx(expected)
    assert len(server.seen) == sent
