// Draws a graph with sigma over graphology, which are loaded when the first one is drawn. A canvas has no elements: what
// it shows is also in `window.braidDrawing` for tests, and in the list below it for everybody.

import { announce } from "./dom.js";

const SCRIPTS = ["/assets/vendor/graphology-0.26.0.umd.min.js", "/assets/vendor/sigma-3.0.3.min.js"];
const COLOURS = ["#0e7490", "#b45309", "#6d28d9", "#15803d", "#be123c", "#4338ca", "#a16207", "#0f766e", "#a21caf", "#64748b"];
const CHANGES = { added: "#16a34a", ended: "#dc2626", changed: "#d97706" };
const ROUNDS = 120;
let loaded = null;

function load() {
  loaded ??= SCRIPTS.reduce((before, source) => before.then(() => script(source)), Promise.resolve());
  return loaded;
}

function script(source) {
  return new Promise((resolve, reject) => {
    const node = document.createElement("script");
    node.src = source;
    node.onload = resolve;
    node.onerror = () => reject(new Error("The drawing's library could not be loaded."));
    document.head.append(node);
  });
}

// Marks that turn the direction of text around: a canvas cannot isolate them as HTML does.
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A drawing that is used by mouse or by keyboard: arrow keys choose an entity, Enter does what a click does. */
export class Drawing {
  constructor(container, onClick) {
    this.container = container;
    this.onClick = onClick;
    this.types = [];
    this.places = new Map();
    this.chosen = null;
    container.tabIndex = 0;
    container.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) this.choose(step);
    else if (event.key === "Enter" && this.chosen) this.onClick(this.chosen);
    else return;
    event.preventDefault();
  }

  /** Marks the next or the previous entity, and says which one it is. */
  choose(step) {
    const graph = this.renderer?.getGraph();
    if (!graph?.order) return;
    const ids = graph.nodes();
    const before = ids.indexOf(this.chosen);
    if (before >= 0) graph.setNodeAttribute(this.chosen, "highlighted", false);
    this.chosen = ids[before < 0 ? 0 : (before + step + ids.length) % ids.length];
    graph.setNodeAttribute(this.chosen, "highlighted", true);
    announce(graph.getNodeAttribute(this.chosen, "label"));
  }

  /** The colour of a type; the same for as long as the drawing lives. */
  colour(type) {
    if (!this.types.includes(type)) this.types.push(type);
    return COLOURS[this.types.indexOf(type) % COLOURS.length];
  }

  /** Draws nodes and edges; types in `hidden` are left out, changed facts have the colour of their change. */
  async show({ nodes, edges, hidden, center }, changes) {
    const began = performance.now();
    await load();
    if (!this.container.isConnected) return;
    const graph = new window.graphology.MultiDirectedGraph();
    const changed = [...edges.values()].filter((edge) => changes?.kinds.has(edge.uuid));
    const named = new Set(changed.flatMap((edge) => [edge.source_entity?.uuid, edge.target_entity?.uuid]));
    for (const node of nodes.values()) {
      const type = node.type || "(no type)";
      if (hidden.has(type)) continue;
      graph.addNode(node.uuid, { label: node.name.replace(DIRECTION, ""), size: node.uuid === center ? 11 : 5 + Math.min(5, Math.log2(1 + (node.mentions ?? 0))), color: this.colour(type), forceLabel: named.has(node.uuid) });
    }
    for (const edge of edges.values()) {
      const [from, to] = [edge.source_entity?.uuid, edge.target_entity?.uuid];
      if (!graph.hasNode(from) || !graph.hasNode(to)) continue;
      const kind = changes?.kinds.get(edge.uuid);
      graph.addEdgeWithKey(edge.uuid, from, to, { size: kind ? 3 : 1, color: CHANGES[kind] ?? "#a8a29e", label: edge.origin === "local" ? null : edge.relation });
    }
    place(graph, this.places);
    this.renderer?.kill();
    const ink = getComputedStyle(document.body).color;
    this.renderer = new window.Sigma(graph, this.container, { renderEdgeLabels: graph.size <= 60, labelColor: { color: ink }, edgeLabelColor: { color: ink }, allowInvalidContainer: true });
    this.renderer.on("clickNode", ({ node }) => this.onClick(node));
    window.braidDrawing = {
      nodes: graph.order, edges: graph.size, milliseconds: performance.now() - began, click: this.onClick,
      labels: graph.mapNodes((id, node) => node.label), colours: graph.mapEdges((id, edge) => edge.color),
    };
  }

  close() {
    this.renderer?.kill();
    this.renderer = null;
  }
}

// A force-directed layout (Fruchterman and Reingold) for some hundred nodes; nodes keep their places when others come.
function place(graph, places) {
  const ids = graph.nodes();
  ids.forEach((id, at) => {
    if (!places.has(id)) places.set(id, { x: Math.cos(at * 2.4) * Math.sqrt(at + 1), y: Math.sin(at * 2.4) * Math.sqrt(at + 1) });
  });
  const points = ids.map((id) => places.get(id));
  const index = new Map(ids.map((id, at) => [id, at]));
  const joined = graph.mapEdges((edge, attributes, from, to) => [index.get(from), index.get(to)]);
  const rounds = Math.max(20, Math.min(ROUNDS, Math.floor(2_000_000 / (ids.length ** 2 + 1))));
  for (let round = 0; round < rounds; round += 1) step(points, joined, 1 - round / rounds);
  ids.forEach((id, at) => graph.mergeNodeAttributes(id, points[at]));
}

function step(points, joined, heat) {
  const moves = points.map(() => [0, 0]);
  for (let a = 0; a < points.length; a += 1) {
    for (let b = a + 1; b < points.length; b += 1) {
      const [dx, dy] = [points[a].x - points[b].x, points[a].y - points[b].y];
      const square = dx * dx + dy * dy + 0.01;
      moves[a][0] += dx / square; moves[a][1] += dy / square;
      moves[b][0] -= dx / square; moves[b][1] -= dy / square;
    }
  }
  for (const [a, b] of joined) {
    const [dx, dy] = [points[a].x - points[b].x, points[a].y - points[b].y];
    const pull = Math.sqrt(dx * dx + dy * dy) * 0.15;
    moves[a][0] -= dx * pull; moves[a][1] -= dy * pull;
    moves[b][0] += dx * pull; moves[b][1] += dy * pull;
  }
  points.forEach((point, at) => {
    const length = Math.hypot(...moves[at]) || 1;
    const limit = Math.min(length, heat) / length;
    point.x += moves[at][0] * limit;
    point.y += moves[at][1] * limit;
  });
}
