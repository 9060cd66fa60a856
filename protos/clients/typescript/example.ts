// Asks a running Braid one question, as a backend in another language would: `npm start -- "Who owns …?"`.
// Start the system with `make run` first. `BRAID_TARGET` and `BRAID_API_KEY` name another one.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type ComprehensiveSearchResponse, SearchService } from "./gen/braid/agent/v1/search_pb.js";
import { Leg, LegReason, type LegReport, LegStatus } from "./gen/braid/common/v1/legs_pb.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

const QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?";
const DEADLINE_MS = 5_000;

/** One question with a deadline, which the service shares out among its legs. ConnectError when the call fails. */
function ask(query: string): Promise<ComprehensiveSearchResponse> {
  const target = process.env["BRAID_TARGET"] ?? "127.0.0.1:50050";
  const key = process.env["BRAID_API_KEY"];
  const client = createClient(SearchService, createGrpcTransport({ baseUrl: `http://${target}` }));
  const headers: HeadersInit = key ? { authorization: `Bearer ${key}` } : {};
  return client.comprehensiveSearch({ query, limit: 3 }, { timeoutMs: DEADLINE_MS, headers });
}

/** How a leg ended: one that could not look never reads like one that found nothing. */
function describe(leg: LegReport): string {
  const elapsed = leg.elapsed ? ` in ${Math.round(durationMs(leg.elapsed))} ms` : "";
  const reason = leg.reason ? ` (${LegReason[leg.reason]})` : "";
  return `${Leg[leg.leg].toLowerCase()}: ${LegStatus[leg.status]}${elapsed}${reason}`;
}

/** What a failed call says beyond its code: a reason to branch on, wrong fields, and when to try again. */
function* explain(error: ConnectError): Generator<string> {
  yield `${Code[error.code]}: ${error.rawMessage}`;
  for (const info of error.findDetails(ErrorInfoSchema)) {
    yield `reason: ${info.reason}, request: ${info.metadata["request_id"] ?? "unknown"}`;
  }
  for (const { field, description } of error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations)) {
    yield `field ${field}: ${description}`;
  }
  for (const { retryDelay } of error.findDetails(RetryInfoSchema)) {
    if (retryDelay) yield `try again in ${durationMs(retryDelay)} ms`;
  }
}

try {
  const answer = await ask(process.argv[2] ?? QUESTION);
  for (const { score, title, source } of answer.results) {
    console.log(`${score.toFixed(3)}  ${title}  (${source})`);
  }
  for (const leg of answer.legs) console.log(describe(leg));
} catch (error) {
  for (const line of explain(ConnectError.from(error))) console.error(line);
  process.exitCode = 1;
}
