"""Makes Neo4j's AOT cache where the machine has none: a run of all tests starts Neo4j a dozen times.

`braid up` makes the same file when it is stopped for the first time.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.java import Java
from deploy.local.progress import ConsoleProgress
from deploy.local.stores import LocalStores
from tests.store_suite.graph.neo4j_graph import opened
from tests.stores import data_folder

_WORK_SECONDS = 20.0


async def _record(progress: ConsoleProgress) -> None:
    with data_folder() as data:
        stores = LocalStores(data, progress=progress, record=True)
        stores.prepare()
        try:
            await stores.fetch()
            await stores.neo4j.start()
            await _work(stores)
        finally:
            await stores.stop()
        await stores.create_aot_cache()


async def _work(stores: LocalStores) -> None:
    """What is recorded is best taken from a server that has worked: queries run, all of them if there is time."""
    async with opened(stores) as store:
        warming = asyncio.create_task(store.warmer.run())
        with suppress(TimeoutError):
            async with asyncio.timeout(_WORK_SECONDS):
                while store.warmer.rounds == 0:  # noqa: ASYNC110 - rounds have no event
                    await asyncio.sleep(0.1)
        warming.cancel()
        await asyncio.gather(warming, return_exceptions=True)


def main() -> None:
    """Does nothing where the file is there."""
    if not Java.from_jars(neo4j_jars(default_cache(os.environ))).aot_cache.exists():
        with ConsoleProgress() as progress:
            asyncio.run(_record(progress))


if __name__ == "__main__":
    main()
