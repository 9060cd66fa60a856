"""Constraints and indexes of the graph: created where missing, awaited, and told about."""

from __future__ import annotations

import re

from services.graph_query.added_words import INDEXED, add_words
from services.graph_query.intervals import OPEN
from services.graph_query.neo4j_database import Database
from services.runtime.errors import StoreUnavailableError
from services.runtime.queries import Queries

_AWAIT_SECONDS = 100
# The index that a statement creates, or that it prepares the graph for.
_INDEX = re.compile(r"^// Before (\w+):|(\w+) IF NOT EXISTS")


# Quantised to bits, with enough candidates to make up for it. Without dimensions an index takes vectors of any length,
# and compares a query with those of its own.
_VECTOR_OPTIONS = {
    "indexConfig": {
        "vector.similarity_function": "cosine",
        "vector.quantization.type": "BINARY",
        "vector.default_search_expansion_factor": 16.0,
    }
}


async def ensure_schema(database: Database, schema: Queries) -> None:
    """Creates what is missing, in file order, and waits until every index is online.

    What an index needs is there before the index is: a start that was interrupted is made up for by the next.
    """
    there = await index_states(database)
    for text in (schema[name] for name in schema.names()):
        index = _INDEX.search(text)
        name = (index[1] or index[2]) if index else ""
        if name in there:
            continue
        if index and index[2] in INDEXED:
            await add_words(database, INDEXED[name])
        await database.run_text(text, options=_VECTOR_OPTIONS, open=OPEN)
    await database.run_text("CALL db.awaitIndexes($seconds)", seconds=_AWAIT_SECONDS)


async def index_states(database: Database) -> dict[str, str]:
    """State of each index by name: ONLINE, POPULATING or FAILED."""
    rows = await database.read("index_states")
    return {row["name"]: row["state"] for row in rows}


async def check_ready(database: Database, schema: Queries) -> None:
    """StoreUnavailableError until all indexes are there and online."""
    states = await index_states(database)
    expected = sum(" IF NOT EXISTS " in schema[name] for name in schema.names())
    if len(states) < expected or any(state != "ONLINE" for state in states.values()):
        raise StoreUnavailableError("neo4j", message="neo4j is still building an index.")
