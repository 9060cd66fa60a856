// Documents and jobs: upload with both progress bars, list, delete with a receipt, what failed and why.

import { events, get, post, remove, upload } from "./api.js";
import { announce, data, day, el, problem, wait } from "./dom.js";
import { openPassage } from "./passage.js";
import { address, current, go } from "./route.js";

const GOES_ON = new Set(["QUEUED", "RUNNING"]);
const RETRY_MS = 1_500;

export async function show(view, parameters, signal) {
  const jobs = el("div");
  const list = el("div", { class: "scroll" });
  const dead = el("div");
  const reload = () => Promise.all([documents(list, signal), failures(dead, jobs, signal)]);
  view.append(el("h1", {}, "Documents"), drop(jobs, reload, signal), jobs, list, dead);
  const opened = parameters.get("document");
  if (opened) openPassage({ documentId: opened, onClose: () => leave(opened) });
  await Promise.all([reload(), running(jobs, reload, signal)]);
}

function leave(opened) {
  if (current().parameters.get("document") === opened) go("documents");
}

function drop(jobs, reload, signal) {
  const input = el("input", { type: "file", multiple: true, "aria-label": "Files to add", onchange: () => send([...input.files]) });
  const zone = el("div", { class: "drop" }, el("p", {}, "Drop text, Markdown, HTML, PDF, office files, tables, books, mail, code or JSON lines here, or choose files."), input);
  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", name === "dragover");
      if (name === "drop") send([...event.dataTransfer.files]);
    });
  }
  function ask(files, message) {
    const card = el("div", { class: "card" }, el("p", {}, data(message)),
      el("button", { type: "button", onclick: () => { card.remove(); send(files, true); } }, "Replace it"));
    jobs.append(card);
  }
  async function send(files, replace = false) {
    if (!files.length) return;
    announce(`Uploading ${files.length} files …`);
    try {
      const answer = await upload(files, replace);
      for (const job of answer.jobs ?? [answer.job].filter(Boolean)) watch(job, jobs, reload, signal);
      for (const one of answer.refused ?? []) jobs.append(problem({ message: `${one.field}: ${one.description}` }));
      if (answer.facts) jobs.append(el("p", { class: "card" }, `${answer.facts.added} facts added, ${answer.facts.unchanged} known already, ${answer.facts.refused_total} refused.`));
    } catch (error) {
      if (error.status === 409 && !replace) ask(files, error.message);
      else jobs.append(problem(error));
    }
    input.value = "";
    announce("");
  }
  return zone;
}

async function running(jobs, reload, signal) {
  try {
    const { jobs: all } = await get("/api/jobs", { state: ["QUEUED", "RUNNING"], limit: 20 }, signal);
    for (const job of all) watch(job, jobs, reload, signal);
  } catch (error) {
    if (error.name !== "AbortError") jobs.append(problem(error));
  }
}

async function watch(job, jobs, reload, signal) {
  const name = job.title || job.source || job.document_id || job.kind || "job";
  const searchable = el("progress", { max: 1, "aria-label": `${name}: searchable` });
  const ready = el("progress", { max: 1, "aria-label": `${name}: graph-ready` });
  const state = el("span", { class: "quiet" });
  const warnings = el("ul", { class: "quiet", "aria-label": `${name}: warnings` });
  const card = el("div", { class: "card" }, el("h3", {}, data(name)), state,
    el("label", {}, "Searchable", searchable), el("label", {}, "In the graph", ready), warnings);
  jobs.prepend(card);
  const draw = (now) => {
    for (const bar of [searchable, ready]) bar.max = Math.max(now.documents_total, 1);
    searchable.value = now.documents_searchable;
    ready.value = now.documents_graph_ready;
    state.textContent = ` ${now.state}${now.waiting_for ? ` · waiting for ${now.waiting_for}` : ""}${now.documents_failed ? ` · ${now.documents_failed} failed` : ""}`;
    warnings.replaceChildren(...now.warnings.map((one) => el("li", {}, data(now.documents_total > 1 ? `${one.id}: ${one.text}` : one.text))));
  };
  draw(job);
  try {
    await follow(job, draw, (text) => { state.textContent = ` ${text}`; }, signal);
    await reload();
  } catch (error) {
    if (error.name !== "AbortError") card.append(problem(error));
  }
}

