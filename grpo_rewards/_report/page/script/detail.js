// ---- one completion
const facts = (pairs) => {
  const list = el("dl", null, "facts");
  pairs.forEach(([name, value]) => { const pair = el("div"); pair.append(el("dt", name), el("dd", value)); list.append(pair); });
  return list;
};
const messages = (list) => list.length ? list.flatMap(([role, text]) => [...(role ? [el("div", visible(role), "role")] : []), shown(text)]) : [el("p", "none", "low")];
const conversation = (title, list) => [el("h4", title), ...messages(list)];
const NOT_HERE = "The texts of this row are not on the page (report --max-size makes room); its figures are.";

const showRow = async () => {
  const i = now.row === "" ? -1 : rowCalled(now.row);
  opened = i;
  if (i < 0) {
    const text = now.row === "" ? "Choose a row: click it, or use the arrow keys and Enter." : "There is no row " + visible(now.row) + " on this page.";
    detail.replaceChildren(el("p", text, "empty"));
    draw(false);
    return;
  }
  const [body] = await Promise.all([bodyOf(i), libraries().catch(() => null)]);
  if (opened !== i) return;
  detail.replaceChildren(...describe(i, body));
  detail.scrollTop = 0;
  const hit = mark(detail);
  if (hit) detail.scrollTop = hit.getBoundingClientRect().top - detail.getBoundingClientRect().top - 80;
  const at = order.indexOf(i);
  if (at >= 0 && at !== active) go(at); else draw(false);
};
const describe = (i, body) => {
  const made = [el("h3", (several() ? "Run " + (runOf(i) + 1) + ", row " : "Row ") + data.line[i] + (data.index[i] >= 0 ? ", completion " + data.index[i] : ""))];
  const list = members.get(data.group[i]), { mean } = moments(list, data.reward);
  const pairs = [["Reward", digits(data.reward[i])], ["Group mean", digits(mean)], ["Reward − mean", signed(data.centred[i])], ["÷ group std", signed(data.normalised[i])]];
  if (body && body.t !== undefined) pairs.push(["Advantage in the trainer", signed(body.t)]);
  pairs.push(["Length", counted(data.length[i])]);
  if (data.step[i] >= 0) pairs.push(["Step", data.step[i]]);
  made.push(facts(pairs), links(i, list));
  if (several()) made.push(...others(i));
  if (!body) { made.push(el("p", NOT_HERE, "notice"), ...scores(i), el("h4", "Completion"), el("pre", visible(data.preview[i]) + " …")); return made; }
  if (body.o) made.push(el("p", "Left out: " + visible(body.o), "notice"));
  if (body.a) {
    made.push(el("h4", "Extracted answer"));
    body.a.forEach(([name, text]) => { if (body.a.length > 1) made.push(el("div", visible(name), "role")); made.push(el("pre", visible(text), "short")); });
  }
  made.push(...components(body), ...conversation("Completion", body.c), ...conversation("Prompt", body.p));
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
const links = (i, list) => {
  const nav = el("p", null, "nav"), group = String(data.group[i] + 1);
  nav.append(press("Group " + group + ": " + list.length + (list.length === 1 ? " row" : " rows"), () => change({ group })));
  nav.append(press("Side by side", () => change({ group, view: "group", base: "" }).then(() => $("group").scrollIntoView())));
  nav.append(press(now.raw ? "Readable" : "As it is", () => change({ raw: now.raw ? "" : "1" }), "raw"));
  return nav;
};
// the same completion in the other runs
const others = (i) => {
  const first = data.twin[i] >= 0 ? data.twin[i] : i, same = [first, ...(data.after.get(first) || [])].filter((j) => j !== i);
  if (!same.length) return [];
  const list = el("p", "The same completion: ", "small");
  same.forEach((j) => list.append(press("run " + (runOf(j) + 1) + ": " + digits(data.reward[j]) + changed(j, i), () => change({ row: nameOf(j) })), " "));
  return [list];
};
const changed = (j, i) => data.reward[i] === null || data.reward[j] === null ? "" : " (" + (data.reward[i] === data.reward[j] ? "same" : "here " + signed(data.reward[i] - data.reward[j])) + ")";
const tableOf = (titles, lines) => {
  const table = el("table", null, "data stacks"), top = el("tr"), inside = el("tbody"), heading = el("thead");
  titles.forEach((name) => { const th = el("th", name); th.scope = "col"; if (name.startsWith("Status")) th.className = "why"; top.append(th); });
  heading.append(top);
  lines.forEach(([name, ...values]) => {
    const line = el("tr"), th = el("th", name);
    th.scope = "row";
    const cells = values.map((value, k) => el("td", value, k === values.length - 1 ? "why" : ""));
    cells.forEach((td, k) => { td.dataset.label = titles[k + 1]; });
    line.append(th, ...cells);
    inside.append(line);
  });
  table.append(heading, inside);
  const around = el("div", null, "scroll");
  around.append(table);
  return around;
};
const statusOf = (code, reason) => data.codes[code].replaceAll("_", " ") + (reason ? ": " + visible(reason) : "");
const components = (body) => [el("h4", "Components"), tableOf(
  ["Component", "Value", "× weight", "× gate", "=", "Status and reason"],
  Object.entries(body.k).map(([name, [value, weight, gate, contribution, code, reason]]) => [visible(name), digits(value), digits(weight), digits(gate), digits(contribution), statusOf(code, reason)]),
)];
const scores = (i) => [el("h4", "Components"), tableOf(
  ["Component", "Value × gate", "Status"],
  data.components.filter((c) => c.status[i] < data.codes.length).map((c) => [c.label, digits(c.value[i]), statusOf(c.status[i], "")]),
)];
