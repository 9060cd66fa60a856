"""The tier's database: its schema, its named queries, its connections."""

from __future__ import annotations

from services.postgres import migrations
from services.postgres.migrations import Schema, Stage
from services.postgres.pool import Pool
from services.runtime.queries import Queries
from services.vector_search.replicas.readers import Readers

_PACKAGE = "services.vector_search"
_ROOMS = ("search", "documents", "embedding_models", "indexing", "replicas", "transfer")
_LOCK = 7_305_183_922_011


def load_schema() -> Schema:
    """Loads the tier's migrations and stored functions."""
    return migrations.load_schema(_PACKAGE)


async def migrate(url: str, *, stage: Stage = "post") -> None:
    """Updates the schema. See `services.postgres.migrations`."""
    await migrations.migrate(url, load_schema(), lock=_LOCK, stage=stage)


def load_queries() -> Queries:
    """Loads the named queries of all features."""
    return Queries.load("sql", *(f"{_PACKAGE}.{room}" for room in _ROOMS))


class Database:
    """The parts that every store shares: readers, a pool for writes, and the named queries.

    Reads that a write depends on use the writers' pool, as a replica may lag behind.
    """

    def __init__(self, readers: Readers, writers: Pool, queries: Queries) -> None:
        self._readers = readers
        self._writers = writers
        self._queries = queries
