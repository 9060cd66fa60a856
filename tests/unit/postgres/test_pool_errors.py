"""Errors of PostgreSQL that mean it cannot serve are translated to an unavailable store."""

from __future__ import annotations

import asyncpg
import pytest

from services.postgres.pool import translated_errors
from services.runtime.errors import StoreUnavailableError


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.DiskFullError("could not extend file"),
        asyncpg.OutOfMemoryError("out of memory"),
        asyncpg.TooManyConnectionsError("too many clients"),
        asyncpg.PostgresIOError("could not write"),
        asyncpg.AdminShutdownError("terminating connection"),
        ConnectionRefusedError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_database_without_resources_or_connection_is_unavailable(error: Exception) -> None:
    with pytest.raises(StoreUnavailableError) as caught, translated_errors():
        raise error
    assert caught.value.retry_after
    assert caught.value.metadata == {"store": "postgresql"}


def test_an_error_of_the_statement_is_not_translated() -> None:
    with pytest.raises(asyncpg.UniqueViolationError), translated_errors():
        raise asyncpg.UniqueViolationError("duplicate key")
