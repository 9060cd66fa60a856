"""Errors are converted to gRPC statuses and back."""

from __future__ import annotations

import grpc
import pytest

from braid.common.v1 import errors_pb2
from services.runtime.errors import (
    AllLegsFailedError,
    BraidError,
    DeadlineError,
    EmbedderUnavailableError,
    FieldError,
    InternalError,
    InvalidCredentialError,
    InvalidFieldError,
    MissingScopeError,
    NotFoundError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from services.runtime.status import CODES, code_of, error_from_rpc, reason_name, to_status

EXPECTED = [
    (InvalidFieldError(FieldError("limit", "too large")), "INVALID_ARGUMENT", "INVALID_FIELD"),
    (InvalidCredentialError(), "UNAUTHENTICATED", "INVALID_CREDENTIAL"),
    (MissingScopeError("write"), "PERMISSION_DENIED", "MISSING_SCOPE"),
    (NotFoundError("document"), "NOT_FOUND", "NOT_FOUND"),
    (WrongStateError("another model"), "FAILED_PRECONDITION", "WRONG_STATE"),
    (StoreUnavailableError("neo4j"), "UNAVAILABLE", "STORE_UNAVAILABLE"),
    (EmbedderUnavailableError(), "UNAVAILABLE", "EMBEDDER_UNAVAILABLE"),
    (AllLegsFailedError({"vector": "TIMED_OUT"}), "UNAVAILABLE", "ALL_LEGS_FAILED"),
    (OverloadedError(0.5), "RESOURCE_EXHAUSTED", "OVERLOADED"),
    (DeadlineError(), "DEADLINE_EXCEEDED", "DEADLINE"),
    (InternalError(), "INTERNAL", "INTERNAL"),
]


@pytest.mark.parametrize(("error", "code", "reason"), EXPECTED)
def test_each_error_has_its_code_and_reason(error: BraidError, code: str, reason: str) -> None:
    assert (code_of(error).name, reason_name(error)) == (code, reason)


def test_every_reason_of_the_contract_has_a_code() -> None:
    reasons = set(errors_pb2.ErrorReason.values()) - {errors_pb2.ERROR_REASON_UNSPECIFIED}
    assert set(CODES) == reasons


@pytest.mark.parametrize("letter", ["a", "é", "語", "😀"])
def test_the_status_of_many_invalid_fields_fits_into_the_trailers(letter: str) -> None:
    wrong = [
        FieldError(f"values[{n}]", f"must be a finite number {letter * 100}") for n in range(500)
    ]
    status = to_status(InvalidFieldError(*wrong), "r" * 32)
    [(_, details)] = status.trailing_metadata
    sentence = 3 * len(status.details.encode())
    assert len(details) * 4 / 3 + sentence < 8 * 1024


def test_invalid_fields_that_do_not_fit_are_counted() -> None:
    wrong = [FieldError(f"values[{n}]", "must be a finite number") for n in range(500)]
    received = error_from_rpc(failed(to_status(InvalidFieldError(*wrong), "r")))
    assert received.fields[0] == wrong[0]
    assert received.fields[-1] == (
        "request",
        f"has {500 - len(received.fields) + 1} more fields that are wrong",
    )


def test_a_message_that_is_too_large_is_not_an_overload() -> None:
    """A retry would not help."""
    received = "CLIENT: Received message larger than max (20971520 vs. 16777216)"
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.aio.Metadata(), grpc.aio.Metadata(), received
    )
    assert reason_name(error_from_rpc(error)) == "INVALID_FIELD"


def failed(status: grpc.Status) -> grpc.aio.AioRpcError:
    """Returns the error that a caller receives for a status."""
    trailing = grpc.aio.Metadata(*status.trailing_metadata)
    return grpc.aio.AioRpcError(status.code, grpc.aio.Metadata(), trailing, status.details)
