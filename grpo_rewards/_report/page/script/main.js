// ---- the controls, and the page as its address says
const FIELDS = { run: "f-run", changed: "f-changed", component: "f-component", status: "f-status", group: "f-group", signal: "f-signal", sort: "f-sort", q: "f-search" };
const prepareControls = () => {
  const component = $("f-component"), status = $("f-status"), sort = $("f-sort"), controls = $("controls");
  component.append(option("", "any"), ...data.components.map((c) => option(c.name, c.label)));
  status.append(option("", "any"));
  data.codes.forEach((code, i) => { if (data.components.some((c) => c.status.includes(i))) status.append(option(code, code.replaceAll("_", " "))); });
  columns.forEach((c) => sort.append(option(c.key === "order" ? "" : c.key, c.title)));
  data.components.slice(SHOWN).forEach((c) => sort.append(option("value." + c.name, c.label)));
  sort.append(option("spread", "Spread of the group"));
  if (several()) $("f-run").append(option("", "all"), ...data.runs.map((run, k) => option(String(k + 1), k + 1 + " " + visible(run.name))));
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("change", () => change(read()));
  controls.addEventListener("reset", (event) => { event.preventDefault(); change({ ...parse(""), row: now.row, raw: now.raw }); });
  let wait;
  const soon = () => { clearTimeout(wait); wait = setTimeout(() => change(read(), "replaceState"), 150); };
  $("f-search").addEventListener("input", soon);
  $("f-search").addEventListener("focus", warm);
  $("f-group").addEventListener("input", soon);
  $("export").addEventListener("click", save);
};
const read = () => {
  const found = { down: $("f-down").checked ? "1" : "" };
  Object.entries(FIELDS).forEach(([key, id]) => { if ($(id)) found[key] = $(id).value.trim(); });
  return found;
};
const write = () => {
  Object.entries(FIELDS).forEach(([key, id]) => { if ($(id) && $(id) !== document.activeElement && $(id).value !== now[key]) $(id).value = now[key]; });
  $("f-down").checked = Boolean(now.down);
  const chips = [];
  const chip = (text, patch) => { const made = press(text + " ×", () => change(patch)); made.title = "Remove this filter"; chips.push(made); };
  now.in.forEach((range, k) => { const found = rangeOf(range); if (found) chip(found.said, { in: now.in.filter((_, j) => j !== k) }); });
  if (now.left) chip("left out", { left: "" });
  $("chips").replaceChildren(...chips);
};
const FILTERS = [...ROWS, "sort", "down"];
let applied, last;
const show = async () => {
  write();
  const wanted = JSON.stringify(FILTERS.map((key) => now[key]));
  if (wanted !== applied) { applied = wanted; if (!await apply()) return; }
  const seen = JSON.stringify([now.row, now.raw, now.q, now.view, now.group, now.base]);
  if (seen === last) return;
  last = seen;
  await Promise.all([showRow(), showGroup()]);
};
const start = async () => {
  prepare(await unpack("index"));
  prepareTable();
  prepareControls();
  await show();
  root.dataset.ready = "yes";
  performance.mark("ready");
  requestAnimationFrame(() => (window.requestIdleCallback || setTimeout)(warm));  // when the first rows have been drawn
  if (location.hash.includes("=")) $("browser").scrollIntoView();
};
start().catch((error) => { state.textContent = "The rows cannot be read: " + error.message; root.dataset.ready = "failed"; });
