// Elements from data. All text becomes text nodes: nothing that Braid holds is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children (nodes, strings, lists of them; null and false are left out). */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  set(node, attributes);
  node.append(...flat(children));
  return node;
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...flat(children));
  return node;
}

function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
}

function flat(children) {
  return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
}

/** Data of users within a sentence: its writing direction stays its own. */
export function data(text) {
  return el("bdi", {}, text);
}

const COMMON = new Set("a an and are as at be by do does for from has have how in is it of on or that the this to was were what when where which who whose why will with".split(" "));

/** Text with the words of a query marked; words that are everywhere are not. */
export function marked(text, query) {
  const words = (query.match(/[\p{L}\p{N}]{2,}/gu) ?? []).map(folded).filter((word) => !COMMON.has(word));
  if (!words.length) return [text];
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!words.includes(folded(match[0]))) continue;
    parts.push(text.slice(end, match.index), el("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function folded(word) {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The day of an ISO instant, or a dash. */
export function day(instant) {
  return instant ? instant.slice(0, 10) : "–";
}

/** When a fact holds, in words. */
export function period(fact) {
  if (fact.mentioned_at) return `mentioned ${day(fact.mentioned_at)}`;
  if (fact.event) return `on ${day(fact.valid_at)}`;
  if (!fact.valid_at && !fact.invalid_at) return "undated";
  return `${fact.valid_at ? day(fact.valid_at) : "…"} → ${fact.invalid_at ? day(fact.invalid_at) : "now"}`;
}

/** A line for people who cannot see what has changed on the page, and for those who can. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Resolves after a time, and rejects as an aborted request does when the signal comes first. */
export function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    });
  });
}

/** What went wrong, as a card. */
export function problem(error) {
  return el("div", { class: "card bad", role: "alert" }, error.message || String(error));
}
