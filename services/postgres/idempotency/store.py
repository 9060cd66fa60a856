"""Claims and responses of calls with an idempotency key, in the database that the calls write to."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from services.postgres.pool import Pool
from services.runtime.idempotency import CallKey, Claim
from services.runtime.queries import Queries


class PostgresKeyStore:
    """Implements `KeyStore` with the table `idempotency_key`."""

    def __init__(self, pool: Pool, atomic: Collection[str] = ()) -> None:
        """`atomic` are the full names of methods that write to this database only, and are answered soon."""
        self._pool = pool
        self._atomic = frozenset(atomic)
        self._queries = Queries.load("sql", "services.postgres.idempotency")

    async def claim(
        self, key: CallKey, holder: uuid.UUID, digest: bytes | None, *, lease: float, keep: float
    ) -> Claim:
        """See `KeyStore`."""
        async with self._pool.session() as session:
            row = await session.row(
                self._queries["claim_key"], *key, holder, digest, lease, keep
            ) or await session.row(self._queries["get_key"], *key)
        # The row may have been purged or released between the two statements: the caller claims it again.
        return Claim(row["granted"], row["digest"], row["response"]) if row else Claim(False)

    async def renew(self, key: CallKey, holder: uuid.UUID, *, lease: float) -> None:
        """See `KeyStore`."""
        async with self._pool.session() as session:
            await session.execute(self._queries["renew_key"], *key, holder, lease)

    async def complete(
        self, key: CallKey, holder: uuid.UUID, digest: bytes, response: bytes
    ) -> bool:
        """See `KeyStore`."""
        async with self._pool.session() as session:
            return bool(
                await session.value(self._queries["complete_key"], *key, holder, digest, response)
            )

    async def release(self, key: CallKey, holder: uuid.UUID) -> None:
        """See `KeyStore`."""
        async with self._pool.session() as session:
            await session.execute(self._queries["release_key"], *key, holder)

    async def purge(self) -> None:
        """See `KeyStore`."""
        async with self._pool.session() as session:
            await session.execute(self._queries["purge_keys"])

    @asynccontextmanager
    async def unit(self, method: str) -> AsyncIterator[None]:
        """See `KeyStore`."""
        if method not in self._atomic:
            yield
            return
        async with self._pool.unit():
            yield
