// What a failed call says beyond its code.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";

/** A failed call: a reason to branch on, wrong fields, and when to try again. */
export interface Failure {
  code: string;
  message: string;
  /** One of the contract's reasons, such as `INVALID_FIELD` or `OVERLOADED`; empty if the call did not reach Braid. */
  reason: string;
  requestId: string;
  fields: { field: string; description: string }[];
  retryAfterMs: number | undefined;
}

/** Reads the details of an error that a call has thrown. */
export function failureOf(error: unknown): Failure {
  const failed = ConnectError.from(error);
  const [info] = failed.findDetails(ErrorInfoSchema);
  const [retry] = failed.findDetails(RetryInfoSchema);
  return {
    code: Code[failed.code] ?? "Unknown",
    message: failed.rawMessage,
    reason: info?.reason ?? "",
    requestId: info?.metadata["request_id"] ?? "",
    fields: failed
      .findDetails(BadRequestSchema)
      .flatMap((bad) => bad.fieldViolations.map(({ field, description }) => ({ field, description }))),
    retryAfterMs: retry?.retryDelay && durationMs(retry.retryDelay),
  };
}
