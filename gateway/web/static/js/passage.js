// A dialog that shows a passage with the cited characters marked, and the passages around it.

import { get } from "./api.js";
import { data, day, el, problem } from "./dom.js";

const AROUND = 2;
const AT_ONCE = 20;

/** Opens a document at the passage of a chunk, by default at its beginning. `start` and `end` are characters of the
 * document's text, or null. `onClose` is called when it is closed. */
export async function openPassage({ chunkId = "", documentId, title, start = null, end = null, quote = "", onClose = null }) {
  const about = el("div");
  const body = el("div", { class: "passage" }, "Loading …");
  const more = el("div");
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = el("dialog", { "aria-label": `Passage of ${title || documentId}`, onclose: closed },
    el("header", {}, el("h2", {}, data(title || documentId)), close),
    el("p", { class: "quiet" }, data(documentId)), about, body, more);
  function closed() {
    dialog.remove();
    onClose?.();
  }
  document.body.append(dialog);
  dialog.showModal();
  try {
    const whole = documentId ? await get(`/api/documents/${encodeURIComponent(documentId)}`) : null;
    if (whole) about.append(details(whole));
    const ids = whole ? whole.chunk_ids : [chunkId];
    const at = Math.max(ids.indexOf(chunkId), 0);
    // A passage of another version than the current one is shown alone.
    if (chunkId && !ids.includes(chunkId)) ids.splice(0, ids.length, chunkId);
    const first = Math.max(at - AROUND, 0);
    let last = Math.min(at + AROUND + 1, ids.length);
    body.replaceChildren(...(await passages(ids.slice(first, last), { chunkId, start, end, quote })));
    body.querySelector("mark")?.scrollIntoView({ block: "center" });
    const button = el("button", { type: "button", onclick: next }, "Show more of the document");
    async function next() {
      try {
        const end = Math.min(last + AT_ONCE, ids.length);
        body.append(...(await passages(ids.slice(last, end), {})));
        last = end;
        more.replaceChildren(last < ids.length ? button : "");
      } catch (error) {
        more.replaceChildren(problem(error), button);
      }
    }
    if (last < ids.length) more.append(button);
  } catch (error) {
    body.replaceChildren(problem(error), quote ? el("blockquote", {}, data(quote)) : "");
  }
}

// What is known of a document. Its versions are read when somebody looks.
function details(whole) {
  const entries = Object.entries(whole.metadata ?? {});
  const versions = el("ul", { "aria-label": "Versions" });
  const opened = (event) => { if (event.target.open && !versions.childElementCount) list(whole.id, versions); };
  return el("details", { class: "quiet", ontoggle: opened },
    el("summary", {}, `Version ${whole.version} · holds since ${day(whole.valid_at)} · ${whole.chunk_ids.length} passages`),
    el("ul", {}, whole.source ? el("li", {}, "source: ", data(whole.source)) : "",
      entries.map(([name, value]) => el("li", {}, data(name), ": ", data(typeof value === "string" ? value : JSON.stringify(value))))), versions);
}

async function list(id, versions) {
  try {
    const page = await get("/api/document-versions", { document_id: id, limit: 200 });
    versions.replaceChildren(...page.versions.map(version), page.next_cursor ? el("li", {}, "older ones: braid documents versions") : "");
  } catch (error) {
    versions.replaceChildren(el("li", {}, problem(error)));
  }
}

function version(one) {
  const until = one.invalid_at ? day(one.invalid_at) : "now";
  return el("li", {}, `version ${one.version}: ${day(one.valid_at)} → ${until}, ${one.chunk_count} passages `, data(one.title));
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
