// Graph: an entity's neighborhood as a drawing and as a list, through time; paths; what changed between two days.

import { get } from "./api.js";
import { announce, data, el, problem, svg } from "./dom.js";
import { factEntry, factList } from "./facts.js";
import { Drawing } from "./drawing.js";
import { address, go } from "./route.js";

const DAY = 86_400_000;
const FEW = 20;
const MANY = 100;

export async function show(view, parameters, signal) {
  const state = Object.fromEntries(["entity", "type", "as_of", "since", "to", "limit"].map((name) => [name, parameters.get(name) ?? ""]));
  view.append(el("h1", {}, "Graph"), form(state));
  if (!state.entity) return entities(view, signal);
  announce("Loading …");
  try {
    if (state.to) await paths(view, state, signal);
    else await neighborhood(view, state, signal);
  } catch (error) {
    if (error.name !== "AbortError") view.append(problem(error));
  }
  announce("");
}

function form(state) {
  const entity = el("input", { name: "entity", value: state.entity, required: true });
  const to = el("input", { name: "to", value: state.to });
  const time = el("input", { type: "date", name: "as_of", value: state.as_of });
  const submit = (event) => {
    event.preventDefault();
    go("graph", { entity: entity.value.trim(), to: to.value.trim(), as_of: time.value, since: state.since });
  };
  return el("form", { class: "bar", onsubmit: submit }, el("label", { class: "grow" }, "Entity", entity),
    el("label", {}, "Path to (optional)", to), el("label", {}, "As of", time), el("button", { class: "primary" }, "Show"));
}

async function entities(view, signal, cursor = "", list = el("ul", { class: "legs" })) {
  try {
    const page = await get("/api/graph/entities", { order: "mentions", titles: "exclude", limit: 100, cursor }, signal);
    list.append(...page.entities.map((one) => el("li", {},
      el("a", { href: address("graph", { entity: one.name, type: one.type }) }, data(one.name)), one.type ? ` ${one.type}` : "", ` · ${one.mentions}`)));
    if (!list.isConnected) view.append(el("h2", {}, "Most mentioned"), list);
    if (!list.childElementCount) view.append(el("p", { class: "quiet" }, "The graph is empty: add documents or facts first."));
    view.querySelector(".more")?.remove();
    if (page.next_cursor) view.append(el("button", { class: "more", type: "button", onclick: () => entities(view, signal, page.next_cursor, list) }, "Show more"));
  } catch (error) {
    if (error.name !== "AbortError") view.append(problem(error));
  }
}

async function neighborhood(view, state, signal) {
  const first = await near(state, state.entity, state.type, signal);
  const graph = { nodes: new Map(), edges: new Map(), hidden: new Set(), center: first.center.uuid };
  merge(graph, first);
  const note = el("p", { class: "quiet" });
  const canvas = area(`Neighborhood of ${first.center.name}`);
  const legend = el("div", { class: "legend", role: "group", "aria-label": "Types shown" });
  const list = el("div");
  const drawing = new Drawing(canvas, expand);
  const more = first.truncated && !state.limit
    ? el("button", { type: "button", onclick: () => go("graph", { ...state, limit: MANY }) }, "Show more neighbors") : "";
  const changes = state.since ? await changed(state, signal) : null;
  view.append(slider(state), note, changes ? colours() : "", more, legend, el("div", { class: "graph" }, canvas, list));
  await draw();

  async function expand(id) {
    const node = graph.nodes.get(id);
    if (!node) return;
    merge(graph, await near(state, node.name, node.type, signal));
    await draw();
    announce(`${graph.nodes.size} entities`);
  }
  async function draw() {
    const types = [...new Set([...graph.nodes.values()].map((one) => one.type || "(no type)"))].sort();
    legend.replaceChildren(...types.map(entry));
    note.textContent = `${graph.nodes.size} entities, ${graph.edges.size} facts shown${first.truncated ? `, of ${first.total} neighbors` : ""}. Click an entity for its neighbors.`;
    listed(list, graph, changes, expand);
    await drawing.show(withChanges(graph, changes), changes);
  }
  function entry(type) {
    const dot = svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("circle", { cx: 5, cy: 5, r: 5, fill: drawing.colour(type) }));
    const button = el("button", { type: "button", "aria-pressed": String(!graph.hidden.has(type)), onclick: toggle }, dot, type);
    function toggle() {
      if (!graph.hidden.delete(type)) graph.hidden.add(type);
      draw();
    }
    return button;
  }
  signal.addEventListener("abort", () => drawing.close());
}

// A canvas has no elements: the table beside it says the same to everybody.
function area(label) {
  return el("div", { class: "canvas", role: "application", "aria-label": `${label}: arrow keys choose an entity, Enter shows its neighbors; the table says the same` });
}

function colours() {
  return el("p", { class: "quiet" }, "Facts ", el("span", { class: "good" }, "added"), ", ", el("span", { class: "bad" }, "ended"), " or ",
    el("span", { class: "warn" }, "changed"), " between the two dates are drawn in these colours.");
}

