// ---- what is shown: kept in the address, so that links, the back button and a reload lead to it again
const KEYS = ["run", "changed", "component", "status", "group", "signal", "left", "q", "sort", "down", "row", "view", "base", "raw"];
const ROWS = ["run", "changed", "component", "status", "group", "signal", "left", "q", "in"];  // those that choose rows
const parse = (hash) => {
  const found = { in: [] };
  KEYS.forEach((key) => { found[key] = ""; });
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    let value;
    try { value = decodeURIComponent(pair.slice(at + 1)); } catch { continue; }
    const key = pair.slice(0, at);
    if (at > 0 && key === "in") found.in.push(value);
    else if (at > 0 && KEYS.includes(key)) found[key] = value;
  }
  return found;
};
const encode = (text) => { try { return encodeURIComponent(text); } catch { return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, "?")); } };  // half a surrogate pair
const address = () => {
  const pairs = KEYS.filter((key) => now[key] !== "").map((key) => key + "=" + encode(now[key]));
  now.in.forEach((range) => pairs.push("in=" + encode(range)));
  return "#" + pairs.join("&");
};
let now = parse(location.hash);
const change = (patch, how = "pushState") => {
  Object.assign(now, patch);
  try { history[how](null, "", address()); } catch { /* a page without an address of its own, as in a notebook */ }
  return show();
};
addEventListener("popstate", () => {
  if (/^#[^=]+$/.test(location.hash)) return;  // a place in the page
  const raw = now.raw;
  now = parse(location.hash);
  if (!location.hash.includes("raw=")) now.raw = raw && !location.hash ? "" : raw;
  show();
});
// links of the figures and findings choose rows
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  const where = link && (link.getAttribute("href") || "");
  if (where && where.startsWith("#") && where.includes("=")) {
    event.preventDefault();
    now = { ...parse(where), raw: now.raw };
    change({}).then(() => $("browser").scrollIntoView());
  }
});

// ---- ranges: in=WHAT:LOW:HIGH, from LOW up to, and without, HIGH; equal: just that; empty: open
const five = (value) => Number(value.toPrecision(5));  // the index holds five digits
const measure = (what) => {
  if (what === "reward" || what === "length" || what === "step" || what === "change") return data[what] ? (i) => data[what][i] : null;
  if (what === "spread") return spreadOf("", data.reward);
  const at = what.indexOf("."), c = byName.get(what.slice(at + 1));
  if (!c) return null;
  if (what.startsWith("value.")) return (i) => c.value[i];
  if (what.startsWith("spread.")) return spreadOf("." + c.name, c.value);
  return null;
};
const rangeOf = (text) => {
  const found = /^(.*):([^:]*):([^:]*)$/s.exec(text), value = found && measure(found[1]);
  if (!value) return null;
  const read = (part) => { const v = part === "" ? NaN : Number(part); return Number.isNaN(v) ? null : v; };
  const low = read(found[2]), high = read(found[3]), what = found[1];
  const name = visible(what.replace(/^value\./, "").replace(/^spread\./, "spread of ").replace(/^spread$/, "spread of the reward"));
  const round = what === "length" || what === "step" ? (v) => v : five;
  const slack = what.startsWith("spread") ? 1e-4 : 0;  // worked out here of rounded values
  const from = low === null ? -Infinity : round(low) - slack * Math.abs(low), to = high === null ? Infinity : round(high) - slack * Math.abs(high);
  const exact = low !== null && low === high;
  const test = exact ? (v) => Math.abs(v - round(low)) <= slack * Math.abs(low) : (v) => v >= from && v < to;
  const said = exact ? name + " = " + digits(low) : low === null && high === null ? name + " has a value"
    : high === null ? name + " ≥ " + digits(low) : low === null ? name + " < " + digits(high) : digits(low) + " ≤ " + name + " < " + digits(high);
  return { said, test: (i) => { const v = value(i); return v !== null && v !== undefined && test(v); } };
};

