// A client of Braid: the services of the contracts, with a key, a deadline and retries of reads on every call.
import { create } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type Interceptor, type Transport, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AgentService, type AnswerCitation, ConversationStart, type RunEvent } from "../gen/braid/agent/v1/agent_pb.js";
import { EntityMemoryService } from "../gen/braid/agent/v1/entity_memory_pb.js";
import { DocumentMetadataSchema, IngestService } from "../gen/braid/agent/v1/ingest_pb.js";
import { type Job, JobService } from "../gen/braid/agent/v1/jobs_pb.js";
import { MemoryService } from "../gen/braid/agent/v1/memories_pb.js";
import { ProfileService } from "../gen/braid/agent/v1/profile_pb.js";
import { SearchService } from "../gen/braid/agent/v1/search_pb.js";
import { SourceService } from "../gen/braid/agent/v1/sources_pb.js";
import { SpaceService } from "../gen/braid/agent/v1/spaces_pb.js";
import { GraphIngestService } from "../gen/braid/graph/v1/ingest_pb.js";
import { GraphQueryService } from "../gen/braid/graph/v1/query_pb.js";
import { DocumentService } from "../gen/braid/vector/v1/documents_pb.js";
import { VectorSearchService } from "../gen/braid/vector/v1/search_pb.js";

/** How to reach Braid, and as whom. */
export interface BraidOptions {
  /** The key, which says in which space you are. Without keys (loopback only) the space is `local`. */
  apiKey?: string;
  /** Another space or user; needs a key with the scope `delegate`. */
  space?: string;
  user?: string;
  /** Deadline of each call in milliseconds, which travels with it through all hops. Default: 10,000. */
  timeoutMs?: number;
  /** The vector and graph tiers, `host:port`. Defaults: those of `braid up`. */
  vectorTarget?: string;
  graphTarget?: string;
  /** TLS with the certificates that Node trusts (`NODE_EXTRA_CA_CERTS` adds one). Default: none. */
  tls?: boolean;
}

/** A document to ingest. */
export interface NewDocument {
  contentType: string;
  documentId?: string;
  title?: string;
  source?: string;
  /** From when it holds. */
  validTime?: Date;
  /** When it is deleted automatically, with all versions. Default: never. */
  expireTime?: Date;
}

/** An answer with its sources, in the order of the marks [1], [2], … in its text. */
export interface Answer {
  text: string;
  citations: AnswerCitation[];
  events: RunEvent[];
}

const PIECE_BYTES = 1024 * 1024;
const ATTEMPTS = 3;
const FIRST_WAIT_MS = 100;

/** A client of one Braid. The services are those of the contracts; a call takes the fields of its request. */
export class Braid {
  readonly search: Client<typeof SearchService>;
  readonly agent: Client<typeof AgentService>;
  readonly ingest: Client<typeof IngestService>;
  readonly jobs: Client<typeof JobService>;
  readonly memories: Client<typeof MemoryService>;
  readonly entityMemory: Client<typeof EntityMemoryService>;
  readonly profile: Client<typeof ProfileService>;
  readonly sources: Client<typeof SourceService>;
  readonly spaces: Client<typeof SpaceService>;
  readonly documents: Client<typeof DocumentService>;
  readonly vector: Client<typeof VectorSearchService>;
  readonly graph: Client<typeof GraphQueryService>;
  readonly graphIngest: Client<typeof GraphIngestService>;

  constructor(target = "127.0.0.1:50050", options: BraidOptions = {}) {
    const orchestrator = transportTo(target, options);
    const vector = transportTo(options.vectorTarget ?? "127.0.0.1:50051", options);
    const graph = transportTo(options.graphTarget ?? "127.0.0.1:50052", options);
    this.search = createClient(SearchService, orchestrator);
    this.agent = createClient(AgentService, orchestrator);
    this.ingest = createClient(IngestService, orchestrator);
    this.jobs = createClient(JobService, orchestrator);
    this.memories = createClient(MemoryService, orchestrator);
    this.entityMemory = createClient(EntityMemoryService, orchestrator);
    this.profile = createClient(ProfileService, orchestrator);
    this.sources = createClient(SourceService, orchestrator);
    this.spaces = createClient(SpaceService, orchestrator);
    this.documents = createClient(DocumentService, vector);
    this.vector = createClient(VectorSearchService, vector);
    this.graph = createClient(GraphQueryService, graph);
    this.graphIngest = createClient(GraphIngestService, graph);
  }

  /** Ingests a document; its job loses nothing, and has ended when the document is searchable and in the graph. */
  async ingestDocument(data: Uint8Array, document: NewDocument): Promise<Job> {
    const { validTime, expireTime, ...fields } = document;
    const about = create(DocumentMetadataSchema, {
      ...fields,
      ...(validTime && { validTime: timestampFromDate(validTime) }),
      ...(expireTime && { expireTime: timestampFromDate(expireTime) }),
    });
    async function* parts() {
      yield { part: { case: "metadata" as const, value: about } };
      for (let start = 0; start < data.length; start += PIECE_BYTES) {
        yield { part: { case: "data" as const, value: data.subarray(start, start + PIECE_BYTES) } };
      }
    }
    return present((await this.ingest.ingestDocument(parts())).job);
  }

  /** Waits for a job to end, and returns it, however it ended. */
  async waitForJob(jobId: string, timeoutMs = 600_000): Promise<Job> {
    let last: Job | undefined;
    // The stream ends with the job; one that is left early would keep the process alive.
    for await (const { job } of this.jobs.watchJob({ jobId }, { timeoutMs })) last = job ?? last;
    return present(last);
  }

  /** Asks a question in a conversation of its own that is not kept, or in `conversationId`. */
  async ask(question: string, options: { conversationId?: string; keep?: boolean; timeoutMs?: number } = {}): Promise<Answer> {
    const { conversationId = "", keep = false, timeoutMs = 120_000 } = options;
    const conversation = keep ? ConversationStart.NEW : ConversationStart.UNSPECIFIED;
    const answer: Answer = { text: "", citations: [], events: [] };
    for await (const { event } of this.agent.ask({ question, conversationId, conversation }, { timeoutMs })) {
      if (!event) continue;
      answer.events.push(event);
      if (event.event.case === "citation") answer.citations.push(event.event.value);
      if (event.event.case === "done") answer.text = event.event.value.answer;
      if (event.event.case === "error") throw new ConnectError(event.event.value.message, Code.Unknown);
    }
    return answer;
  }
}

function transportTo(target: string, options: BraidOptions): Transport {
  return createGrpcTransport({
    baseUrl: `${options.tls ? "https" : "http"}://${target}`,
    defaultTimeoutMs: options.timeoutMs ?? 10_000,
    interceptors: [identified(options), retried],
  });
}

function identified({ apiKey, space, user }: BraidOptions): Interceptor {
  return (next) => (request) => {
    if (apiKey) request.header.set("authorization", `Bearer ${apiKey}`);
    if (space) request.header.set("braid-space", space);
    if (user) request.header.set("braid-user", user);
    return next(request);
  };
}

/** Tries a read again that finds a service away. Writes and streams are the caller's to repeat. */
const retried: Interceptor = (next) => async (request) => {
  const isRead = request.method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (error) {
      const isAway = ConnectError.from(error).code === Code.Unavailable;
      if (request.stream || !isRead || !isAway || attempt === ATTEMPTS || request.signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** (attempt - 1)));
    }
  }
};

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new ConnectError("the answer lacks a part", Code.Internal);
  return value;
}
