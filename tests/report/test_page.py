"""The page in a real browser: hostile rows stay text, and the table can be used."""

from __future__ import annotations

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
]


@pytest.fixture
def hostile_page(write_rows, make_row, make_part, tmp_path):
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


def test_nothing_hostile_runs_or_loads(browser, hostile_page):
    browser.open(hostile_page)
    for i in range(len(HOSTILE)):
        browser.run("document.getElementById('detail').replaceChildren()")
        browser.run(f"document.getElementById('at-{i}').click()")
        browser.until("document.querySelector('#detail pre')")
        browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert browser.run("window.__fired") is None
    assert browser.requests() == [hostile_page.resolve().as_uri()]
    assert browser.complaints() == []
    strays = "script:not([type]), iframe, img, object, embed, base, link, meta[http-equiv=refresh], animate"
    assert browser.run(f"document.querySelectorAll('{strays}').length") == 1
    assert browser.run("getComputedStyle(document.body).display") == "block"
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE[1]


def test_hostile_text_is_shown_as_it_is_with_hidden_characters_made_visible(browser, hostile_page):
    browser.open(hostile_page)
    browser.run("document.getElementById('at-1').click()")
    browser.until("document.querySelector('#detail pre')")
    texts = browser.run("[...document.querySelectorAll('#detail pre')].map((p) => p.textContent)")
    assert HOSTILE[1] in texts
    browser.run("document.getElementById('at-9').click()")
    browser.until("document.querySelector('#detail h3').textContent === 'Row 10'")
    joined = browser.run("document.getElementById('detail').textContent")
    assert "⟨U+202E⟩" in joined
    assert "⟨U+2028⟩" in joined
    assert "⟨U+0000⟩" in joined


def test_the_policy_refuses_a_script_that_got_in(browser, hostile_page):
    browser.open(hostile_page)
    browser.run(
        f"(() => {{ const s = document.createElement('script'); s.textContent = {FIRE!r}; document.body.append(s);"
        " document.body.insertAdjacentHTML('beforeend', '<img src=https://example.invalid/x onerror=\"window.__fired=1\">'); })()"
    )
    browser.run("new Promise((done) => setTimeout(done, 200))")
    assert browser.run("window.__fired") is None
    refused = browser.run("fetch('https://example.invalid/').then(() => 'loaded', () => 'refused')")
    assert refused == "refused"


@pytest.fixture
def page(write_rows, make_row, make_part, tmp_path):
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


def shown(browser):
    return browser.run(
        "[...document.querySelectorAll('#sizer .row')].filter((r) => r.style.display !== 'none')"
        ".sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((r) => [...r.children].map((c) => c.textContent))"
    )


def choose(browser, name, value):
    browser.run(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = {value!r};"
        " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )


def test_the_table_holds_few_elements_and_reaches_every_row(browser, page):
    browser.open(page)
    assert browser.run("document.querySelectorAll('#sizer .row').length") < 80
    browser.run("document.getElementById('grid').scrollTop = 1e9")
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown(browser)[-1][0] == "1200"


def test_filters_sorting_and_search(browser, page):
    browser.open(page)
    state = "document.getElementById('state').textContent"
    choose(browser, "f-component", "0")
    choose(browser, "f-status", "1")
    assert browser.run(state) == "120 of 1,200 rows"
    browser.run("document.getElementById('f-clear').click()")
    browser.until(f"{state} === '1,200 rows'")
    choose(browser, "f-group", "3")
    assert [row[0] for row in shown(browser)] == ["9", "10", "11", "12"]
    choose(browser, "f-sort", "c0")
    assert [row[0] for row in shown(browser)] == ["9", "11", "12", "10"]  # row 10 has no value: last
    browser.run("document.getElementById('f-down').click()")
    assert [row[0] for row in shown(browser)] == ["12", "11", "9", "10"]
    browser.run("document.getElementById('f-clear').click()")
    browser.until(f"{state} === '1,200 rows'")
    choose(browser, "f-search", "THE NEEDLE")
    browser.until(f"{state} === '1 of 1,200 rows'")
    assert shown(browser)[0][0] == "778"


def test_a_row_opens_by_keyboard_to_all_that_is_known(browser, page):
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


def test_colours_follow_the_system_and_the_button(browser, page):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    browser.open(page)
    light = browser.run(ground)
    browser.run("document.getElementById('theme').click()")
    dark = browser.run(ground)
    assert dark != light
    browser.open(page, dark=True)
    assert browser.run(ground) == dark


def test_what_a_screen_reader_needs_is_there(browser, page):
    browser.open(page)
    assert browser.run("document.querySelectorAll('figure svg:not([aria-label])').length") == 0
    assert browser.run(
        "[...document.querySelectorAll('figure')].every((f) => f.querySelector('figcaption') && f.querySelector('table'))"
    )
    assert browser.run("[...document.querySelectorAll('select, input')].every((e) => e.labels.length === 1)")
    assert browser.run("document.getElementById('grid').ariaRowCount") == "1201"
