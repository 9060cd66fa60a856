// A dialog that shows a passage with the cited characters marked, and the passages around it.

import { get } from "./api.js";
import { data, el, problem } from "./dom.js";

const AROUND = 2;
const AT_ONCE = 20;

/** Opens the passage of a chunk. `start` and `end` are characters of the document's text, or null. */
export async function openPassage({ chunkId, documentId, title, start = null, end = null, quote = "" }) {
  const body = el("div", { class: "passage" }, "Loading …");
  const more = el("div");
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = el("dialog", { "aria-label": `Passage of ${title}`, onclose: () => dialog.remove() },
    el("header", {}, el("h2", {}, data(title || documentId)), close),
    el("p", { class: "quiet" }, data(documentId)), body, more);
  document.body.append(dialog);
  dialog.showModal();
  try {
    const ids = documentId ? (await get(`/api/documents/${encodeURIComponent(documentId)}`)).chunk_ids : [chunkId];
    const at = Math.max(ids.indexOf(chunkId), 0);
    if (!ids.includes(chunkId)) ids.splice(0, ids.length, chunkId);
    let first = Math.max(at - AROUND, 0);
    let last = Math.min(at + AROUND + 1, ids.length);
    body.replaceChildren(...(await passages(ids.slice(first, last), { chunkId, start, end, quote })));
    body.querySelector("mark")?.scrollIntoView({ block: "center" });
    const button = el("button", { type: "button", onclick: next }, "Show more of the document");
    async function next() {
      const from = last;
      last = Math.min(last + AT_ONCE, ids.length);
      body.append(...(await passages(ids.slice(from, last), {})));
      if (last >= ids.length) button.remove();
    }
    if (last < ids.length) more.append(button);
  } catch (error) {
    body.replaceChildren(problem(error), quote ? el("blockquote", {}, data(quote)) : "");
  }
}

async function passages(ids, cited) {
  if (!ids.length) return [];
  const { chunks } = await get("/api/chunks", { id: ids });
  return chunks.map((chunk) => el("p", { dir: "auto" }, shown(chunk, cited)));
}

function shown(chunk, { chunkId, start, end, quote }) {
  if (chunk.id !== chunkId) return chunk.content;
  // Positions are counted in code points, JavaScript counts UTF-16 units.
  const points = [...chunk.content];
  let from = start === null ? -1 : start - chunk.start_char;
  let to = end === null ? -1 : end - chunk.start_char;
  if (quote && (from < 0 || points.slice(from, to).join("") !== quote)) {
    const found = chunk.content.indexOf(quote);
    from = found < 0 ? -1 : [...chunk.content.slice(0, found)].length;
    to = from + [...quote].length;
  }
  if (from < 0 || to <= from) return el("mark", {}, chunk.content);
  return [points.slice(0, from).join(""), el("mark", {}, points.slice(from, to).join("")), points.slice(to).join("")];
}
