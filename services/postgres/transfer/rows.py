"""A table's rows of a space as JSON, page by page, and back.

What a page has is bounded in rows and bytes. The names of tables come from the code, never from a caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import asyncpg

from services.postgres.pool import Row, Session
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.queries import Queries

ROWS_AT_ONCE = 500
# A page ends at this size, so that a message with it stays far below the limit of a call.
FULL_PAGE_BYTES = 1024 * 1024


class ExportedRows(NamedTuple):
    """Rows as JSON objects, and the key after which the next page begins; None after the last row."""

    rows: Sequence[str]
    after: str | None


class TableRows:
    """Reads and writes the rows of a space's tables."""

    def __init__(self) -> None:
        self._queries = Queries.load("sql", "services.postgres.transfer")

    async def read(
        self,
        session: Session,
        table: str,
        space: str,
        after: str | None,
        without: Sequence[str] = (),
    ) -> ExportedRows:
        """Returns a page of the table's rows after a key, a JSON array; None is before all."""
        found = await session.fetch(
            self._queries["export_rows"], table, space, after, ROWS_AT_ONCE + 1, list(without)
        )
        return page_of(found)

    async def write(self, session: Session, table: str, space: str, rows: Sequence[str]) -> None:
        """Stores exported rows, except those that exist. Raises InvalidFieldError for rows that do not fit."""
        if rows:
            with refused_rows():
                await session.execute(self._queries["import_rows"], table, space, list(rows))


def page_of(found: Sequence[Row]) -> ExportedRows:
    """Returns the first rows (`exported`, `key`) of a read of one more than a page."""
    size, count = 0, 0
    for row in found[:ROWS_AT_ONCE]:
        size += len(row["exported"])
        if count and size > FULL_PAGE_BYTES:
            break
        count += 1
    more = count < len(found)
    return ExportedRows(
        [row["exported"] for row in found[:count]], found[count - 1]["key"] if more else None
    )


@contextmanager
def refused_rows() -> Iterator[None]:
    """Translates the refusal of rows, by the database or when they are read; what they contain is not in the error."""
    try:
        yield
    except (
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        ValueError,
        KeyError,
        TypeError,
    ):
        raise InvalidFieldError(
            FieldError("rows", "are not rows that this version of Braid has exported")
        ) from None
