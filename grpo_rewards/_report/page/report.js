"use strict";
// Everything from the data reaches the page through textContent (or a value that is a number): never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  // ---- light and dark
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const toggle = $("theme");
  const showTheme = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    toggle.setAttribute("aria-pressed", String(isDark()));
    toggle.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  dark.addEventListener("change", showTheme);
  showTheme();
  if (!$("index")) { root.dataset.ready = "yes"; return; }

  // ---- the packed data
  const unpack = async (id) => {
    const text = atob($(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const cache = new Map();  // the chunks used last
  const chunk = (number) => {
    let found = cache.get(number);
    if (found) cache.delete(number); else found = unpack("chunk-" + number);
    cache.set(number, found);
    if (cache.size > 24) cache.delete(cache.keys().next().value);
    return found;
  };

  const el = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const visible = (text) => String(text).replace(HIDDEN, (c) => "⟨U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
  const digits = (value, count = 4) => value === null || value === undefined ? "–" : (Object.is(value, -0) ? "0" : String(Number(value.toPrecision(count)))).replace("-", "−");
  const signed = (value) => value === null ? "–" : (value > 0 ? "+" : "") + digits(value, 3);

  const ROW = 30, SHOWN = 4;  // the height of a row in pixels; components with a column in the table
  const grid = $("grid"), sizer = $("sizer"), head = $("head"), state = $("state"), detail = $("detail");
  let data, columns, order, active = 0, opened = -1, ticket = 0, members, signal;

  const start = async () => {
    data = await unpack("index");
    data.components.forEach((c) => { c.label = visible(c.name); });
    prepareGroups();
    prepareControls();
    apply();
    root.dataset.ready = "yes";
  };

  const prepareGroups = () => {
    members = new Map();
    for (let i = 0; i < data.n; i++) {
      const list = members.get(data.group[i]);
      if (list) list.push(i); else members.set(data.group[i], [i]);
    }
    signal = new Set();
    members.forEach((list, group) => { if (list.some((i) => data.centred[i] !== null && Math.abs(data.centred[i]) > 1e-12)) signal.add(group); });
  };

  // ---- controls
  const place = (made, c) => { made.style.left = c.left + "px"; if (!c.text) made.style.width = c.width + "px"; };
  const option = (value, text) => { const made = el("option", text); made.value = value; return made; };
  const prepareControls = () => {
    const component = $("f-component"), status = $("f-status"), sort = $("f-sort");
    component.append(option("", "any"));
    data.components.forEach((c, i) => component.append(option(String(i), c.label)));
    status.append(option("", "any"));
    data.codes.forEach((code, i) => { if (data.components.some((c) => c.status.includes(i))) status.append(option(String(i), code.replaceAll("_", " "))); });
    const hasStep = data.step.some((s) => s >= 0);
    columns = [
      { key: "order", title: "Row", width: 58, value: (i) => i, show: (i) => data.line[i] + (data.index[i] >= 0 ? "." + data.index[i] : "") },
      ...(hasStep ? [{ key: "step", title: "Step", width: 52, value: (i) => data.step[i], show: (i) => data.step[i] < 0 ? "–" : data.step[i] }] : []),
      { key: "group", title: "Group", width: 56, value: (i) => data.group[i], show: (i) => data.group[i] + 1 },
      { key: "reward", title: "Reward", width: 64, value: (i) => data.reward[i], show: (i) => digits(data.reward[i]) },
      { key: "normalised", title: "Advantage", width: 78, value: (i) => data.normalised[i], show: (i) => signed(data.normalised[i]) },
      ...data.components.slice(0, SHOWN).map((c, k) => ({ key: "c" + k, title: c.label, width: 68, value: (i) => c.value[i], show: (i) => cell(c, i), style: (i) => STYLE[data.codes[c.status[i]]] || "" })),
      { key: "length", title: "Length", width: 60, value: (i) => data.length[i], show: (i) => data.length[i].toLocaleString("en") },
      { key: "preview", title: "Completion", width: 0, value: (i) => data.preview[i], show: (i) => visible(data.preview[i]), text: true },
    ];
    columns.forEach((c) => sort.append(option(c.key, c.title)));
    data.components.slice(SHOWN).forEach((c, k) => sort.append(option("c" + (k + SHOWN), c.label)));
    let left = 0;  // places fixed once: nothing to lay out while scrolling but the texts themselves
    columns.forEach((c) => { c.left = left; left += c.text ? 160 : c.width; });
    head.style.minWidth = sizer.style.minWidth = left + "px";
    columns.forEach((c) => {
      const cellHead = el("span", null, c.text ? "text" : "");
      cellHead.setAttribute("role", "columnheader");
      place(cellHead, c);
      const button = el("button", c.title);
      button.type = "button";
      button.title = "Sort by " + c.title;
      button.addEventListener("click", () => { if (sort.value === c.key) $("f-down").checked = !$("f-down").checked; else sort.value = c.key; apply(); });
      cellHead.append(button);
      c.cell = cellHead;
      head.append(cellHead);
    });
    grid.setAttribute("aria-colcount", columns.length);
    const controls = $("controls");
    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.addEventListener("change", apply);
    controls.addEventListener("reset", () => setTimeout(apply));
    let wait;
    const soon = () => { clearTimeout(wait); wait = setTimeout(apply, 250); };
    $("f-search").addEventListener("input", soon);
    $("f-group").addEventListener("input", soon);
  };
  const STYLE = { not_applicable: "low", left_out: "low", rejected: "bad", timeout: "bad", unavailable: "bad", error: "bad" };
  const SHORT = { not_applicable: "n/a", left_out: "out" };
  const cell = (c, i) => c.value[i] !== null ? digits(c.value[i]) : c.status[i] >= data.codes.length ? "–" : SHORT[data.codes[c.status[i]]] || data.codes[c.status[i]];

  const sortValue = (key) => {
    const found = columns.find((c) => c.key === key);
    if (found) return found.value;
    const c = data.components[Number(key.slice(1))];
    return (i) => c.value[i];
  };

  // ---- filter, sort, search
  const apply = async () => {
    const mine = ++ticket;
    const component = $("f-component").value, status = $("f-status").value, wanted = $("f-signal").value;
    const group = $("f-group").value.trim(), words = $("f-search").value.trim().toLowerCase();
    const chosen = component === "" ? data.components : [data.components[Number(component)]];
    const code = Number(status);
    let rows = [];
    for (let i = 0; i < data.n; i++) {
      if (group !== "" && String(data.group[i] + 1) !== group) continue;
      if (wanted && signal.has(data.group[i]) !== (wanted === "with")) continue;
      if (status !== "" && !chosen.some((c) => c.status[i] === code)) continue;
      if (status === "" && component !== "" && chosen[0].status[i] >= data.codes.length) continue;
      rows.push(i);
    }
    const down = $("f-down").checked, key = $("f-sort").value || "order", value = sortValue(key);
    if (key !== "order" || down) {
      const sign = down ? -1 : 1;
      rows.sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === y) return a - b;
        if (x === null) return 1;  // what has no value comes last either way
        if (y === null) return -1;
        return x < y ? -sign : sign;
      });
    }
    columns.forEach((c) => c.cell.setAttribute("aria-sort", c.key !== key ? "none" : down ? "descending" : "ascending"));
    if (words) {
      const found = await search(words, rows, mine);
      if (found === null) return;
      rows = rows.filter((i) => found.has(i));
    }
    order = rows;
    active = 0;
    grid.scrollTop = 0;
    say();
    draw(true);
  };
  const say = () => {
    state.textContent = order.length === data.n ? data.n.toLocaleString("en") + " rows" : order.length.toLocaleString("en") + " of " + data.n.toLocaleString("en") + " rows";
    grid.setAttribute("aria-rowcount", order.length + 1);
  };
  const texts = (body) => [
    ...body.p.map((m) => m[1]), ...body.c.map((m) => m[1]), ...Object.values(body.k).map((k) => k[5]),
    ...body.x.map((x) => x[1]), ...(body.a || []).map((a) => a[1]), body.o || "",
  ];
  const search = async (words, rows, mine) => {
    const chunks = new Map();
    rows.forEach((i) => { const c = Math.floor(i / data.chunk); if (!chunks.has(c)) chunks.set(c, []); chunks.get(c).push(i); });
    const found = new Set();
    let done = 0;
    for (const [number, list] of chunks) {
      const bodies = await (cache.get(number) || unpack("chunk-" + number));
      if (mine !== ticket) return null;
      list.forEach((i) => { if (texts(bodies[i % data.chunk]).some((t) => t.toLowerCase().includes(words))) found.add(i); });
      if (++done % 40 === 0) state.textContent = "Searching … " + Math.round(100 * done / chunks.size) + " %, " + found.size.toLocaleString("en") + " found";
    }
    return found;
  };

  // ---- the virtual table: a few dozen elements, whatever the number of rows
  const pool = [];
  const take = () => {
    const line = el("div", null, "row");
    line.setAttribute("role", "row");
    line.cells = columns.map((c) => {
      const made = el("span", null, c.text ? "text" : "");
      made.setAttribute("role", "gridcell");
      place(made, c);
      line.append(made);
      return made;
    });
    line.at = line.of = -1;
    sizer.append(line);
    pool.push(line);
  };
  const draw = (fresh) => {
    sizer.style.height = order.length * ROW + "px";
    const visibleRows = Math.ceil(grid.clientHeight / ROW) + 12;
    while (pool.length < visibleRows) take();
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 6);
    const size = pool.length;
    for (let k = 0; k < size; k++) {
      const at = first + k, line = pool[at % size];
      if (at >= order.length) { line.hidden = true; line.style.display = "none"; line.at = -1; continue; }
      const i = order[at];
      if (fresh || line.at !== at || line.of !== i) {
        line.hidden = false; line.style.display = "";
        line.style.transform = "translateY(" + at * ROW + "px)";
        line.id = "at-" + at;
        line.setAttribute("aria-rowindex", at + 2);
        columns.forEach((c, k2) => {
          line.cells[k2].textContent = c.show(i);
          if (c.style) line.cells[k2].className = c.style(i);
        });
        line.at = at; line.of = i;
      }
      line.classList.toggle("active", at === active);
      line.setAttribute("aria-selected", String(i === opened));
    }
    if (order.length) grid.setAttribute("aria-activedescendant", "at-" + active); else grid.removeAttribute("aria-activedescendant");
  };
  let pending = false;
  grid.addEventListener("scroll", () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; if (order) draw(false); });
  }, { passive: true });
  addEventListener("resize", () => { if (order) draw(false); });
  sizer.addEventListener("click", (event) => {
    const line = event.target.closest(".row");
    if (line && line.at >= 0) { active = line.at; draw(false); open(line.of); }
  });
  const go = (to) => {
    if (!order.length) return;
    active = Math.max(0, Math.min(order.length - 1, to));
    const top = active * ROW, view = grid.clientHeight - ROW;  // the head covers one row
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + ROW > grid.scrollTop + view) grid.scrollTop = top + ROW - view;
    draw(false);
  };
  const page = () => Math.max(1, Math.floor(grid.clientHeight / ROW) - 2);
  const MOVES = {
    ArrowDown: () => active + 1, ArrowUp: () => active - 1, j: () => active + 1, k: () => active - 1,
    PageDown: () => active + page(), PageUp: () => active - page(), Home: () => 0, End: () => order.length - 1,
  };
  grid.addEventListener("keydown", (event) => {
    if (!order || event.target !== grid || event.ctrlKey || event.metaKey || event.altKey) return;
    if (MOVES[event.key]) { event.preventDefault(); go(MOVES[event.key]()); if (opened >= 0) open(order[active]); }
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); if (order.length) open(order[active]); }
    else if (event.key === "Escape") close();
  });
  detail.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); grid.focus(); } });

  // ---- one completion
  const close = () => {
    opened = -1;
    detail.replaceChildren(el("p", "Choose a row: click it, or use the arrow keys and Enter.", "empty"));
    draw(false);
  };
  const open = async (i) => {
    opened = i;
    const bodies = await chunk(Math.floor(i / data.chunk));
    if (opened !== i) return;
    detail.replaceChildren(...describe(i, bodies[i % data.chunk]));
    detail.scrollTop = 0;
    draw(false);
  };
  const facts = (pairs) => {
    const list = el("dl", null, "facts");
    pairs.forEach(([name, value]) => { const pair = el("div"); pair.append(el("dt", name), el("dd", value)); list.append(pair); });
    return list;
  };
  const conversation = (title, messages) => {
    const made = [el("h4", title)];
    if (!messages.length) made.push(el("p", "none", "low"));
    messages.forEach(([role, text]) => {
      if (role) made.push(el("div", visible(role), "role"));
      made.push(el("pre", visible(text)));
    });
    return made;
  };
  const describe = (i, body) => {
    const made = [];
    made.push(el("h3", "Row " + data.line[i] + (data.index[i] >= 0 ? ", completion " + data.index[i] : "")));
    const list = members.get(data.group[i]);
    const known = list.map((r) => data.reward[r]).filter((r) => r !== null);
    const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    const pairs = [["Reward", digits(data.reward[i])], ["Group mean", digits(mean)], ["Reward − mean", signed(data.centred[i])], ["÷ group std", signed(data.normalised[i])]];
    if (body.t !== undefined) pairs.push(["Advantage in the trainer", signed(body.t)]);
    pairs.push(["Length", data.length[i].toLocaleString("en")]);
    if (data.step[i] >= 0) pairs.push(["Step", data.step[i]]);
    made.push(facts(pairs));
    const nav = el("p", null, "nav");
    const show = el("button", "Group " + (data.group[i] + 1) + ": " + list.length + (list.length === 1 ? " row" : " rows"));
    show.type = "button";
    show.addEventListener("click", () => { $("f-group").value = String(data.group[i] + 1); apply(); });
    nav.append(show);
    made.push(nav);
    if (body.o) made.push(el("p", "Left out: " + visible(body.o), "notice"));
    if (body.a) {
      made.push(el("h4", "Extracted answer"));
      body.a.forEach(([name, text]) => { if (body.a.length > 1) made.push(el("div", visible(name), "role")); made.push(el("pre", visible(text), "short")); });
    }
    made.push(...components(body));
    made.push(...conversation("Completion", body.c), ...conversation("Prompt", body.p));
    const fields = Object.entries(body.k).flatMap(([name, k]) => k[6].map(([key, text]) => [name + " · " + key, text])).concat(body.x);
    if (fields.length) {
      const more = el("details");
      more.append(el("summary", "Details and columns (" + fields.length + ")"));
      fields.forEach(([key, text]) => more.append(el("div", visible(key), "role"), el("pre", visible(text), "short")));
      made.push(more);
    }
    (body.n || []).forEach((note) => made.push(el("p", "Shortened: " + visible(note), "small")));
    return made;
  };
  const components = (body) => {
    const table = el("table", null, "data"), top = el("tr"), inside = el("tbody"), heading = el("thead");
    ["Component", "Value", "× weight", "× gate", "=", "Status and reason"].forEach((name) => { const th = el("th", name); th.scope = "col"; if (name.startsWith("Status")) th.className = "why"; top.append(th); });
    heading.append(top);
    Object.entries(body.k).forEach(([name, [value, weight, gate, contribution, code, reason]]) => {
      const line = el("tr"), th = el("th", visible(name));
      th.scope = "row";
      line.append(th);
      [value, weight, gate, contribution].forEach((v) => line.append(el("td", digits(v))));
      line.append(el("td", data.codes[code].replaceAll("_", " ") + (reason ? ": " + visible(reason) : ""), "why"));
      inside.append(line);
    });
    table.append(heading, inside);
    const around = el("div", null, "scroll");
    around.append(table);
    return [el("h4", "Components"), around];
  };

  start().catch((error) => { state.textContent = "The rows cannot be read: " + error.message; root.dataset.ready = "failed"; });
})();
