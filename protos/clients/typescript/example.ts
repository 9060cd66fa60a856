// Asks a running Braid one question, as a backend in another language would: `npm start -- "Who owns …?"`.
// Start the system with `make run` first. `BRAID_TARGET` and `BRAID_API_KEY` name another one.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Braid, type Failure, failureOf, legs } from "./src/index.js";

const QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?";
const DEADLINE_MS = 5_000;

/** How a leg ended: one that could not look never reads like one that found nothing. */
function describe(leg: legs.LegReport): string {
  const elapsed = leg.elapsed ? ` in ${Math.round(durationMs(leg.elapsed))} ms` : "";
  const reason = leg.reason ? ` (${legs.LegReason[leg.reason]})` : "";
  return `${legs.Leg[leg.leg].toLowerCase()}: ${legs.LegStatus[leg.status]}${elapsed}${reason}`;
}

function* explain(failure: Failure): Generator<string> {
  yield `${failure.code}: ${failure.message}`;
  if (failure.reason) yield `reason: ${failure.reason}, request: ${failure.requestId || "unknown"}`;
  for (const { field, description } of failure.fields) yield `field ${field}: ${description}`;
  if (failure.retryAfterMs !== undefined) yield `try again in ${failure.retryAfterMs} ms`;
}

const key = process.env["BRAID_API_KEY"];
const braid = new Braid(process.env["BRAID_TARGET"], { timeoutMs: DEADLINE_MS, ...(key && { apiKey: key }) });
try {
  const answer = await braid.search.comprehensiveSearch({ query: process.argv[2] ?? QUESTION, limit: 3 });
  for (const { score, title, source } of answer.results) {
    console.log(`${score.toFixed(3)}  ${title}  (${source})`);
  }
  for (const leg of answer.legs) console.log(describe(leg));
} catch (error) {
  for (const line of explain(failureOf(error))) console.error(line);
  process.exitCode = 1;
}
