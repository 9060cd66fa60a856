"""An upload's bytes on their way into the database."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from uuid import UUID

from services.postgres.pool import Session

# Longer ones take more than a few milliseconds to be put into one statement.
MOST_AT_ONCE = 1024 * 1024
_PART = 256 * 1024
# PostgreSQL's binary format for COPY: signature, no flags, no more header; each value after its length.
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = struct.pack(">h", -1)


async def add_input(session: Session, sql: str, job_id: UUID, data: bytes) -> None:
    """Keeps the bytes of an upload: short ones with the statement `sql`, long ones part by part."""
    if len(data) <= MOST_AT_ONCE:
        await session.execute(sql, job_id, data)
        return
    await session.copy("job_input", ("job_id", "data"), _row(job_id, data))


async def _row(job_id: UUID, data: bytes) -> AsyncIterator[bytes | memoryview]:
    yield _HEADER + struct.pack(">hi", 2, len(job_id.bytes)) + job_id.bytes
    yield struct.pack(">i", len(data))
    view = memoryview(data)
    for start in range(0, len(data), _PART):
        yield view[start : start + _PART]
    yield _END
