"""A backup of real stores is restored elsewhere with everything that was acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local.backup import back_up, restore
from deploy.local.stores import LocalStores
from tests.integration.deploy.test_stores import cypher, query
from tests.stores import data_folder


@pytest.mark.timeout(300)
async def test_a_restored_installation_has_the_rows_and_nodes_of_before() -> None:
    with data_folder() as first, data_folder() as other:
        stores = LocalStores(first)
        await stores.start()
        try:
            dsn = stores.postgres.admin_dsn
            await query(dsn, "create table kept as select generate_series(1, 1000) as number")
            await cypher(stores, "UNWIND range(1, 1000) AS number CREATE (:Kept {number: number})")
        finally:
            await stores.stop()
        back_up(first, other / "b.tar.gz")
        assert await rows_and_nodes(restored(other)) == (1000, 1000)


def restored(folder: Path) -> LocalStores:
    restore(folder / "b.tar.gz", folder / "data")
    return LocalStores(folder / "data")


async def rows_and_nodes(stores: LocalStores) -> tuple[object, object]:
    await stores.start()
    try:
        [row] = await query(stores.postgres.admin_dsn, "select count(*) from kept")
        [node] = await cypher(stores, "MATCH (k:Kept) RETURN count(k) AS number")
    finally:
        await stores.stop()
    return row["count"], node["number"]
