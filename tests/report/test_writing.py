from __future__ import annotations

import base64
import gzip
import html.parser
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_rewards._report import PageLimits, write_report
from grpo_rewards.errors import InputError


def unpacked(page: str, name: str):
    (text,) = re.findall(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def rows(make_row, make_part, count, **more):
    return [
        make_row(
            i + 1, float(i % 3), {"a": make_part(float(i % 3), details={"extracted": str(i)})}, group_id=i // 4, **more
        )
        for i in range(count)
    ]


def test_every_row_and_text_is_on_the_page(write_rows, make_row, make_part, tmp_path):
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


def test_the_same_input_gives_the_same_bytes(write_rows, make_row, make_part, tmp_path):
    source = write_rows(rows(make_row, make_part, 40))
    pages = []
    for name in ("a.html", "b.html"):
        write_report(source, tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_long_texts_are_cut_in_the_middle_and_say_so(write_rows, make_row, make_part, tmp_path):
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


def test_rows_beyond_the_limit_count_but_are_not_shown(write_rows, make_row, make_part, tmp_path):
    out = tmp_path / "r.html"
    written = write_report(write_rows(rows(make_row, make_part, 100)), out, limits=PageLimits(rows=10))
    assert (written.rows, written.shown) == (100, 10)
    assert "first 10 of 100 rows" in out.read_text(encoding="utf-8")


def test_the_page_shrinks_texts_before_it_passes_its_budget(write_rows, make_row, make_part, tmp_path):
    noise = [base64.b64encode(bytes((i * j * j) % 251 for j in range(4000))).decode() for i in range(1, 700)]
    data = [make_row(i, 1.0, {}, completion=text) for i, text in enumerate(noise, 1)]
    written = write_report(write_rows(data), tmp_path / "r.html", limits=PageLimits(packed_bytes=200_000))
    assert written.shown == 699
    assert written.size < 1_000_000


@pytest.mark.parametrize("strange", [None, 7, [], [None], [{"role": None, "content": [{"type": "image"}, {"text": "t"}]}],
                                     {"role": "assistant", "content": 3}, [[1]], [{"tool_calls": [{"f": 1}]}]])  # fmt: skip
def test_strange_completions_are_shown_not_refused(write_rows, make_row, make_part, tmp_path, strange):
    written = write_report(
        write_rows([make_row(1, None, {"a": make_part(None)}, completion=strange)]), tmp_path / "r.html"
    )
    assert written.rows == 1


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts = 0
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.scripts += tag == "script" and "type" not in found
        self.addresses += [
            v for k, v in found.items() if k in ("src", "href", "srcset", "data", "action", "xlink:href")
        ]


def test_the_page_has_one_script_of_ours_and_points_nowhere(write_rows, make_row, make_part, tmp_path):
    out = tmp_path / "r.html"
    write_report(write_rows(rows(make_row, make_part, 10)), out)
    page = out.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.scripts == 1
    assert tags.addresses == ["#browser"]
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"https?://", page)


def test_an_old_page_stays_when_the_input_is_wrong(tmp_path):
    out, source = tmp_path / "r.html", tmp_path / "s.jsonl"
    out.write_text("old")
    source.write_text('{"completion": "no scores"}\n')
    with pytest.raises(InputError):
        write_report(source, out)
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "s.jsonl"]


def test_no_rows_and_no_folder_are_errors(tmp_path, write_rows):
    with pytest.raises(InputError, match="no rows"):
        write_report(write_rows([]), tmp_path / "r.html")
    with pytest.raises(InputError, match="does not exist"):
        write_report(write_rows([]), tmp_path / "nowhere" / "r.html")


def test_a_training_log_alone_makes_a_page(tmp_path):
    log = [{"step": s, "reward": s / 10, "reward_std": 0.2, "rewards/a/mean": s / 10,
            "grpo_rewards/a/weight": 1.0 + (s > 5)} for s in range(1, 11)]  # fmt: skip
    (tmp_path / "trainer_state.json").write_text(json.dumps({"global_step": 10, "log_history": log}))
    write_report(tmp_path, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Reward over training" in page
    assert "The weights changed once" in page
    assert "Weight of each component" in page


def test_the_command_writes_and_says_so(write_rows, make_row, make_part, tmp_path):
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
