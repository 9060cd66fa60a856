// Calls of the REST gateway, with the API key that the user entered (kept for this tab alone).

const KEY = "braid-api-key";

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** An answer that is an error. `status` is 0 when the gateway could not be reached. */
export class ApiError extends Error {
  constructor(status, body) {
    super(sentence(status, body));
    this.status = status;
    this.isPassing = status === 0 || status === 502 || status === 503;
    this.reason = body?.reason ?? "";
  }
}

function sentence(status, body) {
  if (!status) return "The gateway does not answer. Is it running? Try again in a moment.";
  if (status === 401) return "An API key is needed, or the one entered is not valid any more: use the button “API key”.";
  const fields = (body?.fields ?? []).map((one) => `${one.field}: ${one.description}`).join("; ");
  return [body?.detail ?? `The gateway answered ${status}.`, fields].filter(Boolean).join(" ");
}

/** A key that identifies a request that may create something, so that a repetition of it creates nothing twice. */
function idempotencyKey() {
  const values = crypto.getRandomValues(new Uint8Array(16)); // randomUUID exists on secure origins only
  return Array.from(values, (value) => value.toString(16).padStart(2, "0")).join("");
}

async function call(path, options = {}) {
  const headers = { accept: "application/json", ...options.headers };
  if (options.method === "POST") headers["idempotency-key"] ??= idempotencyKey();
  if (key.get()) headers.authorization = `Bearer ${key.get()}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, null);
  }
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => null));
  return response;
}

export async function get(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== "" && one !== null && one !== undefined) query.append(name, one);
    }
  }
  const response = await call(query.size ? `${path}?${query}` : path, { signal });
  return response.json();
}

export async function post(path, body, signal) {
  const response = await call(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  return response.status === 204 ? null : response.json();
}

export async function remove(path) {
  const response = await call(path, { method: "DELETE" });
  return response.status === 204 ? null : response.json();
}

/** Uploads files; with `replace`, also in place of other files of their names. */
export async function upload(files, replace = false) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.webkitRelativePath || file.name);
  const response = await call(`/api/documents${replace ? "?replace=true" : ""}`, { method: "POST", body: form });
  return response.json();
}

/** Server-sent events of a request, one after the other: `{event, data, id}`. */
export async function* events(path, options, signal) {
  const response = await call(path, {
    ...options,
    signal,
    headers: { ...options?.headers, accept: "text/event-stream" },
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  while (true) {
    const { value, done } = await read(reader);
    if (done) return;
    buffer += value.replaceAll("\r", "");
    let end;
    while ((end = buffer.indexOf("\n\n")) >= 0) {
      const event = parse(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
      if (event) yield event;
    }
  }
}

async function read(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, null); // the connection was cut, as when the gateway is restarted
  }
}

function parse(block) {
  const found = { event: "message", data: "", id: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const name = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, "");
    if (name === "data") found.data += value;
    else if (name in found) found[name] = value;
  }
  return found.data ? { ...found, data: JSON.parse(found.data) } : null;
}
