// Search: one box, mode and time; results that explain their scores; how each leg ended.

import { post } from "./api.js";
import { announce, data, el, marked, problem, svg } from "./dom.js";
import { factList } from "./facts.js";
import { openPassage } from "./passage.js";
import { go } from "./route.js";

const MODES = [["comprehensive", "Everything"], ["hybrid", "Meaning and words"], ["vector", "Meaning"], ["text", "Words"], ["graph", "Facts"]];
const STATUS = { OK: "good", NO_MATCH: "", DEGRADED: "warn", TIMED_OUT: "bad", UNAVAILABLE: "bad", DISABLED: "" };
const COLOURS = { vector: "var(--accent)", graph: "#7c3aed", text: "#b45309", expansion: "#15803d" };

export async function show(view, parameters, signal) {
  const state = { q: parameters.get("q") ?? "", mode: parameters.get("mode") ?? "comprehensive", as_of: parameters.get("as_of") ?? "" };
  const results = el("div", { "aria-live": "polite" });
  view.append(el("h1", {}, "Search"), form(state), results);
  if (!state.q) {
    results.append(el("p", { class: "quiet" }, "Ask for anything that your documents or facts say, today or as of a day."));
    return;
  }
  announce("Searching …");
  const body = { query: state.q, limit: 10 };
  if (state.as_of) body.as_of = `${state.as_of}T23:59:59Z`;
  if (state.mode === "comprehensive") body.include = ["results", "graph_results", "legs"];
  try {
    const answer = await post(`/api/search/${state.mode}`, body, signal);
    results.replaceChildren(...answered(answer, state));
    announce(`${(answer.results ?? []).length} results`);
  } catch (error) {
    if (error.name !== "AbortError") results.replaceChildren(problem(error));
    announce("");
  }
}

function form(state) {
  const query = el("input", { name: "q", type: "search", value: state.q, required: true, maxlength: 4096 });
  const mode = el("select", { name: "mode" }, MODES.map(([value, name]) => el("option", { value, selected: value === state.mode }, name)));
  const time = el("input", { name: "as_of", type: "date", value: state.as_of });
  const submit = (event) => {
    event.preventDefault();
    go("search", { q: query.value, mode: mode.value === "comprehensive" ? "" : mode.value, as_of: time.value });
  };
  return el("form", { class: "bar", role: "search", onsubmit: submit },
    el("label", { class: "grow" }, "Question", query), el("label", {}, "Search by", mode), el("label", {}, "As of", time),
    el("button", { class: "primary" }, "Search"));
}

function answered(answer, state) {
  const found = answer.results ?? [];
  const facts = state.mode === "graph" ? found : answer.graph_results ?? [];
  const passages = state.mode === "graph" ? [] : found;
  const parts = [legs(answer.legs)];
  if (!found.length && !facts.length) parts.push(nothing(answer.legs), nearest(answer.nearest ?? [], state));
  parts.push(el("div", { class: facts.length && passages.length ? "columns" : "" },
    passages.length ? el("section", { "aria-label": "Results" }, passages.map((hit) => result(hit, state))) : "",
    facts.length ? el("section", {}, el("h2", {}, "Facts"), factList(facts)) : ""));
  return parts;
}

function nothing(legs) {
  const failed = legs.filter((leg) => ["TIMED_OUT", "UNAVAILABLE", "DEGRADED"].includes(leg.status));
  return el("p", { class: "card" }, failed.length
    ? "Nothing was found, but not every part could look: see above."
    : "Nothing in this space matches the question.");
}

function nearest(hits, state) {
  if (!hits.length) return "";
  return el("section", { "aria-label": "Nearest passages" }, el("h2", {}, "Nearest, but not considered relevant"), hits.map((hit) => result(hit, state)));
}

function legs(all) {
  return el("ul", { class: "legs", "aria-label": "How each part of the search ended" }, all.map((leg) =>
    el("li", {}, `${leg.name} `, el("span", { class: STATUS[leg.status] ?? "" }, leg.status), leg.reason ? ` ${leg.reason}` : "", ` · ${Math.round(leg.took_ms)} ms`, leg.cached ? " · cached" : "")));
}

function result(hit, state) {
  const open = () => openPassage({ chunkId: hit.id, documentId: hit.document_id, title: hit.title });
  return el("article", { class: "card" },
    el("h3", {}, el("button", { type: "button", class: "cite", onclick: open }, data(hit.title || hit.document_id))),
    el("p", { dir: "auto" }, marked(hit.content, state.q)),
    score(hit), factList(hit.facts ?? []));
}

function score(hit) {
  const parts = Object.entries(hit.scores ?? {}).map(([name, part]) =>
    typeof part === "object" && part ? { name, share: part.share, text: `${name} ${part.rank ? `#${part.rank} ` : ""}${part.share.toFixed(3)}` }
      : typeof part === "number" ? { name, share: 0, text: `${name} ${part.toFixed(3)}` } : null).filter(Boolean);
  let left = 0;
  const bars = parts.filter((part) => part.share > 0).map((part) => {
    const bar = svg("rect", { x: left, y: 0, width: part.share * 100, height: 10, fill: COLOURS[part.name] ?? "#78716c" });
    left += part.share * 100;
    return bar;
  });
  return el("details", { class: "quiet" },
    el("summary", {}, `Score ${hit.score.toFixed(3)} `, data(hit.document_id)),
    bars.length ? el("div", { class: "meter" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, bars)) : "",
    el("ul", {}, parts.map((part) => el("li", {}, part.text))));
}