// ---- the rows chosen
const ranges = () => now.in.map(rangeOf).filter((range) => range);
const choose = () => {
  const chosen = byName.has(now.component) ? [byName.get(now.component)] : data.components;
  const one = byName.has(now.component);
  const code = now.status === "" ? -1 : data.codes.indexOf(now.status), run = Number(now.run) - 1;
  const inside = ranges(), up = now.changed;
  const rows = [];
  for (let i = 0, place = 0, left = data.runs[0].n; i < data.n; i++, left--) {
    while (left <= 0) left = data.runs[++place].n;
    if (now.run !== "" && place !== run) continue;
    if (now.group !== "" && String(data.group[i] + 1) !== now.group) continue;
    if (now.signal && signal.has(data.group[i]) !== (now.signal === "with")) continue;
    if (now.left && !data.left.has(i)) continue;
    if (code >= 0 && !chosen.some((c) => c.status[i] === code)) continue;
    if (code < 0 && one && chosen[0].status[i] >= data.codes.length) continue;
    if (up && several() && !moved(i, up)) continue;
    if (inside.some((range) => !range.test(i))) continue;
    rows.push(i);
  }
  return rows;
};
const moved = (i, how) => {
  const by = data.change[i];
  return by !== null && Math.abs(by) > 1e-9 && (how === "any" || (how === "up") === (by > 0));
};

// ---- search: texts are unpacked once, and kept in small letters while they are not too many
const MOST_KEPT = 60_000_000;
const haystacks = new Map();
let kept = 0;
const textsOf = (body) => [
  ...body.p.map((m) => m[1]), ...body.c.map((m) => m[1]), ...Object.values(body.k).map((k) => k[5]),
  ...body.x.map((x) => x[1]), ...(body.a || []).map((a) => a[1]), body.o || "",
].join("\n").toLowerCase();
const unpacking = new Map();  // chunks on their way
const haystack = (number) => {
  if (haystacks.has(number)) return haystacks.get(number);
  let found = unpacking.get(number);
  if (!found) {
    found = unpackHaystack(number).finally(() => unpacking.delete(number));
    unpacking.set(number, found);
  }
  return found;
};
const unpackHaystack = async (number) => {
  const bodies = $("chunk-" + number) ? await unpack("chunk-" + number) : null;
  const texts = bodies ? bodies.map(textsOf) : data.preview.slice(number * data.chunk, (number + 1) * data.chunk).map((t) => t.toLowerCase());
  const size = texts.reduce((sum, text) => sum + text.length, 0);
  if (kept + size < MOST_KEPT) { haystacks.set(number, texts); kept += size; }
  return texts;
};
const AHEAD = 8;  // chunks that are unpacked beside the one that is searched
const SOON = 50, AGAIN = 250;  // milliseconds after which what has been found so far is shown
const search = async (words, rows, mine, soFar) => {
  const found = [], numbers = [...new Set(rows.map((i) => Math.floor(i / data.chunk)))];  // in the order of the file
  const coming = [];
  let at = 0, next = 0, due = performance.now() + SOON, told = 0;
  for (let k = 0; k < numbers.length; k++) {
    while (next < numbers.length && next < k + AHEAD) coming.push(haystack(numbers[next++]));
    let texts = coming.shift();
    if (!Array.isArray(texts)) {
      texts = await texts;
      if (mine !== ticket) return null;
    }
    if (performance.now() > due) {
      state.textContent = "Searching … " + counted(found.length) + " found";
      if (found.length > told) soFar(found.slice());
      told = found.length;
      due = performance.now() + (told ? AGAIN : SOON);
    }
    for (; at < rows.length && Math.floor(rows[at] / data.chunk) === numbers[k]; at++) if (texts[rows[at] % data.chunk].includes(words)) found.push(rows[at]);
  }
  return found;
};
let warmed = false;
const warm = async () => {  // so that what is typed is found at once
  if (warmed) return;
  warmed = true;
  for (let number = 0; number * data.chunk < data.n && kept < MOST_KEPT; number++) {
    const texts = haystack(number);
    if (!Array.isArray(texts)) await texts;
  }
  performance.mark("warm");
};
