// ---- the rows chosen, as JSON lines that can be scored and reported again
const record = (pairs) => "{" + pairs.map(([key, value]) => JSON.stringify(key) + ":" + value).join(",") + "}";
const json = (value) => JSON.stringify(value === undefined ? null : value);
const valueOf = ([, text, isJson]) => { try { return isJson ? json(JSON.parse(text)) : json(text); } catch { return json(text); } };
const asGiven = (list) => list.length === 0 ? "null" : list.length === 1 && list[0][0] === "" ? json(list[0][1]) : json(list.map(([role, content]) => ({ role, content })));
const lineOf = (i, body) => {
  const parts = Object.entries(body.k).map(([name, [value, weight, gate, contribution, code, reason, details]]) => [name, record([
    ["value", json(value)], ["weight", json(weight)], ["gate", json(gate)], ["contribution", json(contribution)],
    ["status", json(data.codes[code])], ["reason", json(reason)], ["details", record(details.map((pair) => [pair[0], valueOf(pair)]))],
  ])]);
  const found = [["row", json(data.line[i])], ["group", json(String(data.group[i] + 1))], ["reward", json(data.reward[i])], ["components", record(parts)]];
  if (several()) found.push(["run", json(data.runs[runOf(i)].name)]);
  if (body.o) found.push(["left_out", json(body.o)]);
  if (body.n) found.push(["shortened", json(body.n)]);
  const columns = body.x.filter(([key]) => !["prompt", "completion", "grpo_rewards"].includes(key)).map((pair) => [pair[0], valueOf(pair)]);
  if (data.step[i] >= 0 && !columns.some(([key]) => key === "step")) columns.push(["step", json(data.step[i])]);
  return record([["prompt", asGiven(body.p)], ["completion", asGiven(body.c)], ...columns, ["grpo_rewards", record(found)]]);
};
const save = async () => {
  const mine = ticket, lines = [];
  let without = 0;
  for (const i of order) {
    const body = await bodyOf(i);
    if (mine !== ticket) return;
    if (body) lines.push(lineOf(i, body) + "\n"); else without++;
  }
  const link = el("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  link.download = "rows.jsonl";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  state.textContent = counted(lines.length) + " rows saved as rows.jsonl" + (without ? "; " + counted(without) + " more have no texts on this page" : "");
};
