"""Claims and responses of calls with an idempotency key, as nodes of the graph that the calls write to."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from services.graph_query.neo4j.database import Database, Rows
from services.runtime.idempotency import CallKey, Claim
from services.runtime.ids import derived_uuid


class Neo4jKeyStore:
    """Implements `KeyStore`. What the calls write is identified by its content, so a repetition converges."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, key: CallKey, holder: uuid.UUID, digest: bytes | None, *, lease: float, keep: float
    ) -> Claim:
        """See `KeyStore`."""
        [row] = await self._run(
            "claim_key",
            key,
            holder,
            digest=None if digest is None else digest.hex(),
            lease=_milliseconds(lease),
            keep=_milliseconds(keep),
        )
        known = row["digest"]
        response = row["response"]
        return Claim(
            row["granted"],
            None if known is None else bytes.fromhex(known),
            None if response is None else bytes(response),
        )

    async def renew(self, key: CallKey, holder: uuid.UUID, *, lease: float) -> None:
        """See `KeyStore`."""
        await self._run("renew_key", key, holder, lease=_milliseconds(lease))

    async def complete(
        self, key: CallKey, holder: uuid.UUID, digest: bytes, response: bytes
    ) -> bool:
        """See `KeyStore`."""
        rows = await self._run(
            "complete_key", key, holder, digest=digest.hex(), response=bytearray(response)
        )
        return bool(rows)

    async def release(self, key: CallKey, holder: uuid.UUID) -> None:
        """See `KeyStore`."""
        await self._run("release_key", key, holder)

    async def purge(self) -> None:
        """See `KeyStore`."""
        await self._database.write(lambda tx: tx.run("purge_keys"))

    @asynccontextmanager
    async def unit(self, method: str) -> AsyncIterator[None]:  # noqa: ARG002 - none is needed, see above
        """See `KeyStore`."""
        yield

    async def _run(self, query: str, key: CallKey, holder: uuid.UUID, **parameters: Any) -> Rows:
        given = {"id": derived_uuid(*key), "space": key.space, "holder": str(holder), **parameters}
        return await self._database.write(lambda tx: tx.run(query, **given))


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
