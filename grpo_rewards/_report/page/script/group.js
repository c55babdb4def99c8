// ---- the completions of one prompt beside each other
const MOST_CARDS = 64;
const groupView = $("group");
const showGroup = async () => {
  const group = Number(now.group) - 1;
  if (now.view !== "group" || !members.has(group)) { groupView.hidden = true; groupView.replaceChildren(); return; }
  const same = several() ? [...members.keys()].filter((other) => data.prompt[other] === data.prompt[group]) : [group];
  const rows = same.flatMap((one) => members.get(one)).slice(0, MOST_CARDS);
  const base = now.base === "" ? -1 : rowCalled(now.base);
  const [bodies, against] = await Promise.all([Promise.all(rows.map(bodyOf)), base < 0 ? null : bodyOf(base), libraries().catch(() => null)]);
  if (now.view !== "group" || Number(now.group) - 1 !== group) return;
  const top = el("div", null, "bar"), list = el("div", null, "cards"), { mean, std } = moments(members.get(group), data.reward);
  const name = same.length > 1 ? "One prompt in " + new Set(rows.map(runOf)).size + " runs" : "Group " + (group + 1);
  const figures = same.length > 1 ? "" : ", mean " + digits(mean) + ", std " + digits(std);  // several groups have no mean of their own
  top.append(el("h3", name + ": " + rows.length + (rows.length === 1 ? " completion" : " completions") + figures));
  const acts = el("span", null, "nav");
  if (base >= 0) acts.append(press("No difference", () => change({ base: "" })));
  acts.append(press(now.raw ? "Readable" : "As it is", () => change({ raw: now.raw ? "" : "1" })), press("Close", () => change({ view: "", base: "" })));
  top.append(acts);
  rows.forEach((i, k) => list.append(card(i, bodies[k], base, against)));
  const asked = bodies.find((body) => body), prompt = el("details", null, "prompt");
  if (asked) { prompt.open = true; prompt.append(el("summary", "Prompt"), ...messages(asked.p)); }
  groupView.replaceChildren(top, ...(asked ? [prompt] : []), list);
  groupView.hidden = false;
  mark(groupView);
};
const textOf = (body) => visible(body.c.map((m) => m[1]).join("\n\n"));
const card = (i, body, base, against) => {
  const made = el("article", null, i === base ? "card base" : "card"), top = el("h4"), best = data.normalised[i];
  top.append(press((several() ? "Run " + (runOf(i) + 1) + ", row " : "Row ") + data.line[i] + (data.index[i] >= 0 ? "." + data.index[i] : ""), () => change({ row: nameOf(i) })));
  made.append(top, facts([["Reward", digits(data.reward[i])], ["Advantage", signed(best)], ["Length", counted(data.length[i])]]));
  const bar = el("div", null, "advantage");  // how far from the group's mean, to either side
  const fill = el("span", null, best > 0 ? "plus" : "minus"), size = Math.min(1, Math.abs(best || 0) / 2.5) * 50;
  fill.style.width = size + "%";
  fill.style.left = (best > 0 ? 50 : 50 - size) + "%";
  bar.append(fill);
  made.append(bar, facts(data.components.filter((c) => c.status[i] < data.codes.length).map((c) => [c.label, cell(c, i)])));
  if (base !== i && body) made.append(press("Differences from this one", () => change({ base: nameOf(i) })));
  if (i === base) made.append(el("p", "The others show how they differ from this one.", "small"));
  const text = el("div", null, "text");
  if (!body) text.append(el("p", NOT_HERE, "small"), el("pre", visible(data.preview[i]) + " …"));
  else if (base >= 0 && i !== base && against) text.append(...difference(textOf(against), textOf(body)));
  else text.append(...messages(body.c));
  made.append(text);
  return made;
};
