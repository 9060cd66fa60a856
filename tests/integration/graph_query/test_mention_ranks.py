"""Names of a graph that was written before mentions were counted get their counts with the index that needs them."""

from __future__ import annotations

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import FIRST_ENTITY, EntityListing, EntityOrder
from services.graph_query.neo4j.queries import load_schema
from tests.store_suite.graph.builders import fact, new_space, passage
from tests.store_suite.graph.neo4j_graph import connected, dump, opened

SCHEMA = load_schema()
BY_MENTIONS = EntityListing(order=EntityOrder.MENTIONS)


async def test_names_without_a_count_are_counted(graph_stores: LocalStores) -> None:
    space = new_space()
    async with opened(graph_stores) as store:
        texts = ["We met Karl Otto and Mira Okafor.", "We met Karl Otto."]
        notes = [passage(space, f"d{n}", f"Note {n}", text) for n, text in enumerate(texts)]
        await store.add_episodes(space, notes)
        await store.add_facts(space, [fact("Anna Bell", "KNOWS", "Karl Otto")], "")
        before = await store.list_entities(space, BY_MENTIONS, FIRST_ENTITY, 10)
        async with connected(graph_stores) as driver, driver.session() as session:
            former = "MATCH (k:EntityName {group_id: $space}) REMOVE k.mention_rank, k.title"
            await (await session.run(former, space=space)).consume()
            assert not (await store.list_entities(space, BY_MENTIONS, FIRST_ENTITY, 10)).entities
            await (await session.run(SCHEMA["70_mention_ranks"])).consume()
        after = await store.list_entities(space, BY_MENTIONS, FIRST_ENTITY, 10)
        assert after == before
        assert after.entities[0].name == "Karl Otto"
        await dump(graph_stores, space)  # says so when a count is wrong
