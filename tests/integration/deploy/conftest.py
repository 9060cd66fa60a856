"""A pair of stores for each test module, as durable as those of the stack."""

from collections.abc import AsyncIterator

import pytest_asyncio

from deploy.local.stores import LocalStores
from tests.stores import started_stores


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def durable_stores() -> AsyncIterator[LocalStores]:
    # A home folder may have such a name.
    async with started_stores(durable=True, prefix="Jörg's braid ") as stores:
        yield stores
