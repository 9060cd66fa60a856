// `braid-client`: Braid from TypeScript and JavaScript. The messages of each contract are a namespace of their own.
export * from "./client.js";
export * from "./failures.js";
export { timestampFromDate as time } from "@bufbuild/protobuf/wkt";
export * as agent from "../gen/braid/agent/v1/agent_pb.js";
export * as entityMemory from "../gen/braid/agent/v1/entity_memory_pb.js";
export * as facts from "../gen/braid/graph/v1/facts_pb.js";
export * as graph from "../gen/braid/graph/v1/query_pb.js";
export * as ingest from "../gen/braid/agent/v1/ingest_pb.js";
export * as jobs from "../gen/braid/agent/v1/jobs_pb.js";
export * as legs from "../gen/braid/common/v1/legs_pb.js";
export * as memories from "../gen/braid/agent/v1/memories_pb.js";
export * as search from "../gen/braid/agent/v1/search_pb.js";
export * as sources from "../gen/braid/agent/v1/sources_pb.js";
export * as spaces from "../gen/braid/agent/v1/spaces_pb.js";
