// The state of the page is its address: `#/search?q=…`. Back and forward, links and reloads show the same again.

/** The view that the address names, and its parameters. */
export function current() {
  const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: view || "search", parameters: new URLSearchParams(query ?? "") };
}

/** The address of a view; empty parameters are left out. */
export function address(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  return query.size ? `#/${view}?${query}` : `#/${view}`;
}

/** Goes there; `replace` leaves no step to go back to. */
export function go(view, parameters = {}, { replace = false } = {}) {
  const target = address(view, parameters);
  if (target === location.hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else if (replace) history.replaceState(null, "", target);
  else location.hash = target;
}
