// Ask: a conversation whose answers stream, with the tool calls that led to them and citations that open the passage.

import { ApiError, events, get, post, remove } from "./api.js";
import { announce, data, el, problem, wait } from "./dom.js";
import { openPassage } from "./passage.js";
import { address, go } from "./route.js";

const ATTEMPTS = 20;
const RETRY_MS = 1_500;

export async function show(view, parameters, signal) {
  const chat = el("div", { class: "chat" });
  const state = { conversation: parameters.get("conversation") ?? "", chat, signal };
  const box = el("textarea", { name: "question", rows: 2, required: true, maxlength: 16000, "aria-label": "Question" });
  const send = el("button", { class: "primary" }, "Ask");
  const stop = el("button", { type: "button", disabled: true }, "Stop");
  const form = el("form", { class: "bar" }, el("label", { class: "grow" }, "Question", box), send, stop);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = box.value.trim();
    if (!question) return;
    box.value = "";
    send.disabled = true;
    stop.disabled = false;
    await ask(question, state, stop);
    send.disabled = false;
    stop.disabled = true;
    box.focus();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  view.append(el("h1", {}, "Ask"), await conversations(state, signal), chat, form);
  if (state.conversation) await earlier(state);
}

async function conversations(state, signal) {
  try {
    const { conversations: all } = await get("/api/conversations", { limit: 20 }, signal);
    if (!all.length) return el("p", { class: "quiet" }, "Answers name their sources; a question that nothing answers is said to be one.");
    return el("details", { class: "card" }, el("summary", {}, "Earlier conversations"),
      el("ul", {}, all.map((one) => {
        const entry = el("li", {}, el("a", { href: address("ask", { conversation: one.id }) }, data(one.title || "Untitled")), " ",
          el("button", { type: "button", onclick: forget, "aria-label": `Delete ${one.title}` }, "Delete"));
        async function forget() {
          await remove(`/api/conversations/${one.id}`);
          entry.remove();
          if (one.id === state.conversation) go("ask");
        }
        return entry;
      })));
  } catch (error) {
    return problem(error);
  }
}

async function earlier(state) {
  try {
    const { messages } = await get(`/api/conversations/${encodeURIComponent(state.conversation)}`, {}, state.signal);
    for (const message of messages) {
      const turn = message.role === "user" ? user(message.text) : answer(message.text, message.citations);
      state.chat.append(turn);
    }
  } catch (error) {
    state.chat.append(problem(error));
  }
}

function user(text) {
  return el("div", { class: "card turn user" }, el("p", { dir: "auto" }, text));
}

function answer(text, citations) {
  return el("div", { class: "card turn" }, cited(text, citations), sources(citations));
}

async function ask(question, state, stop) {
  const text = el("p", { dir: "auto" });
  const tools = el("div");
  const turn = el("div", { class: "card turn", "aria-busy": "true" }, tools, text);
  state.chat.append(user(question), turn);
  announce("Answering …");
  const run = { id: "", last: "", text: "", citations: [], tools: new Map(), over: false, view: { text, tools, turn } };
  stop.onclick = () => run.id && post(`/api/chat/${run.id}/cancel`, {}).catch(() => {});
  try {
    if (!state.conversation) state.conversation = await begin(turn);
    const body = { question, conversation_id: state.conversation || undefined, stream: true, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
    await follow(run, events("/api/chat", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }, state.signal));
  } catch (error) {
    await resume(run, state, error);
  }
  turn.removeAttribute("aria-busy");
  text.replaceChildren(...[cited(run.text, run.citations)].flat());
  turn.append(sources(run.citations));
  announce("");
  if (state.conversation) showAddress(state.conversation);
}

// A key that may only read keeps no conversation: each question then stands alone.
async function begin(turn) {
  try {
    return (await post("/api/conversations", {})).id ?? "";
  } catch (error) {
    if (error.reason !== "MISSING_SCOPE") throw error;
    turn.append(el("p", { class: "quiet" }, "This key may only read: the question stands alone and is not kept."));
    return "";
  }
}

function showAddress(conversation) {
  history.replaceState(null, "", address("ask", { conversation }));
}

// The connection was cut, as when the gateway is restarted: the run goes on, and its events are read on after the last
// one seen.
async function resume(run, state, error) {
  for (let attempt = 0; run.id && !run.over && error?.isPassing && attempt < ATTEMPTS; attempt += 1) {
    try {
      await wait(RETRY_MS, state.signal);
      await follow(run, events(`/api/chat/${run.id}/events`, { headers: { "last-event-id": run.last } }, state.signal));
      return;
    } catch (again) {
      error = again;
    }
  }
  if (error.name !== "AbortError" && !run.over) run.view.turn.append(problem(error));
}

async function follow(run, stream) {
  for await (const { event, data: body, id } of stream) {
    if (id) run.last = id;
    const handler = HANDLERS[event];
    if (handler) handler(run, body);
  }
  if (!run.over) throw new ApiError(0, null);
}

const HANDLERS = {
  started: (run, body) => { run.id = body.run_id; },
  tool_call: (run, body) => {
    const status = el("span", { class: "quiet" }, "…");
    const entry = el("details", {}, el("summary", {}, `${body.tool} `, status), el("pre", {}, JSON.stringify(body.arguments, null, 2)));
    run.tools.set(body.call_id, { entry, status });
    run.view.tools.append(entry);
  },
  tool_result: (run, body) => {
    const tool = run.tools.get(body.call_id);
    if (!tool) return;
    tool.status.textContent = `${body.status ?? ""} · ${body.item_count} found · ${Math.round(body.took_ms)} ms`;
    if (body.message) tool.entry.append(el("p", {}, data(body.message)));
  },
  leg_status: (run, body) => {
    run.tools.get(body.call_id)?.entry.append(el("p", { class: "quiet" }, `${body.name}: ${body.status}${body.reason ? ` ${body.reason}` : ""}`));
  },
  text: (run, body) => {
    run.text = (body.restart ? "" : run.text) + body.text;
    run.view.text.textContent = run.text;
  },
  citation: (run, body) => { run.citations.push(body); },
  notice: (run, body) => { run.view.turn.append(el("p", { class: "warn" }, data(body.message))); },
  done: (run, body) => { run.over = true; run.text = body.answer || run.text; },
  error: (run, body) => { run.over = true; run.view.turn.append(problem({ message: body.detail })); },
};

function cited(text, citations) {
  const byNumber = new Map((citations ?? []).map((one) => [String(one.number), one]));
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/\[(\d+)\]/g)) {
    const citation = byNumber.get(match[1]);
    if (!citation) continue;
    parts.push(text.slice(end, match.index), link(citation, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return el("p", { dir: "auto" }, parts);
}

function link(citation, label) {
  const open = () => openPassage({
    chunkId: citation.chunk_id, documentId: citation.document_id, title: citation.title,
    start: citation.start_char, end: citation.end_char, quote: citation.quote,
  });
  return el("button", { type: "button", class: "cite", onclick: open, title: citation.title }, label);
}

function sources(citations) {
  if (!citations?.length) return "";
  return el("details", { class: "quiet" }, el("summary", {}, `${citations.length} sources`),
    el("ol", {}, citations.map((one) => el("li", { value: one.number }, link(one, one.title || one.document_id), " ", data(one.quote)))));
}
