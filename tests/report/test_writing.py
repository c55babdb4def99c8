from __future__ import annotations

import base64
import gzip
import html.parser
import json
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grpo_rewards import Composite
from grpo_rewards._report import PageLimits, Rescoring, write_report
from grpo_rewards.errors import InputError


def unpacked(page: str, name: str) -> Any:
    (text,) = re.findall(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def rows(
    make_row: Callable[..., dict[str, Any]], make_part: Callable[..., dict[str, Any]], count: int, **more: Any
) -> Any:
    return [
        make_row(
            i + 1, float(i % 3), {"a": make_part(float(i % 3), details={"extracted": str(i)})}, group_id=i // 4, **more
        )
        for i in range(count)
    ]


def test_every_row_and_text_is_on_the_page(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "r.html"
    written = write_report(write_rows(rows(make_row, make_part, 150)), out)
    page = out.read_text(encoding="utf-8")
    index = unpacked(page, "index")
    bodies = [body for k in range(3) for body in unpacked(page, f"chunk-{k}")]
    assert (written.rows, written.shown, written.groups, index["n"], len(bodies)) == (150, 150, 38, 150, 150)
    assert index["reward"][:4] == [0, 1, 2, 0]
    assert bodies[149]["c"] == [["", "text 150"]]
    assert bodies[149]["a"] == [["a", "149"]]
    assert bodies[149]["k"]["a"][:4] == [2.0, 1.0, 1.0, 2.0]
    assert 'id="chunk-3"' not in page


def test_the_same_input_gives_the_same_bytes(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    source = write_rows(rows(make_row, make_part, 40))
    pages = []
    for name in ("a.html", "b.html"):
        write_report(source, tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_long_texts_are_cut_in_the_middle_and_say_so(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "r.html"
    data = make_row(1, 1.0, {"a": make_part(1.0)}, completion="start" + "x" * 50_000 + "end")
    write_report(write_rows([data]), out, limits=PageLimits(characters=1000))
    page = out.read_text(encoding="utf-8")
    (body,) = unpacked(page, "chunk-0")
    text = body["c"][0][1]
    assert text.startswith("start")
    assert text.endswith("end")
    assert len(text) < 1100
    assert "1,000 of 50,008 characters" in body["n"][0]
    assert unpacked(page, "index")["length"] == [50_008]


def test_rows_beyond_the_limit_count_but_are_not_shown(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "r.html"
    written = write_report(write_rows(rows(make_row, make_part, 100)), out, limits=PageLimits(rows=10))
    assert (written.rows, written.shown) == (100, 10)
    assert "first 10 of 100 rows" in out.read_text(encoding="utf-8")


def test_a_page_keeps_to_its_size_with_whole_texts_of_evenly_spread_rows(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    noise = [base64.b64encode(random.Random(i).randbytes(3000)).decode() for i in range(2000)]
    data = [make_row(i, 1.0, {}, completion=text) for i, text in enumerate(noise, 1)]
    out = tmp_path / "r.html"
    written = write_report(write_rows(data), out, limits=PageLimits(bytes=3_000_000))
    assert written.shown == 2000
    assert 2_000_000 < written.size <= 3_000_000
    page = out.read_text(encoding="utf-8")
    kept = [int(number) for number in re.findall(r'id="chunk-(\d+)"', page)]
    assert max(kept[0], *(b - a for a, b in pairwise(kept))) <= 4
    assert [body["c"][0][1] for body in unpacked(page, f"chunk-{kept[0]}")] == noise[kept[0] * 64 : kept[0] * 64 + 64]
    assert len(unpacked(page, "index")["preview"]) == 2000
    assert "The texts of" in page


@pytest.mark.parametrize("strange", [None, 7, [], [None], [{"role": None, "content": [{"type": "image"}, {"text": "t"}]}],
                                     {"role": "assistant", "content": 3}, [[1]], [{"tool_calls": [{"f": 1}]}]])  # fmt: skip
def test_strange_completions_are_shown_not_refused(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
    strange: Any,
) -> None:
    written = write_report(
        write_rows([make_row(1, None, {"a": make_part(None)}, completion=strange)]), tmp_path / "r.html"
    )
    assert written.rows == 1


class Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        found = dict(attrs)
        self.scripts += tag == "script" and "type" not in found
        self.addresses += [
            v for k, v in found.items() if k in ("src", "href", "srcset", "data", "action", "xlink:href")
        ]


def test_the_page_has_one_script_of_ours_and_points_nowhere(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "r.html"
    write_report(write_rows(rows(make_row, make_part, 10)), out)
    page = out.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.scripts == 1
    assert tags.addresses
    assert all(address.startswith("#") for address in tags.addresses)
    assert "default-src &#39;none&#39;" in page
    assert "require-trusted-types-for &#39;script&#39;" in page
    assert not re.search(r"https?://", page)


def test_an_old_page_stays_when_the_input_is_wrong(tmp_path: Path) -> None:
    out, source = tmp_path / "r.html", tmp_path / "s.jsonl"
    out.write_text("old")
    source.write_text('{"completion": "no scores"}\n')
    with pytest.raises(InputError):
        write_report(source, out)
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "s.jsonl"]


def test_no_rows_and_no_folder_are_errors(tmp_path: Path, write_rows: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="no rows"):
        write_report(write_rows([]), tmp_path / "r.html")
    with pytest.raises(InputError, match="does not exist"):
        write_report(write_rows([]), tmp_path / "nowhere" / "r.html")


def test_a_training_log_alone_makes_a_page(tmp_path: Path) -> None:
    log = [{"step": s, "reward": s / 10, "reward_std": 0.2, "rewards/a/mean": s / 10,
            "grpo_rewards/a/weight": 1.0 + (s > 5)} for s in range(1, 11)]  # fmt: skip
    (tmp_path / "trainer_state.json").write_text(json.dumps({"global_step": 10, "log_history": log}))
    write_report(tmp_path, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Reward over training" in page
    assert "The weights changed once" in page
    assert "Weight of each component" in page


def test_the_command_writes_and_says_so(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    import typer

    from grpo_rewards._cli.report import report

    app = typer.Typer()
    app.command()(report)
    out: Path = tmp_path / "r.html"
    source = write_rows(rows(make_row, make_part, 10))
    done = CliRunner().invoke(app, [str(source), "-o", str(out), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rows"] == 10
    assert CliRunner().invoke(app, [str(source), "-o", str(out), "--weight", "a"]).exit_code == 2


def test_runs_stand_side_by_side_and_the_same_completions_find_each_other(
    make_row: Callable[..., dict[str, Any]], make_part: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name, rise in (("a", 0.0), ("b", 0.5)):
        data = [make_row(i + 1, i % 3 + rise * (i < 4), {"c": make_part(i % 3 + rise * (i < 4))}, group_id=i // 4)
                for i in range(12)]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in data[:: 1 if name == "a" else -1])
        )
    out = tmp_path / "r.html"
    written = write_report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], out)
    page = out.read_text(encoding="utf-8")
    index = unpacked(page, "index")
    assert (written.rows, [run["n"] for run in index["runs"]]) == (24, [12, 12])
    assert index["twin"] == [-1] * 12 + [11 - i for i in range(12)]  # the other file is turned round
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "scored 12 same completions: the reward of 4 rose, of 0 fell; by 0.167 on average" in text


def test_runs_that_share_no_completion_are_said_to(
    make_row: Callable[..., dict[str, Any]], make_part: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name in "ab":
        row = make_row(1, 1.0, {name: make_part(1.0)}, completion=name)
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / "r.html"
    write_report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], out)
    assert "shares no completion with the first run" in out.read_text(encoding="utf-8")


def test_the_cheats_of_an_audit_stand_on_the_page_with_those_that_pay_first(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    cheat = {"attack": "<b>empty", "what": "says nothing", "case": "one", "reward": 0.0, "honest_wrong": 0.0,
             "right": 1.0, "pays": False, "completion": "", "components": {"c": {"contribution": 0.0}}}  # fmt: skip
    audit = tmp_path / "audit.json"
    audit.write_text(json.dumps({"attacks": [cheat, cheat | {"attack": "loud", "pays": True, "reward": 2.0}]}))
    out = tmp_path / "r.html"
    write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)
    page = out.read_text(encoding="utf-8")
    assert page.index(">loud<") < page.index("&lt;b&gt;empty")
    assert "1 of 2 earn more than an honest wrong answer" in page
    audit.write_text("[]")
    with pytest.raises(InputError, match="audit --json"):
        write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)


def test_a_cheat_of_half_a_letter_stands_on_the_page(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    audit, out = tmp_path / "audit.json", tmp_path / "r.html"
    audit.write_text(json.dumps({"attacks": [{"attack": "half", "completion": "\ud800 is half"}]}))
    write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)
    assert "? is half" in out.read_text(encoding="utf-8")
    audit.write_text("[" * 100_000)
    with pytest.raises(InputError, match="audit --json"):
        write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)


def test_the_findings_of_an_audit_of_data_stand_on_the_page(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    from grpo_rewards._audit.data.report import DataReport

    report = DataReport("train.jsonl", rows=4, tasks=4, completions=40)
    report.add(7, "nop", "code", "the completion '<b>pass' gets 100% of the reward")
    report.add(7, "leak", "code", "the answer stands in the prompt")
    report.judged(0.95)
    audit, out = tmp_path / "audit.json", tmp_path / "r.html"
    audit.write_text(json.dumps(report.plain()))
    write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)
    page = out.read_text(encoding="utf-8")
    assert "1 rows have findings (25 %)" in page
    assert "&lt;b&gt;pass&#39; gets 100% of the reward" in page
    assert page.count('<span class="tag bad">1</span>') == 2
    assert "90–100 %: 1" in page
    audit.write_text(json.dumps({"kind": "data audit", "findings": [{}]}))
    with pytest.raises(InputError, match="audit --json"):
        write_report(write_rows(rows(make_row, make_part, 4)), out, audit=audit)


def _bodies(page: str) -> list[str]:
    """The texts of a page's rows, unpacked."""
    import base64
    import gzip

    return [
        gzip.decompress(base64.b64decode(packed)).decode()
        for packed in re.findall(r'<script type="text/plain" id="chunk-\d+">([^<]+)<', page)
    ]


@pytest.fixture
def logged(tmp_path: Path) -> Any:
    """A run that logged prompts and completions in two steps, and the data it was trained on."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    (tmp_path / "run" / "completions").mkdir(parents=True)
    for step in (1, 2):
        table = {"step": [step] * 2, "prompt": [f"<user>{step}+1?<end>"] * 2, "completion": [str(step + 1), "9"],
                 "old": [0.5, 0.5], "advantage": [0.0, 0.0]}  # fmt: skip
        pq.write_table(pa.table(table), tmp_path / "run" / "completions" / f"completions_0000{step}.parquet")
    data = [{"prompt": [{"role": "user", "content": f"{n}+1?"}], "answer": str(n + 1), "place": "here"} for n in (1, 2)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    return tmp_path


def test_a_run_that_lacks_columns_is_scored_now_with_those_of_its_data(logged: Any) -> None:
    again = Rescoring(Composite({"rewards": {"right": {"use": "exact", "weight": 2}}}), logged / "data.jsonl")
    written = write_report(logged / "run", logged / "r.html", rescoring=again)
    assert (written.rows, written.groups) == (4, 2)
    page = (logged / "r.html").read_text(encoding="utf-8")
    assert ">right<" in page
    assert ">old<" not in page
    assert "scored now" in page


def test_the_columns_of_the_data_stand_beside_the_scores_of_the_run(logged: Any) -> None:
    write_report(logged / "run", logged / "r.html", rescoring=Rescoring(None, logged / "data.jsonl"))
    page = (logged / "r.html").read_text(encoding="utf-8")
    assert ">old<" in page
    assert "here" in "".join(_bodies(page))
    (logged / "data.jsonl").write_text(json.dumps({"prompt": "1+1?", "answer": "2"}) + "\n")
    write_report(logged / "run", logged / "r.html", rescoring=Rescoring(None, logged / "data.jsonl"))
    assert "4 rows have no row of" in (logged / "r.html").read_text(encoding="utf-8")


def test_a_folder_without_completions_has_nothing_to_score(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no completions"):
        write_report(tmp_path, tmp_path / "r.html", rescoring=Rescoring(Composite(right="exact")))


def test_a_health_event_stands_on_the_curves_and_leads_to_its_step(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    log = [{"step": s, "reward": s / 10, "rewards/a/mean": s / 10} for s in range(1, 6)]
    log.append({"step": 3, "grpo_rewards/health/no_spread/a": 1.0})
    (tmp_path / "trainer_state.json").write_text(json.dumps({"global_step": 5, "log_history": log}))
    (tmp_path / "completions").mkdir()
    for step in (3, 4):
        table = {"step": [step] * 2, "prompt": ["p"] * 2, "completion": ["x", "y"], "a": [0.0, 1.0]}
        pq.write_table(pa.table(table), tmp_path / "completions" / f"completions_0000{step}.parquet")
    write_report(tmp_path, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(
        r'<a href="#in=step%3A3%3A3"><line[^>]*class="warned"/>.*?<title>step 3: no spread: a</title>', page
    )
