// ---- texts made readable: markdown, formulas and code as elements that are made here, one by one, never as markup
let loading;
const libraries = () => loading ||= (async () => {
  const text = await unpackText("libraries");
  const policy = window.trustedTypes ? trustedTypes.createPolicy("libraries", { createScript: (script) => script }) : null;
  const script = el("script");
  script.text = policy ? policy.createScript(text) : text;
  document.head.append(script);
  script.remove();
  return parser();
})();

const MOST_CODE = 20_000, MOST_FORMULA = 2_000, MOST_FORMULAS = 300;
let markdown;
const parser = () => {
  markdown = window.markdownit({ html: false, linkify: false, typographer: false, breaks: true, maxNesting: 40 });
  markdown.disable(["code", "lheading", "reference", "html_block", "html_inline", "autolink"], true);
  markdown.inline.ruler.before("escape", "formula", formulaInline);
  markdown.block.ruler.before("fence", "formula", formulaBlock, { alt: ["paragraph", "blockquote", "list"] });
};
const DELIMITERS = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];
const boxed = (src, at) => {  // \boxed{...} also stands outside formulas; returns where it ends, -1 for nowhere
  if (!src.startsWith("\\boxed{", at)) return -1;
  for (let depth = 0, i = at + 6; i < src.length && i < at + MOST_FORMULA; i++) {
    if (src[i] === "\\") i++;
    else if (src[i] === "{") depth++;
    else if (src[i] === "}" && --depth === 0) return i + 1;
  }
  return -1;
};
const formulaInline = (s, silent) => {
  const end = boxed(s.src, s.pos);
  if (end > 0 && end <= s.posMax) {
    if (!silent) s.push("formula", "", 0).content = s.src.slice(s.pos, end);
    s.pos = end;
    return true;
  }
  const kind = DELIMITERS.find(([open]) => s.src.startsWith(open, s.pos));
  if (!kind) return false;
  const [open, close, display] = kind, from = s.pos + open.length;
  let to = s.src.indexOf(close, from);
  while (to > 0 && open === "$" && s.src[to - 1] === "\\") to = s.src.indexOf(close, to + 1);
  if (to <= from || to + close.length > s.posMax || to - from > MOST_FORMULA) return false;
  const tex = s.src.slice(from, to);
  if (open === "$" && (/^\s|\s$|\n\s*\n/.test(tex) || /[\dA-Za-z]/.test(s.src[to + 1] || ""))) return false;  // prices, and shell variables
  if (!silent) s.push(display ? "formula_block" : "formula", "", 0).content = tex;
  s.pos = to + close.length;
  return true;
};
const formulaBlock = (s, start, end, silent) => {
  const at = s.bMarks[start] + s.tShift[start], kind = DELIMITERS.find(([open, , display]) => display && s.src.startsWith(open, at));
  if (!kind) return false;
  const to = s.src.indexOf(kind[1], at + 2);
  if (to < 0 || to > s.eMarks[end - 1] || to - at > MOST_FORMULA) return false;
  let line = start;
  while (line < end && s.eMarks[line] < to) line++;
  if (s.src.slice(to + 2, s.eMarks[line]).trim() !== "") return false;
  if (silent) return true;
  s.push("formula_block", "", 0).content = s.src.slice(at + 2, to);
  s.line = line + 1;
  return true;
};

// formulas: what Temml makes is kept only if every element and attribute is one of MathML's harmless ones
const MATHML = new Set(("math semantics mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom msub msup msubsup munder "
  + "mover munderover mmultiscripts mprescripts none mtable mtr mtd menclose").split(" "));
const ATTRIBUTES = new Set(("display displaystyle scriptlevel mathvariant mathcolor mathbackground mathsize stretchy symmetric fence separator form "
  + "largeop movablelimits accent accentunder lspace rspace minsize maxsize linethickness width height depth voffset columnalign rowalign "
  + "columnspacing rowspacing columnlines rowlines notation xmlns class").split(" "));
const harmless = (made) => {
  for (const each of made.querySelectorAll("*")) {
    if (!MATHML.has(each.localName)) return false;
    const frame = [...each.style].every((property) => /^(padding|border)/.test(property));  // that of \boxed
    for (const name of each.getAttributeNames()) if (!ATTRIBUTES.has(name) && !(name === "style" && frame)) each.removeAttribute(name);
  }
  return true;
};
const formula = (tex, display) => {
  const made = el("span", null, display ? "formula" : "");
  try {
    window.temml.render(tex, made, { displayMode: display, throwOnError: true, trust: false, strict: false, maxExpand: 100, maxSize: [20, 300], macros: Object.create(null) });
    if (harmless(made)) return made;
  } catch { /* shown as it is */ }
  return el("code", display ? "$$" + tex + "$$" : "$" + tex + "$");
};

const code = (text, language) => {
  const made = el("code");
  const add = (node, under) => {
    for (const child of node.children) {
      if (typeof child === "string") { under.append(child); continue; }
      const part = child.scope ? el("span", null, "hl-" + String(child.scope).split(".")[0].replace(/[^a-z_-]/g, "")) : under;
      if (part !== under) under.append(part);
      add(child, part);
    }
  };
  try {
    if (language && text.length <= MOST_CODE && window.hljs.getLanguage(language)) {
      add(window.hljs.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode, made);
      if (made.textContent === text) return made;
    }
  } catch { /* shown plain */ }
  made.textContent = text;
  return made;
};
const listing = (text, language) => { const made = el("pre", null, "code"); made.append(code(text, language)); return made; };

