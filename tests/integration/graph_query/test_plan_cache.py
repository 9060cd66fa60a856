"""Query plans stay cached while a graph grows, so that no search waits for its query to be planned again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from services.graph_query.core.full_text import query_terms
from services.graph_query.neo4j_store import Neo4jStore
from tests.store_suite.graph.builders import ALWAYS, fact, listed, new_space, passage, unit
from tests.store_suite.graph.neo4j_graph import connected, neo4j_alone, opened
from tests.stores import data_folder

# Neo4j checks at every use whether the graph has outgrown a plan, and logs each plan that it discards.
_AT_ONCE = {"dbms.cypher.min_replan_interval": "0s"}
_DISCARDED = "Discarded stale query"
_COUNTED = "MATCH (n:Entity) WHERE n.name = $name RETURN count(n)"


async def _use(store: Neo4jStore, space: str, size: int) -> None:
    """Writes `size` facts and passages, and searches for them."""
    facts = [fact("Anna Bell", "OWNS", f"Ledger {n}", embedding=unit(1, n)) for n in range(size)]
    texts = [passage(space, f"d{n}", "Anna Bell", f"She met Karl Otto{n}.") for n in range(size)]
    await store.add_facts(space, facts, "model")
    await store.add_episodes(space, texts)
    for _ in range(2):
        found = await store.search_words(space, query_terms("met owns"), [], ALWAYS, 5)
        assert found.text
        assert found.sentences
        assert await store.facts(space, [hit.uuid for hit in found.text])
        for exact in (True, False):
            assert await store.search_vector(space, unit(1), ALWAYS, 5, exact=exact)
        await store.neighborhood(space, "anna bell", "", 5, ALWAYS)
        await listed(store, space, limit=5)


async def _discarded(data: Path) -> int:
    log = data / "neo4j" / "logs" / "debug.log"
    return (await asyncio.to_thread(log.read_text)).count(_DISCARDED)


async def test_no_query_is_replanned_while_its_graph_grows() -> None:
    space = new_space()
    with data_folder() as data:
        async with (
            neo4j_alone(data, _AT_ONCE) as stores,
            opened(stores) as store,
            connected(stores) as driver,
        ):
            await driver.execute_query(_COUNTED, name="Anna Bell")
            for size in (1, 10, 100):
                await _use(store, space, size)
            assert await _discarded(data) == 0
            # Neo4j replans an ordinary query, and logs that.
            await driver.execute_query(_COUNTED, name="Anna Bell")
            assert await _discarded(data) == 1
