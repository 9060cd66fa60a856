"""Errors of failed calls whose gRPC status code would mislead."""

from __future__ import annotations

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata

from braid_protocol.errors import failure_of


def failed(code: grpc.StatusCode, details: str) -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(), details=details)


def test_a_connection_lost_during_a_stream_is_unavailable_not_internal() -> None:
    failure = failure_of(failed(grpc.StatusCode.INTERNAL, "Internal error from Core"))
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "")


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE])
def test_any_other_failure_keeps_its_code(code: grpc.StatusCode) -> None:
    failure = failure_of(failed(code, "something else"))
    assert (failure.code, failure.message) == (code, "something else")
