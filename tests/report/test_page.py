"""The page in a real browser: hostile rows stay text, and the table can be used."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards._report import write_report

FIRE = "window.__fired=(window.__fired||0)+1"
HOSTILE = [
    f"<script>{FIRE}</script>",
    f"</script><script>{FIRE}</script>",
    f"<!--<script>{FIRE}</script>",
    f'--></script><img src=x onerror="{FIRE}">',
    f"<svg onload='{FIRE}'><animate onbegin='{FIRE}' attributeName=x dur=1s>",
    f'"\'><iframe srcdoc="<script>parent.{FIRE}</script>">',
    f"</title></style></textarea></svg><script>{FIRE}</script>",
    f'<a href="javascript:{FIRE}">x</a><base href=//example.invalid/>',
    f"{{{{ 7*7 }}}}{{% raw %}}<script>{FIRE}</script>",
    "\u2028\u2029\ud800\udfff\ud800 \x00\x1b]0;x\x07<b>\u202edetrevni",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "<link rel=stylesheet href=https://example.invalid/x.css><style>*{display:none}</style>",
    "]]><![CDATA[<x>&lt;&amp;&#60;script&#62;",
    "__proto__",
    # what turns texts into elements: markdown, formulas, code
    f"[x](javascript:{FIRE}) [y](JaVaScRiPt:{FIRE}) [z](data:text/html,<script>{FIRE}</script>) [v](vbscript:x) <javascript:{FIRE}>",
    f"[r]: javascript:{FIRE}\n\n[r] ![i](javascript:{FIRE}) ![i](https://example.invalid/x.png) ![<img src=x onerror={FIRE}>](x 'onerror={FIRE}')",
    f"**<img src=x onerror={FIRE}>** | a | b |\n|---|---|\n| <svg onload={FIRE}> | `</code><script>{FIRE}</script>` |",
    f"$\\href{{javascript:{FIRE}}}{{x}}$ $\\url{{javascript:{FIRE}}}$ $\\includegraphics{{https://example.invalid/x.png}}$",
    f"\\[\\class{{row}}{{x}} \\id{{grid}}{{x}} \\style{{position:fixed;inset:0}}{{x}} \\data{{onclick={FIRE}}}{{x}}\\]",
    "$\\htmlClass{row}{x}$ $\\htmlStyle{background:url(https://example.invalid/)}{x}$ $\\text{<img src=x onerror=alert(1)>}$",
    "$\\def\\a{\\a\\a}\\a$ $\\gdef\\b#1{\\b{#1#1}}\\b{x}$ $\\let\\frac\\relax$ $\\rule{9999em}{9999em}$ $"
    + "{" * 900
    + "}" * 900
    + "$",
    "$\\__proto__$ $\\constructor$ $\\begin{__proto__}x\\end{__proto__}$ $\\begin{constructor}\\end{constructor}$ $\\toString{x}$",
    f"```__proto__\n<script>{FIRE}</script>\n```\n\n```constructor\nx\n```\n\n```html\n<script>{FIRE}</script><img src=x onerror={FIRE}>\n```",
    f'```python "onmouseover={FIRE}\nimport x\n```\n\n```" onload="{FIRE}\n</code></pre><script>{FIRE}</script>',
    "&lt;script&gt;&#106;avascript&colon;alert(1)&#x3c;img src=x onerror=alert(1)&#x3e;",
    "> " * 3000 + "deep",
    "[" * 3000 + "](" * 3000,
    "*" * 4000 + "a_" * 1000,
    "$" * 4000,
    "\\[" * 2000,
    "`" * 3001,
    "- " * 2500,
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<form id=grid><input name=attributes><input id=detail name=textContent>",
]


def open_row(browser: Any, number: int) -> None:
    go(browser, f"#row={number}")


def go(browser: Any, where: Any) -> None:
    """Follow a link to a state of the page, and wait until the page is there."""
    browser.run(f"location.hash = {where!r}")
    row = re.search(r"row=(?:\d:)?(\d+)", where)
    if row:
        browser.until(
            f"document.querySelector('#detail h3')?.textContent.replace(/^Run ., row/, 'Row') === 'Row {row[1]}'"
        )


@pytest.fixture
def hostile_page(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> Any:
    rows = []
    for i, text in enumerate(HOSTILE):
        found = make_part(float(i % 2), reason=text, details={"extracted": text, text: text})
        data = make_row(i + 1, float(i % 2), {"plain": make_part(0.5), text: found}, group_id=text, left_out_note=text)
        data |= {"prompt": [{"role": text, "content": text}], "completion": text, text: text}
        data["grpo_rewards"]["left_out"] = text
        rows.append(data)
    rows += rows
    out = tmp_path / "hostile.html"
    write_report(write_rows(rows), out, title=HOSTILE[1])
    return out


IN_ELEMENTS = """[...document.querySelectorAll('#detail a, #group a, #detail [href], #detail [src], #detail [style], #detail [id]')]
    .map((e) => e.outerHTML)"""


@pytest.mark.slow
def test_nothing_hostile_runs_or_loads(browser: Any, hostile_page: Path) -> None:
    browser.open(hostile_page)
    for i in range(len(HOSTILE)):
        open_row(browser, i + 1)
        browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert browser.run(IN_ELEMENTS) == [], HOSTILE[i][:80]
    browser.run(
        "[...document.querySelectorAll('#detail .nav button')].find((b) => b.textContent === 'Side by side').click()"
    )
    browser.until("document.querySelectorAll('#group .card').length === 2")
    browser.run(
        "[...document.querySelectorAll('#group .card button')].find((b) => b.textContent.startsWith('Diff')).click()"
    )
    browser.until("document.querySelector('#group .diff')")
    assert browser.run("window.__fired") is None
    assert browser.requests() == [hostile_page.resolve().as_uri()]
    assert browser.complaints() == []
    strays = "script:not([type]), iframe, img, object, embed, base, link, meta[http-equiv=refresh], animate"
    assert browser.run(f"document.querySelectorAll('{strays}').length") == 1
    hooks = (
        "[...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames()).filter((a) => a.startsWith('on'))"
    )
    assert browser.run(hooks) == []
    assert browser.run("Object.keys(Object.prototype).length + Object.keys(Array.prototype).length") == 0
    assert browser.run("getComputedStyle(document.body).display") == "block"
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE[1]


def test_hostile_text_is_shown_as_it_is_with_hidden_characters_made_visible(browser: Any, hostile_page: Path) -> None:
    browser.open(hostile_page)
    go(browser, "#row=2&raw=1")
    texts = browser.run("[...document.querySelectorAll('#detail pre')].map((p) => p.textContent)")
    assert HOSTILE[1] in texts
    go(browser, "#row=10")
    joined = browser.run("document.getElementById('detail').textContent")
    assert "⟨U+202E⟩" in joined
    assert "⟨U+2028⟩" in joined
    assert "⟨U+0000⟩" in joined


def test_the_policy_refuses_a_script_that_got_in(browser: Any, hostile_page: Path) -> None:
    browser.open(hostile_page)
    tries = (
        f"const s = document.createElement('script'); s.append({FIRE!r}); document.body.append(s)",
        f"const s = document.createElement('script'); s.textContent = {FIRE!r}; document.body.append(s)",
        "document.body.insertAdjacentHTML('beforeend', '<img src=https://example.invalid/x onerror=\"window.__fired=1\">')",
        "document.body.innerHTML += '<b>markup</b>'",
        "trustedTypes.createPolicy('another', {createHTML: (text) => text})",
    )
    for attempt in tries[1:]:
        refused = browser.run(f"(() => {{ try {{ {attempt}; return 'done'; }} catch (e) {{ return e.name; }} }})()")
        assert refused == "TypeError", attempt
    browser.run(f"(() => {{ {tries[0]} }})()")
    browser.run("new Promise((done) => setTimeout(done, 200))")
    assert browser.run("window.__fired") is None
    refused = browser.run("fetch('https://example.invalid/').then(() => 'loaded', () => 'refused')")
    assert refused == "refused"


@pytest.fixture
def page(
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> Any:
    rows = []
    for i in range(1200):
        value = None if i % 10 == 9 else float(i % 4)
        extra = make_part(0.25, 2.0, details={"extracted": f"answer {i}"}, reason=f"because {i}")
        components = {"first": make_part(value), "second": extra}
        text = f"completion {i}" + (" the needle" if i == 777 else "")
        rows.append(make_row(i + 1, (value or 0.0) + 0.5, components, group_id=i // 4, completion=text))
    out = tmp_path / "page.html"
    write_report(write_rows(rows), out)
    return out


def shown(browser: Any) -> Any:
    return browser.run(
        "[...document.querySelectorAll('#sizer .row')].filter((r) => r.style.display !== 'none')"
        ".sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((r) => [...r.children].map((c) => c.textContent))"
    )


def choose(browser: Any, name: str, value: Any) -> None:
    browser.run(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = {value!r};"
        " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )


def test_the_table_holds_few_elements_and_reaches_every_row(browser: Any, page: Path) -> None:
    browser.open(page)
    assert browser.run("document.querySelectorAll('#sizer .row').length") < 80
    browser.run("document.getElementById('grid').scrollTop = 1e9")
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown(browser)[-1][0] == "1200"


def test_filters_sorting_and_search(browser: Any, page: Path) -> None:
    browser.open(page)
    state = "document.getElementById('state').textContent"
    choose(browser, "f-component", "first")
    choose(browser, "f-status", "not_applicable")
    assert browser.run(state) == "120 of 1,200 rows"
    browser.run("document.getElementById('f-clear').click()")
    browser.until(f"{state} === '1,200 rows'")
    choose(browser, "f-group", "3")
    assert [row[0] for row in shown(browser)] == ["9", "10", "11", "12"]
    choose(browser, "f-sort", "value.first")
    assert [row[0] for row in shown(browser)] == ["9", "11", "12", "10"]  # row 10 has no value: last
    browser.run("document.getElementById('f-down').click()")
    assert [row[0] for row in shown(browser)] == ["12", "11", "9", "10"]
    browser.run("document.getElementById('f-clear').click()")
    browser.until(f"{state} === '1,200 rows'")
    choose(browser, "f-search", "THE NEEDLE")
    browser.until(f"{state} === '1 of 1,200 rows'")
    assert shown(browser)[0][0] == "778"


def test_a_row_opens_by_keyboard_to_all_that_is_known(browser: Any, page: Path) -> None:
    browser.open(page)
    browser.run("document.getElementById('grid').focus()")
    for name in ("ArrowDown", "ArrowDown", "Enter"):
        browser.key(name)
    browser.until("document.querySelector('#detail h3')")
    text = browser.run("document.getElementById('detail').innerText")
    for wanted in ("Row 3", "answer 2", "because 2", "completion 2", "What?", "Group mean", "2", "+0.5"):
        assert wanted in text
    cells = browser.run(
        "[...document.querySelectorAll('#detail tbody tr')].map((r) => [...r.children].map((c) => c.textContent))"
    )
    assert cells[1] == ["second", "0.25", "2", "1", "0.5", "scored: because 2"]
    browser.key("Escape")
    assert browser.run("document.querySelector('#detail h3')") is None


def test_colours_follow_the_system_and_the_button(browser: Any, page: Path) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    browser.open(page)
    light = browser.run(ground)
    browser.run("document.getElementById('theme').click()")
    dark = browser.run(ground)
    assert dark != light
    browser.open(page, dark=True)
    assert browser.run(ground) == dark


def test_what_a_screen_reader_needs_is_there(browser: Any, page: Path) -> None:
    browser.open(page)
    assert browser.run("document.querySelectorAll('figure svg:not([aria-label])').length") == 0
    assert browser.run(
        "[...document.querySelectorAll('figure')].every((f) => f.querySelector('figcaption') && f.querySelector('table'))"
    )
    assert browser.run("[...document.querySelectorAll('select, input')].every((e) => e.labels.length === 1)")
    assert browser.run("document.getElementById('grid').ariaRowCount") == "1201"


STATE = "document.getElementById('state').textContent"


def test_an_address_leads_to_what_is_shown_and_back_and_reload_keep_it(browser: Any, page: Path) -> None:
    browser.open(page)
    go(browser, "#row=17&group=5&q=completion%201&sort=reward&down=1")
    browser.until(f"{STATE} === '4 of 1,200 rows'")
    assert browser.run("document.getElementById('f-group').value") == "5"
    assert browser.run("document.getElementById('f-search').value") == "completion 1"
    marked = browser.run("[...document.querySelectorAll('#detail mark')].map((m) => m.textContent)")
    assert "completion 1" in marked
    browser.run("document.getElementById('f-clear').click()")
    browser.until(f"{STATE} === '1,200 rows'")
    browser.run("history.back()")
    browser.until(f"{STATE} === '4 of 1,200 rows'")
    browser.run("document.documentElement.dataset.ready = 'reloading'; location.reload()")
    browser.until("document.documentElement?.dataset.ready === 'yes'")
    browser.until("document.querySelector('#detail h3')?.textContent === 'Row 17'")
    assert browser.run(STATE) == "4 of 1,200 rows"


def test_bars_cells_and_findings_choose_their_rows(browser: Any, page: Path) -> None:
    browser.open(page)
    browser.run("[...document.querySelectorAll('#figure-distributions a')].find((a) => a.getAttribute('href') === '#in=value.first%3A2%3A2')"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")  # fmt: skip
    browser.until(f"{STATE} === '300 of 1,200 rows'")
    assert browser.run("document.getElementById('chips').textContent") == "first = 2 ×"
    browser.run("document.querySelector('#chips button').click()")
    browser.until(f"{STATE} === '1,200 rows'")
    browser.run(
        "[...document.querySelectorAll('table.components a')].find((a) => a.href.includes('not_applicable')).click()"
    )
    browser.until(f"{STATE} === '120 of 1,200 rows'")
    browser.run("document.querySelector('.findings a').click()")
    browser.until(f"{STATE} !== '120 of 1,200 rows'")


@pytest.mark.slow
def test_a_group_stands_side_by_side_with_differences(browser: Any, page: Path) -> None:
    browser.open(page)
    go(browser, "#row=17&group=5&view=group")
    browser.until("document.querySelectorAll('#group .card').length === 4")
    cards = browser.run("[...document.querySelectorAll('#group .card')].map((c) => c.innerText)")
    assert "completion 18" in cards[2]
    assert "Advantage" in cards[0]
    browser.run("document.querySelector('#group .card button:not(h4 button)').click()")
    browser.until("document.querySelector('#group ins')")
    changed = browser.run("[...document.querySelectorAll('#group del, #group ins')].map((e) => e.textContent)")
    assert changed[:2] == ["16", "17"]
    assert "base=17" in browser.run("location.hash")


@pytest.mark.slow
def test_what_unlike_texts_have_in_common_by_chance_is_no_mosaic(
    browser: Any,
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    left, right = (
        "We factor the square, so the sum of roots is 5.",
        "Let me see: the code, then the whole proof, is wrong.",
    )
    rows = [
        make_row(number, 0.0, {"plain": make_part(0.0)}, group_id="one") | {"completion": text}
        for number, text in enumerate((left, right), 1)
    ]
    out = tmp_path / "unlike.html"
    write_report(write_rows(rows), out)
    browser.open(out)
    go(browser, "#row=1&group=1&view=group&base=1")
    browser.until("document.querySelector('#group ins')")
    parts = "[...document.querySelectorAll('#group .diff KIND')].map((e) => e.textContent)"
    assert browser.run(parts.replace("KIND", "del")) == [left.removesuffix(".")]
    assert browser.run(parts.replace("KIND", "ins")) == [right.removesuffix(".")]


@pytest.mark.slow
def test_what_is_chosen_is_exported_and_can_be_reported_again(browser: Any, page: Path, tmp_path: Path) -> None:
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "down"))
    browser.open(page)
    go(browser, "#group=3")
    browser.until(f"{STATE} === '4 of 1,200 rows'")
    browser.run("document.getElementById('export').click()")
    browser.until(f"{STATE} === '4 rows saved as rows.jsonl'")
    file = tmp_path / "down" / "rows.jsonl"
    waited = threading.Event()
    while not file.exists():
        waited.wait(0.05)
    first = json.loads(file.read_text().splitlines()[0])
    assert (first["completion"], first["group_id"], first["grpo_rewards"]["row"]) == ("completion 8", 2, 9)
    again = write_report(file, tmp_path / "again.html")
    assert (again.rows, again.groups) == (4, 1)


@pytest.mark.slow
def test_texts_are_readable_and_can_be_seen_as_they_are(
    browser: Any,
    write_rows: Callable[..., Path],
    make_row: Callable[..., dict[str, Any]],
    make_part: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    text = "**bold** $x^2$ \\boxed{7}\n\n```python\ndef f():\n    return 1\n```\n\n| a |\n|---|\n| 1 |"
    out = tmp_path / "r.html"
    write_report(write_rows([make_row(1, 1.0, {"a": make_part(1.0)}, completion=text)]), out)
    browser.open(out)
    go(browser, "#row=1")
    found = ["strong", "msup", "pre .hl-keyword", "td", "math"]
    browser.until("document.querySelector('#detail .readable strong')")
    assert [browser.run(f"Boolean(document.querySelector('#detail .readable {one}'))") for one in found] == [True] * 5
    browser.run("document.querySelector('#detail .raw').click()")
    browser.until(f"[...document.querySelectorAll('#detail pre')].some((p) => p.textContent === {json.dumps(text)})")


@pytest.mark.slow
def test_two_runs_show_the_rows_that_changed(
    browser: Any, make_row: Callable[..., dict[str, Any]], make_part: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name, rise in (("a", 0.0), ("b", 1.0)):
        data = [make_row(i + 1, i % 2 + rise * (i == 5), {"c": make_part(i % 2 + rise * (i == 5))}, group_id=i // 4)
                for i in range(12)]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    write_report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    browser.run("[...document.querySelectorAll('.findings a')].find((a) => a.href.includes('changed=up')).click()")
    browser.until(f"{STATE} === '1 of 24 rows'")
    go(browser, "#row=2:6")
    assert "run 1: 1 (here +1)" in browser.run("document.getElementById('detail').innerText")
    assert browser.complaints() == []


@pytest.mark.slow
def test_no_figure_of_the_components_is_cut_on_a_telephone(browser: Any, page: Path) -> None:
    size = {"height": 950, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", width=390, **size)
    try:
        browser.open(page)
        found = browser.run(
            "[...document.querySelectorAll('section.wrap > .scroll')].map((e) => [e.scrollWidth, e.clientWidth])"
        )
        assert found
        assert all(inside <= seen for inside, seen in found)
        labels = "[...document.querySelectorAll('.components tbody tr:first-child td')].map((e) => e.dataset.label)"
        heads = "[...document.querySelectorAll('.components thead th')].slice(1).map((e) => e.textContent)"
        assert browser.run(labels) == browser.run(heads)
        assert browser.run("document.documentElement.scrollWidth") <= 390
        go(browser, "#row=1")  # nor one of a row, whose reasons stand last
        inside, seen = browser.run(
            "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])(document.querySelector('#detail .scroll'))"
        )
        assert inside <= seen
    finally:
        browser.call("Emulation.setDeviceMetricsOverride", width=1400, **size)
