"""Reads and writes that another transaction stands in the way of are repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from neo4j import AsyncDriver
from neo4j.exceptions import Neo4jError

from services.graph_query.neo4j.database import Database, Transaction
from services.runtime.errors import StoreUnavailableError
from services.runtime.queries import Queries

DELETED = "Neo.ClientError.Statement.EntityNotFound"
DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"


class Driver:
    """A driver whose first queries fail with the given codes; also its own session, transaction and result."""

    def __init__(self, *codes: str) -> None:
        self.codes = list(codes)
        self.queries = 0

    @asynccontextmanager
    async def session(self, **_: object) -> AsyncIterator[Driver]:
        yield self

    async def begin_transaction(self, **_: object) -> Any:
        return self.session()

    async def commit(self) -> None:
        """Does nothing."""

    async def run(self, *_: object) -> Driver:
        self.queries += 1
        if self.codes:
            raise Neo4jError._hydrate_neo4j(code=self.codes.pop(0), message="no")
        return self

    def keys(self) -> list[str]:
        return ["one"]

    def __aiter__(self) -> Driver:
        return self

    async def __anext__(self) -> Any:
        raise StopAsyncIteration


def database(driver: Driver) -> Database:
    return Database(cast("AsyncDriver", driver), Queries({"some": "// Some.\nRETURN 1 AS one"}))


async def write(transaction: Transaction) -> None:
    await transaction.run("some")


async def test_a_read_of_what_is_deleted_meanwhile_is_repeated() -> None:
    driver = Driver(DELETED, DELETED)
    assert await database(driver).read("some") == []
    assert driver.queries == 3


@pytest.mark.parametrize("code", [DELETED, DEADLOCK])
async def test_a_write_that_another_transaction_stands_in_the_way_of_is_repeated(code: str) -> None:
    driver = Driver(code)
    await database(driver).write(write)
    assert driver.queries == 2


async def test_what_is_always_in_the_way_is_no_defect_but_a_store_to_be_asked_again() -> None:
    with pytest.raises(StoreUnavailableError):
        await database(Driver(*[DELETED] * 9)).read("some")
    with pytest.raises(StoreUnavailableError):
        await database(Driver(*[DELETED] * 9)).write(write)


async def test_another_error_of_a_query_is_a_defect_and_not_repeated() -> None:
    driver = Driver("Neo.ClientError.Statement.SyntaxError")
    with pytest.raises(Neo4jError):
        await database(driver).read("some")
    assert driver.queries == 1
