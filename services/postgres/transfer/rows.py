"""Rows of a space's tables as JSON, page by page, and back. Table names come from the code, never from a caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import asyncpg

from services.postgres.pool import Row, Session
from services.runtime.errors import InvalidFieldError
from services.runtime.queries import Queries
from services.runtime.space_rows import (
    FoundRows,
    fitting,
    not_a_token,
    refused_rows,
    rows_to_read,
)


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
    ) -> FoundRows:
        """Returns a page of the table's rows after a key."""
        query = self._queries["export_rows"]
        with refusing(not_a_token()):
            return found_rows(
                await session.fetch(query, table, space, after, rows_to_read(), list(without))
            )

    async def write(self, session: Session, table: str, space: str, rows: Sequence[str]) -> None:
        """Stores exported rows, except those that exist. Raises InvalidFieldError for rows that do not fit."""
        if rows:
            with refusing(refused_rows()):
                await session.execute(self._queries["import_rows"], table, space, list(rows))


def found_rows(found: Sequence[Row]) -> FoundRows:
    """Returns the rows of a page from rows with the columns `exported` and `key`."""
    return fitting([(row["exported"], row["key"]) for row in found])


@contextmanager
def refusing(answer: InvalidFieldError) -> Iterator[None]:
    """Raises the answer where the database, or the code that reads them, refuses values of a caller."""
    try:
        yield
    except (
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        ValueError,
        KeyError,
        TypeError,
    ):
        raise answer from None
