"""Concurrent writers create no duplicate entity and never deadlock, and acknowledged writes survive a kill."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import DescribedEntity, EntityName, Passage
from services.graph_query.episodes.extraction_result import ExtractionResult
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.errors import BraidError
from tests.conftest import LoopThread
from tests.store_suite.graph.builders import fact, listed, new_space, passage
from tests.store_suite.graph.neo4j_graph import dump, opened

NAMES = ["Anna Bell", "Karl Otto", "Mira Okafor", "Payments Guild", "Ledger Works"]


def extraction(space: str, number: int) -> tuple[Passage, ExtractionResult]:
    """Returns an episode about two of the names, and its extraction."""
    first, second = NAMES[number % 5], NAMES[(number + 1 + number // 5) % 5]
    one = passage(space, f"d{number}", f"Note {number}", f"{first} met {second}.")
    stated = replace(fact(first, "MET", second, fact=f"{number}"), episode_id=one.uuid)
    described = tuple(DescribedEntity(EntityName(name), name) for name in (second, first))
    return one, ExtractionResult(entities=described, facts=(stated,))


async def test_concurrent_writes_of_all_kinds_create_no_duplicates_and_never_deadlock(
    graph_stores: LocalStores,
) -> None:
    space = new_space()
    async with AsyncExitStack() as stack:
        # Each stands for a process: within one, writers of a space wait for each other.
        stores = [await stack.enter_async_context(opened(graph_stores)) for _ in range(4)]
        async with asyncio.timeout(200), asyncio.TaskGroup() as group:
            for number in range(12):
                store = stores[number % 4]
                episode, found = extraction(space, number)
                group.create_task(store.extractions.add_extraction(space, episode, found, ""))
                facts = [
                    fact(name.upper() if number % 3 else name, "KNOWS", NAMES[(place + 2) % 5])
                    for place, name in enumerate(reversed(NAMES))
                ]
                group.create_task(store.add_facts(space, facts, ""))
                plain = passage(space, f"p{number}", NAMES[number % 5], f"It knows {NAMES[0]}.")
                group.create_task(store.add_episodes(space, [plain]))
        stats = await stores[0].stats(space)
    stored = await dump(graph_stores, space)
    keys = [(key, kind) for key, kind, _ in stored.entities.values()]
    assert len(keys) == len(set(keys))
    assert {name.casefold() for name in NAMES} <= {key for key, _ in keys}
    assert (stats.episodes, stats.facts) == (24, 12 + 5)


@pytest.mark.restarts_neo4j
async def test_every_acknowledged_write_survives_a_kill_of_neo4j_during_writes(
    store: Neo4jStore, graph_stores: LocalStores, stores_loop: LoopThread
) -> None:
    space = new_space()
    acknowledged: set[str] = set()
    enough = asyncio.Event()

    async def write(number: int) -> None:
        for turn in range(1_000):
            name = f"Writer {number} Turn {turn}"
            try:
                await store.add_facts(space, [fact(name, "WROTE", "Common Ground")], "")
            except BraidError:
                return
            acknowledged.add(name)
            if len(acknowledged) > 20:
                enough.set()

    async with asyncio.timeout(100):
        writers = [asyncio.create_task(write(number)) for number in range(4)]
        await enough.wait()
        await asyncio.to_thread(stores_loop.run, graph_stores.neo4j.kill())
        await asyncio.gather(*writers)
        await asyncio.to_thread(stores_loop.run, graph_stores.neo4j.start())
        await _until_ready(store)
    found = await listed(store, space, limit=10_000)
    stored_names = {one.name for one in found}
    assert acknowledged <= stored_names
    # Writes are atomic: an entity exists only with its fact.
    assert (await store.stats(space)).facts == len(stored_names) - 1


async def _until_ready(store: Neo4jStore) -> None:
    while True:
        try:
            return await store.ping()
        except BraidError:
            await asyncio.sleep(0.05)
