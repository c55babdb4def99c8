// ---- the table of rows: a few dozen elements, whatever the number of rows
const ROW = 30, SHOWN = 4;  // the height of a row in pixels; components with a column in the table
const grid = $("grid"), sizer = $("sizer"), head = $("head"), state = $("state"), detail = $("detail");
let columns, order, active = 0, opened = -1, ticket = 0;

const STYLE = { not_applicable: "low", left_out: "low", rejected: "bad", timeout: "bad", unavailable: "bad", error: "bad" };
const SHORT = { not_applicable: "n/a", left_out: "out" };
const cell = (c, i) => c.value[i] !== null ? digits(c.value[i]) : c.status[i] >= data.codes.length ? "–" : SHORT[data.codes[c.status[i]]] || data.codes[c.status[i]];
const place = (made, c) => { made.style.left = c.left + "px"; if (!c.text) made.style.width = c.width + "px"; };
const sortedBy = (key) => {
  const found = columns.find((c) => c.key === key);
  return found ? found.value : measure(key) || columns[0].value;
};

const prepareTable = () => {
  const hasStep = data.step.some((s) => s >= 0);
  columns = [
    { key: "order", title: "Row", width: 58, value: (i) => i, show: (i) => data.line[i] + (data.index[i] >= 0 ? "." + data.index[i] : "") },
    ...(several() ? [{ key: "run", title: "Run", width: 44, value: runOf, show: (i) => runOf(i) + 1 }] : []),
    ...(hasStep ? [{ key: "step", title: "Step", width: 52, value: (i) => data.step[i], show: (i) => data.step[i] < 0 ? "–" : data.step[i] }] : []),
    { key: "group", title: "Group", width: 56, value: (i) => data.group[i], show: (i) => data.group[i] + 1 },
    { key: "reward", title: "Reward", width: 64, value: (i) => data.reward[i], show: (i) => digits(data.reward[i]) },
    ...(several() ? [{ key: "change", title: "Change", width: 68, value: (i) => data.change[i], show: (i) => signed(data.change[i]) }] : []),
    { key: "normalised", title: "Advantage", width: 88, value: (i) => data.normalised[i], show: (i) => signed(data.normalised[i]) },
    ...data.components.slice(0, SHOWN).map((c) => ({ key: "value." + c.name, title: c.label, width: 68, value: (i) => c.value[i], show: (i) => cell(c, i), style: (i) => STYLE[data.codes[c.status[i]]] || "" })),
    { key: "length", title: "Length", width: 60, value: (i) => data.length[i], show: (i) => counted(data.length[i]) },
    { key: "preview", title: "Completion", width: 0, value: (i) => data.preview[i], show: (i) => visible(data.preview[i]), text: true },
  ];
  let left = 0;  // places fixed once: nothing to lay out while scrolling but the texts themselves
  columns.forEach((c) => { c.left = left; left += c.text ? 150 : c.width; });
  head.style.minWidth = sizer.style.minWidth = left + "px";
  columns.forEach((c) => {
    const cellHead = el("span", null, c.text ? "text" : "");
    cellHead.setAttribute("role", "columnheader");
    place(cellHead, c);
    const button = press(c.title, () => change({ sort: c.key, down: (now.sort || "order") === c.key && !now.down ? "1" : "" }));
    button.title = "Sort by " + c.title;
    cellHead.append(button);
    c.cell = cellHead;
    head.append(cellHead);
  });
  grid.setAttribute("aria-colcount", columns.length);
};

// ---- choose, search and sort
const apply = async () => {
  const mine = ++ticket, words = now.q.trim().toLowerCase();
  let rows = choose();
  $("export").disabled = Boolean(words);  // until all are found
  if (words) {
    let first = true;
    rows = await search(words, rows, mine, (found) => { arrange(found, first); first = false; });
    if (rows === null) return false;
    arrange(rows, first);
    $("export").disabled = false;
  } else arrange(rows, true);
  state.textContent = order.length === data.n ? counted(data.n) + " rows" : counted(order.length) + " of " + counted(data.n) + " rows";
  return true;
};
// sort the rows chosen and show them, from the top or from the open row where they are new
const arrange = (rows, fresh) => {
  const down = Boolean(now.down), key = now.sort || "order", value = sortedBy(key);
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
  order = rows;
  if (fresh) {
    active = Math.max(0, opened < 0 ? 0 : order.indexOf(opened));
    grid.scrollTop = Math.max(0, (active - 3) * ROW);
  }
  grid.setAttribute("aria-rowcount", order.length + 1);
  draw(true);
};

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
  if (line && line.at >= 0) { active = line.at; change({ row: nameOf(line.of) }); }
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
  if (Object.hasOwn(MOVES, event.key)) {
    event.preventDefault();
    go(MOVES[event.key]());
    if (opened >= 0) change({ row: nameOf(order[active]) }, "replaceState");
  } else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); if (order.length) change({ row: nameOf(order[active]) }); }
  else if (event.key === "Escape") change({ row: "" });
});
detail.addEventListener("keydown", (event) => { if (event.key === "Escape") { change({ row: "" }); grid.focus(); } });
