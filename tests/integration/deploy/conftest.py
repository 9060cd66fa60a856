"""One pair of stores for these tests, as durable as the stack's own."""

from collections.abc import AsyncIterator

import pytest_asyncio

from deploy.local.stores import LocalStores
from tests.stores import started_stores


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def durable_stores() -> AsyncIterator[LocalStores]:
    # A home folder may be called so.
    async with started_stores(durable=True, prefix="Jörg's braid ") as stores:
        yield stores
