"""Constraints and indexes of the graph: one baseline with a version that the database records.

On an up-to-date database, startup only reads the version and the names of the indexes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from services.graph_query.neo4j.database import Database
from services.runtime.errors import StoreUnavailableError

VERSION = 2
OTHER_BASELINE = (
    "This Neo4j database was made by another version of Braid: export its spaces with that version if it has "
    "`braid space export`, stop Braid, delete its data folder (by default .braid) or all nodes of this database, "
    "and import the spaces or ingest your documents."
)
# The first with vector indexes that filter.
_MIN_NEO4J = (2026, 1)
_AWAIT_SECONDS = 100
_NUMBER = re.compile(r"\d{1,9}")
_CREATED = re.compile(r"(\w{1,200}) IF NOT EXISTS")
_COMPONENTS = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"
_SPACES = "MATCH (s:BraidSpace) RETURN count(s) AS spaces"
_RECORD = "MERGE (s:BraidSchema {name: 'graph'}) SET s.version = $version"
# Quantized to bits, with enough additional candidates to compensate. An index without dimensions accepts vectors of any
# length, and compares a query with those of the same length.
_VECTOR_OPTIONS = {
    "indexConfig": {
        "vector.similarity_function": "cosine",
        "vector.quantization.type": "BINARY",
        "vector.default_search_expansion_factor": 16.0,
    }
}


class SchemaError(Exception):
    """The database was made by another version, or is too old; the message says what to do."""


class Schema(NamedTuple):
    """The statements of the baseline, in order; each may be run repeatedly."""

    statements: tuple[str, ...]

    @property
    def indexes(self) -> frozenset[str]:
        """Returns the names of all constraints and indexes."""
        return frozenset(name for text in self.statements for name in _CREATED.findall(text))


async def ensure_schema(database: Database, schema: Schema) -> None:
    """Creates missing constraints and indexes and waits until all are online.

    Raises SchemaError for another version, and for a Neo4j that is too old.
    """
    rows = await database.read("schema_version")
    version = rows[0]["version"] if rows else None
    if version not in (None, VERSION):
        raise SchemaError(OTHER_BASELINE)
    if version == VERSION and schema.indexes <= (await index_states(database)).keys():
        return
    if version is None and (await database.run_text(_SPACES))[0]["spaces"]:
        raise SchemaError(OTHER_BASELINE)
    for row in await database.run_text(_COMPONENTS):
        check_version(row["version"])
    for text in schema.statements:
        await database.run_text(text, options=_VECTOR_OPTIONS)
    await database.run_text("CALL db.awaitIndexes($seconds)", seconds=_AWAIT_SECONDS)
    await database.run_text(_RECORD, version=VERSION)


def check_version(neo4j: str) -> None:
    """Raises SchemaError for a version that is too old."""
    if tuple(map(int, _NUMBER.findall(neo4j)[:2])) < _MIN_NEO4J:
        year, month = _MIN_NEO4J
        raise SchemaError(
            f"Neo4j {neo4j} is too old: Braid needs version {year}.{month:02} or later"
        )


async def index_states(database: Database) -> dict[str, str]:
    """Returns the state of each index by name: ONLINE, POPULATING or FAILED."""
    rows = await database.read("index_states")
    return {row["name"]: row["state"] for row in rows}


async def check_ready(database: Database, schema: Schema) -> None:
    """Raises StoreUnavailableError until all indexes exist and are online."""
    states = await index_states(database)
    missing = schema.indexes - states.keys()
    if missing or any(state != "ONLINE" for state in states.values()):
        raise StoreUnavailableError("neo4j", message="neo4j is still building an index.")
