// Facts as a list: sentence, when it holds, and its sources as links to the passages.

import { data, el, period } from "./dom.js";
import { openPassage } from "./passage.js";
import { address } from "./route.js";

/** A fact as a list's entry. `kind` is added, ended or changed where the list shows differences. */
export function factEntry(fact, kind = "") {
  return el("li", { class: kind },
    kind ? el("strong", { class: { added: "good", ended: "bad", changed: "warn" }[kind] }, `${kind}: `) : "",
    data(fact.fact), " ", el("span", { class: "quiet" }, `(${period(fact)})`),
    fact.origin === "local" || fact.mentioned_at ? el("span", { class: "quiet" }, " · mention") : "",
    el("div", { class: "quiet" }, ends(fact), (fact.sources ?? []).map(source)));
}

function ends(fact) {
  return [fact.source_entity, fact.target_entity].filter(Boolean).map((end) =>
    [el("a", { href: address("graph", { entity: end.name, type: end.type }) }, data(end.name)), " "]);
}

function source(one) {
  const open = () => openPassage({ chunkId: one.chunk_id, documentId: one.document_id, title: one.document_title, quote: one.quote });
  return el("button", { type: "button", class: "cite", onclick: open }, "← ", data(one.document_title || one.document_id));
}

/** A list of facts, or nothing. */
export function factList(facts, kind = "") {
  return facts.length ? el("ul", { class: "facts" }, facts.map((fact) => factEntry(fact, kind))) : "";
}
