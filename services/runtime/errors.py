"""The error family that all packages share; `status.py` maps it to rich gRPC status."""

from __future__ import annotations

from braid.common.v1 import errors_pb2, options_pb2
from braid_protocol.field_error import FieldError as FieldError  # noqa: PLC0414 - part of this family

VIOLATION = "violation"
"""Key of the metadata with the violation that a program may act on."""
VALID_TIME_TAKEN = "VALID_TIME_TAKEN"
"""Another version of the document has the valid time."""

INTERNAL_MESSAGE = "The service failed to answer. The request id names the failure in its logs."


class SetupError(Exception):
    """The process cannot start with its settings. The message is for the operator."""


class BraidError(Exception):
    """An expected failure: a reason of the contract, a readable sentence, and its details."""

    reason: errors_pb2.ErrorReason.ValueType = errors_pb2.ERROR_REASON_INTERNAL

    def __init__(
        self,
        message: str,
        *,
        metadata: dict[str, str] | None = None,
        fields: tuple[FieldError, ...] = (),
        retry_after: float | None = None,
        reason: errors_pb2.ErrorReason.ValueType | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.metadata = metadata or {}
        self.fields = fields
        self.retry_after = retry_after
        if reason is not None:
            self.reason = reason


class InvalidFieldError(BraidError):
    """One or more fields are wrong; nothing was changed."""

    reason = errors_pb2.ERROR_REASON_INVALID_FIELD

    def __init__(self, *fields: FieldError, violation: str = "") -> None:
        """`violation` is a machine-readable name of the violation, such as VALID_TIME_TAKEN."""
        super().__init__(
            "; ".join(f"{field}: {description}" for field, description in fields),
            fields=fields,
            metadata={VIOLATION: violation} if violation else None,
        )


class InvalidCredentialError(BraidError):
    """The credential is missing, unknown or expired; `message` says how to send it, for protocols other than gRPC."""

    reason = errors_pb2.ERROR_REASON_INVALID_CREDENTIAL

    def __init__(
        self,
        message: str = "A valid API key or token is needed: metadata `authorization: Bearer <key>`.",
    ) -> None:
        super().__init__(message)


class MissingScopeError(BraidError):
    """The credential lacks a scope, in lower case without its `SCOPE_` prefix; `message` replaces the default text."""

    reason = errors_pb2.ERROR_REASON_MISSING_SCOPE

    def __init__(self, scope: str, message: str | None = None) -> None:
        text = message or f"The credential lacks the scope `{scope}`."
        super().__init__(text, metadata={"scope": scope})


class NotFoundError(BraidError):
    """The caller's space has no such object; `resource` is its kind, never its name."""

    reason = errors_pb2.ERROR_REASON_NOT_FOUND

    def __init__(self, resource: str, message: str | None = None) -> None:
        text = message or f"There is no such {resource} in this space."
        super().__init__(text, metadata={"resource": resource})


class WrongStateError(BraidError):
    """The data is in a state that does not allow the call."""

    reason = errors_pb2.ERROR_REASON_WRONG_STATE


class StoreUnavailableError(BraidError):
    """A store or service cannot be reached now; `retry_after` is in seconds."""

    reason = errors_pb2.ERROR_REASON_STORE_UNAVAILABLE

    def __init__(self, store: str, retry_after: float = 1.0, *, message: str | None = None) -> None:
        super().__init__(
            message or f"{store} cannot be reached now.",
            metadata={"store": store},
            retry_after=retry_after,
        )


class EmbedderUnavailableError(BraidError):
    """The embedding model did not answer and the call cannot proceed without it; `retry_after` is in seconds."""

    reason = errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__("The embedding model cannot be reached now.", retry_after=retry_after)


class AllLegsFailedError(BraidError):
    """Every leg of a search failed; `causes` maps a leg's name to its failure."""

    reason = errors_pb2.ERROR_REASON_ALL_LEGS_FAILED

    def __init__(self, causes: dict[str, str], retry_after: float = 1.0) -> None:
        endings = ", ".join(f"{leg}: {cause}" for leg, cause in sorted(causes.items()))
        super().__init__(
            f"Every leg of the search failed ({endings}).", metadata=causes, retry_after=retry_after
        )


class OverloadedError(BraidError):
    """The service is at its limit; nothing was changed; `retry_after` is in seconds."""

    reason = errors_pb2.ERROR_REASON_OVERLOADED

    def __init__(self, retry_after: float) -> None:
        super().__init__("The service is at its limit.", retry_after=retry_after)


class RateLimitedError(BraidError):
    """A key or a space has used up its rate limit; `kind` is "key" or "space"."""

    reason = errors_pb2.ERROR_REASON_OVERLOADED

    def __init__(self, kind: str, rate: str, retry_after: float) -> None:
        subject = "API key" if kind == "key" else kind
        super().__init__(
            f"The rate limit of this {subject} is reached: {rate}.",
            metadata={"limit": kind},
            retry_after=retry_after,
        )


class DrainingError(StoreUnavailableError):
    """The process is draining: the call was not started, and another replica accepts it."""

    def __init__(self) -> None:
        super().__init__(
            "service", 0.5, message="The service is shutting down: another replica answers."
        )


class DeadlineError(BraidError):
    """The caller's deadline, or the store's own limit, passed."""

    reason = errors_pb2.ERROR_REASON_DEADLINE

    def __init__(self, message: str = "The deadline passed before the answer was there.") -> None:
        super().__init__(message)


class InternalError(BraidError):
    """A defect: the cause is logged under the request id and not shown to callers."""

    reason = errors_pb2.ERROR_REASON_INTERNAL

    def __init__(self) -> None:
        super().__init__(INTERNAL_MESSAGE)


class KeyReusedError(BraidError):
    """The idempotency key was used for another request; nothing was changed."""

    reason = errors_pb2.ERROR_REASON_IDEMPOTENCY_KEY_REUSED

    def __init__(self) -> None:
        field = FieldError("idempotency_key", "was used for another request")
        super().__init__(f"{field.field}: {field.description}", fields=(field,))


class CallInProgressError(BraidError):
    """An earlier call with the same idempotency key is still running."""

    reason = errors_pb2.ERROR_REASON_CALL_IN_PROGRESS

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__(
            "An earlier call with the same idempotency key is still running.",
            retry_after=retry_after,
        )


def scope_name(scope: options_pb2.Scope.ValueType) -> str:
    """Returns `SCOPE_READ` in the form used by callers and key files: `read`."""
    return options_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower()
