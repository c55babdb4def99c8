// ---- the page's elements, its colours and its packed data
// Everything from the data reaches the page through textContent (or a value that is a number): never as markup. The
// policy for trusted types refuses strings as markup, so a slip would be an error and no script.
const $ = (id) => document.getElementById(id);
const root = document.documentElement;

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

const fromBase64 = Uint8Array.fromBase64 || ((packed) => {
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
});
const unpackText = (id) => {
  const { readable, writable } = new DecompressionStream("gzip"), writer = writable.getWriter();
  writer.write(fromBase64($(id).textContent)).then(() => writer.close()).catch(() => {});  // what is broken, the reader says
  return new Response(readable).text();
};
const unpack = async (id) => JSON.parse(await unpackText(id));
const cache = new Map();  // the chunks used last
const chunk = (number) => {
  let found = cache.get(number);
  if (found) cache.delete(number); else found = $("chunk-" + number) ? unpack("chunk-" + number) : Promise.resolve(null);
  cache.set(number, found);
  if (cache.size > 24) cache.delete(cache.keys().next().value);
  return found;
};
// the texts of a row; null where the page does not hold them
const bodyOf = async (i) => { const bodies = await chunk(Math.floor(i / data.chunk)); return bodies && bodies[i % data.chunk]; };

const el = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (name) made.className = name;
  return made;
};
const press = (text, act, name) => {
  const made = el("button", text, name);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
};
const option = (value, text) => { const made = el("option", text); made.value = value; return made; };
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) => String(text).replace(HIDDEN, (c) => "⟨U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
const digits = (value, count = 4) => value === null || value === undefined ? "–" : (Object.is(value, -0) ? "0" : String(Number(value.toPrecision(count)))).replace("-", "−");
const signed = (value) => value === null || value === undefined ? "–" : (value > 0 ? "+" : "") + digits(value, 3);
const counted = (n) => n.toLocaleString("en");

// ---- the table's columns, and what is worked out of them
const EPSILON = 1e-4;  // added to a group's deviation, as trainers do
let data, members, signal, byName;
const several = () => data.runs.length > 1;
const runOf = (i) => { let run = 0; while (i >= data.runs[run].n) i -= data.runs[run++].n; return run; };

const prepare = (index) => {
  data = index;
  data.line ||= Array.from({ length: data.n }, (_, i) => i + 1);
  data.index ||= new Array(data.n).fill(-1);
  data.step ||= new Array(data.n).fill(-1);
  data.left = new Set(data.left);
  byName = new Map();
  data.components.forEach((c) => { c.label = visible(c.name); byName.set(c.name, c); });
  members = new Map();
  for (let i = 0; i < data.n; i++) {
    const list = members.get(data.group[i]);
    if (list) list.push(i); else members.set(data.group[i], [i]);
  }
  data.centred = new Array(data.n).fill(null);
  data.normalised = new Array(data.n).fill(null);
  signal = new Set();
  members.forEach((list, group) => {
    const { mean, std, known } = moments(list, data.reward);
    if (std === null) return;
    known.forEach((i) => {
      data.centred[i] = std === 0 ? 0 : data.reward[i] - mean;
      data.normalised[i] = data.centred[i] / (std + EPSILON);
    });
    if (std > 0) signal.add(group);
  });
  if (several()) {
    data.change = new Array(data.n).fill(null);
    data.after = new Map();  // the first run's rows, to the same rows of the later ones
    data.twin.forEach((twin, i) => {
      if (twin < 0) return;
      if (data.reward[i] !== null && data.reward[twin] !== null) data.change[i] = data.reward[i] - data.reward[twin];
      if (data.after.has(twin)) data.after.get(twin).push(i); else data.after.set(twin, [i]);
    });
  }
};
const moments = (list, values) => {
  const known = list.filter((i) => values[i] !== null);
  const mean = known.length ? known.reduce((sum, i) => sum + values[i], 0) / known.length : null;
  if (known.length < 2) return { mean, std: null, known };
  const flat = known.every((i) => values[i] === values[known[0]]);
  const square = known.reduce((sum, i) => sum + (values[i] - mean) ** 2, 0);
  return { mean, std: flat ? 0 : Math.sqrt(square / (known.length - 1)), known };
};
const spreads = new Map();
const spreadOf = (name, values) => {
  let found = spreads.get(name);
  if (!found) {
    found = new Map();
    members.forEach((list, group) => found.set(group, moments(list, values).std));
    spreads.set(name, found);
  }
  return (i) => found.get(data.group[i]);
};
// a row's name in addresses: its run, its line, its place in the line, and its step where a trainer wrote several
const nameOf = (i) => (several() ? runOf(i) + 1 + ":" : "") + data.line[i] + (data.index[i] >= 0 ? "." + data.index[i] : "") + (data.step[i] >= 0 ? "@" + data.step[i] : "");
let named;
const rowCalled = (name) => {
  if (!named) {
    named = new Map();
    for (let i = data.n - 1; i >= 0; i--) { named.set(nameOf(i).split("@")[0], i); named.set(nameOf(i), i); }
  }
  return named.has(name) ? named.get(name) : -1;
};
