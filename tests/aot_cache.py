"""Creates Neo4j's AOT cache before the tests, as the first stop of a stack does: `python -m tests.aot_cache`.

The tests start Neo4j some thirty times, each of which takes half as long with the cache.
"""

from __future__ import annotations

import asyncio
import os

from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.java import Java
from deploy.local.progress import ConsoleProgress
from deploy.local.stores import LocalStores
from tests.store_suite.graph.neo4j_graph import opened
from tests.stores import data_folder

_PLANNING_SECONDS = 120.0


async def create(progress: ConsoleProgress) -> None:
    """Records a Neo4j that plans every query which Braid warms, unless this machine has the cache."""
    if Java.from_jars(neo4j_jars(default_cache(os.environ))).aot_cache.exists():
        return
    with data_folder() as data:
        stores = LocalStores(data, progress=progress, record=True)
        stores.prepare()
        try:
            await stores.fetch()
            await stores.neo4j.start()
            await _plan_queries(stores)
        finally:
            await stores.stop()
        await stores.create_aot_cache()


async def _plan_queries(stores: LocalStores) -> None:
    async with opened(stores) as store, asyncio.timeout(_PLANNING_SECONDS):
        warming = asyncio.create_task(store.warmer.run())
        while not store.warmer.rounds:  # noqa: ASYNC110 (nothing reports the end of a round)
            await asyncio.sleep(0.1)
        warming.cancel()
        await asyncio.gather(warming, return_exceptions=True)


if __name__ == "__main__":
    with ConsoleProgress() as shown:
        asyncio.run(create(shown))
