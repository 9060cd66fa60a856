"""Errors to status and back."""

from __future__ import annotations

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
from services.runtime.status import CODES, code_of, reason_name

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