// What is drawn: also the facts that have ended since, and where they led.
function withChanges(graph, changes) {
  if (!changes) return graph;
  const drawn = { ...graph, nodes: new Map(graph.nodes), edges: new Map(graph.edges) };
  for (const [fact] of changes.facts) {
    drawn.edges.set(fact.uuid, fact);
    for (const end of [fact.source_entity, fact.target_entity]) if (end && !drawn.nodes.has(end.uuid)) drawn.nodes.set(end.uuid, end);
  }
  return drawn;
}

function near(state, name, type, signal) {
  const as_of = state.as_of ? `${state.as_of}T23:59:59Z` : "";
  return get(`/api/graph/neighborhood/${encodeURIComponent(name)}`, { type, as_of, limit: state.limit || FEW }, signal);
}

function merge(graph, found) {
  for (const node of [found.center, ...found.nodes]) graph.nodes.set(node.uuid, node);
  for (const edge of found.edges) graph.edges.set(edge.uuid, edge);
}

function slider(state) {
  // The last ten years, by the day; the text fields take any day.
  const today = Math.floor(Date.now() / DAY);
  const days = 3650;
  const at = state.as_of ? Math.floor(Date.parse(`${state.as_of}T00:00:00Z`) / DAY) : today;
  const shown = el("output", {}, state.as_of || "now");
  const range = el("input", { type: "range", min: today - days, max: today, value: at, "aria-label": "As of" });
  const text = (value) => (Number(value) >= today ? "" : new Date(value * DAY).toISOString().slice(0, 10));
  range.addEventListener("input", () => { shown.textContent = text(range.value) || "now"; });
  range.addEventListener("change", () => go("graph", { ...state, as_of: text(range.value) }));
  const since = el("input", { type: "date", value: state.since });
  since.addEventListener("change", () => go("graph", { ...state, since: since.value }));
  return el("div", { class: "slider" }, el("label", {}, el("span", {}, "As of ", shown), range), el("label", {}, "Show what changed since", since));
}

async function changed(state, signal) {
  const to = state.as_of ? `${state.as_of}T23:59:59Z` : new Date().toISOString();
  const diff = await get("/api/graph/diff", { from: `${state.since}T00:00:00Z`, to, entity: state.entity }, signal);
  const kinds = new Map();
  const facts = [];
  const note = (fact, kind) => { kinds.set(fact.uuid, kind); facts.push([fact, kind]); };
  diff.added.forEach((fact) => note(fact, "added"));
  diff.ended.forEach((fact) => note(fact, "ended"));
  diff.changed.forEach((pair) => [...pair.before, ...pair.after].forEach((fact) => note(fact, "changed")));
  return { kinds, facts };
}

function listed(list, graph, changes, expand) {
  const shown = [...graph.nodes.values()].filter((node) => !graph.hidden.has(node.type || "(no type)"));
  const facts = [...graph.edges.values()];
  list.replaceChildren(
    changes ? el("section", {}, el("h2", {}, "Changed"), changes.facts.length
      ? el("ul", { class: "facts" }, changes.facts.map(([fact, kind]) => factEntry(fact, kind))) : el("p", {}, "Nothing.")) : "",
    el("h2", {}, "Entities"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["Entity", "Type", "Mentions", "Actions"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, shown.map((node) => el("tr", {}, el("td", {}, el("a", { href: address("graph", { entity: node.name, type: node.type }) }, data(node.name))),
        el("td", {}, node.type || "–"), el("td", {}, String(node.mentions)),
        el("td", {}, el("button", { type: "button", onclick: () => expand(node.uuid), "aria-label": `Show neighbors of ${node.name}` }, "Neighbors"))))))),
    el("h2", {}, "Facts"), factList(facts));
}

async function paths(view, state, signal) {
  const as_of = state.as_of ? `${state.as_of}T23:59:59Z` : "";
  const found = await get("/api/graph/paths", { source: state.entity, target: state.to, as_of }, signal);
  if (!found.paths.length) {
    const several = [...found.source_homonyms, ...found.target_homonyms];
    view.append(el("p", { class: "card" }, several.length ? "Several entities have that name: " : "No path joins them.", several.map((one) => [data(`${one.name} (${one.type || "no type"})`), " "])));
  }
  if (found.paths.length) await drawPaths(view, found.paths, signal);
  for (const path of found.paths) {
    view.append(el("section", { class: "card" }, el("h2", {}, path.nodes.map((node, at) => [at ? " → " : "", data(node.name)])), factList(path.facts)));
  }
}

async function drawPaths(view, all, signal) {
  const graph = { nodes: new Map(), edges: new Map(), hidden: new Set(), center: all[0].nodes[0].uuid };
  for (const path of all) {
    for (const node of path.nodes) graph.nodes.set(node.uuid, node);
    for (const fact of path.facts) graph.edges.set(fact.uuid, fact);
  }
  const canvas = area("Paths");
  const drawing = new Drawing(canvas, (id) => {
    const node = graph.nodes.get(id);
    if (node) go("graph", { entity: node.name, type: node.type });
  });
  signal.addEventListener("abort", () => drawing.close());
  view.append(canvas);
  await drawing.show(graph, null);
}
