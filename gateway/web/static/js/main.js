// Shows the view that the address names, and lets the user enter an API key.

import { key } from "./api.js";
import { announce, el, problem } from "./dom.js";
import { current } from "./route.js";

const VIEWS = {
  search: () => import("./search.js"),
  ask: () => import("./ask.js"),
  graph: () => import("./graph.js"),
  documents: () => import("./documents.js"),
};
let leaving = new AbortController();

async function render() {
  const { view, parameters } = current();
  const main = document.getElementById("view");
  leaving.abort();
  leaving = new AbortController();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const signal = leaving.signal;
  const name = view in VIEWS ? view : "search";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · Braid`;
  announce("");
  main.replaceChildren();
  try {
    const { show } = await VIEWS[name]();
    if (!signal.aborted) await show(main, parameters, signal);
  } catch (error) {
    if (error.name !== "AbortError") main.append(problem(error));
  }
  document.documentElement.dataset.ready = name;
}

function askForKey() {
  const input = el("input", { type: "password", autocomplete: "off", value: key.get(), "aria-label": "API key" });
  const dialog = el("dialog", { "aria-label": "API key", onclose: () => dialog.remove() },
    el("form", { class: "bar", onsubmit: save },
      el("label", { class: "grow" }, "API key (kept for this tab only)", input),
      el("button", { class: "primary" }, "Use"), el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  function save(event) {
    event.preventDefault();
    key.set(input.value.trim());
    dialog.close();
    render();
  }
  document.body.append(dialog);
  dialog.showModal();
}

document.getElementById("key").addEventListener("click", askForKey);
window.addEventListener("hashchange", render);
// The other views are loaded once the first one is there: the page stays usable while the gateway is restarted.
render().then(() => Promise.allSettled(Object.values(VIEWS).map((load) => load())));
