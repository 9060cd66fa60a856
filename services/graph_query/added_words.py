"""Adds the words that full text needs to what was stored before its indexes had them."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from services.graph_query.neo4j_database import Database, Transaction
from services.graph_query.plain_words import added_words

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
