"""Constraints and indexes of the graph: created where missing, and awaited."""

from __future__ import annotations

import re
from functools import partial
from types import MappingProxyType

from services.graph_query.core.full_text import added_words
from services.graph_query.core.intervals import OPEN
from services.graph_query.neo4j.database import Database, Transaction
from services.runtime.errors import StoreUnavailableError
from services.runtime.queries import Queries

# What each index finds: the ending of the queries that read its texts and set their words.
INDEXED = MappingProxyType(
    {
        "braid_sentence_terms": "sentences",
        "braid_fact_terms": "facts",
        "braid_past_fact_terms": "past_facts",
        "braid_finding_terms": "findings",
    }
)


_BATCH = 5_000


async def add_words(database: Database, indexed: str, batch: int = _BATCH) -> None:
    """Sets `braid_words` where a text needs them and has none, as a write of today would; may be repeated."""
    last = ""
    while True:
        name = f"texts_without_words_of_{indexed}"
        row = (await database.read(name, after=last, limit=batch))[0]
        if row["last"] is None:
            return
        last = row["last"]
        rows = [[uuid, added_words(text)] for uuid, text in row["texts"]]
        if rows:
            await database.write(partial(_set_words, name=f"add_words_to_{indexed}", rows=rows))


async def _set_words(transaction: Transaction, *, name: str, rows: list[list[str | None]]) -> None:
    await transaction.run(name, rows=rows)


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