const TAGS = new Set("p ul ol li blockquote table thead tbody tr th td em strong s".split(" "));
const build = (tokens, under) => {
  const stack = [under];
  let formulas = 0;
  const walk = (list) => list.forEach((token) => {
    const top = stack[stack.length - 1];
    if (token.type === "inline") walk(token.children);
    else if (token.nesting === 1) {
      let made = top;
      if (token.type === "heading_open") made = el("p", null, "heading");
      else if (token.type === "link_open") { made = el("span", null, "link"); made.dataset.to = visible(token.attrGet("href") || ""); }
      else if (TAGS.has(token.tag) && !token.hidden) made = el(token.tag);
      if (made.localName === "ol" && /^\d{1,6}$/.test(token.attrGet("start") || "")) made.start = Number(token.attrGet("start"));
      if (made !== top) top.append(made);
      stack.push(made);
    } else if (token.nesting === -1) {
      const made = stack.pop();
      // no link leads anywhere: its address stands beside it
      if (token.type === "link_close" && made.dataset.to !== made.textContent) made.append(el("span", " ⟨" + made.dataset.to + "⟩", "low"));
      if (token.type === "paragraph_close" && token.hidden && top.lastChild) top.append("\n");
    } else if (token.type === "formula" || token.type === "formula_block") {
      const display = token.type === "formula_block";
      top.append(++formulas > MOST_FORMULAS ? el("code", token.content) : formula(token.content, display));
    } else if (token.type === "fence") top.append(listing(token.content.replace(/\n$/, ""), token.info.trim().split(/\s+/)[0].toLowerCase()));
    else if (token.type === "code_inline") top.append(el("code", token.content));
    else if (token.type === "softbreak" || token.type === "hardbreak") top.append(el("br"));
    else if (token.type === "hr") top.append(el("hr"));
    else if (token.type === "image") top.append(el("span", "[image: " + token.content + "] ⟨" + visible(token.attrGet("src") || "") + "⟩", "low"));
    else if (token.content) top.append(token.content);
  });
  walk(tokens);
};

// completions of code tasks are often code without a fence
const LIKE_CODE = /^\s*(def |class |import |from \S+ import |return\b|@\w|(if|for|while|elif|else|with|try|except)\b.*:\s*$|#include|public |private |func |fn |let |const |var |[{}]+;?\s*$|.*;\s*$)/;
const isCode = (text) => {
  if (text.includes("```")) return false;
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.length > 1 && lines.filter((line) => LIKE_CODE.test(line.slice(0, 200))).length >= 0.4 * lines.length;
};
const languageOf = (text) => /^\s*(def|from|import|class) .*/m.test(text) && !/;\s*$/m.test(text) ? "python" : /#include/.test(text) ? "cpp" : /^\s*(public|private) /m.test(text) ? "java" : /\b(let|const|function)\b/.test(text) ? "javascript" : "";

// one text, as it is or readable
const shown = (text) => {
  const safe = visible(text);
  if (now.raw || !markdown) return el("pre", safe);
  const made = el("div", null, "readable");
  made.dir = "auto";
  try {
    if (isCode(safe)) made.append(listing(safe, languageOf(safe))); else build(markdown.parse(safe, Object.create(null)), made);
  } catch { return el("pre", safe); }
  return made;
};

// ---- hits: every place of the searched words is marked
const mark = (under) => {
  const words = now.q.trim().toLowerCase();
  if (!words) return null;
  const formulas = (node) => node.localName === "math" ? NodeFilter.FILTER_REJECT : node.nodeType === 3 ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  const walker = document.createTreeWalker(under, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, formulas), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  let first = null, count = 0;
  for (let node of nodes) {
    for (;;) {
      const at = node.data.toLowerCase().indexOf(words);
      if (at < 0 || ++count > 500 || node.data.toLowerCase().length !== node.data.length) break;
      const hit = node.splitText(at);
      node = hit.splitText(words.length);
      const made = el("mark");
      hit.replaceWith(made);
      made.append(hit);
      first ||= made;
    }
  }
  return first;
};

// ---- the difference of two texts
// What two unlike texts have in common by chance, a comma here and a "the" there, makes their difference unreadable: a common
// part that is no longer than what was changed on either side of it counts as changed.
const changesOf = (parts) => {
  const list = parts.map((part) => part.added ? { gone: "", come: part.value } : part.removed ? { gone: part.value, come: "" } : { same: part.value });
  const changed = (part) => part && part.same === undefined;
  for (let k = 0; k < list.length; k++) {
    while (changed(list[k]) && changed(list[k + 1])) { const next = list.splice(k + 1, 1)[0]; list[k].gone += next.gone; list[k].come += next.come; }
  }
  const size = (part) => Math.max(part.gone.length, part.come.length);
  for (let k = 1; k < list.length - 1; k++) {
    const [before, part, after] = [list[k - 1], list[k], list[k + 1]];
    if (changed(part) || part.same.trim().length > Math.min(size(before), size(after))) continue;
    list.splice(k - 1, 3, { gone: before.gone + part.same + after.gone, come: before.come + part.same + after.come });
    k = Math.max(0, k - 3);  // what stood before may be short beside that
  }
  return list;
};
const difference = (before, after) => {
  const made = el("pre", null, "diff"), limits = { timeout: 400 };
  const parts = window.Diff.diffWordsWithSpace(before, after, limits) || window.Diff.diffLines(before, after, limits);
  if (!parts) { made.textContent = after; return [el("p", "The texts are too different to be set against each other.", "small"), made]; }
  changesOf(parts).forEach((part) => {
    if (part.same !== undefined) made.append(part.same);
    else made.append(...(part.gone ? [el("del", part.gone)] : []), ...(part.come ? [el("ins", part.come)] : []));
  });
  return [made];
};