// Until the job has ended, also where the gateway is restarted meanwhile: the job goes on without it.
async function follow(job, draw, say, signal) {
  while (GOES_ON.has(job.state)) {
    try {
      for await (const { event, data: body } of events(`/api/jobs/${job.id}/events`, {}, signal)) {
        if (event === "job") draw(job = body);
        if (event === "error") say(body.detail);
      }
      if (GOES_ON.has(job.state)) await wait(RETRY_MS, signal);
    } catch (error) {
      if (!error.isPassing) throw error;
      say("The gateway does not answer; trying again …");
      await wait(RETRY_MS, signal);
    }
  }
}

async function documents(list, signal, cursor = "", rows = el("tbody")) {
  try {
    const page = await get("/api/documents", { limit: 50, cursor }, signal);
    rows.append(...page.documents.map(row));
    const more = el("button", { type: "button", onclick: () => documents(list, signal, page.next_cursor, rows) }, "Show more");
    list.replaceChildren(el("h2", {}, "In this space"),
      rows.childElementCount ? table(rows) : el("p", { class: "quiet" }, "No documents yet: drop some above, or run “braid ingest”."),
      page.next_cursor ? more : "");
  } catch (error) {
    if (error.name !== "AbortError") list.replaceChildren(problem(error));
  }
}

function table(rows) {
  return el("table", {}, el("caption", { class: "quiet" }, "Documents, with their current version"),
    el("thead", {}, el("tr", {}, ["Title", "Id", "Version", "Holds since", "Passages", "Actions"].map((name) => el("th", { scope: "col" }, name)))), rows);
}

function row(one) {
  const entry = el("tr", {}, el("td", {}, el("a", { href: address("documents", { document: one.id }) }, data(one.title || one.id))),
    el("td", {}, data(one.id)), el("td", {}, String(one.version)), el("td", {}, day(one.valid_at)), el("td", {}, String(one.chunk_count)),
    el("td", {}, el("button", { type: "button", onclick: ask, "aria-label": `Delete ${one.title || one.id}` }, "Delete")));
  function ask() {
    const dialog = el("dialog", { "aria-label": "Delete document", onclose: () => dialog.remove() },
      el("p", {}, "Delete ", data(one.title || one.id), " with all its versions from both stores?"),
      el("button", { type: "button", class: "primary", onclick: () => forget(dialog) }, "Delete"), " ",
      el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"));
    document.body.append(dialog);
    dialog.showModal();
  }
  async function forget(dialog) {
    dialog.close();
    try {
      const receipt = await remove(`/api/documents/${encodeURIComponent(one.id)}`);
      const removed = receipt.removed.filter((part) => part.count).map((part) => `${part.count} ${part.kind} (${part.store})`).join(", ");
      entry.replaceChildren(el("td", { colspan: 6 }, "Deleted: ", removed || "the deletion goes on as a job", "."));
    } catch (error) {
      entry.replaceChildren(el("td", { colspan: 6 }, problem(error)));
    }
  }
  return entry;
}

async function failures(dead, jobs, signal) {
  try {
    const { documents: all } = await get("/api/jobs/dead", { limit: 50 }, signal);
    if (!all.length) return dead.replaceChildren();
    dead.replaceChildren(el("h2", {}, "Could not be taken"), el("ul", { class: "facts" }, all.map((one) => {
      const entry = el("li", { class: "ended" }, data(one.id || one.job_id), ": ", data(one.reason), " ",
        el("span", { class: "quiet" }, `${one.stage} · ${day(one.failed_at)} `), el("button", { type: "button", onclick: again }, "Try again"));
      async function again() {
        try {
          const answer = await post(`/api/jobs/${one.job_id}/retry`, {});
          watch(answer.job ?? answer, jobs, () => failures(dead, jobs, signal), signal);
        } catch (error) {
          entry.append(problem(error));
        }
      }
      return entry;
    })));
  } catch (error) {
    if (error.name !== "AbortError") dead.replaceChildren(problem(error));
  }
}
